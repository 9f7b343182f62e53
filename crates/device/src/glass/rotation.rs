//! The rotation: the order of slots, the current one, and the timer.
//!
//! A *slot* is a screen in a currency, if the screen has one. Next and previous visit all available slots; the timer
//! skips those that the owner has switched off.

use alloc::vec::Vec;
use core::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    screens::{SCREENS, Screen, catalog},
    settings::Settings,
};
use market::{lenient, units::Currency};

/// Id of the block height screen, the fallback.
pub const BLOCK_HEIGHT: u16 = 0;

/// Id of the ticker, shown after a choice of currency on screens without one.
const TICKER: u16 = 20;

/// A screen in a currency, if the screen has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RotationSlot {
    /// Id of the screen.
    pub screen: u16,
    /// Its currency.
    #[serde(default, deserialize_with = "lenient::value")]
    pub currency: Option<Currency>,
}

impl RotationSlot {
    /// A slot without a currency.
    pub const fn plain(screen: u16) -> RotationSlot {
        RotationSlot {
            screen,
            currency: None,
        }
    }
}

/// A slot in the rotation order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RotationEntry {
    /// The slot.
    pub slot: RotationSlot,
    /// The timer stops at it.
    pub enabled: bool,
}

/// State of the rotation timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timer {
    /// Running.
    Running {
        /// Uptime of the next turn. `None` if the period is zero.
        turn_at: Option<Duration>,
    },
    /// Stopped by the owner.
    Paused,
    /// Frozen during an update.
    ///
    /// It holds the time left instead of the time of the turn: otherwise the screen would change as the update ends.
    Frozen {
        /// Rest of the period. `None` while paused or without a period.
        left: Option<Duration>,
    },
}

/// The current slot of the rotation and its timer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenRotation {
    slot: RotationSlot,
    currency: Currency,
    timer: Timer,
}

/// All available slots in rotation order; never empty.
pub fn sequence(settings: &Settings) -> Vec<RotationEntry> {
    let currencies = settings.currencies();
    let mut entries = Vec::new();
    let mut add = |screen: &Screen, currency: Option<Currency>| {
        if settings.is_screen_available(screen.id) {
            entries.push(RotationEntry {
                slot: RotationSlot {
                    screen: screen.id,
                    currency,
                },
                enabled: settings.is_screen_enabled(screen.id),
            });
        }
    };
    if settings.screen_order.is_empty() {
        let alternate = |one: &Screen, next: &Screen| one.per_currency && next.per_currency;
        for together in SCREENS.chunk_by(alternate) {
            let each = if together[0].per_currency {
                currencies.iter().copied().map(Some).collect()
            } else {
                alloc::vec![None]
            };
            for currency in each {
                together.iter().for_each(|screen| add(screen, currency));
            }
        }
    } else {
        for screen in settings
            .rotation_order()
            .into_iter()
            .filter_map(catalog::find)
        {
            if screen.per_currency {
                currencies
                    .iter()
                    .for_each(|currency| add(screen, Some(*currency)));
            } else {
                add(screen, None);
            }
        }
    }
    if entries.is_empty() {
        entries.push(RotationEntry {
            slot: RotationSlot::plain(BLOCK_HEIGHT),
            enabled: true,
        });
    }
    entries
}

/// Direction of a step through the rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Navigation {
    /// To the next entry.
    Next,
    /// To the previous entry.
    Previous,
}

impl ScreenRotation {
    /// Starts at the slot that was shown last if it is still enabled, otherwise at the first enabled entry.
    pub fn start(
        last: Option<RotationSlot>,
        settings: &Settings,
        uptime: Duration,
    ) -> ScreenRotation {
        let entries = sequence(settings);
        let last = last.filter(|slot| {
            entries
                .iter()
                .any(|entry| entry.slot == *slot && entry.enabled)
        });
        let slot = last.unwrap_or_else(|| first(&entries));
        let mut rotation = ScreenRotation {
            slot,
            currency: slot.currency.unwrap_or_else(|| settings.currencies()[0]),
            timer: Timer::Paused,
        };
        rotation.restart(settings, uptime);
        rotation
    }

    /// The current slot, even if a layer covers it.
    pub fn slot(&self) -> RotationSlot {
        self.slot
    }

    /// The timer.
    pub fn timer(&self) -> Timer {
        self.timer
    }

    /// Uptime of the next turn.
    pub fn next_deadline(&self) -> Option<Duration> {
        match self.timer {
            Timer::Running { turn_at } => turn_at,
            Timer::Paused | Timer::Frozen { .. } => None,
        }
    }

