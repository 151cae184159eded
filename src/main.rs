//! The node. See `lohisoftbot --help`.

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use lohisoftbot::cli::{Cli, CliCommand, in_one_line};
use lohisoftbot::{check, demo, inspect, node};

fn main() -> ExitCode {
    let (mut out, mut err) = (std::io::stdout().lock(), std::io::stderr());
    match Cli::parse().into_command() {
        CliCommand::Run(args) => {
            drop(out);
            node::run::main(&args)
        }
        CliCommand::Demo(args) => {
            drop(out);
            demo::main(&args)
        }
        CliCommand::Check(args) => ended(check::main(&args.config, &mut out, &mut err).map_err(Into::into)),
        CliCommand::Extract(args) => ended(inspect::extract_file(&args, &mut out).map(|()| 0)),
        CliCommand::Robots(args) => ended(inspect::robots_file(&args, &mut out).map(|()| 0)),
    }
}

/// The exit code of a command that needs no node. Whoever reads and has had enough, as `head` has, is no failure.
fn ended(result: anyhow::Result<u8>) -> ExitCode {
    match result {
        Ok(code) => code.into(),
        Err(error) => {
            let io = error.downcast_ref::<std::io::Error>();
            if io.is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe) {
                return ExitCode::SUCCESS;
            }
            // There is nobody left to tell when standard error is gone.
            let _ = writeln!(std::io::stderr(), "lohisoftbot: {}", in_one_line(&error));
            ExitCode::from(2)
        }
    }
}
