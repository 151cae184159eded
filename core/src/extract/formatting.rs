//! Takes from formatting elements what only a browser needs.
//!
//! A formatting element that is not closed is opened again in every paragraph. WHATWG HTML, "push onto the list of active formatting
//! elements", keeps three of those that are equal in name and attributes, but any number that differ: four thousand `<b>` with an attribute
//! each, and four thousand paragraphs, are sixteen million elements. Nothing that is read off a page hangs on their attributes, so they all
//! become equal. A link is not touched: the standard keeps one open at a time.

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::Tag;

/// The formatting elements of the standard, `a` apart.
const FORMATTING: [&str; 13] =
    ["b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"];

/// The attributes whose presence on `font` ends foreign content.
const ENDS_FOREIGN_CONTENT: [&str; 3] = ["color", "face", "size"];

/// Takes the attributes of a formatting element, and of those that matter to the tree, the values.
pub(super) fn simplify(tag: &mut Tag) {
    if tag.attrs.is_empty() || !FORMATTING.contains(&&*tag.name) {
        return;
    }
    let is_font = &*tag.name == "font";
    tag.attrs.retain(|attribute| is_font && ENDS_FOREIGN_CONTENT.contains(&&*attribute.name.local));
    tag.attrs.iter_mut().for_each(|attribute| attribute.value = StrTendril::new());
}
