//! The world of one clock among liars: who makes blocks and trades, and what is on the glass at each second.

use std::{collections::BTreeSet, time::Duration};

use device::{
    Device,
    board::BoardSpec,
    input::Input,
    memory::Memory,
    request::{Patch, Request},
    settings::{Settings, data_source},
};
use market::{
    Connection, HeadersReach, HeightState, Observation, PriceState, ProofOrigin, QuoteVerdict,
    mark::Mark,
    now::{Now, UtcTime},
    source_id::SourceId,
    units::{Currency, Price},
};
use serde_json::{Map, Value, json};

use super::{
    blocks::{Blocks, Id},
    life::{Cast, Newest, Prover, Quoted, Said, Step},
    quotes::Quotes,
    verdict::{Heights, PATIENCE},
};
use crate::workload::Dice;

/// When lives begin, Unix seconds: 2026-01-01.
const START: u32 = 1_767_225_600;

/// Seconds after which a price is old.
const OLD_PRICE: i64 = 15 * 60;

/// Seconds for which a price may be disputed before the glass says so: so long what was agreed is shown.
const KEPT: u64 = 5 * 60;

/// Seconds after which a height is old.
const OLD_HEIGHT: u64 = 90 * 60;

/// Screens that are looked at.
const HEIGHT: u16 = 0;
const TICKER: u16 = 20;

/// One clock, and everybody who tells it something.
pub struct World {
    device: Device,
    secs: u64,
    /// Seconds by which the wall clock is beside the time; none where it is not set.
    off: Option<i64>,
    cast: Cast,
    blocks: Blocks,
    honest: Id,
    rival: Id,
    dollars: u64,
    heights: Heights,
    quotes: Quotes,
    peers_max: u32,
    mode: u32,
    witnesses: BTreeSet<SourceId>,
    screen: u16,
    /// What each source has said last.
    last_claim: Vec<(SourceId, u32)>,
    last_quote: Vec<(SourceId, u64)>,
    /// Since when the height has been less than good, by the reference; the price has been less than agreed, and
    /// disputed.
    weak: Run,
    doubted: Run,
    disputed: Run,
    /// Since when the glass has shown more than is proven, without a mark.
    above: Run,
    /// The worst sign that there is a reason for, and the worst that there was one for as the newest picture was made.
    due: Option<Mark>,
    allowed: Option<Mark>,
    picture: u64,
    /// Inputs since the last look.
    inputs: u32,
    looks: Dice,
    /// How good height and price were to be at the seconds that were looked at.
    pub seen: BTreeSet<&'static str>,
    pub log: Vec<String>,
}

/// Since when something has been so at the end of every second.
#[derive(Debug, Clone, Copy, Default)]
struct Run {
    before: Option<u64>,
    since: Option<u64>,
}

impl Run {
    fn set(&mut self, is_so: bool, now: u64) {
        self.since = is_so.then(|| self.before.unwrap_or(now));
    }

    fn pass(&mut self) {
        self.before = self.since;
    }

    fn lasts(&self, seconds: u64, now: u64) -> bool {
        self.since.is_some_and(|since| since + seconds <= now)
    }
}

impl World {
    pub fn new(cast: Cast, seed: u64) -> World {
        let blocks = Blocks::new(START - 4 * 3600);
        let settings = Settings {
            data_source: match cast.claims {
                SourceId::Explorer => data_source::EXPLORER,
                _ => data_source::PUBLIC_RELAY,
            },
            node_kind: cast.has_node.into(),
            node_host: "node.home".into(),
            min_sec_price_upd: 0,
            timer_seconds: 0,
            ..Settings::default()
        };
        let asked = [SourceId::Peers, cast.claims].into_iter();
        let asked = asked.chain(cast.has_node.then_some(SourceId::Node));
        let mut world = World {
            device: Device::on_chain(
                Some(blocks.chain()),
                BoardSpec::EXAMPLE,
                settings,
                Memory::default(),
                at(0, Some(0)),
            ),
            secs: 0,
            off: Some(0),
            cast,
            blocks,
            honest: 0,
            rival: 0,
            dollars: 64_000,
            heights: Heights::new(asked.collect()),
            quotes: Quotes::new(cast.primary),
            peers_max: 4,
            mode: 1,
            witnesses: [SourceId::Coinbase, SourceId::Bitstamp].into(),
            screen: HEIGHT,
            last_claim: Vec::new(),
            last_quote: Vec::new(),
            weak: Run::default(),
            doubted: Run::default(),
            disputed: Run::default(),
            above: Run::default(),
            due: Some(Mark::Stale),
            allowed: Some(Mark::Stale),
            picture: 0,
            inputs: 0,
            looks: Dice::new(seed),
            seen: BTreeSet::new(),
            log: Vec::new(),
        };
        world.heights.unix = world.unix();
        world.show(HEIGHT);
        world
    }

