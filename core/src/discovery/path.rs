//! Paths that repeat themselves, and paths without a bottom.

use super::{Judgement, TrapKind};
use crate::url::PageUrl;

/// Most segments of a path; Heritrix draws the line at the same depth. Ten are common on documentation sites.
pub const MAX_PATH_SEGMENTS: usize = 20;

/// Times that one word may stand in a path.
const MAX_SAME_SEGMENT: usize = 3;
/// Times in a row that it may, or that a sequence of segments may.
const MAX_IN_A_ROW: usize = 2;

pub(super) fn judge(url: &PageUrl) -> Judgement {
    let path = url.as_url().path();
    // Empty segments count too: some traps grow by a slash each time.
    if path.bytes().filter(|byte| *byte == b'/').count() > MAX_PATH_SEGMENTS + 1 {
        return Judgement::Trap(TrapKind::DeepPath);
    }
    let mut buffer = [""; MAX_PATH_SEGMENTS + 1];
    let mut len = 0;
    for segment in path.split('/').filter(|segment| !segment.is_empty()).take(buffer.len()) {
        buffer[len] = segment;
        len += 1;
    }
    let segments = &buffer[..len];
    if len > MAX_PATH_SEGMENTS {
        return Judgement::Trap(TrapKind::DeepPath);
    }
    if repeats_a_word(segments) {
        return Judgement::Trap(TrapKind::RepeatedSegment);
    }
    match longest_run_of_sequences(segments) {
        0 | 1 => Judgement::Clear,
        num if num > MAX_IN_A_ROW => Judgement::Trap(TrapKind::RepeatedSequence),
        _ => Judgement::Suspect(TrapKind::RepeatedSequence),
    }
}

/// Numbers and single letters are no words: dates, versions and the folders of an index repeat them.
fn is_word(segment: &str) -> bool {
    segment.len() > 1 && !segment.bytes().all(|byte| byte.is_ascii_digit())
}

fn repeats_a_word(segments: &[&str]) -> bool {
    segments.iter().enumerate().filter(|(_, word)| is_word(word)).any(|(place, word)| {
        let num_in_a_row = segments[place..].iter().take_while(|other| *other == word).count();
        let num_in_all = segments[place..].iter().filter(|other| *other == word).count();
        num_in_a_row > MAX_IN_A_ROW || num_in_all > MAX_SAME_SEGMENT
    })
}

/// How often at most a sequence of two or more segments stands in a row, one of them a word, and not all of them the same.
fn longest_run_of_sequences(segments: &[&str]) -> usize {
    let mut longest = 0;
    for len in 2..=segments.len() / 2 {
        for start in 0..=segments.len() - 2 * len {
            let sequence = &segments[start..start + len];
            let is_one_word = sequence.iter().all(|segment| segment == &sequence[0]);
            if is_one_word || !sequence.iter().any(|segment| is_word(segment)) {
                continue;
            }
            let num = segments[start..].chunks_exact(len).take_while(|chunk| *chunk == sequence).count();
            longest = longest.max(num);
        }
    }
    longest
}
