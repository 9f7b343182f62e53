//! Prices on the panels are updated no faster than `minSecPriceUpd`.

use alloc::sync::Arc;
use core::time::Duration;

use crate::settings::Settings;
use market::{Market, Prices};

/// The prices on the panels.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PriceThrottle {
    shown: Arc<Prices>,
    painted: Option<Duration>,
}

impl PriceThrottle {
    /// The market with the prices that are on the panels.
    pub fn throttled(&self, market: &Market) -> Market {
        Market {
            prices: Arc::clone(&self.shown),
            ..market.clone()
        }
    }

    /// Records that the panels show the newest prices.
    pub fn caught_up(&mut self, market: &Market) {
        self.shown = Arc::clone(&market.prices);
    }

    /// Records that a screen with a price was painted.
    pub fn painted(&mut self, uptime: Duration) {
        self.painted = Some(uptime);
    }

    /// Returns whether a new price has to wait.
    pub fn must_wait(&self, settings: &Settings, uptime: Duration) -> bool {
        let painted = self.painted;
        painted.is_some_and(|painted| uptime.saturating_sub(painted) < period(settings))
    }

    /// Uptime at which a throttled price may be painted.
    pub fn next_deadline(
        &self,
        market: &Market,
        settings: &Settings,
        uptime: Duration,
    ) -> Option<Duration> {
        let deadline = self.painted? + period(settings);
        (deadline > uptime && self.shown != market.prices).then_some(deadline)
    }
}

fn period(settings: &Settings) -> Duration {
    Duration::from_secs(u64::from(settings.min_sec_price_upd))
}
