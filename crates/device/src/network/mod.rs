//! The network: joining it, the access point as fallback, and the button that resets it.
//!
//! All changes go through [`NetworkControl`].

mod boot_hold;
pub mod link;
pub mod portal;

use core::time::Duration;

use crate::{
    input::{Contacts, LinkEvent},
    output::RebootReason,
    settings::Settings,
};

use self::{boot_hold::BootHold, link::NetworkLink};

pub use self::link::{LinkNews, LinkState};

/// Controls the network, including the reset by a button held at power-on.
#[derive(Debug, Clone, Default)]
pub struct NetworkControl {
    link: NetworkLink,
    hold: BootHold,
}

impl NetworkControl {
    /// State of the network.
    pub fn link(&self) -> &NetworkLink {
        &self.link
    }

    /// Applies an event.
    pub fn apply(&mut self, event: LinkEvent, uptime: Duration) -> LinkNews {
        self.link.apply(event, uptime)
    }

    /// Records the buttons at power-on.
    pub fn power_on(&mut self, contacts: Contacts, settings: &Settings) {
        self.hold.power_on(contacts, settings);
    }

    /// Records the buttons that are down; returns whether presses count.
    pub fn accepts(&mut self, down: u8, settings: &Settings) -> bool {
        self.hold.accepts(down, settings)
    }

    /// Button 1 is held since power-on and nothing was reset yet.
    pub fn is_held(&self) -> bool {
        self.hold.is_held()
    }

    /// Returns `true` once when button 1 was held long enough to reset the network.
    pub fn is_reset_due(&mut self, uptime: Duration) -> bool {
        self.hold.is_reset_due(uptime)
    }

    /// Handles everything that is due by this uptime. Returns a reason to restart once.
    pub fn advance(&mut self, settings: &Settings, uptime: Duration) -> Option<RebootReason> {
        self.link.advance(settings, uptime)
    }

    /// Uptime of the next deadline.
    pub fn next_deadline(&self, settings: &Settings) -> Option<Duration> {
        let link = self.link.next_deadline(settings);
        self.hold.next_deadline().into_iter().chain(link).min()
    }
}
