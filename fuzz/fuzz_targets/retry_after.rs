//! The wait that an answer asks for: the first line is its status, the second its Date, each further one a Retry-After.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lohisoftbot_core::http_date;
use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::retry_after::{MAX_WAIT, applies_to, wait_of};
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_fuzz::{first_line, header};

const NOW: Timestamp = Timestamp::from_secs(1_800_000_000);

fuzz_target!(|data: &[u8]| {
    let (status, rest) = first_line(data);
    let (date, rest) = first_line(rest);
    let status = status.trim().parse().unwrap_or(503);
    let mut head = ResponseHead::new(status);
    if let Some(date) = header(&date) {
        head.push("date", date.as_bytes());
    }
    let mut longest = None;
    for value in rest.split(|byte| *byte == b'\n') {
        head.push("retry-after", value);
        let wait = wait_of(&head, NOW);
        assert!(wait.is_none_or(|wait| wait <= MAX_WAIT && applies_to(status)));
        // One more field never makes the wait shorter.
        assert!(wait >= longest, "{wait:?} after {longest:?}");
        longest = wait;

        let Ok(text) = std::str::from_utf8(value) else { continue };
        if let Some(at) = http_date::parse(text, NOW).filter(has_year_of_four_digits) {
            assert_eq!(http_date::parse(&at.to_string(), NOW), Some(at), "a moment that is printed is read back");
        }
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if is_number && applies_to(status) {
            let wanted = text.parse().map_or(MAX_WAIT.as_secs(), |secs: u64| secs.min(MAX_WAIT.as_secs()));
            assert!(wait.is_some_and(|wait| wait.as_secs() >= wanted), "{text} gave {wait:?}");
        }
    }
});

/// The last year that a date can name; an offset from UTC can lead one hour out of it.
fn has_year_of_four_digits(moment: &Timestamp) -> bool {
    moment.to_string().find('-') == Some(4)
}
