//! The sources as one: what they have said, how each of them is, and which of them should run.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    string::String,
    sync::Arc,
    vec::Vec,
};
use core::time::Duration;

use chain::{Header, Work, chain::Chain, network::Network, rules::HeaderRefusal};

use super::plan::{self as sources, ByHand, Plan};
use crate::settings::{RunningSettings, Settings, proof_mode};
use market::{
    doubts::{self, Demands},
    fees::{FeePrecision, FeeQuote, Fees},
    figures::{FigureIdentity, Polled},
    headers::{HeadersReach, Judged, KeptChain, Reorganisations},
    height::{self, HeightGate, HeightNews},
    observation::{Connection, Observation, Payment, Zap},
    offer::Offer,
    price_book::{PriceBook, PriceTruths},
    proof::{ChainSpec, HeaderRun, Shown},
    quotes::{PriceRules, PriceState},
    since::Since,
    source_id::SourceId,
    source_state::SourceState,
    time_truth::{self, TimeServer, TimeTruth},
    truth::{Doubts, HeightState, HeightTruth, Proven},
    until::Until,
    values::{Market, Seen},
    venues,
    verdict::{self, Admits, Believed, HeightVerdict},
    voices::{ChainPosition, ProofOrigin, Tip, Trail, Voices},
};
use market::{
    limits::{CATCH_UP_BLOCKS, CLOCK_STEP_MIN, CURRENCIES_MAX, LEAD_BLOCKS, TIP_AGE_MAX},
    now::{Now, UtcTime},
    units::{Currency, FeeRate},
};

/// Word for a chain that is made up.
const INVENTED: &str = "demo";

/// Word for a chain; none is one that is invented.
pub fn chain_name(network: Option<Network>) -> &'static str {
    network.map_or(INVENTED, Network::name)
}

/// All that comes from the sources.
#[derive(Debug, Clone)]
pub struct Upstream {
    market: Arc<Market>,
    /// The chain whose height is told; none where it is invented.
    chain: Option<KeptChain>,
    gate: HeightGate,
    voices: Voices,
    /// Headers that were checked, of each source that sends some.
    runs: BTreeMap<SourceId, HeaderRun>,
    believed: Believed,
    prices: PriceBook,
    fees: Fees,
    verdict: HeightVerdict,
    /// Something was proven when the verdict was made.
    was_proven: bool,
    weak: Since,
    demands: Demands,
    doubts: Doubts,
    /// The highest block that was told of as new.
    told_block: Option<u32>,
    /// The wall clock by which the verdict was made.
    wall: Option<UtcTime>,
    /// Peers that have answered well, as the source that asks them knows them.
    peers: Arc<Vec<String>>,
    offer: Offer,
    /// Sources that were asked, and are not any more: something of theirs may still be on its way.
    gone: BTreeSet<SourceId>,
    /// All that were on offer before; those beyond [`CURRENCIES_MAX`] are forgotten.
    offered: BTreeSet<Currency>,
    states: BTreeMap<SourceId, SourceState>,
    time_server: TimeServer,
    by_hand: ByHand,
    /// The sources that the settings ask for, stopped by hand or not.
    plan: Arc<Plan>,
}

/// What is known about how true the values are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Truth {
    /// How good the height is.
    pub height: HeightState,
    /// Word for the chain.
    pub chain: &'static str,
    /// Height of the block that is taken for granted; none where there is none.
    pub anchor: Option<u32>,
    /// The best block that is proven.
    pub proven: Option<Tip>,
    /// The newest block that each of those has proven who have proven one.
    pub proofs: Vec<(SourceId, Tip)>,
    /// Work up to and including the best one, where it is the newest of the chain that is kept.
    pub work: Option<Work>,
    /// Blocks that others took the place of, in this run.
    pub reorganisations: Reorganisations,
    /// What the sources claim.
    pub claims: Vec<Claimed>,
    /// How good the prices are that anybody has quoted in this run.
    pub prices: Arc<PriceTruths>,
    /// How good the fee rate is: `Single` while it is fresh, else `Stale`.
    pub fee: PriceState,
    /// How good the time is.
    pub time: TimeTruth,
}

/// What a source claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claimed {
    /// The source.
    pub source: SourceId,
    /// The height.
    pub height: u32,
    /// When the source said so first.
    pub seen: Seen,
}

impl Truth {
    /// Public peers that have proven a block.
    pub fn peers(&self) -> usize {
        let peers = self.proofs.iter();
        peers
            .filter(|(source, _)| *source == SourceId::Peers)
            .count()
    }

    /// Sources that have the best block that is proven.
    pub fn agreeing(&self) -> usize {
        let proven = self.proven.as_ref();
        let same = |tip: &Tip| Some(tip) == proven;
        self.proofs.iter().filter(|(_, tip)| same(tip)).count()
    }
}

/// What an observation changed for the rest of the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarketChange {
    /// Nothing that was not known.
    Nothing,
    /// Another value.
    Value,
    /// Another picture of the mining pool.
    PoolLogo,
    /// A new block, or a few.
    Block,
    /// A zap.
    Zap(Zap),
    /// A payment.
    Payment(Payment),
    /// Other currencies on offer.
    Currencies,
}

