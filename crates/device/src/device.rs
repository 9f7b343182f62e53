//! The state machine: one value, changed by one input at a time.
//!
//! `handle` takes what happened, `next_deadline` says when to come back without being asked,
//! `desired` and `view` compute what the world should look like and what clients may read.
//! Requests are answered in `requests`, pictures are composed in `compose`.

use alloc::{collections::BTreeMap, string::String, sync::Arc, vec::Vec};
use core::time::Duration;

use crate::{
    board::BoardSpec,
    buttons::{BUTTONS, Buttons, Gesture},
    height::{self, HeightGate, HeightNews},
    host::HostFacts,
    input::{ButtonAction, Contacts, Finished, Input, Upload},
    lights::{Lights, faults::Fault},
    limits::{DEBUG_PERIOD, NOTES_MAX, SPLASH_MAX, UPDATE_PERIOD},
    link::Link,
    market::{Connection, Datum, Market, Observation, Payment, Zap},
    memory::Memory,
    now::{Now, Zone},
    offer::Offer,
    output::{Changes, Desired, Effect, Output, RebootReason},
    overlays::{Layer, Overlay, Overlays},
    panels::Panels,
    power::{Erasing, Power},
    refresh::Cause,
    rotation::{BLOCK_HEIGHT, Rotation, Slot, Timer},
    secret::MadePassword,
    settings::Settings,
    sources::{self, ByHand, SourceConfig, SourceId, SourcePlan},
    units::{Currency, Price},
    view::SourceState,
};

/// The clock.
#[derive(Debug, Clone)]
pub struct Device {
    pub(crate) board: BoardSpec,
    /// What GET and PATCH see.
    pub(crate) stored: Arc<Settings>,
    /// What the device runs on: live settings at once, the others as they were at the start.
    pub(crate) active: Arc<Settings>,
    pub(crate) zone: Zone,

    pub(crate) market: Market,
    pub(crate) height_gate: HeightGate,
    pub(crate) offer: Offer,
    pub(crate) sources: BTreeMap<SourceId, SourceState>,
    /// The time server; none before it was asked.
    pub(crate) time_server: Option<SourceState>,
    pub(crate) by_hand: ByHand,

    pub(crate) rotation: Rotation,
    pub(crate) overlays: Overlays,
    pub(crate) panels: Panels,
    /// Prices on the glass; they follow the market no faster than `minSecPriceUpd`.
    pub(crate) shown_prices: BTreeMap<Currency, Datum<Price>>,
    pub(crate) price_painted: Option<Duration>,
    pub(crate) debug_painted: Duration,
    pub(crate) update_percent: u8,
    pub(crate) update_painted: Duration,
    pub(crate) splash: bool,
    /// A factory reset is under way, and the glass shows nothing else.
    pub(crate) erasing: Option<Erasing>,

    pub(crate) buttons: Buttons,
    pub(crate) lights: Lights,
    /// Moment at which the newest input was handled.
    pub(crate) now: Now,
    pub(crate) link: Link,
    pub(crate) power: Power,
    pub(crate) host: HostFacts,
    /// What went wrong, for the status.
    pub(crate) notes: Vec<String>,
    /// Why the newest save failed; none if it did not.
    pub(crate) unstored: Option<String>,
    /// The password that was made for this run, until somebody has signed in.
    pub(crate) made_password: Option<MadePassword>,
}

