//! Looks for words in bytes: as they are, as UTF-16, in any case, and in pieces, as a search index or a compressor would leave them.

use std::path::{Path, PathBuf};

/// Shortest piece of a word that is looked for by itself.
const PIECE_CHARS: usize = 7;

/// Every form in which `word` is looked for: whole and in pieces, as bytes and as UTF-16 of both orders, all in lower case.
fn forms(word: &str) -> Vec<Vec<u8>> {
    let word = word.to_ascii_lowercase();
    let pieces = (0..=word.len().saturating_sub(PIECE_CHARS)).map(|at| &word[at..word.len().min(at + PIECE_CHARS)]);
    let wide = |piece: &str, to_bytes: fn(u16) -> [u8; 2]| piece.encode_utf16().flat_map(to_bytes).collect();
    pieces
        .flat_map(|piece| [piece.as_bytes().to_vec(), wide(piece, u16::to_le_bytes), wide(piece, u16::to_be_bytes)])
        .collect()
}

/// Whether any form of `word` stands in `bytes`.
pub fn holds_trace(bytes: &[u8], word: &str) -> bool {
    let lower = bytes.to_ascii_lowercase();
    forms(word).iter().any(|form| memchr::memmem::find(&lower, form).is_some())
}

/// Every file below `dir` in which a form of `word` stands.
pub fn files_with_trace(dir: &Path, word: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() && holds_trace(&std::fs::read(entry.path()).unwrap(), word) {
                found.push(entry.path());
            }
        }
    }
    found
}

#[test]
fn word_is_found_in_every_form_and_only_where_it_is() {
    let word = "qzwkuvortem";
    let wide: Vec<u8> = "x QZWKUVORTEM y".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [b"<p>QzwKuvortem</p>".as_slice(), b"qzwkuvo rtem", b"qzw\0kuvortem", &wide] {
        assert!(holds_trace(bytes, word), "{}", String::from_utf8_lossy(bytes));
    }
    assert!(!holds_trace(b"qzwkuv ortem and qzwk", word));
}
