//! The state machine: one value, changed by one input at a time.
//!
//! It owns the parts `glass` (what is on the panels), `lights`, `network`, `sources` and `settings`. They do not know
//! each other; this file passes on between them what one learns and another needs.
//! `handle` applies an input, `next_deadline` returns when the next tick is needed, `desired` and `view` return what
//! the hardware should do and what clients can read.
//! `requests` handles the requests of clients and the buttons.

mod requests;

use alloc::{boxed::Box, format, string::String, sync::Arc, vec::Vec};
use core::time::Duration;

use chain::{Header, chain::Chain};
use market::{
    ChainSpec, Connection, Direction, FigureIdentity, HeadersReach, Observation, ProofOrigin,
    SourceState, mark::Mark, now::Now, source_id::SourceId,
};

use crate::{
    board::BoardSpec,
    buttons::ButtonDecoder,
    cells,
    glass::{
        ComposeContext, Directions, Glass, Layer, LayerContent, Presented, RefreshCause,
        rotation::{RotationSlot, Timer},
    },
    happenings::{Happening, Happenings},
    host::HostFacts,
    input::{Brokered, Contacts, Finished, Input, LinkEvent, UpdateEvent},
    lights::{Lights, Rgb, faults::FaultSignal, shows::Show, strip::Mode},
    memory::Memory,
    mqtt::{self, MqttPlan},
    network::{LinkNews, NetworkControl},
    notes::Notes,
    output::{Desired, Effect, Output, RebootReason},
    releases::{self, ReleasePlan, Releases},
    request::Reply,
    restarts::Restarts,
    screens::no_data::Silence,
    secret::MadePassword,
    settings::{RunningSettings, Settings},
    sources::{self, Plan, Upstream},
    spoken::{self, Sentence},
    view::View,
};

/// The clock.
#[derive(Debug, Clone)]
pub struct Device {
    board: BoardSpec,
    settled: RunningSettings,
    upstream: Upstream,
    glass: Glass,
    lights: Lights,
    network: NetworkControl,
    buttons: ButtonDecoder,
    restarts: Restarts,
    host: HostFacts,
    notes: Notes,
    /// The connection to the owner's broker.
    broker: SourceState,
    /// Number of reconnects requested by clients.
    broker_restarts: u32,
    happenings: Happenings,
    releases: Releases,
    /// Identities of the figures known after the newest input; at the start, of the stored figures.
    known_figures: [Option<FigureIdentity>; 3],
    /// Moment at which the newest input was handled.
    now: Now,
}

impl Device {
    /// A clock that has just started.
    pub fn new(board: BoardSpec, settings: Settings, memory: Memory, now: Now) -> Device {
        let chain = Some(ChainSpec::built_in(chain::network::Network::Main));
        Self::on_chain(chain, board, settings, memory, now)
    }

    /// A clock that has just started, on a given chain. `None` accepts blocks without proof, for tests and demos.
    pub fn on_chain(
        chain: Option<ChainSpec>,
        board: BoardSpec,
        settings: Settings,
        memory: Memory,
        now: Now,
    ) -> Device {
        let known_figures = memory.market.identities();
        let mut upstream = Upstream::new(chain, &settings, memory.market, memory.currencies, now);
        upstream.resume_peers(memory.peers);
        let currencies = upstream.currencies_among(&settings.currencies());
        let settled = RunningSettings::new(settings, currencies);
        let mut device = Device {
            glass: Glass::new(board, memory.slot, settled.active(), now),
            lights: Lights::new(&board, settled.active(), now.uptime),
            network: NetworkControl::default(),
            buttons: ButtonDecoder::default(),
            restarts: Restarts::default(),
            host: HostFacts::default(),
            notes: Notes::default(),
            broker: SourceState::default(),
            broker_restarts: 0,
            happenings: Happenings::default(),
            releases: Releases::default(),
            known_figures,
            board,
            settled,
            upstream,
            now,
        };
        if device.upstream.knows_nothing() {
            device.glass.keep(LayerContent::Splash, now.uptime);
        }
        device.upstream.follow(&device.settled, now);
        device.lights.follow_quiet_hours(&device.settled, now);
        device.update_lights(now);
        device.present(RefreshCause::Forced, now);
        device
    }

