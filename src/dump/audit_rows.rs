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
use crate::node::{assemble, audit_ledger, finding_fields, gap_fields, lost_ledger};

const COLUMNS: &[Column] =
    &[column("promise"), column("finding"), column("at"), column("site"), column("url"), column("what"), detail("seq")];

/// Writes where the ledger is not whole and what breaks a promise; a whole ledger that breaks none gives no row. The counts are told as
/// the verdict, and what only the settings of today would not allow beside the rows.
pub fn write(args: &DumpArgs, dir: &DataDir, config: Option<&Path>, output: &mut dyn Write) -> Result<(), DumpError> {
    let config = match config {
        Some(path) => {
            let loaded = config_file::load(path, std::env::vars_os());
            loaded.map_err(|error| DumpError::Config(error.to_string()))?.config
        }
        None => Config::default(),
    };
    let lost = lost_ledger::find_beside_damage(dir)?;
    let (reader, rules) = (LedgerReader::new(&dir.ledger()), assemble::audit_rules(&config));
    let report = audit_ledger(&reader, args.site.clone(), rules, lost)?;
    let mut writer = rows(args, COLUMNS, output);
    let rows = report.gaps.iter().map(gap_fields).chain(report.findings.iter().map(finding_fields));
    for row in rows.take(args.limit.unwrap_or(usize::MAX)) {
        writer.row(row.map(|(_, value)| value).into())?;
    }
    writer.finish()?;
    for doubt in report.doubts.counts() {
        // Rows are findings, so this is said to people alone; whether anyone listens there changes nothing.
        let _ = writeln!(std::io::stderr(), "lohisoftbot-dump: {}", doubt.describe());
    }
    if report.is_clean() { Ok(()) } else { Err(DumpError::BrokenPromises(report.summary())) }
}