/// Feeds that are down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MissingFeeds {
    /// A source of blocks is down.
    pub blocks: bool,
    /// A source of prices is down.
    pub prices: bool,
}

impl Upstream {
    /// What is known from an earlier run; what is on offer counts while there is a source that says so.
    pub fn new(
        chain: Option<ChainSpec>,
        settings: &Settings,
        mut market: Market,
        currencies: Vec<Currency>,
        now: Now,
    ) -> Upstream {
        let by_hand = ByHand::default();
        let network = chain.map(|chain| chain.network);
        let plan = sources::plan(settings, &settings.currencies(), by_hand, network);
        // Only relays say what they offer.
        let offer = match plan.contains_key(&SourceId::Relay) {
            true => Offer::of(currencies),
            false => Offer::default(),
        };
        market.retain_figures(|source| identity_in(&plan, source));
        market.height = market
            .height
            .filter(|known| height::is_possible(known.value, now.utc));
        let believed = Believed {
            datum: market.height.clone(),
            trail: Trail::default(),
        };
        let (voices, anchor) = (Voices::default(), chain.as_ref().map(|chain| &chain.anchor));
        let demands = demands(settings, &plan);
        let verdict = verdict::height(&voices, None, &believed, anchor, demands.admits, now);
        let mut upstream = Upstream {
            verdict,
            was_proven: false,
            weak: Since::default(),
            demands,
            doubts: Doubts::default(),
            told_block: None,
            wall: now.start(),
            peers: Arc::default(),
            prices: PriceBook::default(),
            fees: Fees::default(),
            market: Arc::new(market),
            chain: chain.map(KeptChain::new),
            gate: HeightGate::default(),
            voices,
            runs: BTreeMap::new(),
            believed,
            offer,
            gone: BTreeSet::new(),
            offered: BTreeSet::new(),
            states: BTreeMap::new(),
            time_server: TimeServer::default(),
            by_hand,
            plan: Arc::new(plan),
        };
        upstream.settle(now);
        upstream
    }

    /// Goes on with the chain of an earlier run, where there is one.
    pub fn resume_chain(&mut self, chain: Chain) {
        if let Some(kept) = &mut self.chain {
            kept.resume(chain);
        }
    }

    /// Goes on with the peers of an earlier run.
    pub fn resume_peers(&mut self, peers: Vec<String>) {
        self.peers = Arc::new(peers);
    }

    /// The chain that is kept; none where it is invented.
    pub fn chain(&self) -> Option<&Chain> {
        self.chain.as_ref().map(KeptChain::chain)
    }

    /// Peers that have answered well.
    pub fn peers(&self) -> &Arc<Vec<String>> {
        &self.peers
    }

    /// Latest of all observations.
    pub fn market(&self) -> &Arc<Market> {
        &self.market
    }

    /// What of it is remembered over a restart: also a height that is held back until it is proven.
    pub fn remembered(&self) -> Market {
        let mut market = (*self.market).clone();
        market.height = market.height.or_else(|| self.believed.datum.clone());
        market
    }

    /// Nothing was ever learned.
    pub fn knows_nothing(&self) -> bool {
        *self.market == Market::default()
    }

    /// What a source of blocks or prices has said last, where nothing was ever learned of either; empty if none has said
    /// anything, and none if something is known.
    pub fn silence(&self) -> Option<&str> {
        if self.market.knows_chain_or_prices() {
            return None;
        }
        let feeds = self
            .plan
            .iter()
            .filter(|(_, plan)| plan.config.feeds_blocks() || plan.config.feeds_prices());
        let mut said = feeds.filter_map(|(id, _)| self.states.get(id)?.last_error.as_deref());
        Some(said.next().unwrap_or_default())
    }

    /// Height of the chain tip, if known.
    pub fn height(&self) -> Option<u32> {
        self.market.height.as_ref().map(|height| height.value)
    }

    /// What is less than good about the values.
    pub fn doubts(&self) -> &Doubts {
        &self.doubts
    }

    /// How the height is proven.
    pub fn height_truth(&self, now: Now) -> HeightTruth {
        let proven = verdict::proof(&self.voices, self.floor());
        let proven = proven.map(|(_, proof)| {
            let tip = proof.tip();
            let minute = |secs: i64| secs.div_euclid(60);
            // By the minutes of the wall clock, which all screens turn with.
            let made = minute(tip.time.into());
            let age = now.utc.map(|utc| minute(utc.unix_secs()) - made);
            let [first, second, ..]: [u8; 32] = *tip.hash.as_ref();
            Proven {
                agreeing: self.voices.with(tip).count(),
                // Hashes are written backward.
                hash_end: u16::from_le_bytes([first, second]),
                // A block may be somewhat ahead of the time.
                age_mins: age.map(|age| u64::try_from(age).unwrap_or_default()),
            }
        });
        HeightTruth {
            state: self.verdict.state,
            proven,
        }
    }

