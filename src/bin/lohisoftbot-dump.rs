//! `lohisoftbot-dump`: a look into the store of a stopped node.

use std::process::ExitCode;

fn main() -> ExitCode {
    lohisoftbot::dump::main()
}
