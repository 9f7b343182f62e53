//! The values and states of all sources, and which sources should run.
//!
//! `observations` handles what the sources report.

mod observations;

use alloc::{collections::BTreeMap, string::String, sync::Arc, vec::Vec};
use core::time::Duration;

use chain::{chain::Chain, network::Network};
use market::{
    ChainSpec, HeightPolicy, HeightTruth, MarkReasons,
    fees::Fees,
    heights::{HeightRules, Heights},
    now::Now,
    observation::{Connection, Payment, Zap},
    offer::Offer,
    price_book::PriceBook,
    quotes::{PriceRules, PriceState},
    source_id::SourceId,
    source_state::SourceState,
    time_truth::{self, TimeServer},
    units::Currency,
    values::Market,
    venues,
};

use super::{
    Truth,
    plan::{Plan, Supply},
    roster::{MissingFeeds, PlanChange, Roster},
};
use crate::{
    screens::no_data::Silence,
    settings::{RunningSettings, Settings, proof_mode},
};

/// Name of a chain of invented blocks.
const INVENTED: &str = "demo";

/// Name of a chain; `None` is a chain of invented blocks.
pub fn chain_name(network: Option<Network>) -> &'static str {
    network.map_or(INVENTED, Network::name)
}

/// All that comes from the sources.
#[derive(Debug, Clone)]
pub struct Upstream {
    market: Arc<Market>,
    heights: Heights,
    prices: PriceBook,
    price_rules: PriceRules,
    fees: Fees,
    mark_reasons: MarkReasons,
    offer: Offer,
    roster: Roster,
    /// Addresses of public peers that have answered well, the best first.
    peers: Arc<Vec<String>>,
    time_server: TimeServer,
}

/// What an observation changed for the rest of the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarketChange {
    /// Nothing.
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

impl MarketChange {
    fn value_if(differs: bool) -> MarketChange {
        if differs { MarketChange::Value } else { MarketChange::Nothing }
    }
}

impl Upstream {
    /// Starts with what an earlier run has stored.
    pub fn new(
        chain: Option<ChainSpec>,
        settings: &Settings,
        mut market: Market,
        currencies: Vec<Currency>,
        now: Now,
    ) -> Upstream {
        let roster = Roster::new(settings, chain.map(|chain| chain.network));
        // Only relays report currencies.
        let offer = if roster.planned().contains_key(&SourceId::Relay) {
            Offer::new(currencies)
        } else {
            Offer::new(Vec::new())
        };
        market.retain_figures(|source| roster.identity(source));
        let rules = height_rules(settings, roster.planned());
        let mut upstream = Upstream {
            heights: Heights::new(chain, market.height.take(), rules, now),
            market: Arc::new(market),
            prices: PriceBook::default(),
            price_rules: price_rules(settings),
            fees: Fees::default(),
            mark_reasons: MarkReasons::default(),
            offer,
            roster,
            peers: Arc::default(),
            time_server: TimeServer::default(),
        };
        upstream.publish_height();
        upstream
    }

    /// Continues the chain of an earlier run.
    pub fn resume_chain(&mut self, chain: Chain) {
        self.heights.resume(chain);
    }

    /// Continues with the peers of an earlier run.
    pub fn resume_peers(&mut self, peers: Vec<String>) {
        self.peers = Arc::new(peers);
    }

    /// The chain of headers; `None` if the blocks are invented.
    pub fn chain(&self) -> Option<&Chain> {
        self.heights.chain()
    }

    /// Addresses of public peers that have answered well.
    pub fn peers(&self) -> &Arc<Vec<String>> {
        &self.peers
    }

    /// The values that are shown.
    pub fn market(&self) -> &Arc<Market> {
        &self.market
    }

    /// The values to store.
    pub fn remembered(&self) -> Market {
        let mut market = (*self.market).clone();
        market.height = self.heights.remembered().cloned();
        market
    }

    /// Returns whether no value is known.
    pub fn knows_nothing(&self) -> bool {
        *self.market == Market::default()
    }

    /// Why neither chain nor prices were ever received. `None` if either was.
    pub fn silence(&self, is_online: bool) -> Option<Silence> {
        if self.market.knows_chain_or_prices() {
            None
        } else if !is_online {
            Some(Silence::NoNetwork)
        } else {
            let error = self.roster.feed_error();
            Some(error.map_or(Silence::NoAnswer, |error| Silence::Error(error.into())))
        }
    }

