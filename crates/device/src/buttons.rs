//! Buttons: from bouncing contacts to clicks and long presses.
//!
//! A level counts once it has held for `DEBOUNCE`, as two equal samples 20 ms apart. The time of an edge counts, not
//! the time of its delivery: edges may be delivered late, but in order.

use alloc::vec::Vec;
use core::time::Duration;

use crate::{input::ButtonAction, settings::Settings};

/// Number of buttons.
pub const BUTTONS: usize = 4;

/// Time that a level must hold.
const DEBOUNCE: Duration = Duration::from_millis(20);

/// Time from the first contact to a long press.
const LONG_PRESS: Duration = Duration::from_millis(800);

/// Time from the last of all contacts to the gesture of all buttons.
const ALL_HELD: Duration = Duration::from_millis(5000);

/// A gesture, with the physical button counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gesture {
    /// Released before it was a long press.
    Click(usize),
    /// Held for `LONG_PRESS`; its release is no click.
    Long(usize),
    /// All buttons held for `ALL_HELD`.
    All,
}

impl Gesture {
    /// Its action. `None` if it has none.
    pub fn action(self, settings: &Settings) -> Option<ButtonAction> {
        let logical = |index: usize| {
            if settings.inverse_buttons { BUTTONS - 1 - index } else { index }
        };
        match self {
            Gesture::Click(index) => match logical(index) {
                0 => Some(ButtonAction::TogglePause),
                1 => Some(ButtonAction::Next),
                2 => Some(ButtonAction::Previous),
                3 => Some(ButtonAction::ToggleDebug),
                _ => None,
            },
            Gesture::Long(index) => (logical(index) == 0).then_some(ButtonAction::ToggleDnd),
            Gesture::All => Some(ButtonAction::FactoryReset),
        }
    }
}

/// Decodes edges of the buttons into gestures.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ButtonDecoder {
    buttons: [Button; BUTTONS],
    /// Time of the newest edge.
    newest: Duration,
    /// The gesture of all buttons was reported, once per hold.
    all_reported: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Button {
    /// State of the contact, and since when.
    closed: bool,
    since: Duration,
    /// Time of the first contact of the debounced press.
    pressed_from: Option<Duration>,
    /// The long press was reported, once per press.
    long_reported: bool,
}

/// Times up to which the levels are known.
#[derive(Clone, Copy)]
struct Horizon {
    /// For the duration of presses.
    until: Duration,
    /// For debouncing: a contact that moves exactly at the end of `DEBOUNCE` has bounced.
    held_until: Duration,
}

impl ButtonDecoder {
    /// Records an edge: bit `i` of `down` is set while button `i` is down from then on.
    ///
    /// Returns the gestures up to then.
    pub fn edge(&mut self, down: u8, at: Duration) -> Vec<Gesture> {
        let at = at.max(self.newest);
        self.newest = at;
        let known = Horizon {
            until: at,
            held_until: at.saturating_sub(Duration::from_nanos(1)),
        };
        let mut gestures = self.gestures_until(known);
        for (index, button) in self.buttons.iter_mut().enumerate() {
            let closed = down & (1 << index) != 0;
            if closed != button.closed {
                button.closed = closed;
                button.since = at;
            }
        }
        // A press that bounced while it became a long one.
        gestures.extend(self.gestures_until(known));
        gestures
    }

    /// The gestures up to this uptime, if no further edge follows.
    pub fn advance(&mut self, uptime: Duration) -> Vec<Gesture> {
        self.gestures_until(Horizon {
            until: uptime,
            held_until: uptime,
        })
    }

    /// Uptime of the next gesture or debounced level if no contact moves.
    pub fn next_deadline(&self) -> Option<Duration> {
        let each = self
            .buttons
            .iter()
            .filter_map(|button| button.next_deadline());
        each.chain(self.all_due()).min()
    }

    fn gestures_until(&mut self, known: Horizon) -> Vec<Gesture> {
        let mut gestures = Vec::new();
        for (index, button) in self.buttons.iter_mut().enumerate() {
            gestures.extend(button.gestures_until(index, known));
        }
        self.all_reported &= self.all_pressed_from().is_some();
        if self.all_due().is_some_and(|due| due <= known.until) {
            self.all_reported = true;
            gestures.push(Gesture::All);
        }
        gestures
    }

