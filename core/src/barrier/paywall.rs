//! Pages that say of themselves that they are not to be read for free: `isAccessibleForFree` of schema.org, in JSON-LD.
//!
//! Only what is said of a whole page counts. A section of it (`hasPart`) may be paid while the page is free; and a museum, a course, a
//! data set or an app that costs something has a page that costs nothing. So the thing must be a page or an article, named at the top
//! or in `@graph`, or the main entity of one that is. A page that teases others does not speak of itself: a claim that names another
//! URL is left to that one.
//!
//! Sources: <https://schema.org/isAccessibleForFree>,
//! <https://developers.google.com/search/docs/appearance/structured-data/paywalled-content>.

use serde_json::Value;

/// The property, as it stands in JSON.
const PROPERTY: &str = "isAccessibleForFree";
/// Longest JSON-LD that is read, in bytes; articles that carry their whole text in it stay below.
const MAX_JSON_BYTES: usize = 512 << 10;
/// Most things of one script that are looked at.
const MAX_THINGS: usize = 256;

/// The pages that a script's JSON-LD says are not to be read for free, each by its URL where it gives one.
pub(super) fn paid_pages(json: &str) -> Vec<Option<String>> {
    if json.len() > MAX_JSON_BYTES || !json.contains(PROPERTY) {
        return Vec::new();
    }
    let Ok(root) = serde_json::from_str::<Value>(strip_wrapping(json)) else { return Vec::new() };
    let mut paid = Vec::new();
    for thing in things(&root).into_iter().take(MAX_THINGS) {
        let main = thing.get("mainEntity").filter(|main| main.is_object());
        paid.extend([Some(thing), main].into_iter().flatten().filter(|thing| is_paid_page(thing)).map(address));
    }
    paid
}

/// Some templates still wrap their scripts in comment marks that no browser needs.
fn strip_wrapping(json: &str) -> &str {
    let json = json.trim();
    let json = json.strip_prefix("//<![CDATA[").or_else(|| json.strip_prefix("<!--")).unwrap_or(json);
    json.strip_suffix("//]]>").or_else(|| json.strip_suffix("-->")).unwrap_or(json).trim().trim_end_matches(';')
}

/// The things at the top: one, a list, or those of a graph.
fn things(root: &Value) -> Vec<&Value> {
    let top: &[Value] = root.as_array().map_or(std::slice::from_ref(root), Vec::as_slice);
    top.iter()
        .flat_map(|thing| {
            let graph: &[Value] = match thing.get("@graph") {
                Some(Value::Array(graph)) => graph,
                Some(graph) => std::slice::from_ref(graph),
                None => &[],
            };
            std::iter::once(thing).chain(graph)
        })
        .collect()
}

fn is_paid_page(thing: &Value) -> bool {
    let names_page = match thing.get("@type") {
        Some(Value::String(name)) => is_page_type(name),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).any(is_page_type),
        _ => false,
    };
    let is_false = match thing.get(PROPERTY) {
        Some(Value::Bool(free)) => !free,
        Some(Value::String(word)) => is_false(word),
        _ => false,
    };
    names_page && is_false
}

/// Whether a type of schema.org is a page or an article, and no thing that a page is about.
pub(crate) fn is_page_type(name: &str) -> bool {
    let name = name.rsplit(['/', ':', '#']).next().unwrap_or(name);
    name.ends_with("Article") || name.ends_with("BlogPosting") || matches!(name, "WebPage" | "CreativeWork" | "Report")
}

/// Whether a value says no: `false` in any case, or as schema.org's own name for it.
pub(crate) fn is_false(word: &str) -> bool {
    let word = word.trim();
    word.rsplit('/').next().unwrap_or(word).eq_ignore_ascii_case("false")
}

/// Which page a thing is, or is on.
fn address(thing: &Value) -> Option<String> {
    let name_of = |value: &Value| value.as_str().or_else(|| value.get("@id")?.as_str()).map(str::to_owned);
    let is_address = |url: &String| url.starts_with("http") || url.starts_with('/');
    ["mainEntityOfPage", "url", "@id"].iter().find_map(|key| thing.get(key).and_then(name_of).filter(is_address))
}
