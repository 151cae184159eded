//! The last steps of a run, kept only while a run is repeated that went wrong.

use std::cell::RefCell;
use std::collections::VecDeque;

/// Steps that are shown.
const SHOWN: usize = 40;

thread_local! {
    static STEPS: RefCell<Option<VecDeque<String>>> = const { RefCell::new(None) };
}

/// From now on steps are kept.
pub fn start() {
    STEPS.with_borrow_mut(|steps| *steps = Some(VecDeque::new()));
}

/// Keeps a step, if steps are kept.
pub fn note(step: impl FnOnce() -> String) {
    STEPS.with_borrow_mut(|steps| {
        if let Some(steps) = steps {
            if steps.len() == SHOWN {
                steps.pop_front();
            }
            steps.push_back(step());
        }
    });
}

/// The last steps; none are kept from now on.
pub fn end() -> String {
    STEPS.with_borrow_mut(|steps| steps.take().unwrap_or_default().into_iter().collect::<Vec<_>>().join("\n"))
}