    /// Sources that say something of the height.
    pub fn height_voices(&self) -> usize {
        self.voices.count()
    }

    /// How true the values are.
    pub fn truth(&self, now: Now) -> Truth {
        let (chain, anchor) = match &self.chain {
            Some(chain) => (Some(chain.spec().network), chain.spec().anchor.height()),
            None => (None, None),
        };
        let proofs = self.voices.witnesses();
        let proven = verdict::proof(&self.voices, self.floor()).map(|(_, proof)| proof.tip());
        let kept = self.chain.as_ref();
        let claims = self.voices.claims();
        let said = claims.filter_map(|claim| {
            let datum = claim.datum()?;
            Some(Claimed {
                source: datum.source,
                height: datum.value,
                seen: datum.seen,
            })
        });
        Truth {
            height: self.verdict.state,
            chain: chain_name(chain),
            anchor,
            proven,
            proofs: proofs
                .map(|(origin, proof)| (origin.source, proof.tip()))
                .collect(),
            work: kept.zip(proven).and_then(|(kept, tip)| kept.work(tip.hash)),
            reorganisations: kept.map(KeptChain::reorganisations).unwrap_or_default(),
            claims: said.collect(),
            prices: Arc::clone(self.prices.truths()),
            fee: match self.fees.is_fresh() {
                true => PriceState::Single,
                false => PriceState::Stale,
            },
            time: time_truth::judge(now.utc, self.earliest(), &self.time_server),
        }
    }

    /// The middle time of the newest blocks, Unix seconds; none where too few are known.
    fn earliest(&self) -> Option<u32> {
        let kept = self.chain.as_ref();
        kept.and_then(|kept| kept.chain().median_time())
    }

    /// Does what was due by now; tells whether another height is shown.
    pub fn advance(&mut self, now: Now) -> bool {
        let mut differs = false;
        // A machine that slept has missed moments, each of which counts as the one that it was.
        while let Some(due) = self.own_deadline().filter(|due| *due <= now.uptime) {
            let then = now.earlier(due);
            if self.verdict.until.is_some_and(|until| until <= due) {
                differs |= self.settle(then);
            }
            differs |= self.settle_prices(self.prices.due(due), then);
            if self.fees.next_deadline().is_some_and(|until| until <= due) {
                differs |= self.settle_fees(then);
            }
        }
        // What is old by the wall clock may be so by another one, or not any more.
        if is_stepped(self.wall, now.start()) {
            differs |= self.settle(now);
        }
        differs
    }

    /// Uptime at which what is believed changes by itself.
    fn own_deadline(&self) -> Option<Duration> {
        let verdicts = [
            self.verdict.until,
            self.prices.next_deadline(),
            self.fees.next_deadline(),
        ];
        verdicts.into_iter().flatten().min()
    }

    /// Uptime at which what is believed, or what is told of it, changes by itself.
    pub fn next_deadline(&self, now: Now) -> Option<Duration> {
        let catches_up = time_truth::catches_up(now, self.earliest());
        self.own_deadline().into_iter().chain(catches_up).min()
    }

    /// Currencies that can be chosen.
    pub fn currencies(&self) -> &[Currency] {
        self.offer.currencies()
    }

    /// Currencies that were on offer since the start, and are not any more.
    pub fn former_currencies(&self) -> Vec<Currency> {
        let offer = self.offer.currencies();
        let former = self.offered.iter().filter(|it| !offer.contains(it));
        former.copied().collect()
    }

    /// Those of the chosen currencies that are there at the moment.
    pub fn currencies_among(&self, chosen: &[Currency]) -> Vec<Currency> {
        self.offer.among(chosen)
    }

    /// State of the time server; none before it was asked.
    pub fn time_server(&self) -> Option<&SourceState> {
        self.time_server.state.as_ref()
    }

    /// The sources that should run while there is a network.
    pub fn plan(&self) -> Arc<Plan> {
        match self.by_hand.stopped {
            true => Arc::default(),
            false => Arc::clone(&self.plan),
        }
    }

    /// States of the sources that the settings ask for; one that does not run is not up.
    pub fn states(&self, running: &Plan) -> BTreeMap<SourceId, SourceState> {
        let asked = self
            .states
            .iter()
            .filter(|(id, _)| self.plan.contains_key(id));
        asked
            .map(|(id, state)| {
                let mut state = state.clone();
                if !running.contains_key(id) {
                    state.up = false;
                    state.next_try = None;
                }
                (*id, state)
            })
            .collect()
    }

    /// Feeds of which nothing comes although their source should run.
    pub fn missing(&self) -> MissingFeeds {
        let mut missing = MissingFeeds::default();
        let is_up = |id: &SourceId| self.states.get(id).is_some_and(|state| state.up);
        if self.by_hand.stopped {
            return missing;
        }
        for (id, plan) in &*self.plan {
            if !is_up(id) {
                missing.blocks |= plan.config.feeds_blocks();
                missing.prices |= plan.config.feeds_prices();
            }
        }
        missing
    }

