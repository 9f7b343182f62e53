//! The state machine: one value, changed by one input at a time.
//!
//! It owns the parts `glass` (what is on the panels), `lights`, `network`, `sources` and `settings`. They are
//! independent of each other; `Device` passes data from one part to another.
//! `handle` applies an input, `next_deadline` returns when the next tick is needed.
//! `requests` handles the requests of clients, `events` the events of the network, updates and buttons, `observations` what
//! the sources report; `outputs` returns what the hardware should do and what clients can read.

mod displays;
mod events;
mod observations;
mod outputs;
mod requests;

use alloc::{format, string::String, sync::Arc, vec::Vec};
use core::time::Duration;

use chain::chain::Chain;
use market::{ChainSpec, FigureIdentity, SourceState, now::Now};

use crate::{
    board::BoardSpec,
    buttons::ButtonDecoder,
    displays::Displays,
    event_log::{DeviceEvent, EventLog},
    glass::{
        ComposeContext, Directions, Glass, Layer, LayerContent, Presented, RefreshCause,
        rotation::{RotationSlot, Timer},
    },
    history::History,
    host::HostFacts,
    input::{Finished, Input},
    lights::{Lights, Rgb, faults::FaultSignal, strip::Mode},
    memory::Memory,
    network::NetworkControl,
    notes::Notes,
    output::{Effect, Output},
    releases::Releases,
    restarts::Restarts,
    settings::{RunningSettings, Settings},
    sources::Upstream,
};

