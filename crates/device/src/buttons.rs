//! Buttons: from bouncing contacts to clicks and long presses.
//!
//! Contacts are sampled every 20 ms, and two equal samples in a row are believed: a level counts once it has held for
//! `DEBOUNCE`.

use alloc::vec::Vec;
use core::time::Duration;

/// Number of buttons.
pub const BUTTONS: usize = 4;

/// Time that a level must hold.
const DEBOUNCE: Duration = Duration::from_millis(20);

/// Time from the first contact to a long press.
const LONG_PRESS: Duration = Duration::from_millis(800);

/// Time from the last of all contacts to the gesture of all buttons.
const ALL_HELD: Duration = Duration::from_millis(5000);

/// What the buttons say, by physical button counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gesture {
    /// Released before it was a long press.
    Click(usize),
    /// Held for `LONG_PRESS`; its release says nothing more.
    Long(usize),
    /// All buttons held for `ALL_HELD`.
    All,
}

/// The buttons of a board.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Buttons {
    buttons: [Button; BUTTONS],
    all_held_from: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Button {
    /// Level of the contact, and since when.
    contact: bool,
    contact_since: Duration,
    /// Uptime of the first contact of the press that is believed.
    pressed_from: Option<Duration>,
    long_fired: bool,
}

impl Buttons {
    /// Takes note of the contacts: bit `i` is set while button `i` is down.
    pub fn contact(&mut self, down: u8, uptime: Duration) {
        for (index, button) in self.buttons.iter_mut().enumerate() {
            let contact = down & (1 << index) != 0;
            if contact != button.contact {
                button.contact = contact;
                button.contact_since = uptime;
            }
        }
    }

    /// What the buttons say by now, in the order in which it happened.
    pub fn advance(&mut self, uptime: Duration) -> Vec<Gesture> {
        let mut gestures = Vec::new();
        for (index, button) in self.buttons.iter_mut().enumerate() {
            button.settle(index, uptime, &mut gestures);
        }
        let all_down = self
            .buttons
            .iter()
            .all(|button| button.pressed_from.is_some());
        if !all_down {
            self.all_held_from = None;
        } else if self.all_held_from.is_none() {
            self.all_held_from = self
                .buttons
                .iter()
                .filter_map(|button| button.pressed_from)
                .max();
        }
        if let Some(from) = self.all_held_from
            && from + ALL_HELD <= uptime
        {
            gestures.push(Gesture::All);
            // Once per hold.
            self.all_held_from = Some(Duration::MAX - ALL_HELD);
        }
        gestures
    }

    /// Uptime at which the buttons will have something to say if nothing moves.
    pub fn next_deadline(&self) -> Option<Duration> {
        let settling = self
            .buttons
            .iter()
            .filter_map(|button| button.next_deadline());
        let all = self
            .all_held_from
            .map(|from| from + ALL_HELD)
            .filter(|at| *at < Duration::MAX);
        settling.chain(all).min()
    }

    /// Tells whether a button is down, bouncing or not.
    pub fn is_down(&self, index: usize) -> bool {
        self.buttons.get(index).is_some_and(|button| button.contact)
    }
}

impl Button {
    fn is_pressed(&self) -> bool {
        self.pressed_from.is_some()
    }

    fn settle(&mut self, index: usize, uptime: Duration, gestures: &mut Vec<Gesture>) {
        let has_held = self.contact_since + DEBOUNCE <= uptime;
        if self.contact && !self.is_pressed() && has_held {
            self.pressed_from = Some(self.contact_since);
        }
        if let Some(from) = self.pressed_from
            && !self.long_fired
            && from + LONG_PRESS <= uptime
        {
            self.long_fired = true;
            gestures.push(Gesture::Long(index));
        }
        if !self.contact && self.is_pressed() && has_held {
            if !self.long_fired {
                gestures.push(Gesture::Click(index));
            }
            self.pressed_from = None;
            self.long_fired = false;
        }
    }

    fn next_deadline(&self) -> Option<Duration> {
        let settles = (self.contact != self.is_pressed()).then(|| self.contact_since + DEBOUNCE);
        let fires = self
            .pressed_from
            .filter(|_| !self.long_fired)
            .map(|from| from + LONG_PRESS);
        settles.into_iter().chain(fires).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of button 1, 20 ms apart, idle before and after; expects gestures at samples counted from the first low.
    fn check(samples: &str, expected: &[(u64, Gesture)]) {
        let masks = samples.chars().map(|sample| u8::from(sample == 'L'));
        check_masks(masks.collect(), expected);
    }

    fn check_masks(masks: Vec<u8>, expected: &[(u64, Gesture)]) {
        let mut buttons = Buttons::default();
        let mut heard = Vec::new();
        let tail = core::iter::repeat_n(0, 10);
        for (sample, down) in (0..).zip(masks.into_iter().chain(tail)) {
            let uptime = Duration::from_millis(1000 + sample * 20);
            buttons.contact(down, uptime);
            heard.extend(
                buttons
                    .advance(uptime)
                    .into_iter()
                    .map(|gesture| (sample, gesture)),
            );
        }
        assert_eq!(heard, expected);
    }

    #[test]
    fn contacts_are_believed_as_in_the_table() {
        let click = |sample| [(sample, Gesture::Click(0))];
        check("L", &[]);
        check("LL", &click(3));
        check(&"L".repeat(40), &[(40, Gesture::Long(0))]);
        check(&"L".repeat(41), &[(40, Gesture::Long(0))]);
        check("LHLHLL", &click(7));
        check("LLLLLHLHLLLL", &click(13));
    }

    #[test]
    fn all_buttons_held_are_a_gesture_of_their_own() {
        let long = |index| (40, Gesture::Long(index));
        let expected = [long(0), long(1), long(2), long(3), (250, Gesture::All)];
        check_masks(alloc::vec![0b1111; 300], &expected);
    }

    #[test]
    fn releasing_one_of_all_starts_the_gesture_anew() {
        let mut masks = alloc::vec![0b1111; 200];
        masks.extend([0b0111; 5]);
        masks.extend([0b1111; 200]);
        let mut buttons = Buttons::default();
        for (sample, down) in (0..).zip(masks) {
            let uptime = Duration::from_millis(sample * 20);
            buttons.contact(down, uptime);
            assert!(!buttons.advance(uptime).contains(&Gesture::All));
        }
    }
}
