//! Runs a device with lying sources, and checks its panels every second.

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
    blocks::{BlockId, Blocks},
    heights::{Heights, PATIENCE},
    quotes::Quotes,
    script::{ClaimKind, Newest, Prover, QuoteKind, SourceSet, Step},
};
use crate::workload::Dice;

/// Start of the simulation, Unix seconds: 2026-01-01.
const START: u32 = 1_767_225_600;

/// Age of a stale price, s.
const OLD_PRICE: i64 = 15 * 60;

/// How long an agreed price is held while it is disputed, s.
const PRICE_HELD: u64 = 5 * 60;

/// Age of a stale height, s.
const OLD_HEIGHT: u64 = 90 * 60;

/// The checked screens.
const HEIGHT: u16 = 0;
const TICKER: u16 = 20;

/// A device and its sources.
pub struct World {
    device: Device,
    secs: u64,
    /// Error of the wall clock, s. `None` if it is not set.
    clock_error: Option<i64>,
    sources: SourceSet,
    blocks: Blocks,
    honest: BlockId,
    rival: BlockId,
    dollars: u64,
    heights: Heights,
    quotes: Quotes,
    peers_max: u32,
    mode: u32,
    witnesses: BTreeSet<SourceId>,
    screen: u16,
    /// Claims and quotes of the sources, newest last.
    last_claim: Vec<(SourceId, u32)>,
    last_quote: Vec<(SourceId, u64)>,
    /// Since when the reference has an unproven height, a price without agreement, and a disputed price.
    unproven_height: Period,
    weak_price: Period,
    disputed_price: Period,
    /// Since when the panels show a height above the proven one without a mark.
    unmarked: Period,
    /// The worst justified mark now, and at the time of the newest picture.
    due: Option<Mark>,
    allowed: Option<Mark>,
    picture: u64,
    /// Inputs since the last check.
    inputs: u32,
    dice: Dice,
    /// All states of height and price that were checked.
    pub seen: BTreeSet<&'static str>,
    pub log: Vec<String>,
}

/// Since when a condition holds at the end of every second.
#[derive(Debug, Clone, Copy, Default)]
struct Period {
    before: Option<u64>,
    since: Option<u64>,
}

impl Period {
    fn set(&mut self, holds: bool, now: u64) {
        self.since = holds.then(|| self.before.unwrap_or(now));
    }

    fn advance(&mut self) {
        self.before = self.since;
    }

    fn lasts(&self, seconds: u64, now: u64) -> bool {
        self.since.is_some_and(|since| since + seconds <= now)
    }
}

impl World {
    pub fn new(sources: SourceSet, seed: u64) -> World {
        let blocks = Blocks::new(START - 4 * 3600);
        let settings = Settings {
            data_source: match sources.claims {
                SourceId::Explorer => data_source::EXPLORER,
                _ => data_source::PUBLIC_RELAY,
            },
            node_kind: sources.has_node.into(),
            node_host: "node.home".into(),
            min_sec_price_upd: 0,
            timer_seconds: 0,
            ..Settings::default()
        };
        let enabled = [SourceId::Peers, sources.claims].into_iter();
        let enabled = enabled.chain(sources.has_node.then_some(SourceId::Node));
        let mut world = World {
            device: Device::on_chain(
                Some(blocks.chain()),
                BoardSpec::EXAMPLE,
                settings,
                Memory::default(),
                at(0, Some(0)),
            ),
            secs: 0,
            clock_error: Some(0),
            sources,
            blocks,
            honest: 0,
            rival: 0,
            dollars: 64_000,
            heights: Heights::new(enabled.collect()),
            quotes: Quotes::new(sources.primary),
            peers_max: 4,
            mode: 1,
            witnesses: [SourceId::Coinbase, SourceId::Bitstamp].into(),
            screen: HEIGHT,
            last_claim: Vec::new(),
            last_quote: Vec::new(),
            unproven_height: Period::default(),
            weak_price: Period::default(),
            disputed_price: Period::default(),
            unmarked: Period::default(),
            due: Some(Mark::Stale),
            allowed: Some(Mark::Stale),
            picture: 0,
            inputs: 0,
            dice: Dice::new(seed),
            seen: BTreeSet::new(),
            log: Vec::new(),
        };
        world.heights.unix = world.unix();
        world.show(HEIGHT);
        world
    }

