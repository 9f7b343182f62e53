//! A reference model of the device: display mode, rotation timer and buttons, in simple rules.
//!
//! The model gets the same inputs as the device, and has its own timer, market, pictures and lights. From the device it
//! takes only the settings after a PATCH.
//! `glass` models the panels and their refreshes, `lights` the strip and the frontlight.

mod glass;
mod lights;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use device::{
    board::BoardSpec,
    input::{Contacts, Finished, Input, LinkEvent, UpdateEvent},
    request::{FrontlightCommand, Reply, Request},
    screens::SCREENS,
    settings::Settings,
};
use market::{Connection, Direction, Observation, now::Now, source_id::SourceId, units::Currency};

use jiff::tz::TimeZone;

use glass::{Glass, PaintReason};
use lights::{Animation, Lights, State};

/// A screen, in a currency if it has one.
pub type Slot = (u16, Option<Currency>);

/// The layers over the rotation; a higher one covers the lower.
const SAFE: usize = 0;
const CUSTOM: usize = 1;
const NOTICE: usize = 2;
const DEBUG: usize = 3;
const UPDATE: usize = 4;

const SECOND: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Default)]
struct Layer {
    mode: &'static str,
    texts: Vec<String>,
    /// Satoshis of a zap or payment, percent of an update.
    amount: u64,
    /// Uptime at which it was shown or last updated.
    since: Duration,
    /// Serial number.
    number: u32,
}

/// Whether the shown price is so old that its marks are reset; also without a price.
fn is_old_price(shown: Option<&(u64, Received)>, now: Duration) -> bool {
    !matches!(shown, Some((_, Received::At(at))) if now <= *at + SECOND * 15 * 60)
}

/// When a value was received: at an uptime, or in an earlier run, with its Unix time in ms if that was known.
#[derive(Debug, Clone, Copy)]
enum Received {
    At(Duration),
    EarlierRun(Option<i64>),
}

/// A quote of the relay.
#[derive(Debug, Clone, Copy)]
pub struct Quote {
    price: u64,
    at: Duration,
    /// Since when it is far from the shown price, which is held for a minute then.
    jumped: Option<Duration>,
    /// Since when the price has no second source.
    pub weak: Duration,
    /// The shown price was held for a minute and then shown without a second source.
    pub released: bool,
    /// Time of the last evaluation, with shown price, `jumped` and `released` before it: of quotes at one moment the last
    /// counts.
    before: (Duration, Option<(u64, Received)>, Option<Duration>, bool),
}

/// State of the model.
#[derive(Debug, Clone)]
pub struct Model {
    board: BoardSpec,
    pub settings: Settings,
    /// Time zone of the settings, cached because the lookup is slow.
    zone: TimeZone,
    pub now: Now,
    layers: [Option<Layer>; 5],
    layers_shown: u32,
    splash: bool,
    /// The access point is up.
    pub portal: bool,
    /// Address and name of the network.
    network: Option<(String, String)>,
    /// The board has a radio.
    has_radio: bool,
    /// It was connected since the start.
    was_connected: bool,
    erasing: bool,
    pub slot: Slot,
    currency: Currency,
    /// Uptime of the next turn, if the timer runs.
    turn: Option<Duration>,
    /// Remaining time of the period while an update freezes the timer.
    frozen: Option<Option<Duration>>,
    /// Height, fee in micros, and prices in micros by their currency.
    facts: BTreeMap<String, (u64, Received)>,
    /// Time of the last change of the height in this run.
    height_at: Option<Duration>,
    /// Since when the relay claims another height than the shown one.
    disputed_since: Option<Duration>,
    /// Last claim of the relay, accepted or not.
    claimed: Option<u64>,
    /// Time of the last claim, with `claimed`, `disputed_since` and whether `height_at` was set before it.
    last_claim: (Duration, Option<u64>, Option<Duration>, bool),
    /// Since when the shown height is an unproven claim.
    unproven_since: Duration,
    /// Quotes of the relay in this run.
    quotes: BTreeMap<Currency, Quote>,
    /// Last error of the relay.
    last_error: String,
    /// The relay has reported a connection state.
    has_relay_state: bool,
    /// Connected sources.
    up: BTreeSet<SourceId>,
    /// Since when each button is down, and whether the long press was handled.
    presses: [Option<(Duration, bool)>; 4],
    /// When the release of each button is debounced.
    clicks: [Option<Duration>; 4],
    /// The long press of all buttons was handled.
    all_handled: bool,
    /// Buttons are ignored because one is down since power-on.
    ignores_buttons: bool,
    pub glass: Glass,
    pub lights: Lights,
}

