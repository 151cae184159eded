//! The dump tool: looks into a stopped node's data directory and never changes it.
//!
//! Opening sled writes, so the records are copied first and the copy is opened; the ledger is only read. Exit codes: 0 done; 1 the
//! store is damaged, or what was asked for is not in it; 2 nothing could be looked at.

mod args;
mod audit_rows;
mod ledger_rows;
mod output;
pub(crate) mod store_copy;
mod store_rows;
#[cfg(test)]
mod tests;
mod verify;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::Parser;
use lohisoftbot_actors::storage::{LedgerError, StoreError};

use self::args::Command;
pub use self::args::DumpArgs;
use self::output::RowWriter;
use self::store_copy::{CopyError, StoreCopy};
use crate::io::data_dir::{DataDir, DataDirError};
use crate::io::sled_store::StoreOpenError;

/// Why a dump ended early.
#[derive(Debug, thiserror::Error)]
enum DumpError {
    /// Nothing could be looked at.
    #[error(transparent)]
    NoStore(#[from] DataDirError),
    /// The records could not be copied.
    #[error(transparent)]
    Copy(#[from] CopyError),
    /// The store does not open.
    #[error("{0}")]
    Open(String),
    /// A row does not read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The ledger does not read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// It is not there.
    #[error("{0} is not in the store")]
    NotFound(String),
    /// Problems were found and told.
    #[error("the store is not sound; problems found: {0}")]
    Unsound(u64),
    /// Promises were broken, and told.
    #[error("{0}")]
    BrokenPromises(String),
    /// The settings do not read.
    #[error("{0}")]
    Config(String),
    /// Output failed.
    #[error("cannot write: {0}")]
    Output(#[from] io::Error),
}

impl DumpError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::NoStore(_) | Self::Copy(_) | Self::Output(_) | Self::Config(_) => 2,
            Self::Open(_)
            | Self::Store(_)
            | Self::Ledger(_)
            | Self::NotFound(_)
            | Self::Unsound(_)
            | Self::BrokenPromises(_) => 1,
        }
    }
}

/// Runs the tool with the arguments of the process.
pub fn main() -> ExitCode {
    let args = DumpArgs::parse();
    // sled panics over some damaged files; the store's opening catches it and says so in one line.
    std::panic::set_hook(Box::new(|_| {}));
    let mut output = BufWriter::new(io::stdout().lock());
    let result = run(&args, &mut output).and_then(|()| Ok(output.flush()?));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // The reader, `head` for one, has seen enough.
        Err(DumpError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // What was written so far belongs before the message; if it cannot be written either, the message says enough.
            let _ = output.flush();
            // Nobody may be listening there; the exit code says it too.
            let _ = writeln!(io::stderr(), "lohisoftbot-dump: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn run(args: &DumpArgs, output: &mut dyn Write) -> Result<(), DumpError> {
    let dir = DataDir::existing(&args.store)?;
    let held = store_copy::hold(&dir)?;
    match &args.command {
        Command::Ledger { kinds } => ledger_rows::write(args, &dir, kinds, output),
        Command::Audit { config } => audit_rows::write(args, &dir, config.as_deref(), output),
        Command::Verify => verify::write(args, &dir, held, output),
        Command::Trees => with_store(&dir, held, |store| store_rows::trees(args, store, output)),
        Command::Stats => with_store(&dir, held, |store| store_rows::stats(args, store, output)),
        Command::Get { what } => with_store(&dir, held, |store| store_rows::get(args, store, what, output)),
        Command::Pages => with_store(&dir, held, |store| store_rows::pages(args, store, output)),
        Command::Inlinks => with_store(&dir, held, |store| store_rows::inlinks(args, store, output)),
        Command::Sites => with_store(&dir, held, |store| store_rows::sites(args, store, output)),
        Command::Frontier => with_store(&dir, held, |store| store_rows::frontier(args, store, output)),
        Command::Exclusions => with_store(&dir, held, |store| store_rows::exclusions(args, store, output)),
    }
}

fn with_store(
    dir: &DataDir,
    held: store_copy::HeldStore,
    show: impl FnOnce(&crate::io::sled_store::SledStore) -> Result<(), DumpError>,
) -> Result<(), DumpError> {
    let copy = StoreCopy::take(dir, &held)?;
    // The copy is read at leisure; a node may start meanwhile.
    drop(held);
    let store = copy.open().map_err(|error| open_error(&copy, &error))?;
    show(&store)
}

/// The message names the store, not its copy.
fn open_error(copy: &StoreCopy, error: &StoreOpenError) -> DumpError {
    DumpError::Open(copy.in_terms_of_the_original(&error.to_string()))
}

/// A writer of rows in the form that was asked for.
fn rows<'a>(args: &DumpArgs, columns: &'static [output::Column], output: &'a mut dyn Write) -> RowWriter<'a> {
    RowWriter::new(args.format, columns, output)
}
