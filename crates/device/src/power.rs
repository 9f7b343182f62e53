//! Power-on and restarts: the button held at power-on, the network's part in them, safe mode.

use alloc::string::String;
use core::time::Duration;

use crate::{
    buttons::BUTTONS,
    device::Device,
    input::{Contacts, LinkEvent},
    lights::{shows::Show, strip::Mode},
    limits::{ERASED_SHOWN, PAINT_MAX, PROVISIONED_DELAY, WIFI_RESET_HOLD},
    link::News,
    now::Now,
    output::{Effect, Output, RebootReason},
    overlays::Layer,
    refresh::Cause,
};

/// What power-on and restarts leave to be done.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Power {
    /// Uptime until which button 1 must be held to forget the network; none if it is not held since power-on.
    reset_at: Option<Duration>,
    /// Buttons have been down since power-on: they mean nothing until all are up.
    deaf: bool,
    /// Uptime of a restart, and the reason for it.
    restart: Option<(Duration, RebootReason)>,
    /// Why the device runs without its sources; none if it runs as usual.
    pub(crate) safe_mode: Option<String>,
}

impl Device {
    /// Takes note of the buttons as the power came on.
    pub(crate) fn power_on(&mut self, contacts: Contacts) {
        self.power.deaf = contacts.down != 0;
        if contacts.down & self.first_button() != 0 {
            self.power.reset_at = Some(contacts.at + WIFI_RESET_HOLD);
        }
    }

    /// Takes note of the buttons that are down; tells whether they mean anything.
    pub(crate) fn listens_to(&mut self, down: u8) -> bool {
        if down & self.first_button() == 0 {
            self.power.reset_at = None;
        }
        let listens = !self.power.deaf;
        self.power.deaf &= down != 0;
        listens
    }

    /// Pin of logical button 1.
    fn first_button(&self) -> u8 {
        match self.active.inverse_buttons {
            true => 1 << (BUTTONS - 1),
            false => 1,
        }
    }

    /// Takes note of what the network says.
    pub(crate) fn hear(&mut self, event: LinkEvent, now: Now, output: &mut Output) -> Cause {
        let was_usable = self.link.is_usable();
        let cause = match self.link.hear(event, now.uptime) {
            News::None => Cause::Data,
            News::FirstAddress => {
                self.settle_strip(now);
                self.play(Show::Success, now);
                Cause::Data
            }
            News::Provisioned => {
                let mut settings = (*self.stored).clone();
                settings.wifi_configured = true;
                self.restart_after(PROVISIONED_DELAY, RebootReason::Provisioned, now);
                self.store_settings(settings, now, output)
            }
        };
        if was_usable && !self.link.is_usable() {
            for source in self.sources.values_mut() {
                source.lose_network();
            }
        }
        cause
    }

    /// Shows that everything is gone for a while, then restarts.
    pub(crate) fn erase(&mut self, now: Now, output: &mut Output) -> Cause {
        // The picture that says so comes with this very input.
        self.erasing.get_or_insert(self.panels.picture().serial + 1);
        output.effects.push(Effect::Wipe);
        self.restart_after(PAINT_MAX, RebootReason::FactoryReset, now);
        Cause::Forced
    }

    /// The panels show the picture with this serial number.
    pub(crate) fn shown_to_the_end(&mut self, serial: u64, now: Now) {
        if self.erasing.is_some_and(|first| first <= serial) {
            self.restart_after(ERASED_SHOWN, RebootReason::FactoryReset, now);
        }
    }

    fn restart_after(&mut self, time: Duration, reason: RebootReason, now: Now) {
        let at = now.uptime + time;
        let sooner = self.power.restart.is_none_or(|(planned, _)| at < planned);
        if sooner {
            self.power.restart = Some((at, reason));
        }
    }

    /// Forgets the network if button 1 was held from power-on until it is time for that.
    pub(crate) fn pass_hold(&mut self, until: Duration, now: Now, output: &mut Output) -> Cause {
        if self.power.reset_at.take_if(|at| *at <= until).is_none() {
            return Cause::Data;
        }
        let mut settings = (*self.stored).clone();
        settings.wifi_configured = false;
        output.effects.push(Effect::ForgetWifi);
        output.effects.push(Effect::Reboot(RebootReason::WifiReset));
        self.store_settings(settings, now, output)
    }

    /// Does what is due by now.
    pub(crate) fn pass_power(&mut self, now: Now, output: &mut Output) {
        let due = |at: Option<Duration>| at.is_some_and(|at| at <= now.uptime);
        if let Some(reason) = self.link.advance(&self.active, now.uptime) {
            output.effects.push(Effect::Reboot(reason));
        }
        if due(self.power.restart.map(|(at, _)| at))
            && let Some((_, reason)) = self.power.restart.take()
        {
            output.effects.push(Effect::Reboot(reason));
        }
    }

    /// Uptime at which something of this is due.
    pub(crate) fn power_deadline(&self) -> Option<Duration> {
        [
            self.power.reset_at,
            self.power.restart.map(|(at, _)| at),
            self.link.next_deadline(&self.active),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Makes the strip do between effects what the device's state asks for.
    pub(crate) fn settle_strip(&mut self, now: Now) {
        if self.overlays.has(Layer::Update) {
            return;
        }
        let mode = if self.power.reset_at.is_some() {
            Mode::Alarm
        } else if self.link.is_portal() {
            Mode::Portal
        } else if self.link.is_joining() {
            Mode::Joining
        } else if self.starting {
            Mode::Starting
        } else {
            Mode::Resting
        };
        self.strip.enter(mode, now.uptime);
    }

    /// Whether sources may run.
    pub(crate) fn runs_sources(&self) -> bool {
        self.link.is_usable() && self.power.safe_mode.is_none()
    }
}
