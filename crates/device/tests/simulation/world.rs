//! The environment of one device: virtual time, storage that can lose power, panels, and the radio.

use std::time::Duration;

use chain::network::Network;
use device::{
    Device,
    board::BoardSpec,
    cells::Picture,
    input::{Contacts, Finished, Input, LinkEvent, Sensed, UpdateEvent},
    lights::Rgb,
    memory::Memory,
    output::{Effect, Output, Unsaved},
    request::{Patch, Reply, Request},
    secret::Secret,
    settings::pairing::PairingUri,
    settings::{Settings, data_source, store},
};
use market::{
    ChainSpec, Connection, Direction, Observation, Payment, Polled, Zap,
    now::{Now, UtcTime},
    source_id::SourceId,
    units::{Currency, FeeRate, Msats, Price, Sats},
};
use serde_json::{Map, Value};

use crate::{
    checks,
    model::Model,
    radio::SimulatedRadio,
    script::{PaymentDirection, Step},
    workload::Dice,
};

/// A board with all parts.
pub const BOARD: BoardSpec = BoardSpec::EXAMPLE;

/// Duration of a full refresh.
const FULL_REFRESH: Duration = Duration::from_millis(2000);

/// Duration of a partial refresh.
const PARTIAL_REFRESH: Duration = Duration::from_millis(300);

/// Wait after a change of the contacts, longer than the debounce time.
const SETTLED: Duration = Duration::from_millis(50);

/// Height that [`Step::Mined`] counts from if the clock knows no height.
const FIRST_HEIGHT: u32 = 900_000;

/// Most ticks in a row that leave the deadline unchanged.
const TICKS_WITHOUT_PROGRESS_MAX: u32 = 3;

/// The wallet, for settings with one.
const PAIRING: &str = "nostr+walletconnect://b889ff5b1513b641e2a139f661a661364979c5beee91842f8f0ef42ab558e9d4?relay=wss://relay.example&secret=71a8c14c1407c113601079c4302dab36460f0ccd0ad506f1f2dc73b5100e4f3c";

fn zap(sats: u64) -> Zap {
    Zap {
        amount: Sats(sats),
        message: String::new(),
    }
}

/// One device and its environment.
pub struct World {
    pub device: Device,
    pub now: Now,
    board: BoardSpec,
    painter: Painter,
    /// Pressed buttons, one bit each. `None` before the first input of the driver.
    down: Option<u8>,
    /// Ambient light, lux. `None` before the first step that sets it.
    pub lux: Option<u32>,
    settings_on_disk: Map<String, Value>,
    memory_on_disk: Map<String, Value>,
    /// Chooses when to send a tick before the deadline. `None` for never.
    pub early_ticks: Option<Dice>,
    /// The reference model. `None` if the test does not compare.
    pub model: Option<Model>,
    /// The model at the last save of the memory.
    stored_model: Option<Model>,
    /// The radio. `None` if the clock uses the network of its host.
    pub radio: Option<SimulatedRadio>,
    /// The running update.
    pub update: Option<Update>,
    /// Number of effects so far.
    effects: usize,
    /// Number of starts of the device.
    pub starts: u32,
    /// All steps and pictures, to compare two runs of one seed.
    pub log: Vec<String>,
}

/// The painter of the panels. It paints one picture at a time, then the newest.
#[derive(Debug, Default)]
struct Painter {
    /// Serial number and full refreshes of the picture that was started last.
    last_started: Option<(u64, u64)>,
    done_at: Option<Duration>,
}

impl Painter {
    /// Starts to paint a picture, unless the panels are busy or show it.
    fn start(&mut self, picture: &Picture, uptime: Duration) {
        let differs = self
            .last_started
            .is_none_or(|(serial, _)| serial != picture.serial);
        if self.done_at.is_some() || !differs {
            return;
        }
        let full = self
            .last_started
            .is_none_or(|(_, full)| full != picture.full_refreshes);
        let time = if full { FULL_REFRESH } else { PARTIAL_REFRESH };
        self.last_started = Some((picture.serial, picture.full_refreshes));
        self.done_at = Some(uptime + time);
    }

    fn done_at(&self) -> Option<Duration> {
        self.done_at
    }

    /// Serial number of the picture, once, when it is complete.
    fn finish(&mut self, uptime: Duration) -> Option<u64> {
        self.done_at.take_if(|at| *at <= uptime)?;
        self.last_started.map(|(serial, _)| serial)
    }
}

