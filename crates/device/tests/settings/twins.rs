//! Compares the outputs of two clocks that differ in one setting and get the same inputs for a day.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use device::{
    Device,
    input::{Contacts, Finished, Input, LinkEvent, LinkFailure, Sensed},
    lights::Rgb,
    memory::Memory,
    mqtt::MqttPlan,
    output::Effect,
    releases::ReleasePlan,
    request::{FrontlightCommand, Request},
    screens::SCREENS,
    secret::Secret,
    settings::Settings,
    sources::Route,
};
use market::{
    Connection, Direction, MinerStats, Observation, Payment, Polled, PoolStats, Zap,
    now::{Now, UtcTime},
    source_id::SourceId,
    units::{Currency, FeeRate, Hashrate, Msats, Price, Sats},
};

use crate::bench;

/// 2026-02-03 07:05 UTC, which is 08:05 in Amsterdam.
const MORNING_MS: i64 = 1_770_102_300_000;

/// A part of the outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    Picture,
    Strip,
    Frontlight,
    Sources,
    Route,
    Advert,
    Wifi,
    Mqtt,
    Releases,
    Effects,
}

/// Two clocks that get the same inputs.
pub(crate) struct Twins {
    clocks: [Device; 2],
    uptime: Duration,
    pub(crate) differ: BTreeSet<Part>,
}

impl Twins {
    pub(crate) fn new(settings: [Settings; 2]) -> Twins {
        let now = Now {
            uptime: Duration::ZERO,
            utc: None,
        };
        let clocks =
            settings.map(|settings| Device::new(bench::BOARD, settings, Memory::default(), now));
        let mut twins = Twins {
            clocks,
            uptime: Duration::ZERO,
            differ: BTreeSet::new(),
        };
        twins.compare([Vec::new(), Vec::new()]);
        twins
    }

    /// Sends both clocks the same input.
    fn send(&mut self, input: &Input) {
        let now = now_at(self.uptime);
        let effects = self
            .clocks
            .each_mut()
            .map(|clock| handle(clock, input.clone(), now));
        self.compare(effects);
    }

    fn request(&mut self, request: Request) {
        self.send(&Input::Request(request));
    }

    fn observe(&mut self, source: SourceId, observation: Observation) {
        self.send(&Input::Observed(source, vec![observation]));
    }

    /// Sends each clock a figure of its own pool, miner or wallet.
    fn observe_polled<T: Clone>(
        &mut self,
        source: SourceId,
        of: impl Fn(Polled<T>) -> Observation,
        value: T,
    ) {
        let now = now_at(self.uptime);
        let effects = self.clocks.each_mut().map(|clock| {
            let polled = Polled {
                identity: bench::figure_identity(&clock.view().settings.active, source),
                value: value.clone(),
            };
            handle(clock, Input::Observed(source, vec![of(polled)]), now)
        });
        self.compare(effects);
    }

    /// Advances the time in steps. At each step, a clock with a due deadline gets a tick, and the outputs are compared.
    fn wait(&mut self, time: Duration, step: Duration) {
        let end = self.uptime + time;
        while self.uptime < end {
            let before = now_at(self.uptime);
            self.uptime = (self.uptime + step).min(end);
            let now = now_at(self.uptime);
            let effects = self.clocks.each_mut().map(|clock| {
                let due = clock.next_deadline(before).filter(|at| *at <= now.uptime);
                due.map_or_else(Vec::new, |_| handle(clock, Input::Tick, now))
            });
            self.compare(effects);
        }
    }

    fn wait_briefly(&mut self) {
        self.wait(Duration::from_millis(200), Duration::from_millis(100));
    }

    fn wait_secs(&mut self, seconds: u64) {
        self.wait(Duration::from_secs(seconds), Duration::from_millis(200));
    }

