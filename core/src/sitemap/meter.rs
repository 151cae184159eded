//! Counts the work that one sitemap costs and asks the budget between pieces of it.

use crate::extract::WorkBudget;

/// Units of work between two questions to the budget. A unit is about a tag: a fraction of a microsecond.
pub(super) const UNITS_PER_QUESTION: usize = 256;

/// Bytes of text or markup that count as one unit more.
const BYTES_PER_UNIT: usize = 256;

/// Invariant: once it has stopped, it stays stopped, and the budget is not asked again.
pub(super) struct Meter<'b> {
    budget: &'b mut dyn WorkBudget,
    until_question: usize,
    is_stopped: bool,
}

impl<'b> Meter<'b> {
    pub(super) fn new(budget: &'b mut dyn WorkBudget) -> Self {
        Self { budget, until_question: 0, is_stopped: false }
    }

    /// Charges one step over `num_bytes` bytes; `false` when no more may be done.
    pub(super) fn may_go_on(&mut self, num_bytes: usize) -> bool {
        // A long step is as many questions as it is worth, so that a budget of questions is one of bytes too.
        let mut units = 1 + num_bytes / BYTES_PER_UNIT;
        while !self.is_stopped && units >= self.until_question {
            units -= self.until_question;
            self.until_question = UNITS_PER_QUESTION;
            self.is_stopped = !self.budget.may_go_on();
        }
        self.until_question = self.until_question.saturating_sub(units);
        !self.is_stopped
    }
}