/// The running update.
#[derive(Debug, Clone, Copy)]
pub struct Update {
    began: Duration,
    /// Serial number of the first picture that shows it.
    picture: u64,
    painted: bool,
}

impl Update {
    /// Whether the sources must be stopped: the panels show the update, or five seconds have passed.
    pub fn stops_sources(&self, uptime: Duration) -> bool {
        self.painted || uptime >= self.began + Duration::from_secs(5)
    }
}

impl World {
    pub fn new(board: BoardSpec) -> World {
        let now = Now {
            uptime: Duration::ZERO,
            utc: None,
        };
        let (mut settings, _) = store::from_json(&Map::new());
        settings.nwc_uri = Secret::new(PAIRING);
        let device = start(board, settings, Memory::default(), now);
        let settings_on_disk = store::to_json(device.settings());
        let mut world = World {
            device,
            now,
            board,
            painter: Painter::default(),
            down: None,
            lux: None,
            settings_on_disk,
            memory_on_disk: Map::new(),
            early_ticks: None,
            model: None,
            stored_model: None,
            radio: None,
            update: None,
            effects: 0,
            starts: 1,
            log: Vec::new(),
        };
        world.touch(0);
        world.connect();
        world
    }

    /// A world that compares its device with the model from the start.
    pub fn with_model(board: BoardSpec) -> World {
        let mut world = World::new(board);
        world.model = Some(Model::start(board, &world.device.view(), None));
        world.restart();
        world
    }

    /// Connects all sources.
    fn connect(&mut self) {
        if self.device.view().safe_mode.is_some() {
            return;
        }
        for id in SourceId::ALL {
            let up = Observation::Connection(Connection::Up);
            self.handle(Input::Observed(*id, vec![up]));
        }
    }

