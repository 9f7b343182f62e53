//! One clock in virtual time, driven by lines of text.
//!
//! The clock gets a tick only at its deadline. Before each one, the test checks that an earlier tick changes nothing.

use std::{str::FromStr, sync::Arc, time::Duration};

use device::{
    Device,
    board::BoardSpec,
    history::History,
    input::{Contacts, Finished, Input, LinkEvent, LinkFailure, Sensed, UpdateEvent},
    lights::{Rgb, StripEffect},
    memory::Memory,
    output::{Effect, Output, Unsaved},
    request::{FrontlightCommand, Patch, Refusal, Reply, Request},
    secret::Secret,
    settings::{SPECS, Settings, store},
    sources::{self, ByHand},
};
use market::{
    Connection, Direction, FigureIdentity, MinerStats, Observation, Payment, Polled, PoolStats,
    Zap,
    logo::Logo,
    now::{Now, UtcTime},
    source_id::SourceId,
    units::{Currency, FeeRate, Hashrate, Msats, Price, Sats},
};
use serde_json::{Map, Value, json};

use crate::recording::Recording;

/// A board with all parts.
pub(crate) const BOARD: BoardSpec = BoardSpec::EXAMPLE;

/// Duration of a full refresh.
const FULL_REFRESH: Duration = Duration::from_millis(2000);

/// Duration of a partial refresh.
const PARTIAL_REFRESH: Duration = Duration::from_millis(300);

/// The wallet, for settings with one.
const PAIRING: &str = "nostr+walletconnect://b889ff5b1513b641e2a139f661a661364979c5beee91842f8f0ef42ab558e9d4?relay=wss://relay.example&secret=71a8c14c1407c113601079c4302dab36460f0ccd0ad506f1f2dc73b5100e4f3c";

/// One clock and its environment.
pub(crate) struct World {
    board: BoardSpec,
    pub(crate) device: Device,
    pub(crate) now: Now,
    /// Recording of the lights.
    pub(crate) recording: Recording,
    /// Effects so far.
    pub(crate) effects: Vec<Effect>,
    /// Stored settings and memory.
    stored: (Arc<Settings>, Map<String, Value>),
    /// The memory has changed since it was stored.
    memory_changed: bool,
    /// Serial number of the picture that is being painted, and the time at which it is complete.
    painting: Option<(u64, Duration)>,
    /// Serial number and full refreshes of the last picture that was started.
    last_started: (u64, u64),
    /// Whether the panels work.
    paints: bool,
}

impl World {
    /// A fresh clock with these settings.
    pub(crate) fn new(settings: Settings) -> World {
        World::with_memory(settings, Memory::default())
    }

    /// A clock with these settings and memory.
    pub(crate) fn with_memory(settings: Settings, memory: Memory) -> World {
        World::on(BOARD, settings, memory)
    }

    fn on(board: BoardSpec, settings: Settings, memory: Memory) -> World {
        let now = Now {
            uptime: Duration::ZERO,
            utc: None,
        };
        let device = Device::new(board, settings, memory, now);
        let mut world = World {
            board,
            recording: Recording::start(&device.desired(), now.uptime),
            stored: (device.settings().clone(), Map::new()),
            memory_changed: false,
            device,
            now,
            effects: Vec::new(),
            painting: None,
            last_started: (0, 0),
            paints: true,
        };
        world.paint();
        world
    }

    /// A clock at noon whose sources are all connected, with a block and a price, and with settled lights.
    pub(crate) fn at_noon(settings: Settings) -> World {
        World::at_noon_on(BOARD, settings)
    }

    /// The same on another board.
    pub(crate) fn at_noon_on(board: BoardSpec, settings: Settings) -> World {
        let mut world = World::on(board, settings, Memory::default());
        world.run_all(
            "network host; network up; sources up; clock 2026-02-03T12:00:00+01:00; currencies;
             block 840000; price USD 64000; price EUR 59000; price JPY 9900000; fee 12; lights 102030; wait 60000",
        );
        world
    }

