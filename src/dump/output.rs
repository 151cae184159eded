//! Rows as a table, as JSON lines or as CSV.

use std::io::{self, Write};

use comfy_table::{ContentArrangement, Table, presets};
use serde_json::{Map, Value};

use super::args::Format;
use crate::ctl::printable;

/// Longest text in a table cell, in characters; csv and jsonl have all of it.
const MAX_CELL_CHARS: usize = 80;

/// Whether a table shows a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// In every format.
    Always,
    /// In jsonl and csv alone.
    NotInTables,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name, also the key in jsonl.
    pub name: &'static str,
    /// Where it is shown.
    pub shown: Shown,
}

/// A column that every format shows.
pub const fn column(name: &'static str) -> Column {
    Column { name, shown: Shown::Always }
}

/// A column that tables leave out.
pub const fn detail(name: &'static str) -> Column {
    Column { name, shown: Shown::NotInTables }
}

/// Writes rows.
pub struct RowWriter<'a> {
    columns: &'static [Column],
    output: &'a mut dyn Write,
    form: Form,
}

enum Form {
    Table(Box<Table>),
    Jsonl,
    Csv { has_header: HeaderState },
}

#[derive(PartialEq, Eq)]
enum HeaderState {
    Missing,
    Written,
}

impl<'a> RowWriter<'a> {
    /// A writer of rows with these columns.
    pub fn new(format: Format, columns: &'static [Column], output: &'a mut dyn Write) -> Self {
        let form = match format {
            Format::Table => {
                let mut table = Table::new();
                table.load_style(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
                table.set_header(
                    columns.iter().filter(|column| column.shown == Shown::Always).map(|column| column.name),
                );
                Form::Table(Box::new(table))
            }
            Format::Jsonl => Form::Jsonl,
            Format::Csv => Form::Csv { has_header: HeaderState::Missing },
        };
        Self { columns, output, form }
    }

    /// Writes a row: one value a column, in their order.
    pub fn row(&mut self, values: Vec<Value>) -> io::Result<()> {
        let named = self.columns.iter().zip(values);
        match &mut self.form {
            Form::Table(table) => {
                table.add_row(named.filter(|(column, _)| column.shown == Shown::Always).map(|(_, value)| cell(&value)));
                Ok(())
            }
            Form::Jsonl => {
                let object: Map<String, Value> = named.map(|(column, value)| (column.name.to_owned(), value)).collect();
                writeln!(self.output, "{}", Value::Object(object))
            }
            Form::Csv { has_header } => {
                write_header(self.output, self.columns, has_header)?;
                let fields: Vec<String> = named.map(|(_, value)| csv_field(&text(&value))).collect();
                write!(self.output, "{}\r\n", fields.join(","))
            }
        }
    }

    /// Writes what is left.
    pub fn finish(mut self) -> io::Result<()> {
        match &mut self.form {
            Form::Table(table) => writeln!(self.output, "{table}"),
            Form::Jsonl => Ok(()),
            Form::Csv { has_header } => write_header(self.output, self.columns, has_header),
        }
    }
}

fn write_header(output: &mut dyn Write, columns: &[Column], state: &mut HeaderState) -> io::Result<()> {
    if *state == HeaderState::Written {
        return Ok(());
    }
    *state = HeaderState::Written;
    let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
    write!(output, "{}\r\n", names.join(","))
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// Text of strangers must not steer the terminal.
fn cell(value: &Value) -> String {
    let text = text(value);
    let shown: String = text.chars().take(MAX_CELL_CHARS).collect();
    let mut safe = printable(&shown);
    if text.chars().nth(MAX_CELL_CHARS).is_some() {
        safe.push('…');
    }
    safe
}

/// RFC 4180 §2: a field with a comma, a quote or a line break stands in quotes, and quotes in it are doubled.
fn csv_field(text: &str) -> String {
    if text.contains([',', '"', '\r', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const COLUMNS: &[Column] = &[column("name"), detail("more")];

    #[track_caller]
    fn check(format: Format, rows: &[Value], wanted: &[&str]) {
        let mut output = Vec::new();
        let mut writer = RowWriter::new(format, COLUMNS, &mut output);
        for row in rows {
            writer.row(row.as_array().unwrap().clone()).unwrap();
        }
        writer.finish().unwrap();
        let text = String::from_utf8(output).unwrap();
        for part in wanted {
            assert!(text.contains(part), "{format:?} of {rows:?} lacks {part:?}: {text}");
        }
    }

    #[test]
    fn csv_quotes_what_would_break_a_line_or_a_field() {
        check(Format::Csv, &[], &["name,more\r\n"]);
        check(Format::Csv, &[json!(["plain", 1])], &["name,more\r\nplain,1\r\n"]);
        check(Format::Csv, &[json!(["a,b", "say \"hi\""])], &["\"a,b\",\"say \"\"hi\"\"\"\r\n"]);
        check(Format::Csv, &[json!(["two\nlines", null])], &["\"two\nlines\",\r\n"]);
        check(Format::Csv, &[json!(["x", ["a", "b"]])], &["x,\"[\"\"a\"\",\"\"b\"\"]\"\r\n"]);
    }

    #[test]
    fn jsonl_has_an_object_a_line_in_the_order_of_columns() {
        check(
            Format::Jsonl,
            &[json!(["z", 1]), json!(["a\n", null])],
            &["\"name\":\"z\"", "\"name\":\"a\\n\"", "}\n{"],
        );
    }

    #[test]
    fn table_leaves_details_out_and_disarms_control_characters() {
        check(Format::Table, &[json!(["\u{1b}[31mred", "hidden"])], &["\\u{1b}[31mred"]);
        let mut output = Vec::new();
        let mut writer = RowWriter::new(Format::Table, COLUMNS, &mut output);
        writer.row(vec![json!("x".repeat(100)), json!("hidden")]).unwrap();
        writer.finish().unwrap();
        let text = String::from_utf8(output).unwrap();
        assert!(!text.contains("hidden") && !text.contains("more") && text.contains('…'), "{text}");
    }
}