impl Device {
    /// A clock that has just started.
    pub fn new(board: BoardSpec, settings: Settings, memory: Memory, now: Now) -> Device {
        let stored = Arc::new(settings);
        let chosen = stored.currencies();
        // Only relays say what they offer; what one has said counts while there is one.
        let plan = sources::plan(&stored, &chosen, ByHand::default());
        let offer = match plan.contains_key(&SourceId::Relay) {
            true => Offer::of(memory.currencies),
            false => Offer::default(),
        };
        let settings = Arc::new(Settings {
            act_currencies: offer.among(&chosen),
            ..(*stored).clone()
        });
        let mut market = memory.market;
        market.height = market
            .height
            .filter(|known| height::is_possible(known.value, now.utc));
        let splash = market == Market::default();
        let mut device = Device {
            rotation: Rotation::start(memory.slot, &settings, now.uptime),
            panels: Panels::new(board.panels, &settings),
            zone: settings.zone(),
            shown_prices: market.prices.clone(),
            offer,
            market,
            height_gate: HeightGate::default(),
            sources: BTreeMap::new(),
            time_server: None,
            by_hand: ByHand::default(),
            overlays: Overlays::default(),
            price_painted: None,
            debug_painted: now.uptime,
            update_percent: 0,
            update_painted: now.uptime,
            splash,
            erasing: None,
            buttons: Buttons::default(),
            lights: Lights::new(&board, &settings, now.uptime),
            now,
            link: Link::default(),
            power: Power::default(),
            host: HostFacts::default(),
            notes: Vec::new(),
            unstored: None,
            made_password: None,
            stored,
            active: settings,
            board,
        };
        device.forget_prices();
        device
            .lights
            .settle_quiet(&device.active, &device.zone, now);
        device.settle_strip(now);
        device.look_for_faults(now);
        device.present(Cause::Forced, now);
        device
    }

    /// Handles one input; whatever was due before it is done first.
    pub fn handle(&mut self, input: Input, now: Now) -> Output {
        let mut output = Output::default();
        self.now = now;
        let remembered = (
            self.rotation.slot(),
            self.market.height.as_ref().map(|height| height.value),
        );
        let due = self.pass_deadlines(now, &mut output);
        let caused = match input {
            Input::Tick => self.pass_buttons(now, &mut output),
            Input::Observed(source, observations) => {
                self.observe(source, observations, now, &mut output)
            }
            Input::Asked(request) => {
                let (reply, cause) = self.answer(request, now, &mut output);
                output.reply = Some(reply);
                cause
            }
            Input::Held(contacts) => {
                self.power_on(contacts);
                Cause::Data
            }
            Input::Pressed(contacts) => self.press(contacts, now, &mut output),
            Input::Sensed(sensed) => {
                self.lights.sense(sensed.millilux(), &self.active);
                Cause::Data
            }
            Input::Linked(event) => self.hear(event, now, &mut output),
            Input::Timed(connection) => {
                let answered = connection == Connection::Up;
                let server = self.time_server.get_or_insert_default();
                server.follow(connection, now.uptime);
                if answered {
                    server.last_success = Some(now.uptime);
                }
                Cause::Data
            }
            Input::Uploaded(upload) => self.upload(upload, now, &mut output),
            Input::Finished(Finished::Painted(serial)) => {
                self.lights.painted(serial, &self.active, now.uptime);
                self.settle_strip(now);
                self.on_erase_painted(serial, now);
                Cause::Data
            }
            Input::Finished(Finished::Wiped(outcome)) => self.wiped(outcome, now),
            Input::Finished(Finished::Forgotten(outcome)) => {
                self.forgotten(outcome, now, &mut output)
            }
            Input::Measured(facts) => {
                self.host = facts;
                Cause::Data
            }
            Input::SafeMode(reason) => {
                self.power.safe_mode = Some(reason);
                Cause::Data
            }
            Input::Locked(made) => {
                self.lock(made);
                Cause::Data
            }
            Input::SignedIn => {
                self.made_password = None;
                Cause::Data
            }
            Input::Noticed(note) => {
                self.note(note);
                Cause::Data
            }
        };
        // What the input has made due is done with it, so that no deadline is ever behind.
        let late = self.pass_deadlines(now, &mut output);
        self.settle_strip(now);
        self.look_for_faults(now);
        self.present(due.max(caused).max(late), now);
        let newest = self.panels.picture().serial;
        self.lights
            .nothing_to_paint(newest, &self.active, now.uptime);
        let remembers = (
            self.rotation.slot(),
            self.market.height.as_ref().map(|height| height.value),
        );
        output.changes.memory |= remembers != remembered;
        output
    }

