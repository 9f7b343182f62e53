//! Requests of clients and gestures of buttons, one method per kind.

use alloc::{string::String, vec};
use serde_json::{Map, Value};

use super::Device;
use crate::{
    buttons::Gesture,
    event_log::DeviceEvent,
    glass::rotation::Navigation,
    glass::{Layer, RefreshCause},
    input::ButtonAction,
    lights::animations::Animation,
    mqtt::MqttPlan,
    output::{Effect, Output, RebootReason},
    request::{Changed, Imported, Patch, Refusal, Reply, Request},
    screens::custom,
    settings::kinds::tx_power::TxPower,
    settings::patch::{self, Catalogue},
    settings::{Key, Settings, transfer},
};
use market::now::Now;

impl Device {
    /// Handles a request and returns the reply and the kind of repaint that it needs.
    pub(super) fn answer(
        &mut self,
        request: Request,
        now: Now,
        output: &mut Output,
    ) -> (Reply, RefreshCause) {
        let (settings, uptime) = (&self.settings.active, now.uptime);
        match request {
            Request::Patch(patch) => self.patch(&patch, now, output),
            Request::Display(request) => (
                self.answer_display(request, now, output),
                RefreshCause::Data,
            ),
            Request::Import(Imported(body)) => self.import(&body, now, output),
            Request::Next => done(self.step(Navigation::Next, now, output)),
            Request::Previous => done(self.step(Navigation::Previous, now, output)),
            Request::ShowScreen(number) => tried(self.glass.show_screen(number, settings, uptime)),
            Request::ShowCurrency(currency) => {
                tried(self.glass.show_currency(currency, settings, uptime))
            }
            Request::ShowText(text) => {
                let length = custom::length(text.chars().count(), self.board.panels);
                let cells = custom::letters(&text, length);
                self.glass.show_text(cells, settings, uptime);
                done(RefreshCause::Data)
            }
            Request::ShowCustom { cells, digit_px } => {
                let length = custom::length(cells.len(), self.board.panels);
                let cells = custom::cells(&cells, digit_px, length);
                self.glass.show_text(cells, settings, uptime);
                done(RefreshCause::Data)
            }
            Request::Pause => done(self.run_timer(false, now, output)),
            Request::TogglePause => {
                let running = settings.timer_active;
                done(self.run_timer(!running, now, output))
            }
            Request::RestartTimer => {
                self.run_timer(true, now, output);
                self.glass.restart_timer(&self.settings.active, uptime);
                done(RefreshCause::Data)
            }
            Request::FullRefresh => done(RefreshCause::Forced),
            Request::CleanPanels => {
                self.glass.clean();
                done(RefreshCause::Forced)
            }
            Request::Identify => {
                self.lights.play(Animation::Identify, settings, uptime);
                done(RefreshCause::Data)
            }
            Request::Restart => {
                output.effects.push(Effect::Reboot(RebootReason::Requested));
                done(RefreshCause::Data)
            }
            Request::FactoryReset if self.is_erasing() => {
                (Err(Refusal::Erasing), RefreshCause::Data)
            }
            Request::FactoryReset => done(self.erase(now, output)),
            // A test is shown even if zaps are switched off.
            Request::SimulateZap(zap) => {
                self.show_zap(zap, uptime);
                done(RefreshCause::Data)
            }
            Request::ClearPoolLogos => {
                output.effects.push(Effect::ClearLogos);
                done(if self.upstream.forget_logo(&self.settings) {
                    self.cause_of_logo()
                } else {
                    RefreshCause::Data
                })
            }
            Request::StopSources => {
                self.upstream.stop();
                done(RefreshCause::Data)
            }
            Request::RestartSources => {
                self.upstream.restart(&self.settings);
                done(RefreshCause::Data)
            }
            Request::RestartSource(source) => {
                tried(if self.upstream.restart_one(source, &self.settings) {
                    Ok(RefreshCause::Data)
                } else {
                    Err(Refusal::UnusedSource)
                })
            }
            Request::RestartBroker => tried(match self.broker_plan() {
                MqttPlan::On(_) => {
                    self.broker_restarts = self.broker_restarts.wrapping_add(1);
                    Ok(RefreshCause::Data)
                }
                MqttPlan::Off | MqttPlan::Paused => Err(Refusal::UnusedSource),
            }),
            Request::SetLights(pixels) => {
                (self.lights.set_resting_colours(&pixels), RefreshCause::Data)
            }
            Request::SetLightsColor(color) => {
                let pixels = vec![color; self.board.leds];
                (self.lights.set_resting_colours(&pixels), RefreshCause::Data)
            }
            Request::PlayEffect(effect) => {
                let reply = self.lights.play_effect(effect, settings, uptime);
                (reply, RefreshCause::Data)
            }
            Request::Frontlight(command) => {
                let reply = self.lights.command_frontlight(&command, settings, uptime);
                (reply, RefreshCause::Data)
            }
            Request::SetDnd(enabled) => {
                done(self.change(|settings| settings.dnd_enabled = enabled, now, output))
            }
            Request::SetTxPower(quarter_dbm) => match TxPower::read(&quarter_dbm.into()) {
                Some(power) => {
                    let set = |settings: &mut Settings| {
                        settings.set(Key::tx_power, &power);
                    };
                    done(self.change(set, now, output))
                }
                None => (Err(Refusal::OutOfRange), RefreshCause::Data),
            },
        }
    }

