//! What clients ask for, one method per kind of wish.

use alloc::vec::Vec;

use crate::{
    cells::Cell,
    device::Device,
    input::ButtonAction,
    lights::shows::Show,
    now::Now,
    output::{Effect, Output, RebootReason},
    overlays::{Layer, Overlay},
    refresh::Cause,
    request::{Patch, Refusal, Reply, Request},
    rotation::{self, Direction, Slot},
    screens::{catalog, custom},
    settings::{
        Key,
        kinds::tx_power::TxPower,
        patch::{self, Catalogue},
    },
    units::Currency,
};

impl Device {
    /// Answers a request; tells why there may be something to paint.
    pub(crate) fn answer(
        &mut self,
        request: Request,
        now: Now,
        output: &mut Output,
    ) -> (Reply, Cause) {
        match request {
            Request::Patch(patch) => self.patch(&patch, now, output),
            Request::Next => done(self.step(Direction::Next, now, output)),
            Request::Previous => done(self.step(Direction::Previous, now, output)),
            Request::ShowScreen(number) => self.show_screen(number, now),
            Request::ShowCurrency(currency) => self.show_currency(currency, now),
            Request::ShowText(text) => {
                self.show_cells(custom::letters(&text, self.board.panels), now);
                done(Cause::Data)
            }
            Request::ShowCustom { cells, digit_px } => {
                let cells = custom::cells(&cells, digit_px, self.board.panels);
                self.show_cells(cells, now);
                done(Cause::Data)
            }
            Request::Pause => done(self.run_timer(false, now, output)),
            Request::TogglePause => {
                let running = self.active.timer_active;
                done(self.run_timer(!running, now, output))
            }
            Request::RestartTimer => {
                self.run_timer(true, now, output);
                self.rotation.restart(&self.active, now.uptime);
                done(Cause::Data)
            }
            Request::FullRefresh => done(Cause::Forced),
            Request::Identify => {
                self.lights.play(Show::Identify, &self.active, now.uptime);
                done(Cause::Data)
            }
            Request::Restart => {
                output.effects.push(Effect::Reboot(RebootReason::Asked));
                done(Cause::Data)
            }
            Request::FactoryReset if self.is_erasing() => {
                (Reply::Refused(Refusal::Erasing), Cause::Data)
            }
            Request::FactoryReset => done(self.erase(output)),
            // Whoever asks for it wants to see it, whether or not zaps are listened for.
            Request::SimulateZap(zap) => {
                self.show_zap(zap, now);
                done(Cause::Data)
            }
            Request::ClearPoolLogos => done(self.clear_pool_logos(output)),
            Request::StopSources => {
                self.by_hand.stopped = true;
                done(Cause::Data)
            }
            Request::RestartSources => {
                self.by_hand.stopped = false;
                self.by_hand.restarts += 1;
                done(Cause::Data)
            }
            Request::SetLights(pixels) => (self.lights.set(&pixels), Cause::Data),
            Request::SetLightsColor(color) => {
                let pixels = alloc::vec![color; self.board.leds];
                (self.lights.set(&pixels), Cause::Data)
            }
            Request::PlayEffect(effect) => {
                let reply = self.lights.play_effect(effect, &self.active, now.uptime);
                (reply, Cause::Data)
            }
            Request::Frontlight(command) => {
                let lights = &mut self.lights;
                let reply = lights.command_frontlight(&command, &self.active, now.uptime);
                (reply, Cause::Data)
            }
            Request::SetDnd(enabled) => {
                let mut settings = (*self.stored).clone();
                settings.dnd_enabled = enabled;
                done(self.store_settings(settings, now, output))
            }
            Request::SetTxPower(quarter_dbm) => self.set_tx_power(quarter_dbm, now, output),
        }
    }

    fn patch(&mut self, patch: &Patch, now: Now, output: &mut Output) -> (Reply, Cause) {
        let catalogue = Catalogue {
            currencies: self.offer.currencies().to_vec(),
            screens: self.available_screens(),
        };
        let patched = match patch::apply(&self.stored, patch, &catalogue) {
            Ok(patched) => patched,
            Err(rejection) => return (Reply::Rejected(rejection), Cause::Data),
        };
        let cause = self.store_settings(patched.settings, now, output);
        let reply = if patched.reboot_required {
            Reply::RebootRequired
        } else {
            Reply::Done
        };
        (reply, cause)
    }

    fn available_screens(&self) -> Vec<u16> {
        let order = self.stored.rotation_order();
        order
            .into_iter()
            .filter(|id| self.stored.is_screen_available(*id))
            .collect()
    }

