//! What should be seen at every moment, in plain rules: the tables of display mode, rotation timer and buttons.
//!
//! The model takes what the device takes and keeps its own timer, market, pictures and lights.
//! Of the device it believes nothing but which settings a change of settings has left.
//! `glass` says what the panels show and how they are refreshed, `lights` what the strip and the frontlight do.

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

use glass::{Glass, Why};
use lights::{Lights, Show, State};

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
    /// Uptime at which it came, or was last brought up to date.
    since: Duration,
    /// Tells it from the layer before it.
    number: u32,
}

/// Tells whether a price that is shown, if any, is too old for its doubts to last.
fn is_old_price(shown: Option<&(u64, Learned)>, now: Duration) -> bool {
    !matches!(shown, Some((_, Learned::At(told))) if now <= *told + SECOND * 15 * 60)
}

/// When a value was learned: at this uptime, or in an earlier run, at a moment of its wall clock if that was set.
#[derive(Debug, Clone, Copy)]
enum Learned {
    At(Duration),
    Before(Option<i64>),
}

/// What the relay quotes in a currency.
#[derive(Debug, Clone, Copy)]
pub struct Quote {
    price: u64,
    told: Duration,
    /// Since when it is far from the price that is shown, which is held for a minute then.
    jumped: Option<Duration>,
    /// Since when nobody else has confirmed a price that is not old.
    pub weak: Duration,
    /// A price is shown that was held for a minute, and nobody confirmed it.
    pub released: bool,
    /// The newest moment at which it was judged, and what was shown, far off and released before that: of what is said at
    /// one moment the last counts.
    before: (Duration, Option<(u64, Learned)>, Option<Duration>, bool),
}

/// The model's whole state.
#[derive(Debug, Clone)]
pub struct Model {
    board: BoardSpec,
    pub settings: Settings,
    /// That of the settings; looking it up takes long.
    zone: TimeZone,
    pub now: Now,
    layers: [Option<Layer>; 5],
    layers_shown: u32,
    splash: bool,
    /// The access point is up.
    pub portal: bool,
    /// Address, and name of the network.
    network: Option<(String, String)>,
    /// It joins networks itself, so that it knows when there is none.
    has_radio: bool,
    /// It had an address since its start.
    was_connected: bool,
    erasing: bool,
    pub slot: Slot,
    currency: Currency,
    /// Uptime of the next turn, if the timer runs.
    turn: Option<Duration>,
    /// Held by an update: what was left of the period.
    frozen: Option<Option<Duration>>,
    /// Height, fee in micros, and prices in micros by their currency.
    facts: BTreeMap<String, (u64, Learned)>,
    /// Since when another height has been shown than the one that was shown before it; none before this run showed any.
    told: Option<Duration>,
    /// Since when the relay says another height than the one that is shown.
    apart: Option<Duration>,
    /// The height that the relay said last, whatever came of it.
    said: Option<u64>,
    /// The newest moment at which it said one, these two before that, and whether it was believed in this run before that.
    heard: (Duration, Option<u64>, Option<Duration>, bool),
    /// Since when the height that is shown is a mere claim, and not an old one.
    weak: Duration,
    /// What the relay quotes in each currency in this run.
    quotes: BTreeMap<Currency, Quote>,
    /// What the relay has said last of what is wrong.
    complaint: String,
    /// The relay has said anything at all.
    relay_heard: bool,
    /// Sources that are there.
    up: BTreeSet<SourceId>,
    /// Since when each button is down, and whether it was a long press.
    presses: [Option<(Duration, bool)>; 4],
    /// When the release of each is believed.
    clicks: [Option<Duration>; 4],
    /// All of them were held for long enough, told once.
    all_told: bool,
    /// Buttons that are down since power-on mean nothing.
    deaf: bool,
    pub glass: Glass,
    pub lights: Lights,
}

