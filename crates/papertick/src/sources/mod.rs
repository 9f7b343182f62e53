//! One task per source: bytes of an upstream come in, observations go to the device.
//!
//! The `supervisor` compares which sources should run with those that do.
//! A source is a [`session::Session`], kept open for ever by [`session::keep`], or a poll that is
//! repeated for ever; both report what became of the connection.
//! `demo` is the other side: a relay on loopback with a market of its own.

pub mod supervisor;

pub mod outage;
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

use std::sync::Arc;

use device::{
    input::Input,
    market::{FigureIdentity, Observation, Polled},
    sources::{self, SourceId},
};
use net::{
    dialer::Dialer,
    route::{Password, Proxy, ProxyKind, Route},
};
use runtime::{
    clock::Clock,
    inbox::{Inbox, Stopped},
};

use self::{
    already_reported::AlreadyReported, known_peers::KnownPeers, logos::LogoCache, together::Member,
    upstreams::Upstreams,
};

/// What all sources share.
#[derive(Debug, Clone)]
pub struct Shared {
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

/// What one source works with.
#[derive(Debug, Clone)]
pub struct Context {
    /// Which source it is.
    pub id: SourceId,
    /// The identity it polls.
    pub identity: FigureIdentity,
    /// The way outbound connections take.
    pub route: Route,
    /// What all sources share.
    pub shared: Shared,
    /// The one of several connections that this is; none if it is the only one.
    pub member: Option<Member>,
}

/// The way that a plan wants, in the words of the dialer.
pub fn route(wanted: &sources::Route) -> Route {
    let proxy = wanted.proxy.as_ref().map(|proxy| Proxy {
        kind: match proxy.kind {
            sources::ProxyKind::HttpConnect => ProxyKind::HttpConnect,
            sources::ProxyKind::Socks4 => ProxyKind::Socks4,
            sources::ProxyKind::Socks4a => ProxyKind::Socks4a,
            sources::ProxyKind::Socks5 => ProxyKind::Socks5,
        },
        host: proxy.host.expose().to_owned(),
        label: proxy.host.to_string(),
        port: proxy.port,
        user: proxy.user.clone(),
        pass: Password::new(proxy.pass.expose()),
        bypass: proxy.bypass.clone(),
    });
    Route { proxy }
}

impl Context {
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

#[cfg(test)]
mod tests {
    use device::secret::Secret;

    use super::*;

    #[test]
    fn a_proxy_is_the_one_that_the_owner_set() {
        for (wanted, kind) in [
            (sources::ProxyKind::HttpConnect, ProxyKind::HttpConnect),
            (sources::ProxyKind::Socks4, ProxyKind::Socks4),
            (sources::ProxyKind::Socks4a, ProxyKind::Socks4a),
            (sources::ProxyKind::Socks5, ProxyKind::Socks5),
        ] {
            let proxy = sources::Proxy {
                kind: wanted,
                host: "me:planted@proxy".into(),
                port: 9050,
                user: "alice".to_string(),
                pass: Secret::new("planted"),
                bypass: "*.local,10.*".to_string(),
            };
            let route = route(&sources::Route { proxy: Some(proxy) });
            let expected = Proxy {
                kind,
                host: "me:planted@proxy".to_string(),
                label: "me:***@proxy".to_string(),
                port: 9050,
                user: "alice".to_string(),
                pass: Password::new("planted"),
                bypass: "*.local,10.*".to_string(),
            };
            assert!(!format!("{route:?}").contains("planted"), "{route:?}");
            assert_eq!(route.proxy, Some(expected));
        }
        assert_eq!(route(&sources::Route { proxy: None }), Route::default());
    }
}