    /// What is on offer counts while there is a source that says so, also by settings that come.
    pub fn reoffer(&mut self, settings: &Settings) {
        if !self
            .planned(settings, &settings.currencies())
            .contains_key(&SourceId::Relay)
        {
            self.offer_others(Offer::default());
        }
    }

    /// Tells whether these are others than those that were on offer.
    fn offer_others(&mut self, offer: Offer) -> bool {
        if offer == self.offer {
            return false;
        }
        let before = core::mem::replace(&mut self.offer, offer);
        let room = CURRENCIES_MAX.saturating_sub(self.offered.len());
        self.offered.extend(before.currencies().iter().take(room));
        true
    }

    /// Follows a change of settings: what is asked for, and which prices are of any use.
    pub fn follow(&mut self, settled: &RunningSettings, now: Now) {
        let before = Arc::clone(&self.plan);
        self.replan(settled);
        // Who is asked no more cannot go on from what he said.
        for source in before.keys().filter(|it| !self.plan.contains_key(it)) {
            self.voices.forget(*source);
            self.runs.remove(source);
            self.fees.forget(*source);
            self.states.remove(source);
            self.gone.insert(*source);
        }
        let back = self.gone.iter().filter(|it| self.plan.contains_key(it));
        let back: Vec<SourceId> = back.copied().collect();
        for source in &back {
            self.gone.remove(source);
            // Who runs still, for its end was never asked for, has to say anew what was forgotten of it.
            self.by_hand.restarts_of[*source as usize] += 1;
        }
        if !back.is_empty() {
            self.replan(settled);
        }
        self.demands = demands(settled.active(), &self.plan);
        let plan = Arc::clone(&self.plan);
        Arc::make_mut(&mut self.market).retain_figures(|source| identity_in(&plan, source));
        self.settle(now);
        let (offered, chosen) = (self.offer.currencies(), settled.stored().currencies());
        let is_wanted =
            |currency: &Currency| offered.contains(currency) || chosen.contains(currency);
        if !self.market.prices.keys().all(is_wanted) {
            let mut prices = self.market.prices.clone();
            Arc::make_mut(&mut prices).retain(|currency, _| is_wanted(currency));
            Arc::make_mut(&mut self.market).prices = prices;
        }
        self.prices.keep(is_wanted);
        self.doubts.prices.retain(|currency, _| is_wanted(currency));
        let plan = &self.plan;
        let is_heard = |source| !venues::is_venue(source) || plan.contains_key(&source);
        self.prices.keep_sources(is_heard);
        self.settle_prices(self.prices.currencies(), now);
        self.settle_fees(now);
    }

    /// Takes note of what a source says.
    pub fn hear(
        &mut self,
        source: SourceId,
        observation: Observation,
        settled: &RunningSettings,
        now: Now,
    ) -> MarketChange {
        if self.gone.contains(&source) {
            return MarketChange::Nothing;
        }
        if observation.is_of_use() {
            self.state(source).last_success = Some(now.uptime);
        }
        match observation {
            Observation::Connection(connection) => {
                let mut differs = false;
                match connection {
                    Connection::Connecting => {}
                    Connection::Up => self.voices.come(source),
                    Connection::Down { .. } => {
                        self.voices.leave(source);
                        let silenced = self.prices.silence(source);
                        differs |= self.settle_prices(silenced, now);
                        self.fees.source_failed(source);
                        differs |= self.settle_fees(now);
                        self.poll_failed(source);
                    }
                }
                differs |= self.settle(now);
                self.state(source).follow(connection, now.uptime);
                match differs {
                    true => MarketChange::Value,
                    false => MarketChange::Nothing,
                }
            }
            Observation::PollFailed => {
                self.poll_failed(source);
                MarketChange::Nothing
            }
            Observation::Complaint(reason) => {
                self.state(source).last_error = Some(reason);
                MarketChange::Nothing
            }
            Observation::Dropped(reason, count) => {
                self.state(source).drop(reason, count);
                MarketChange::Nothing
            }
            Observation::Price(currency, _) | Observation::Quote { currency, .. }
                if !self.wants_prices_in(currency, settled) =>
            {
                self.state(source).drop("currency", 1);
                MarketChange::Nothing
            }
            Observation::Price(currency, price) => {
                self.prices.quote(source, currency, price, now);
                self.tell_price(currency, now)
            }
            Observation::Quote { currency, .. } if !self.is_asked_for(source, currency) => {
                self.state(source).drop("currency", 1);
                MarketChange::Nothing
            }
            Observation::Quote {
                currency,
                price,
                at,
            } => {
                self.prices.witness(source, currency, price, at, now);
                self.tell_price(currency, now)
            }
            Observation::Block(height) => self.hear_height(source, height, now),
            Observation::Headers { height, headers } => {
                self.hear_headers(source, height, &headers, now)
            }
            Observation::Left(place) => {
                self.voices.part(ProofOrigin { source, place });
                match self.settle(now) {
                    true => MarketChange::Value,
                    false => MarketChange::Nothing,
                }
            }
            Observation::Peers(peers) => {
                self.peers = Arc::new(peers);
                MarketChange::Nothing
            }
            Observation::Zap(zap) => MarketChange::Zap(zap),
            Observation::Payment(payment) => MarketChange::Payment(payment),
            Observation::Currencies(list) => match self.offer_others(Offer::of(list)) {
                true => MarketChange::Currencies,
                false => MarketChange::Nothing,
            },
            Observation::PoolLogo(_) => self.learn(
                source,
                observation,
                Seen::At(now.uptime),
                MarketChange::PoolLogo,
            ),
            Observation::Fee(rate) => self.fee_quoted(source, FeePrecision::Whole, rate, now),
            Observation::PreciseFee(rate) => {
                self.fee_quoted(source, FeePrecision::Precise, rate, now)
            }
            Observation::Pool(Polled { identity, .. })
            | Observation::Miner(Polled { identity, .. })
            | Observation::Balance(Polled { identity, .. }) => {
                // The figure was still in the queue when the settings changed to another pool, miner or wallet.
                if identity_in(&self.plan, source) != Some(identity) {
                    return MarketChange::Nothing;
                }
                self.learn(
                    source,
                    observation,
                    Seen::At(now.uptime),
                    MarketChange::Value,
                )
            }
        }
    }