    /// Runs lines of text; a semicolon also ends a line.
    pub(crate) fn run_all(&mut self, lines: &str) {
        for line in lines.split([';', '\n']).map(str::trim) {
            if !line.is_empty() {
                self.run(line);
            }
        }
    }

    /// Runs one line.
    pub(crate) fn run(&mut self, line: &str) -> Option<Reply> {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let words: Vec<&str> = rest.split_whitespace().collect();
        let frontlight = |command| Input::Request(Request::Frontlight(command));
        let input = match (verb, words.as_slice()) {
            ("wait", [ms]) => {
                self.wait(ms.parse().unwrap());
                return None;
            }
            ("press", [buttons, ms]) => {
                self.touch(buttons);
                self.wait(ms.parse().unwrap());
                self.touch("");
                self.wait(20);
                return None;
            }
            ("hold", _) => Input::ButtonsAtPowerOn(self.contacts(rest)),
            ("touch", _) => Input::Pressed(self.contacts(rest)),
            ("restart", []) => {
                self.restart();
                return None;
            }
            ("panels", ["broken"]) => {
                self.paints = false;
                return None;
            }
            ("clock", [moment]) => {
                let moment = jiff::Timestamp::from_str(moment).unwrap();
                self.now.utc = UtcTime::plausible(moment.as_millisecond());
                Input::Tick
            }
            ("set", _) => Input::Request(Request::Patch(self.patch(rest))),
            // All sources, whether they run or not.
            ("sources", [state]) => {
                let each = SourceId::ALL.iter().map(|id| connected(*id, state));
                for input in each.collect::<Vec<_>>() {
                    self.handle(input);
                }
                return None;
            }
            ("poll-failed", [name]) => observed(name, Observation::PollFailed),
            ("source", [name, state]) => connected(source(name), state),
            ("network", [word]) => Input::Linked(match *word {
                "host" => LinkEvent::Unmanaged,
                "radio" => LinkEvent::Credentials(true),
                "none" => LinkEvent::Credentials(false),
                "up" => LinkEvent::Up {
                    ip: "192.0.2.7".into(),
                    ssid: None,
                },
                "lost" => LinkEvent::Down(LinkFailure::Lost),
                "provisioned" => LinkEvent::Provisioned,
                _ => panic!("{line}"),
            }),
            ("currencies", codes) => {
                let codes = codes.iter().filter_map(|code| Currency::parse(code));
                observed("relay", Observation::Currencies(codes.collect()))
            }
            ("block", [height]) => observed("relay", Observation::Block(height.parse().unwrap())),
            ("price", [code, price]) => {
                let price = Price::parse(price).unwrap();
                observed(
                    "relay",
                    Observation::Price(Currency::parse(code).unwrap(), price),
                )
            }
            ("fee", [rate]) => observed(
                "relay",
                Observation::PreciseFee(FeeRate::parse(rate).unwrap()),
            ),
            ("zap", [sats]) => observed("zaps", Observation::Zap(zap(sats))),
            ("test-zap", [sats]) => Input::Request(Request::SimulateZap(zap(sats))),
            ("received", [sats]) => {
                let payment = Payment {
                    direction: Some(Direction::Received),
                    amount: Msats(sats.parse::<u64>().unwrap() * 1000),
                };
                observed("wallet", Observation::Payment(payment))
            }
            ("balance", [sats]) => {
                let balance = Msats(sats.parse::<u64>().unwrap() * 1000);
                let polled = self.polled(SourceId::Wallet, balance);
                observed("wallet", Observation::Balance(polled))
            }
            ("pool", []) => {
                let stats = PoolStats {
                    hashrate: Some(Hashrate(1_200_000_000_000)),
                    daily: Some(Sats(500)),
                    workers: Some(3),
                    refusal: None,
                };
                let polled = self.polled(SourceId::Pool, stats);
                observed("pool", Observation::Pool(polled))
            }
            ("logo", [pool]) => {
                let logo = Logo {
                    name: (*pool).into(),
                    width: 8,
                    height: 1,
                    rows: vec![0xAA],
                };
                observed("pool", Observation::PoolLogo(Arc::new(logo)))
            }
            ("miner", []) => {
                let stats = MinerStats {
                    hashrate: Some(Hashrate(900_000_000_000)),
                    best_difficulty: Some("1.2G".into()),
                };
                let polled = self.polled(SourceId::Miner, stats);
                observed("miner", Observation::Miner(polled))
            }
            ("lux", [lux]) => {
                let lux: u32 = lux.parse().unwrap();
                Input::Sensed(Sensed::Millilux(lux * 1000))
            }
            ("upload", []) => Input::Uploaded(UpdateEvent::Started),
            ("progress", [percent]) => {
                Input::Uploaded(UpdateEvent::Progress(percent.parse().unwrap()))
            }
            ("upload-failed", []) => Input::Uploaded(UpdateEvent::Failed("connection lost".into())),
            ("verified", []) => Input::Uploaded(UpdateEvent::Verified),
            ("wiped", []) => Input::Finished(Finished::Wiped(Ok(()))),
            ("not-wiped", []) => Input::Finished(Finished::Wiped(Err("disk error".into()))),
            ("forgotten", []) => Input::Finished(Finished::Forgotten(Ok(()))),
            ("safe-mode", []) => Input::SafeMode("it failed".into()),
            ("next", []) => Input::Request(Request::Next),
            ("screen", [id]) => Input::Request(Request::ShowScreen(id.parse().unwrap())),
            ("text", [text]) => Input::Request(Request::ShowText((*text).into())),
            ("pause", []) => Input::Request(Request::Pause),
            ("full-refresh", []) => Input::Request(Request::FullRefresh),
            ("clean-panels", []) => Input::Request(Request::CleanPanels),
            ("factory-reset", []) => Input::Request(Request::FactoryReset),
            ("clear-logos", []) => Input::Request(Request::ClearPoolLogos),
            ("stop-sources", []) => Input::Request(Request::StopSources),
            ("restart-sources", []) => Input::Request(Request::RestartSources),
            ("identify", []) => Input::Request(Request::Identify),
            ("lights", [color]) => {
                Input::Request(Request::SetLightsColor(Rgb::parse(color).unwrap()))
            }
            ("effect", [name]) => {
                let named = StripEffect::NAMED.iter().find(|(word, _)| word == name);
                Input::Request(Request::PlayEffect(named.unwrap().1))
            }
            ("frontlight", ["on"]) => frontlight(FrontlightCommand::On),
            ("frontlight", ["off"]) => frontlight(FrontlightCommand::Off),
            ("frontlight", ["flash"]) => frontlight(FrontlightCommand::Flash),
            ("frontlight", ["brightness", duty]) => {
                frontlight(FrontlightCommand::Brightness(duty.parse().unwrap()))
            }
            ("frontlight", ["set", duties @ ..]) => {
                let duties = duties.iter().map(|duty| duty.parse().unwrap());
                frontlight(FrontlightCommand::Set(duties.collect()))
            }
            ("dnd", [word]) => Input::Request(Request::SetDnd(*word == "on")),
            _ => panic!("unknown line: {line}"),
        };
        let reply = self.handle(input).reply;
        let refused = matches!(reply, Some(Err(Refusal::Rejected(_))));
        assert!(!refused, "{line}: {reply:?}");
        reply
    }