    /// Adds the chain stored by an earlier run.
    #[must_use]
    pub fn with_headers(mut self, kept: Option<Chain>) -> Device {
        if let Some(kept) = kept {
            self.upstream.resume_chain(kept);
        }
        self
    }

    /// Handles one input, after everything that was due before it.
    pub fn handle(&mut self, input: Input, now: Now) -> Output {
        let mut output = Output::default();
        self.now = now;
        let remembered = self.remembered();
        let before = self.problems();
        let due = self.advance(now, &mut output);
        let caused = self.apply(input, now, &mut output);
        // Deadlines that the input moved into the past are handled at once.
        let late = self.advance(now, &mut output);
        self.update_lights(now);
        self.present(due.max(caused).max(late), now);
        self.report_new_problems(&before);
        output.unsaved.memory |= self.figures_differ();
        output.unsaved.memory |= self.remembered() != remembered;
        output
    }

    /// Conditions that become an event when they start.
    fn problems(&self) -> Problems {
        Problems {
            full_refreshes: self.glass.picture().full_refreshes,
            notes: self.notes.count(),
            is_safe: self.glass.has(Layer::SafeMode),
        }
    }

    /// Records an event for each condition that has started since `before`.
    fn report_new_problems(&mut self, before: &Problems) {
        let now = self.problems();
        if now.full_refreshes != before.full_refreshes {
            self.happenings.add(Happening::Refresh);
        }
        let safe = self.glass.safe_mode().filter(|_| !before.is_safe);
        let safe = safe.map(|reason| format!("safe mode: {reason}"));
        let notes = self.notes.since(before.notes).iter().cloned();
        for text in notes.chain(safe) {
            self.happenings.add(Happening::Warning { text });
        }
    }

    /// Values that are saved soon after they change.
    fn remembered(&self) -> (RotationSlot, Option<u32>, Arc<Vec<String>>) {
        let peers = Arc::clone(self.upstream.peers());
        (self.glass.slot(), self.upstream.height(), peers)
    }

    /// Returns whether a figure appeared or was dropped since the last call. Then memory is saved at once, because the
    /// figure of another wallet, pool or miner must not stay on disk.
    fn figures_differ(&mut self) -> bool {
        let figures = self.upstream.market().identities();
        core::mem::replace(&mut self.known_figures, figures) != figures
    }

    /// Reverts a settings change that could not be saved.
    pub fn restore(&mut self, settings: Arc<Settings>, now: Now) {
        self.adopt(settings, now);
        self.present(RefreshCause::Data, now);
    }

    /// Records the outcome of the newest save; the error is a text for people.
    pub fn stored(&mut self, outcome: Result<(), String>) {
        if let Some(text) = self.notes.stored(outcome) {
            self.happenings.add(Happening::Warning { text });
        }
    }