    /// Runs a step, and looks at the clock after it.
    pub fn run(&mut self, step: &Step) {
        match *step {
            Step::Mine(count) => {
                let time = START + u32::try_from(self.secs).unwrap();
                for _ in 0..count {
                    self.honest = self.blocks.make(self.honest, time, None);
                }
            }
            Step::Rival(less, more) => {
                let time = START + u32::try_from(self.secs).unwrap();
                self.rival = self.blocks.before(self.honest, less);
                for _ in 0..more {
                    self.rival = self.blocks.make(self.rival, time, None);
                }
            }
            Step::Prove(prover, newest, count) => self.prove(prover, newest, count),
            Step::Claim(source, said) => {
                let truth = i64::from(self.blocks.height(self.honest));
                let before = last(&self.last_claim, source).map_or(truth, i64::from);
                let height = match said {
                    Said::Off(off) => truth + off,
                    Said::Again(more) => before + more,
                };
                self.claim(source, u32::try_from(height).unwrap());
            }
            Step::Move(permille) => self.dollars = (self.dollars * permille / 1000).max(1000),
            Step::Quote(source, quoted) => self.quote(source, quoted),
            Step::Away(source) => {
                let reason = "gone".into();
                let retry_in = Duration::from_secs(5);
                self.hear(
                    source,
                    Observation::Connection(Connection::Down { reason, retry_in }),
                );
                if !self.is_gone(source) {
                    self.heights.leave(source);
                }
                self.quotes.silence(source);
            }
            Step::Back(source) => {
                self.hear(source, Observation::Connection(Connection::Up));
                if !self.is_gone(source) {
                    self.heights.come(source);
                }
            }
            Step::Left(peer) => {
                self.hear(SourceId::Peers, Observation::PeerDisconnected(peer));
                self.heights.part(ProofOrigin {
                    source: SourceId::Peers,
                    place: peer,
                });
            }
            Step::Clock(off) => {
                self.off = off;
                self.heights.unix = self.unix();
                self.handle(Input::Tick);
            }
            Step::PeersMax(most) => {
                self.set("proofPeerMax", json!(most));
                match most {
                    0 if self.peers_max > 0 => self.heights.forget(SourceId::Peers),
                    0 => {}
                    _ => drop(self.heights.asked.insert(SourceId::Peers)),
                }
                self.peers_max = most;
            }
            Step::ProofMode(mode) => {
                self.set("proofMode", json!(mode));
                self.mode = mode;
                self.heights.strict = mode == 2;
            }
            Step::Quorum(most) => {
                self.set("priceQuorum", json!(most));
                self.quotes.quorum = most as usize;
            }
            Step::Witnesses(names) => {
                self.set("priceWitnesses", json!(names));
                let named = names.iter().filter_map(|name| SourceId::named(name));
                let witnesses: BTreeSet<SourceId> = named.collect();
                for gone in self.witnesses.difference(&witnesses) {
                    self.quotes.forget(*gone);
                }
                self.witnesses = witnesses;
            }
            Step::Screen(screen) => self.show(screen),
            Step::Wait(seconds) => {
                for left in (0..seconds).rev() {
                    // Most of a long wait is like any other part of it.
                    let is_looked_at = left < 125 || self.looks.below(10) == 0;
                    self.pass(is_looked_at);
                }
            }
        }
        self.check();
        let view = self.device.view();
        let height = view.market.height.as_ref().map(|height| height.value);
        let mark = self.device.desired().picture.mark;
        let state = view.truth.height;
        self.log.push(format!(
            "{} s {step:?} > {height:?} {state:?} {mark:?}",
            self.secs
        ));
    }