    /// Takes note of the state of the time server.
    pub fn hear_time_server(&mut self, connection: Connection, now: Now) {
        let server = self.time_server.state.get_or_insert_default();
        if connection == Connection::Up {
            server.last_success = Some(now.uptime);
            self.time_server.is_refused = false;
        }
        server.follow(connection, now.uptime);
    }

    /// Takes note that the chain rules out what the time server says.
    pub fn refuse_time(&mut self) {
        self.time_server.is_refused = true;
    }

    /// Takes note that there is no network to reach anything by.
    pub fn lose_network(&mut self) {
        self.states.values_mut().for_each(SourceState::lose_network);
    }

    /// Takes note that there is a network again.
    pub fn regain_network(&mut self) {
        let states = self.states.values_mut();
        states.for_each(SourceState::regain_network);
    }

    /// Stops all sources until they are restarted.
    pub fn stop(&mut self) {
        self.by_hand.stopped = true;
    }

    /// Stops all sources and starts them.
    pub fn restart(&mut self, settled: &RunningSettings) {
        self.by_hand.stopped = false;
        self.by_hand.restarts += 1;
        self.replan(settled);
    }

    /// Stops one source and starts it; tells whether it is in use.
    pub fn restart_one(&mut self, source: SourceId, settled: &RunningSettings) -> bool {
        let in_use = self.plan().contains_key(&source);
        if in_use {
            self.by_hand.restarts_of[source as usize] += 1;
            self.replan(settled);
        }
        in_use
    }

    /// Forgets the picture of the mining pool and has it fetched again; tells whether there was one.
    pub fn forget_logo(&mut self, settled: &RunningSettings) -> bool {
        self.by_hand.logo_fetches += 1;
        self.replan(settled);
        let had = self.market.pool_logo.is_some();
        if had {
            Arc::make_mut(&mut self.market).pool_logo = None;
        }
        had
    }

    fn poll_failed(&mut self, source: SourceId) {
        Arc::make_mut(&mut self.market).poll_failed(source);
    }

    fn state(&mut self, source: SourceId) -> &mut SourceState {
        self.states.entry(source).or_default()
    }

    fn learn(
        &mut self,
        source: SourceId,
        observation: Observation,
        seen: Seen,
        news: MarketChange,
    ) -> MarketChange {
        match Arc::make_mut(&mut self.market).learn(source, observation, seen) {
            true => news,
            false => MarketChange::Nothing,
        }
    }

    /// Takes a fee rate of a source.
    fn fee_quoted(
        &mut self,
        source: SourceId,
        precision: FeePrecision,
        rate: FeeRate,
        now: Now,
    ) -> MarketChange {
        // The rate was still in the queue when the source was removed.
        let Some(identity) = identity_in(&self.plan, source) else {
            return MarketChange::Nothing;
        };
        let quote = FeeQuote {
            source,
            identity,
            rate,
            precision,
            at: now.uptime,
        };
        if !quote.is_possible() {
            self.state(source).drop("fee-impossible", 1);
            return MarketChange::Nothing;
        }
        self.fees.quote(quote);
        match self.settle_fees(now) {
            true => MarketChange::Value,
            false => MarketChange::Nothing,
        }
    }

    /// Shows the fee rate that is valid now; returns whether its value differs from the one before.
    fn settle_fees(&mut self, now: Now) -> bool {
        self.fees.settle(&mut self.market, now.uptime)
    }

