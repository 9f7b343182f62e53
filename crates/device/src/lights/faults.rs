//! The fault indicator: the strip tells, now and then, that the network or a feed is missing.

use core::time::Duration;

use super::shows::Show;

/// Time a red fault must last before it is shown.
const RED_GRACE: Duration = Duration::from_secs(5);

/// Time between showings of a red fault.
const RED_PERIOD: Duration = Duration::from_secs(5);

/// Time between showings of a quiet fault.
const QUIET_PERIOD: Duration = Duration::from_secs(10);

/// The worst fault, which the LEDs signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FaultSignal {
    /// Nothing.
    #[default]
    None,
    /// The feed of prices.
    Prices,
    /// The feed of blocks.
    Blocks,
    /// Both feeds.
    Feeds,
    /// The network.
    Network,
}

impl FaultSignal {
    fn is_red(self) -> bool {
        match self {
            FaultSignal::Network | FaultSignal::Feeds => true,
            FaultSignal::None | FaultSignal::Prices | FaultSignal::Blocks => false,
        }
    }

    fn show(self) -> Option<Show> {
        match self {
            FaultSignal::None => None,
            FaultSignal::Prices => Some(Show::NoPrices),
            FaultSignal::Blocks => Some(Show::NoBlocks),
            FaultSignal::Feeds | FaultSignal::Network => Some(Show::NoData),
        }
    }
}

/// Remembers what was missing and when it was last shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FaultIndicator {
    fault: FaultSignal,
    red_since: Option<Duration>,
    shown: Option<Duration>,
}

impl FaultIndicator {
    /// Takes note of what is missing; tells what to show now, if anything.
    pub fn look(&mut self, fault: FaultSignal, uptime: Duration) -> Option<Show> {
        let changed = fault != self.fault;
        self.fault = fault;
        if fault.is_red() {
            self.red_since.get_or_insert(uptime);
        } else {
            self.red_since = None;
        }
        if fault == FaultSignal::None {
            self.shown = None;
        }
        let due = if fault.is_red() {
            self.next_deadline().is_some_and(|at| at <= uptime)
        } else {
            changed || self.next_deadline().is_some_and(|at| at <= uptime)
        };
        if !due {
            return None;
        }
        self.shown = Some(uptime);
        fault.show()
    }

    /// Uptime at which the fault is to be shown again.
    pub fn next_deadline(&self) -> Option<Duration> {
        match self.fault {
            FaultSignal::None => None,
            FaultSignal::Prices | FaultSignal::Blocks => {
                self.shown.map(|shown| shown + QUIET_PERIOD)
            }
            FaultSignal::Feeds | FaultSignal::Network => {
                let graced = self.red_since? + RED_GRACE;
                let spaced = self.shown.map(|shown| shown + RED_PERIOD);
                Some(spaced.map_or(graced, |spaced| spaced.max(graced)))
            }
        }
    }
}
