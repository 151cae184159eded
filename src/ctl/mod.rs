//! `lohisoftbot-ctl`: asks a running node, and shows what it says.
//!
//! What was typed (`args`), what is asked (here) and how an answer looks (`table`) are apart. Exit code 0: done; 1: the
//! node said no; 2: it could not be asked.

mod args;
mod table;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use lohisoftbot_core::config::Config;
use serde_json::{Value, json};

pub use args::{Args, Question};
pub use table::{Surface, printable, render};

use crate::config_file;
use crate::control::{Command, ControlClient, ControlError};

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
    let (text, code) = match ask(args) {
        Ok(Ok(answer)) if args.json => (format!("{answer}\n"), DONE),
        Ok(Ok(answer)) => (render(&answer, surface), DONE),
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

/// The node's answer or its no; or why it could not be asked.
fn ask(args: &Args) -> Result<Result<Value, ControlError>, String> {
    let command: Command = args.question.to_command().map_err(|error| error.message)?;
    let socket = socket_path(args)?;
    let mut client = ControlClient::connect(&socket).map_err(|error| error.to_string())?;
    client.call(&command).map_err(|error| error.to_string())
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