    /// A claim is held to the rules for claims, or to what is proven.
    fn hear_height(&mut self, source: SourceId, height: u32, now: Now) -> MarketChange {
        self.voices.claim(source, height, now.uptime);
        if self.voices.best().is_some() {
            return self.hold_to_proof(source, height, now);
        }
        let Some(news) = self.believe(source, height, now) else {
            self.settle(now);
            return MarketChange::Nothing;
        };
        self.believed.take(source, height, now.uptime);
        let differs = self.settle(now);
        self.second_others(now);
        match (differs, news) {
            (true, MarketChange::Block) => self.tell_block(),
            (true, other) => other,
            (false, _) => MarketChange::Nothing,
        }
    }

    /// Where something is proven a claim counts as far as that goes.
    fn hold_to_proof(&mut self, source: SourceId, height: u32, now: Now) -> MarketChange {
        let before = self.height();
        self.settle(now);
        match self.height() {
            Some(shown) if shown < height => self.state(source).drop("height-unproven", 1),
            Some(shown) if shown > height => self.state(source).drop("lower-height", 1),
            Some(_) | None => {}
        }
        self.news_since(before)
    }

    /// Whether what is shown now is a new block, or a few.
    fn news_since(&mut self, before: Option<u32>) -> MarketChange {
        match (before, self.height()) {
            (Some(before), Some(after)) if after > before && after - before <= CATCH_UP_BLOCKS => {
                self.tell_block()
            }
            (Some(_) | None, _) => MarketChange::Nothing,
        }
    }

    /// That there is a new block, once for each height: a claim may fall back until it is proven, and others may have
    /// their blocks at the same height.
    fn tell_block(&mut self) -> MarketChange {
        let (height, told) = (self.height(), self.told_block);
        if told.is_some() && height <= told {
            return MarketChange::Nothing;
        }
        self.told_block = height;
        MarketChange::Block
    }

    /// Believes those who said somewhat more than what has come to be believed: nothing depends on who spoke first.
    fn second_others(&mut self, now: Now) {
        while let Some(shown) = self.height() {
            let is_near = |height: u32| {
                height > shown
                    && height - shown <= CATCH_UP_BLOCKS
                    && height::is_possible(height, now.utc)
            };
            let said = self.voices.claims();
            let said = said.filter_map(|claim| {
                let datum = claim.datum().filter(|datum| is_near(datum.value))?;
                Some((datum, claim.trail.since()))
            });
            let first = said.min_by_key(|(datum, _)| (datum.value, datum.source));
            let Some((datum, since)) = first else {
                return;
            };
            // It is as old as it is, and believed no sooner than what was before it.
            let since = since.max(self.believed.trail.since());
            self.believed.take_datum(datum, since.unwrap_or(now.uptime));
            self.settle(now);
        }
    }

    /// Takes headers of somebody who is told what came of them, and then fetches what comes after.
    ///
    /// They count as a voice from the sender's newest block on: nobody wants to see a chain grow from its anchor.
    pub fn judge(
        &mut self,
        origin: ProofOrigin,
        headers: &[Header],
        reach: HeadersReach,
        now: Now,
    ) -> (Judged, MarketChange) {
        let is_gone = self.gone.contains(&origin.source);
        let Some(kept) = self.chain.as_mut().filter(|_| !is_gone) else {
            return (Judged::default(), MarketChange::Nothing);
        };
        let heard = kept.hear(headers, now.utc);
        let judged = kept.judged(&heard);
        match heard.refused {
            // Whoever fetches finds out by it where the chains part.
            Some(HeaderRefusal::Unconnected) => {}
            Some(refusal) => self.state(origin.source).drop(refusal.name(), 1),
            // Where none came it was our own question.
            None if headers.is_empty() => {}
            None => self.state(origin.source).last_success = Some(now.uptime),
        }
        let before = self.height();
        if heard.is_new {
            self.place_voices(now);
        }
        match heard.refused {
            // It has a newer block than the last that could be judged.
            Some(HeaderRefusal::Future) => self.wait_for_time(origin),
            // Who breaks the rules has no voice, although what came before is true.
            Some(refusal) if refusal.is_fault() => {}
            Some(_) | None => {
                if let Some((tip, standing)) = heard.last.filter(|_| reach == HeadersReach::Newest)
                {
                    self.cast(origin, tip, standing, now);
                }
            }
        }
        self.settle(now);
        (judged, self.news_since(before))
    }

    /// A proof counts from now on.
    fn cast(&mut self, origin: ProofOrigin, tip: Tip, standing: ChainPosition, now: Now) {
        self.voices.prove(origin, tip, standing, now.uptime);
        match standing {
            ChainPosition::InChain | ChainPosition::Loose => {
                // Where the proof is withdrawn, the rules for claims go on from it.
                self.believed.take(origin.source, tip.height, now.uptime);
                self.gate = HeightGate::default();
            }
            ChainPosition::Beside => {}
        }
        self.place_voices(now);
    }

    /// Says of all blocks that were proven where they stand in the chain as it is now.
    fn place_voices(&mut self, now: Now) {
        let Some(kept) = &self.chain else { return };
        let is_current = self.is_current(now);
        self.voices.place(|height, hash, before| {
            if kept.has(height, hash) {
                return ChainPosition::InChain;
            }
            match before {
                ChainPosition::Loose if !is_current => ChainPosition::Loose,
                ChainPosition::Loose | ChainPosition::InChain | ChainPosition::Beside => {
                    ChainPosition::Beside
                }
            }
        });
    }

