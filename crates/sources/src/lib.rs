//! One task per source: bytes of an upstream come in, observations go to the device.
//!
//! The `supervisor` compares which sources should run with those that do.
//! A source is a [`session::SourceSession`], kept open for ever by [`session::keep`], or a poll that is
//! repeated for ever; both report what became of the connection.
//! `demo` is the other side: a relay on loopback with a market of its own.

pub mod supervisor;

pub mod poll;
pub mod session;

pub mod core_node;
pub mod electrum;
pub mod exchange;
pub mod explorer;
pub mod miner;
pub mod node;
pub mod nostr;
pub mod own_node;
pub mod peer;
pub mod peers;
pub mod pool;
pub mod relay;
pub mod venue;
pub mod wallet;

pub mod already_reported;
pub mod by_height;
pub mod common;
pub mod freshness;
pub mod known_peers;
pub mod logos;
pub mod side_requests;
pub mod time;
pub mod together;
pub mod upstreams;

pub mod demo;

use std::{sync::Arc, time::Duration};

use device::input::Input;
use market::{Connection, FigureIdentity, Observation, Polled, source_id::SourceId};
use net::{dialer::Dialer, route::Route};
use runtime::{
    clock::Clock,
    inbox::{Inbox, Stopped},
    outage::Outage,
};

use self::{
    already_reported::AlreadyReported, known_peers::KnownPeers, logos::LogoCache, together::Member,
    upstreams::Upstreams,
};

/// Services that all sources use.
#[derive(Debug, Clone)]
pub struct SourceServices {
    /// The way out.
    pub dialer: Dialer,
    /// Fixed public addresses and their replacements.
    pub upstreams: Arc<Upstreams>,
    /// The way into the device.
    pub inbox: Inbox,
    /// Tells the time.
    pub clock: Clock,
    /// Pictures of pools that were fetched before.
    pub logos: LogoCache,
    /// What was told in this run.
    pub already_reported: AlreadyReported,
    /// Peers that have answered well.
    pub known_peers: KnownPeers,
}

/// What a source works with.
#[derive(Debug, Clone)]
pub struct SourceContext {
    /// Which source it is.
    pub id: SourceId,
    /// The identity it polls.
    pub identity: FigureIdentity,
    /// The way outbound connections take.
    pub route: Route,
    /// What all sources share.
    pub shared: SourceServices,
    /// The one of several connections that this is; none if it is the only one.
    pub member: Option<Member>,
}

impl SourceContext {
    /// Reports a failure: to the device each time, in the log if its reason is new in this outage.
    ///
    /// # Errors
    /// The device has stopped.
    pub async fn report(
        &self,
        outage: &mut Outage,
        reason: String,
        retry_in: Duration,
    ) -> Result<(), Stopped> {
        if outage.is_news(&reason) {
            tracing::warn!(reason, "source is down");
        } else {
            tracing::debug!(reason, retry_in_ms = retry_in.as_millis(), "no success");
        }
        let down = Connection::Down { reason, retry_in };
        self.observed(vec![Observation::Connection(down)]).await
    }

    /// A figure that this source has polled.
    pub fn polled<T>(&self, value: T) -> Polled<T> {
        Polled {
            identity: self.identity,
            value,
        }
    }

    /// Hands observations to the device.
    ///
    /// # Errors
    /// The device has stopped.
    pub async fn observed(&self, observations: Vec<Observation>) -> Result<(), Stopped> {
        let observations = match &self.member {
            Some(member) => member.tell(observations),
            None => observations,
        };
        if observations.is_empty() {
            return Ok(());
        }
        self.shared
            .inbox
            .tell(Input::Observed(self.id, observations))
            .await
    }
}