    fn compare(&mut self, effects: [Vec<Effect>; 2]) {
        let [a, b] = self.clocks.each_ref().map(Device::desired);
        let same_plans = a.sources.keys().eq(b.sources.keys())
            && a.sources
                .values()
                .zip(b.sources.values())
                .all(|(a, b)| a.config == b.config);
        let same_routes = a.sources.iter().all(|(id, plan)| {
            b.sources
                .get(id)
                .is_none_or(|other| other.route == plan.route)
        });
        let routed = |mut plan: MqttPlan| {
            if let MqttPlan::On(broker) = &mut plan {
                Arc::make_mut(broker).route = Route::default();
            }
            plan
        };
        let same_brokers = routed(a.mqtt.clone()) == routed(b.mqtt.clone());
        let routed = |plan: &Option<ReleasePlan>| {
            plan.clone().map(|plan| ReleasePlan {
                route: Route::default(),
                ..plan
            })
        };
        let same_releases = routed(&a.releases) == routed(&b.releases);
        let [first, second] = effects;
        let parts = [
            (Part::Picture, a.picture == b.picture),
            (Part::Strip, a.strip == b.strip),
            (Part::Frontlight, a.frontlight == b.frontlight),
            (Part::Sources, same_plans),
            (Part::Route, same_routes),
            (Part::Advert, a.advert == b.advert),
            (Part::Wifi, a.wifi == b.wifi),
            (Part::Mqtt, same_brokers),
            (Part::Releases, same_releases),
            (Part::Effects, first == second),
        ];
        self.differ.extend(
            parts
                .iter()
                .filter(|(_, same)| !same)
                .map(|(part, _)| *part),
        );
    }

    pub(crate) fn run_a_day(&mut self) {
        self.send(&Input::Linked(LinkEvent::Identity {
            suffix: "efabcd".into(),
            password: Secret::default(),
        }));
        self.wait_secs(12);
        self.link_up();
        self.send(&Input::Sensed(Sensed::Millilux(300_000)));
        self.observe_all();
        self.rest();
        self.wait_secs(3);
        for screen in SCREENS {
            self.request(Request::ShowScreen(screen.id.into()));
            self.wait_briefly();
        }
        // Long enough for a turn of the rotation, because the next manual step restarts the timer.
        self.wait(Duration::from_secs(1900), Duration::from_secs(100));
        self.request(Request::ShowScreen(20));
        for price in ["64300.5", "64400.5"] {
            self.observe(
                SourceId::Relay,
                Observation::Price(Currency::USD, Price::parse(price).unwrap()),
            );
            self.wait(Duration::from_secs(35), Duration::from_secs(1));
        }
        // A venue contradicts the price before and after it agrees with it.
        for price in ["68000", "64350", "68000"] {
            let quote = Observation::Quote {
                currency: Currency::USD,
                price: Price::parse(price).unwrap(),
                at: None,
            };
            self.observe(SourceId::Coinbase, quote);
            self.wait(Duration::from_secs(60), Duration::from_secs(10));
        }
        self.observe(SourceId::Relay, Observation::Block(840_001));
        self.wait_secs(4);
        self.observe(
            SourceId::Zaps,
            Observation::Zap(Zap {
                amount: Sats(21),
                message: String::new(),
            }),
        );
        self.wait(Duration::from_secs(40), Duration::from_millis(500));
        self.request(Request::Next);
        self.observe(
            SourceId::Wallet,
            Observation::Payment(Payment {
                direction: Some(Direction::Received),
                amount: Msats(5000),
            }),
        );
        self.wait_secs(4);
        self.request(Request::Next);
        for millilux in [100_000, 300_000, 20_000, 500] {
            self.send(&Input::Sensed(Sensed::Millilux(millilux)));
            self.wait(Duration::from_secs(11), Duration::from_millis(500));
        }
        for down in [0b0010, 0, 0b0001, 0, 0b0001, 0] {
            let at = self.uptime;
            self.send(&Input::Pressed(Contacts { down, at }));
            self.wait(Duration::from_millis(100), Duration::from_millis(10));
        }
        self.send(&Input::Linked(LinkEvent::Down(LinkFailure::Lost)));
        self.wait_secs(5);
        self.link_up();
        self.rest();
        self.wait(Duration::from_secs(4 * 3600), Duration::from_secs(120));
        self.wait(Duration::from_secs(20 * 3600), Duration::from_secs(600));
    }