    /// Goes one screen on or back; under a text, zap or payment it only takes that away. The timer runs after it.
    pub(crate) fn step(&mut self, direction: Direction, now: Now, output: &mut Output) -> Cause {
        self.splash = false;
        let cause = self.run_timer(true, now, output);
        if self.overlays.dismiss() {
            self.rotation.restart(&self.active, now.uptime);
        } else {
            self.rotation.step(direction, &self.active, now.uptime);
        }
        cause
    }

    fn show_screen(&mut self, number: i64, now: Now) -> (Reply, Cause) {
        let by_id = u16::try_from(number).ok().and_then(catalog::find);
        let slot = match by_id {
            Some(screen) if !self.active.is_screen_available(screen.id) => {
                let refusal = Refusal::UnavailableScreen(screen.id);
                return (Reply::Refused(refusal), Cause::Data);
            }
            Some(screen) => self.rotation.slot_of(screen, &self.active),
            None => {
                let entries = rotation::sequence(&self.active);
                let place = usize::try_from(number)
                    .ok()
                    .and_then(|place| entries.get(place));
                match place {
                    Some(entry) => entry.slot,
                    None => return (Reply::Refused(Refusal::UnknownScreen), Cause::Data),
                }
            }
        };
        self.jump(slot, now);
        done(Cause::Data)
    }

    fn show_currency(&mut self, currency: Currency, now: Now) -> (Reply, Cause) {
        if !self.active.currencies().contains(&currency) {
            return (Reply::Refused(Refusal::CurrencyNotActive), Cause::Data);
        }
        let slot = self.rotation.slot_in(currency);
        self.jump(slot, now);
        done(Cause::Data)
    }

    fn jump(&mut self, slot: Slot, now: Now) {
        self.splash = false;
        self.overlays.dismiss();
        self.rotation.jump(slot, &self.active, now.uptime);
    }

    fn show_cells(&mut self, cells: Vec<Cell>, now: Now) {
        self.splash = false;
        self.overlays.show(Overlay::Custom(cells), now.uptime);
        self.rotation.restart(&self.active, now.uptime);
    }

    pub(crate) fn run_timer(&mut self, running: bool, now: Now, output: &mut Output) -> Cause {
        let mut settings = (*self.stored).clone();
        settings.timer_active = running;
        self.store_settings(settings, now, output)
    }

    fn clear_pool_logos(&mut self, output: &mut Output) -> Cause {
        self.by_hand.logo_fetches += 1;
        output.effects.push(Effect::ClearLogos);
        // A name in place of a picture leaves ghosts.
        match self.market.pool_logo.take() {
            Some(_) if self.shows_pool() => Cause::Forced,
            Some(_) | None => Cause::Data,
        }
    }

    fn set_tx_power(&mut self, quarter_dbm: i64, now: Now, output: &mut Output) -> (Reply, Cause) {
        let Some(power) = TxPower::read(&quarter_dbm.into()) else {
            return (Reply::Refused(Refusal::OutOfRange), Cause::Data);
        };
        let mut settings = (*self.stored).clone();
        settings.set(Key::tx_power, &power);
        done(self.store_settings(settings, now, output))
    }

    /// Shows or hides the debug view.
    pub(crate) fn toggle_debug(&mut self, now: Now) -> Cause {
        let before = self.visible();
        self.splash = false;
        if self.overlays.hide(Layer::Debug) {
            self.rotation.restart(&self.active, now.uptime);
        } else {
            self.debug_painted = now.uptime;
            self.overlays.show(Overlay::Debug, now.uptime);
        }
        if self.visible() == before {
            Cause::Data
        } else {
            Cause::Forced
        }
    }

    /// Does what a button is for.
    pub(crate) fn act(&mut self, action: ButtonAction, now: Now, output: &mut Output) -> Cause {
        let debugging = self.overlays.has(Layer::Debug);
        match action {
            ButtonAction::TogglePause => {
                let running = self.active.timer_active;
                let show = if running { Show::Pause } else { Show::Resume };
                self.lights.play(show, &self.active, now.uptime);
                self.run_timer(!running, now, output)
            }
            ButtonAction::Next | ButtonAction::Previous if debugging => Cause::Data,
            ButtonAction::Next => self.step(Direction::Next, now, output),
            ButtonAction::Previous => self.step(Direction::Previous, now, output),
            ButtonAction::ToggleDebug => self.toggle_debug(now),
            ButtonAction::ToggleDnd => {
                let mut settings = (*self.stored).clone();
                settings.dnd_enabled = !settings.dnd_enabled;
                let show = if settings.dnd_enabled {
                    Show::QuietOn
                } else {
                    Show::QuietOff
                };
                let cause = self.store_settings(settings, now, output);
                self.lights.acknowledge(show, &self.active, now.uptime);
                cause
            }
            ButtonAction::FactoryReset => self.erase(output),
        }
    }
}

fn done(cause: Cause) -> (Reply, Cause) {
    (Reply::Done, cause)
}