    fn prove(&mut self, prover: Prover, newest: Newest, count: Option<usize>) {
        let tip = match newest {
            Newest::Honest => self.honest,
            Newest::Behind(blocks) => self.blocks.before(self.honest, blocks),
            Newest::Rival => self.rival,
            Newest::Ahead(seconds) => {
                let unix = self.unix().unwrap_or(i64::from(START));
                let time = u32::try_from(unix + seconds).unwrap();
                self.blocks.make(self.honest, time, None)
            }
            Newest::Flawed(flaw) => {
                let time = START + u32::try_from(self.secs).unwrap();
                let bad = self.blocks.make(self.honest, time, Some(flaw));
                self.blocks.make(bad, time, None)
            }
        };
        let path = self.blocks.path(tip);
        let from = path.len().saturating_sub(count.unwrap_or(path.len()));
        let ids = &path[from..];
        if ids.is_empty() {
            return;
        }
        let headers = self.blocks.headers(ids);
        let place = |source, place| ProofOrigin { source, place };
        let origin = match prover {
            Prover::Peer(number) => place(SourceId::Peers, number),
            Prover::Node => place(SourceId::Node, 0),
            Prover::Explorer => place(SourceId::Explorer, 0),
        };
        if !self.is_gone(origin.source) {
            self.heights.prove(origin, ids, &self.blocks);
        }
        match prover {
            Prover::Peer(_) | Prover::Node => {
                self.handle(Input::Headers(origin, headers, HeadersReach::Newest))
            }
            Prover::Explorer => {
                let height = self.blocks.height(tip);
                self.hear(SourceId::Explorer, Observation::Headers { height, headers });
                // It says the number as well.
                self.claim(SourceId::Explorer, height);
            }
        }
    }

    /// What it says was on its way as it was switched off.
    fn is_gone(&self, source: SourceId) -> bool {
        source == SourceId::Peers && self.peers_max == 0
    }

    fn claim(&mut self, source: SourceId, height: u32) {
        self.last_claim.push((source, height));
        self.hear(source, Observation::Block(height));
        self.heights.claim(source, height);
    }

    fn quote(&mut self, source: SourceId, quoted: Quoted) {
        let dollars = match quoted {
            Quoted::Permille(permille) => self.dollars * permille / 1000,
            Quoted::Again(_) => last(&self.last_quote, source).unwrap_or(self.dollars),
        };
        let ago = match quoted {
            Quoted::Permille(_) => 0,
            Quoted::Again(ago) => ago,
        };
        self.last_quote.push((source, dollars));
        let (currency, price) = (Currency::USD, Price::parse(&dollars.to_string()).unwrap());
        if source == self.cast.primary {
            self.quotes.tell(source, dollars, None);
            self.hear(source, Observation::Price(currency, price));
        } else {
            let at = self
                .unix()
                .and_then(|unix| UtcTime::plausible((unix - ago) * 1000));
            if self.witnesses.contains(&source) {
                self.quotes.tell(source, dollars, at.map(|_| ago));
            }
            self.hear(
                source,
                Observation::Quote {
                    currency,
                    price,
                    at,
                },
            );
        }
    }

    fn set(&mut self, key: &str, value: Value) {
        let body = Map::from_iter([(key.to_owned(), value)]);
        self.handle(Input::Asked(Request::Patch(Patch {
            body,
            ..Patch::default()
        })));
    }

    /// Shows a screen, with the mark that it deserves now.
    fn show(&mut self, screen: u16) {
        self.screen = screen;
        self.handle(Input::Asked(Request::ShowScreen(screen.into())));
        self.handle(Input::Asked(Request::FullRefresh));
    }

    fn hear(&mut self, source: SourceId, observation: Observation) {
        self.handle(Input::Observed(source, vec![observation]));
    }

    fn handle(&mut self, input: Input) {
        self.inputs += 1;
        self.device.handle(input, at(self.secs, self.off));
    }

    fn unix(&self) -> Option<i64> {
        let utc = at(self.secs, self.off).utc;
        utc.map(UtcTime::unix_secs)
    }

    /// Lets a second pass, with a tick at each deadline and nowhere else.
    fn pass(&mut self, is_looked_at: bool) {
        let end = Duration::from_secs(self.secs + 1);
        let mut now = at(self.secs, self.off);
        while let Some(due) = self.device.next_deadline(now).filter(|due| *due <= end) {
            let later = i64::try_from((due - now.uptime).as_millis()).unwrap();
            let utc = now
                .utc
                .and_then(|utc| UtcTime::plausible(utc.unix_ms + later));
            now = Now { uptime: due, utc };
            self.device.handle(Input::Tick, now);
        }
        self.secs += 1;
        self.heights.now = self.secs;
        self.heights.unix = self.unix();
        self.quotes.now += 1;
        self.quotes.pass();
        for run in [
            &mut self.weak,
            &mut self.doubted,
            &mut self.disputed,
            &mut self.above,
        ] {
            run.pass();
        }
        match is_looked_at {
            true => self.check(),
            false => self.expect(),
        }
    }

