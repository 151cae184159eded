//! Shows any answer of the node to a person.
//!
//! An object is shown as names and values, a list of objects as a table with a column for each field, in the order in
//! which the node wrote them; so a field that a later version adds is shown without a change here. Answers quote the
//! web (URLs, robots.txt lines), so nothing that could command a terminal is let through.

use comfy_table::{ContentArrangement, Table, presets};
use serde_json::{Map, Value};

/// Where an answer is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// A terminal: lines drawn, columns fitted to its width.
    Terminal,
    /// A file or pipe: columns apart by spaces, never wrapped.
    Plain,
}

/// The text of an answer, ending in a line end.
pub fn render(answer: &Value, surface: Surface) -> String {
    let mut text = match answer {
        Value::Object(fields) => object(fields, surface),
        Value::Array(items) => list(items, surface),
        Value::Null => "done".to_owned(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => cell(answer),
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// `text` with everything escaped that a terminal would act on rather than show: control characters and changes of
/// direction.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        let turns =
            matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if c.is_control() || turns {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

fn object(fields: &Map<String, Value>, surface: Surface) -> String {
    let mut rows = Vec::new();
    let mut lists = Vec::new();
    flatten("", fields, &mut rows, &mut lists);
    let mut text = String::new();
    if !rows.is_empty() {
        let mut table = empty_table(surface);
        table.add_rows(rows);
        text = shown(&table);
    }
    for (name, items) in lists {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&format!("{name}:\n{}", list(items, surface)));
    }
    if text.is_empty() { "done\n".to_owned() } else { text }
}

/// Scalars and lists of scalars become rows, objects inside are taken apart, lists of objects are set aside for tables
/// of their own.
fn flatten<'a>(
    prefix: &str,
    fields: &'a Map<String, Value>,
    rows: &mut Vec<[String; 2]>,
    lists: &mut Vec<(String, &'a [Value])>,
) {
    for (name, value) in fields {
        let name = format!("{prefix}{}", label(name));
        match value {
            Value::Object(inner) => flatten(&format!("{name} "), inner, rows, lists),
            Value::Array(items) if items.iter().any(Value::is_object) => lists.push((name, items)),
            Value::Array(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                rows.push([name, cell(value)]);
            }
        }
    }
}

fn list(items: &[Value], surface: Surface) -> String {
    if items.is_empty() {
        return "none\n".to_owned();
    }
    let mut columns: Vec<&str> = Vec::new();
    for field in items.iter().filter_map(Value::as_object).flat_map(Map::keys) {
        if !columns.contains(&field.as_str()) {
            columns.push(field);
        }
    }
    let mut table = empty_table(surface);
    if !columns.is_empty() {
        table.set_header(columns.iter().map(|column| label(column)));
    }
    for item in items {
        match item.as_object() {
            Some(fields) => {
                table.add_row(columns.iter().map(|column| fields.get(*column).map_or_else(String::new, cell)))
            }
            None => table.add_row([cell(item)]),
        };
    }
    shown(&table)
}

fn empty_table(surface: Surface) -> Table {
    let mut table = Table::new();
    match surface {
        Surface::Terminal => {
            table.load_style(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic)
        }
        Surface::Plain => {
            table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled).force_no_tty()
        }
    };
    table
}

fn shown(table: &Table) -> String {
    // Without borders, cells are padded on both sides; that is of no use at the ends of a line.
    let lines: Vec<_> = table
        .lines()
        .map(|line| line.trim_end().strip_prefix(' ').map_or_else(|| line.trim_end().to_owned(), str::to_owned))
        .collect();
    format!("{}\n", lines.join("\n"))
}

fn label(field: &str) -> String {
    printable(&field.replace('_', " "))
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => printable(text),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| format!("{} {}", label(name), cell(value))).collect::<Vec<_>>().join(", ")
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(answer: Value, wanted: &[&str]) {
        let text = render(&answer, Surface::Plain);
        let lines: Vec<String> =
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(lines, wanted, "{text}");
    }

    #[test]
    fn object_is_shown_as_names_and_values_in_the_nodes_order() {
        check(
            json!({"state": "running", "num_sites": 3, "paused": false, "last_error": null, "arbiters": {"host": 2}}),
            &["state running", "num sites 3", "paused no", "last error -", "arbiters host 2"],
        );
    }

    #[test]
    fn list_of_objects_is_a_table_with_every_field_as_column() {
        check(
            json!({"total": 2, "sites": [{"site": "b.test", "pages": 1}, {"site": "a.test", "until": "now"}]}),
            &["total 2", "", "sites:", "site pages until", "b.test 1", "a.test now"],
        );
        check(json!([]), &["none"]);
        check(json!({"sites": []}), &["sites none"]);
        check(json!(["a", 1]), &["a", "1"]);
        check(json!({}), &["done"]);
        check(json!(null), &["done"]);
    }

    #[test]
    fn what_the_web_wrote_cannot_command_the_terminal() {
        for surface in [Surface::Terminal, Surface::Plain] {
            let text =
                render(&json!({"l\u{1b}ine": "Disallow: \u{1b}]0;x\u{7}\u{9b}2J\r\u{202e}evil\nfake row"}), surface);
            assert!(!text.chars().any(|c| c.is_control() && c != '\n') && !text.contains('\u{202e}'), "{text:?}");
            assert!(!text.lines().any(|line| line.trim_start().starts_with("fake")), "{text:?}");
        }
    }

    #[test]
    fn letters_of_other_scripts_are_shown_as_they_are() {
        assert_eq!(printable("școală 学校 bücher"), "școală 学校 bücher");
    }
}