impl Model {
    /// A clock that starts with what it remembers of the run before.
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
            facts: before.map(Model::remembered).unwrap_or_default(),
            told: None,
            apart: None,
            said: None,
            heard: (now.uptime, None, None, false),
            weak: now.uptime,
            quotes: BTreeMap::new(),
            complaint: String::new(),
            relay_heard: false,
            up: BTreeSet::new(),
            presses: [None; 4],
            clicks: [None; 4],
            all_told: false,
            deaf: false,
            glass: Glass::default(),
            lights: Lights::new(board, settings),
        };
        if !settings.nwc_enabled {
            model.facts.remove("balance");
        }
        let is_shown = |fact: &String| *fact != "height" || model.shows_height();
        model.splash = !model.facts.keys().any(is_shown);
        let slots = model.slots();
        let kept = before.map(|before| before.slot);
        let kept = kept.filter(|slot| slots.contains(&(*slot, true)));
        model.currency = settings.act_currencies[0];
        model.go(kept.unwrap_or_else(|| first(&slots)));
        model.settle();
        model.paint(Why::Asked);
        model
    }

    /// Follows an input; `active` are the settings after it.
    pub fn follow(&mut self, input: &Input, reply: Option<&Reply>, active: &Settings, now: Now) {
        self.now = now;
        let due = self.pass();
        let taken = self.take(input, reply, active);
        let late = self.pass();
        self.settle();
        self.paint(due.max(taken).max(late));
        self.lights
            .release(self.glass.pictures, &self.settings, now.uptime);
    }

    /// What it would say at a later moment if nothing happened.
    pub fn later(&self, now: Now) -> Model {
        let mut later = self.clone();
        later.follow(&Input::Tick, None, &self.settings, now);
        later
    }

    /// What is visible, by the interface's word for it.
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

    /// Lets everything happen that is due by now.
    fn pass(&mut self) -> Why {
        let now = self.now.uptime;
        let quiet = self.is_quiet();
        self.lights.pass(&self.settings, quiet, now);
        self.splash &= now < 10 * SECOND;
        self.judge_prices();
        let minutes = self.settings.full_refresh_min;
        let full = self.glass.last_full + SECOND * 60 * (minutes + 1);
        let why = if minutes > 0 && full <= now {
            Why::Asked
        } else {
            Why::Data
        };
        if let Some(notice) = &self.layers[NOTICE]
            && notice.since + SECOND * self.settings.overlay_seconds <= now
            && (notice.mode == "payment" || self.settings.scrn_restore_zap)
        {
            self.layers[NOTICE] = None;
            self.restart_timer();
        }
        let holding = |place: usize| place != CUSTOM && self.layers[place].is_some();
        let held = self.portal || (SAFE..=UPDATE).any(holding);
        if !held && self.turn.is_some_and(|turn| turn <= now) {
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
        why
    }

    fn take(&mut self, input: &Input, reply: Option<&Reply>, active: &Settings) -> Why {
        match input {
            Input::Tick => return self.hear_buttons(),
            Input::Held(contacts) => {
                self.deaf = contacts.down != 0;
                self.lights.alarm = contacts.down & self.first() != 0;
            }
            Input::Pressed(contacts) => self.touch(*contacts),
            Input::Observed(source, learned) => {
                learned
                    .iter()
                    .for_each(|learned| self.learn(*source, learned));
            }
            Input::Asked(request) => {
                let refused = matches!(reply, Some(Reply::Refused(_) | Reply::Rejected(_)));
                if let Some(refuses) = self.refuses(request) {
                    assert_eq!(refused, refuses, "whether {request:?} is refused");
                }
                if !refused {
                    return self.ask(request, active);
                }
            }
            Input::SafeMode(reason) => self.show(SAFE, "safe-mode", vec![reason.clone()], 0),
            Input::Sensed(sensed) => self.lights.sense(sensed.millilux(), &self.settings),
            Input::Uploaded(upload) => return self.upload(upload),
            Input::Finished(Finished::Painted(_)) => {
                self.lights.inked(&self.settings, self.now.uptime);
            }
            Input::Linked(LinkEvent::Up { ip, ssid }) => {
                self.portal = false;
                if self.network.is_none() && self.complaint == "no network" {
                    self.complaint.clear();
                }
                self.network = Some((ip.clone(), ssid.clone().unwrap_or_default()));
                if !std::mem::replace(&mut self.was_connected, true) {
                    self.lights
                        .play(Show::Success, &self.settings, self.now.uptime);
                }
            }
            Input::Linked(LinkEvent::Down(_)) => {
                if self.relay_heard && self.network.is_some() {
                    self.complaint = "no network".into();
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
        Why::Data
    }

    fn learn(&mut self, from: SourceId, observation: &Observation) {
        let show = self.settings.clone();
        match observation {
            Observation::Connection(connection) => {
                self.relay_heard = true;
                match connection {
                    Connection::Connecting => {}
                    _ if self.settings.data_source == 1 => {}
                    Connection::Up => self.complaint.clear(),
                    Connection::Down { reason, .. } => self.complaint.clone_from(reason),
                }
                match connection {
                    Connection::Up => self.up.insert(from),
                    Connection::Connecting | Connection::Down { .. } => self.up.remove(&from),
                };
                return;
            }
            Observation::Block(height) => self.block((*height).into()),
            Observation::Price(currency, price) => self.price(*currency, price.micros),
            Observation::PreciseFee(fee) => self.know("fee", fee.micros),
            Observation::Balance(balance) if show.nwc_enabled => {
                self.know("balance", balance.value.0);
            }
            Observation::Zap(zap) if show.nostr_zap_notify => self.zap(zap.amount.0),
            Observation::Payment(payment) if show.nwc_show_notify => {
                let texts = match payment.direction {
                    Some(Direction::Received) => ["RECV", "(ArrowDownBold)"],
                    Some(Direction::Sent) => ["PAID", "(ArrowUpBold)"],
                    None => ["RECV", "(LightningBolt)"],
                };
                let flash = show.nwc_flash_on_pay;
                self.flash(Show::Zap, flash, flash);
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
        self.flash(Show::Zap, strip, front);
        self.show(
            NOTICE,
            "zap",
            vec!["ZAP".into(), "(LightningBolt)".into()],
            sats,
        );
    }

    /// A height that is lower, or too far ahead for the time that has passed, is not believed.
    fn block(&mut self, height: u64) {
        let now = self.now.uptime;
        // Of what is said at one moment the last counts.
        if self.heard.0 != now {
            self.heard = (now, self.said, self.apart, self.told.is_some());
        }
        self.said = Some(height);
        let (_, said, apart, has_told) = self.heard;
        // What is known from an earlier run has said nothing yet: then the newest word counts, until it is said again.
        let goes_on = has_told || (said == Some(height) && self.told.is_none());
        self.apart = apart.filter(|_| goes_on).or(Some(now));
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
                    self.flash(Show::Block(self.settings.block_flash_color), strip, front);
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
        self.know("height", height);
        self.apart = None;
        if is_new || self.told.is_none() {
            if self.told.is_none_or(|told| now >= told + SECOND * 90 * 60) {
                self.weak = now;
            }
            self.told = Some(now);
        }
    }

    /// The relay quotes a price.
    fn price(&mut self, currency: Currency, price: u64) {
        let now = self.now.uptime;
        let known = self.quotes.get(&currency).copied();
        let shown = self.facts.get(currency.code());
        let is_over = is_old_price(shown, now);
        let quote = Quote {
            price,
            told: now,
            jumped: known.and_then(|known| known.jumped),
            weak: known.filter(|_| !is_over).map_or(now, |known| known.weak),
            released: known.is_some_and(|known| known.released && !is_over),
            before: known.map_or((Duration::MAX, None, None, false), |known| known.before),
        };
        self.quotes.insert(currency, quote);
        self.judge_price(currency, now);
    }

    /// A machine that slept shows what it held back as of the moment at which that was due.
    fn judge_prices(&mut self) {
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
            self.judge_price(currency, at);
        }
    }

    /// Shows what is quoted, unless it is a jump that somebody should confirm.
    fn judge_price(&mut self, currency: Currency, now: Duration) {
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
                Learned::At(told) => now - told <= SECOND * 60,
                Learned::Before(_) => false,
            };
            is_witnessed && is_far && (was_recent || quote.jumped.is_some())
        });
        if is_jump && now < *quote.jumped.get_or_insert(now) + SECOND * 60 {
            let held = shown.map(|shown| (currency.code().into(), shown));
            return self.facts.extend(held);
        }
        quote.jumped = None;
        quote.released |= is_jump;
        let fact = (quote.price, Learned::At(quote.told));
        self.facts.insert(currency.code().into(), fact);
    }

    /// Another venue is asked for prices in a currency, though it never answers in these lives.
    pub fn is_witnessed(&self, currency: Currency) -> bool {
        let has_market = ["USD", "EUR", "GBP"].contains(&currency.code());
        has_market && self.settings.act_currencies.contains(&currency)
    }

    /// The height that is believed, shown or not.
    pub fn height(&self) -> Option<u64> {
        self.facts.get("height").map(|(height, _)| *height)
    }

    fn know(&mut self, fact: &str, value: u64) {
        self.facts
            .insert(fact.into(), (value, Learned::At(self.now.uptime)));
    }

    /// Whether a wish is refused; none of changes of settings, whose values the model does not judge.
    fn refuses(&self, request: &Request) -> Option<bool> {
        match request {
            Request::Patch(_) => None,
            Request::ShowScreen(number)
                if SCREENS.iter().any(|screen| i64::from(screen.id) == *number) =>
            {
                let is_it = |(slot, _): &(Slot, bool)| i64::from(slot.0) == *number;
                Some(!self.slots().iter().any(is_it))
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

    fn ask(&mut self, request: &Request, active: &Settings) -> Why {
        match request {
            Request::Patch(patch) => {
                let mut after = active.clone();
                // These move by other ways too, and the model knows how they stand.
                if !patch.body.contains_key("timerActive") {
                    after.timer_active = self.settings.timer_active;
                }
                if !patch.body.contains_key("dnd") {
                    after.dnd_enabled = self.settings.dnd_enabled;
                }
                return self.adopt(after);
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
            Request::FullRefresh => return Why::Asked,
            Request::SimulateZap(zap) => self.zap(zap.amount.0),
            Request::Identify => self
                .lights
                .play(Show::Identify, &self.settings, self.now.uptime),
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
                return Why::Asked;
            }
            _ => {}
        }
        Why::Data
    }

    fn upload(&mut self, upload: &UpdateEvent) -> Why {
        let now = self.now.uptime;
        match upload {
            UpdateEvent::Started => {
                self.lights.update(Some(0));
                self.show(UPDATE, "update", Vec::new(), 0);
                if self.frozen.is_none() {
                    self.frozen = Some(self.turn.take().map(|turn| turn.saturating_sub(now)));
                }
                return Why::Asked;
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
        Why::Data
    }

    /// A click counts once its release has held for 20 ms.
    fn touch(&mut self, contacts: Contacts) {
        let Contacts { down, at } = contacts;
        self.lights.alarm &= down & self.first() != 0;
        if self.deaf {
            self.deaf = down != 0;
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
        self.all_told &= self.presses.iter().all(Option::is_some);
    }

    fn hear_buttons(&mut self) -> Why {
        let now = self.now.uptime;
        self.lights.alarm &= now < 3 * SECOND;
        let mut why = Why::Data;
        for button in 0..4 {
            let number = self.number(button);
            if self.clicks[button].take_if(|at| *at <= now).is_some() {
                why = why.max(self.click(number));
            }
            if let Some((since, long @ false)) = &mut self.presses[button]
                && *since + Duration::from_millis(800) <= now
            {
                *long = true;
                if number == 1 && !self.portal {
                    let on = !self.settings.dnd_enabled;
                    why = why.max(self.set_dnd(on));
                    let show = if on { Show::QuietOn } else { Show::QuietOff };
                    self.lights.play(show, &self.settings, now);
                }
            }
        }
        let all: Option<Vec<_>> = self.presses.into_iter().collect();
        let newest = all.and_then(|all| all.into_iter().map(|(since, _)| since).max());
        if newest.is_some_and(|newest| newest + 5 * SECOND <= now) && !self.all_told {
            self.all_told = true;
            if !self.erasing {
                self.erasing = true;
                return Why::Asked;
            }
        }
        why
    }

    /// Number of a button as people count.
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

    fn click(&mut self, number: usize) -> Why {
        match number {
            _ if self.portal => Why::Data,
            1 => {
                let runs = self.settings.timer_active;
                let show = if runs { Show::Pause } else { Show::Resume };
                self.lights.play(show, &self.settings, self.now.uptime);
                self.run_timer(!runs)
            }
            2 | 3 if self.layers[DEBUG].is_some() => Why::Data,
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
                // Under an update nothing of it is seen.
                if self.mode() == before {
                    Why::Data
                } else {
                    Why::Asked
                }
            }
        }
    }

    fn set_dnd(&mut self, on: bool) -> Why {
        let after = Settings {
            dnd_enabled: on,
            ..self.settings.clone()
        };
        self.adopt(after)
    }

    fn run_timer(&mut self, runs: bool) -> Why {
        let after = Settings {
            timer_active: runs,
            ..self.settings.clone()
        };
        self.adopt(after)
    }

    fn adopt(&mut self, after: Settings) -> Why {
        let hid_height = !self.shows_height();
        let before = std::mem::replace(&mut self.settings, after);
        if hid_height && self.shows_height() {
            self.weak = self.now.uptime;
        }
        let moved = before.tz_string != self.settings.tz_string;
        if moved {
            self.zone = TimeZone::get(&self.settings.tz_string).unwrap();
        }
        self.judge_prices();
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
            .follow(&before, &self.settings, quiet, self.now.uptime);
        if moved { Why::Asked } else { Why::Data }
    }

    /// Next and previous walk all screens; under a text or a notice they take only that away.
    fn navigate(&mut self, way: isize) -> Why {
        self.splash = false;
        let why = self.run_timer(true);
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
        why.max(self.navigated())
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

    fn jump(&mut self, slot: Slot) -> Why {
        self.splash = false;
        self.dismiss();
        self.go(slot);
        self.navigated()
    }

    /// Navigation paints the screen of the rotation, also the one that is already shown.
    fn navigated(&self) -> Why {
        match self.mode() {
            "rotation" => Why::Screen,
            _ => Why::Data,
        }
    }

    fn go(&mut self, slot: Slot) {
        self.slot = slot;
        self.currency = slot.1.unwrap_or(self.currency);
        self.restart_timer();
    }

    /// The period begins anew.
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

    fn show(&mut self, place: usize, mode: &'static str, texts: Vec<String>, amount: u64) {
        self.layers_shown += 1;
        let (since, number) = (self.now.uptime, self.layers_shown);
        self.layers[place] = Some(Layer {
            mode,
            texts,
            amount,
            since,
            number,
        });
    }

    fn flash(&mut self, show: Show, strip: bool, frontlight: bool) {
        let now = self.now.uptime;
        if strip {
            self.lights.play(show, &self.settings, now);
        }
        if frontlight {
            self.lights.flash_after(self.glass.pictures + 1, show, now);
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
            [false, false] => Some(Show::NoData),
            [false, true] => Some(Show::NoBlocks),
            [true, false] => Some(Show::NoPrices),
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
            self.lights.missing = Some(Show::NoData);
        }
        // Nothing is missed that is not asked for.
        self.lights.missing = self.lights.missing.filter(|_| self.layers[SAFE].is_none());
        self.lights.settle(&self.settings, quiet, self.now.uptime);
    }

    /// All slots in rotation order that are there, and whether the timer stops at them.
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
        let is_there = |slot: &Slot| match slot.0 {
            70 => s.mining_pool_stats,
            // The pool of the simulated clocks tells no earnings.
            71 => false,
            80 | 81 => s.miner_enabled,
            90 => s.nwc_enabled,
            900 => s.proof_screen,
            _ => true,
        };
        let enabled = |slot: Slot| (slot, !s.screens_hidden.contains(&slot.0));
        order.into_iter().filter(is_there).map(enabled).collect()
    }

    /// The slot of a number, which is the id of a screen, else a place in the order.
    fn slot_of(&self, number: i64) -> Option<Slot> {
        let slots = self.slots();
        let mut of_id = slots.iter().filter(|(slot, _)| i64::from(slot.0) == number);
        let kept = of_id
            .clone()
            .find(|(slot, _)| slot.1 == Some(self.currency));
        let place = || slots.get(usize::try_from(number).ok()?);
        kept.or_else(|| of_id.next())
            .or_else(place)
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
            let (begun, over) = (time >= start, time >= end);
            if start <= end {
                begun && !over
            } else {
                begun || !over
            }
        });
        s.dnd_enabled || (s.dnd_time_enabled && in_window)
    }

    /// Day, month, hour and minute where the clock stands.
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
            Learned::At(uptime) => u64::try_from((self.now.uptime - uptime).as_millis()).ok(),
            Learned::Before(then) => u64::try_from((self.now.utc?.unix_ms - then?).max(0)).ok(),
        }
    }

    /// The facts as a clock that starts now remembers them.
    fn remembered(&self) -> BTreeMap<String, (u64, Learned)> {
        let utc = self.now.utc.map(|utc| utc.unix_ms);
        let moment = |(fact, (value, learned)): (&String, &(u64, Learned))| {
            let ago = || i64::try_from(self.age_ms(fact)?).ok();
            let then = match learned {
                Learned::At(_) => utc.and_then(|utc| Some(utc - ago()?)),
                Learned::Before(then) => *then,
            };
            (fact.clone(), (*value, Learned::Before(then)))
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
