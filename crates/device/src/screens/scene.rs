//! All that a screen may look at.

use crate::{
    market::{Datum, Market, Seen},
    now::LocalTime,
    settings::Settings,
    units::{Currency, FeeRate, Price},
};

/// Largest price that the panels show, in whole units; beyond it the source is taken to be wrong.
const SHOWN_PRICE_MAX: u64 = 2_000_000_000;

/// All that a screen may look at.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    /// What is known, after throttling.
    pub market: &'a Market,
    /// Settings the device runs on.
    pub settings: &'a Settings,
    /// Local time, once the wall clock is plausible.
    pub local: Option<LocalTime>,
    /// Currency of the slot; the first active one on screens without one.
    pub currency: Currency,
    /// Number of panels.
    pub panels: usize,
}

/// A fee rate as a source gives it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fee<'a> {
    /// Without decimals.
    Whole(&'a Datum<FeeRate>),
    /// With decimals.
    Precise(&'a Datum<FeeRate>),
}

impl<'a> Fee<'a> {
    /// The value with its source and age.
    pub fn datum(self) -> &'a Datum<FeeRate> {
        match self {
            Fee::Whole(datum) | Fee::Precise(datum) => datum,
        }
    }
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

    /// Price in the scene's currency, if known and small enough to be believed.
    pub fn shown_price(&self) -> Option<Price> {
        self.price()
            .filter(|price| price.rounded() <= SHOWN_PRICE_MAX)
    }

    /// Fee rate, if known: the newest; of two equally new ones the kind the owner prefers.
    ///
    /// Age goes first because a source gives one of the two, and which one follows the setting.
    pub fn fee(&self) -> Option<Fee<'a>> {
        let whole = self.market.fee.as_ref().map(Fee::Whole);
        let precise = self.market.precise_fee.as_ref().map(Fee::Precise);
        let (preferred, other) = match self.settings.block_fee_dec {
            true => (precise, whole),
            false => (whole, precise),
        };
        match (preferred, other) {
            (Some(preferred), Some(other)) => {
                let newer = newness(other) > newness(preferred);
                Some(if newer { other } else { preferred })
            }
            (preferred, other) => preferred.or(other),
        }
    }
}

/// Orders fee rates by when they were learned.
fn newness(fee: Fee<'_>) -> (u8, i128) {
    match fee.datum().seen {
        Seen::At(uptime) => (2, i128::try_from(uptime.as_nanos()).unwrap_or(i128::MAX)),
        Seen::Before(Some(moment)) => (1, moment.unix_ms.into()),
        Seen::Before(None) => (0, 0),
    }
}