    /// Works out what is to be seen at the end of this second.
    fn expect(&mut self) {
        self.heights.pass();
        let verdict = self.heights.verdict(&self.blocks);
        let is_weak = verdict.is_some_and(|verdict| match verdict.state {
            HeightState::Alone | HeightState::Claimed | HeightState::Disputed => true,
            HeightState::Proven | HeightState::Stale | HeightState::Unknown => false,
        });
        self.weak.set(is_weak, self.secs);
        let state = self.quotes.verdict().map(|(state, _)| state);
        let is_disputed = state == Some(PriceState::Disputed);
        let is_weak = is_disputed || state == Some(PriceState::Single);
        self.doubted.set(is_weak, self.secs);
        self.disputed.set(is_disputed, self.secs);
        let due = self.worst(verdict.map(|verdict| verdict.state), state);
        let picture = self.device.desired().picture.serial;
        if picture != self.picture {
            // It may have been made before what came last, and between two inputs nobody looks.
            self.allowed = match self.inputs {
                0 | 1 => self.due.max(due),
                _ => Some(Mark::Stale),
            };
        }
        (self.picture, self.due, self.inputs) = (picture, due, 0);
    }

    /// The worst sign that there is a reason for on the screen that is shown; where nobody can tell, any.
    fn worst(&self, height: Option<HeightState>, price: Option<PriceState>) -> Option<Mark> {
        let worst = match self.screen {
            HEIGHT => match height {
                Some(HeightState::Proven) => None,
                Some(HeightState::Alone | HeightState::Claimed) => Some(Mark::Alone),
                Some(HeightState::Disputed) => Some(Mark::Disputed),
                Some(HeightState::Stale | HeightState::Unknown) | None => Some(Mark::Stale),
            },
            _ => match price {
                Some(PriceState::Agreed) => None,
                Some(PriceState::Single) => Some(Mark::Alone),
                Some(PriceState::Disputed) => Some(Mark::Disputed),
                Some(PriceState::Stale) | None => Some(Mark::Stale),
            },
        };
        worst.filter(|mark| *mark == Mark::Stale || self.mode > 0)
    }

    /// Asserts that the clock shows what is to be seen.
    fn check(&mut self) {
        self.expect();
        let view = self.device.view();
        let mark = self.device.desired().picture.mark;
        assert!(
            mark <= self.allowed,
            "{mark:?} on the glass, where at most {:?} is due",
            self.allowed
        );
        assert!(
            !view.stale || self.due == Some(Mark::Stale),
            "said to be old"
        );
        assert!(
            !view.disputed || self.due >= Some(Mark::Disputed),
            "said to be disputed"
        );
        self.check_height();
        self.check_price();
    }

    fn check_height(&mut self) {
        let view = self.device.view();
        let mark = self.device.desired().picture.mark;
        let shown = view.market.height.as_ref().map(|height| height.value);
        let state = view.truth.height;
        let proven = self.heights.proven(&self.blocks);
        let is_good = matches!(state, HeightState::Proven | HeightState::Alone);
        assert!(
            !is_good || self.heights.loose || shown <= Some(proven),
            "{shown:?} is {state:?} where {proven} is proven"
        );
        let verdict = self.heights.verdict(&self.blocks);
        if let Some(verdict) = verdict {
            let expected = (Some(verdict.shown), verdict.state);
            assert_eq!((shown, state), expected, "the height and how good it is");
            self.seen.insert(state.name());
        }
        let least = shown.and_then(|shown| self.heights.claimed(shown));
        assert!(
            least <= shown,
            "{least:?} is said, {shown:?} is shown, and nothing is proven"
        );
        if self.screen != HEIGHT {
            self.above.set(false, self.secs);
            return;
        }
        let seen: Option<u32> = view.data[1..].concat().parse().ok();
        assert_eq!(seen, shown, "the height on the glass");
        let is_asked = !self
            .heights
            .asked
            .iter()
            .all(|source| *source == SourceId::Relay);
        let is_marked = mark.is_some() || self.mode == 0 || !is_asked;
        self.above.set(!is_marked && seen > Some(proven), self.secs);
        assert!(
            !self.above.lasts(PATIENCE + 1, self.secs),
            "{seen:?} has no mark for long, where {proven} is proven"
        );
        if let Some(said) = seen.and_then(|seen| self.heights.said(seen)) {
            let is_old = self.secs - said > OLD_HEIGHT;
            assert!(
                !is_old || mark == Some(Mark::Stale),
                "an old height has no mark"
            );
        }
        let Some(verdict) = verdict else { return };
        let old = (is_asked && state == HeightState::Stale).then_some(Mark::Stale);
        let disputed = verdict.contested.then_some(Mark::Disputed);
        let alone = (is_asked && self.weak.lasts(PATIENCE, self.secs)).then_some(Mark::Alone);
        let doubt = disputed.or(alone).filter(|_| self.mode > 0);
        let expected = old.max(doubt);
        assert!(
            mark >= expected,
            "{mark:?} on the glass, where {expected:?} is due"
        );
    }