    /// Runs one step, with ticks at all deadlines on the way.
    pub fn run(&mut self, step: &Step) -> Option<Reply> {
        let request = |request| Some(Input::Request(request));
        let observed = |source, observation| Some(Input::Observed(source, vec![observation]));
        let input = match step.clone() {
            Step::Block(height) => observed(SourceId::Relay, Observation::Block(height)),
            Step::Mined(blocks) => {
                let known = self.device.memory().market.height;
                let known = known.map_or(FIRST_HEIGHT, |known| known.value);
                let height = known.strict_add_signed(blocks);
                observed(SourceId::Relay, Observation::Block(height))
            }
            Step::Price(code, price) => {
                let price = Price::parse(&price).unwrap();
                observed(
                    SourceId::Relay,
                    Observation::Price(Currency::parse(&code).unwrap(), price),
                )
            }
            Step::Fee(rate) => {
                // The device accepts fee rates of the configured source only.
                let source = match self.device.view().settings.active.data_source {
                    data_source::EXPLORER => SourceId::Explorer,
                    _ => SourceId::Relay,
                };
                let rate = FeeRate::parse(&rate).unwrap();
                observed(source, Observation::PreciseFee(rate))
            }
            Step::Zap(sats) => observed(SourceId::Zaps, Observation::Zap(zap(sats))),
            Step::TestZap(sats) => request(Request::SimulateZap(zap(sats))),
            Step::Payment(direction, sats) => {
                let direction = match direction {
                    PaymentDirection::In => Some(Direction::Received),
                    PaymentDirection::Out => Some(Direction::Sent),
                    PaymentDirection::Unknown => None,
                };
                let payment = Payment {
                    direction,
                    amount: Msats(sats * 1000),
                };
                observed(SourceId::Wallet, Observation::Payment(payment))
            }
            Step::Balance(sats) => {
                let polled = Polled {
                    identity: PairingUri::parse(PAIRING).unwrap().identity(),
                    value: Msats(sats * 1000),
                };
                observed(SourceId::Wallet, Observation::Balance(polled))
            }
            Step::Text(text) => request(Request::ShowText(text)),
            Step::Custom(cells) => request(Request::ShowCustom {
                cells,
                digit_px: None,
            }),
            Step::Next => request(Request::Next),
            Step::Previous => request(Request::Previous),
            Step::Screen(id) => request(Request::ShowScreen(id)),
            Step::Currency(code) => request(Request::ShowCurrency(Currency::parse(&code).unwrap())),
            Step::Pause => request(Request::Pause),
            Step::TogglePause => request(Request::TogglePause),
            Step::RestartTimer => request(Request::RestartTimer),
            Step::FullRefresh => request(Request::FullRefresh),
            Step::Debug => {
                self.press(4, Duration::from_millis(100));
                None
            }
            Step::Press(button, held) => {
                self.press(button, held);
                None
            }
            Step::Hold(buttons) => {
                let down = buttons.iter().map(|button| 1 << (button - 1)).sum();
                self.touch(down);
                self.wait(SETTLED);
                None
            }
            Step::Relay(is_up) => {
                let connection = if is_up { Connection::Up } else { Connection::Connecting };
                observed(SourceId::Relay, Observation::Connection(connection))
            }
            Step::Identify => request(Request::Identify),
            Step::Lux(lux) => {
                let differs = self.lux.replace(lux) != Some(lux);
                (differs && self.board.light_sensor).then(|| sensed(lux))
            }
            Step::Frontlight(command) => request(Request::Frontlight(command)),
            Step::Dnd(on) => request(Request::SetDnd(on)),
            Step::LightsColor(color) => {
                request(Request::SetLightsColor(Rgb::parse(&color).unwrap()))
            }
            Step::Lights(colors) => {
                let color = |text: &String| Rgb::parse(text).unwrap();
                request(Request::SetLights(colors.iter().map(color).collect()))
            }
            Step::Effect(effect) => request(Request::PlayEffect(effect)),
            Step::Upload => Some(Input::Uploaded(UpdateEvent::Started)),
            Step::Progress(percent) => Some(Input::Uploaded(UpdateEvent::Progress(percent))),
            Step::UploadVerified => Some(Input::Uploaded(UpdateEvent::Verified)),
            Step::UploadFailed => Some(Input::Uploaded(UpdateEvent::Failed(
                "connection lost".into(),
            ))),
            Step::Set(key, value) => {
                let body = Map::from_iter([(key, value)]);
                request(Request::Patch(Patch {
                    body,
                    ..Patch::default()
                }))
            }
            Step::Clock(unix) => {
                self.now.utc = unix.and_then(|seconds| UtcTime::plausible(seconds * 1000));
                Some(Input::Tick)
            }
            Step::Wait(time) => {
                self.wait(time);
                None
            }
            Step::Sleep(time) => {
                self.stall(time);
                Some(Input::Tick)
            }
            Step::Reboot => {
                if !self.is_erasing() {
                    self.store_memory();
                }
                self.restart();
                None
            }
            Step::PowerCut => {
                self.restart();
                None
            }
            Step::SafeMode => {
                self.start_again(0, Some("it failed 3 times"));
                None
            }
            Step::Radio(stored) => {
                self.radio = Some(SimulatedRadio::new(stored));
                self.restart();
                None
            }
            Step::Network(in_reach) => {
                let now = self.now.uptime;
                let event = self
                    .radio
                    .as_mut()
                    .and_then(|radio| radio.set_reach(in_reach, now));
                event.map(Input::Linked)
            }
            Step::Provision(is_correct) => {
                let events = self.radio.as_mut().map(|radio| radio.provision(is_correct));
                for event in events.into_iter().flatten() {
                    self.handle(Input::Linked(event));
                }
                None
            }
            Step::HoldAtPowerOn(button, held) => {
                self.start_again(1 << (button - 1), None);
                self.wait(held);
                self.touch(0);
                self.wait(Duration::from_millis(20));
                None
            }
            Step::FactoryReset => request(Request::FactoryReset),
        };
        let reply = input.and_then(|input| self.handle(input).reply);
        self.log.push(format!(
            "{step} > {} {:?}",
            self.glass(),
            self.device.desired().picture
        ));
        reply
    }

    /// Sends the device one input, saves changed settings, and starts to paint a new picture.
    pub fn handle(&mut self, input: Input) -> Output {
        if let Some(radio) = &mut self.radio {
            radio.advance(self.now.uptime);
        }
        let output = self.device.handle(input.clone(), self.now);
        self.compare(&input, output.reply.as_ref());
        let picture = self.device.desired().picture;
        match &input {
            Input::Uploaded(UpdateEvent::Started) => {
                self.update = Some(Update {
                    began: self.now.uptime,
                    picture: picture.serial,
                    painted: false,
                });
            }
            Input::Uploaded(UpdateEvent::Failed(_)) => self.update = None,
            Input::Finished(Finished::Painted(serial)) => {
                if let Some(update) = &mut self.update {
                    update.painted |= update.picture <= *serial;
                }
            }
            _ => {}
        }
        self.painter.start(&picture, self.now.uptime);
        if output.unsaved.settings && !self.is_erasing() {
            self.settings_on_disk = store::to_json(self.device.settings());
        }
        self.effects += output.effects.len();
        self.perform(&output.effects);
        output
    }

