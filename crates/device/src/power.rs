//! Power-on and restarts: the button held at power-on, the network's part in them, safe mode.

use alloc::{format, string::String};
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

/// A factory reset that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Erasing {
    /// Serial number of the first picture that says so.
    picture: u64,
    /// The glass says so.
    shown: bool,
    /// Everything is gone, and a restart follows.
    wiped: bool,
}

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
                self.lights.play(Show::Success, &self.active, now.uptime);
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

    /// Has everything wiped, and shows that; one reset at a time.
    pub(crate) fn erase(&mut self, output: &mut Output) -> Cause {
        if self.erasing.is_some() {
            return Cause::Data;
        }
        self.erasing = Some(Erasing {
            // The picture that says so comes with this very input.
            picture: self.next_picture(),
            shown: false,
            wiped: false,
        });
        output.effects.push(Effect::Wipe);
        Cause::Forced
    }

    /// The panels show the picture with this serial number.
    pub(crate) fn on_erase_painted(&mut self, serial: u64, now: Now) {
        let Some(erasing) = self
            .erasing
            .as_mut()
            .filter(|erasing| erasing.picture <= serial)
        else {
            return;
        };
        erasing.shown = true;
        if erasing.wiped {
            self.restart_after(ERASED_SHOWN, RebootReason::FactoryReset, now);
        }
    }

    /// Restarts where everything is gone, once the glass has said so for a while; goes on where it is not.
    pub(crate) fn wiped(&mut self, outcome: Result<(), String>, now: Now) -> Cause {
        let Some(erasing) = self.erasing.as_mut().filter(|erasing| !erasing.wiped) else {
            return Cause::Data;
        };
        if let Err(reason) = outcome {
            self.erasing = None;
            self.note(format!(
                "the factory reset failed, nothing is reset: {reason}"
            ));
            return Cause::Forced;
        }
        erasing.wiped = true;
        let time = if erasing.shown {
            ERASED_SHOWN
        } else {
            PAINT_MAX
        };
        self.restart_after(time, RebootReason::FactoryReset, now);
        Cause::Data
    }

    /// Restarts where the network is forgotten; goes on where it is not.
    pub(crate) fn forgotten(
        &mut self,
        outcome: Result<(), String>,
        now: Now,
        output: &mut Output,
    ) -> Cause {
        if let Err(reason) = outcome {
            self.note(format!("the network was not forgotten: {reason}"));
            return Cause::Data;
        }
        let mut settings = (*self.stored).clone();
        settings.wifi_configured = false;
        let cause = self.store_settings(settings, now, output);
        output.effects.push(Effect::Reboot(RebootReason::WifiReset));
        cause
    }

    fn restart_after(&mut self, time: Duration, reason: RebootReason, now: Now) {
        let at = now.uptime + time;
        let sooner = self.power.restart.is_none_or(|(planned, _)| at < planned);
        if sooner {
            self.power.restart = Some((at, reason));
        }
    }

    /// Forgets the network if button 1 was held from power-on until it is time for that.
    pub(crate) fn pass_hold(&mut self, until: Duration, output: &mut Output) {
        if self.power.reset_at.take_if(|at| *at <= until).is_some() {
            output.effects.push(Effect::ForgetWifi);
        }
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
        } else {
            Mode::Resting
        };
        self.lights.enter(mode, now.uptime);
    }

    /// Whether sources may run.
    pub(crate) fn runs_sources(&self) -> bool {
        self.link.is_usable() && self.power.safe_mode.is_none() && self.erasing.is_none()
    }
}