    fn check_price(&mut self) {
        let view = self.device.view();
        let mark = self.device.desired().picture.mark;
        let (Some(shown), Some(truth)) = (
            view.market.prices.get(&Currency::USD),
            view.truth.prices.get(&Currency::USD),
        ) else {
            return;
        };
        let dollars = shown.value.rounded();
        let told = self.quotes.told(shown.source, dollars);
        let Some(told) = told else {
            panic!("{} has never said {dollars}", shown.source.name());
        };
        if let Some((state, price)) = self.quotes.verdict() {
            assert_eq!(truth.state, state, "how good the price is");
            self.seen.insert(state.name());
            let price = price.unwrap_or(dollars);
            assert_eq!(dollars, price, "the price that is agreed");
            for quote in truth
                .quotes
                .iter()
                .filter(|quote| quote.verdict != QuoteVerdict::Old)
            {
                let is_out = quote.verdict == QuoteVerdict::Outlier;
                let source = quote.source;
                assert_eq!(is_out, self.quotes.is_out(source), "{source:?} is far off");
            }
        }
        if self.screen != TICKER {
            return;
        }
        let seen = view.data[1..].concat().replace('$', "");
        assert!(
            says(&seen, dollars),
            "the price on the glass: {seen}, not {dollars}"
        );
        let is_old = self.quotes.now - told > OLD_PRICE;
        assert!(
            !is_old || mark == Some(Mark::Stale),
            "an old price has no mark"
        );
        if self.mode == 0 || self.witnesses.is_empty() {
            return;
        }
        // Who is alone and then contradicted keeps the sign of the lone.
        let is_alone = self.doubted.since < self.disputed.since || self.disputed.since.is_none();
        let alone = is_alone && self.doubted.lasts(PATIENCE, self.secs);
        let disputed = self
            .disputed
            .lasts(KEPT, self.secs)
            .then_some(Mark::Disputed);
        let expected = disputed.max(alone.then_some(Mark::Alone));
        assert!(
            mark >= expected,
            "{mark:?} on the glass, where {expected:?} is due"
        );
    }
}

/// What a source has said last.
/// Tells whether a text on the glass is a price in whole dollars, as exactly as it can be told in it.
fn says(text: &str, dollars: u64) -> bool {
    let (number, unit) = match text.strip_suffix('M') {
        Some(millions) => (millions, 1_000_000),
        // A small price has decimals, where there is room.
        None => (text.split('.').next().unwrap(), 1),
    };
    let decimals = number
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len());
    let last = unit / 10u64.pow(u32::try_from(decimals).unwrap());
    let told = number.replace('.', "").parse::<u64>();
    told.is_ok_and(|told| (told * last).abs_diff(dollars) <= last / 2)
}

fn last<T: Copy>(said: &[(SourceId, T)], source: SourceId) -> Option<T> {
    let mut newest = said.iter().rev().filter(|(who, _)| *who == source);
    newest.next().map(|(_, what)| *what)
}

/// The moment so many seconds after the start, by a wall clock that is so many beside the time.
fn at(secs: u64, off: Option<i64>) -> Now {
    let real = i64::from(START) + i64::try_from(secs).unwrap();
    Now {
        uptime: Duration::from_secs(secs),
        utc: off.and_then(|off| UtcTime::plausible((real + off) * 1000)),
    }
}
