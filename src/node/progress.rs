//! What a person sees while a node runs: a line that is redrawn on a terminal, a log line now and then elsewhere.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use lohisoftbot_actors::stats::NodeStats;
use tokio::task::JoinHandle;

/// The line on a terminal is redrawn so often.
const REDRAW_INTERVAL: Duration = Duration::from_millis(250);
/// Elsewhere a log line is written so often.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// Shows progress on standard error.
#[derive(Clone)]
pub struct Progress {
    bars: MultiProgress,
    surface: Surface,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Surface {
    Terminal,
    Lines,
}

/// What the lines are where there is no terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// Lines of the log, in its form and under its level.
    OfTheLog,
    /// Plain text, whatever the log is told to leave out.
    Plain,
}

/// Progress being shown; ends with [`Watching::end`].
pub struct Watching {
    task: JoinHandle<()>,
    bar: Option<ProgressBar>,
}

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}

impl Progress {
    /// As fits where standard error goes.
    pub fn new() -> Self {
        let surface = if std::io::stderr().is_terminal() { Surface::Terminal } else { Surface::Lines };
        let target = match surface {
            Surface::Terminal => ProgressDrawTarget::stderr(),
            Surface::Lines => ProgressDrawTarget::hidden(),
        };
        Self { bars: MultiProgress::with_draw_target(target), surface }
    }

    /// Says something to the person, beside the progress line.
    pub fn say(&self, text: &str) {
        // There is nobody left to tell when standard error is gone.
        self.bars.suspend(|| drop(writeln!(std::io::stderr(), "{text}")));
    }

    /// Shows the counters until told to end. Must be called on an arbiter.
    pub fn watch(&self, stats: Arc<NodeStats>, lines: Lines) -> Watching {
        match self.surface {
            Surface::Terminal => {
                let style = ProgressStyle::with_template("{spinner} {elapsed} {msg}");
                let bar = self.bars.add(ProgressBar::new_spinner());
                bar.set_style(style.expect("the template is a constant and parses"));
                let drawn = bar.clone();
                let task = actix_rt::spawn(async move {
                    loop {
                        drawn.set_message(totals(&stats));
                        drawn.tick();
                        tokio::time::sleep(REDRAW_INTERVAL).await;
                    }
                });
                Watching { task, bar: Some(bar) }
            }
            Surface::Lines => {
                let progress = self.clone();
                let task = actix_rt::spawn(async move {
                    loop {
                        tokio::time::sleep(LOG_INTERVAL).await;
                        match lines {
                            Lines::OfTheLog => tracing::info!("{}", totals(&stats)),
                            Lines::Plain => progress.say(&totals(&stats)),
                        }
                    }
                });
                Watching { task, bar: None }
            }
        }
    }
}

impl Watching {
    /// Shows no more.
    pub fn end(self) {
        self.task.abort();
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The counters in a line.
pub fn totals(stats: &NodeStats) -> String {
    format!(
        "{} pages kept, {} page and {} robots.txt requests, {} waits, {} failures, {} sites live, {} cycles finished, {:.1} MiB received",
        stats.num_pages_stored.get(),
        stats.num_page_requests.get(),
        stats.num_robots_requests.get(),
        stats.num_waits.get(),
        stats.num_failures.get(),
        stats.num_sites_live.get(),
        stats.num_sites_finished.get(),
        stats.num_wire_bytes.get() as f64 / f64::from(1 << 20),
    )
}

/// Writes log lines so that they do not break the progress line.
#[derive(Clone)]
pub struct LogWriter(MultiProgress);

impl LogWriter {
    /// Beside `progress`.
    pub fn beside(progress: &Progress) -> Self {
        Self(progress.bars.clone())
    }
}

impl Write for LogWriter {
    /// Never an error: when standard error is gone or full, there is nobody to tell, and the node goes on.
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.suspend(|| drop(std::io::stderr().write_all(bytes)));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> tracing_subscriber::fmt::MakeWriter<'a> for LogWriter {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