    /// Takes a change of settings back that could not be stored.
    pub fn restore(&mut self, settings: Arc<Settings>, now: Now) {
        self.adopt(settings, now);
        self.present(Cause::Data, now);
    }

    /// Takes note of how the newest save has ended; what went wrong is in words for people.
    pub fn stored(&mut self, outcome: Result<(), String>) {
        self.unstored = outcome.err();
    }

    /// Uptime at which the device wants to be handed a tick; none if only inputs can change it.
    pub fn next_deadline(&self, now: Now) -> Option<Duration> {
        let overlays = [
            self.overlays.notice_deadline(&self.active),
            self.shows_debug()
                .then(|| self.debug_painted + DEBUG_PERIOD),
            self.update_pending()
                .then(|| self.update_painted + UPDATE_PERIOD),
            self.splash.then_some(SPLASH_MAX),
            self.panels.refresh_deadline(&self.active),
        ];
        let hardware = [
            self.power_deadline(),
            self.buttons.next_deadline(),
            self.lights.next_deadline(&self.active, now.uptime),
            self.lights
                .fault_deadline()
                .filter(|_| self.watches_faults()),
            self.lights.quiet_deadline(&self.active, &self.zone, now),
        ];
        overlays
            .into_iter()
            .chain(hardware)
            .chain([
                self.turn_deadline(),
                self.minute_deadline(now),
                self.price_deadline(now),
                self.stale_deadline(now),
            ])
            .flatten()
            .min()
    }

    /// What the world should look like.
    pub fn desired(&self) -> Desired {
        Desired {
            picture: self.panels.picture().clone(),
            strip: self.lights.pixels(&self.active),
            frontlight: self.lights.duties(self.now.uptime),
            sources: self.planned_sources(),
            advert: self.link.advert(&self.active),
            wifi: self.link.plan(&self.active),
        }
    }

    pub(crate) fn planned_sources(&self) -> BTreeMap<SourceId, SourcePlan> {
        if self.runs_sources() {
            self.plan_of(self.by_hand)
        } else {
            BTreeMap::new()
        }
    }

    /// The sources that the settings ask for. What the owner has chosen is asked for, offered or not.
    pub(crate) fn plan_of(&self, by_hand: ByHand) -> BTreeMap<SourceId, SourcePlan> {
        sources::plan(&self.active, &self.stored.currencies(), by_hand)
    }

    /// Looks whether something is missing, and shows it now and then.
    fn look_for_faults(&mut self, now: Now) {
        if self.watches_faults() {
            let fault = self.fault();
            self.lights.tell_fault(fault, &self.active, now.uptime);
        }
    }

    /// Whether what is missing is worth telling: in safe mode nothing is missed.
    fn watches_faults(&self) -> bool {
        self.power.safe_mode.is_none() && self.lights.may_tell_faults()
    }

    /// The worst of what is missing.
    fn fault(&self) -> Fault {
        if self.link.is_lost() {
            return Fault::Network;
        }
        let plan = self.plan_of(self.by_hand);
        let down = |id: &SourceId| !self.sources.get(id).is_some_and(|state| state.up);
        let down: Vec<&SourceConfig> = plan
            .iter()
            .filter(|(id, _)| down(id))
            .map(|(_, plan)| &plan.config)
            .collect();
        let blocks = down.iter().any(|config| config.feeds_blocks());
        let prices = down.iter().any(|config| config.feeds_prices());
        match (blocks, prices) {
            (true, true) => Fault::Feeds,
            (true, false) => Fault::Blocks,
            (false, true) => Fault::Prices,
            (false, false) => Fault::None,
        }
    }

    /// Serial number of the picture that comes next.
    pub(crate) fn next_picture(&self) -> u64 {
        self.panels.picture().serial + 1
    }

    /// The rotation timer.
    pub fn timer(&self) -> Timer {
        self.rotation.timer()
    }

    /// The settings as stored.
    pub fn settings(&self) -> &Arc<Settings> {
        &self.stored
    }

