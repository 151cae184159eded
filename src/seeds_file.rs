//! Reads a file of seeds: one URL or host a line.
//!
//! `#` begins a comment, at the start of a line or after white space (inside a URL it begins a fragment). Empty lines,
//! a byte order mark and any line end are taken as they come. A bad line costs nothing but itself: it is named by its
//! number and skipped.

use std::path::{Path, PathBuf};

use lohisoftbot_core::seed::Seed;
use lohisoftbot_core::url::without_userinfo;

/// Longest file that is read, in bytes: some millions of seeds.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// How much of a bad line is shown, in characters.
const MAX_SHOWN_CHARS: usize = 80;

/// What a file of seeds holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeedsFile {
    /// Its seeds, in order.
    pub seeds: Vec<Seed>,
    /// The lines that were skipped.
    pub bad_lines: Vec<BadLine>,
}

/// A line that is no seed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {number}: {text:?} {why}; skipped")]
pub struct BadLine {
    /// Its number, from 1.
    pub number: usize,
    /// What it says, cut, a user name and password left out.
    pub text: String,
    /// What is wrong with it.
    pub why: String,
}

/// Why there are no seeds.
#[derive(Debug, thiserror::Error)]
pub enum SeedsFileError {
    /// The file cannot be read.
    #[error("cannot read the seeds {}: {source}; give the path of a readable file", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is too long.
    #[error("the seeds {} are longer than {MAX_FILE_BYTES} bytes: split the file", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
    },
}

/// Reads the file at `path`.
pub fn read(path: &Path) -> Result<SeedsFile, SeedsFileError> {
    let unreadable = |source| SeedsFileError::Unreadable { path: path.to_owned(), source };
    if std::fs::metadata(path).map_err(unreadable)?.len() > MAX_FILE_BYTES {
        return Err(SeedsFileError::TooLong { path: path.to_owned() });
    }
    Ok(parse(&std::fs::read(path).map_err(unreadable)?))
}

/// The same for bytes that were read already.
pub fn parse(bytes: &[u8]) -> SeedsFile {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut found = SeedsFile::default();
    for (index, line) in lines(bytes).enumerate() {
        let number = index + 1;
        let read = match std::str::from_utf8(line) {
            Ok(text) => match without_comment(text).trim() {
                "" => continue,
                seed => Seed::parse(seed).map_err(|refusal| refusal.to_string()),
            },
            Err(_) => Err("is not UTF-8".to_owned()),
        };
        match read {
            Ok(seed) => found.seeds.push(seed),
            Err(why) => {
                // It goes into the log, where no password belongs.
                let text = String::from_utf8_lossy(line);
                let text = without_userinfo(text.trim()).chars().take(MAX_SHOWN_CHARS).collect();
                found.bad_lines.push(BadLine { number, text, why });
            }
        }
    }
    found
}

/// Lines that end in LF, CRLF or CR alone.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|b| *b == b'\n').flat_map(|line| line.strip_suffix(b"\r").unwrap_or(line).split(|b| *b == b'\r'))
}

fn without_comment(line: &str) -> &str {
    let starts = |(at, _): &(usize, char)| line[..*at].chars().next_back().is_none_or(char::is_whitespace);
    let comment = line.char_indices().filter(|(_, c)| *c == '#').find(starts);
    comment.map_or(line, |(at, _)| &line[..at])
}

#[cfg(test)]
mod tests {
    use lohisoftbot_core::seed::SeedScheme;
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], urls: &[&str], bad: &[usize]) {
        let found = parse(bytes);
        let shown = String::from_utf8_lossy(bytes);
        assert_eq!(found.seeds.iter().map(|seed| seed.url.as_str()).collect::<Vec<_>>(), urls, "{shown}");
        assert_eq!(found.bad_lines.iter().map(|line| line.number).collect::<Vec<_>>(), bad, "{shown}");
    }

    #[test]
    fn comments_and_empty_lines_are_no_seeds() {
        check(
            b"# all of them\n\n  \nhttp://a.test/ # the first\n\thttp://b.test/x#y\n",
            &["http://a.test/", "http://b.test/x"],
            &[],
        );
        check(b"", &[], &[]);
    }

    #[test]
    fn marks_and_line_ends_of_any_system_are_read() {
        check(b"\xef\xbb\xbfhttp://a.test/\r\nhttp://b.test/\r\n", &["http://a.test/", "http://b.test/"], &[]);
        check(b"http://a.test/\rhttp://b.test/", &["http://a.test/", "http://b.test/"], &[]);
        check(b"http://a.test/\r\n\r\nno seed\r\n", &["http://a.test/"], &[3]);
    }

    #[test]
    fn bad_lines_are_named_and_the_others_kept() {
        check(b"ftp://a.test/\nhttp://b.test/\nnot a url\n\xff\xfe\nhttp://\n", &["http://b.test/"], &[1, 3, 4, 5]);
        let line = parse(b"\n\nftp://a.test/").bad_lines.remove(0).to_string();
        assert_eq!(line, "line 3: \"ftp://a.test/\" is neither http nor https; skipped");
    }

    #[test]
    fn bare_host_is_a_seed_with_a_guessed_scheme() {
        assert_eq!(parse(b"a.test\n").seeds[0].scheme, SeedScheme::Guessed);
    }

    #[test]
    fn bad_line_is_cut_and_its_control_characters_do_not_reach_the_terminal() {
        let line = parse(format!("\x1b[2J{}", "x y ".repeat(1000)).as_bytes()).bad_lines.remove(0).to_string();
        assert!(line.len() < 300 && !line.contains('\x1b'), "{line:?}");
    }

    #[test]
    fn missing_file_is_one_clear_line() {
        let error = read(Path::new("/nonexistent/seeds.txt")).unwrap_err().to_string();
        assert!(error.contains("/nonexistent/seeds.txt"), "{error}");
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            parse(&bytes);
        }
    }
}
