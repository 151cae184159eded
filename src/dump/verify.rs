//! `verify`: reads everything, checks it, and gives a verdict.

use std::io::Write;

use lohisoftbot_actors::storage::RecordStore;
use serde_json::json;

use super::args::DumpArgs;
use super::output::{Column, column};
use super::store_copy::{HeldStore, StoreCopy};
use super::{DumpError, rows};
use crate::io::data_dir::DataDir;
use crate::io::ledger_files::LedgerReader;
use crate::io::sled_store::TreeName;

const COLUMNS: &[Column] = &[column("part"), column("verdict"), column("detail")];

/// Most problems of rows that are told one by one.
const MAX_TOLD: u64 = 100;

/// Writes what was checked, what was found, and the verdict.
pub fn write(args: &DumpArgs, dir: &DataDir, held: HeldStore, output: &mut dyn Write) -> Result<(), DumpError> {
    let mut writer = rows(args, COLUMNS, output);
    let mut num_problems = 0_u64;
    let mut tell = |part: &str, problem: Option<String>, detail: String| {
        let verdict = if problem.is_some() { "damaged" } else { "sound" };
        num_problems += u64::from(problem.is_some());
        writer.row(vec![json!(part), json!(verdict), json!(problem.unwrap_or(detail))])
    };

    let ledger = LedgerReader::new(&dir.ledger()).verify();
    match &ledger {
        Err(error) => tell("ledger", Some(error.to_string()), String::new())?,
        Ok(summary) => {
            let torn = match summary.torn_bytes {
                0 => String::new(),
                bytes => format!("; {bytes} bytes at its end were torn by a crash and never acknowledged"),
            };
            let (segments, entries, last) = (summary.num_segments, summary.num_entries, summary.last_seq);
            tell("ledger", None, format!("{entries} entries in {segments} segments, the newest is {last}{torn}"))?;
        }
    }

    let copy = StoreCopy::take(dir, &held)?;
    // The copy is checked at leisure; a node may start meanwhile.
    drop(held);
    match copy.open() {
        Err(error) => tell("records", Some(copy.in_terms_of_the_original(&error.to_string())), String::new())?,
        Ok(store) => {
            tell("sentinel", None, "the store holds what it held at its last checkpoint, or more".to_owned())?;
            let mut problems = Vec::new();
            let mut num_found = 0;
            let read = store.verify(&mut |problem| {
                num_found += 1;
                if num_found <= MAX_TOLD {
                    problems.push(problem.to_string());
                }
            });
            for problem in problems {
                tell("records", Some(problem), String::new())?;
            }
            if num_found > MAX_TOLD {
                tell("records", Some(format!("and {} more", num_found - MAX_TOLD)), String::new())?;
            }
            match read {
                Err(error) => tell("records", Some(error.to_string()), String::new())?,
                Ok(()) if num_found == 0 => {
                    let counted = TreeName::ALL.into_iter().filter(|tree| *tree != TreeName::Meta);
                    let num_rows = counted.map(|tree| store.num_rows(tree)).sum::<Result<u64, _>>()?;
                    tell("records", None, format!("{num_rows} rows read, all counts agree"))?;
                }
                Ok(()) => {}
            }
            if let Ok(summary) = &ledger {
                let (seen, last) = (store.ledger_seq(), summary.last_seq);
                let behind = (last < seen).then(|| {
                    format!("the store has seen ledger entry {seen}, the ledger ends at {last}: it lost its end")
                });
                tell("together", behind, format!("the store has seen the ledger up to entry {seen} of {last}"))?;
            }
        }
    }
    let verdict = if num_problems == 0 { "sound" } else { "damaged" };
    writer.row(vec![json!("verdict"), json!(verdict), json!(format!("{num_problems} problems"))])?;
    writer.finish()?;
    if num_problems == 0 { Ok(()) } else { Err(DumpError::Unsound(num_problems)) }
}
