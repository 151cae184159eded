//! Directives of an answer: each line is a header field of every name that has some, and the content of a meta element as well.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lohisoftbot_core::directives::{Directives, parse_date};
use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::time::Timestamp;

const TOKEN: &str = "lohisoftbot";
/// The header fields that carry directives.
const FIELDS: [&str; 3] = ["x-robots-tag", "robots-tag", "content-usage"];

fuzz_target!(|data: &[u8]| {
    let mut all = ResponseHead::new(200);
    let mut sum = Directives::default();
    let mut before = Directives::default();
    for line in data.split(|byte| *byte == b'\n') {
        for name in FIELDS {
            all.push(name, line);
            let one = Directives::of_headers(&ResponseHead::new(200).with(name, line), TOKEN);
            sum = sum.and(one);
        }
        let now = Directives::of_headers(&all, TOKEN);
        assert_eq!(now, sum, "fields add up");
        assert_eq!(now.and(before), now, "one more field lifts nothing");
        before = now;

        let text = String::from_utf8_lossy(line);
        let of_meta = Directives::of_meta_content(&text);
        assert_eq!(of_meta.and(Directives::of_meta_content("all, index, follow")), of_meta);
        if let Some(moment) = parse_date(&text).filter(has_year_of_four_digits) {
            assert_eq!(parse_date(&moment.to_string()), Some(moment), "a moment that is printed is read back");
        }
    }
    assert_eq!(Directives::of_headers(&all, "LohiSoftBot"), sum, "the token's case does not matter");
});

/// The last year that a date can name; an offset from UTC can lead one hour out of it.
fn has_year_of_four_digits(moment: &Timestamp) -> bool {
    moment.to_string().find('-') == Some(4)
}