    /// Uptime at which the device needs a tick. `None` if only inputs can change it.
    pub fn next_deadline(&self, now: Now) -> Option<Duration> {
        let known = known(
            &self.upstream,
            &self.settled,
            &self.host,
            &self.network,
            now,
        );
        [
            self.glass.next_deadline(&known, now),
            self.lights.next_deadline(&self.settled, now),
            self.network.next_deadline(self.settled.active()),
            self.restarts.next_deadline(),
            self.buttons.next_deadline(),
            self.upstream.next_deadline(now),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Uptime at which the lights show the next frame of what they play.
    pub fn next_frame(&self, now: Now) -> Option<Duration> {
        self.lights.next_frame(now.uptime)
    }

    /// Advances the lights alone: a frame costs a fraction of a tick. What else is due waits for a tick.
    pub fn show_frame(&mut self, now: Now) {
        self.now = now;
        self.lights.advance(&self.settled, now);
    }

    /// Colours of the LED strip, as in [`Desired::strip`].
    pub fn strip(&self) -> Vec<Rgb> {
        self.lights.pixels(self.settled.active())
    }

    /// Duties of the frontlight, as in [`Desired::frontlight`].
    pub fn frontlight(&self) -> Vec<u16> {
        self.lights.duties(self.now.uptime)
    }

    /// What the world should look like.
    pub fn desired(&self) -> Desired {
        let settings = self.settled.active();
        Desired {
            picture: self.glass.picture().clone(),
            strip: self.strip(),
            frontlight: self.frontlight(),
            sources: self.plan(),
            advert: self.network.link().advert(settings),
            wifi: self.network.link().plan(settings),
            mqtt: self.broker_plan(),
            releases: self.release_plan(),
        }
    }

    /// One snapshot of the device.
    pub fn view(&self) -> View {
        let (active, link, slot) = (
            self.settled.active(),
            self.network.link(),
            self.glass.slot(),
        );
        View {
            board: self.board,
            settings: self.settled.stored().clone(),
            active: active.clone(),
            restart_for: self.settled.waiting(),
            hostname: link.hostname(active),
            current_screen: slot.screen,
            currency: slot.currency,
            data: cells::mirror(&self.glass.picture().cells),
            sentence: self.sentence(),
            stale: self.glass.marks().has(Mark::Stale),
            disputed: self.glass.marks().has(Mark::Disputed),
            mode: self.glass.mode(),
            timer_running: active.timer_active,
            updating: self.glass.has(Layer::Update),
            updated_percent: self.glass.updated_percent(),
            releases: self.known_releases(),
            inverted: active.inverted_color,
            available_currencies: self.upstream.currencies().to_vec(),
            former_currencies: self.upstream.former_currencies(),
            market: self.upstream.market().clone(),
            truth: self.upstream.truth(self.now),
            sources: self.upstream.states(&self.plan()),
            time_server: self.upstream.time_server().cloned(),
            mqtt: self.broker_state(),
            happenings: self.happenings.clone(),
            dnd_active: self.lights.is_quiet(),
            lights: self.lights.resting().to_vec(),
            strip_mute: self.lights.mute(active),
            strip_drops: self.lights.dropped(),
            frontlight: self.lights.frontlight(self.now.uptime),
            millilux: self.lights.millilux(),
            link: link.state(),
            notes: self.notes.all(),
            safe_mode: self.glass.safe_mode().map(String::from),
            shows_password: self.glass.has(Layer::SignIn),
        }
    }

    /// What the newest picture shows, with its marks, as a sentence.
    fn sentence(&self) -> Sentence {
        let sentence = self.glass.sentence().clone();
        let marks = self.glass.marks().worst_first();
        marks.fold(sentence, |sentence, mark| {
            spoken::MARKED
                .with("sentence", sentence)
                .with("mark", spoken::of_mark(mark))
        })
    }

    /// The rotation timer.
    pub fn timer(&self) -> Timer {
        self.glass.timer()
    }

    /// The settings as stored.
    pub fn settings(&self) -> &Arc<Settings> {
        self.settled.stored()
    }

    /// What is restored after a restart.
    pub fn memory(&self) -> Memory {
        Memory {
            slot: Some(self.glass.slot()),
            market: self.upstream.remembered(),
            currencies: self.upstream.currencies().to_vec(),
            peers: self.upstream.peers().to_vec(),
        }
    }

    /// The chain to store beside the memory. `None` if blocks need no proof.
    pub fn chain(&self) -> Option<&Chain> {
        self.upstream.chain()
    }

    /// A factory reset is under way: nothing may be stored.
    pub fn is_erasing(&self) -> bool {
        self.restarts.is_erasing()
    }

    /// Adds headers to the chain and puts the outcome into the reply.
    fn add_headers(
        &mut self,
        origin: ProofOrigin,
        headers: &[Header],
        reach: HeadersReach,
        now: Now,
        output: &mut Output,
    ) -> RefreshCause {
        let (reply, news) = self.upstream.add_headers(origin, headers, reach, now);
        let is_useful = reply.refused.is_none() && !headers.is_empty();
        output.reply = Some(Reply::Headers(Box::new(reply)));
        if is_useful && reach == HeadersReach::Newest {
            self.glass.end_splash();
        }
        self.apply_market_change(news, now, output)
    }

    /// Applies an input and returns the kind of repaint that it needs.
    fn apply(&mut self, input: Input, now: Now, output: &mut Output) -> RefreshCause {
        let uptime = now.uptime;
        match input {
            Input::Tick => return self.advance_buttons(now, output),
            Input::Observed(source, observations) => {
                return self.observe(source, observations, now, output);
            }
            Input::Headers(origin, headers, reach) => {
                return self.add_headers(origin, &headers, reach, now, output);
            }
            Input::Asked(request) => {
                let (reply, cause) = self.answer(request, now, output);
                output.reply = Some(reply);
                return cause;
            }
            Input::Pressed(contacts) => return self.press(contacts, now, output),
            Input::Linked(event) => return self.apply_link_event(event, now, output),
            Input::Looked(check) => self.releases.record(check, uptime),
            Input::Uploaded(upload) => return self.upload(&upload, now.uptime),
            Input::Finished(Finished::Wiped(outcome)) => return self.wiped(outcome, now),
            Input::Finished(Finished::Forgotten(outcome)) => {
                return self.forgotten(outcome, now, output);
            }
            Input::Finished(Finished::Painted(serial)) => {
                let settings = self.settled.active();
                self.glass.painted(serial);
                self.lights.painted(serial, settings, uptime);
                self.settle_strip(uptime);
                self.restarts.painted(serial, uptime);
            }
            Input::Held(contacts) => self.network.power_on(contacts, self.settled.active()),
            Input::Sensed(sensed) => self.lights.sense(sensed.millilux(), self.settled.active()),
            Input::Timed(connection) => self.upstream.observe_time_server(connection, now),
            Input::TimeRefused => self.upstream.refuse_time(),
            Input::Brokered(news) => self.record_broker_event(news, uptime),
            Input::Measured(facts) => self.host = facts,
            Input::SafeMode(reason) => self.glass.keep(LayerContent::SafeMode(reason), uptime),
            Input::Locked(made) => self.lock(made, uptime),
            Input::SignedIn => self.glass.hide(Layer::SignIn),
            Input::Noticed(note) => self.notes.add(note),
        }
        RefreshCause::Data
    }

    /// Does what is due by now and returns the kind of repaint that it needs.
    fn advance(&mut self, now: Now, output: &mut Output) -> RefreshCause {
        self.lights.advance(&self.settled, now);
        let settings = self.settled.active();
        let no_network = self.network.advance(settings, now.uptime);
        let planned = self.restarts.advance(now.uptime);
        let reboots = no_network.into_iter().chain(planned).map(Effect::Reboot);
        output.effects.extend(reboots);
        self.show_directions(now.uptime);
        let caused = self.glass.advance(self.settled.active(), now.uptime);
        match self.upstream.advance(now) {
            true => {
                output.unsaved.memory = true;
                caused.max(RefreshCause::Data)
            }
            false => caused,
        }
    }

    /// Composes the newest picture and lets the lights follow it.
    fn present(&mut self, cause: RefreshCause, now: Now) {
        self.show_directions(now.uptime);
        let known = known(
            &self.upstream,
            &self.settled,
            &self.host,
            &self.network,
            now,
        );
        let presented = self.glass.present(cause, &known, now);
        let (settings, newest) = (self.settled.active(), self.glass.picture().serial);
        match presented {
            Presented::Price => self.lights.flash_for_price(settings, now.uptime),
            Presented::Nothing | Presented::Picture => {}
        }
        self.lights.nothing_to_paint(newest, settings, now.uptime);
    }

    /// Shows how to reach the access point while it is up.
    fn show_directions(&mut self, uptime: Duration) {
        let (link, settings) = (self.network.link(), self.settled.active());
        match link.plan(settings).access_point {
            Some(access_point) => {
                let directions = Directions {
                    ssid: access_point.ssid,
                    password: access_point.password,
                    hostname: link.hostname(settings),
                    address: link.portal_address().into(),
                };
                self.glass.keep(LayerContent::Portal(directions), uptime);
            }
            None => self.glass.hide(Layer::Portal),
        }
    }

    /// Sets the resting state of the strip and the fault that it signals now and then.
    fn update_lights(&mut self, now: Now) {
        self.settle_strip(now.uptime);
        let fault = self.fault();
        self.lights
            .tell_fault(fault, self.settled.active(), now.uptime);
    }

    fn settle_strip(&mut self, uptime: Duration) {
        if self.glass.has(Layer::Update) {
            return;
        }
        let link = self.network.link();
        let mode = if self.network.is_held() {
            Mode::Alarm
        } else if link.is_portal() {
            Mode::Portal
        } else if link.is_joining() {
            Mode::Joining
        } else {
            Mode::Resting
        };
        self.lights.enter(mode, uptime);
    }

    /// The worst current fault. In safe mode none is signalled, because no source runs.
    fn fault(&self) -> FaultSignal {
        if self.glass.has(Layer::SafeMode) {
            return FaultSignal::None;
        }
        if self.network.link().is_lost() {
            return FaultSignal::Network;
        }
        let missing = self.upstream.missing();
        match (missing.blocks, missing.prices) {
            (true, true) => FaultSignal::Feeds,
            (true, false) => FaultSignal::Blocks,
            (false, true) => FaultSignal::Prices,
            (false, false) => FaultSignal::None,
        }
    }

    /// The sources that should run now.
    fn plan(&self) -> Arc<Plan> {
        let may_run = self.network.link().is_usable()
            && !self.glass.has(Layer::SafeMode)
            // An update needs the machine for itself.
            && !self.glass.rests_for_update()
            && !self.is_erasing();
        match may_run {
            true => self.upstream.plan(),
            false => Arc::default(),
        }
    }

    /// What to publish to the owner's broker.
    fn broker_plan(&self) -> MqttPlan {
        // A factory reset removes the clock from the broker.
        if self.is_erasing() {
            return MqttPlan::Off;
        }
        let (settings, link) = (self.settled.active(), self.network.link());
        let wanted = match link.own_hostname(settings) {
            Some(hostname) => mqtt::plan(settings, &hostname, self.broker_restarts),
            None => MqttPlan::Paused,
        };
        let may_run = link.is_usable() && !self.glass.has(Layer::SafeMode);
        match wanted {
            MqttPlan::On(_) if !may_run => MqttPlan::Paused,
            MqttPlan::On(_) | MqttPlan::Off | MqttPlan::Paused => wanted,
        }
    }

    /// Where to look for releases.
    fn release_plan(&self) -> Option<ReleasePlan> {
        if self.is_erasing() {
            return None;
        }
        let (settings, link) = (self.settled.active(), self.network.link());
        let hostname = link.own_hostname(settings)?;
        let may_act = link.is_usable() && !self.glass.has(Layer::SafeMode);
        releases::plan(settings, &hostname, may_act)
    }

    /// What is known of releases; empty if the release check is off.
    fn known_releases(&self) -> Releases {
        match self.release_plan() {
            Some(_) => self.releases.clone(),
            None => Releases::default(),
        }
    }

    /// The connection to the owner's broker. `None` if it is switched off.
    fn broker_state(&self) -> Option<SourceState> {
        match self.broker_plan() {
            MqttPlan::Off => None,
            MqttPlan::Paused if !self.settled.active().mqtt_enabled => None,
            // Not connected while paused, whatever was reported last.
            MqttPlan::Paused => {
                let mut broker = self.broker.clone();
                (broker.up, broker.next_try) = (false, None);
                if !self.network.link().is_usable() {
                    broker.lose_network();
                }
                Some(broker)
            }
            MqttPlan::On(_) => Some(self.broker.clone()),
        }
    }

    /// Records the state of the connection to the owner's broker.
    fn record_broker_event(&mut self, news: Brokered, uptime: Duration) {
        match news {
            Brokered::Connection(connection) => {
                if connection == Connection::Up {
                    self.broker.last_success = Some(uptime);
                }
                self.broker.follow(connection, uptime);
            }
            Brokered::Complaint(complaint) => self.broker.last_error = Some(complaint),
            Brokered::Dropped(reason, count) => self.broker.drop(reason, count),
        }
    }

    /// Stores other settings and applies those that take effect without a restart.
    fn adopt(&mut self, stored: Arc<Settings>, now: Now) -> RefreshCause {
        self.upstream.reoffer(&self.settled.next(&stored));
        let currencies = self.upstream.currencies_among(&stored.currencies());
        let before = self.settled.adopt(stored, currencies);
        let settings = self.settled.active();
        let feed = |settings: &Settings| {
            (
                settings.ota_enabled,
                settings.git_release_url.clone(),
                crate::sources::route(settings),
            )
        };
        // Results of the release check are obsolete after a change of its URL or route.
        if feed(&before) != feed(settings) {
            self.releases = Releases::default();
        }
        let cause = self.glass.follow(&before, settings, now.uptime);
        self.upstream.follow(&self.settled, now);
        self.lights.follow(&before, settings, now.uptime);
        self.lights.follow_quiet_hours(&self.settled, now);
        if !self.settled.stored().http_auth_pass.is_empty() {
            self.glass.hide(Layer::SignIn);
        }
        cause
    }

    /// Stores changed settings and marks them as unsaved.
    fn store(&mut self, settings: Settings, now: Now, output: &mut Output) -> RefreshCause {
        if settings == **self.settled.stored() {
            return RefreshCause::Data;
        }
        output.unsaved.settings = true;
        self.adopt(Arc::new(settings), now)
    }

    /// Changes the stored settings.
    fn change(
        &mut self,
        change: impl FnOnce(&mut Settings),
        now: Now,
        output: &mut Output,
    ) -> RefreshCause {
        let mut settings = (**self.settled.stored()).clone();
        change(&mut settings);
        self.store(settings, now, output)
    }

    /// Protects the control interface with a generated password that is shown on the panels.
    fn lock(&mut self, made: MadePassword, uptime: Duration) {
        self.settled.lock(&made.hash);
        self.glass.keep(LayerContent::SignIn(made), uptime);
    }

    fn observe(
        &mut self,
        source: SourceId,
        observations: Vec<Observation>,
        now: Now,
        output: &mut Output,
    ) -> RefreshCause {
        let mut cause = RefreshCause::Data;
        for observation in observations {
            let is_useful = observation.is_data();
            let news = self
                .upstream
                .observe(source, observation, &self.settled, now);
            cause = cause.max(self.apply_market_change(news, now, output));
            if is_useful {
                self.glass.end_splash();
            }
        }
        cause
    }

    /// Updates the parts after a change of the market.
    fn apply_market_change(
        &mut self,
        news: sources::MarketChange,
        now: Now,
        output: &mut Output,
    ) -> RefreshCause {
        let (settings, uptime) = (self.settled.active(), now.uptime);
        match news {
            sources::MarketChange::Nothing => {}
            sources::MarketChange::Value => output.unsaved.memory = true,
            sources::MarketChange::PoolLogo => {
                output.unsaved.memory = true;
                return self.cause_of_logo();
            }
            sources::MarketChange::Block => {
                if let Some(height) = self.upstream.height() {
                    self.happenings.add(Happening::Block { height });
                }
                let picture = self.glass.next_picture();
                self.lights.flash_for_block(picture, settings, uptime);
                self.glass.steal_focus(settings, uptime);
            }
            sources::MarketChange::Zap(zap) => {
                if settings.nostr_zap_notify {
                    self.show_zap(zap, uptime);
                }
            }
            sources::MarketChange::Payment(payment) => {
                if settings.nwc_show_notify {
                    self.happenings.add(payment_event(&payment));
                    let picture = self.glass.next_picture();
                    self.lights.flash_for_payment(picture, settings, uptime);
                    self.glass.notify(LayerContent::Payment(payment), uptime);
                }
            }
            sources::MarketChange::Currencies => {
                output.unsaved.memory = true;
                let stored = self.settled.stored().clone();
                return self.adopt(stored, now);
            }
        }
        RefreshCause::Data
    }

    /// Shows a zap and flashes for it; also used by the test button.
    fn show_zap(&mut self, zap: market::Zap, uptime: Duration) {
        self.happenings.add(Happening::Zap {
            sats: zap.amount.0,
            message: zap.message.clone(),
        });
        let (settings, picture) = (self.settled.active(), self.glass.next_picture());
        self.lights.flash_for_zap(picture, settings, uptime);
        self.glass.notify(LayerContent::Zap(zap), uptime);
    }

    /// A logo leaves ghosts when it appears or disappears.
    fn cause_of_logo(&self) -> RefreshCause {
        match self.glass.shows_pool() {
            true => RefreshCause::Forced,
            false => RefreshCause::Data,
        }
    }

    /// Applies an event of the network.
    fn apply_link_event(
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
                let settings = self.settled.active();
                self.lights.play(Show::Success, settings, now.uptime);
                RefreshCause::Data
            }
            LinkNews::Provisioned => {
                self.restarts.provisioned(now.uptime);
                self.change(|settings| settings.wifi_configured = true, now, output)
            }
        }
    }