    /// Sends the model the same input, and compares it with the device.
    fn compare(&mut self, input: &Input, reply: Option<&Reply>) {
        let Some(model) = &mut self.model else { return };
        let opened_portal = |radio: &SimulatedRadio| radio.stored && radio.is_portal();
        model.portal |= self.radio.as_ref().is_some_and(opened_portal);
        let view = self.device.view();
        model.handle(input, reply, &view, self.now.uptime);
        checks::agree(&view, &self.device.desired(), model);
    }

    /// Asserts that the model expects no change before a time.
    fn expects_nothing_by(&self, now: Now) {
        if let Some(model) = &self.model {
            let (view, desired) = (self.device.view(), self.device.desired());
            checks::agree(&view, &desired, &model.later(&view, now.uptime));
        }
    }

    fn store_memory(&mut self) {
        self.memory_on_disk = self.device.memory().to_json(self.now);
        self.stored_model.clone_from(&self.model);
    }

    /// Performs the effects, and the plan of the radio, in a world with a radio.
    fn perform(&mut self, effects: &[Effect]) {
        for effect in effects {
            let Some(radio) = &mut self.radio else { return };
            match effect {
                Effect::Wipe => {
                    radio.erasing = true;
                    radio.stored = false;
                    let (defaults, _) = store::from_json(&Map::new());
                    self.settings_on_disk = store::to_json(&defaults);
                    self.memory_on_disk = Map::new();
                    self.stored_model = None;
                    self.handle(Input::Finished(Finished::Wiped(Ok(()))));
                }
                Effect::ForgetWifi => {
                    radio.stored = false;
                    self.handle(Input::Finished(Finished::Forgotten(Ok(()))));
                }
                Effect::ClearLogos => {}
                Effect::Reboot(_) => {
                    if !radio.erasing {
                        self.store_memory();
                    }
                    return self.restart();
                }
            }
        }
        let Some(radio) = &mut self.radio else { return };
        radio.advance(self.now.uptime);
        if let Some(event) = radio.apply_plan(&self.device.desired().wifi) {
            let is_up = matches!(event, LinkEvent::Up { .. });
            self.handle(Input::Linked(event));
            if is_up {
                self.connect();
            }
        }
    }

    /// Presses a button for a time; the first is 1.
    fn press(&mut self, button: u8, held: Duration) {
        self.touch(1 << (button - 1));
        self.wait(held);
        self.touch(0);
        self.wait(Duration::from_millis(20));
    }

    /// Presses these buttons, one bit each, and releases all others.
    pub fn touch(&mut self, down: u8) {
        let at = self.now.uptime;
        let contacts = Contacts { down, at };
        match self.down.replace(down) {
            None => self.handle(Input::ButtonsAtPowerOn(contacts)),
            Some(before) if before != down => self.handle(Input::Pressed(contacts)),
            Some(_) => return,
        };
    }

    /// Waits, with an input at every deadline and after every paint.
    pub fn wait(&mut self, time: Duration) {
        let end = self.now.uptime + time;
        let starts = self.starts;
        let mut stuck = 0;
        loop {
            let deadline = self.device.next_deadline(self.now);
            let painted = self.painter.done_at();
            let Some(next) = [deadline, painted].into_iter().flatten().min() else {
                break;
            };
            if next > end {
                break;
            }
            self.check_early_tick(next);
            stuck = if next <= self.now.uptime { stuck + 1 } else { 0 };
            assert!(
                stuck <= TICKS_WITHOUT_PROGRESS_MAX,
                "the deadline {next:?} stays in the past"
            );
            self.advance_to(next.max(self.now.uptime));
            let painted = self.painter.finish(self.now.uptime);
            self.handle(painted.map_or(Input::Tick, |serial| {
                Input::Finished(Finished::Painted(serial))
            }));
            if self.starts != starts {
                // The device has restarted, and its uptime with it.
                return;
            }
        }
        self.check_early_tick(end);
        self.advance_to(end);
        self.expects_nothing_by(self.now);
    }

