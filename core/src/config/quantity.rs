//! Spans of time and sizes as a person writes them: a whole number with its unit, such as `5s` or `2MiB`.
//!
//! A number without a unit is refused, because nobody can tell later whether it meant seconds or milliseconds. What
//! [`show_span`] and [`show_size`] print, [`parse_span`] and [`parse_size`] read back to the same value.

use std::time::Duration;

/// The units of time that are read, each in milliseconds, largest first.
const SPAN_UNITS: [(&str, u64); 6] =
    [("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

/// The units of size that are read, each in bytes, largest first.
const SIZE_UNITS: [(&str, u64); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

/// A text is no span of time, or no size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// Not a whole number with a unit of time.
    #[error(
        "{0:?} is no span of time: write a whole number with a unit, such as \"250ms\", \"5s\", \"10min\", \"24h\" or \"30d\""
    )]
    Span(String),
    /// Not a whole number with a unit of size.
    #[error("{0:?} is no size: write a whole number with a unit, such as \"512B\", \"64KiB\", \"2MiB\" or \"1GiB\"")]
    Size(String),
}

/// Reads a span of time: `250ms`, `5s`, `10min` (or `10m`), `24h`, `30d`; several may follow each other, as in `1min
/// 30s`.
pub fn parse_span(text: &str) -> Result<Duration, QuantityError> {
    let refuse = || QuantityError::Span(text.to_owned());
    let mut rest = text.trim();
    let mut total: u64 = 0;
    if rest.is_empty() {
        return Err(refuse());
    }
    while !rest.is_empty() {
        let unit_at = rest.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(refuse)?;
        let after = &rest[unit_at..];
        let unit_len = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let millis = amount(&rest[..unit_at], &after[..unit_len], &SPAN_UNITS).ok_or_else(refuse)?;
        total = total.checked_add(millis).ok_or_else(refuse)?;
        rest = after[unit_len..].trim_start();
    }
    Ok(Duration::from_millis(total))
}

/// Reads a size in bytes: `512B`, `64KiB`, `2MiB`, `1GiB`.
pub fn parse_size(text: &str) -> Result<u64, QuantityError> {
    let refuse = || QuantityError::Size(text.to_owned());
    let text = text.trim();
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(refuse)?;
    amount(&text[..unit_at], &text[unit_at..], &SIZE_UNITS).ok_or_else(refuse)
}

/// A span in the largest unit that divides it; what is finer than a millisecond is dropped.
pub fn show_span(span: Duration) -> String {
    show(crate::time::whole_millis(span), &SPAN_UNITS, "0s")
}

/// A size in the largest unit that divides it.
pub fn show_size(bytes: u64) -> String {
    show(bytes, &SIZE_UNITS, "0B")
}

fn amount(number: &str, unit: &str, units: &[(&str, u64)]) -> Option<u64> {
    let number = number.trim();
    // `parse` would take a leading plus sign, which no one writes on purpose.
    if !number.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

fn show(value: u64, units: &[(&str, u64)], zero: &str) -> String {
    if value == 0 {
        return zero.to_owned();
    }
    let (name, factor) = units
        .iter()
        .find(|(_, factor)| value.is_multiple_of(*factor))
        .expect("the smallest unit is 1, which divides all");
    format!("{}{name}", value / factor)
}

/// Reads and writes a [`Duration`] field as text, for `#[serde(with = "..")]`.
pub mod span {
    use std::fmt;
    use std::time::Duration;

    use serde::de::{Error, Visitor};
    use serde::{Deserializer, Serializer};

    /// Writes a span as text.
    pub fn serialize<S: Serializer>(span: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&super::show_span(*span))
    }

    /// Reads a span from text; a bare number is refused.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        deserializer.deserialize_any(SpanVisitor)
    }

    struct SpanVisitor;

    impl Visitor<'_> for SpanVisitor {
        type Value = Duration;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(
                "a span of time with its unit, in quotes, such as \"250ms\", \"5s\", \"10min\", \"24h\" or \"30d\"",
            )
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Duration, E> {
            super::parse_span(text).map_err(E::custom)
        }
    }
}

/// Reads and writes a size in bytes as text, for `#[serde(with = "..")]`.
pub mod size {
    use std::fmt;

    use serde::de::{Error, Visitor};
    use serde::{Deserializer, Serializer};

    /// Writes a size as text.
    pub fn serialize<S: Serializer>(bytes: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&super::show_size(*bytes))
    }

    /// Reads a size from text; a bare number is refused.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        deserializer.deserialize_any(SizeVisitor)
    }

    struct SizeVisitor;

    impl Visitor<'_> for SizeVisitor {
        type Value = u64;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a size with its unit, in quotes, such as \"512B\", \"64KiB\", \"2MiB\" or \"1GiB\"")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<u64, E> {
            super::parse_size(text).map_err(E::custom)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check_span(text: &str, wanted: Option<u64>) {
        assert_eq!(parse_span(text).ok(), wanted.map(Duration::from_millis), "{text:?}");
    }

    #[track_caller]
    fn check_size(text: &str, wanted: Option<u64>) {
        assert_eq!(parse_size(text).ok(), wanted, "{text:?}");
    }

    #[test]
    fn spans_are_whole_numbers_with_units() {
        check_span("250ms", Some(250));
        check_span("5s", Some(5000));
        check_span(" 5 s ", Some(5000));
        check_span("10min", Some(600_000));
        check_span("10m", Some(600_000));
        check_span("24h", Some(86_400_000));
        check_span("30d", Some(2_592_000_000));
        check_span("1min 30s", Some(90_000));
        check_span("1h30min", Some(5_400_000));
        check_span("0s", Some(0));
    }

    #[test]
    fn spans_without_unit_sign_or_sense_are_refused() {
        for text in ["", " ", "5", "s", "+5s", "-5s", "1.5s", "5 seconds", "5S", "5s5", "5x", "99999999999999999999s"] {
            check_span(text, None);
        }
        check_span("18446744073709551615d", None);
        check_span("18446744073709551615ms 1ms", None);
    }

    #[test]
    fn sizes_are_whole_numbers_with_binary_units() {
        check_size("512B", Some(512));
        check_size("64KiB", Some(65_536));
        check_size("2 MiB", Some(2_097_152));
        check_size("1GiB", Some(1_073_741_824));
        for text in ["", "5", "MiB", "2MB", "2mib", "-1B", "1.5MiB", "99999999999GiB", "1KiB 1B"] {
            check_size(text, None);
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back(millis in any::<u64>(), bytes in any::<u64>()) {
            let span = Duration::from_millis(millis);
            prop_assert_eq!(parse_span(&show_span(span)), Ok(span));
            prop_assert_eq!(parse_size(&show_size(bytes)), Ok(bytes));
        }

        #[test]
        fn no_text_makes_the_readers_panic(text in "\\PC{0,20}") {
            let _ = parse_span(&text);
            let _ = parse_size(&text);
        }
    }
}
