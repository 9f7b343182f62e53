//! The state machine: one value, changed by one input at a time.
//!
//! It owns the rooms and nothing else decides between them: `glass` (what is on the panels), `lights`, `network`,
//! `market` (what comes from the sources), `settings`. A room knows no other; what one of them learns and another must
//! know is told here.
//! `handle` takes what happened, `next_deadline` says when to come back without being asked,
//! `desired` and `view` tell what the world should look like and what clients may read.
//! `requests` does what clients and buttons ask for.

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
    lights::{Lights, faults::FaultSignal, shows::Show, strip::Mode},
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
    /// How often a client asked for a new connection to it.
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

    /// A clock that has just started, on another chain, or on one that is invented.
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
        device.tell_lights(now);
        device.present(RefreshCause::Forced, now);
        device
    }

    /// The same clock, which goes on with the chain that an earlier run has kept.
    #[must_use]
    pub fn with_headers(mut self, kept: Option<Chain>) -> Device {
        if let Some(kept) = kept {
            self.upstream.resume_chain(kept);
        }
        self
    }

    /// Handles one input; whatever was due before it is done first.
    pub fn handle(&mut self, input: Input, now: Now) -> Output {
        let mut output = Output::default();
        self.now = now;
        let remembered = self.remembered();
        let before = self.troubles();
        let due = self.advance(now, &mut output);
        let caused = self.hear(input, now, &mut output);
        // What the input has made due is done with it, so that no deadline is ever behind.
        let late = self.advance(now, &mut output);
        self.tell_lights(now);
        self.present(due.max(caused).max(late), now);
        self.tell_troubles(&before);
        output.unsaved.memory |= self.figures_differ();
        output.unsaved.memory |= self.remembered() != remembered;
        output
    }

    /// What may turn wrong, and how often all panels were refreshed.
    fn troubles(&self) -> Troubles {
        Troubles {
            full_refreshes: self.glass.picture().full_refreshes,
            notes: self.notes.count(),
            is_safe: self.glass.has(Layer::SafeMode),
        }
    }

    /// Notes as happenings what was not so before.
    fn tell_troubles(&mut self, before: &Troubles) {
        let now = self.troubles();
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

    /// What is worth being stored soon.
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

    /// Takes a change of settings back that could not be stored.
    pub fn restore(&mut self, settings: Arc<Settings>, now: Now) {
        self.adopt(settings, now);
        self.present(RefreshCause::Data, now);
    }

    /// Takes note of how the newest save has ended; what went wrong is in words for people.
    pub fn stored(&mut self, outcome: Result<(), String>) {
        if let Some(text) = self.notes.stored(outcome) {
            self.happenings.add(Happening::Warning { text });
        }
    }

    /// Uptime at which the device wants to be handed a tick; none if only inputs can change it.
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

    /// What the world should look like.
    pub fn desired(&self) -> Desired {
        let settings = self.settled.active();
        Desired {
            picture: self.glass.picture().clone(),
            strip: self.lights.pixels(settings),
            frontlight: self.lights.duties(self.now.uptime),
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
            says: self.says(),
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
            notes: self.notes.told(),
            safe_mode: self.glass.safe_mode().map(String::from),
            shows_password: self.glass.has(Layer::SignIn),
        }
    }

    /// What the newest picture shows, and what is less than good about that.
    fn says(&self) -> Sentence {
        let sentence = self.glass.sentence().clone();
        let marks = self.glass.marks().worst_first();
        marks.fold(sentence, |said, mark| {
            spoken::MARKED
                .with("sentence", said)
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

    /// What the device would remember over a restart.
    pub fn memory(&self) -> Memory {
        Memory {
            slot: Some(self.glass.slot()),
            market: self.upstream.remembered(),
            currencies: self.upstream.currencies().to_vec(),
            peers: self.upstream.peers().to_vec(),
        }
    }

    /// The chain that is kept, to be stored beside the memory; none where it is invented.
    pub fn chain(&self) -> Option<&Chain> {
        self.upstream.chain()
    }

    /// A factory reset is under way: nothing is to be stored any more.
    pub fn is_erasing(&self) -> bool {
        self.restarts.is_erasing()
    }

    /// Takes headers, and says in the output what came of them.
    fn judge(
        &mut self,
        origin: ProofOrigin,
        headers: &[Header],
        reach: HeadersReach,
        now: Now,
        output: &mut Output,
    ) -> RefreshCause {
        let (judged, news) = self.upstream.judge(origin, headers, reach, now);
        let is_of_use = judged.refused.is_none() && !headers.is_empty();
        output.reply = Some(Reply::Judged(Box::new(judged)));
        if is_of_use && reach == HeadersReach::Newest {
            self.glass.end_splash();
        }
        self.tell_news(news, now, output)
    }

    /// Hands an input to the rooms that it is about; tells why there may be something to paint.
    fn hear(&mut self, input: Input, now: Now, output: &mut Output) -> RefreshCause {
        let uptime = now.uptime;
        match input {
            Input::Tick => return self.pass_buttons(now, output),
            Input::Observed(source, observations) => {
                return self.observe(source, observations, now, output);
            }
            Input::Headers(origin, headers, reach) => {
                return self.judge(origin, &headers, reach, now, output);
            }
            Input::Asked(request) => {
                let (reply, cause) = self.answer(request, now, output);
                output.reply = Some(reply);
                return cause;
            }
            Input::Pressed(contacts) => return self.press(contacts, now, output),
            Input::Linked(event) => return self.hear_network(event, now, output),
            Input::Looked(look) => self.releases.saw(look, uptime),
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
            Input::Brokered(news) => self.hear_broker(news, uptime),
            Input::Measured(facts) => self.host = facts,
            Input::SafeMode(reason) => self.glass.keep(LayerContent::SafeMode(reason), uptime),
            Input::Locked(made) => self.lock(made, uptime),
            Input::SignedIn => self.glass.hide(Layer::SignIn),
            Input::Noticed(note) => self.notes.add(note),
        }
        RefreshCause::Data
    }

    /// Does what was due by now; tells why there may be something to paint.
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

    /// Makes the newest picture, and lets the lights follow it.
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

    /// Shows how to reach the access point, as long as it is up.
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

    /// Makes the strip do between effects what the device's state asks for, and tell now and then what is missing.
    fn tell_lights(&mut self, now: Now) {
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

    /// The worst of what is missing; in safe mode nothing is missed.
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
            // The machine has other things to do then.
            && !self.glass.rests_for_update()
            && !self.is_erasing();
        match may_run {
            true => self.upstream.plan(),
            false => Arc::default(),
        }
    }

    /// What the owner's broker should know now.
    fn broker_plan(&self) -> MqttPlan {
        // What is wiped is not to be found anywhere.
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

    /// Where releases are looked for now.
    fn release_plan(&self) -> Option<ReleasePlan> {
        if self.is_erasing() {
            return None;
        }
        let (settings, link) = (self.settled.active(), self.network.link());
        let hostname = link.own_hostname(settings)?;
        let may_act = link.is_usable() && !self.glass.has(Layer::SafeMode);
        releases::plan(settings, &hostname, may_act)
    }

    /// What is known of releases; nothing where nobody looks.
    fn known_releases(&self) -> Releases {
        match self.release_plan() {
            Some(_) => self.releases.clone(),
            None => Releases::default(),
        }
    }

    /// The connection to the owner's broker; none if the settings want none.
    fn broker_state(&self) -> Option<SourceState> {
        match self.broker_plan() {
            MqttPlan::Off => None,
            MqttPlan::Paused if !self.settled.active().mqtt_enabled => None,
            // Whatever it said last: nobody speaks with it now.
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

    /// Takes note of what is to be known of the owner's broker.
    fn hear_broker(&mut self, news: Brokered, uptime: Duration) {
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

    /// Makes other settings the stored ones, and follows the live ones among them.
    fn adopt(&mut self, stored: Arc<Settings>, now: Now) -> RefreshCause {
        self.upstream.reoffer(&self.settled.next(&stored));
        let currencies = self.upstream.currencies_among(&stored.currencies());
        let before = self.settled.adopt(stored, currencies);
        let settings = self.settled.active();
        let looks = |settings: &Settings| {
            (
                settings.ota_enabled,
                settings.git_release_url.clone(),
                crate::sources::route(settings),
            )
        };
        // What a list showed is not known of one that is read in another way, or no more.
        if looks(&before) != looks(settings) {
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

    /// Makes changed settings the stored ones, and tells that they are to be saved.
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

    /// Shuts the control interface with a password that stands on the glass.
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
            let is_of_use = observation.is_of_use();
            let news = self
                .upstream
                .observe(source, observation, &self.settled, now);
            cause = cause.max(self.tell_news(news, now, output));
            if is_of_use {
                self.glass.end_splash();
            }
        }
        cause
    }

    /// Tells the rooms what a source has said.
    fn tell_news(
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
                    self.happenings.add(told(&payment));
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

    /// Shows a zap and flashes for it; a test and the real thing take the same way.
    fn show_zap(&mut self, zap: market::Zap, uptime: Duration) {
        self.happenings.add(Happening::Zap {
            sats: zap.amount.0,
            message: zap.message.clone(),
        });
        let (settings, picture) = (self.settled.active(), self.glass.next_picture());
        self.lights.flash_for_zap(picture, settings, uptime);
        self.glass.notify(LayerContent::Zap(zap), uptime);
    }

    /// A logo that comes in place of a name, or goes, leaves ghosts.
    fn cause_of_logo(&self) -> RefreshCause {
        match self.glass.shows_pool() {
            true => RefreshCause::Forced,
            false => RefreshCause::Data,
        }
    }

    /// Takes note of what the network says.
    fn hear_network(&mut self, event: LinkEvent, now: Now, output: &mut Output) -> RefreshCause {
        let was_usable = self.network.link().is_usable();
        let news = self.network.hear(event, now.uptime);
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
            // Words of an update that has ended may still be on their way.
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

    /// Has everything wiped, and shows that; one reset at a time.
    fn erase(&mut self, now: Now, output: &mut Output) -> RefreshCause {
        // The picture that says so comes with this very input.
        if !self.restarts.begin_erasing(self.glass.next_picture()) {
            return RefreshCause::Data;
        }
        self.glass.keep(LayerContent::Erasing, now.uptime);
        output.effects.push(Effect::Wipe);
        RefreshCause::Forced
    }

    /// Restarts where everything is gone, once the glass has said so for a while; goes on where it is not.
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

    /// Restarts where the network is forgotten; goes on where it is not.
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

    /// Judges the buttons by the moment of an edge, which may be long ago.
    fn press(&mut self, contacts: Contacts, now: Now, output: &mut Output) -> RefreshCause {
        let at = contacts.at.min(now.uptime);
        self.pass_hold(at, output);
        let settings = self.settled.active();
        if !self.network.listens_to(contacts.down, settings) {
            return RefreshCause::Data;
        }
        let gestures = self.buttons.edge(contacts.down, at);
        self.obey(&gestures, now, output)
    }

    /// Judges the buttons by now: whoever hands in a tick has handed in the edges before it.
    ///
    /// No other input does so: a release may wait behind it.
    fn pass_buttons(&mut self, now: Now, output: &mut Output) -> RefreshCause {
        self.pass_hold(now.uptime, output);
        let gestures = self.buttons.advance(now.uptime);
        self.obey(&gestures, now, output)
    }

    /// Forgets the network if button 1 was held from power-on until it is time for that.
    fn pass_hold(&mut self, until: Duration, output: &mut Output) {
        if self.network.is_to_be_forgotten(until) {
            output.effects.push(Effect::ForgetWifi);
        }
    }
}

/// What may turn wrong, and how often all panels were refreshed.
struct Troubles {
    full_refreshes: u64,
    notes: usize,
    is_safe: bool,
}

/// A payment as something that happened.
fn told(payment: &market::Payment) -> Happening {
    Happening::Payment {
        sats: payment.amount.sats().0,
        direction: payment.direction.map(|direction| match direction {
            Direction::Received => "received",
            Direction::Sent => "sent",
        }),
    }
}

/// What the glass may look at, besides itself.
fn known<'a>(
    upstream: &'a Upstream,
    settled: &'a RunningSettings,
    host: &'a HostFacts,
    network: &'a NetworkControl,
    now: Now,
) -> ComposeContext<'a> {
    ComposeContext {
        market: upstream.market(),
        doubts: upstream.doubts(),
        truth: upstream.height_truth(now),
        voices: upstream.height_sources(),
        settled,
        host,
        // Who was never reached has not even said that.
        silence: upstream
            .silence()
            .map(|told| match (network.link().is_usable(), told) {
                (false, _) => Silence::NoNetwork,
                (true, "") => Silence::NoAnswer,
                (true, told) => Silence::Told(told),
            }),
        ip: network.link().ip(),
        ssid: network.link().ssid(),
    }
}
