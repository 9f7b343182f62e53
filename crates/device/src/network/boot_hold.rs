//! The buttons as the power came on: held, the first of them forgets the network; and none means anything until all are up.

use core::time::Duration;

use crate::{buttons::BUTTONS, input::Contacts, limits::WIFI_RESET_HOLD, settings::Settings};

/// What is held since power-on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BootHold {
    /// Uptime until which button 1 must be held to forget the network; none if it is not held since power-on.
    reset_at: Option<Duration>,
    /// Buttons have been down since power-on.
    deaf: bool,
}

impl BootHold {
    /// Takes note of the buttons as the power came on.
    pub fn power_on(&mut self, contacts: Contacts, settings: &Settings) {
        self.deaf = contacts.down != 0;
        if contacts.down & first_button(settings) != 0 {
            self.reset_at = Some(contacts.at + WIFI_RESET_HOLD);
        }
    }

    /// Takes note of the buttons that are down; tells whether they mean anything.
    pub fn listens_to(&mut self, down: u8, settings: &Settings) -> bool {
        if down & first_button(settings) == 0 {
            self.reset_at = None;
        }
        let listens = !self.deaf;
        self.deaf &= down != 0;
        listens
    }

    /// Button 1 is held, and nothing is forgotten yet.
    pub fn is_held(&self) -> bool {
        self.reset_at.is_some()
    }

    /// Tells, once, whether button 1 was held for long enough by this uptime.
    pub fn is_over(&mut self, uptime: Duration) -> bool {
        self.reset_at.take_if(|at| *at <= uptime).is_some()
    }

    /// Uptime at which it will have been held for long enough.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.reset_at
    }
}

/// Pin of logical button 1.
fn first_button(settings: &Settings) -> u8 {
    match settings.inverse_buttons {
        true => 1 << (BUTTONS - 1),
        false => 1,
    }
}