    /// A figure of the pool, miner or wallet of the settings.
    pub(crate) fn polled<T>(&self, source: SourceId, value: T) -> Polled<T> {
        let settings = self.device.view().settings.active;
        let plan = sources::plan(&settings, &[], ByHand::default(), None);
        let plan = plan.get(&source);
        Polled {
            identity: plan.map_or_else(FigureIdentity::default, |plan| plan.identity),
            value,
        }
    }

    /// Sends the clock one input.
    pub(crate) fn handle(&mut self, input: Input) -> Output {
        let output = self.device.handle(input, self.now);
        self.effects.extend(output.effects.clone());
        if output.unsaved.settings {
            self.stored.0 = self.device.settings().clone();
        }
        self.memory_changed |= output.unsaved.memory;
        self.recording
            .record(&self.device.desired(), self.now.uptime);
        self.paint();
        output
    }

    /// Starts to paint a new picture, unless the panels are busy.
    fn paint(&mut self) {
        let picture = self.device.desired().picture;
        if self.paints && self.painting.is_none() && picture.serial != self.last_started.0 {
            let time = if picture.full_refreshes == self.last_started.1 {
                PARTIAL_REFRESH
            } else {
                FULL_REFRESH
            };
            self.last_started = (picture.serial, picture.full_refreshes);
            self.painting = Some((picture.serial, self.now.uptime + time));
        }
    }