    /// Time of the last press. `None` unless all buttons are pressed.
    fn all_pressed_from(&self) -> Option<Duration> {
        let pressed = self.buttons.iter().map(|button| button.pressed_from);
        pressed.collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    /// When the gesture of all buttons is due if none is released.
    fn all_due(&self) -> Option<Duration> {
        let held = !self.all_reported && self.buttons.iter().all(|button| button.closed);
        Some(self.all_pressed_from().filter(|_| held)? + ALL_HELD)
    }
}

impl Button {
    fn gestures_until(&mut self, index: usize, known: Horizon) -> Option<Gesture> {
        if self.believed_at().is_some_and(|at| at <= known.held_until) {
            if self.closed {
                self.pressed_from = Some(self.since);
            } else {
                self.pressed_from = None;
                let is_click = !core::mem::take(&mut self.long_reported);
                return is_click.then_some(Gesture::Click(index));
            }
        }
        if self.long_due().is_some_and(|at| at <= known.until) {
            self.long_reported = true;
            return Some(Gesture::Long(index));
        }
        None
    }

    /// When the level of the contact is accepted. `None` if it already is.
    fn believed_at(&self) -> Option<Duration> {
        (self.closed != self.pressed_from.is_some()).then(|| self.since + DEBOUNCE)
    }

    /// When the press becomes a long one if the button is not released.
    fn long_due(&self) -> Option<Duration> {
        let held = self.closed && !self.long_reported;
        Some(self.pressed_from.filter(|_| held)? + LONG_PRESS)
    }

    fn next_deadline(&self) -> Option<Duration> {
        self.believed_at().into_iter().chain(self.long_due()).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Edges of button 1 in ms, closed first; expects the gestures up to a minute later, with their times.
    fn check_edges(edges: &[u64], expected: &[(u64, Gesture)]) {
        let mut buttons = ButtonDecoder::default();
        let mut gestures = Vec::new();
        let ends = edges.iter().copied().map(Some).chain([None]);
        for (number, edge) in ends.enumerate() {
            let until = edge.map_or(Duration::from_secs(60), |at| {
                MS * u32::try_from(at).unwrap()
            });
            while let Some(due) = buttons.next_deadline().filter(|due| *due < until) {
                let new = buttons.advance(due);
                gestures.extend(new.into_iter().map(|gesture| (due, gesture)));
                assert_ne!(buttons.next_deadline(), Some(due), "the deadline moves");
            }
            if edge.is_some() {
                let new = buttons.edge(u8::from(number % 2 == 0), until);
                gestures.extend(new.into_iter().map(|gesture| (until, gesture)));
            }
        }
        let expected: Vec<_> = expected
            .iter()
            .map(|(at, gesture)| (MS * u32::try_from(*at).unwrap(), *gesture))
            .collect();
        assert_eq!(gestures, expected, "{edges:?}");
    }

    #[test]
    fn a_press_is_long_by_the_moments_of_its_contacts() {
        let (click, long) = (Gesture::Click(0), Gesture::Long(0));
        check_edges(&[0, 19], &[]);
        check_edges(&[0, 20], &[]);
        check_edges(&[0, 21], &[(41, click)]);
        check_edges(&[0, 799], &[(819, click)]);
        check_edges(&[0, 800], &[(800, long)]);
        check_edges(&[0, 5000], &[(800, long)]);
        // It bounces as it becomes a long press: before, and across the moment.
        check_edges(&[0, 780, 790, 1000], &[(800, long)]);
        check_edges(&[0, 795, 805, 1000], &[(805, long)]);
        // It bounces as it is released.
        check_edges(&[0, 100, 105, 110], &[(130, click)]);
        check_edges(&[0, 100, 200, 300], &[(120, click), (320, click)]);
    }

    #[test]
    fn a_release_in_time_prevents_the_wipe_even_if_it_is_reported_late() {
        for (released_ms, wipes) in [(4_999, false), (5_000, true), (6_000, true)] {
            let mut buttons = ButtonDecoder::default();
            let mut new = buttons.edge(0b1111, MS);
            new.extend(buttons.edge(0b0111, MS * (released_ms + 1)));
            new.extend(buttons.advance(Duration::from_secs(60)));
            assert_eq!(new.contains(&Gesture::All), wipes, "{released_ms}");
        }
    }
}