    /// Tells whether somebody has proven that the chain that is kept goes up to the present.
    fn is_current(&self, now: Now) -> bool {
        let age_max = i64::try_from(TIP_AGE_MAX.as_secs()).unwrap_or(i64::MAX);
        let is_fresh = |time: u32| {
            let utc = now.utc.map(|utc| utc.unix_secs());
            utc.is_none_or(|utc| utc - i64::from(time) < age_max)
        };
        self.voices
            .proofs()
            .any(|(_, proof)| proof.standing == ChainPosition::InChain && is_fresh(proof.time))
    }

    /// Headers prove a height where they link to the chain that is kept, or to those before them; others are at theirs
    /// if that can be believed.
    fn hear_headers(
        &mut self,
        source: SourceId,
        height: u32,
        headers: &[Header],
        now: Now,
    ) -> MarketChange {
        let Some((kept, first)) = self.chain.as_ref().zip(headers.first()) else {
            return MarketChange::Nothing;
        };
        if let Some(own) = kept.height_after(&first.prev_blockhash) {
            let wanted = height.checked_sub(headers.len() as u32 - 1);
            if wanted != Some(own) {
                self.state(source)
                    .drop(HeaderRefusal::Unconnected.name(), 1);
                return MarketChange::Nothing;
            }
            self.runs.remove(&source);
            return self
                .judge(source.into(), headers, HeadersReach::Newest, now)
                .1;
        }
        self.hear_loose(source, height, headers, now)
    }

    /// Headers that do not reach the chain that is kept.
    fn hear_loose(
        &mut self,
        source: SourceId,
        height: u32,
        headers: &[Header],
        now: Now,
    ) -> MarketChange {
        let Some(kept) = &self.chain else {
            return MarketChange::Nothing;
        };
        if !height::is_possible(height, now.utc) {
            self.state(source).drop("height-ahead", 1);
            return MarketChange::Nothing;
        }
        let run = self.runs.entry(source).or_default();
        let heard = run.hear(&kept.recent(), height, headers, now.utc);
        let is_current = self.is_current(now);
        let tip = match heard {
            Ok(Shown::Known) => return MarketChange::Nothing,
            // Who says something else than a chain that is up to date has to show where it comes from.
            Ok(Shown::Linked(_) | Shown::Loose(..)) if is_current => {
                self.runs.remove(&source);
                self.state(source)
                    .drop(HeaderRefusal::Unconnected.name(), 1);
                return MarketChange::Nothing;
            }
            Ok(Shown::Linked(tip)) => tip,
            Ok(Shown::Loose(tip, run)) => {
                if self.believe(source, height, now).is_none() {
                    return MarketChange::Nothing;
                }
                self.runs.insert(source, run);
                tip
            }
            Err(refusal) => {
                if refusal == HeaderRefusal::Future {
                    self.wait_for_time(source.into());
                    self.settle(now);
                }
                self.state(source).drop(refusal.name(), 1);
                return MarketChange::Nothing;
            }
        };
        let before = self.height();
        self.voices.claim(source, height, now.uptime);
        self.cast(source.into(), tip, ChainPosition::Loose, now);
        self.settle(now);
        self.news_since(before)
    }

    /// A header that cannot be judged yet is no reason to stand still.
    fn wait_for_time(&mut self, origin: ProofOrigin) {
        if self.admits() == Admits::Claims {
            self.voices.withdraw(origin);
        }
    }

    /// Holds a height to the rules for claims: what it means, or nothing if it is not believed.
    fn believe(&mut self, source: SourceId, height: u32, now: Now) -> Option<MarketChange> {
        // What is believed may be hidden until it is proven.
        let known = self.market.height.as_ref();
        let known = known.or(self.believed.datum.as_ref());
        match self.gate.judge(known, source, height, now) {
            HeightNews::Lower => self.state(source).drop("lower-height", 1),
            HeightNews::Ahead => self.state(source).drop("height-ahead", 1),
            HeightNews::Block => return Some(MarketChange::Block),
            HeightNews::First | HeightNews::Same | HeightNews::CatchUp | HeightNews::Corrected => {
                return Some(MarketChange::Nothing);
            }
        }
        None
    }

    fn floor(&self) -> Option<Tip> {
        self.chain.as_ref().and_then(KeptChain::floor)
    }

    /// What may be shown as the height; nothing is proven of blocks that are invented.
    fn admits(&self) -> Admits {
        match self.chain {
            Some(_) => self.demands.admits,
            None => Admits::Claims,
        }
    }

    /// Shows what the voices come to; tells whether that is another height.
    fn settle(&mut self, now: Now) -> bool {
        let before = self.height();
        let admits = self.admits();
        let mut until = Until::after(now.uptime);
        // Where nobody goes on from what is proven, claims are better than nothing, if they are welcome.
        if admits == Admits::Claims {
            let plan = &self.plan;
            let is_asked = |source| plan.contains_key(&source);
            self.voices.expire(is_asked, &mut until);
        }
        self.make_verdict(until.first(), now);
        let is_proven = self.voices.best().is_some();
        if core::mem::replace(&mut self.was_proven, is_proven) && !is_proven {
            self.second_others(now);
        }
        self.height() != before
    }

