//! The markup of a sitemap as a row of events, read on past what is not well-formed.
//!
//! Names of closing tags are not checked and bare ampersands are text; what each event means for the list is the business of
//! [`super::entries`]. Where the tokenizer gives up (an unknown `<!`, a quote that never closes), it starts anew behind the fault, a few
//! times at most: each start may scan the rest of the file.

use ::url::Url;
use memchr::memchr;
use quick_xml::Reader;
use quick_xml::events::Event;

use super::entries::Entries;
use super::meter::Meter;
use super::{SitemapLimits, SitemapReading};

/// Faults that are read past.
const MAX_RESTARTS: usize = 8;

/// How a run over the events ended.
enum RunEnd {
    /// At the end of the text.
    Eof,
    /// By a cap or the budget.
    Stopped,
    /// At a fault, at this byte.
    Broken(usize),
}

/// Reads a file of markup. The text begins with no byte order mark.
pub(super) fn read(text: &str, at: &Url, limits: &SitemapLimits, meter: &mut Meter<'_>) -> SitemapReading {
    let mut entries = Entries::new(at, limits);
    let mut rest = text;
    let mut num_restarts = 0;
    loop {
        match run(rest, &mut entries, meter) {
            RunEnd::Eof => {
                entries.end_of_text();
                break;
            }
            RunEnd::Stopped => {
                entries.cut();
                break;
            }
            RunEnd::Broken(fault_at) => {
                entries.cut();
                entries.end_of_broken_run();
                let behind = rest.get(fault_at.saturating_add(1)..).unwrap_or("");
                match memchr(b'<', behind.as_bytes()) {
                    Some(next) if num_restarts < MAX_RESTARTS => rest = &behind[next..],
                    Some(_) | None => break,
                }
                num_restarts += 1;
            }
        }
    }
    entries.into_reading()
}

fn run(text: &str, entries: &mut Entries<'_>, meter: &mut Meter<'_>) -> RunEnd {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.allow_dangling_amp = true;
    config.allow_unmatched_ends = true;
    config.check_end_names = false;
    let mut num_read = 0;
    loop {
        let event = reader.read_event();
        let position = reader.buffer_position();
        let num_bytes = usize::try_from(position - num_read).unwrap_or(usize::MAX);
        num_read = position;
        if !meter.may_go_on(num_bytes.saturating_add(entries.take_owed_bytes())) {
            return RunEnd::Stopped;
        }
        match event {
            Ok(Event::Start(tag)) => entries.open(&tag),
            Ok(Event::Empty(tag)) => {
                entries.open(&tag);
                entries.close(tag.name());
            }
            Ok(Event::End(tag)) => entries.close(tag.name()),
            Ok(Event::Text(text)) => entries.text(&text),
            Ok(Event::CData(text)) => entries.text(&text),
            Ok(Event::GeneralRef(reference)) => entries.reference(&reference),
            Ok(Event::DocType(doctype)) => entries.doctype(&doctype),
            Ok(Event::Comment(_) | Event::Decl(_) | Event::PI(_)) => {}
            Ok(Event::Eof) => return RunEnd::Eof,
            Err(_) => return RunEnd::Broken(usize::try_from(reader.error_position()).unwrap_or(usize::MAX)),
        }
        if entries.is_done() {
            return RunEnd::Stopped;
        }
    }
}
