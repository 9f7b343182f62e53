//! Remote displays over a month: how often they return, and how old their pictures are.
//!
//! A real [`Device`] gets random blocks and prices in virtual time. Some displays return when the clock requests it, others
//! at a fixed interval. A picture is *stale* as soon as the clock shows something else.

use std::time::Duration;

use device::{
    Device,
    board::BoardSpec,
    cells::Cell,
    displays::{
        Battery, DisplayChange, DisplayContact, DisplayContent, DisplayRequest, RotationStep,
        TokenDigest,
    },
    frames::{Frame, FrameContent},
    input::{Input, LinkEvent},
    memory::Memory,
    request::{Reply, Request},
    settings::Settings,
};
use market::{
    Connection, Observation,
    now::{Now, UtcTime},
    source_id::SourceId,
    units::{Currency, FeeRate, Price},
};

/// Mean time between blocks, s.
const BLOCK_MEAN: f64 = 600.0;

/// Mean time between prices, s.
const PRICE_MEAN: f64 = 30.0;

/// Standard deviation of the relative change of a price per day: about that of the last years.
const DAILY_VOLATILITY: f64 = 0.025;

/// Time from the contact of a display to its new picture, and then to its sleep, s.
const WAKE: u64 = 10;

/// Largest error of the timer of a display, relative to its sleep.
const TIMER_ERROR: f64 = 0.01;

/// Fee rates, micro-sat/vB.
const FEE_RANGE: (f64, f64) = (1e6, 8e6);

/// Time at which the simulation starts: 2026-03-02T00:00:00Z.
const START_MS: i64 = 1_772_409_600_000;

const CURRENCIES: [(&str, f64); 3] = [("USD", 95_000.0), ("EUR", 82_000.0), ("JPY", 14_500_000.0)];

/// When a display returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReturnRule {
    /// When the clock requests it, with this accepted age of a picture, minutes.
    Clock(u32),
    /// At this interval, minutes.
    Fixed(u32),
}

/// Results of one display.
#[derive(Debug, Clone, PartialEq)]
pub struct DisplayOutcome {
    /// When it returned.
    pub rule: ReturnRule,
    /// Number of returns per day.
    pub wakes_per_day: f64,
    /// Staleness outside of Do Not Disturb.
    pub day: Staleness,
    /// Staleness during Do Not Disturb.
    pub quiet: Staleness,
}

/// Time for which the picture has been stale, at a random moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Staleness {
    /// The mean, s.
    pub mean: f64,
    /// The 95 % quantile, s.
    pub most: u64,
}

/// What the displays show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scenario {
    /// Period of the rotation timer of the clock, s.
    pub turn_period: u32,
    /// The only screen of the displays. `None`: they follow the clock.
    pub screen: Option<u16>,
}

/// A random number generator that gives the same numbers for the same seed.
struct Random(u64);

