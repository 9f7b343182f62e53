//! Events of the network, the broker, updates, resets and buttons.

use alloc::{format, string::String};
use core::time::Duration;

use market::{Connection, now::Now};

use super::Device;
use crate::{
    event_log::DeviceEvent,
    glass::{Layer, LayerContent, RefreshCause},
    input::{BrokerEvent, Contacts, LinkEvent, UpdateEvent},
    lights::animations::Animation,
    network::LinkNews,
    output::{Effect, Output, RebootReason},
    secret::GeneratedPassword,
};

impl Device {
    /// Applies an event of the network.
    pub(super) fn apply_link_event(
        &mut self,
        event: LinkEvent,
        now: Now,
        output: &mut Output,
    ) -> RefreshCause {
        let was_usable = self.network.link().is_usable();
        let news = self.network.apply(event, now.uptime);
        match (was_usable, self.network.link().is_usable()) {
            (true, false) => self.upstream.lose_network(),
            (false, true) => self.upstream.regain_network(),
            (true, true) | (false, false) => {}
        }
        match news {
            LinkNews::None => RefreshCause::Data,
            LinkNews::FirstAddress => {
                self.settle_strip(now.uptime);
                let settings = &self.settings.active;
                self.lights.play(Animation::Success, settings, now.uptime);
                RefreshCause::Data
            }
            LinkNews::Provisioned => {
                self.restarts.provisioned(now.uptime);
                self.change(|settings| settings.wifi_configured = true, now, output)
            }
        }
    }

    /// Records the state of the connection to the owner's broker.
    pub(super) fn record_broker_event(&mut self, news: BrokerEvent, uptime: Duration) {
        match news {
            BrokerEvent::Connection(connection) => {
                if connection == Connection::Up {
                    self.broker.last_success = Some(uptime);
                }
                self.broker.follow(connection, uptime);
            }
            BrokerEvent::Error(complaint) => self.broker.last_error = Some(complaint),
            BrokerEvent::Dropped(reason, count) => self.broker.drop(reason, count),
        }
    }

    pub(super) fn upload(&mut self, upload: &UpdateEvent, uptime: Duration) -> RefreshCause {
        match upload {
            UpdateEvent::Started => {
                self.glass.begin_update(uptime);
                self.lights.show_update_bar(0, uptime);
                return RefreshCause::Forced;
            }
            // Progress of an update that has already ended may arrive late.
            UpdateEvent::Progress(_) if !self.glass.has(Layer::Update) => {}
            UpdateEvent::Progress(percent) => {
                let percent = (*percent).min(100);
                self.glass.update_to(percent);
                self.lights.show_update_bar(percent, uptime);
            }
            UpdateEvent::Failed(reason) => {
                let text = format!("an update was given up: {reason}");
                self.event_log.add(DeviceEvent::Warning { text });
                self.glass.end_update(&self.settings.active, uptime);
            }
            UpdateEvent::Installed => {
                self.glass.end_update(&self.settings.active, uptime);
            }
            UpdateEvent::Verified => {
                self.glass.complete_update();
                self.lights.show_updated(uptime);
                self.restarts.updated(uptime);
            }
        }
        RefreshCause::Data
    }

    /// Starts a factory reset and shows it. Ignored while one is under way.
    pub(super) fn erase(&mut self, now: Now, output: &mut Output) -> RefreshCause {
        // This input composes the picture that shows it.
        if !self.restarts.begin_erasing(self.glass.next_picture()) {
            return RefreshCause::Data;
        }
        self.glass.keep(LayerContent::Erasing, now.uptime);
        output.effects.push(Effect::Wipe);
        RefreshCause::Forced
    }

    /// Restarts after a short display time if everything was erased; otherwise continues.
    pub(super) fn wiped(&mut self, outcome: Result<(), String>, now: Now) -> RefreshCause {
        let Err(reason) = self.restarts.wiped(outcome, now.uptime) else {
            return RefreshCause::Data;
        };
        self.glass.hide(Layer::Erasing);
        self.notes.add(format!(
            "the factory reset failed, nothing is reset: {reason}"
        ));
        RefreshCause::Forced
    }

    /// Restarts if the credentials of the network were erased; otherwise continues.
    pub(super) fn forgotten(
        &mut self,
        outcome: Result<(), String>,
        now: Now,
        output: &mut Output,
    ) -> RefreshCause {
        if let Err(reason) = outcome {
            self.notes
                .add(format!("the network was not forgotten: {reason}"));
            return RefreshCause::Data;
        }
        let cause = self.change(|settings| settings.wifi_configured = false, now, output);
        output.effects.push(Effect::Reboot(RebootReason::WifiReset));
        cause
    }

    /// Protects the control interface with a generated password that is shown on the panels.
    pub(super) fn lock(&mut self, generated: GeneratedPassword, uptime: Duration) {
        self.settings.require_password(&generated.hash);
        self.glass.keep(LayerContent::SignIn(generated), uptime);
    }

    /// Handles an edge of the buttons at the time it occurred, which may be long ago.
    pub(super) fn press(
        &mut self,
        contacts: Contacts,
        now: Now,
        output: &mut Output,
    ) -> RefreshCause {
        let at = contacts.at.min(now.uptime);
        self.advance_hold(at, output);
        let settings = &self.settings.active;
        if !self.network.accepts(contacts.down, settings) {
            return RefreshCause::Data;
        }
        let gestures = self.buttons.edge(contacts.down, at);
        self.apply_gestures(&gestures, now, output)
    }

    /// Advances the buttons to now, because all edges before a tick have been delivered.
    ///
    /// Other inputs do not do this: a release may still be queued behind them.
    pub(super) fn advance_buttons(&mut self, now: Now, output: &mut Output) -> RefreshCause {
        self.advance_hold(now.uptime, output);
        let gestures = self.buttons.advance(now.uptime);
        self.apply_gestures(&gestures, now, output)
    }

    /// Resets the network if button 1 was held long enough from power-on.
    fn advance_hold(&mut self, until: Duration, output: &mut Output) {
        if self.network.is_reset_due(until) {
            output.effects.push(Effect::ForgetWifi);
        }
    }
}