    /// Applies the gestures of the buttons.
    pub(super) fn apply_gestures(
        &mut self,
        gestures: &[Gesture],
        now: Now,
        output: &mut Output,
    ) -> RefreshCause {
        let mut cause = RefreshCause::Data;
        for gesture in gestures {
            let action = gesture.action(&self.settings.active);
            self.event_log.add(pressed(*gesture));
            // While the portal is up, only a factory reset is possible.
            let action = action.filter(|action| {
                *action == ButtonAction::FactoryReset || !self.network.link().is_portal()
            });
            if let Some(action) = action {
                cause = cause.max(self.act(action, now, output));
            }
        }
        cause
    }

    fn patch(&mut self, patch: &Patch, now: Now, output: &mut Output) -> (Reply, RefreshCause) {
        let stored = &self.settings.stored;
        let catalogue = Catalogue {
            currencies: self.upstream.currencies().to_vec(),
            screens: stored.available_screens(),
        };
        let patched = match patch::apply(stored, patch, &catalogue) {
            Ok(patched) => patched,
            Err(rejection) => return (Err(Refusal::Rejected(rejection)), RefreshCause::Data),
        };
        let cause = self.store(patched.settings, now, output);
        (Ok(patched.changed), cause)
    }

    fn import(
        &mut self,
        body: &Map<String, Value>,
        now: Now,
        output: &mut Output,
    ) -> (Reply, RefreshCause) {
        let import = transfer::import(&self.settings.stored, body);
        if let Some(rejection) = import.refused.into_iter().next() {
            return (Err(Refusal::Rejected(rejection)), RefreshCause::Data);
        }
        let cause = self.store(import.settings, now, output);
        (Ok(import.changed), cause)
    }

    /// Moves one screen forward or back, and starts the timer.
    fn step(&mut self, direction: Navigation, now: Now, output: &mut Output) -> RefreshCause {
        let cause = self.run_timer(true, now, output);
        let settings = &self.settings.active;
        cause.max(self.glass.step(direction, settings, now.uptime))
    }

    fn run_timer(&mut self, running: bool, now: Now, output: &mut Output) -> RefreshCause {
        self.change(|settings| settings.timer_active = running, now, output)
    }

    /// Performs the action of a button.
    fn act(&mut self, action: ButtonAction, now: Now, output: &mut Output) -> RefreshCause {
        let debugging = self.glass.has(Layer::Debug);
        let (settings, uptime) = (&self.settings.active, now.uptime);
        match action {
            ButtonAction::TogglePause => {
                let running = settings.timer_active;
                let animation = if running { Animation::Pause } else { Animation::Resume };
                self.lights.play(animation, settings, uptime);
                self.run_timer(!running, now, output)
            }
            ButtonAction::Next | ButtonAction::Previous if debugging => RefreshCause::Data,
            ButtonAction::Next => self.step(Navigation::Next, now, output),
            ButtonAction::Previous => self.step(Navigation::Previous, now, output),
            ButtonAction::ToggleDebug => self.glass.toggle_debug(settings, uptime),
            ButtonAction::ToggleDnd => {
                let enabled = !self.settings.stored.dnd_enabled;
                let animation = if enabled { Animation::QuietOn } else { Animation::QuietOff };
                let cause = self.change(|settings| settings.dnd_enabled = enabled, now, output);
                let settings = &self.settings.active;
                self.lights.acknowledge_dnd(animation, settings, uptime);
                cause
            }
            ButtonAction::FactoryReset => self.erase(now, output),
        }
    }
}

/// The event of a gesture.
fn pressed(gesture: Gesture) -> DeviceEvent {
    let (button, held) = match gesture {
        Gesture::Click(index) => (Some(index + 1), false),
        Gesture::Long(index) => (Some(index + 1), true),
        Gesture::All => (None, true),
    };
    DeviceEvent::Button { button, held }
}

fn done(cause: RefreshCause) -> (Reply, RefreshCause) {
    (Ok(Changed::default()), cause)
}

fn tried(outcome: Result<RefreshCause, Refusal>) -> (Reply, RefreshCause) {
    match outcome {
        Ok(cause) => done(cause),
        Err(refusal) => (Err(refusal), RefreshCause::Data),
    }
}
