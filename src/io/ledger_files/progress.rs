//! How far a reader has come, for every way to read segments: what it has left, what it reads, what it holds ready.

use std::collections::VecDeque;
use std::path::PathBuf;

use lohisoftbot_actors::storage::LedgerError;

/// What becomes of the segments that are left when one of them cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterFault {
    /// Nothing more is read: what follows could be taken for the whole.
    End,
    /// A damaged segment is left where it is damaged, and the next one is read. Whoever asks for this says that something is missing.
    GoOnBehindDamage,
}

/// The state of an iterator over segments. `C` is what reads one segment, `T` what comes out of it.
#[derive(Debug)]
pub(super) struct Progress<C, T> {
    /// Segments that were not begun yet, oldest first.
    pub(super) segments: VecDeque<PathBuf>,
    /// The one that is being read.
    pub(super) current: Option<C>,
    /// Read, and not handed out yet.
    pub(super) ready: VecDeque<T>,
    after_fault: AfterFault,
}

impl<C, T> Progress<C, T> {
    /// Before the first segment.
    pub(super) fn new(segments: VecDeque<PathBuf>, after_fault: AfterFault) -> Self {
        Self { segments, current: None, ready: VecDeque::new(), after_fault }
    }

    /// The next item, or the end, or the fault, by what reading on came to: whether anything is ready. This is the one place that says
    /// what a fault ends.
    pub(super) fn hand_out(&mut self, read_on: Result<bool, LedgerError>) -> Option<Result<T, LedgerError>> {
        match read_on {
            Ok(true) => self.ready.pop_front().map(Ok),
            Ok(false) => None,
            Err(error) => {
                self.current = None;
                match (&error, self.after_fault) {
                    (LedgerError::Damaged { .. }, AfterFault::GoOnBehindDamage) => {}
                    (_, AfterFault::GoOnBehindDamage | AfterFault::End) => self.segments.clear(),
                }
                Some(Err(error))
            }
        }
    }
}