    /// Moves one entry forward or back among all available ones, including disabled ones, and restarts the period.
    pub fn step(&mut self, direction: Navigation, settings: &Settings, uptime: Duration) {
        let entries = sequence(settings);
        let here = self.place(&entries);
        let count = entries.len();
        let there = match direction {
            Navigation::Next => (here + 1) % count,
            Navigation::Previous => (here + count - 1) % count,
        };
        self.go(entries[there].slot);
        self.restart(settings, uptime);
    }

    /// Moves to the next enabled entry, as the timer does; stays if there is no other.
    pub fn turn(&mut self, settings: &Settings, uptime: Duration) {
        let entries = sequence(settings);
        let here = self.place(&entries);
        let enabled = (1..=entries.len())
            .map(|ahead| entries[(here + ahead) % entries.len()])
            .find(|entry| entry.enabled);
        // If all screens are switched off, the block height is shown.
        self.go(enabled.map_or(RotationSlot::plain(BLOCK_HEIGHT), |entry| entry.slot));
        self.restart(settings, uptime);
    }

    /// Moves to a slot and restarts the period.
    pub fn jump(&mut self, slot: RotationSlot, settings: &Settings, uptime: Duration) {
        self.go(slot);
        self.restart(settings, uptime);
    }

    /// The slot of a screen; a screen with a currency uses the last one shown.
    pub fn slot_of(&self, screen: &Screen, settings: &Settings) -> RotationSlot {
        let currency = screen.per_currency.then(|| {
            let active = settings.currencies();
            if active.contains(&self.currency) { self.currency } else { active[0] }
        });
        RotationSlot {
            screen: screen.id,
            currency,
        }
    }

    /// The slot of a currency: the current screen if it has one, otherwise the ticker.
    pub fn slot_in(&self, currency: Currency) -> RotationSlot {
        let screen = match self.slot.currency {
            Some(_) => self.slot.screen,
            None => TICKER,
        };
        RotationSlot {
            screen,
            currency: Some(currency),
        }
    }

    /// Restarts the period if the timer runs; a frozen timer gets a whole period.
    pub fn restart(&mut self, settings: &Settings, uptime: Duration) {
        let period = period(settings).filter(|_| settings.timer_active);
        self.timer = match self.timer {
            Timer::Frozen { .. } => Timer::Frozen { left: period },
            Timer::Running { .. } | Timer::Paused if settings.timer_active => Timer::Running {
                turn_at: period.map(|period| uptime + period),
            },
            Timer::Running { .. } | Timer::Paused => Timer::Paused,
        };
    }

    /// Freezes the timer for an update.
    pub fn freeze(&mut self, uptime: Duration) {
        self.timer = match self.timer {
            Timer::Running { turn_at } => Timer::Frozen {
                left: turn_at.map(|at| at.saturating_sub(uptime)),
            },
            Timer::Paused => Timer::Frozen { left: None },
            frozen @ Timer::Frozen { .. } => frozen,
        };
    }

    /// Continues with the rest of the period.
    pub fn thaw(&mut self, settings: &Settings, uptime: Duration) {
        let Timer::Frozen { left } = self.timer else {
            return;
        };
        self.timer = if settings.timer_active {
            Timer::Running {
                turn_at: left.or(period(settings)).map(|left| uptime + left),
            }
        } else {
            Timer::Paused
        };
    }

    /// Applies a change of settings: period, pause, available screens.
    pub fn apply_settings(&mut self, before: &Settings, settings: &Settings, uptime: Duration) {
        if before.timer_seconds != settings.timer_seconds
            || before.timer_active != settings.timer_active
        {
            self.restart(settings, uptime);
        }
        let entries = sequence(settings);
        if !entries.iter().any(|entry| entry.slot == self.slot) {
            let gone_currency = self.slot.currency.is_some();
            self.go(if gone_currency {
                RotationSlot::plain(BLOCK_HEIGHT)
            } else {
                first(&entries)
            });
        }
    }

    fn go(&mut self, slot: RotationSlot) {
        self.slot = slot;
        if let Some(currency) = slot.currency {
            self.currency = currency;
        }
    }

    fn place(&self, entries: &[RotationEntry]) -> usize {
        entries
            .iter()
            .position(|entry| entry.slot == self.slot)
            .unwrap_or(0)
    }
}

fn first(entries: &[RotationEntry]) -> RotationSlot {
    entries
        .iter()
        .find(|entry| entry.enabled)
        .map_or(RotationSlot::plain(BLOCK_HEIGHT), |entry| entry.slot)
}

fn period(settings: &Settings) -> Option<Duration> {
    (settings.timer_seconds > 0).then(|| Duration::from_secs(u64::from(settings.timer_seconds)))
}
