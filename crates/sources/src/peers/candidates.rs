//! Peers that can be connected, and the DNS seeds that return them.

use std::net::IpAddr;

use chain::network::Network;
use feeds::p2p;
use futures_util::{StreamExt, stream::FuturesUnordered};
use net::{
    chance::Chance,
    dialer::goes_by_name,
    url::{bracketed, split_authority},
};

use crate::SourceContext;

/// Addresses that are tried per seed.
const PER_SEED_MAX: usize = 8;

/// Seeds that are queried at the same time.
const SEEDS_AT_ONCE: usize = 3;

/// A peer that can be connected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) host: String,
    pub(super) port: u16,
    /// Peers of one group may belong to the same operator.
    pub(super) group: AddressGroup,
    /// It is a DNS seed, which resolves to another peer each time.
    pub(super) is_seed: bool,
}

/// The part of the internet that an address belongs to. Peers must come from different groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AddressGroup {
    /// The first 16 bits of an address.
    V4([u8; 2]),
    /// The first 48 bits of an address.
    V6([u16; 3]),
    Name(String),
}

impl Candidate {
    /// Parses `host` or `host:port`.
    pub(super) fn parse(text: &str, network: Network) -> Option<Candidate> {
        let (host, port) = split_authority(text).ok()?;
        Some(Candidate::new(host, port.unwrap_or(p2p::port(network))))
    }

    /// A peer at a host and a port.
    pub(super) fn new(host: &str, port: u16) -> Candidate {
        let group = match host.parse::<IpAddr>().map(|address| address.to_canonical()) {
            Ok(IpAddr::V4(address)) => {
                let [first, second, ..] = address.octets();
                AddressGroup::V4([first, second])
            }
            Ok(IpAddr::V6(address)) => {
                let [first, second, third, ..] = address.segments();
                AddressGroup::V6([first, second, third])
            }
            Err(_) => AddressGroup::Name(format!("{host}:{port}")),
        };
        Candidate {
            host: host.to_owned(),
            port,
            group,
            is_seed: false,
        }
    }

    /// `host:port`.
    pub(super) fn name(&self) -> String {
        format!("{}:{}", bracketed(&self.host), self.port)
    }
}

/// Finds peers through the seeds: by name if a proxy resolves names, else by address.
pub(super) async fn find(
    context: &SourceContext,
    network: Network,
    mut chance: Chance,
) -> Vec<Candidate> {
    let resolver = context.shared.dialer.resolver();
    let port = p2p::port(network);
    let mut seeds = context.shared.upstreams.seeds(network);
    chance.shuffle(&mut seeds);
    let (by_name, by_address): (Vec<&str>, Vec<&str>) = seeds
        .into_iter()
        .partition(|seed| goes_by_name(&context.route, seed));
    let by_name = by_name.into_iter().map(|seed| Candidate {
        is_seed: true,
        ..Candidate::new(seed, port)
    });
    let mut found: Vec<Candidate> = by_name.collect();
    let lookups = by_address.into_iter().take(SEEDS_AT_ONCE);
    let mut answers: FuturesUnordered<_> =
        lookups.map(|seed| resolver.look_up(seed, port)).collect();
    while let Some(answer) = answers.next().await {
        let mut addresses = answer.unwrap_or_default();
        chance.shuffle(&mut addresses);
        let addresses = addresses.into_iter().take(PER_SEED_MAX);
        found.extend(addresses.map(|address| Candidate::new(&address.ip().to_string(), port)));
    }
    chance.shuffle(&mut found);
    found
}
