//! A reference model of the display mode, the rotation and the buttons, in simple rules.
//!
//! The model gets the same inputs as the device. From the device it takes only the settings after a PATCH, the height that
//! the device accepts, and the rows of the catalogue of screens.

use std::{slice, time::Duration};

use device::{
    board::BoardSpec,
    input::{Contacts, Finished, Input, LinkEvent, UpdateEvent},
    request::{FrontlightCommand, Reply, Request},
    screens::{SCREENS, Screen, catalog},
    settings::Settings,
    view::View,
};
use market::{Observation, units::Currency};

/// A screen, in a currency if it has one.
type Slot = (u16, Option<Currency>);

/// The layers over the rotation; a higher one covers the lower.
const SAFE: usize = 0;
const CUSTOM: usize = 1;
const NOTICE: usize = 2;
const DEBUG: usize = 3;
const UPDATE: usize = 4;

const SECOND: Duration = Duration::from_secs(1);

/// State of the model.
#[derive(Debug, Clone)]
pub struct Model {
    board: BoardSpec,
    pub settings: Settings,
    now: Duration,
    /// Mode of each shown layer, and since when it is shown.
    layers: [Option<(&'static str, Duration)>; 5],
    splash: bool,
    /// The access point is up.
    pub portal: bool,
    erasing: bool,
    pub slot: Slot,
    currency: Currency,
    /// Uptime of the next turn, if the timer runs.
    turn: Option<Duration>,
    /// Remaining time of the period while an update freezes the timer.
    frozen: Option<Option<Duration>>,
    /// Whether a height, a balance and any other value was received, also in an earlier run.
    has_height: bool,
    has_balance: bool,
    has_value: bool,
    /// Shown height.
    height: Option<u32>,
    /// Since when each button is down, and whether the long press was handled.
    presses: [Option<(Duration, bool)>; 4],
    /// When the release of each button is debounced.
    clicks: [Option<Duration>; 4],
    /// The long press of all buttons was handled.
    all_handled: bool,
    /// Buttons are ignored because one is down since power-on.
    ignores_buttons: bool,
}

impl Model {
    /// A device that starts with the memory of the previous run.
    pub fn start(board: BoardSpec, view: &View, before: Option<&Model>) -> Model {
        let settings = Settings::clone(&view.settings.active);
        let had = |value: fn(&Model) -> bool| before.is_some_and(value);
        let mut model = Model {
            board,
            now: Duration::ZERO,
            layers: [None; 5],
            splash: true,
            portal: false,
            erasing: false,
            slot: (0, None),
            currency: settings.act_currencies[0],
            turn: None,
            frozen: None,
            has_height: had(|before| before.has_height),
            has_balance: had(|before| before.has_balance) && settings.nwc_enabled,
            has_value: had(|before| before.has_value),
            height: height(view),
            settings,
            presses: [None; 4],
            clicks: [None; 4],
            all_handled: false,
            ignores_buttons: false,
        };
        // These simulations have no proofs, so strict mode hides the height.
        let shows_height = model.has_height && model.settings.proof_mode != 2;
        model.splash = !(shows_height || model.has_balance || model.has_value);
        let slots = model.slots();
        let stored = before.map(|before| before.slot);
        let stored = stored.filter(|slot| slots.contains(&(*slot, true)));
        model.go(stored.unwrap_or_else(|| first(&slots)));
        model
    }

    /// Handles an input. `view` is that of the device after it.
    pub fn handle(&mut self, input: &Input, reply: Option<&Reply>, view: &View, now: Duration) {
        self.now = now;
        self.advance();
        self.apply(input, reply, view);
        self.advance();
        self.height = height(view);
    }

    /// The model at a later time without further inputs.
    pub fn later(&self, view: &View, now: Duration) -> Model {
        let mut later = self.clone();
        later.handle(&Input::Tick, None, view, now);
        later
    }

    /// The visible mode, as in the control interface.
    pub fn mode(&self) -> &'static str {
        match (
            self.erasing,
            self.portal,
            self.layers.iter().flatten().last(),
        ) {
            (true, ..) => "erasing",
            (_, true, _) => "portal",
            (.., Some((mode, _))) => mode,
            (.., None) if self.splash => "splash",
            (.., None) => "rotation",
        }
    }

    /// Handles everything that is due.
    fn advance(&mut self) {
        self.splash &= self.now < 10 * SECOND;
        if let Some((mode, since)) = self.layers[NOTICE]
            && since + SECOND * self.settings.overlay_seconds <= self.now
            && (mode == "payment" || self.settings.scrn_restore_zap)
        {
            self.layers[NOTICE] = None;
            self.restart_timer();
        }
        let blocks = |layer: usize| layer != CUSTOM && self.layers[layer].is_some();
        let is_blocked = self.portal || (SAFE..=UPDATE).any(blocks);
        if !is_blocked && self.turn.is_some_and(|turn| turn <= self.now) {
            if !self.dismiss() {
                self.turn_to_next_enabled();
            }
            self.restart_timer();
        }
    }

    fn apply(&mut self, input: &Input, reply: Option<&Reply>, view: &View) {
        match input {
            Input::Tick => self.handle_buttons(),
            Input::ButtonsAtPowerOn(contacts) => self.ignores_buttons = contacts.down != 0,
            Input::Pressed(contacts) => self.press(*contacts),
            Input::Observed(_, observations) => {
                for observation in observations {
                    self.observe(observation, view);
                }
            }
            Input::Request(request) => {
                let refused = matches!(reply, Some(Err(_)));
                if let Some(expected) = self.is_refused(request) {
                    assert_eq!(refused, expected, "whether {request:?} is refused");
                }
                if !refused {
                    self.request(request, &view.settings.active);
                }
            }
            Input::SafeMode(_) => self.show(SAFE, "safe-mode"),
            Input::Uploaded(upload) => self.upload(upload),
            Input::Linked(LinkEvent::Up { .. }) => self.portal = false,
            Input::Linked(LinkEvent::Credentials(stored)) => self.portal |= !stored,
            Input::Linked(LinkEvent::Provisioned) => self.settings.wifi_configured = true,
            Input::Finished(Finished::Forgotten(Ok(()))) => self.settings.wifi_configured = false,
            _ => {}
        }
    }

    fn observe(&mut self, observation: &Observation, view: &View) {
        let settings = &self.settings;
        match observation {
            Observation::Connection(_) => return,
            Observation::Block(_) => {
                self.has_height = true;
                let rise = height(view).and_then(|new| new.checked_sub(self.height?));
                let is_covered = self.layers[CUSTOM..].iter().any(Option::is_some);
                let is_new = matches!(rise, Some(1..=100));
                if is_new && self.settings.steal_focus && !is_covered {
                    self.go((0, None));
                }
            }
            Observation::Balance(_) => self.has_balance |= settings.nwc_enabled,
            Observation::Zap(_) if settings.nostr_zap_notify => self.show(NOTICE, "zap"),
            Observation::Payment(_) if settings.nwc_show_notify => self.show(NOTICE, "payment"),
            Observation::Zap(_) | Observation::Payment(_) => {}
            _ => self.has_value = true,
        }
        self.splash = false;
    }

    /// Whether a request is refused. `None` for a PATCH, which the model does not check.
    fn is_refused(&self, request: &Request) -> Option<bool> {
        let leds = self.board.leds;
        Some(match request {
            Request::Patch(_) => return None,
            Request::ShowScreen(number)
                if SCREENS.iter().any(|screen| i64::from(screen.id) == *number) =>
            {
                let mut slots = self.slots().into_iter();
                slots.all(|(slot, _)| i64::from(slot.0) != *number)
            }
            Request::ShowScreen(number) => self.slot_of(*number).is_none(),
            Request::ShowCurrency(currency) => !self.settings.act_currencies.contains(currency),
            Request::FactoryReset => self.erasing,
            Request::SetLightsColor(_) | Request::PlayEffect(_) => leds == 0,
            Request::SetLights(colors) => leds == 0 || ![0, leds].contains(&colors.len()),
            Request::Frontlight(FrontlightCommand::Set(duties)) => {
                let is_right = [0, self.board.panels].contains(&duties.len());
                let is_bright = duties.iter().any(|duty| *duty > 4095);
                !self.board.frontlight || !is_right || is_bright
            }
            Request::Frontlight(_) => !self.board.frontlight,
            _ => false,
        })
    }

    fn request(&mut self, request: &Request, active: &Settings) {
        match request {
            Request::Patch(patch) => {
                let mut after = active.clone();
                // Requests other than a PATCH change these too.
                if !patch.body.contains_key("timerActive") {
                    after.timer_active = self.settings.timer_active;
                }
                if !patch.body.contains_key("dnd") {
                    after.dnd_enabled = self.settings.dnd_enabled;
                }
                self.apply_settings(after);
            }
            Request::SetDnd(on) => self.settings.dnd_enabled = *on,
            Request::Next => self.navigate(1),
            Request::Previous => self.navigate(-1),
            Request::ShowScreen(number) => {
                if let Some(slot) = self.slot_of(*number) {
                    self.jump(slot);
                }
            }
            Request::ShowCurrency(currency) => {
                let screen = if self.slot.1.is_some() { self.slot.0 } else { 20 };
                self.jump((screen, Some(*currency)));
            }
            Request::ShowText(_) | Request::ShowCustom { .. } => {
                self.splash = false;
                self.layers[NOTICE] = None;
                self.show(CUSTOM, "custom");
                self.restart_timer();
            }
            Request::Pause => self.run_timer(false),
            Request::TogglePause => self.run_timer(!self.settings.timer_active),
            Request::RestartTimer => {
                self.run_timer(true);
                self.restart_timer();
            }
            Request::SimulateZap(_) => self.show(NOTICE, "zap"),
            Request::FactoryReset => self.erasing = true,
            _ => {}
        }
    }

    /// An update freezes the timer.
    fn upload(&mut self, upload: &UpdateEvent) {
        match upload {
            UpdateEvent::Started => {
                self.show(UPDATE, "update");
                if self.frozen.is_none() {
                    let left = |turn: Duration| turn.saturating_sub(self.now);
                    self.frozen = Some(self.turn.take().map(left));
                }
            }
            UpdateEvent::Failed(_) | UpdateEvent::Installed => {
                self.layers[UPDATE] = None;
                if let Some(left) = self.frozen.take() {
                    self.restart_timer();
                    let thawed = |turn| left.map_or(turn, |left| self.now + left);
                    self.turn = self.turn.map(thawed);
                }
            }
            UpdateEvent::Progress(_) | UpdateEvent::Verified => {}
        }
    }

    /// Handles a button edge. A click counts 20 ms after the release.
    fn press(&mut self, contacts: Contacts) {
        let Contacts { down, at } = contacts;
        if self.ignores_buttons {
            self.ignores_buttons = down != 0;
            return;
        }
        for (button, press) in self.presses.iter_mut().enumerate() {
            if down & (1 << button) != 0 {
                press.get_or_insert((at, false));
            } else if let Some((since, false)) = press.take()
                && at - since > Duration::from_millis(20)
            {
                self.clicks[button] = Some(at + Duration::from_millis(20));
            }
        }
        self.all_handled &= self.presses.iter().all(Option::is_some);
    }

    fn handle_buttons(&mut self) {
        let now = self.now;
        for button in 0..4 {
            let number = if self.settings.inverse_buttons { 4 - button } else { 1 + button };
            if self.clicks[button].take_if(|at| *at <= now).is_some() && !self.portal {
                self.click(number);
            }
            if let Some((since, long @ false)) = &mut self.presses[button]
                && *since + Duration::from_millis(800) <= now
            {
                *long = true;
                self.settings.dnd_enabled ^= number == 1 && !self.portal;
            }
        }
        let all: Option<Vec<_>> = self.presses.into_iter().collect();
        let newest = all.and_then(|all| all.into_iter().map(|(since, _)| since).max());
        if newest.is_some_and(|newest| newest + 5 * SECOND <= now) && !self.all_handled {
            self.all_handled = true;
            self.erasing = true;
        }
    }

    fn click(&mut self, number: usize) {
        match number {
            1 => self.run_timer(!self.settings.timer_active),
            2 | 3 if self.layers[DEBUG].is_some() => {}
            2 => self.navigate(1),
            3 => self.navigate(-1),
            _ => {
                self.splash = false;
                if self.layers[DEBUG].take().is_some() {
                    self.restart_timer();
                } else {
                    self.show(DEBUG, "debug");
                }
            }
        }
    }

    fn run_timer(&mut self, runs: bool) {
        let after = Settings {
            timer_active: runs,
            ..self.settings.clone()
        };
        self.apply_settings(after);
    }

    fn apply_settings(&mut self, after: Settings) {
        let before = std::mem::replace(&mut self.settings, after);
        let timer = |settings: &Settings| (settings.timer_active, settings.timer_seconds);
        if timer(&before) != timer(&self.settings) {
            self.restart_timer();
        }
        let slots = self.slots();
        if !slots.iter().any(|(slot, _)| *slot == self.slot) {
            let has_currency = self.slot.1.is_some();
            self.slot = if has_currency { (0, None) } else { first(&slots) };
            self.currency = self.slot.1.unwrap_or(self.currency);
        }
    }

    /// Goes to the next or previous screen; if a text or a notice is shown, only removes that.
    fn navigate(&mut self, step: isize) {
        self.splash = false;
        self.run_timer(true);
        if !self.dismiss() {
            let slots = self.slots();
            let here = self.place(&slots);
            let there = here.checked_add_signed(step).unwrap_or(slots.len() - 1) % slots.len();
            self.go(slots[there].0);
        }
        self.restart_timer();
    }

    fn turn_to_next_enabled(&mut self) {
        let slots = self.slots();
        let here = self.place(&slots);
        self.go(first(&[&slots[here + 1..], &slots[..=here]].concat()));
    }

    fn place(&self, slots: &[(Slot, bool)]) -> usize {
        let mut slots = slots.iter();
        slots.position(|(slot, _)| *slot == self.slot).unwrap_or(0)
    }

    fn jump(&mut self, slot: Slot) {
        self.splash = false;
        self.dismiss();
        self.go(slot);
    }

    fn go(&mut self, slot: Slot) {
        self.slot = slot;
        self.currency = slot.1.unwrap_or(self.currency);
        self.restart_timer();
    }

    /// Restarts the period.
    fn restart_timer(&mut self) {
        let seconds = self.settings.timer_seconds;
        let period = (self.settings.timer_active && seconds > 0).then(|| SECOND * seconds);
        match &mut self.frozen {
            Some(left) => *left = period,
            None => self.turn = period.map(|period| self.now + period),
        }
    }

    fn dismiss(&mut self) -> bool {
        let notice = self.layers[NOTICE].take().is_some();
        self.layers[CUSTOM].take().is_some() || notice
    }

    fn show(&mut self, layer: usize, mode: &'static str) {
        self.layers[layer] = Some((mode, self.now));
    }

    /// All existing slots in rotation order, and whether the timer stops at them.
    fn slots(&self) -> Vec<(Slot, bool)> {
        let s = &self.settings;
        let in_each = |screens: &[Screen]| -> Vec<Slot> {
            let of = |currency| screens.iter().map(move |screen| (screen.id, currency));
            let currencies = s.act_currencies.iter();
            if screens[0].per_currency {
                currencies.flat_map(|each| of(Some(*each))).collect()
            } else {
                of(None).collect()
            }
        };
        let order: Vec<Slot> = if s.screen_order.is_empty() {
            let alternate = |a: &Screen, b: &Screen| a.per_currency && b.per_currency;
            SCREENS.chunk_by(alternate).flat_map(in_each).collect()
        } else {
            let screens = s.screen_order.iter().filter_map(|id| catalog::find(*id));
            screens
                .flat_map(|screen| in_each(slice::from_ref(screen)))
                .collect()
        };
        let exists = |slot: &Slot| s.is_screen_available(slot.0);
        let enabled = |slot: Slot| (slot, !s.screens_hidden.contains(&slot.0));
        order.into_iter().filter(exists).map(enabled).collect()
    }

    /// The slot of a number: the id of a screen, or else an index in the order.
    fn slot_of(&self, number: i64) -> Option<Slot> {
        let slots = self.slots();
        let of_id = || slots.iter().filter(|(slot, _)| i64::from(slot.0) == number);
        let current = of_id().find(|(slot, _)| slot.1 == Some(self.currency));
        let by_index = || slots.get(usize::try_from(number).ok()?);
        let found = current.or_else(|| of_id().next()).or_else(by_index);
        found.map(|(slot, _)| *slot)
    }
}

fn height(view: &View) -> Option<u32> {
    view.market.height.as_ref().map(|height| height.value)
}

/// The first enabled slot.
fn first(slots: &[(Slot, bool)]) -> Slot {
    let enabled = slots.iter().find(|(_, enabled)| *enabled);
    enabled.map_or((0, None), |(slot, _)| *slot)
}
