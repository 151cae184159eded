//! Retry-After as servers write it, with what it means: said here by the one who makes it up, not by the code under test.

use std::time::{Duration, SystemTime};

use lohisoftbot_core::response::ResponseHead;
use lohisoftbot_core::time::Timestamp;

use crate::rng::Rng;

const DAY: u64 = 24 * 3600;
/// A longer wait is capped at this.
const LONGEST: Duration = Duration::from_secs(30 * DAY);

/// Puts a Retry-After of some form on an answer that arrives at `at`; gives when it ends, if it says anything.
pub fn put_on(head: &mut ResponseHead, rng: &mut Rng, at: Timestamp) -> Option<Timestamp> {
    let secs = match rng.below(10) {
        0..=5 => rng.below(600),
        6 | 7 => rng.below(7200),
        8 => rng.below(3 * DAY),
        _ => rng.below(40 * DAY),
    };
    let (value, until) = match rng.below(9) {
        0 | 1 => (secs.to_string(), Some(at.plus(Duration::from_secs(secs)))),
        2 => {
            let date = at.as_secs() + secs;
            (written(date, rng), Some(Timestamp::from_secs(date)))
        }
        // The server's own clock is off, and it says so.
        3 => {
            let its_now = at.as_secs() - 5 * DAY + rng.below(10 * DAY);
            head.push("date", written(its_now, rng).as_bytes());
            (written(its_now + secs, rng), Some(at.plus(Duration::from_secs(secs))))
        }
        4 => {
            head.push("retry-after", b"30");
            (secs.to_string(), Some(at.plus(Duration::from_secs(secs.max(30)))))
        }
        5 => ("99999999999999999999".to_owned(), Some(at.plus(LONGEST))),
        6 => (written(at.as_secs() - 1 - secs, rng), None),
        _ => (rng.pick(&["soon", "-5", "", "0x10", "Mon, 99 Foo"]).to_owned(), None),
    };
    head.push("retry-after", value.as_bytes());
    until.map(|until| until.min(at.plus(LONGEST)))
}

/// A date in one of the three forms of RFC 9110 §5.6.7.
fn written(secs: u64, rng: &mut Rng) -> String {
    let fixed = httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + Duration::from_secs(secs));
    let words: Vec<&str> = fixed.split(' ').collect();
    let [weekday, day, month, year, time, _gmt] = words[..] else { panic!("not an IMF-fixdate: {fixed}") };
    match rng.below(4) {
        0 => {
            let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
            let whole = weekdays.iter().find(|whole| whole[..3] == weekday[..3]).expect("one of seven days");
            format!("{whole}, {day}-{month}-{} {time} GMT", &year[2..])
        }
        1 => format!("{} {month} {:>2} {time} {year}", &weekday[..3], day.trim_start_matches('0')),
        _ => fixed,
    }
}
