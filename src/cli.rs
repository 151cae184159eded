//! What was typed: the command line of the node. What it means is decided where each command lives.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Args, Command, Parser, Subcommand};
use lohisoftbot_core::config::parse_span;
use lohisoftbot_core::url::{PageUrl, without_userinfo};

/// A polite web crawler that keeps metadata only.
///
/// Without a subcommand it runs the node. Exit code 0: done; 1: the answer is no; 2: it could not begin, or the command
/// line is wrong.
#[derive(Clone, Debug, Parser)]
#[command(name = "lohisoftbot", version, about, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// What to do; run the node where nothing is named.
    #[command(subcommand)]
    command: Option<CliCommand>,
    #[command(flatten)]
    run: RunArgs,
}

/// The subcommands of the node.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum CliCommand {
    /// Crawl, keep, and answer on the control socket
    Run(RunArgs),
    /// Start a practice web on this machine and crawl it, to see how it works
    Demo(DemoArgs),
    /// Explain the configuration and the identity; sends nothing
    Check(CheckArgs),
    /// Show, as JSON, what the bot would keep of a page
    Extract(ExtractArgs),
    /// Say whether a robots.txt lets the bot ask for a URL, and which line says so
    Robots(RobotsArgs),
}

impl Cli {
    /// What to do.
    pub fn into_command(self) -> CliCommand {
        self.command.unwrap_or(CliCommand::Run(self.run))
    }
}

/// Options of `run`.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct RunArgs {
    /// The settings
    #[arg(long, value_name = "FILE", default_value = "config.toml")]
    pub config: PathBuf,
    /// Sites to begin with: one URL or host a line, `#` begins a comment
    #[arg(long, value_name = "FILE")]
    pub seeds: Option<PathBuf>,
    /// End when nothing is live and no wait ends within --max-wait, and list what stays parked
    #[arg(long)]
    pub until_idle: bool,
    /// Waits that end within this time are waited for by --until-idle
    #[arg(long, value_name = "TIME", value_parser = span, default_value = "60s", requires = "until_idle")]
    pub max_wait: Duration,
    /// Say what would be crawled, in what order and at what cost; send nothing, and write nothing
    #[arg(long, conflicts_with = "until_idle")]
    pub dry_run: bool,
    /// Print that as one line of JSON
    #[arg(long, requires = "dry_run")]
    pub json: bool,
}

/// Options of `demo`.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct DemoArgs {
    /// End when all is crawled, instead of staying until Ctrl-C
    #[arg(long)]
    pub until_idle: bool,
    /// How many sites the practice web has
    #[arg(long, value_name = "N", default_value_t = DEFAULT_DEMO_SITES, value_parser = clap::value_parser!(u32).range(1..=250))]
    pub sites: u32,
    /// The same number makes the same practice web
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// Sites of the practice web where no number is typed.
pub const DEFAULT_DEMO_SITES: u32 = 64;

/// Options of `check`.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct CheckArgs {
    /// The settings
    #[arg(long, value_name = "FILE", default_value = "config.toml")]
    pub config: PathBuf,
}

/// Options of `extract`.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct ExtractArgs {
    /// The page; `-` reads standard input
    pub file: PathBuf,
    /// Where the page is from: links are resolved against it
    #[arg(long, value_parser = TypedUrl(page_url))]
    pub url: PageUrl,
    /// A header field of the answer, such as 'Content-Type: text/html; charset=utf-8'; may be given several times
    #[arg(long = "header", value_name = "K: V", value_parser = header)]
    pub headers: Vec<Header>,
}

/// Options of `robots`.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct RobotsArgs {
    /// The robots.txt; `-` reads standard input
    pub file: PathBuf,
    /// The URL to judge
    #[arg(long, value_parser = TypedUrl(page_url))]
    pub url: PageUrl,
    /// The product token to judge for
    #[arg(long, value_name = "TOKEN", default_value = "LohiSoftBot")]
    pub agent: String,
    /// Print the verdict as one line of JSON
    #[arg(long)]
    pub json: bool,
}