    /// Advances the time without ticks, as if the device were busy or suspended.
    pub fn stall(&mut self, time: Duration) {
        self.advance_to(self.now.uptime + time);
    }

    /// Waits. Returns whether the device requested no effect.
    pub fn passes_without_effects(&mut self, time: Duration) -> bool {
        let before = self.effects;
        self.wait(time);
        self.effects == before
    }

    fn advance_to(&mut self, uptime: Duration) {
        self.now = self.now_at(uptime);
    }

    fn now_at(&self, uptime: Duration) -> Now {
        let passed = uptime - self.now.uptime;
        let passed_ms = i64::try_from(passed.as_millis()).unwrap();
        let utc = self.now.utc;
        Now {
            uptime,
            utc: utc.and_then(|utc| UtcTime::plausible(utc.unix_ms + passed_ms)),
        }
    }

    /// Asserts at random times that a tick before the deadline changes nothing, because every decision by time has a
    /// deadline.
    fn check_early_tick(&mut self, next: Duration) {
        let room_ms = next.saturating_sub(self.now.uptime).as_millis();
        let Some(early_ticks) = &mut self.early_ticks else {
            return;
        };
        if room_ms < 2 || early_ticks.below(12) > 0 {
            return;
        }
        let early_ms = 1 + early_ticks.below(u64::try_from(room_ms).unwrap() - 1);
        let now = self.now_at(self.now.uptime + Duration::from_millis(early_ms));
        self.expects_nothing_by(now);
        let mut device = self.device.clone();
        let before = (device.desired(), device.view());
        let deadline = device.next_deadline(self.now);
        let output = device.handle(Input::Tick, now);
        assert_eq!(
            (device.desired(), device.view()),
            before,
            "an early tick changes nothing"
        );
        assert_eq!(output.effects, [], "an early tick changes nothing");
        assert_eq!(
            output.unsaved,
            Unsaved::default(),
            "an early tick changes nothing"
        );
        assert_eq!(
            device.next_deadline(now),
            deadline,
            "an early tick changes nothing"
        );
    }

    fn restart(&mut self) {
        self.start_again(0, None);
    }

    /// Restarts the device with these buttons pressed; in safe mode if a reason is given.
    fn start_again(&mut self, down: u8, safe_mode_reason: Option<&str>) {
        let (settings, notes) = store::from_json(&self.settings_on_disk);
        assert!(
            notes.is_empty(),
            "the stored settings cannot be read: {notes:?}"
        );
        self.now.uptime = Duration::ZERO;
        let memory = Memory::from_json(&self.memory_on_disk);
        self.device = start(self.board, settings, memory, self.now);
        self.painter = Painter::default();
        self.update = None;
        let memory = self.stored_model.as_ref();
        let has_model = self.model.is_some();
        self.model = has_model.then(|| Model::start(self.board, &self.device.view(), memory));
        self.down = None;
        self.starts += 1;
        let events = self.radio.as_mut().map(SimulatedRadio::power_on);
        if let Some(reason) = safe_mode_reason {
            self.handle(Input::SafeMode(reason.into()));
        }
        self.touch(down);
        for event in events.into_iter().flatten() {
            self.handle(Input::Linked(event));
        }
        if let Some(lux) = self.lux.filter(|_| self.board.light_sensor) {
            self.handle(sensed(lux));
        }
        if self.radio.as_ref().is_none_or(SimulatedRadio::is_up) {
            self.connect();
        }
    }

    /// The texts of the panels: the first panel, then the others without blanks.
    pub fn glass(&self) -> String {
        let data = self.device.view().data;
        let rest: String = data[1..].concat();
        format!("{} {rest}", data[0]).trim().to_string()
    }

    /// Whether everything was wiped and the restart is still to come.
    pub fn is_erasing(&self) -> bool {
        self.radio.as_ref().is_some_and(|radio| radio.erasing)
    }

    /// Whether these settings are stored.
    pub fn stores(&self, settings: &Settings) -> bool {
        store::to_json(settings) == self.settings_on_disk
    }
}

/// A clock with an anchor below all simulated heights, because a claim below the anchor would be disputed.
fn start(board: BoardSpec, settings: Settings, memory: Memory, now: Now) -> Device {
    let chain = ChainSpec::built_in(Network::Signet);
    Device::on_chain(Some(chain), board, settings, memory, now)
}

fn sensed(lux: u32) -> Input {
    Input::Sensed(Sensed::Millilux(lux * 1000))
}