    /// A clock with a radio loses its network for half an hour and then restarts without it.
    pub(crate) fn run_without_network(&mut self) {
        self.send(&Input::Linked(LinkEvent::Identity {
            suffix: "efabcd".into(),
            password: Secret::default(),
        }));
        self.send(&Input::Linked(LinkEvent::Credentials(true)));
        self.link_up();
        self.send(&Input::Linked(LinkEvent::Down(LinkFailure::Lost)));
        self.wait(Duration::from_secs(1800), Duration::from_secs(60));
        self.clocks.each_mut().into_iter().for_each(|clock| {
            let settings = Settings::clone(clock.settings());
            let now = Now {
                uptime: Duration::ZERO,
                utc: None,
            };
            *clock = Device::new(bench::BOARD, settings, Memory::default(), now);
        });
        self.uptime = Duration::ZERO;
        self.send(&Input::Linked(LinkEvent::Credentials(false)));
        self.send(&Input::Linked(LinkEvent::Portal {
            address: "192.0.2.1".into(),
        }));
        self.wait(Duration::from_secs(7200), Duration::from_secs(60));
    }

    fn link_up(&mut self) {
        let (ip, ssid) = ("192.0.2.7".into(), Some("home".into()));
        self.send(&Input::Linked(LinkEvent::Up { ip, ssid }));
        for source in SourceId::ALL {
            self.observe(*source, Observation::Connection(Connection::Up));
        }
    }

    /// Sets a state of the lights in which muting is visible.
    fn rest(&mut self) {
        self.request(Request::SetLightsColor(Rgb::from_u24(0x10_20_30)));
        self.request(Request::Frontlight(FrontlightCommand::On));
    }

    fn observe_all(&mut self) {
        let currency = |code: &str| Currency::parse(code).unwrap();
        self.observe(
            SourceId::Relay,
            Observation::Currencies(bench::currencies()),
        );
        self.observe(SourceId::Relay, Observation::Block(840_000));
        for (code, price) in [
            ("USD", "64211.53"),
            ("EUR", "59000"),
            ("JPY", "9900000"),
            ("GBP", "50000"),
        ] {
            self.observe(
                SourceId::Relay,
                Observation::Price(currency(code), Price::parse(price).unwrap()),
            );
        }
        self.observe(
            SourceId::Relay,
            Observation::Fee(FeeRate::whole(12).unwrap()),
        );
        self.observe(
            SourceId::Relay,
            Observation::PreciseFee(FeeRate::parse("12.75").unwrap()),
        );
        let balance = Msats(123_456_000);
        self.observe_polled(SourceId::Wallet, Observation::Balance, balance);
        let stats = PoolStats {
            hashrate: Some(Hashrate(1_200_000_000_000)),
            daily: Some(Sats(500)),
            ..PoolStats::default()
        };
        self.observe_polled(SourceId::Pool, Observation::Pool, stats);
        let miner = MinerStats {
            hashrate: Some(Hashrate(900_000_000_000)),
            best_difficulty: Some("1.2G".into()),
        };
        self.observe_polled(SourceId::Miner, Observation::Miner, miner);
    }
}

fn now_at(uptime: Duration) -> Now {
    let elapsed = i64::try_from(uptime.as_millis()).unwrap();
    Now {
        uptime,
        utc: UtcTime::plausible(MORNING_MS + elapsed),
    }
}

/// Sends an input; the panels paint at once.
fn handle(clock: &mut Device, input: Input, now: Now) -> Vec<Effect> {
    let effects = clock.handle(input, now).effects;
    let painted = Finished::Painted(clock.desired().picture.serial);
    let painted = clock.handle(Input::Finished(painted), now).effects;
    [effects, painted].concat()
}
