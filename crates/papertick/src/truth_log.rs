//! Tells in the log when a value becomes better or worse than it was.

use std::collections::BTreeMap;

use device::market::{HeightState, Truth};

/// How good the values were when it was last told.
#[derive(Debug, Default)]
pub(crate) struct TruthLog {
    told: BTreeMap<&'static str, HeightState>,
}

impl TruthLog {
    /// Tells what is another state than before; that of a height which has just come is nothing to be told.
    pub(crate) fn follow(&mut self, truth: &Truth) {
        let Some(before) = self.told.insert("height", truth.height) else {
            return;
        };
        let (state, was) = (truth.height.name(), before.name());
        if before == truth.height {
            return;
        }
        match (is_calm(before), is_calm(truth.height)) {
            (_, false) => tracing::warn!(value = "height", was, "the height is {state}"),
            (false, true) => tracing::info!(value = "height", was, "the height is {state}"),
            // Every block is claimed before it is proven.
            (true, true) => tracing::debug!(value = "height", was, "the height is {state}"),
        }
    }
}

/// Tells whether a height in a state may be trusted as far as it goes.
fn is_calm(state: HeightState) -> bool {
    match state {
        HeightState::Proven
        | HeightState::Alone
        | HeightState::Claimed
        // There is nothing to be wrong.
        | HeightState::Unknown => true,
        HeightState::Disputed | HeightState::Stale => false,
    }
}
