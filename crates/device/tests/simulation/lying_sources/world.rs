//! Runs a device with lying sources, and checks its panels every second.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use device::{
    Device,
    board::BoardSpec,
    input::Input,
    memory::Memory,
    request::{Patch, Request},
    settings::{Settings, data_source},
    view::View,
};
use market::{
    Connection, HeadersReach, HeightState, Observation, ProofOrigin,
    mark::Mark,
    now::{Now, UtcTime},
    source_id::SourceId,
    units::{Currency, Price},
};
use serde_json::{Map, Value, json};

use super::{
    blocks::{ANCHOR, BlockId, Blocks, Flaw},
    script::{ClaimKind, Newest, Prover, QuoteKind, SourceSet, Step},
};

/// Start of the simulation, Unix seconds: 2026-01-01.
const START: u32 = 1_767_225_600;

/// Age of a stale price, s.
const OLD_PRICE: u64 = 15 * 60;

/// How long an unproven height has no mark, s.
const PATIENCE: u64 = 120;

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
    peers_max: u32,
    mode: u32,
    witnesses: BTreeSet<SourceId>,
    screen: u16,
    /// Claims and quotes of the sources, newest last.
    last_claim: Vec<(SourceId, u32)>,
    last_quote: Vec<(SourceId, u64)>,
    /// The highest block with work that a source has sent.
    proven: u32,
    /// When a source has last sent a height, and a price.
    heights: BTreeMap<u32, u64>,
    prices: BTreeMap<(SourceId, u64), u64>,
    /// Since when the panels show a height above the proven one without a mark.
    unmarked: Option<u64>,
    /// All states of height and price that have occurred.
    pub seen: BTreeSet<&'static str>,
    pub log: Vec<String>,
}

impl World {
    pub fn new(sources: SourceSet) -> World {
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
            peers_max: 4,
            mode: 1,
            witnesses: [SourceId::Coinbase, SourceId::Bitstamp].into(),
            screen: HEIGHT,
            last_claim: Vec::new(),
            last_quote: Vec::new(),
            proven: ANCHOR,
            heights: BTreeMap::new(),
            prices: BTreeMap::new(),
            unmarked: None,
            seen: BTreeSet::new(),
            log: Vec::new(),
        };
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
            }
            Step::Reconnect(source) => {
                self.observe(source, Observation::Connection(Connection::Up));
            }
            Step::PeerDisconnect(peer) => {
                self.observe(SourceId::Peers, Observation::PeerDisconnected(peer));
            }
            Step::Clock(error) => {
                self.clock_error = error;
                self.handle(Input::Tick);
            }
            Step::PeersMax(most) => {
                self.set("proofPeerMax", json!(most));
                self.peers_max = most;
            }
            Step::ProofMode(mode) => {
                self.set("proofMode", json!(mode));
                self.mode = mode;
            }
            Step::Quorum(most) => self.set("priceQuorum", json!(most)),
            Step::Witnesses(names) => {
                self.set("priceWitnesses", json!(names));
                let named = names.iter().filter_map(|name| SourceId::named(name));
                self.witnesses = named.collect();
            }
            Step::Screen(screen) => self.show(screen),
            Step::Wait(seconds) => (0..seconds).for_each(|_| self.advance()),
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
        let has_work = |id: &&BlockId| {
            let flaw = self.blocks.flaw(**id);
            !matches!(flaw, Some(Flaw::NoWork | Flaw::OldVersion))
        };
        let sound = ids.iter().take_while(has_work);
        for id in sound {
            let height = self.blocks.height(*id);
            self.proven = self.proven.max(height);
            self.heights.insert(height, self.secs);
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

    fn claim(&mut self, source: SourceId, height: u32) {
        self.last_claim.push((source, height));
        self.heights.insert(height, self.secs);
        self.observe(source, Observation::Block(height));
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
        self.prices.insert((source, dollars), self.secs);
        let (currency, price) = (Currency::USD, Price::parse(&dollars.to_string()).unwrap());
        if source == self.sources.primary {
            self.observe(source, Observation::Price(currency, price));
        } else {
            let at = self
                .unix()
                .and_then(|unix| UtcTime::plausible((unix - ago) * 1000));
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
        self.device.handle(input, at(self.secs, self.clock_error));
    }

    fn unix(&self) -> Option<i64> {
        let utc = at(self.secs, self.clock_error).utc;
        utc.map(UtcTime::unix_secs)
    }

    /// Advances by a second, with a tick at each deadline only.
    fn advance(&mut self) {
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
        self.check();
    }

    fn check(&mut self) {
        let view = self.device.view();
        let mark = self.device.desired().picture.mark;
        let shown = self.device.view().data[1..].concat();
        self.check_height(&view, &shown, mark);
        self.check_price(&view, &shown, mark);
    }

    fn check_height(&mut self, view: &View, panels: &str, mark: Option<Mark>) {
        let shown = view.market.height.as_ref().map(|height| height.value);
        let (state, proven) = (view.truth.height, self.proven);
        self.seen.insert(state.name());
        let is_good = matches!(state, HeightState::Proven | HeightState::Alone);
        assert!(
            !is_good || shown <= Some(proven),
            "{shown:?} is shown as {state:?}, but only {proven} is proven"
        );
        if self.screen != HEIGHT {
            self.unmarked = None;
            return;
        }
        let seen: Option<u32> = panels.parse().ok();
        assert_eq!(seen, shown, "the height on the panels");
        let has_proofs = self.peers_max > 0
            || self.sources.has_node
            || self.sources.claims == SourceId::Explorer;
        let is_marked = mark.is_some() || self.mode == 0 || !has_proofs;
        let since = (!is_marked && seen > Some(proven)).then_some(self.secs);
        self.unmarked = since.map(|now| self.unmarked.unwrap_or(now));
        assert!(
            self.unmarked
                .is_none_or(|since| self.secs <= since + PATIENCE),
            "{seen:?} has no mark for too long, but only {proven} is proven"
        );
        let last_seen = seen.and_then(|seen| self.heights.get(&seen));
        let is_old = last_seen.is_some_and(|at| self.secs - at > OLD_HEIGHT);
        assert!(
            !is_old || mark == Some(Mark::Stale),
            "an old height has no mark"
        );
    }

    fn check_price(&mut self, view: &View, panels: &str, mark: Option<Mark>) {
        let shown = view.market.prices.get(&Currency::USD);
        let truth = view.truth.prices.get(&Currency::USD);
        let Some((shown, truth)) = shown.zip(truth) else {
            return;
        };
        self.seen.insert(truth.state.name());
        let dollars = shown.value.rounded();
        let Some(quoted) = self.prices.get(&(shown.source, dollars)) else {
            panic!("{} has never quoted {dollars}", shown.source.name());
        };
        if self.screen != TICKER {
            return;
        }
        let panels = panels.replace('$', "");
        assert!(
            is_price(&panels, dollars),
            "the panels show the price {panels}, not {dollars}"
        );
        let is_old = self.secs - quoted > OLD_PRICE;
        assert!(
            !is_old || mark == Some(Mark::Stale),
            "an old price has no mark"
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