    fn upload(&mut self, upload: &UpdateEvent, uptime: Duration) -> RefreshCause {
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
                self.happenings.add(Happening::Warning { text });
                self.glass.end_update(self.settled.active(), uptime);
            }
            UpdateEvent::Installed => {
                self.glass.end_update(self.settled.active(), uptime);
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
    fn erase(&mut self, now: Now, output: &mut Output) -> RefreshCause {
        // This input composes the picture that shows it.
        if !self.restarts.begin_erasing(self.glass.next_picture()) {
            return RefreshCause::Data;
        }
        self.glass.keep(LayerContent::Erasing, now.uptime);
        output.effects.push(Effect::Wipe);
        RefreshCause::Forced
    }

    /// Restarts after a short display time if everything was erased; otherwise continues.
    fn wiped(&mut self, outcome: Result<(), String>, now: Now) -> RefreshCause {
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
    fn forgotten(
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

    /// Handles an edge of the buttons at the time it occurred, which may be long ago.
    fn press(&mut self, contacts: Contacts, now: Now, output: &mut Output) -> RefreshCause {
        let at = contacts.at.min(now.uptime);
        self.advance_hold(at, output);
        let settings = self.settled.active();
        if !self.network.accepts(contacts.down, settings) {
            return RefreshCause::Data;
        }
        let gestures = self.buttons.edge(contacts.down, at);
        self.apply_gestures(&gestures, now, output)
    }

    /// Advances the buttons to now, because all edges before a tick have been delivered.
    ///
    /// Other inputs do not do this: a release may still be queued behind them.
    fn advance_buttons(&mut self, now: Now, output: &mut Output) -> RefreshCause {
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

/// Conditions that become an event when they start.
struct Problems {
    full_refreshes: u64,
    notes: usize,
    is_safe: bool,
}

/// The event of a payment.
fn payment_event(payment: &market::Payment) -> Happening {
    Happening::Payment {
        sats: payment.amount.sats().0,
        direction: payment.direction.map(|direction| match direction {
            Direction::Received => "received",
            Direction::Sent => "sent",
        }),
    }
}

/// What the screens read besides the state of the glass.
fn known<'a>(
    upstream: &'a Upstream,
    settled: &'a RunningSettings,
    host: &'a HostFacts,
    network: &'a NetworkControl,
    now: Now,
) -> ComposeContext<'a> {
    ComposeContext {
        market: upstream.market(),
        mark_reasons: upstream.mark_reasons(),
        truth: upstream.height_truth(now),
        height_sources: upstream.height_sources(),
        settled,
        host,
        // A source that was never reached has reported nothing.
        silence: upstream
            .silence()
            .map(|error| match (network.link().is_usable(), error) {
                (false, _) => Silence::NoNetwork,
                (true, "") => Silence::NoAnswer,
                (true, error) => Silence::Error(error),
            }),
        ip: network.link().ip(),
        ssid: network.link().ssid(),
    }
}
