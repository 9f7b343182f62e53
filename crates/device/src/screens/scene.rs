//! The input of a screen.

use crate::settings::Settings;
use market::{
    Fee, HeightTruth, Market,
    now::LocalTime,
    units::{Currency, Price},
};

/// Largest price shown, in whole units; beyond it the source must be wrong.
const SHOWN_PRICE_MAX: u64 = 2_000_000_000;

/// The input of a screen.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    /// The market data after throttling.
    pub market: &'a Market,
    /// Proof of the height.
    pub truth: HeightTruth,
    /// Settings the device runs on.
    pub settings: &'a Settings,
    /// Local time, once the wall clock is plausible.
    pub local: Option<LocalTime>,
    /// Currency of the slot; the first active one for screens without one.
    pub currency: Currency,
    /// Number of panels.
    pub panels: usize,
}

impl<'a> Scene<'a> {
    /// Height of the chain tip, if known.
    pub fn height(&self) -> Option<u32> {
        self.market.height.as_ref().map(|height| height.value)
    }

    /// Price in the scene's currency, if known.
    pub fn price(&self) -> Option<Price> {
        self.market
            .prices
            .get(&self.currency)
            .map(|price| price.value)
    }

    /// Price in the scene's currency, if known and plausible.
    pub fn shown_price(&self) -> Option<Price> {
        self.price()
            .filter(|price| price.rounded() <= SHOWN_PRICE_MAX)
    }

    /// Fee rate, if known.
    pub fn fee(&self) -> Option<Fee<'a>> {
        self.market.current_fee(self.settings.fee_precision())
    }
}
