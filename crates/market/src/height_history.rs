//! The newest heights that one source has reported, each with the time of its first report.

use alloc::{collections::VecDeque, vec::Vec};
use core::time::Duration;

use crate::limits::{CONTEST_TIME, RIVAL_TIME};

/// Largest number of heights that are stored: more blocks than a chain gains within [`HISTORY_TIME`].
const HEIGHTS_MAX: usize = 32;

/// Longest time for which a verdict waits before a difference counts.
const HISTORY_TIME: Duration = RIVAL_TIME;

const _: () = assert!(CONTEST_TIME.as_secs() <= HISTORY_TIME.as_secs());

/// The newest heights of a source, oldest first, each with the uptime of its first report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HeightHistory {
    newest: VecDeque<(Duration, u32)>,
    /// Time of the first height that was dropped too early, if all later ones were dropped too early as well: less than
    /// [`HISTORY_TIME`] after it was reported.
    overflow_since: Option<Duration>,
}

impl HeightHistory {
    /// Records a height. Of two heights at the same moment the later call counts.
    pub fn record(&mut self, height: u32, at: Duration) {
        if self.height() == Some(height) {
            return;
        }
        if self.since() == Some(at) {
            self.newest.pop_back();
        }
        // The height before the one just replaced may be the same.
        if self.height() == Some(height) {
            return;
        }
        if self.newest.len() == HEIGHTS_MAX {
            let dropped = self.newest.pop_front().map(|(dropped, _)| dropped);
            let dropped_early = dropped.filter(|dropped| *dropped + HISTORY_TIME > at);
            self.overflow_since = dropped_early.and(self.overflow_since.or(dropped_early));
        }
        self.newest.push_back((at, height));
    }

    /// The newest height; `None` before the first report.
    pub fn height(&self) -> Option<u32> {
        self.newest.back().map(|(_, height)| *height)
    }

    /// Uptime at which the newest height was reported first.
    pub fn since(&self) -> Option<Duration> {
        self.newest.back().map(|(at, _)| *at)
    }

    /// The height at a moment.
    fn height_at(&self, moment: Duration) -> Option<u32> {
        let before = self.newest.iter().rev().find(|(at, _)| *at <= moment);
        before.map(|(_, height)| *height)
    }

    /// First moment, not before `from`, at which the height was above this one, whatever was reported after it. `None` if
    /// it never was.
    pub fn above_since(&self, height: u32, from: Duration) -> Option<Duration> {
        let is_above = |reported: u32| reported > height;
        // A source cannot extend the time by reporting so many heights that the first ones are dropped.
        let is_dropped = self.newest.len() == HEIGHTS_MAX
            && self.newest.front().is_some_and(|(at, _)| *at > from);
        if is_dropped || self.height_at(from).is_some_and(is_above) {
            return Some(from);
        }
        let mut later = self.newest.iter().filter(|(at, _)| *at > from);
        later
            .find(|(_, reported)| is_above(*reported))
            .map(|(at, _)| *at)
    }

    /// Start of the time in which this history and another have differed without a break. `None` if they agree, or if one
    /// of them is empty.
    pub fn differs_since(&self, other: &HeightHistory) -> Option<Duration> {
        let both = self.newest.iter().chain(&other.newest);
        let mut moments: Vec<Duration> = both.map(|(at, _)| *at).collect();
        moments.sort_unstable();
        let differ = |moment: &Duration| match (self.height_at(*moment), other.height_at(*moment)) {
            (Some(one), Some(two)) => one != two,
            (None, _) | (_, None) => false,
        };
        let since = moments.into_iter().rev().take_while(differ).last()?;
        // If that is the oldest height that is stored, the difference may have begun with a dropped one.
        let starting = [self, other]
            .into_iter()
            .filter(|history| history.newest.front().map(|(at, _)| *at) == Some(since));
        starting
            .map(|history| history.overflow_since.unwrap_or(since))
            .chain([since])
            .min()
    }
}
