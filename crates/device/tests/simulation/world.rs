//! The world of one device: virtual time, a store that can lose power, and what is on the glass.

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
    air::Air,
    checks,
    model::Model,
    script::{Step, Way},
    workload::Dice,
};

/// A board with everything.
pub const BOARD: BoardSpec = BoardSpec::EXAMPLE;

/// Time a full refresh of the panels takes.
const FULL_REFRESH: Duration = Duration::from_millis(2000);

/// Time a partial refresh of the panels takes.
const PARTIAL_REFRESH: Duration = Duration::from_millis(300);

/// Time after which contacts that were moved are believed.
const SETTLED: Duration = Duration::from_millis(50);

/// Height of the chain that a clock counts from which knows none.
const FIRST_HEIGHT: u32 = 900_000;

/// Ticks in a row that may not move the deadline forward.
const TICKS_WITHOUT_PROGRESS_MAX: u32 = 3;

/// A wallet, which is used where the settings ask for one.
const PAIRING: &str = "nostr+walletconnect://b889ff5b1513b641e2a139f661a661364979c5beee91842f8f0ef42ab558e9d4?relay=wss://relay.example&secret=71a8c14c1407c113601079c4302dab36460f0ccd0ad506f1f2dc73b5100e4f3c";

fn zap(sats: u64) -> Zap {
    Zap {
        amount: Sats(sats),
        message: String::new(),
    }
}

/// One device and everything around it.
pub struct World {
    pub device: Device,
    pub now: Now,
    board: BoardSpec,
    painter: Painter,
    /// Buttons that are down, a bit each; none until the driver has told the first.
    down: Option<u8>,
    /// Light in the room, lux; none until somebody has said so.
    pub lux: Option<u32>,
    settings_on_disk: Map<String, Value>,
    memory_on_disk: Map<String, Value>,
    /// When to look between deadlines; none for never.
    pub looks: Option<Dice>,
    /// What should be seen; none where nobody compares.
    pub model: Option<Model>,
    /// The model as its memory was stored last.
    stored_model: Option<Model>,
    /// The radio; none on a clock that uses the network of its host.
    pub air: Option<Air>,
    /// An update that is under way.
    pub update: Option<Update>,
    /// Effects that were asked for.
    effects: usize,
    /// How often the device was started.
    pub starts: u32,
    /// What happened, for comparing two runs of one seed.
    pub log: Vec<String>,
}

/// The panels and who paints them: one picture at a time, and then the newest.
#[derive(Debug, Default)]
struct Painter {
    /// Serial number and full refreshes of the picture that was begun last.
    begun: Option<(u64, u64)>,
    done_at: Option<Duration>,
}

impl Painter {
    /// Begins with a picture, unless the panels are busy or show it; tells whether it did.
    fn follow(&mut self, picture: &Picture, uptime: Duration) -> bool {
        let differs = self
            .begun
            .is_none_or(|(serial, _)| serial != picture.serial);
        if self.done_at.is_some() || !differs {
            return false;
        }
        let full = self
            .begun
            .is_none_or(|(_, full)| full != picture.full_refreshes);
        let time = if full { FULL_REFRESH } else { PARTIAL_REFRESH };
        self.begun = Some((picture.serial, picture.full_refreshes));
        self.done_at = Some(uptime + time);
        true
    }

    fn done_at(&self) -> Option<Duration> {
        self.done_at
    }

    /// Serial number of the picture that is on the paper by now, told once.
    fn finish(&mut self, uptime: Duration) -> Option<u64> {
        self.done_at.take_if(|at| *at <= uptime)?;
        self.begun.map(|(serial, _)| serial)
    }
}

/// An update that is under way.
#[derive(Debug, Clone, Copy)]
pub struct Update {
    began: Duration,
    /// Serial number of the first picture that shows it.
    picture: u64,
    painted: bool,
}