impl Model {
    /// A device that starts with the memory of the previous run.
    pub fn start(board: BoardSpec, settings: &Settings, before: Option<&Model>, now: Now) -> Model {
        let mut model = Model {
            board,
            settings: settings.clone(),
            zone: TimeZone::get(&settings.tz_string).unwrap(),
            now,
            layers: [const { None }; 5],
            layers_shown: 0,
            splash: true,
            portal: false,
            network: None,
            has_radio: false,
            was_connected: false,
            erasing: false,
            slot: (0, None),
            currency: Currency::USD,
            turn: None,
            frozen: None,
            facts: before.map(Model::stored_facts).unwrap_or_default(),
            height_at: None,
            disputed_since: None,
            claimed: None,
            last_claim: (now.uptime, None, None, false),
            unproven_since: now.uptime,
            quotes: BTreeMap::new(),
            last_error: String::new(),
            has_relay_state: false,
            up: BTreeSet::new(),
            presses: [None; 4],
            clicks: [None; 4],
            all_handled: false,
            ignores_buttons: false,
            glass: Glass::default(),
            lights: Lights::new(board, settings),
        };
        if !settings.nwc_enabled {
            model.facts.remove("balance");
        }
        let is_shown = |fact: &String| *fact != "height" || model.shows_height();
        model.splash = !model.facts.keys().any(is_shown);
        let slots = model.slots();
        let stored = before.map(|before| before.slot);
        let stored = stored.filter(|slot| slots.contains(&(*slot, true)));
        model.currency = settings.act_currencies[0];
        model.go(stored.unwrap_or_else(|| first(&slots)));
        model.settle();
        model.paint(PaintReason::Full);
        model
    }

    /// Handles an input. `active` are the settings after it.
    pub fn handle(&mut self, input: &Input, reply: Option<&Reply>, active: &Settings, now: Now) {
        self.now = now;
        let before = self.advance();
        let handled = self.apply(input, reply, active);
        let after = self.advance();
        self.settle();
        self.paint(before.max(handled).max(after));
        self.lights
            .release(self.glass.pictures, &self.settings, now.uptime);
    }

    /// The model at a later time without further inputs.
    pub fn later(&self, now: Now) -> Model {
        let mut later = self.clone();
        later.handle(&Input::Tick, None, &self.settings, now);
        later
    }

