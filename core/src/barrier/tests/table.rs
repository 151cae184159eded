//! The tables themselves: every row can be met, names its source, and is told to site owners.

use std::collections::HashSet;

use super::check;
use crate::barrier::BarrierKind::Challenge;
use crate::barrier::fields::{COOKIE_MARKS, FIELD_MARKS};
use crate::barrier::marks::{MARKS, Place};
use crate::barrier::redirect::{CHALLENGE_HOSTS, CHALLENGE_PARAMETERS, CHALLENGE_PATHS};

/// What is published for site owners.
const PUBLISHED: &str = include_str!("../../../../docs/BARRIERS.md");

#[test]
fn every_mark_is_found_in_its_place() {
    for mark in MARKS {
        let text = mark.text.replace('"', "&quot;");
        let page = match mark.place {
            Place::ScriptSrc => format!("<script src=\"https://x{text}x\"></script>"),
            Place::ScriptStart => format!("<script>{}</script>", mark.text),
            Place::FrameSrc => format!("<iframe src=\"https://x{text}x\"></iframe>"),
            Place::FormAction => format!("<form action=\"/x?{text}x\"></form>"),
            Place::Id => format!("<div id=\"{text}\"></div>"),
            Place::Refresh => format!("<meta http-equiv=Refresh content=\"5; url=/x?{text}x\">"),
            Place::Title => format!("<title>{text}</title>"),
        };
        check(&page, Some(Challenge));
        // The same in text is none.
        check(&format!("<title>About it</title><p>{text}</p><pre>{}</pre>", page.replace('<', "&lt;")), None);
    }
}

#[test]
fn every_row_has_a_source_and_stands_once() {
    let mut seen = HashSet::new();
    for mark in MARKS {
        assert!(!mark.source.is_empty(), "{}", mark.text);
        assert!(seen.insert((format!("{:?}", mark.place), mark.text)), "{} twice", mark.text);
    }
    for field in FIELD_MARKS {
        assert!(!field.source.is_empty() && seen.insert(("field".to_owned(), field.name)), "{}", field.name);
    }
}

#[test]
fn every_row_is_published() {
    for mark in MARKS {
        assert!(PUBLISHED.contains(mark.text), "{}: {} is not in docs/BARRIERS.md", mark.service, mark.text);
        assert!(PUBLISHED.contains(mark.service), "{} is not in docs/BARRIERS.md", mark.service);
    }
    for field in FIELD_MARKS {
        assert!(PUBLISHED.contains(field.name) && PUBLISHED.contains(field.service), "{}", field.name);
        assert!(field.values.iter().all(|value| PUBLISHED.contains(value)), "{}", field.name);
    }
    for mark in [CHALLENGE_HOSTS, CHALLENGE_PATHS, CHALLENGE_PARAMETERS, COOKIE_MARKS].into_iter().flatten() {
        assert!(PUBLISHED.contains(mark), "{mark} is not in docs/BARRIERS.md");
    }
}