/// A header field as it was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Its name.
    pub name: String,
    /// Its value, without white space around it.
    pub value: String,
}

/// An error with its causes as one line; a cause that the message above it has told already is not told again.
pub fn in_one_line(error: &anyhow::Error) -> String {
    let mut line = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !line.contains(&cause) {
            line = format!("{line}: {cause}");
        }
    }
    line
}

fn span(text: &str) -> Result<Duration, String> {
    parse_span(text).map_err(|error| error.to_string())
}

fn page_url(text: &str) -> Result<PageUrl, String> {
    PageUrl::parse(text, None).map_err(|refusal| format!("it {refusal}"))
}

/// Reads an argument that is a URL or may be one. clap's own words repeat a value as it was typed; these leave a password out.
#[derive(Clone, Copy, Debug)]
pub struct TypedUrl<T>(pub fn(&str) -> Result<T, String>);

impl<T: Clone + Send + Sync + 'static> TypedValueParser for TypedUrl<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        let refused = |why: String| {
            let (value, arg) = (value.to_string_lossy(), arg.map(ToString::to_string).unwrap_or_default());
            let text = format!("invalid value {:?} for '{arg}': {why}\n", without_userinfo(&value));
            clap::Error::raw(ErrorKind::ValueValidation, text).with_cmd(command)
        };
        let text = value.to_str().ok_or_else(|| refused("it is not UTF-8".to_owned()))?;
        (self.0)(text).map_err(refused)
    }
}

