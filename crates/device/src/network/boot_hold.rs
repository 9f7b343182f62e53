//! Buttons held at power-on: holding button 1 resets the network, and all buttons are ignored until they have been
//! released.

use core::time::Duration;

use crate::{buttons::BUTTONS, input::Contacts, limits::WIFI_RESET_HOLD, settings::Settings};

/// Buttons held since power-on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BootHold {
    /// Uptime until which button 1 must be held to reset the network. `None` if it is not held since power-on.
    reset_at: Option<Duration>,
    /// A button has been down since power-on; presses are ignored.
    ignores_presses: bool,
}

impl BootHold {
    /// Records the buttons at power-on.
    pub fn power_on(&mut self, contacts: Contacts, settings: &Settings) {
        self.ignores_presses = contacts.down != 0;
        if contacts.down & first_button(settings) != 0 {
            self.reset_at = Some(contacts.at + WIFI_RESET_HOLD);
        }
    }

    /// Records the buttons that are down; returns whether presses count.
    pub fn accepts(&mut self, down: u8, settings: &Settings) -> bool {
        if down & first_button(settings) == 0 {
            self.reset_at = None;
        }
        let accepts = !self.ignores_presses;
        self.ignores_presses &= down != 0;
        accepts
    }

    /// Button 1 is still held and nothing was reset yet.
    pub fn is_held(&self) -> bool {
        self.reset_at.is_some()
    }

    /// Returns `true` once when button 1 was held long enough.
    pub fn is_reset_due(&mut self, uptime: Duration) -> bool {
        self.reset_at.take_if(|at| *at <= uptime).is_some()
    }

    /// Uptime at which button 1 was held long enough.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.reset_at
    }
}

/// Pin of logical button 1.
fn first_button(settings: &Settings) -> u8 {
    if settings.inverse_buttons { 1 << (BUTTONS - 1) } else { 1 }
}
