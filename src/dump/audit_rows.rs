//! `audit`: the ledger of a stopped node, held against the promises.

use std::io::Write;
use std::path::Path;

use lohisoftbot_core::config::Config;

use super::args::DumpArgs;
use super::output::{Column, column, detail};
use super::{DumpError, rows};
use crate::config_file;
use crate::io::data_dir::DataDir;
use crate::io::ledger_files::LedgerReader;
use crate::node::{assemble, audit_ledger, finding_fields};

const COLUMNS: &[Column] =
    &[column("promise"), column("finding"), column("at"), column("site"), column("url"), column("what"), detail("seq")];

/// Writes what breaks a promise; a ledger that breaks none gives no row. The counts are told as the verdict.
pub fn write(args: &DumpArgs, dir: &DataDir, config: Option<&Path>, output: &mut dyn Write) -> Result<(), DumpError> {
    let config = match config {
        Some(path) => {
            let loaded = config_file::load(path, std::env::vars_os());
            loaded.map_err(|error| DumpError::Config(error.to_string()))?.config
        }
        None => Config::default(),
    };
    let report = audit_ledger(&LedgerReader::new(&dir.ledger()), args.site.clone(), assemble::audit_rules(&config))?;
    let mut writer = rows(args, COLUMNS, output);
    for finding in report.findings.iter().take(args.limit.unwrap_or(usize::MAX)) {
        writer.row(finding_fields(finding).map(|(_, value)| value).into())?;
    }
    writer.finish()?;
    if report.num_violations > 0 { Err(DumpError::BrokenPromises(report.summary())) } else { Ok(()) }
}