    fn make_verdict(&mut self, until: Option<Duration>, now: Now) {
        let anchor = self.chain.as_ref().map(|chain| &chain.spec().anchor);
        self.wall = now.start();
        let (floor, admits) = (self.floor(), self.admits());
        let verdict = verdict::height(&self.voices, floor, &self.believed, anchor, admits, now);
        doubts::follow_height(&mut self.weak, verdict.state, now.uptime);
        self.doubts.height = match self.chain {
            Some(_) => doubts::of_height(&verdict, self.weak, self.demands),
            // Nobody is misled by what is invented for show.
            None => Vec::new(),
        };
        if verdict.shown != self.market.height {
            Arc::make_mut(&mut self.market).height = verdict.shown.clone();
        }
        self.verdict = verdict;
        let moments = [self.verdict.until, until].into_iter().flatten();
        self.verdict.until = moments.min();
        // What was told of blocks that never were is no reason to be silent about those that are.
        let told = self.told_block.zip(self.height());
        if told.is_some_and(|(told, shown)| shown.saturating_add(LEAD_BLOCKS) < told) {
            self.told_block = None;
        }
    }

    /// What the owner has chosen is asked for, offered or not.
    fn replan(&mut self, settled: &RunningSettings) {
        let chosen = settled.stored().currencies();
        let plan = self.planned(settled.active(), &chosen);
        for (source, plan) in &plan {
            if self.plan.get(source).is_some_and(|before| before != plan) {
                self.voices.begin_anew(*source);
            }
        }
        self.plan = Arc::new(plan);
    }

    fn planned(&self, settings: &Settings, chosen: &[Currency]) -> Plan {
        let by_hand = ByHand {
            stopped: false,
            ..self.by_hand
        };
        let network = self.chain.as_ref().map(|chain| chain.spec().network);
        let mut plan = sources::plan(settings, chosen, by_hand, network);
        // Nobody can witness what is invented.
        plan.retain(|source, _| self.chain.is_some() || !venues::is_venue(*source));
        plan
    }

    /// Shows what the quotes in a currency come to.
    fn tell_price(&mut self, currency: Currency, now: Now) -> MarketChange {
        match self.settle_prices([currency].into(), now) {
            true => MarketChange::Value,
            false => MarketChange::Nothing,
        }
    }

    /// Shows what the quotes in some currencies come to; tells whether another price is shown.
    fn settle_prices(&mut self, currencies: Vec<Currency>, now: Now) -> bool {
        let mut differs = false;
        for currency in currencies {
            let rules = PriceRules {
                witnessed: sources::is_witnessed(&self.plan, currency),
                ..self.demands.prices
            };
            let settled = self
                .prices
                .settle(currency, &mut self.market, rules, now.uptime);
            differs |= settled.differs;
            // Nobody is misled by what is invented for show.
            match self.demands.marks && self.chain.is_some() {
                true => self.doubts.prices.insert(currency, settled.doubts),
                false => self.doubts.prices.remove(&currency),
            };
        }
        differs
    }

    /// Tells whether a venue was asked for prices in a currency.
    fn is_asked_for(&self, source: SourceId, currency: Currency) -> bool {
        let plan = self.plan.get(&source);
        plan.is_some_and(|plan| plan.config.is_witness_of(currency))
    }

    /// Tells whether prices in a currency are of any use.
    fn wants_prices_in(&self, currency: Currency, settled: &RunningSettings) -> bool {
        self.offer.currencies().contains(&currency)
            || settled.stored().currencies().contains(&currency)
    }
}

/// What the settings demand of values, given the sources that run.
fn demands(settings: &Settings, plan: &Plan) -> Demands {
    Demands {
        admits: match settings.proof_mode {
            proof_mode::STRICT => Admits::Proofs,
            _ => Admits::Claims,
        },
        marks: settings.proof_mode != proof_mode::OFF,
        prices: PriceRules {
            band_permille: settings.price_band.into(),
            quorum: settings.price_quorum as usize,
            witnessed: false,
        },
        proof: sources::asks_for_proof(plan),
    }
}

/// The identity that a source polls; `None` if the source is not in the plan.
fn identity_in(plan: &Plan, source: SourceId) -> Option<FigureIdentity> {
    plan.get(&source).map(|plan| plan.config.identity())
}

/// Tells whether the wall clock was set since, by what it says of the moment of the start.
fn is_stepped(before: Option<UtcTime>, after: Option<UtcTime>) -> bool {
    match before.zip(after) {
        Some((before, after)) => {
            let step_ms = before.unix_ms.abs_diff(after.unix_ms);
            Duration::from_millis(step_ms) > CLOCK_STEP_MIN
        }
        None => before.is_some() != after.is_some(),
    }
}
