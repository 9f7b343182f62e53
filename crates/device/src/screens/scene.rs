//! The input of a screen.

use core::time::Duration;

use crate::{history::History, settings::Settings};
use market::{
    Fee, HeightTruth, MarkReasons, Market,
    limits::STALE_PRICE,
    mark::Mark,
    now::{LocalTime, Now, Zone},
    units::{Currency, Price},
};

/// Largest price shown, in whole units; beyond it the source must be wrong.
const SHOWN_PRICE_MAX: u64 = 2_000_000_000;

/// The input of a screen.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    /// The market data after throttling.
    pub market: &'a Market,
    /// Reasons for marks besides age.
    pub mark_reasons: &'a MarkReasons,
    /// Proof of the height.
    pub truth: HeightTruth,
    /// How the values have moved. `None` while they are recorded.
    pub history: Option<&'a History>,
    /// The mark of a doubtful value of a tile: its change of a day is not shown.
    pub mark: Option<Mark>,
    /// Settings the device runs on.
    pub settings: &'a Settings,
    /// The moment.
    pub now: Now,
    /// The time zone.
    pub zone: &'a Zone,
    /// Currency of the slot; the first active one for screens without one.
    pub currency: Currency,
    /// Number of panels.
    pub panels: usize,
}

impl<'a> Scene<'a> {
    /// Local time, once the wall clock is plausible.
    pub fn local(&self) -> Option<LocalTime> {
        self.now.utc.map(|utc| self.zone.local(utc))
    }

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

    /// Price in the scene's currency, if it may be shown without a mark.
    pub fn fresh_price(&self) -> Option<Price> {
        let price = self.market.prices.get(&self.currency)?;
        let is_fresh = self.price_stale_from()? > self.now.uptime;
        let is_disputed = self.mark_reasons.prices.contains(&self.currency);
        (is_fresh && !is_disputed).then_some(price.value)
    }

    /// Uptime from which the price in the scene's currency is stale. `None` if there is none, or its age is unknown.
    pub fn price_stale_from(&self) -> Option<Duration> {
        let price = self.market.prices.get(&self.currency)?;
        price.old_from(STALE_PRICE, self.now)
    }

    /// Fee rate, if known.
    pub fn fee(&self) -> Option<Fee<'a>> {
        self.market.current_fee(self.settings.fee_precision())
    }
}