/// `Name: value`; the name is a token (RFC 9110 §5.6.2).
fn header(text: &str) -> Result<Header, String> {
    let (name, value) = text.split_once(':').ok_or("write it as 'Name: value'")?;
    let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(format!("{name:?} is no name of a header field"));
    }
    if value.bytes().any(|b| matches!(b, b'\r' | b'\n' | 0)) {
        return Err("the value has a line end inside".to_owned());
    }
    Ok(Header { name: name.to_owned(), value: value.trim().to_owned() })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parse(typed: &[&str]) -> Result<CliCommand, clap::Error> {
        Cli::try_parse_from(std::iter::once("lohisoftbot").chain(typed.iter().copied())).map(Cli::into_command)
    }

    #[track_caller]
    fn check_refused(typed: &[&str], word: &str) {
        let error = parse(typed).expect_err("it was taken");
        assert_eq!(error.exit_code(), 2, "{typed:?}");
        assert!(error.to_string().contains(word), "{typed:?}: {error}");
    }

    #[test]
    fn cause_is_told_once() {
        let io = || std::io::Error::other("disk gone");
        let check = |error: anyhow::Error, wanted: &str| assert_eq!(in_one_line(&error), wanted);
        check(anyhow::Error::from(io()).context("cannot open x"), "cannot open x: disk gone");
        check(
            anyhow::Error::from(io()).context("cannot open x: disk gone; name another"),
            "cannot open x: disk gone; name another",
        );
    }

    #[test]
    fn command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn run_is_what_is_done_where_nothing_is_named() {
        let defaults = RunArgs {
            config: "config.toml".into(),
            seeds: None,
            until_idle: false,
            max_wait: Duration::from_secs(60),
            dry_run: false,
            json: false,
        };
        assert_eq!(parse(&[]).unwrap(), CliCommand::Run(defaults.clone()));
        assert_eq!(parse(&["run"]).unwrap(), CliCommand::Run(defaults));
        let typed = ["--config", "c.toml", "--seeds", "s.txt", "--until-idle", "--max-wait", "250ms"];
        let wanted = CliCommand::Run(RunArgs {
            config: "c.toml".into(),
            seeds: Some("s.txt".into()),
            until_idle: true,
            max_wait: Duration::from_millis(250),
            dry_run: false,
            json: false,
        });
        assert_eq!(parse(&typed).unwrap(), wanted);
        assert_eq!(parse(&[&["run"], &typed[..]].concat()).unwrap(), wanted);
    }

    #[test]
    fn options_of_run_are_not_silently_dropped_before_another_command() {
        check_refused(&["--seeds", "s.txt", "check"], "cannot be used with");
        check_refused(&["--max-wait", "5s"], "--until-idle");
        check_refused(&["--until-idle", "--max-wait", "5"], "no span of time");
        check_refused(&["run", "--json"], "--dry-run");
        check_refused(&["run", "--dry-run", "--until-idle"], "cannot be used with");
        check_refused(&["crawl"], "unrecognized");
    }

    #[test]
    fn demo_has_as_many_sites_as_are_asked_for() {
        let wanted = CliCommand::Demo(DemoArgs { until_idle: true, sites: 80, seed: 7 });
        assert_eq!(parse(&["demo", "--until-idle", "--sites", "80", "--seed", "7"]).unwrap(), wanted);
        check_refused(&["demo", "--sites", "0"], "0 is not in");
    }

    #[test]
    fn extract_takes_header_fields_as_they_are_typed() {
        let typed = [
            "extract",
            "page.html",
            "--url",
            "http://a.test/x",
            "--header",
            "Content-Type: text/html",
            "--header",
            "X-Robots-Tag:a: b",
        ];
        let CliCommand::Extract(args) = parse(&typed).unwrap() else { panic!("another command") };
        let header = |name: &str, value: &str| Header { name: name.to_owned(), value: value.to_owned() };
        assert_eq!(args.headers, [header("Content-Type", "text/html"), header("X-Robots-Tag", "a: b")]);
        assert_eq!(args.url.as_str(), "http://a.test/x");
        check_refused(&["extract", "page.html"], "--url");
        check_refused(&["extract", "page.html", "--url", "ftp://a.test/"], "neither http nor https");
        check_refused(
            &["robots", "-", "--url", "http://me:secret@a.test/"],
            "\"http://***@a.test/\" for '--url <URL>': it carries",
        );
        for bad in ["no colon", "two words: x", ": x", "A: x\r\nB: y"] {
            check_refused(&["extract", "page.html", "--url", "http://a.test/", "--header", bad], "header");
        }
    }

    #[test]
    fn robots_judges_for_our_own_token_by_default() {
        let CliCommand::Robots(args) = parse(&["robots", "robots.txt", "--url", "http://a.test/x"]).unwrap() else {
            panic!("another command")
        };
        assert_eq!((args.agent.as_str(), args.json), ("LohiSoftBot", false));
        let typed = ["robots", "-", "--url", "http://a.test/x", "--agent", "other", "--json"];
        let CliCommand::Robots(args) = parse(&typed).unwrap() else { panic!("another command") };
        assert_eq!((args.agent.as_str(), args.json), ("other", true));
    }

    /// The Rust files below `dir`.
    fn sources(dir: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }

    #[test]
    fn every_command_that_a_message_names_exists() {
        let programs = [
            ("`lohisoftbot ", Cli::command()),
            ("`lohisoftbot-ctl ", crate::ctl::Args::command()),
            ("`lohisoftbot-dump ", crate::dump::DumpArgs::command()),
        ];
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut files = Vec::new();
        for dir in ["src", "core/src", "actors/src"] {
            sources(&root.join(dir), &mut files);
        }
        let mut num_named = 0;
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            // A string literal may go on in the next line.
            let text = text.split("\\\n").map(str::trim_start).collect::<String>();
            for (program, command) in &programs {
                for after in text.split(program).skip(1) {
                    let typed = after.split(['`', '"', '\n']).next().unwrap_or_default();
                    let is_name = |word: &&str| word.bytes().all(|b| b.is_ascii_lowercase());
                    let Some(name) = typed.split_whitespace().find(is_name) else { continue };
                    let exists = command.find_subcommand(name).is_some();
                    assert!(exists, "{}: {program}{typed}` names no command", file.display());
                    num_named += 1;
                }
            }
        }
        assert!(num_named > 5, "{num_named} names were found: the search misses them");
    }
}