    /// The visible mode, as in the control interface.
    pub fn mode(&self) -> &'static str {
        match (self.erasing, self.portal, self.top()) {
            (true, ..) => "erasing",
            (_, true, _) => "portal",
            (.., Some(layer)) => layer.mode,
            (.., None) if self.splash => "splash",
            (.., None) => "rotation",
        }
    }

    fn top(&self) -> Option<&Layer> {
        self.layers.iter().flatten().next_back()
    }

    /// Handles everything that is due.
    fn advance(&mut self) -> PaintReason {
        let now = self.now.uptime;
        let quiet = self.is_quiet();
        self.lights.advance(&self.settings, quiet, now);
        self.splash &= now < 10 * SECOND;
        self.evaluate_prices();
        let minutes = self.settings.full_refresh_min;
        let full = self.glass.last_full + SECOND * 60 * (minutes + 1);
        let reason = if minutes > 0 && full <= now {
            PaintReason::Full
        } else {
            PaintReason::Data
        };
        if let Some(notice) = &self.layers[NOTICE]
            && notice.since + SECOND * self.settings.overlay_seconds <= now
            && (notice.mode == "payment" || self.settings.scrn_restore_zap)
        {
            self.layers[NOTICE] = None;
            self.restart_timer();
        }
        let blocks = |layer: usize| layer != CUSTOM && self.layers[layer].is_some();
        let is_blocked = self.portal || (SAFE..=UPDATE).any(blocks);
        if !is_blocked && self.turn.is_some_and(|turn| turn <= now) {
            if !self.dismiss() {
                self.turn_to_next_enabled();
            }
            self.restart_timer();
        }
        let mode = self.mode();
        let percent = self.lights.percent;
        let shown = self.layers.iter_mut().flatten().next_back();
        if let Some(layer) = shown.filter(|layer| layer.since + SECOND <= now) {
            if mode == "debug" {
                layer.since = now;
                self.glass.repaint();
            } else if mode == "update" && layer.amount != percent {
                (layer.amount, layer.since) = (percent, now);
            }
        }
        reason
    }

    fn apply(&mut self, input: &Input, reply: Option<&Reply>, active: &Settings) -> PaintReason {
        match input {
            Input::Tick => return self.handle_buttons(),
            Input::ButtonsAtPowerOn(contacts) => {
                self.ignores_buttons = contacts.down != 0;
                self.lights.alarm = contacts.down & self.first() != 0;
            }
            Input::Pressed(contacts) => self.press(*contacts),
            Input::Observed(source, observations) => {
                for observation in observations {
                    self.observe(*source, observation);
                }
            }
            Input::Request(request) => {
                let refused = matches!(reply, Some(Reply::Refused(_) | Reply::Rejected(_)));
                if let Some(expected) = self.is_refused(request) {
                    assert_eq!(refused, expected, "whether {request:?} is refused");
                }
                if !refused {
                    return self.request(request, active);
                }
            }
            Input::SafeMode(reason) => self.show(SAFE, "safe-mode", vec![reason.clone()], 0),
            Input::Sensed(sensed) => self.lights.sense(sensed.millilux(), &self.settings),
            Input::Uploaded(upload) => return self.upload(upload),
            Input::Finished(Finished::Painted(_)) => {
                self.lights.painted(&self.settings, self.now.uptime);
            }
            Input::Linked(LinkEvent::Up { ip, ssid }) => {
                self.portal = false;
                if self.network.is_none() && self.last_error == "no network" {
                    self.last_error.clear();
                }
                self.network = Some((ip.clone(), ssid.clone().unwrap_or_default()));
                if !std::mem::replace(&mut self.was_connected, true) {
                    self.lights
                        .play(Animation::Success, &self.settings, self.now.uptime);
                }
            }
            Input::Linked(LinkEvent::Down(_)) => {
                if self.has_relay_state && self.network.is_some() {
                    self.last_error = "no network".into();
                }
                self.network = None;
                self.up.clear();
            }
            Input::Linked(LinkEvent::Credentials(stored)) => {
                self.has_radio = true;
                self.portal |= !stored;
                self.up.clear();
            }
            Input::Linked(LinkEvent::Provisioned) => self.settings.wifi_configured = true,
            Input::Finished(Finished::Forgotten(Ok(()))) => self.settings.wifi_configured = false,
            _ => {}
        }
        PaintReason::Data
    }

    fn observe(&mut self, from: SourceId, observation: &Observation) {
        let settings = self.settings.clone();
        match observation {
            Observation::Connection(connection) => {
                self.has_relay_state = true;
                match connection {
                    Connection::Connecting => {}
                    _ if self.settings.data_source == 1 => {}
                    Connection::Up => self.last_error.clear(),
                    Connection::Down { reason, .. } => self.last_error.clone_from(reason),
                }
                match connection {
                    Connection::Up => self.up.insert(from),
                    Connection::Connecting | Connection::Down { .. } => self.up.remove(&from),
                };
                return;
            }
            Observation::Block(height) => self.block((*height).into()),
            Observation::Price(currency, price) => self.price(*currency, price.micros),
            Observation::PreciseFee(fee) => self.record("fee", fee.micros),
            Observation::Balance(balance) if settings.nwc_enabled => {
                self.record("balance", balance.value.0);
            }
            Observation::Zap(zap) if settings.nostr_zap_notify => self.zap(zap.amount.0),
            Observation::Payment(payment) if settings.nwc_show_notify => {
                let texts = match payment.direction {
                    Some(Direction::Received) => ["RECV", "(ArrowDownBold)"],
                    Some(Direction::Sent) => ["PAID", "(ArrowUpBold)"],
                    None => ["RECV", "(LightningBolt)"],
                };
                let flash = settings.nwc_flash_on_pay;
                self.flash(Animation::Zap, flash, flash);
                self.show(
                    NOTICE,
                    "payment",
                    texts.map(String::from).into(),
                    payment.amount.0 / 1000,
                );
            }
            _ => {}
        }
        self.splash = false;
    }

    fn zap(&mut self, sats: u64) {
        let (strip, front) = (
            self.settings.led_flash_on_zap,
            self.settings.fl_flash_on_zap,
        );
        self.flash(Animation::Zap, strip, front);
        self.show(
            NOTICE,
            "zap",
            vec!["ZAP".into(), "(LightningBolt)".into()],
            sats,
        );
    }

    /// Handles a claim. A height that is lower, or too far ahead for the elapsed time, is refused.
    fn block(&mut self, height: u64) {
        let now = self.now.uptime;
        // Of claims at one moment the last counts.
        if self.last_claim.0 != now {
            self.last_claim = (
                now,
                self.claimed,
                self.disputed_since,
                self.height_at.is_some(),
            );
        }
        self.claimed = Some(height);
        let (_, claimed, disputed_since, has_height) = self.last_claim;
        // A height of an earlier run disputes nothing: until a height is accepted, only repeated claims count.
        let continues = has_height || (claimed == Some(height) && self.height_at.is_none());
        self.disputed_since = disputed_since.filter(|_| continues).or(Some(now));
        if let Some((known, _)) = self.facts.get("height") {
            let blocks = self
                .age_ms("height")
                .map_or(u64::MAX / 2, |age| age / 600_000 * 9 / 8);
            match height.checked_sub(*known) {
                Some(rise) if rise > blocks + 100 => return,
                Some(1..=100) if self.shows_height() => {
                    let (strip, front) = (
                        self.settings.led_flash_on_upd,
                        self.settings.fl_flash_on_upd,
                    );
                    self.flash(
                        Animation::Block(self.settings.block_flash_color),
                        strip,
                        front,
                    );
                    if self.settings.steal_focus
                        && self.layers[CUSTOM..].iter().all(Option::is_none)
                    {
                        self.go((0, None));
                    }
                }
                Some(_) => {}
                None => return,
            }
        }
        let is_new = self.facts.get("height").map(|(known, _)| *known) != Some(height);
        self.record("height", height);
        self.disputed_since = None;
        if is_new || self.height_at.is_none() {
            if self.height_at.is_none_or(|at| now >= at + SECOND * 90 * 60) {
                self.unproven_since = now;
            }
            self.height_at = Some(now);
        }
    }

    /// Handles a quote of the relay.
    fn price(&mut self, currency: Currency, price: u64) {
        let now = self.now.uptime;
        let known = self.quotes.get(&currency).copied();
        let shown = self.facts.get(currency.code());
        let is_over = is_old_price(shown, now);
        let quote = Quote {
            price,
            at: now,
            jumped: known.and_then(|known| known.jumped),
            weak: known.filter(|_| !is_over).map_or(now, |known| known.weak),
            released: known.is_some_and(|known| known.released && !is_over),
            before: known.map_or((Duration::MAX, None, None, false), |known| known.before),
        };
        self.quotes.insert(currency, quote);
        self.evaluate_price(currency, now);
    }

    /// Evaluates all prices. After a suspend, a held price is evaluated as of its deadline.
    fn evaluate_prices(&mut self) {
        let now = self.now.uptime;
        let jumped = |quote: &Quote| {
            quote
                .jumped
                .map_or(now, |since| now.min(since + SECOND * 60))
        };
        let quotes: Vec<_> = self
            .quotes
            .iter()
            .map(|(currency, quote)| (*currency, jumped(quote)))
            .collect();
        for (currency, at) in quotes {
            self.evaluate_price(currency, at);
        }
    }

    /// Shows the quoted price, unless it is a jump that needs a second source.
    fn evaluate_price(&mut self, currency: Currency, now: Duration) {
        let is_witnessed = self.is_witnessed(currency);
        let Some(quote) = self.quotes.get_mut(&currency) else {
            return;
        };
        if quote.before.0 != now {
            let shown = self.facts.get(currency.code()).copied();
            let released = quote.released && !is_old_price(shown.as_ref(), now);
            quote.before = (now, shown, quote.jumped, released);
        }
        let shown;
        (_, shown, quote.jumped, quote.released) = quote.before;
        let is_jump = shown.is_some_and(|(shown, learned)| {
            let is_far = quote.price.abs_diff(shown) * 10 > shown;
            let was_recent = match learned {
                Received::At(at) => now - at <= SECOND * 60,
                Received::EarlierRun(_) => false,
            };
            is_witnessed && is_far && (was_recent || quote.jumped.is_some())
        });
        if is_jump && now < *quote.jumped.get_or_insert(now) + SECOND * 60 {
            let held = shown.map(|shown| (currency.code().into(), shown));
            return self.facts.extend(held);
        }
        quote.jumped = None;
        quote.released |= is_jump;
        let fact = (quote.price, Received::At(quote.at));
        self.facts.insert(currency.code().into(), fact);
    }

    /// Whether other venues are enabled for a currency. They never answer in these simulations.
    pub fn is_witnessed(&self, currency: Currency) -> bool {
        let has_market = ["USD", "EUR", "GBP"].contains(&currency.code());
        has_market && self.settings.act_currencies.contains(&currency)
    }

    /// The accepted height, shown or not.
    pub fn height(&self) -> Option<u64> {
        self.facts.get("height").map(|(height, _)| *height)
    }

    fn record(&mut self, fact: &str, value: u64) {
        self.facts
            .insert(fact.into(), (value, Received::At(self.now.uptime)));
    }

    /// Whether a request is refused. `None` for a PATCH, which the model does not check.
    fn is_refused(&self, request: &Request) -> Option<bool> {
        match request {
            Request::Patch(_) => None,
            Request::ShowScreen(number)
                if SCREENS.iter().any(|screen| i64::from(screen.id) == *number) =>
            {
                let matches = |(slot, _): &(Slot, bool)| i64::from(slot.0) == *number;
                Some(!self.slots().iter().any(matches))
            }
            Request::ShowScreen(number) => Some(self.slot_of(*number).is_none()),
            Request::ShowCurrency(currency) => {
                Some(!self.settings.act_currencies.contains(currency))
            }
            Request::FactoryReset => Some(self.erasing),
            Request::SetLightsColor(_) | Request::PlayEffect(_) => Some(!self.lights.has_strip()),
            Request::SetLights(colors) => {
                let is_right = colors.is_empty() || colors.len() == self.board.leds;
                Some(!self.lights.has_strip() || !is_right)
            }
            Request::Frontlight(FrontlightCommand::Set(duties)) => {
                let is_right = duties.is_empty() || duties.len() == self.board.panels;
                let is_bright = duties.iter().any(|duty| *duty > 4095);
                Some(!self.lights.has_front() || !is_right || is_bright)
            }
            Request::Frontlight(_) => Some(!self.lights.has_front()),
            _ => Some(false),
        }
    }

    fn request(&mut self, request: &Request, active: &Settings) -> PaintReason {
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
                return self.apply_settings(after);
            }
            Request::SetDnd(on) => return self.set_dnd(*on),
            Request::Next => return self.navigate(1),
            Request::Previous => return self.navigate(-1),
            Request::ShowScreen(number) => {
                if let Some(slot) = self.slot_of(*number) {
                    return self.jump(slot);
                }
            }
            Request::ShowCurrency(currency) => {
                let screen = if self.slot.1.is_some() {
                    self.slot.0
                } else {
                    20
                };
                return self.jump((screen, Some(*currency)));
            }
            Request::ShowText(text) => self.custom(text.chars().map(String::from).collect()),
            Request::ShowCustom { cells, .. } => self.custom(cells.clone()),
            Request::Pause => return self.run_timer(false),
            Request::TogglePause => return self.run_timer(!self.settings.timer_active),
            Request::RestartTimer => {
                self.run_timer(true);
                self.restart_timer();
            }
            Request::FullRefresh => return PaintReason::Full,
            Request::SimulateZap(zap) => self.zap(zap.amount.0),
            Request::Identify => {
                self.lights
                    .play(Animation::Identify, &self.settings, self.now.uptime)
            }
            Request::SetLightsColor(color) => self.lights.rest(&vec![*color; self.board.leds]),
            Request::SetLights(colors) => self.lights.rest(colors),
            Request::PlayEffect(effect) => {
                self.lights.effect(*effect, &self.settings, self.now.uptime);
            }
            Request::Frontlight(command) => {
                self.lights
                    .command(command, &self.settings, self.now.uptime);
            }
            Request::FactoryReset => {
                self.erasing = true;
                return PaintReason::Full;
            }
            _ => {}
        }
        PaintReason::Data
    }

    fn upload(&mut self, upload: &UpdateEvent) -> PaintReason {
        let now = self.now.uptime;
        match upload {
            UpdateEvent::Started => {
                self.lights.update(Some(0));
                self.show(UPDATE, "update", Vec::new(), 0);
                if self.frozen.is_none() {
                    self.frozen = Some(self.turn.take().map(|turn| turn.saturating_sub(now)));
                }
                return PaintReason::Full;
            }
            UpdateEvent::Failed(_) | UpdateEvent::Installed => {
                self.lights.update(None);
                self.layers[UPDATE] = None;
                if let Some(left) = self.frozen.take() {
                    self.restart_timer();
                    self.turn = self.turn.map(|turn| left.map_or(turn, |left| now + left));
                }
            }
            UpdateEvent::Progress(percent) if self.layers[UPDATE].is_some() => {
                self.lights.update(Some((*percent).into()));
            }
            UpdateEvent::Progress(_) | UpdateEvent::Verified => {}
        }
        PaintReason::Data
    }

    /// Handles a button edge. A click counts 20 ms after the release.
    fn press(&mut self, contacts: Contacts) {
        let Contacts { down, at } = contacts;
        self.lights.alarm &= down & self.first() != 0;
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

    fn handle_buttons(&mut self) -> PaintReason {
        let now = self.now.uptime;
        self.lights.alarm &= now < 3 * SECOND;
        let mut reason = PaintReason::Data;
        for button in 0..4 {
            let number = self.number(button);
            if self.clicks[button].take_if(|at| *at <= now).is_some() {
                reason = reason.max(self.click(number));
            }
            if let Some((since, long @ false)) = &mut self.presses[button]
                && *since + Duration::from_millis(800) <= now
            {
                *long = true;
                if number == 1 && !self.portal {
                    let on = !self.settings.dnd_enabled;
                    reason = reason.max(self.set_dnd(on));
                    let animation = if on {
                        Animation::QuietOn
                    } else {
                        Animation::QuietOff
                    };
                    self.lights.play(animation, &self.settings, now);
                }
            }
        }
        let all: Option<Vec<_>> = self.presses.into_iter().collect();
        let newest = all.and_then(|all| all.into_iter().map(|(since, _)| since).max());
        if newest.is_some_and(|newest| newest + 5 * SECOND <= now) && !self.all_handled {
            self.all_handled = true;
            if !self.erasing {
                self.erasing = true;
                return PaintReason::Full;
            }
        }
        reason
    }

    /// Number of a button, from 1.
    fn number(&self, button: usize) -> usize {
        match self.settings.inverse_buttons {
            true => 4 - button,
            false => 1 + button,
        }
    }

    /// The bit of button 1.
    fn first(&self) -> u8 {
        match self.settings.inverse_buttons {
            true => 8,
            false => 1,
        }
    }

    fn click(&mut self, number: usize) -> PaintReason {
        match number {
            _ if self.portal => PaintReason::Data,
            1 => {
                let runs = self.settings.timer_active;
                let animation = if runs {
                    Animation::Pause
                } else {
                    Animation::Resume
                };
                self.lights.play(animation, &self.settings, self.now.uptime);
                self.run_timer(!runs)
            }
            2 | 3 if self.layers[DEBUG].is_some() => PaintReason::Data,
            2 => self.navigate(1),
            3 => self.navigate(-1),
            _ => {
                let before = self.mode();
                self.splash = false;
                if self.layers[DEBUG].take().is_some() {
                    self.restart_timer();
                } else {
                    self.show(DEBUG, "debug", Vec::new(), 0);
                }
                // Under the layer of an update nothing changes.
                if self.mode() == before {
                    PaintReason::Data
                } else {
                    PaintReason::Full
                }
            }
        }
    }

    fn set_dnd(&mut self, on: bool) -> PaintReason {
        let after = Settings {
            dnd_enabled: on,
            ..self.settings.clone()
        };
        self.apply_settings(after)
    }

    fn run_timer(&mut self, runs: bool) -> PaintReason {
        let after = Settings {
            timer_active: runs,
            ..self.settings.clone()
        };
        self.apply_settings(after)
    }

    fn apply_settings(&mut self, after: Settings) -> PaintReason {
        let was_hidden = !self.shows_height();
        let before = std::mem::replace(&mut self.settings, after);
        if was_hidden && self.shows_height() {
            self.unproven_since = self.now.uptime;
        }
        let moved = before.tz_string != self.settings.tz_string;
        if moved {
            self.zone = TimeZone::get(&self.settings.tz_string).unwrap();
        }
        self.evaluate_prices();
        let timer = |settings: &Settings| (settings.timer_active, settings.timer_seconds);
        if timer(&before) != timer(&self.settings) {
            self.restart_timer();
        }
        let slots = self.slots();
        if !slots.iter().any(|(slot, _)| *slot == self.slot) {
            let gone = if self.slot.1.is_some() {
                (0, None)
            } else {
                first(&slots)
            };
            self.slot = gone;
            self.currency = gone.1.unwrap_or(self.currency);
        }
        let quiet = self.is_quiet();
        self.lights
            .apply_settings(&before, &self.settings, quiet, self.now.uptime);
        if moved {
            PaintReason::Full
        } else {
            PaintReason::Data
        }
    }

    /// Goes to the next or previous screen; if a text or a notice is shown, only removes that.
    fn navigate(&mut self, way: isize) -> PaintReason {
        self.splash = false;
        let reason = self.run_timer(true);
        if !self.dismiss() {
            let slots = self.slots();
            let here = slots
                .iter()
                .position(|(slot, _)| *slot == self.slot)
                .unwrap_or(0);
            let there = here.checked_add_signed(way).unwrap_or(slots.len() - 1) % slots.len();
            self.go(slots[there].0);
        }
        self.restart_timer();
        reason.max(self.navigated())
    }

    fn turn_to_next_enabled(&mut self) {
        let slots = self.slots();
        let here = slots
            .iter()
            .position(|(slot, _)| *slot == self.slot)
            .unwrap_or(0);
        let mut after = slots[here + 1..].iter().chain(&slots[..=here]);
        self.go(after
            .find(|(_, enabled)| *enabled)
            .map_or((0, None), |(slot, _)| *slot));
    }

    fn jump(&mut self, slot: Slot) -> PaintReason {
        self.splash = false;
        self.dismiss();
        self.go(slot);
        self.navigated()
    }

    /// Navigation repaints the screen of the rotation, even if it is already shown.
    fn navigated(&self) -> PaintReason {
        match self.mode() {
            "rotation" => PaintReason::Screen,
            _ => PaintReason::Data,
        }
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
            None => self.turn = period.map(|period| self.now.uptime + period),
        }
    }

    fn dismiss(&mut self) -> bool {
        let notice = self.layers[NOTICE].take().is_some();
        self.layers[CUSTOM].take().is_some() || notice
    }

    fn custom(&mut self, mut texts: Vec<String>) {
        texts.resize(self.board.panels, String::new());
        self.splash = false;
        self.layers[NOTICE] = None;
        self.show(CUSTOM, "custom", texts, 0);
        self.restart_timer();
    }

    fn show(&mut self, layer: usize, mode: &'static str, texts: Vec<String>, amount: u64) {
        self.layers_shown += 1;
        let (since, number) = (self.now.uptime, self.layers_shown);
        self.layers[layer] = Some(Layer {
            mode,
            texts,
            amount,
            since,
            number,
        });
    }

    fn flash(&mut self, animation: Animation, strip: bool, frontlight: bool) {
        let now = self.now.uptime;
        if strip {
            self.lights.play(animation, &self.settings, now);
        }
        if frontlight {
            self.lights
                .flash_after(self.glass.pictures + 1, animation, now);
        }
    }

    fn settle(&mut self) {
        let quiet = self.is_quiet();
        let feeds = match self.settings.data_source {
            1 => [SourceId::Explorer, SourceId::Exchange],
            _ => [SourceId::Relay; 2],
        };
        self.lights.missing = match feeds.map(|feed| self.up.contains(&feed)) {
            [true, true] => None,
            [false, false] => Some(Animation::NoData),
            [false, true] => Some(Animation::NoBlocks),
            [true, false] => Some(Animation::NoPrices),
        };
        let never_joined = self.has_radio && !self.was_connected;
        self.lights.state = if self.lights.alarm {
            State::Alarm
        } else if self.portal {
            State::Portal
        } else if never_joined && self.network.is_none() {
            State::Joining
        } else {
            State::AtRest
        };
        if self.has_radio && self.was_connected && self.network.is_none() {
            self.lights.missing = Some(Animation::NoData);
        }
        // In safe mode no source is missing.
        self.lights.missing = self.lights.missing.filter(|_| self.layers[SAFE].is_none());
        self.lights.settle(&self.settings, quiet, self.now.uptime);
    }

    /// All existing slots in rotation order, and whether the timer stops at them.
    fn slots(&self) -> Vec<(Slot, bool)> {
        const FIRST: [u16; 10] = [0, 3, 4, 40, 900, 70, 71, 80, 81, 90];
        let s = &self.settings;
        let of =
            |ids: &[u16], currency| ids.iter().map(|id| (*id, currency)).collect::<Vec<Slot>>();
        let in_each = |ids: &[u16]| -> Vec<Slot> {
            s.act_currencies
                .iter()
                .flat_map(|currency| of(ids, Some(*currency)))
                .collect()
        };
        let order = if s.screen_order.is_empty() {
            [of(&FIRST, None), in_each(&[10, 20, 30]), of(&[6], None)].concat()
        } else {
            let each = |id: &u16| match id {
                10 | 20 | 30 => in_each(&[*id]),
                _ => of(&[*id], None),
            };
            s.screen_order.iter().flat_map(each).collect()
        };
        let exists = |slot: &Slot| match slot.0 {
            70 => s.mining_pool_stats,
            // The simulated pool reports no earnings.
            71 => false,
            80 | 81 => s.miner_enabled,
            90 => s.nwc_enabled,
            900 => s.proof_screen,
            _ => true,
        };
        let enabled = |slot: Slot| (slot, !s.screens_hidden.contains(&slot.0));
        order.into_iter().filter(exists).map(enabled).collect()
    }

    /// The slot of a number: the id of a screen, or else an index in the order.
    fn slot_of(&self, number: i64) -> Option<Slot> {
        let slots = self.slots();
        let mut of_id = slots.iter().filter(|(slot, _)| i64::from(slot.0) == number);
        let current = of_id
            .clone()
            .find(|(slot, _)| slot.1 == Some(self.currency));
        let by_index = || slots.get(usize::try_from(number).ok()?);
        current
            .or_else(|| of_id.next())
            .or_else(by_index)
            .map(|(slot, _)| *slot)
    }

    /// Do Not Disturb is active: by hand, or by the time of day.
    pub fn is_quiet(&self) -> bool {
        let s = &self.settings;
        let (start, end) = (
            s.dnd_start_hour * 60 + s.dnd_start_min,
            s.dnd_end_hour * 60 + s.dnd_end_min,
        );
        let in_window = self.local().is_some_and(|(_, _, hour, minute)| {
            let time = u32::from(hour) * 60 + u32::from(minute);
            let (is_started, is_over) = (time >= start, time >= end);
            if start <= end {
                is_started && !is_over
            } else {
                is_started || !is_over
            }
        });
        s.dnd_enabled || (s.dnd_time_enabled && in_window)
    }

    /// Local day, month, hour and minute.
    fn local(&self) -> Option<(u8, u8, u8, u8)> {
        let moment = jiff::Timestamp::from_millisecond(self.now.utc?.unix_ms).unwrap();
        let local = self.zone.to_datetime(moment);
        let number = |part: i8| u8::try_from(part).unwrap();
        Some((
            number(local.day()),
            number(local.month()),
            number(local.hour()),
            number(local.minute()),
        ))
    }

    fn age_ms(&self, fact: &str) -> Option<u64> {
        match self.facts.get(fact)?.1 {
            Received::At(uptime) => u64::try_from((self.now.uptime - uptime).as_millis()).ok(),
            Received::EarlierRun(then) => {
                u64::try_from((self.now.utc?.unix_ms - then?).max(0)).ok()
            }
        }
    }

    /// The facts as a restarted device has them.
    fn stored_facts(&self) -> BTreeMap<String, (u64, Received)> {
        let utc = self.now.utc.map(|utc| utc.unix_ms);
        let moment = |(fact, (value, learned)): (&String, &(u64, Received))| {
            let ago = || i64::try_from(self.age_ms(fact)?).ok();
            let then = match learned {
                Received::At(_) => utc.and_then(|utc| Some(utc - ago()?)),
                Received::EarlierRun(then) => *then,
            };
            (fact.clone(), (*value, Received::EarlierRun(then)))
        };
        self.facts.iter().map(moment).collect()
    }
}

fn first(slots: &[(Slot, bool)]) -> Slot {
    slots
        .iter()
        .find(|(_, enabled)| *enabled)
        .map_or((0, None), |(slot, _)| *slot)
}
