//! One task per source: reads bytes from an upstream and sends observations to the device.
//!
//! The `supervisor` keeps the running sources equal to the plan. A source is either a [`session::SourceSession`], a
//! connection kept open by [`session::run`], or a repeated poll. Both report the state of the connection.
//! `demo` is the server side: a relay on loopback with its own market.

pub mod supervisor;

pub mod poll;
pub mod session;

pub mod electrum;
pub mod exchange;
pub mod explorer;
pub mod miner;
pub mod node;
pub mod nostr;
pub mod peer;
pub mod peers;
pub mod pool;
pub mod relay;
pub mod venue;
pub mod wallet;

pub mod already_reported;
pub mod connection_group;
pub mod freshness;
pub mod known_peers;
pub mod logos;
pub mod shared_value;
pub mod side_requests;
pub mod time;
pub mod upstreams;

pub mod demo;

use std::{convert::Infallible, sync::Arc, time::Duration};

use device::{
    input::Input,
    sources::{NodeKind, Route, SourceConfig},
};
use market::{Connection, FigureIdentity, Observation, Polled, source_id::SourceId};
use net::dialer::Dialer;
use runtime::{
    clock::Clock,
    inbox::{Inbox, Stopped},
    outage::Outage,
};

use self::{
    already_reported::AlreadyReported,
    connection_group::GroupMember,
    electrum::Electrum,
    exchange::Exchange,
    explorer::Explorer,
    freshness::Freshness,
    known_peers::KnownPeers,
    logos::LogoCache,
    miner::Miner,
    nostr::{NostrDataSource, Zaps},
    peer::OwnPeer,
    relay::Relay,
    upstreams::Upstreams,
    venue::VenueSource,
    wallet::Wallet,
};

async fn run(config: SourceConfig, context: SourceContext) -> Result<Infallible, Stopped> {
    let context = &context;
    match config {
        SourceConfig::Relay(config) => session::run(context, Relay::new(config)).await,
        SourceConfig::Explorer(config) => {
            let freshness = Freshness::default();
            session::run(context, Explorer { config, freshness }).await
        }
        SourceConfig::Exchange { currencies } => {
            session::run(context, Exchange { currencies }).await
        }
        SourceConfig::Witness { currencies } => {
            session::run(context, VenueSource { currencies }).await
        }
        SourceConfig::Nostr { relays, author } => {
            nostr::run(context, relays, NostrDataSource::of(author)).await
        }
        SourceConfig::Zaps { relays, recipients } => {
            let feed = Zaps::of(recipients, context.shared.already_reported.clone());
            nostr::run(context, relays, feed).await
        }
        SourceConfig::Wallet { uri, refresh_secs } => {
            session::run(context, Wallet::paired(&uri, refresh_secs)).await
        }
        SourceConfig::Pool(config) => pool::run(context, config).await,
        SourceConfig::Miner { host, poll_secs } => {
            poll::run(context, poll_secs, Miner { host }).await
        }
        SourceConfig::Node(config) => match config.kind {
            NodeKind::Bitcoin => session::run(context, OwnPeer::of(config)).await,
            NodeKind::Electrum => session::run(context, Electrum { node: config }).await,
        },
        SourceConfig::Peers(config) => peers::run(context, config).await,
    }
}

#[derive(Debug, Clone)]
pub struct SourceServices {
    /// Opens outbound connections.
    pub dialer: Dialer,
    /// Public addresses and their replacements.
    pub upstreams: Arc<Upstreams>,
    /// Queue into the device.
    pub inbox: Inbox,
    pub clock: Clock,
    pub logos: LogoCache,
    /// What was reported since the program started.
    pub already_reported: AlreadyReported,
    /// Peers that have answered correctly.
    pub known_peers: KnownPeers,
}

#[derive(Debug, Clone)]
pub struct SourceContext {
    pub id: SourceId,
    /// Account or host of the polled figure. The device drops a figure of a previously configured account or host.
    pub identity: FigureIdentity,
    /// The route of outbound connections.
    pub route: Route,
    pub shared: SourceServices,
    /// Its place in a group of connections that form one source. `None` for a source with a single connection.
    pub member: Option<GroupMember>,
}

impl SourceContext {
    /// Reports a failure: to the device each time, to the log only if its reason is new in this outage.
    ///
    /// # Errors
    /// The device has stopped.
    pub async fn report(
        &self,
        outage: &mut Outage,
        reason: String,
        retry_in: Duration,
    ) -> Result<(), Stopped> {
        if outage.is_new(&reason) {
            tracing::warn!(reason, "source is down");
        } else {
            tracing::debug!(reason, retry_in_ms = retry_in.as_millis(), "no success");
        }
        let down = Connection::Down { reason, retry_in };
        self.send(vec![Observation::Connection(down)]).await
    }

    pub fn polled<T>(&self, value: T) -> Polled<T> {
        Polled {
            identity: self.identity,
            value,
        }
    }

    /// Sends observations to the device.
    ///
    /// # Errors
    /// The device has stopped.
    pub async fn send(&self, observations: Vec<Observation>) -> Result<(), Stopped> {
        let observations = match &self.member {
            Some(member) => member.merge(observations),
            None => observations,
        };
        if observations.is_empty() {
            return Ok(());
        }
        self.shared
            .inbox
            .send(Input::Observed(self.id, observations))
            .await
    }
}
