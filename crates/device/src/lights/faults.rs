//! The fault indicator: the strip signals periodically that the network or a feed is missing.

use core::time::Duration;

use super::animations::Animation;

/// Time for which a red fault must last before it is shown.
const RED_GRACE: Duration = Duration::from_secs(5);

/// Period of the signal of a red fault.
const RED_PERIOD: Duration = Duration::from_secs(5);

/// Period of the signal of other faults.
const QUIET_PERIOD: Duration = Duration::from_secs(10);

/// The worst fault, which the LEDs signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FaultSignal {
    /// No fault.
    #[default]
    None,
    /// The feed of prices is missing.
    Prices,
    /// The feed of blocks is missing.
    Blocks,
    /// Both feeds are missing.
    Feeds,
    /// The network is missing.
    Network,
}

impl FaultSignal {
    fn is_red(self) -> bool {
        match self {
            FaultSignal::Network | FaultSignal::Feeds => true,
            FaultSignal::None | FaultSignal::Prices | FaultSignal::Blocks => false,
        }
    }

    fn animation(self) -> Option<Animation> {
        match self {
            FaultSignal::None => None,
            FaultSignal::Prices => Some(Animation::NoPrices),
            FaultSignal::Blocks => Some(Animation::NoBlocks),
            FaultSignal::Feeds | FaultSignal::Network => Some(Animation::NoData),
        }
    }
}

/// The current fault, and the time of its last signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FaultIndicator {
    fault: FaultSignal,
    red_since: Option<Duration>,
    shown: Option<Duration>,
}

impl FaultIndicator {
    /// Records the current fault. Returns an animation if the fault is to be signalled now.
    pub fn update(&mut self, fault: FaultSignal, uptime: Duration) -> Option<Animation> {
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
        fault.animation()
    }

    /// Uptime of the next signal.
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