    /// What the device would remember over a restart.
    pub fn memory(&self) -> Memory {
        Memory {
            slot: Some(self.rotation.slot()),
            market: self.market.clone(),
            currencies: self.offer.currencies().to_vec(),
        }
    }

    /// Makes other settings the stored ones, and follows the live ones among them.
    pub(crate) fn adopt(&mut self, stored: Arc<Settings>, now: Now) -> Cause {
        let before = self.active.clone();
        let mut active = (*before).clone();
        active.take_live(&stored);
        active.act_currencies = self.offer.among(&stored.currencies());
        self.stored = stored;
        self.active = Arc::new(active);
        self.rotation.follow(&before, &self.active, now.uptime);
        self.forget_prices();
        self.lights.follow(&before, &self.active, now.uptime);
        if !self.stored.http_auth_pass.is_empty() {
            self.made_password = None;
        }
        let moves = before.tz_string != self.active.tz_string;
        if moves {
            self.zone = self.active.zone();
        }
        self.lights.settle_quiet(&self.active, &self.zone, now);
        if moves { Cause::Forced } else { Cause::Data }
    }

    /// Shuts the control interface with a password that stands on the glass.
    fn lock(&mut self, made: MadePassword) {
        let mut active = (*self.active).clone();
        active.http_auth_enabled = true;
        active.http_auth_pass.clone_from(&made.hash);
        self.active = Arc::new(active);
        self.made_password = Some(made);
    }