    /// Advances the time, ms, with an input after each paint and a tick at each deadline.
    pub(crate) fn wait(&mut self, ms: u64) {
        let end = self.now.uptime + Duration::from_millis(ms);
        loop {
            let deadline = self.device.next_deadline(self.now);
            let painted = self.painting.map(|(_, until)| until);
            let next = deadline.into_iter().chain(painted).min();
            let next = next.filter(|next| *next <= end);
            self.check_early_tick(next.unwrap_or(end));
            let Some(next) = next else { break };
            assert!(
                next > self.now.uptime || painted == Some(next),
                "the deadline {next:?} has passed"
            );
            self.now = self.at(next);
            match self.painting.take_if(|(_, until)| *until == next) {
                Some((serial, _)) => self.handle(Input::Finished(Finished::Painted(serial))),
                None => self.handle(Input::Tick),
            };
        }
        self.now = self.at(end);
    }

    /// Asserts that a tick before a deadline changes nothing.
    fn check_early_tick(&self, due: Duration) {
        const MS: Duration = Duration::from_millis(1);
        let room = due.saturating_sub(self.now.uptime);
        let before = (self.device.desired(), self.device.view());
        let deadline = self.device.next_deadline(self.now);
        for early in [Duration::ZERO, room / 2, room.saturating_sub(MS)] {
            let early = Duration::from_millis(u64::try_from(early.as_millis()).unwrap());
            if early >= room {
                continue;
            }
            let now = self.at(self.now.uptime + early);
            let mut device = self.device.clone();
            let output = device.handle(Input::Tick, now);
            let place = format!("a tick at {:?}, before the deadline {due:?}", now.uptime);
            assert_eq!((device.desired(), device.view()), before, "{place}");
            assert_eq!(output.effects, [], "{place}");
            assert_eq!(output.unsaved, Unsaved::default(), "{place}");
            assert_eq!(device.next_deadline(now), deadline, "{place}");
        }
    }

    fn at(&self, uptime: Duration) -> Now {
        let passed_ms = i64::try_from((uptime - self.now.uptime).as_millis()).unwrap();
        let utc = self.now.utc;
        Now {
            uptime,
            utc: utc.map(|utc| UtcTime {
                unix_ms: utc.unix_ms + passed_ms,
            }),
        }
    }

    /// Presses exactly these buttons, each a digit from 1.
    fn touch(&mut self, buttons: &str) {
        self.handle(Input::Pressed(self.contacts(buttons)));
    }

    fn contacts(&self, buttons: &str) -> Contacts {
        let bit = |digit: char| 1 << (digit.to_digit(10).unwrap() - 1);
        Contacts {
            down: buttons.chars().map(bit).sum(),
            at: self.now.uptime,
        }
    }