    /// Runs a step and checks the device.
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
            Step::Claim(source, kind) => {
                let truth = i64::from(self.blocks.height(self.honest));
                let before = last(&self.last_claim, source).map_or(truth, i64::from);
                let height = match kind {
                    ClaimKind::Offset(offset) => truth + offset,
                    ClaimKind::Repeated(more) => before + more,
                };
                self.claim(source, u32::try_from(height).unwrap());
            }
            Step::Move(permille) => self.dollars = (self.dollars * permille / 1000).max(1000),
            Step::Quote(source, kind) => self.quote(source, kind),
            Step::Disconnect(source) => {
                let reason = "closed".into();
                let retry_in = Duration::from_secs(5);
                self.observe(
                    source,
                    Observation::Connection(Connection::Down { reason, retry_in }),
                );
                if !self.is_disabled(source) {
                    self.heights.disconnect(source);
                }
                self.quotes.disconnect(source);
            }
            Step::Reconnect(source) => {
                self.observe(source, Observation::Connection(Connection::Up));
                if !self.is_disabled(source) {
                    self.heights.reconnect(source);
                }
            }
            Step::PeerDisconnect(peer) => {
                self.observe(SourceId::Peers, Observation::PeerDisconnected(peer));
                self.heights.disconnect_peer(ProofOrigin {
                    source: SourceId::Peers,
                    place: peer,
                });
            }
            Step::Clock(error) => {
                self.clock_error = error;
                self.heights.unix = self.unix();
                self.handle(Input::Tick);
            }
            Step::PeersMax(most) => {
                self.set("proofPeerMax", json!(most));
                match most {
                    0 if self.peers_max > 0 => self.heights.disable(SourceId::Peers),
                    0 => {}
                    _ => drop(self.heights.enabled.insert(SourceId::Peers)),
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
                    // Checks only a sample of the seconds of a long wait.
                    let is_checked = left < 125 || self.dice.below(10) == 0;
                    self.advance(is_checked);
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
        if !self.is_disabled(origin.source) {
            self.heights.prove(origin, ids, &self.blocks);
        }
        match prover {
            Prover::Peer(_) | Prover::Node => {
                self.handle(Input::Headers(origin, headers, HeadersReach::Newest))
            }
            Prover::Explorer => {
                let height = self.blocks.height(tip);
                self.observe(SourceId::Explorer, Observation::Headers { height, headers });
                // The explorer also claims the height.
                self.claim(SourceId::Explorer, height);
            }
        }
    }

    /// Whether the source is disabled; its queued inputs are ignored.
    fn is_disabled(&self, source: SourceId) -> bool {
        source == SourceId::Peers && self.peers_max == 0
    }

    fn claim(&mut self, source: SourceId, height: u32) {
        self.last_claim.push((source, height));
        self.observe(source, Observation::Block(height));
        self.heights.claim(source, height);
    }

    fn quote(&mut self, source: SourceId, kind: QuoteKind) {
        let dollars = match kind {
            QuoteKind::Permille(permille) => self.dollars * permille / 1000,
            QuoteKind::Repeated(_) => last(&self.last_quote, source).unwrap_or(self.dollars),
        };
        let ago = match kind {
            QuoteKind::Permille(_) => 0,
            QuoteKind::Repeated(ago) => ago,
        };
        self.last_quote.push((source, dollars));
        let (currency, price) = (Currency::USD, Price::parse(&dollars.to_string()).unwrap());
        if source == self.sources.primary {
            self.quotes.quote(source, dollars, None);
            self.observe(source, Observation::Price(currency, price));
        } else {
            let at = self
                .unix()
                .and_then(|unix| UtcTime::plausible((unix - ago) * 1000));
            if self.witnesses.contains(&source) {
                self.quotes.quote(source, dollars, at.map(|_| ago));
            }
            self.observe(
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
        self.handle(Input::Request(Request::Patch(Patch {
            body,
            ..Patch::default()
        })));
    }

    /// Shows a screen with its current mark.
    fn show(&mut self, screen: u16) {
        self.screen = screen;
        self.handle(Input::Request(Request::ShowScreen(screen.into())));
        self.handle(Input::Request(Request::FullRefresh));
    }

    fn observe(&mut self, source: SourceId, observation: Observation) {
        self.handle(Input::Observed(source, vec![observation]));
    }

    fn handle(&mut self, input: Input) {
        self.inputs += 1;
        self.device.handle(input, at(self.secs, self.clock_error));
    }

    fn unix(&self) -> Option<i64> {
        let utc = at(self.secs, self.clock_error).utc;
        utc.map(UtcTime::unix_secs)
    }

    /// Advances by a second, with a tick at each deadline only.
    fn advance(&mut self, is_checked: bool) {
        let end = Duration::from_secs(self.secs + 1);
        let mut now = at(self.secs, self.clock_error);
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
        self.quotes.advance();
        for period in [
            &mut self.unproven_height,
            &mut self.weak_price,
            &mut self.disputed_price,
            &mut self.unmarked,
        ] {
            period.advance();
        }
        match is_checked {
            true => self.check(),
            false => self.expect(),
        }
    }

    /// Computes the expected marks at the end of this second.
    fn expect(&mut self) {
        self.heights.advance();
        let verdict = self.heights.verdict(&self.blocks);
        let is_weak = verdict.is_some_and(|verdict| match verdict.state {
            HeightState::Alone | HeightState::Claimed | HeightState::Disputed => true,
            HeightState::Proven | HeightState::Stale | HeightState::Unknown => false,
        });
        self.unproven_height.set(is_weak, self.secs);
        let state = self.quotes.verdict().map(|(state, _)| state);
        let is_disputed = state == Some(PriceState::Disputed);
        let is_weak = is_disputed || state == Some(PriceState::Single);
        self.weak_price.set(is_weak, self.secs);
        self.disputed_price.set(is_disputed, self.secs);
        let due = self.worst(verdict.map(|verdict| verdict.state), state);
        let picture = self.device.desired().picture.serial;
        if picture != self.picture {
            // The picture may be from before the last input, and there are no checks between inputs.
            self.allowed = match self.inputs {
                0 | 1 => self.due.max(due),
                _ => Some(Mark::Stale),
            };
        }
        (self.picture, self.due, self.inputs) = (picture, due, 0);
    }

    /// The worst justified mark on the current screen; the worst of all if the reference has no result.
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

    /// Asserts that the device shows what the reference expects.
    fn check(&mut self) {
        self.expect();
        let view = self.device.view();
        let mark = self.device.desired().picture.mark;
        assert!(
            mark <= self.allowed,
            "{mark:?} on the panels, at most {:?} is justified",
            self.allowed
        );
        assert!(
            !view.stale || self.due == Some(Mark::Stale),
            "reported as stale"
        );
        assert!(
            !view.disputed || self.due >= Some(Mark::Disputed),
            "reported as disputed"
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
            !is_good || self.heights.unlinked || shown <= Some(proven),
            "{shown:?} is shown as {state:?}, but only {proven} is proven"
        );
        let verdict = self.heights.verdict(&self.blocks);
        if let Some(verdict) = verdict {
            let expected = (Some(verdict.shown), verdict.state);
            assert_eq!((shown, state), expected, "the height and its state");
            self.seen.insert(state.name());
        }
        let least = shown.and_then(|shown| self.heights.claimed(shown));
        assert!(
            least <= shown,
            "without proofs {shown:?} is shown, but {least:?} is claimed"
        );
        if self.screen != HEIGHT {
            self.unmarked.set(false, self.secs);
            return;
        }
        let seen: Option<u32> = view.data[1..].concat().parse().ok();
        assert_eq!(seen, shown, "the height on the panels");
        let has_proofs = !self
            .heights
            .enabled
            .iter()
            .all(|source| *source == SourceId::Relay);
        let is_marked = mark.is_some() || self.mode == 0 || !has_proofs;
        self.unmarked
            .set(!is_marked && seen > Some(proven), self.secs);
        assert!(
            !self.unmarked.lasts(PATIENCE + 1, self.secs),
            "{seen:?} has no mark for too long, but only {proven} is proven"
        );
        if let Some(last_seen) = seen.and_then(|seen| self.heights.last_seen(seen)) {
            let is_old = self.secs - last_seen > OLD_HEIGHT;
            assert!(
                !is_old || mark == Some(Mark::Stale),
                "an old height has no mark"
            );
        }
        let Some(verdict) = verdict else { return };
        let old = (has_proofs && state == HeightState::Stale).then_some(Mark::Stale);
        let disputed = verdict.contested.then_some(Mark::Disputed);
        let alone =
            (has_proofs && self.unproven_height.lasts(PATIENCE, self.secs)).then_some(Mark::Alone);
        let doubt = disputed.or(alone).filter(|_| self.mode > 0);
        let expected = old.max(doubt);
        assert!(
            mark >= expected,
            "{mark:?} on the panels, expected {expected:?}"
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
        let quoted = self.quotes.last_quoted(shown.source, dollars);
        let Some(quoted) = quoted else {
            panic!("{} has never quoted {dollars}", shown.source.name());
        };
        if let Some((state, price)) = self.quotes.verdict() {
            assert_eq!(truth.state, state, "the state of the price");
            self.seen.insert(state.name());
            let price = price.unwrap_or(dollars);
            assert_eq!(dollars, price, "the agreed price");
            for quote in truth
                .quotes
                .iter()
                .filter(|quote| quote.verdict != QuoteVerdict::Old)
            {
                let is_outlier = quote.verdict == QuoteVerdict::Outlier;
                let source = quote.source;
                assert_eq!(
                    is_outlier,
                    self.quotes.is_outlier(source),
                    "{source:?} is an outlier"
                );
            }
        }
        if self.screen != TICKER {
            return;
        }
        let seen = view.data[1..].concat().replace('$', "");
        assert!(
            is_price(&seen, dollars),
            "the panels show the price {seen}, not {dollars}"
        );
        let is_old = self.quotes.now - quoted > OLD_PRICE;
        assert!(
            !is_old || mark == Some(Mark::Stale),
            "an old price has no mark"
        );
        if self.mode == 0 || self.witnesses.is_empty() {
            return;
        }
        // A single source that is contradicted later keeps its mark.
        let is_alone = self.weak_price.since < self.disputed_price.since
            || self.disputed_price.since.is_none();
        let alone = is_alone && self.weak_price.lasts(PATIENCE, self.secs);
        let disputed = self
            .disputed_price
            .lasts(PRICE_HELD, self.secs)
            .then_some(Mark::Disputed);
        let expected = disputed.max(alone.then_some(Mark::Alone));
        assert!(
            mark >= expected,
            "{mark:?} on the panels, expected {expected:?}"
        );
    }
}

/// Whether a text on the panels is a price in whole dollars, rounded to its digits.
fn is_price(text: &str, dollars: u64) -> bool {
    let (number, unit) = match text.strip_suffix('M') {
        Some(millions) => (millions, 1_000_000),
        // A small price has decimals, where there is room.
        None => (text.split('.').next().unwrap(), 1),
    };
    let decimals = number
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len());
    let last = unit / 10u64.pow(u32::try_from(decimals).unwrap());
    let shown = number.replace('.', "").parse::<u64>();
    shown.is_ok_and(|shown| (shown * last).abs_diff(dollars) <= last / 2)
}

/// The newest value of a source.
fn last<T: Copy>(values: &[(SourceId, T)], source: SourceId) -> Option<T> {
    let mut newest = values.iter().rev().filter(|(id, _)| *id == source);
    newest.next().map(|(_, value)| *value)
}

/// The time `secs` after the start, with an error of the wall clock.
fn at(secs: u64, clock_error: Option<i64>) -> Now {
    let real = i64::from(START) + i64::try_from(secs).unwrap();
    Now {
        uptime: Duration::from_secs(secs),
        utc: clock_error.and_then(|error| UtcTime::plausible((real + error) * 1000)),
    }
}