    /// The block height, if known.
    pub fn height(&self) -> Option<u32> {
        self.market.height.as_ref().map(|height| height.value)
    }

    /// Why values are marked.
    pub fn mark_reasons(&self) -> &MarkReasons {
        &self.mark_reasons
    }

    /// How the height is proven.
    pub fn height_truth(&self, now: Now) -> HeightTruth {
        self.heights.truth(now)
    }

    /// How good the values are, and why.
    pub fn truth(&self, now: Now) -> Truth {
        let proven = self.heights.proven();
        Truth {
            height: self.heights.state(),
            chain: chain_name(self.heights.network()),
            anchor: self.heights.spec().and_then(|spec| spec.anchor.height()),
            proven,
            proofs: self.heights.proofs(),
            work: proven.and_then(|tip| self.heights.work(tip)),
            reorganisations: self.heights.reorganisations(),
            claims: self.heights.claims(),
            prices: Arc::clone(self.prices.truths()),
            fee: if self.fees.is_fresh() { PriceState::Single } else { PriceState::Stale },
            time: time_truth::decide(now.utc, self.heights.median_time(), &self.time_server),
        }
    }

    /// Handles the deadlines up to now; returns whether another value is shown.
    pub fn advance(&mut self, now: Now) -> bool {
        let mut differs = false;
        // After a sleep of the host each missed deadline is handled at its own time.
        while let Some(due) = self.own_deadline().filter(|due| *due <= now.uptime) {
            let then = now.earlier(due);
            if self
                .heights
                .next_deadline()
                .is_some_and(|until| until <= due)
            {
                differs |= self.update_height(then);
            }
            differs |= self.update_prices(self.prices.due(due), then);
            if self.fees.next_deadline().is_some_and(|until| until <= due) {
                differs |= self.update_fee(then);
            }
        }
        // Ages by the wall clock change when it is set.
        if self.heights.is_clock_stepped(now) {
            differs |= self.update_height(now);
        }
        differs
    }

    /// Uptime at which a verdict changes by itself.
    fn own_deadline(&self) -> Option<Duration> {
        let verdicts = [
            self.heights.next_deadline(),
            self.prices.next_deadline(),
            self.fees.next_deadline(),
        ];
        verdicts.into_iter().flatten().min()
    }

    /// Uptime at which a verdict, or the state of the time, changes by itself.
    pub fn next_deadline(&self, now: Now) -> Option<Duration> {
        let catches_up = time_truth::catches_up(now, self.heights.median_time());
        self.own_deadline().into_iter().chain(catches_up).min()
    }

    /// Currencies that can be chosen.
    pub fn currencies(&self) -> &[Currency] {
        self.offer.currencies()
    }

    /// The currencies on offer.
    pub fn offer(&self) -> &Offer {
        &self.offer
    }

    /// The chosen currencies that are on offer.
    pub fn currencies_among(&self, chosen: &[Currency]) -> Vec<Currency> {
        self.offer.among(chosen)
    }

    /// State of the time server; `None` before the first request.
    pub fn time_server(&self) -> Option<&SourceState> {
        self.time_server.state.as_ref()
    }

    /// The sources that should run while there is a network.
    pub fn plan(&self) -> Arc<Plan> {
        self.roster.running()
    }

    /// States of the planned sources. One that does not run is not up.
    pub fn states(&self, running: &Plan) -> BTreeMap<SourceId, SourceState> {
        self.roster.states(running)
    }

    /// Feeds with a source that should run and is down.
    pub fn missing(&self) -> MissingFeeds {
        self.roster.missing()
    }

    /// Offers the usual currencies if these settings, active from the next start, have no source that reports any.
    pub fn reoffer(&mut self, settings: &Settings) {
        let plan = self.roster.plan_for(settings, &settings.currencies());
        if !plan.contains_key(&SourceId::Relay) {
            self.offer.replace(Vec::new());
        }
    }

    /// Applies a change of settings: plan, rules, and which prices are of use.
    pub fn apply_settings(&mut self, settings: &RunningSettings, now: Now) {
        let change = self.roster.update(settings);
        self.apply(change);
        self.heights
            .set_rules(height_rules(&settings.active, self.roster.planned()));
        self.price_rules = price_rules(&settings.active);
        let roster = &self.roster;
        Arc::make_mut(&mut self.market).retain_figures(|source| roster.identity(source));
        self.update_height(now);
        let (offered, chosen) = (self.offer.currencies(), settings.stored.currencies());
        let is_wanted =
            |currency: &Currency| offered.contains(currency) || chosen.contains(currency);
        if !self.market.prices.keys().all(is_wanted) {
            let mut prices = self.market.prices.clone();
            Arc::make_mut(&mut prices).retain(|currency, _| is_wanted(currency));
            Arc::make_mut(&mut self.market).prices = prices;
        }
        self.prices.retain_currencies(is_wanted);
        self.mark_reasons.prices.retain(is_wanted);
        let plan = self.roster.planned();
        let counts = |source| !venues::is_venue(source) || plan.contains_key(&source);
        self.prices.retain_sources(counts);
        self.update_prices(self.prices.currencies(), now);
        self.update_fee(now);
    }

