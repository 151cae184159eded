//! How the targets cut their one input into the several that a rule takes: lines of text first, then a body.

/// The first line of the input as text, and what follows it; all of the input is that line where it has no line feed.
pub fn first_line(data: &[u8]) -> (String, &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    (String::from_utf8_lossy(&data[..end]).into_owned(), data.get(end + 1..).unwrap_or_default())
}

/// A first line that is no more than white space stands for a header that did not come.
pub fn header(line: &str) -> Option<&str> {
    Some(line.trim()).filter(|line| !line.is_empty())
}
