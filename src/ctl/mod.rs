//! `lohisoftbot-ctl`: asks a running node, and shows what it says.
//!
//! What was typed (`args`), what is asked (here) and how an answer looks (`table`) are apart. Exit code 0: done; 1: the
//! node said no; 2: it could not be asked.

mod args;
mod table;

use std::io::{IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use lohisoftbot_core::config::Config;
use serde_json::{Value, json};

pub use args::{Args, Question};
pub use table::{Surface, printable, render};

use crate::config_file;
use crate::control::{Command, ControlClient, ControlError, StreamEnd};

const DONE: u8 = 0;
const NODE_SAID_NO: u8 = 1;
const COULD_NOT_ASK: u8 = 2;

/// The whole program. A wrong command line ends it with exit code 2.
pub fn main() -> ExitCode {
    let args = Args::parse();
    let surface = if std::io::stdout().is_terminal() { Surface::Terminal } else { Surface::Plain };
    run(&args, surface, &mut std::io::stdout(), &mut std::io::stderr()).into()
}

/// Asks as `args` say and writes the answer to `out`, what went wrong to `err`. Returns the exit code.
pub fn run(args: &Args, surface: Surface, out: &mut impl Write, err: &mut impl Write) -> u8 {
    let command = match args.question.to_command() {
        Ok(command) => command,
        Err(error) => {
            say(err, &format!("lohisoftbot-ctl: {}", error.message));
            return COULD_NOT_ASK;
        }
    };
    if command.is_stream() {
        return stream(args, &command, out, err);
    }
    let (text, code) = match ask(args, &command) {
        Ok(Ok(answer)) if args.json => (format!("{answer}\n"), code_of(&command, &answer)),
        Ok(Ok(answer)) => (render(&answer, surface), code_of(&command, &answer)),
        Ok(Err(refusal)) => {
            say(err, &format!("lohisoftbot-ctl: {}", table::printable(&refusal.message)));
            let text = if args.json { format!("{}\n", json!({ "error": refusal })) } else { String::new() };
            (text, NODE_SAID_NO)
        }
        Err(message) => {
            say(err, &format!("lohisoftbot-ctl: {message}"));
            (String::new(), COULD_NOT_ASK)
        }
    };
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => code,
        // Whoever reads had enough, as `head` has: that is no failure.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => code,
        Err(error) => {
            say(err, &format!("lohisoftbot-ctl: cannot write the answer: {error}"));
            COULD_NOT_ASK
        }
    }
}

/// An audit that finds anything is no good news, to a script either.
fn code_of(command: &Command, answer: &Value) -> u8 {
    // A node of an earlier version names no gaps.
    let is_clean = answer["num_violations"].as_u64() == Some(0) && answer["num_gaps"].as_u64().unwrap_or_default() == 0;
    let found = matches!(command, Command::Audit { .. }) && !is_clean;
    if found { NODE_SAID_NO } else { DONE }
}

/// The node's answer or its no; or why it could not be asked.
fn ask(args: &Args, command: &Command) -> Result<Result<Value, ControlError>, String> {
    connect(args)?.call(command).map_err(|error| error.to_string())
}

fn connect(args: &Args) -> Result<ControlClient, String> {
    ControlClient::connect(&socket_path(args)?).map_err(|error| error.to_string())
}

/// Writes each line of a stream as it comes, and the node's last word as the last line.
fn stream(args: &Args, command: &Command, out: &mut impl Write, err: &mut impl Write) -> u8 {
    let mut written = Ok(());
    let mut put = |line: Value| {
        written = writeln!(out, "{line}").and_then(|()| out.flush());
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let end = connect(args).and_then(|client| client.stream(command, &mut put).map_err(|error| error.to_string()));
    let code = match end {
        Ok(StreamEnd::Whole(Ok(last))) => {
            // A reader that is gone shows below.
            let _ = put(last);
            DONE
        }
        Ok(StreamEnd::Whole(Err(refusal))) => {
            say(err, &format!("lohisoftbot-ctl: {}", table::printable(&refusal.message)));
            NODE_SAID_NO
        }
        Ok(StreamEnd::LeftEarly) => DONE,
        Err(message) => {
            say(err, &format!("lohisoftbot-ctl: {message}"));
            COULD_NOT_ASK
        }
    };
    match written {
        Ok(()) => code,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => code,
        Err(error) => {
            say(err, &format!("lohisoftbot-ctl: cannot write: {error}"));
            COULD_NOT_ASK
        }
    }
}

/// The socket that was named, else that of the configuration, else that of the defaults.
fn socket_path(args: &Args) -> Result<PathBuf, String> {
    if let Some(socket) = &args.socket {
        return Ok(socket.clone());
    }
    let path = match &args.config {
        Some(path) => path.as_path(),
        None => Path::new(DEFAULT_CONFIG),
    };
    if args.config.is_none() && !path.exists() {
        return Ok(Config::default().socket_path());
    }
    let loaded = config_file::load(path, std::env::vars_os()).map_err(|error| error.to_string())?;
    Ok(loaded.config.socket_path())
}

/// The configuration that is read where none is named.
pub const DEFAULT_CONFIG: &str = "config.toml";

fn say(err: &mut impl Write, message: &str) {
    // There is nobody left to tell when standard error is gone.
    let _ = writeln!(err, "{message}");
}

#[cfg(test)]
mod tests;