    fn apply(&mut self, change: PlanChange) {
        for source in change.restarted {
            self.heights.restart(source);
        }
        for source in change.removed {
            self.heights.remove(source);
            self.fees.forget(source);
        }
    }

    /// Handles a change of the connection to the time server.
    pub fn observe_time_server(&mut self, connection: Connection, now: Now) {
        let server = self.time_server.state.get_or_insert_default();
        if connection == Connection::Up {
            server.last_success = Some(now.uptime);
            self.time_server.is_refused = false;
        }
        server.follow(connection, now.uptime);
    }

    /// Records that the time of the time server contradicts the chain.
    pub fn refuse_time(&mut self) {
        self.time_server.is_refused = true;
    }

    /// Records that there is no network.
    pub fn lose_network(&mut self) {
        self.roster.lose_network();
    }

    /// Records that there is a network again.
    pub fn regain_network(&mut self) {
        self.roster.regain_network();
    }

    /// Stops all sources until they are restarted.
    pub fn stop(&mut self) {
        self.roster.stop();
    }

    /// Restarts all sources.
    pub fn restart(&mut self, settings: &RunningSettings) {
        let change = self.roster.restart(settings);
        self.apply(change);
    }

    /// Restarts a source; returns whether it runs.
    pub fn restart_one(&mut self, source: SourceId, settings: &RunningSettings) -> bool {
        let change = self.roster.restart_one(source, settings);
        let runs = change.is_some();
        self.apply(change.unwrap_or_default());
        runs
    }

    /// Drops the picture of the mining pool and fetches it again; returns whether there was one.
    pub fn forget_logo(&mut self, settings: &RunningSettings) -> bool {
        let change = self.roster.refetch_logo(settings);
        self.apply(change);
        let had = self.market.pool_logo.is_some();
        if had {
            Arc::make_mut(&mut self.market).pool_logo = None;
        }
        had
    }

    /// Decides again which height is shown; returns whether it is another one.
    fn update_height(&mut self, now: Now) -> bool {
        let differs = self.heights.update(now);
        self.publish_height();
        differs
    }

    fn publish_height(&mut self) {
        if self.heights.shown() != self.market.height.as_ref() {
            Arc::make_mut(&mut self.market).height = self.heights.shown().cloned();
        }
        self.mark_reasons.height = self.heights.mark_reasons().to_vec();
    }

    /// Shows the fee rate that is valid now; returns whether its value differs from the one before.
    fn update_fee(&mut self, now: Now) -> bool {
        self.fees.settle(&mut self.market, now.uptime)
    }

    /// Decides again which prices are shown in some currencies; returns whether one is another.
    fn update_prices(&mut self, currencies: Vec<Currency>, now: Now) -> bool {
        let mut differs = false;
        for currency in currencies {
            let update =
                self.prices
                    .update(currency, &mut self.market, self.price_rules, now.uptime);
            differs |= update.differs;
            if update.is_marked && self.heights.are_marked() {
                self.mark_reasons.prices.insert(currency)
            } else {
                self.mark_reasons.prices.remove(&currency)
            };
        }
        differs
    }
}

/// What the settings demand of the height, given the planned sources.
fn height_rules(settings: &Settings, plan: &Plan) -> HeightRules {
    HeightRules {
        policy: match settings.proof_mode {
            proof_mode::STRICT => HeightPolicy::RequireProof,
            _ => HeightPolicy::AllowClaims,
        },
        marks: settings.proof_mode != proof_mode::OFF,
        has_prover: plan
            .values()
            .any(|plan| plan.supplies.contains(&Supply::Proofs)),
        planned: plan.keys().copied().collect(),
    }
}

/// What the settings demand of prices.
fn price_rules(settings: &Settings) -> PriceRules {
    PriceRules {
        band_permille: settings.price_band.into(),
        quorum: settings.price_quorum as usize,
    }
}
