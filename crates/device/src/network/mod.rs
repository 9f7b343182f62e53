//! The way to the network: joining it, the access point where that does not work, and the button that forgets it.
//!
//! [`NetworkControl`] owns the others: what `link` knows is read there, and changed only through here.

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

/// Controls the network, including what buttons held at power-on do to it.
#[derive(Debug, Clone, Default)]
pub struct NetworkControl {
    link: NetworkLink,
    hold: BootHold,
}

impl NetworkControl {
    /// What is known of the network.
    pub fn link(&self) -> &NetworkLink {
        &self.link
    }

    /// Takes note of what the network says.
    pub fn hear(&mut self, event: LinkEvent, uptime: Duration) -> LinkNews {
        self.link.hear(event, uptime)
    }

    /// Takes note of the buttons as the power came on.
    pub fn power_on(&mut self, contacts: Contacts, settings: &Settings) {
        self.hold.power_on(contacts, settings);
    }

    /// Takes note of the buttons that are down; tells whether they mean anything yet.
    pub fn listens_to(&mut self, down: u8, settings: &Settings) -> bool {
        self.hold.listens_to(down, settings)
    }

    /// Button 1 is held since power-on, and nothing is forgotten yet.
    pub fn is_held(&self) -> bool {
        self.hold.is_held()
    }

    /// Tells, once, whether the network is to be forgotten, because button 1 was held for long enough by this uptime.
    pub fn is_to_be_forgotten(&mut self, uptime: Duration) -> bool {
        self.hold.is_over(uptime)
    }

    /// Does what is due by this uptime; a reason to restart is given once.
    pub fn advance(&mut self, settings: &Settings, uptime: Duration) -> Option<RebootReason> {
        self.link.advance(settings, uptime)
    }

    /// Uptime at which something is due.
    pub fn next_deadline(&self, settings: &Settings) -> Option<Duration> {
        let link = self.link.next_deadline(settings);
        self.hold.next_deadline().into_iter().chain(link).min()
    }
}