impl Update {
    /// The sources have to rest: the glass says why, or had five seconds to.
    pub fn rests(&self, uptime: Duration) -> bool {
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
            looks: None,
            model: None,
            stored_model: None,
            air: None,
            update: None,
            effects: 0,
            starts: 1,
            log: Vec::new(),
        };
        world.touch(0);
        world.connect();
        world
    }

    /// A world whose device is held against the model from its first moment on.
    pub fn watched(board: BoardSpec) -> World {
        let mut world = World::new(board);
        let settings = &world.device.view().active;
        world.model = Some(Model::start(board, settings, None, world.now));
        world.restart();
        world
    }

    /// Every source is there: a device without one tells so with its lights many times a minute.
    fn connect(&mut self) {
        if self.device.view().safe_mode.is_some() {
            return;
        }
        for id in SourceId::ALL {
            let up = Observation::Connection(Connection::Up);
            self.handle(Input::Observed(*id, vec![up]));
        }
    }

    /// Runs one step and everything that is due on the way.
    pub fn run(&mut self, step: &Step) -> Option<Reply> {
        let request = |request| Some(Input::Asked(request));
        let observed = |source, observation| Some(Input::Observed(source, vec![observation]));
        let input = match step.clone() {
            Step::Block(height) => observed(SourceId::Relay, Observation::Block(height)),
            Step::Mined(blocks) => {
                let shown = self.device.memory().market.height.map(|known| known.value);
                // The next height also follows one that is hidden because it is not proven.
                let hidden = self.model.as_ref().and_then(Model::height);
                let hidden = hidden.and_then(|height| u32::try_from(height).ok());
                let known = shown.or(hidden).unwrap_or(FIRST_HEIGHT);
                observed(
                    SourceId::Relay,
                    Observation::Block(known.strict_add_signed(blocks)),
                )
            }
            Step::Price(code, price) => {
                let price = Price::parse(&price).unwrap();
                observed(
                    SourceId::Relay,
                    Observation::Price(Currency::parse(&code).unwrap(), price),
                )
            }
            Step::Fee(rate) => {
                // Nobody else is heard.
                let source = match self.device.view().active.data_source {
                    data_source::EXPLORER => SourceId::Explorer,
                    _ => SourceId::Relay,
                };
                let rate = FeeRate::parse(&rate).unwrap();
                observed(source, Observation::PreciseFee(rate))
            }
            Step::Zap(sats) => observed(SourceId::Zaps, Observation::Zap(zap(sats))),
            Step::TestZap(sats) => request(Request::SimulateZap(zap(sats))),
            Step::Payment(way, sats) => {
                let direction = match way {
                    Way::In => Some(Direction::Received),
                    Way::Out => Some(Direction::Sent),
                    Way::Unknown => None,
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
            Step::Relay(there) => {
                let connection = match there {
                    true => Connection::Up,
                    false => Connection::Connecting,
                };
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
            Step::UploadFailed => Some(Input::Uploaded(UpdateEvent::Failed("broke off".into()))),
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
                self.start_again(0, Some("it broke off 3 times"));
                None
            }
            Step::Radio(stored) => {
                self.air = Some(Air::new(stored));
                self.restart();
                None
            }
            Step::Network(there) => {
                let now = self.now.uptime;
                let event = self.air.as_mut().and_then(|air| air.set_reach(there, now));
                event.map(Input::Linked)
            }
            Step::Provision(right) => {
                let events = self.air.as_mut().map(|air| air.provision(right));
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

    /// Hands the device one input, stores what it wants stored, and lets the painter follow.
    pub fn handle(&mut self, input: Input) -> Output {
        if let Some(air) = &mut self.air {
            air.pass(self.now.uptime);
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
        if self.painter.follow(&picture, self.now.uptime)
            && let Some(model) = &mut self.model
        {
            model.lights.painting = model.glass.pictures;
        }
        if output.unsaved.settings && !self.is_erasing() {
            self.settings_on_disk = store::to_json(self.device.settings());
        }
        self.effects += output.effects.len();
        self.perform(&output.effects);
        output
    }

    /// Handles the same input in the model, and compares.
    fn compare(&mut self, input: &Input, reply: Option<&Reply>) {
        let Some(model) = &mut self.model else { return };
        let gave_up = |air: &Air| air.stored && air.is_portal();
        model.portal |= self.air.as_ref().is_some_and(gave_up);
        let view = self.device.view();
        model.handle(input, reply, &view.active, self.now);
        checks::agree(&view, &self.device.desired(), model);
    }

    /// Asserts that the model expects no change until a time.
    fn expects_nothing_by(&self, now: Now) {
        if let Some(model) = &self.model {
            let (view, desired) = (self.device.view(), self.device.desired());
            checks::agree(&view, &desired, &model.later(now));
        }
    }

    fn store_memory(&mut self) {
        self.memory_on_disk = self.device.memory().to_json(self.now);
        self.stored_model.clone_from(&self.model);
    }

    /// A world with a radio does what the device asks for.
    fn perform(&mut self, effects: &[Effect]) {
        for effect in effects {
            let Some(air) = &mut self.air else { return };
            match effect {
                Effect::Wipe => {
                    air.erasing = true;
                    air.stored = false;
                    let (defaults, _) = store::from_json(&Map::new());
                    self.settings_on_disk = store::to_json(&defaults);
                    self.memory_on_disk = Map::new();
                    self.stored_model = None;
                    self.handle(Input::Finished(Finished::Wiped(Ok(()))));
                }
                Effect::ForgetWifi => {
                    air.stored = false;
                    self.handle(Input::Finished(Finished::Forgotten(Ok(()))));
                }
                Effect::ClearLogos => {}
                Effect::Reboot(_) => {
                    if !air.erasing {
                        self.store_memory();
                    }
                    return self.restart();
                }
            }
        }
        let Some(air) = &mut self.air else { return };
        air.pass(self.now.uptime);
        if let Some(event) = air.follow(&self.device.desired().wifi) {
            let is_up = matches!(event, LinkEvent::Up { .. });
            self.handle(Input::Linked(event));
            if is_up {
                self.connect();
            }
        }
    }

    /// Holds a button, counted from 1, for a time.
    fn press(&mut self, button: u8, held: Duration) {
        self.touch(1 << (button - 1));
        self.wait(held);
        self.touch(0);
        self.wait(Duration::from_millis(20));
    }

    /// Puts fingers on these buttons alone, a bit each; the driver tells what has changed.
    pub fn touch(&mut self, down: u8) {
        let at = self.now.uptime;
        let contacts = Contacts { down, at };
        match self.down.replace(down) {
            None => self.handle(Input::ButtonsAtPowerOn(contacts)),
            Some(before) if before != down => self.handle(Input::Pressed(contacts)),
            Some(_) => return,
        };
    }

    /// Lets time pass, stopping at every deadline and whenever the panels are done.
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
            self.look_between(next);
            stuck = if next <= self.now.uptime {
                stuck + 1
            } else {
                0
            };
            assert!(
                stuck <= TICKS_WITHOUT_PROGRESS_MAX,
                "the deadline {next:?} does not move"
            );
            self.advance_to(next.max(self.now.uptime));
            let painted = self.painter.finish(self.now.uptime);
            self.handle(painted.map_or(Input::Tick, |serial| {
                Input::Finished(Finished::Painted(serial))
            }));
            if self.starts != starts {
                // Another life of the device, whose time begins anew.
                return;
            }
        }
        self.look_between(end);
        self.advance_to(end);
        self.expects_nothing_by(self.now);
    }

    /// Lets time pass for everybody but the device, which is busy or asleep.
    pub fn stall(&mut self, time: Duration) {
        self.advance_to(self.now.uptime + time);
    }

    /// Lets time pass; tells whether the device asked for no effect meanwhile.
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

    /// Asserts, now and then, that a tick before the deadline would change nothing: whatever is decided by time has a
    /// deadline of its own.
    fn look_between(&mut self, next: Duration) {
        let room_ms = next.saturating_sub(self.now.uptime).as_millis();
        let Some(looks) = &mut self.looks else { return };
        if room_ms < 2 || looks.below(12) > 0 {
            return;
        }
        let early_ms = 1 + looks.below(u64::try_from(room_ms).unwrap() - 1);
        let now = self.now_at(self.now.uptime + Duration::from_millis(early_ms));
        self.expects_nothing_by(now);
        let mut device = self.device.clone();
        let before = (device.desired(), device.view());
        let deadline = device.next_deadline(self.now);
        let output = device.handle(Input::Tick, now);
        assert_eq!(
            (device.desired(), device.view()),
            before,
            "a tick too early"
        );
        assert_eq!(output.effects, [], "a tick too early");
        assert_eq!(output.unsaved, Unsaved::default(), "a tick too early");
        assert_eq!(device.next_deadline(now), deadline, "a tick too early");
    }

    fn restart(&mut self) {
        self.start_again(0, None);
    }

    /// Starts the device again, with fingers on these buttons; in safe mode if there is a reason.
    fn start_again(&mut self, down: u8, why_safe: Option<&str>) {
        let (settings, notes) = store::from_json(&self.settings_on_disk);
        assert!(
            notes.is_empty(),
            "what was stored is not read back: {notes:?}"
        );
        self.now.uptime = Duration::ZERO;
        let memory = Memory::from_json(&self.memory_on_disk);
        self.device = start(self.board, settings, memory, self.now);
        self.painter = Painter::default();
        self.update = None;
        let memory = self.stored_model.as_ref();
        let watched = self.model.is_some();
        self.model = watched.then(|| {
            let settings = &self.device.view().active;
            Model::start(self.board, settings, memory, self.now)
        });
        self.down = None;
        self.starts += 1;
        let events = self.air.as_mut().map(Air::power_on);
        if let Some(reason) = why_safe {
            self.handle(Input::SafeMode(reason.into()));
        }
        self.touch(down);
        for event in events.into_iter().flatten() {
            self.handle(Input::Linked(event));
        }
        if let Some(lux) = self.lux.filter(|_| self.board.light_sensor) {
            self.handle(sensed(lux));
        }
        if self.air.as_ref().is_none_or(Air::is_up) {
            self.connect();
        }
    }

    /// What is on the glass: the first panel, then the others without their blanks.
    pub fn glass(&self) -> String {
        let data = self.device.view().data;
        let rest: String = data[1..].concat();
        format!("{} {rest}", data[0]).trim().to_string()
    }

    /// Tells whether everything was wiped and a restart is due.
    pub fn is_erasing(&self) -> bool {
        self.air.as_ref().is_some_and(|air| air.erasing)
    }

    /// Tells whether a restart would find these settings.
    pub fn would_find(&self, settings: &Settings) -> bool {
        store::to_json(settings) == self.settings_on_disk
    }
}

/// A clock on a network whose anchor is below every height, so that no claim is disputed for that alone.
fn start(board: BoardSpec, settings: Settings, memory: Memory, now: Now) -> Device {
    let chain = ChainSpec::built_in(Network::Signet);
    Device::on_chain(Some(chain), board, settings, memory, now)
}

fn sensed(lux: u32) -> Input {
    Input::Sensed(Sensed::Millilux(lux * 1000))
}
