//! No log line of any level and any crate holds a query.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::fake::{FakeIndex, found};
use super::rig::{Rig, settings};
use crate::web::SearchUnavailable;

const SECRET: &str = "xsecretx";

static NUM_ANSWERED: AtomicUsize = AtomicUsize::new(0);
static NUM_TOLD: AtomicUsize = AtomicUsize::new(0);

/// Reads every line and keeps none.
#[derive(Clone, Copy)]
struct Reader;

impl io::Write for Reader {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let line = String::from_utf8_lossy(line);
        NUM_ANSWERED.fetch_add(line.matches("request answered").count(), Ordering::SeqCst);
        NUM_TOLD.fetch_add(line.matches(SECRET).count(), Ordering::SeqCst);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn queries_are_in_no_log_line() {
    // The workers are threads of their own, so nothing short of the whole process will do.
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(|| Reader).finish();
    tracing::subscriber::set_global_default(subscriber).expect("no other unit test sets one");
    let answers: [fn() -> _; 3] = [found, || Err(SearchUnavailable::NoAnswer), || panic!("on purpose")];
    let mut num_asked = 0;
    for answer in answers {
        let rig = Rig::start(settings(), FakeIndex::answering(answer));
        let long = format!("/search?q={}", SECRET.repeat(40));
        let huge = format!("/search?q={}", SECRET.repeat(1000));
        for target in [
            &format!("/search?q={SECRET}"),
            &format!("/search?q=a&site={SECRET}"),
            &format!("/search?{SECRET}={SECRET}"),
            &format!("/{SECRET}?q={SECRET}"),
            &format!("/api/v1/search?q={SECRET}"),
            &format!("/api/v1/search?{SECRET}=1"),
            &format!("/api/v1/search?q=a&limit={SECRET}"),
            &format!("/api/v1/suggest?q={SECRET}"),
            &long,
            &huge,
        ] {
            rig.get(target);
            num_asked += 1;
        }
        rig.ask(
            "GET",
            "/",
            &[&format!("host: {SECRET}.example"), &format!("referer: http://localhost/search?q={SECRET}")],
        );
        rig.raw(&format!("GET /search?q={SECRET} HTTP/9.9\r\n\r\n"));
        rig.raw(&format!("GET /search?q={SECRET}\0 HTTP/1.1\r\nhost: localhost\r\n\r\n"));
        num_asked += 1;
    }
    assert!(NUM_ANSWERED.load(Ordering::SeqCst) >= num_asked, "the log was not read");
    assert_eq!(NUM_TOLD.load(Ordering::SeqCst), 0, "a query was logged");
}
