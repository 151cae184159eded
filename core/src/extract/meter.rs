//! Counts the work that one page costs and asks the budget between pieces of it.
//!
//! Invariant: whatever the budget says, no page takes more than [`MAX_TREE_UNITS`] to build, collects more than [`MAX_COLLECTED_BYTES`] of
//! text, or costs more than [`MAX_WALK_UNITS`] of walking; and once the meter has stopped, it stays stopped.

use super::WorkBudget;

/// Units of work between two questions to the budget. A unit is about a node or a token: a fraction of a microsecond.
const UNITS_PER_QUESTION: usize = 256;
/// Most units that building a tree may take beside its tokens; a node takes two, to be made and to be put in its place. A page of 2 MiB
/// takes some ten thousand and one of a mebibyte of bare links a hundred thousand; a bomb of 55 KB takes thirty million, of some 170 bytes
/// each.
pub(super) const MAX_TREE_UNITS: usize = 1 << 17;
/// Most units that the walk over a finished tree may cost, nested headings and links counted again for each level.
const MAX_WALK_UNITS: usize = 1 << 22;
/// The same for the walk over a partial tree, when the budget is spent already: enough to see each node of the largest tree once.
const MAX_GRACE_UNITS: usize = 1 << 19;
/// Most bytes of text collected in all headings and links together; nested ones would multiply without a bound.
const MAX_COLLECTED_BYTES: usize = 8 << 20;

pub(super) struct Meter<'b> {
    budget: &'b mut dyn WorkBudget,
    until_question: usize,
    budget_is_spent: bool,
    walk_units_left: usize,
    text_bytes_left: usize,
}

impl<'b> Meter<'b> {
    pub(super) fn new(budget: &'b mut dyn WorkBudget) -> Self {
        Self {
            budget,
            until_question: 0,
            budget_is_spent: false,
            walk_units_left: MAX_WALK_UNITS,
            text_bytes_left: MAX_COLLECTED_BYTES,
        }
    }

    /// Charges work on the tree; `false` when no more may be done.
    pub(super) fn may_build(&mut self, units: usize) -> bool {
        self.ask_if_due(units);
        !self.budget_is_spent
    }

    /// Asks the budget now, whatever was charged before.
    pub(super) fn ask(&mut self) -> bool {
        self.may_build(self.until_question)
    }

    /// Begins the walk. A budget that ended the building would end the walk at its first step and leave nothing of the partial
    /// tree; so from there on a small fixed bound holds instead, some ten milliseconds of work.
    pub(super) fn begin_walk(&mut self) -> WalkMeter<'_, 'b> {
        let asks_budget = !self.budget_is_spent;
        if !asks_budget {
            self.walk_units_left = MAX_GRACE_UNITS;
        }
        WalkMeter { meter: self, asks_budget, is_stopped: false }
    }

    fn ask_if_due(&mut self, units: usize) {
        if self.budget_is_spent {
            return;
        }
        if units >= self.until_question {
            self.until_question = UNITS_PER_QUESTION;
            self.budget_is_spent = !self.budget.may_go_on();
        } else {
            self.until_question -= units;
        }
    }
}

/// The meter of the walk over a tree that is there, whole or in part.
pub(super) struct WalkMeter<'m, 'b> {
    meter: &'m mut Meter<'b>,
    asks_budget: bool,
    is_stopped: bool,
}

impl WalkMeter<'_, '_> {
    /// Charges one step and `text_bytes` of text collected in it; `false` when the walk must end.
    pub(super) fn may_step(&mut self, text_bytes: usize) -> bool {
        self.charge(1 + text_bytes / 256, text_bytes)
    }

    /// Charges `bytes` that are read and not collected; `false` when the walk must end.
    pub(super) fn may_read(&mut self, bytes: usize) -> bool {
        self.charge(1 + bytes / 256, 0)
    }

    fn charge(&mut self, units: usize, text_bytes: usize) -> bool {
        if self.is_stopped {
            return false;
        }
        match (self.meter.walk_units_left.checked_sub(units), self.meter.text_bytes_left.checked_sub(text_bytes)) {
            (Some(units_left), Some(bytes_left)) => {
                self.meter.walk_units_left = units_left;
                self.meter.text_bytes_left = bytes_left;
                self.is_stopped = self.asks_budget && !self.meter.may_build(units);
            }
            (None, _) | (_, None) => self.is_stopped = true,
        }
        !self.is_stopped
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped
    }
}