impl Random {
    /// A number from 0 to below 1.
    fn unit(&mut self) -> f64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^= bits >> 31;
        (bits >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Exponentially distributed with this mean.
    fn waiting_time(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    /// Normally distributed with mean 0 and standard deviation 1.
    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.unit()).ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// Seconds by how long the picture had been stale.
#[derive(Default)]
struct Histogram(Vec<u64>);

impl Histogram {
    fn add(&mut self, stale: u64) {
        let stale = usize::try_from(stale).unwrap_or(usize::MAX);
        if self.0.len() <= stale {
            self.0.resize(stale + 1, 0);
        }
        self.0[stale] += 1;
    }

    fn staleness(&self) -> Staleness {
        let count: u64 = self.0.iter().sum();
        let sum: u64 = (0..).zip(&self.0).map(|(stale, count)| stale * count).sum();
        let mut so_far = 0;
        let below = self.0.iter().take_while(|seconds| {
            so_far += **seconds;
            so_far * 20 < count * 19
        });
        Staleness {
            mean: sum as f64 / count.max(1) as f64,
            most: below.count() as u64,
        }
    }
}

/// A display in the simulation.
struct SimDisplay {
    rule: ReturnRule,
    token: TokenDigest,
    returns_at: u64,
    /// The picture that it will show, and from when on.
    coming: Option<(u64, Vec<Cell>)>,
    shown: Vec<Cell>,
    stale_since: Option<u64>,
    wakes: u64,
    day: Histogram,
    quiet: Histogram,
}

/// The clock and its environment.
struct World {
    device: Device,
    deadline: Option<Duration>,
    random: Random,
    height: u32,
    prices: [f64; 3],
    next_block: f64,
    next_price: f64,
    last_price: f64,
}

impl World {
    fn new(scenario: Scenario, seed: u64) -> World {
        let settings = Settings {
            timer_seconds: scenario.turn_period,
            dnd_time_enabled: true,
            ..Settings::default()
        };
        let device = Device::on_chain(None, BoardSpec::EXAMPLE, settings, Memory::default(), at(0));
        let mut random = Random(seed);
        let mut world = World {
            deadline: None,
            device,
            height: 900_000,
            prices: CURRENCIES.map(|(_, price)| price),
            next_block: random.waiting_time(BLOCK_MEAN),
            next_price: 0.0,
            last_price: 0.0,
            random,
        };
        world.handle(Input::Linked(LinkEvent::Unmanaged), 0);
        let up = LinkEvent::Up {
            ip: "192.0.2.7".into(),
            ssid: None,
        };
        world.handle(Input::Linked(up), 0);
        let currencies = CURRENCIES
            .iter()
            .filter_map(|(code, _)| Currency::parse(code));
        world.observe(Observation::Connection(Connection::Up), 0);
        world.observe(Observation::Currencies(currencies.collect()), 0);
        world.observe(Observation::Block(world.height), 0);
        world
    }

    fn handle(&mut self, input: Input, second: u64) -> Option<Reply> {
        let now = at(second);
        let reply = self.device.handle(input, now).reply;
        self.deadline = self.device.next_deadline(now);
        reply
    }

    fn observe(&mut self, observation: Observation, second: u64) {
        self.handle(Input::Observed(SourceId::Relay, vec![observation]), second);
    }

    /// Handles everything that is due at a second. Returns whether anything was due.
    fn advance(&mut self, second: u64) -> bool {
        let mut is_due = false;
        let now = at(second);
        while (self.deadline).is_some_and(|deadline| deadline <= now.uptime) {
            self.handle(Input::Tick, second);
            is_due = true;
        }
        if self.next_block <= second as f64 {
            self.next_block += self.random.waiting_time(BLOCK_MEAN);
            self.height += 1;
            let (least, most) = FEE_RANGE;
            let fee = least + (most - least) * self.random.unit();
            self.observe(Observation::Block(self.height), second);
            let fee = FeeRate { micros: fee as u64 };
            self.observe(Observation::PreciseFee(fee), second);
            is_due = true;
        }
        if self.next_price <= second as f64 {
            let days = (second as f64 - self.last_price) / 86_400.0;
            let change = (DAILY_VOLATILITY * days.sqrt() * self.random.normal()).exp();
            self.last_price = second as f64;
            self.next_price += self.random.waiting_time(PRICE_MEAN);
            let mut quotes = Vec::new();
            for ((code, _), price) in CURRENCIES.iter().zip(&mut self.prices) {
                *price *= change;
                let quoted = Currency::parse(code).zip(Price::of_micros((*price * 1e6) as u64));
                if let Some((currency, price)) = quoted {
                    quotes.push(Observation::Price(currency, price));
                }
            }
            self.handle(Input::Observed(SourceId::Relay, quotes), second);
            is_due = true;
        }
        is_due
    }

    /// The picture that a display would get now.
    fn frame(&mut self, scenario: Scenario, second: u64) -> Option<Box<Frame>> {
        let content = scenario
            .screen
            .map_or(FrameContent::Follow, FrameContent::Screen);
        let reply = self.handle(Input::Request(Request::Frame(content)), second)?;
        if let Reply::Frame(frame) = reply {
            return Some(frame);
        }
        None
    }

    fn add(&mut self, rule: ReturnRule, scenario: Scenario, number: u8) -> SimDisplay {
        let token = TokenDigest::new([number; 32]);
        let interval = match rule {
            ReturnRule::Clock(minutes) | ReturnRule::Fixed(minutes) => minutes,
        };
        let change = DisplayChange {
            content: scenario.screen.map(|_| DisplayContent::Screen),
            screens: scenario.screen.map(|screen| vec![screen]),
            interval_min: Some(interval),
            ..DisplayChange::default()
        };
        let add = Request::Display(DisplayRequest::Add(token, [number; 16], change));
        self.handle(Input::Request(add), 0);
        SimDisplay {
            rule,
            token,
            returns_at: (self.random.unit() * 60.0 * f64::from(interval)) as u64,
            coming: None,
            shown: Vec::new(),
            stale_since: Some(0),
            wakes: 0,
            day: Histogram::default(),
            quiet: Histogram::default(),
        }
    }

    /// A display fetches a picture.
    fn wake(&mut self, display: &mut SimDisplay, second: u64) {
        let battery = Battery {
            percent: Some(80),
            ..Battery::default()
        };
        let poll = Request::Display(DisplayRequest::Poll {
            token: display.token,
            contact: Some((
                [0; 16],
                DisplayContact {
                    battery: Some(battery),
                    ..DisplayContact::default()
                },
            )),
            step: RotationStep::Next,
            page: String::new(),
        });
        let Some(Reply::DisplayPicture(picture)) = self.handle(Input::Request(poll), second) else {
            return;
        };
        let sleep = match display.rule {
            ReturnRule::Clock(_) => picture.returns_in.as_secs_f64(),
            ReturnRule::Fixed(minutes) => f64::from(minutes) * 60.0,
        };
        let error = TIMER_ERROR * (2.0 * self.random.unit() - 1.0);
        display.wakes += 1;
        display.coming = Some((second + WAKE, picture.frame.picture.cells));
        display.returns_at = second + WAKE + (sleep * (1.0 + error)) as u64;
    }
}

/// Simulates displays with these rules for some days.
pub fn simulate(
    scenario: Scenario,
    rules: &[ReturnRule],
    days: u32,
    seed: u64,
) -> Vec<DisplayOutcome> {
    let mut world = World::new(scenario, seed);
    let mut displays: Vec<SimDisplay> = (1..)
        .zip(rules)
        .map(|(number, rule)| world.add(*rule, scenario, number))
        .collect();
    let mut newest = world.frame(scenario, 0);
    for second in 0..u64::from(days) * 86_400 {
        if world.advance(second) {
            newest = world.frame(scenario, second);
        }
        let Some(newest) = &newest else { continue };
        let is_quiet = newest.changes.quiet_for.is_some();
        for display in &mut displays {
            if display.returns_at <= second {
                world.wake(display, second);
            }
            if let Some((_, cells)) = display.coming.take_if(|(from, _)| *from <= second) {
                display.shown = cells;
                display.stale_since = None;
            }
            display.stale_since = match display.shown == newest.picture.cells {
                true => None,
                false => display.stale_since.or(Some(second)),
            };
            let stale = display.stale_since.map_or(0, |since| second - since);
            match is_quiet {
                true => display.quiet.add(stale),
                false => display.day.add(stale),
            }
        }
    }
    let outcome = |display: SimDisplay| DisplayOutcome {
        rule: display.rule,
        wakes_per_day: display.wakes as f64 / f64::from(days),
        day: display.day.staleness(),
        quiet: display.quiet.staleness(),
    };
    displays.into_iter().map(outcome).collect()
}

fn at(second: u64) -> Now {
    let uptime = Duration::from_secs(second);
    let unix_ms = START_MS + i64::try_from(uptime.as_millis()).unwrap_or_default();
    Now {
        uptime,
        utc: UtcTime::plausible(unix_ms),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By day, a display that returns when the clock requests it has newer pictures than one that returns at that interval,
    /// although it returns less often.
    #[test]
    fn the_clock_beats_fixed_intervals() {
        let minutes = [5, 15, 30];
        let scenario = Scenario {
            turn_period: 300,
            screen: None,
        };
        let of = |rule: fn(u32) -> ReturnRule| minutes.map(rule);
        let rules = [of(ReturnRule::Fixed), of(ReturnRule::Clock)].concat();
        let outcomes = simulate(scenario, &rules, 2, 7);
        let (fixed, requested) = outcomes.split_at(minutes.len());
        for (fixed, requested) in fixed.iter().zip(requested) {
            let is_better = requested.wakes_per_day < fixed.wakes_per_day
                && requested.day.mean < fixed.day.mean
                && requested.day.most <= fixed.day.most;
            assert!(is_better, "{requested:?} against {fixed:?}");
        }
    }
}