    /// Notes something for the status, once.
    pub(crate) fn note(&mut self, note: String) {
        if self.notes.len() < NOTES_MAX && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// A factory reset is under way: nothing is to be stored any more.
    pub fn is_erasing(&self) -> bool {
        self.erasing.is_some()
    }

    fn observe(
        &mut self,
        source: SourceId,
        observations: Vec<Observation>,
        now: Now,
        output: &mut Output,
    ) -> Cause {
        let mut cause = Cause::Data;
        for observation in observations {
            let is_news = !matches!(
                observation,
                Observation::Connection(_) | Observation::Complaint(_) | Observation::Dropped(..)
            );
            cause = cause.max(self.observe_one(source, observation, now, output));
            if is_news {
                self.splash = false;
                self.sources.entry(source).or_default().last_success = Some(now.uptime);
            }
        }
        cause
    }

    fn observe_one(
        &mut self,
        source: SourceId,
        observation: Observation,
        now: Now,
        output: &mut Output,
    ) -> Cause {
        if let Observation::Price(currency, _) = observation
            && !self.wants_prices_in(currency)
        {
            self.sources.entry(source).or_default().drop("currency", 1);
            return Cause::Data;
        }
        let differs = self.market.learn(source, &observation, now.uptime);
        output.changes.memory |= differs;
        match observation {
            Observation::Block(height) => {
                self.observe_height(source, height, now);
                Cause::Data
            }
            Observation::Zap(zap) if self.active.nostr_zap_notify => {
                self.show_zap(zap, now);
                Cause::Data
            }
            Observation::Payment(payment) if self.active.nwc_show_notify => {
                self.show_payment(payment, now);
                Cause::Data
            }
            Observation::Currencies(list) => self.offer_currencies(list, now, output),
            Observation::Connection(connection) => {
                self.sources
                    .entry(source)
                    .or_default()
                    .follow(connection, now.uptime);
                Cause::Data
            }
            Observation::Complaint(reason) => {
                self.sources.entry(source).or_default().last_error = Some(reason);
                Cause::Data
            }
            Observation::Dropped(reason, count) => {
                self.sources.entry(source).or_default().drop(reason, count);
                Cause::Data
            }
            // A logo replaces a name by a picture, which leaves ghosts.
            Observation::PoolLogo(_) if differs && self.shows_pool() => Cause::Forced,
            Observation::Zap(_)
            | Observation::Payment(_)
            | Observation::PoolLogo(_)
            | Observation::Price(..)
            | Observation::Fee(_)
            | Observation::PreciseFee(_)
            | Observation::Pool(_)
            | Observation::Miner(_)
            | Observation::Balance(_) => Cause::Data,
        }
    }

    fn observe_height(&mut self, source: SourceId, height: u32, now: Now) {
        let known = self.market.height.as_ref();
        let news = self.height_gate.judge(known, source, height, now);
        let mut refuse = |reason| self.sources.entry(source).or_default().drop(reason, 1);
        match news {
            HeightNews::Lower => return refuse("lower-height"),
            HeightNews::Ahead => return refuse("height-ahead"),
            HeightNews::Block => {
                self.lights
                    .flash_for_block(self.next_picture(), &self.active, now.uptime);
                self.steal_focus(now);
            }
            HeightNews::First | HeightNews::Same | HeightNews::CatchUp | HeightNews::Corrected => {}
        }
        self.market.learn_height(source, height, now.uptime);
    }

    fn steal_focus(&mut self, now: Now) {
        if self.active.steal_focus && !self.overlays.any() {
            self.rotation
                .jump(Slot::plain(BLOCK_HEIGHT), &self.active, now.uptime);
        }
    }

    /// Shows a zap and flashes for it; a test and the real thing take the same way.
    pub(crate) fn show_zap(&mut self, zap: Zap, now: Now) {
        self.lights
            .flash_for_zap(self.next_picture(), &self.active, now.uptime);
        self.overlays.show(Overlay::Zap(zap), now.uptime);
    }

    fn show_payment(&mut self, payment: Payment, now: Now) {
        self.lights
            .flash_for_payment(self.next_picture(), &self.active, now.uptime);
        self.overlays.show(Overlay::Payment(payment), now.uptime);
    }

    fn offer_currencies(&mut self, list: Vec<Currency>, now: Now, output: &mut Output) -> Cause {
        let offer = Offer::of(list);
        if offer == self.offer {
            return Cause::Data;
        }
        self.offer = offer;
        output.changes.memory = true;
        self.adopt(self.stored.clone(), now)
    }

    /// Tells whether prices in a currency are of any use.
    fn wants_prices_in(&self, currency: Currency) -> bool {
        self.offer.currencies().contains(&currency) || self.stored.currencies().contains(&currency)
    }

    /// Forgets prices that are of no use any more.
    fn forget_prices(&mut self) {
        let mut prices = core::mem::take(&mut self.market.prices);
        prices.retain(|currency, _| self.wants_prices_in(*currency));
        self.market.prices = prices;
    }

    fn upload(&mut self, upload: Upload, now: Now, output: &mut Output) -> Cause {
        match upload {
            Upload::Started => {
                self.update_percent = 0;
                self.update_painted = now.uptime;
                self.overlays.show(Overlay::Update(0), now.uptime);
                self.rotation.freeze(now.uptime);
                self.lights.show_update_bar(0, now.uptime);
                Cause::Forced
            }
            // Words of an update that has ended may still be on their way.
            Upload::Progress(_) if !self.overlays.has(Layer::Update) => Cause::Data,
            Upload::Progress(percent) => {
                self.update_percent = percent.min(100);
                self.lights.show_update_bar(self.update_percent, now.uptime);
                Cause::Data
            }
            Upload::Failed(_) => {
                self.overlays.hide(Layer::Update);
                self.rotation.thaw(&self.active, now.uptime);
                Cause::Data
            }
            Upload::Verified => {
                self.update_percent = 100;
                self.overlays.progress(100);
                self.lights.show_update_bar(100, now.uptime);
                output.effects.push(Effect::Reboot(RebootReason::Updated));
                Cause::Data
            }
        }
    }

    /// Does what was due by now.
    fn pass_deadlines(&mut self, now: Now, output: &mut Output) -> Cause {
        let due = |deadline: Option<Duration>| deadline.is_some_and(|at| at <= now.uptime);
        let mut cause = Cause::Data;
        self.lights.settle_quiet(&self.active, &self.zone, now);
        self.pass_power(now, output);
        self.lights.advance(&self.active, now.uptime);
        self.splash &= !due(Some(SPLASH_MAX));
        if due(self.panels.refresh_deadline(&self.active)) {
            cause = Cause::Forced;
        }
        if due(self.overlays.notice_deadline(&self.active)) {
            self.overlays.hide(Layer::Notice);
            self.rotation.restart(&self.active, now.uptime);
        }
        if due(self.turn_deadline()) {
            if self.overlays.dismiss() {
                self.rotation.restart(&self.active, now.uptime);
            } else {
                self.rotation.turn(&self.active, now.uptime);
            }
        }
        if self.shows_debug() && due(Some(self.debug_painted + DEBUG_PERIOD)) {
            self.debug_painted = now.uptime;
            // The debug view is one picture: all of it is painted anew.
            cause = cause.max(self.repaint_debug());
        }
        if self.update_pending() && due(Some(self.update_painted + UPDATE_PERIOD)) {
            self.update_painted = now.uptime;
            self.overlays.progress(self.update_percent);
        }
        cause
    }

    /// Judges the buttons by the moment of an edge, which may be long ago.
    fn press(&mut self, contacts: Contacts, now: Now, output: &mut Output) -> Cause {
        let at = contacts.at.min(now.uptime);
        let mut cause = Cause::Data;
        self.pass_hold(at, output);
        if self.listens_to(contacts.down) {
            for gesture in self.buttons.edge(contacts.down, at) {
                cause = cause.max(self.on_gesture(gesture, now, output));
            }
        }
        cause
    }

    /// Judges the buttons by now: whoever hands in a tick has handed in the edges before it.
    ///
    /// No other input does so: a release may wait behind it.
    fn pass_buttons(&mut self, now: Now, output: &mut Output) -> Cause {
        let mut cause = Cause::Data;
        self.pass_hold(now.uptime, output);
        for gesture in self.buttons.advance(now.uptime) {
            cause = cause.max(self.on_gesture(gesture, now, output));
        }
        cause
    }

    fn on_gesture(&mut self, gesture: Gesture, now: Now, output: &mut Output) -> Cause {
        let logical = |index: usize| {
            if self.active.inverse_buttons {
                BUTTONS - 1 - index
            } else {
                index
            }
        };
        let action = match gesture {
            Gesture::Click(index) => match logical(index) {
                0 => Some(ButtonAction::TogglePause),
                1 => Some(ButtonAction::Next),
                2 => Some(ButtonAction::Previous),
                3 => Some(ButtonAction::ToggleDebug),
                _ => None,
            },
            Gesture::Long(index) => (logical(index) == 0).then_some(ButtonAction::ToggleDnd),
            Gesture::All => Some(ButtonAction::FactoryReset),
        };
        // Behind the portal there is nothing to turn.
        let action =
            action.filter(|action| *action == ButtonAction::FactoryReset || !self.link.is_portal());
        action.map_or(Cause::Data, |action| self.act(action, now, output))
    }

    /// Uptime of the next turn of the rotation; none while something holds it.
    fn turn_deadline(&self) -> Option<Duration> {
        let held = [Layer::Notice, Layer::Debug, Layer::Update]
            .iter()
            .any(|layer| self.overlays.has(*layer))
            || self.link.is_portal()
            || self.power.safe_mode.is_some();
        self.rotation.next_deadline().filter(|_| !held)
    }

    fn update_pending(&self) -> bool {
        let overlay = self.overlay_on_glass();
        matches!(overlay, Some((Overlay::Update(shown), _)) if *shown != self.update_percent)
    }

    fn shows_debug(&self) -> bool {
        self.top() == Layer::Debug
    }

    /// Tells that settings and memory are to be stored.
    pub(crate) fn store_settings(
        &mut self,
        settings: Settings,
        now: Now,
        output: &mut Output,
    ) -> Cause {
        if settings == *self.stored {
            return Cause::Data;
        }
        output.changes = Changes {
            settings: true,
            ..output.changes
        };
        self.adopt(Arc::new(settings), now)
    }
}
