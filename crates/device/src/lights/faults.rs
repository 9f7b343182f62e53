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

#[cfg(test)]
mod tests {
    use super::*;

    /// What is missing before and now, since when it is red, and when it was last shown, all in ms; 0 is never.
    fn check(
        before: FaultSignal,
        now: FaultSignal,
        red_since: u64,
        shown: u64,
        at: u64,
        shows: bool,
    ) {
        let moment = |ms: u64| (ms > 0).then(|| Duration::from_millis(ms));
        let mut indicator = FaultIndicator {
            fault: before,
            red_since: moment(red_since),
            shown: moment(shown),
        };
        let told = indicator.look(now, Duration::from_millis(at));
        assert_eq!(
            told.is_some(),
            shows,
            "{before:?} {now:?} {red_since} {shown} {at}"
        );
    }

    #[test]
    fn faults_are_shown_as_in_the_table() {
        use FaultSignal::{Blocks, Feeds, Network, None, Prices};
        check(None, Prices, 0, 0, 1000, true);
        check(Prices, Prices, 0, 1000, 5000, false);
        check(Prices, Prices, 0, 1000, 11_000, true);
        check(None, Network, 0, 0, 1000, false);
        check(Network, Network, 1000, 0, 3000, false);
        check(Network, Network, 1000, 0, 5999, false);
        check(Network, Network, 1000, 0, 6000, true);
        check(Network, Network, 1000, 6000, 9000, false);
        check(Network, Network, 1000, 6000, 11_000, true);
        check(Network, Feeds, 1000, 6000, 8000, false);
        check(Blocks, Prices, 0, 1000, 2000, true);
        check(Network, None, 1000, 6000, 20_000, false);
    }

    #[test]
    fn each_fault_has_its_colours() {
        let mut indicator = FaultIndicator::default();
        assert_eq!(
            indicator.look(FaultSignal::Blocks, Duration::ZERO),
            Some(Show::NoBlocks)
        );
        assert_eq!(
            indicator.look(FaultSignal::Prices, Duration::ZERO),
            Some(Show::NoPrices)
        );
        assert_eq!(
            indicator.look(FaultSignal::Network, Duration::from_secs(1)),
            None
        );
        assert_eq!(
            indicator.look(FaultSignal::Network, Duration::from_secs(10)),
            Some(Show::NoData)
        );
    }
}