/// The clock.
#[derive(Debug, Clone)]
pub struct Device {
    board: BoardSpec,
    settings: RunningSettings,
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
    event_log: EventLog,
    releases: Releases,
    displays: Displays,
    history: Arc<History>,
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
        let settings = RunningSettings::new(settings, currencies);
        let mut device = Device {
            glass: Glass::new(board, memory.slot, &settings.active, now),
            lights: Lights::new(&board, &settings.active, now.uptime),
            network: NetworkControl::default(),
            buttons: ButtonDecoder::default(),
            restarts: Restarts::default(),
            host: HostFacts::default(),
            notes: Notes::default(),
            broker: SourceState::default(),
            broker_restarts: 0,
            event_log: EventLog::default(),
            releases: Releases::default(),
            displays: Displays::default(),
            history: Arc::default(),
            known_figures,
            board,
            settings,
            upstream,
            now,
        };
        device.displays.apply_settings(&device.settings.active);
        if device.upstream.knows_nothing() {
            device.glass.keep(LayerContent::Splash, now.uptime);
        }
        device.upstream.apply_settings(&device.settings, now);
        device.lights.update_quiet(&device.settings, now);
        device.update_lights(now);
        device.present(RefreshCause::Forced, now);
        device.record_history(now);
        device
    }

    /// Adds the chain stored by an earlier run.
    #[must_use]
    pub fn with_headers(mut self, stored: Option<Chain>) -> Device {
        if let Some(stored) = stored {
            self.upstream.resume_chain(stored);
        }
        self
    }

    /// Adds the values recorded by an earlier run.
    #[must_use]
    pub fn with_history(mut self, stored: History) -> Device {
        self.history = Arc::new(stored);
        self.record_history(self.now);
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
        output.unsaved.history = self.record_history(now);
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
            self.event_log.add(DeviceEvent::Refresh);
        }
        let safe = self.glass.safe_mode().filter(|_| !before.is_safe);
        let safe = safe.map(|reason| format!("safe mode: {reason}"));
        let notes = self.notes.since(before.notes).iter().cloned();
        for text in notes.chain(safe) {
            self.event_log.add(DeviceEvent::Warning { text });
        }
    }

    /// Records the values that are due; returns whether there is something new to store.
    fn record_history(&mut self, now: Now) -> bool {
        let (upstream, settings) = (&self.upstream, &self.settings);
        let readings = || {
            let known = known(upstream, settings, &self.host, &self.network, None, now);
            self.glass.readings(&known, now)
        };
        self.history.record(upstream.height(), now, readings)
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
        self.record_history(now);
    }

    /// Records the outcome of the newest save; the error is a text for people.
    pub fn stored(&mut self, outcome: Result<(), String>) {
        if let Some(text) = self.notes.stored(outcome) {
            self.event_log.add(DeviceEvent::Warning { text });
        }
    }

    /// Uptime at which the device needs a tick. `None` if only inputs can change it.
    pub fn next_deadline(&self, now: Now) -> Option<Duration> {
        let known = known(
            &self.upstream,
            &self.settings,
            &self.host,
            &self.network,
            Some(&self.history),
            now,
        );
        [
            self.glass.next_deadline(&known, now),
            self.lights.next_deadline(&self.settings, now),
            self.network.next_deadline(&self.settings.active),
            self.restarts.next_deadline(),
            self.buttons.next_deadline(),
            self.upstream.next_deadline(now),
            self.history.next_deadline(now),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Uptime at which the lights show the next frame of what they play.
    pub fn next_frame(&self, now: Now) -> Option<Duration> {
        self.lights.next_frame(now.uptime)
    }

    /// Advances only the lights, because a frame costs a fraction of a tick. Other deadlines need a tick.
    pub fn show_frame(&mut self, now: Now) {
        self.now = now;
        self.lights.advance(&self.settings, now);
    }

    /// Colours of the LED strip, as in `Desired::strip`.
    pub fn strip(&self) -> Vec<Rgb> {
        self.lights.pixels(&self.settings.active)
    }

    /// Duties of the frontlight, as in `Desired::frontlight`.
    pub fn frontlight(&self) -> Vec<u16> {
        self.lights.duties(self.now.uptime)
    }

    /// The rotation timer.
    pub fn timer(&self) -> Timer {
        self.glass.timer()
    }

    /// The settings as stored.
    pub fn settings(&self) -> &Arc<Settings> {
        &self.settings.stored
    }

    /// The memory to restore after a restart.
    pub fn memory(&self) -> Memory {
        Memory {
            slot: Some(self.glass.slot()),
            market: self.upstream.remembered(),
            currencies: self.upstream.currencies().to_vec(),
            peers: self.upstream.peers().to_vec(),
        }
    }

    /// The values to store beside the memory.
    pub fn history(&self) -> &Arc<History> {
        &self.history
    }

    /// The chain to store beside the memory. `None` if blocks need no proof.
    pub fn chain(&self) -> Option<&Chain> {
        self.upstream.chain()
    }

    /// A factory reset is under way: nothing may be stored.
    pub fn is_erasing(&self) -> bool {
        self.restarts.is_erasing()
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
            Input::Request(request) => {
                let (reply, cause) = self.answer(request, now, output);
                output.reply = Some(reply);
                return cause;
            }
            Input::Pressed(contacts) => return self.press(contacts, now, output),
            Input::Linked(event) => return self.apply_link_event(event, now, output),
            Input::ReleaseCheck(check) => self.releases.record(check, uptime),
            Input::Uploaded(upload) => return self.upload(&upload, now.uptime),
            Input::Finished(Finished::Wiped(outcome)) => return self.wiped(outcome, now),
            Input::Finished(Finished::Forgotten(outcome)) => {
                return self.forgotten(outcome, now, output);
            }
            Input::Finished(Finished::Painted(serial)) => {
                let settings = &self.settings.active;
                self.glass.painted(serial);
                self.lights.handle_painted(serial, settings, uptime);
                self.settle_strip(uptime);
                self.restarts.painted(serial, uptime);
            }
            Input::ButtonsAtPowerOn(contacts) => {
                self.network.power_on(contacts, &self.settings.active)
            }
            Input::Sensed(sensed) => self
                .lights
                .set_ambient_light(sensed.millilux(), &self.settings.active),
            Input::TimeServer(connection) => self.upstream.observe_time_server(connection, now),
            Input::TimeServerRejected => self.upstream.refuse_time(),
            Input::Broker(news) => self.record_broker_event(news, uptime),
            Input::Host(facts) => self.host = facts,
            Input::SafeMode(reason) => self.glass.keep(LayerContent::SafeMode(reason), uptime),
            Input::PasswordGenerated(made) => self.lock(made, uptime),
            Input::SignedIn => self.glass.hide(Layer::SignIn),
            Input::StartupProblem(note) => self.notes.add(note),
        }
        RefreshCause::Data
    }

    /// Handles everything that is due by now. Returns the kind of the required repaint.
    fn advance(&mut self, now: Now, output: &mut Output) -> RefreshCause {
        self.lights.advance(&self.settings, now);
        let settings = &self.settings.active;
        let no_network = self.network.advance(settings, now.uptime);
        let planned = self.restarts.advance(now.uptime);
        let reboots = no_network.into_iter().chain(planned).map(Effect::Reboot);
        output.effects.extend(reboots);
        self.show_directions(now.uptime);
        let caused = self.glass.advance(&self.settings.active, now.uptime);
        if self.upstream.advance(now) {
            output.unsaved.memory = true;
            caused.max(RefreshCause::Data)
        } else {
            caused
        }
    }

    /// Composes the newest picture and lets the lights follow it.
    fn present(&mut self, cause: RefreshCause, now: Now) {
        self.show_directions(now.uptime);
        let known = known(
            &self.upstream,
            &self.settings,
            &self.host,
            &self.network,
            Some(&self.history),
            now,
        );
        let presented = self.glass.present(cause, &known, now);
        let (settings, newest) = (&self.settings.active, self.glass.picture().serial);
        match presented {
            Presented::Price => self.lights.flash_for_price(settings, now.uptime),
            Presented::Nothing | Presented::Picture => {}
        }
        self.lights
            .handle_unchanged_picture(newest, settings, now.uptime);
    }

    /// Shows how to reach the access point while it is up.
    fn show_directions(&mut self, uptime: Duration) {
        let (link, settings) = (self.network.link(), &self.settings.active);
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
            .show_fault(fault, &self.settings.active, now.uptime);
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
        self.lights.set_mode(mode, uptime);
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

    /// Stores other settings and applies those that take effect without a restart.
    fn adopt(&mut self, stored: Arc<Settings>, now: Now) -> RefreshCause {
        self.upstream.reoffer(&self.settings.active_after(&stored));
        let currencies = self.upstream.currencies_among(&stored.currencies());
        let before = self.settings.store(stored, currencies);
        let settings = &self.settings.active;
        let feed = |settings: &Settings| {
            (
                settings.ota_enabled,
                settings.git_release_url.clone(),
                crate::sources::Route::of(settings),
            )
        };
        // Results of the release check are obsolete after a change of its URL or route.
        if feed(&before) != feed(settings) {
            self.releases = Releases::default();
        }
        let cause = self.glass.apply_settings(&before, settings, now.uptime);
        self.displays.apply_settings(settings);
        self.upstream.apply_settings(&self.settings, now);
        self.lights.apply_settings(&before, settings, now.uptime);
        self.lights.update_quiet(&self.settings, now);
        if !self.settings.stored.http_auth_pass.is_empty() {
            self.glass.hide(Layer::SignIn);
        }
        cause
    }

    /// Stores changed settings and marks them as unsaved.
    fn store(&mut self, settings: Settings, now: Now, output: &mut Output) -> RefreshCause {
        if settings == *self.settings.stored {
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
        let mut settings = (*self.settings.stored).clone();
        change(&mut settings);
        self.store(settings, now, output)
    }
}

/// Conditions that become an event when they start.
struct Problems {
    full_refreshes: u64,
    notes: usize,
    is_safe: bool,
}

/// What the screens read besides the state of the glass.
fn known<'a>(
    upstream: &'a Upstream,
    running: &'a RunningSettings,
    host: &'a HostFacts,
    network: &'a NetworkControl,
    history: Option<&'a History>,
    now: Now,
) -> ComposeContext<'a> {
    ComposeContext {
        market: upstream.market(),
        mark_reasons: upstream.mark_reasons(),
        truth: upstream.height_truth(now),
        history,
        running,
        host,
        silence: upstream.silence(network.link().is_usable()),
        ip: network.link().ip(),
        ssid: network.link().ssid(),
    }
}
