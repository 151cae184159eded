//! What the node says about itself: log lines on standard error, and nothing about pages.
//!
//! A panic's message can quote the page that caused it, and a core dump holds pages whole. So the panic hook prints the
//! place alone, and the process leaves no core (P6). A log is for whoever runs the node; it never holds a body, a
//! cookie or a credential.

use std::io::{IsTerminal, Write};
use std::panic::PanicHookInfo;

use lohisoftbot_core::config::{LogFormat, LogLevel, TelemetrySettings};
use rustix::process::{DumpableBehavior, Resource, Rlimit};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// Log lines cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// Something else in this process writes them already.
    #[error("logging is set up already: {0}")]
    AlreadySet(Box<dyn std::error::Error + Send + Sync>),
    /// The system does not let the process give up its core dumps.
    #[error("core dumps cannot be turned off, and they would hold pages: {0}")]
    CoreDumps(#[from] std::io::Error),
}

/// Sets up log lines on standard error, the panic hook, and no core dumps. Once a process, first of all.
pub fn init(settings: &TelemetrySettings) -> Result<(), TelemetryError> {
    init_with_writer(settings, std::io::stderr)
}

/// The same with another writer, for one that keeps log lines and progress bars apart.
pub fn init_with_writer<W>(settings: &TelemetrySettings, writer: W) -> Result<(), TelemetryError>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    forbid_core_dumps()?;
    std::panic::set_hook(Box::new(print_place));
    let set = tracing::subscriber::set_global_default(subscriber(settings, writer));
    set.map_err(|error| TelemetryError::AlreadySet(error.into()))
}

/// No core file, and none to a handler that the system pipes dumps to: that one ignores the limit (core(5)), so the
/// process is marked as not dumpable as well.
pub fn forbid_core_dumps() -> std::io::Result<()> {
    rustix::process::setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    Ok(())
}

/// Prints where a panic happened, and never what it says.
pub fn print_place(panic: &PanicHookInfo<'_>) {
    // A failed write must not panic inside the hook: that would end the process.
    let _ = writeln!(std::io::stderr(), "{}", place(panic));
}

fn place(panic: &PanicHookInfo<'_>) -> String {
    let thread = std::thread::current();
    let thread = thread.name().unwrap_or("unnamed");
    match panic.location() {
        Some(at) => format!("thread {thread} panicked at {}:{}:{}", at.file(), at.line(), at.column()),
        None => format!("thread {thread} panicked"),
    }
}

fn subscriber<W>(settings: &TelemetrySettings, writer: W) -> Box<dyn tracing::Subscriber + Send + Sync>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    // A line that cannot be written is lost; reporting that on a standard error that is gone would panic whoever logs.
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter(settings.level))
        .with_writer(writer)
        .log_internal_errors(false);
    match settings.log_format {
        LogFormat::Json => Box::new(lines.json().flatten_event(true).with_current_span(false).finish()),
        LogFormat::Text => Box::new(lines.with_ansi(std::io::stderr().is_terminal()).with_target(false).finish()),
    }
}

/// The level holds for the node's own lines. Libraries speak from `warn` on at most: at `debug`, they would quote what
/// they parse.
fn filter(level: LogLevel) -> EnvFilter {
    EnvFilter::new(match level {
        LogLevel::Off => "off",
        LogLevel::Error => "error",
        LogLevel::Warn => "warn",
        LogLevel::Info => "warn,lohisoftbot=info,lohisoftbot_actors=info,lohisoftbot_core=info",
        LogLevel::Debug => "warn,lohisoftbot=debug,lohisoftbot_actors=debug,lohisoftbot_core=debug",
        LogLevel::Trace => "warn,lohisoftbot=trace,lohisoftbot_actors=trace,lohisoftbot_core=trace",
    })
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn logged(log_format: LogFormat, level: LogLevel, work: impl FnOnce()) -> String {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = subscriber(&TelemetrySettings { log_format, level }, move || writer.clone());
        tracing::subscriber::with_default(subscriber, work);
        let bytes = lines.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn json_lines_are_objects_with_the_fields_at_the_top() {
        let text = logged(LogFormat::Json, LogLevel::Info, || {
            tracing::info!(target: "lohisoftbot::node", site = "a.test", "site \"taken\"\nup");
        });
        assert_eq!(text.lines().count(), 1);
        let line: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((line["site"].as_str(), line["level"].as_str()), (Some("a.test"), Some("INFO")));
        assert_eq!(line["message"], "site \"taken\"\nup");
    }

    #[test]
    fn text_lines_carry_the_fields() {
        let text = logged(LogFormat::Text, LogLevel::Info, || {
            tracing::info!(target: "lohisoftbot::node", site = "a.test", "site taken up");
        });
        assert!(text.contains("INFO") && text.contains("site taken up") && text.contains("site=\"a.test\""), "{text}");
    }

    #[test]
    fn level_holds_for_own_lines_and_libraries_stay_quiet() {
        for (level, wanted) in [(LogLevel::Off, 0), (LogLevel::Warn, 2), (LogLevel::Info, 3), (LogLevel::Trace, 4)] {
            let text = logged(LogFormat::Text, level, || {
                tracing::warn!(target: "hickory_resolver", "a");
                tracing::debug!(target: "hickory_resolver", "b");
                tracing::warn!(target: "lohisoftbot_actors::host", "c");
                tracing::info!(target: "lohisoftbot", "d");
                tracing::trace!(target: "lohisoftbot_core", "e");
            });
            assert_eq!(text.lines().count(), wanted, "{level:?}: {text}");
        }
    }

    /// The hook is one for the whole process, so that it and the limit are watched in a process of their own: this
    /// test, run again.
    #[test]
    fn panic_prints_its_place_alone_and_leaves_no_core() {
        const CHILD: &str = "TELEMETRY_TEST_CHILD";
        if std::env::var_os(CHILD).is_some() {
            init(&TelemetrySettings::default()).unwrap();
            let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
            let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
            assert_eq!(core.split_whitespace().skip(4).take(2).collect::<Vec<_>>(), ["0", "0"]);
            assert_eq!(rustix::process::dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
            assert!(std::panic::catch_unwind(|| panic!("a page said: {}", "canary")).is_err());
            return;
        }
        let name = "telemetry::tests::panic_prints_its_place_alone_and_leaves_no_core";
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args([name, "--exact", "--nocapture"])
            .env(CHILD, "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&child.stderr);
        assert!(child.status.success(), "{said}");
        assert!(said.contains("panicked at src/telemetry.rs:"), "{said}");
        assert!(!said.contains("canary") && !String::from_utf8_lossy(&child.stdout).contains("canary"), "{said}");
    }
}