    /// Restarts the clock with the stored settings and memory.
    fn restart(&mut self) {
        self.save_memory();
        let (settings, notes) = store::from_json(&store::to_json(&self.stored.0));
        assert!(notes.is_empty(), "{notes:?}");
        let memory = Memory::from_json(&self.stored.1);
        self.now.uptime = Duration::ZERO;
        let history = History::from_json(&self.device.history().to_json(None), None);
        let device = Device::new(self.board, settings, memory, self.now);
        self.device = device.with_history(history);
        self.painting = None;
        self.last_started = (0, 0);
        self.recording = Recording::start(&self.device.desired(), Duration::ZERO);
        self.paint();
    }

    /// Stores the memory if it has changed. Returns the stored memory.
    pub(crate) fn save_memory(&mut self) -> Map<String, Value> {
        if std::mem::take(&mut self.memory_changed) {
            self.stored.1 = self.device.memory().to_json(self.now);
        }
        self.stored.1.clone()
    }

    /// A patch that sets settings by the names of their rows, as `name=value name=value`.
    fn patch(&self, pairs: &str) -> Patch {
        let mut wanted = Settings::clone(self.device.settings());
        let mut body = Map::new();
        for (name, value) in pairs_of(pairs) {
            set(&mut wanted, name, &value);
            match name.strip_prefix("dnd") {
                Some(_) => {
                    body.insert("dnd".into(), quiet_hours(&wanted));
                }
                None => {
                    body.insert(name.into(), value);
                }
            }
        }
        Patch {
            body,
            ..Patch::default()
        }
    }

    /// The panels: the first one, then the others without blanks.
    pub(crate) fn glass(&self) -> String {
        let data = self.device.view().data;
        format!("{} {}", data[0], data[1..].concat())
            .trim()
            .to_string()
    }
}

/// Default settings changed by `name=value name=value`.
pub(crate) fn settings(pairs: &str) -> Settings {
    let mut settings = Settings {
        nwc_uri: Secret::new(PAIRING),
        ..Settings::default()
    };
    for (name, value) in pairs_of(pairs) {
        set(&mut settings, name, &value);
    }
    settings
}

/// Parses `name=value name=value`.
pub(crate) fn pairs_of(pairs: &str) -> impl Iterator<Item = (&str, Value)> {
    pairs.split_whitespace().map(|pair| {
        let (name, value) = pair.split_once('=').unwrap();
        let text = || Value::from(value);
        (name, serde_json::from_str(value).unwrap_or_else(|_| text()))
    })
}

fn set(settings: &mut Settings, name: &str, value: &Value) {
    let spec = SPECS.iter().find(|spec| spec.name == name);
    let spec = spec.unwrap_or_else(|| panic!("{name} is not a setting"));
    assert!(
        settings.set(spec.key, value),
        "{name} does not accept {value}"
    );
}

fn quiet_hours(settings: &Settings) -> Value {
    json!({
        "enabled": settings.dnd_enabled,
        "dndTimeEnabled": settings.dnd_time_enabled,
        "startHour": settings.dnd_start_hour,
        "startMinute": settings.dnd_start_min,
        "endHour": settings.dnd_end_hour,
        "endMinute": settings.dnd_end_min,
    })
}

fn source(name: &str) -> SourceId {
    *SourceId::ALL.iter().find(|id| id.name() == name).unwrap()
}

fn observed(name: &str, observation: Observation) -> Input {
    Input::Observed(source(name), vec![observation])
}

fn connected(id: SourceId, state: &str) -> Input {
    let connection = match state {
        "up" => Connection::Up,
        "down" => Connection::Down {
            reason: "refused".into(),
            retry_in: Duration::from_secs(5),
        },
        _ => panic!("a source is not {state}"),
    };
    Input::Observed(id, vec![Observation::Connection(connection)])
}

fn zap(sats: &str) -> Zap {
    Zap {
        amount: Sats(sats.parse().unwrap()),
        message: String::new(),
    }
}
