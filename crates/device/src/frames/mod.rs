//! Pictures for screens other than the panels: tablets, e-readers and displays that request a picture periodically.

mod composer;

use alloc::{format, string::String, vec::Vec};
use core::time::Duration;

use market::now::{LocalTime, Now, UtcTime, Zone};

use crate::{
    cells::Picture,
    glass::rotation::RotationSlot,
    screens::catalog::{self, Dependency},
};

pub use composer::PreviewedScreen;

/// What a frame shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameContent {
    /// The same as the panels, except for passwords.
    Follow,
    /// A screen, by id. What covers the rotation does not cover it.
    Screen(u16),
}

/// A picture for another screen.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// The picture.
    pub picture: Picture,
    /// The slot of the rotation that it shows. `None` for a layer or a board.
    pub slot: Option<RotationSlot>,
    /// Name of the screen and time of its value, such as `Ticker, 14:05`; empty for a layer or a board.
    pub caption: String,
    /// When the clock learned the value. `None` for a layer or a board, or if the wall clock was not set.
    pub since: Option<UtcTime>,
    /// When it can change.
    pub changes: Changes,
}

/// When a frame can change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// What its content depends on.
    pub depends_on: Vec<Dependency>,
    /// Time to the next turn of the rotation. `None` if it does not turn, or the frame does not follow it.
    pub turn_in: Option<Duration>,
    /// Time to the next minute of the wall clock. `None` if the clock is not set.
    pub minute_in: Option<Duration>,
    /// Time to the end of the quiet hours. `None` outside of them, or if they have no end.
    pub quiet_for: Option<Duration>,
    /// Least time between two changes of the price.
    pub price_pace: Duration,
}

/// Expected time to the next block at which a viewer should look: half the mean time between blocks.
const BLOCK_PACE: Duration = Duration::from_secs(5 * 60);

/// Time between two looks at figures that are polled, and at a fee rate.
const FIGURE_PACE: Duration = Duration::from_secs(5 * 60);

/// Least time between two looks at prices: they change at any time.
const PRICE_PACE_MIN: Duration = Duration::from_secs(60);

/// Least time between two looks.
const LOOK_MIN: Duration = Duration::from_secs(1);

/// Longest time between two looks: a layer, such as a text, can cover the rotation at any time.
pub const LOOK_MAX: Duration = Duration::from_secs(60 * 60);

impl Changes {
    /// Time after which a viewer should look again.
    ///
    /// In quiet hours only the time of day and the end of the quiet hours count.
    pub fn expected(&self) -> Duration {
        let of_value = |dependency: &Dependency| match dependency {
            Dependency::Time => self.minute_in,
            Dependency::Height if self.quiet_for.is_none() => Some(BLOCK_PACE),
            Dependency::Price if self.quiet_for.is_none() => {
                Some(self.price_pace.max(PRICE_PACE_MIN))
            }
            Dependency::Fee | Dependency::Pool | Dependency::Miner | Dependency::Balance
                if self.quiet_for.is_none() =>
            {
                Some(FIGURE_PACE)
            }
            _ => None,
        };
        let turn_in = self.turn_in.filter(|_| self.quiet_for.is_none());
        let values = self.depends_on.iter().filter_map(of_value);
        let moments = values.chain(turn_in).chain(self.quiet_for);
        moments.fold(LOOK_MAX, Duration::min).max(LOOK_MIN)
    }
}

impl Frame {
    /// Captions a screen with a time of its value.
    pub fn set_since(&mut self, since: Option<UtcTime>, zone: &Zone) {
        let screen = self.slot.and_then(|slot| catalog::find(slot.screen));
        let name = screen.map_or("", |screen| screen.name);
        self.since = since;
        self.caption = match since.map(|utc| zone.local(utc)) {
            Some(LocalTime { hour, minute, .. }) => format!("{name}, {hour:02}:{minute:02}"),
            None => name.into(),
        };
    }
}

/// Time to the next minute of the wall clock.
pub fn minute_in(now: Now) -> Option<Duration> {
    const MINUTE_MS: i64 = 60_000;
    let into_minute = now.utc?.unix_ms.rem_euclid(MINUTE_MS);
    Some(Duration::from_millis(
        (MINUTE_MS - into_minute).unsigned_abs(),
    ))
}
