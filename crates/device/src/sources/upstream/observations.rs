//! Observations and headers of sources.

use alloc::sync::Arc;

use chain::Header;
use market::{
    HeadersReach, HeadersReply, ProofOrigin,
    fees::{FeePrecision, FeeQuote},
    figures::Polled,
    heights::HeightOutcome,
    now::Now,
    observation::{Connection, Observation},
    source_id::SourceId,
    units::{Currency, FeeRate},
    values::Seen,
};

use super::{MarketChange, Upstream};
use crate::{settings::RunningSettings, sources::SourceConfig};

impl Upstream {
    /// Handles an observation of a source.
    pub fn observe(
        &mut self,
        source: SourceId,
        observation: Observation,
        settings: &RunningSettings,
        now: Now,
    ) -> MarketChange {
        if self.roster.is_removed(source) {
            return MarketChange::Nothing;
        }
        if observation.is_data() {
            self.roster.state(source).last_success = Some(now.uptime);
        }
        let seen = Seen::At(now.uptime);
        match observation {
            Observation::Connection(connection) => self.follow_connection(source, connection, now),
            Observation::PollFailed => {
                self.poll_failed(source);
                MarketChange::Nothing
            }
            Observation::Complaint(reason) => {
                self.roster.state(source).last_error = Some(reason);
                MarketChange::Nothing
            }
            Observation::Dropped(reason, count) => self.drop(source, reason, count),
            Observation::Price(currency, _) | Observation::Quote { currency, .. }
                if !self.wants_prices_in(currency, settings) =>
            {
                self.drop(source, "currency", 1)
            }
            Observation::Price(currency, price) => {
                self.prices.quote(source, currency, price, now);
                self.price_quoted(currency, now)
            }
            Observation::Quote { currency, .. } if !self.is_witness_of(source, currency) => {
                self.drop(source, "currency", 1)
            }
            Observation::Quote {
                currency,
                price,
                at,
            } => {
                self.prices.witness(source, currency, price, at, now);
                self.price_quoted(currency, now)
            }
            Observation::Block(height) => {
                let outcome = self.heights.claim(source, height, now);
                self.height_reported(source, outcome)
            }
            Observation::Headers { height, headers } => {
                let outcome = self.heights.report_headers(source, height, &headers, now);
                self.height_reported(source, outcome)
            }
            Observation::PeerDisconnected(place) => {
                self.heights.disconnect_peer(ProofOrigin { source, place });
                MarketChange::value_if(self.update_height(now))
            }
            Observation::Peers(peers) => {
                self.peers = Arc::new(peers);
                MarketChange::Nothing
            }
            Observation::Zap(zap) => MarketChange::Zap(zap),
            Observation::Payment(payment) => MarketChange::Payment(payment),
            Observation::Currencies(list) => {
                if self.offer.replace(list) {
                    MarketChange::Currencies
                } else {
                    MarketChange::Nothing
                }
            }
            Observation::PoolLogo(_) => {
                self.learn(source, observation, seen, MarketChange::PoolLogo)
            }
            Observation::Fee(rate) => self.fee_quoted(source, FeePrecision::Whole, rate, now),
            Observation::PreciseFee(rate) => {
                self.fee_quoted(source, FeePrecision::Precise, rate, now)
            }
            Observation::Pool(Polled { identity, .. })
            | Observation::Miner(Polled { identity, .. })
            | Observation::Balance(Polled { identity, .. }) => {
                // The figure was still in the queue when the settings changed to another pool, miner or wallet.
                if self.roster.identity(source) != Some(identity) {
                    return MarketChange::Nothing;
                }
                self.learn(source, observation, seen, MarketChange::Value)
            }
        }
    }

    /// Adds headers of a source that fetches the chain piece by piece and waits for the reply.
    pub fn add_headers(
        &mut self,
        origin: ProofOrigin,
        headers: &[Header],
        reach: HeadersReach,
        now: Now,
    ) -> (HeadersReply, MarketChange) {
        if self.roster.is_removed(origin.source) || self.chain().is_none() {
            return (HeadersReply::default(), MarketChange::Nothing);
        }
        let (reply, outcome) = self.heights.add_headers(origin, headers, reach, now);
        // An empty answer does not show that the source works.
        if reply.refused.is_none() && !headers.is_empty() {
            self.roster.state(origin.source).last_success = Some(now.uptime);
        }
        let change = self.height_reported(origin.source, outcome);
        (reply, change)
    }

    fn follow_connection(
        &mut self,
        source: SourceId,
        connection: Connection,
        now: Now,
    ) -> MarketChange {
        let mut differs = false;
        match connection {
            Connection::Connecting => {}
            Connection::Up => self.heights.connect(source),
            Connection::Down { .. } => {
                self.heights.disconnect(source);
                let changed = self.prices.disconnect(source);
                differs |= self.update_prices(changed, now);
                self.fees.source_failed(source);
                differs |= self.update_fee(now);
                self.poll_failed(source);
            }
        }
        differs |= self.update_height(now);
        self.roster.state(source).follow(connection, now.uptime);
        MarketChange::value_if(differs)
    }

    fn poll_failed(&mut self, source: SourceId) {
        Arc::make_mut(&mut self.market).poll_failed(source);
    }

    fn drop(&mut self, source: SourceId, reason: &'static str, count: u32) -> MarketChange {
        self.roster.state(source).drop(reason, count);
        MarketChange::Nothing
    }

    fn learn(
        &mut self,
        source: SourceId,
        observation: Observation,
        seen: Seen,
        change: MarketChange,
    ) -> MarketChange {
        if Arc::make_mut(&mut self.market).learn(source, observation, seen) {
            change
        } else {
            MarketChange::Nothing
        }
    }

    fn height_reported(&mut self, source: SourceId, outcome: HeightOutcome) -> MarketChange {
        if let Some(reason) = outcome.dropped {
            self.drop(source, reason, 1);
        }
        self.publish_height();
        if outcome.is_new_block { MarketChange::Block } else { MarketChange::Nothing }
    }

    fn fee_quoted(
        &mut self,
        source: SourceId,
        precision: FeePrecision,
        rate: FeeRate,
        now: Now,
    ) -> MarketChange {
        // The rate was still in the queue when the source was removed.
        let Some(identity) = self.roster.identity(source) else {
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
            return self.drop(source, "fee-impossible", 1);
        }
        self.fees.quote(quote);
        MarketChange::value_if(self.update_fee(now))
    }

    fn price_quoted(&mut self, currency: Currency, now: Now) -> MarketChange {
        MarketChange::value_if(self.update_prices([currency].into(), now))
    }

    /// Returns whether a source is planned as a witness of prices in a currency.
    fn is_witness_of(&self, source: SourceId, currency: Currency) -> bool {
        let plan = self.roster.planned().get(&source);
        plan.is_some_and(|plan| matches!(&plan.config, SourceConfig::Witness { currencies } if currencies.contains(&currency)))
    }

    /// Returns whether prices in a currency are of use.
    fn wants_prices_in(&self, currency: Currency, settings: &RunningSettings) -> bool {
        self.offer.currencies().contains(&currency)
            || settings.stored.currencies().contains(&currency)
    }
}
