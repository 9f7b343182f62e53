//! How good the values are, and why, as clients can read it.

use alloc::{sync::Arc, vec::Vec};

use chain::Work;
use market::{
    HeightState, HeightTruth, PriceState, Proven, Reorganisations, TimeTruth, Tip,
    heights::Claimed, now::Now, price_book::PriceTruths, source_id::SourceId,
};

/// How good the values are, and why.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Truth {
    /// How good the height is.
    pub height: HeightState,
    /// Name of the chain.
    pub chain: &'static str,
    /// Height of the block from which the chain is checked; `None` if the blocks are invented.
    pub anchor: Option<u32>,
    /// The best proven block.
    pub proven: Option<Tip>,
    /// Newest proven block of each source that has proven any.
    pub proofs: Vec<(SourceId, Tip)>,
    /// Work up to and including the best proven block, if that is the newest of the chain.
    pub work: Option<Work>,
    /// Reorganisations in this run.
    pub reorganisations: Reorganisations,
    /// The heights that sources claim.
    pub claims: Vec<Claimed>,
    /// How good the prices of this run are.
    pub prices: Arc<PriceTruths>,
    /// How good the fee rate is: `Single` while it is fresh, else `Stale`.
    pub fee: PriceState,
    /// How good the time is.
    pub time: TimeTruth,
}

impl Truth {
    /// How the height is proven, as a screen shows it.
    pub fn height_truth(&self, now: Now) -> HeightTruth {
        HeightTruth {
            state: self.height,
            proven: (self.proven).map(|tip| Proven::new(tip, self.agreeing(), now)),
        }
    }

    /// Number of public peers that have proven a block.
    pub fn peers(&self) -> usize {
        let peers = self.proofs.iter();
        peers
            .filter(|(source, _)| *source == SourceId::Peers)
            .count()
    }

    /// Number of sources that have the best proven block.
    pub fn agreeing(&self) -> usize {
        let proven = self.proven.as_ref();
        let same = |tip: &Tip| Some(tip) == proven;
        self.proofs.iter().filter(|(_, tip)| same(tip)).count()
    }
}
