//! What to do about an error: the words that several messages share, so that they agree.
//!
//! Only what this version can do is named here.

/// Where stored bytes are damaged or lost. Ledger and records belong together, so neither is put back alone.
pub const BACKUP_ADVICE: &str = "stop the node and put a copy of the whole data directory in its place";
/// Where the file system refused.
pub const FILE_ADVICE: &str =
    "see that the node's user may read and write there, free space on that disk and start again";
/// Where another process has the files open.
pub const HELD_ADVICE: &str = "stop the other node";
/// Where only the program itself can be at fault.
pub const FAULT_ADVICE: &str = "this is a fault of the program: report it with the log";
