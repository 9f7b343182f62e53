//! Failed logins by address, and credentials that are known to be wrong. Both are bounded.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    net::{IpAddr, Ipv6Addr},
    time::Duration,
};

use tokio::time::Instant;

/// Most addresses with failed attempts.
const ADDRESSES_MAX: usize = 1024;

/// Most wrong credentials that are remembered, so that they are not hashed again.
const WRONG_MAX: usize = 2048;

/// Failed attempts of an address without a delay.
const FREE_FAILURES: u32 = 3;

/// Delay of the response to the first failure after the free ones. It doubles with each further failure.
const FIRST_DELAY: Duration = Duration::from_millis(250);

/// Longest delay of a response: clients give up after ten seconds.
const DELAY_MAX: Duration = Duration::from_secs(4);

/// Time after which failed attempts are forgotten.
const FORGET_AFTER: Duration = Duration::from_secs(15 * 60);

/// The network that counts as one client: with IPv6 every host has a whole /64.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

/// Failed attempts by address.
#[derive(Default)]
pub(super) struct Failures {
    by_address: HashMap<IpAddr, FailureCount>,
}

#[derive(Debug, Clone, Copy)]
struct FailureCount {
    count: u32,
    last: Instant,
}

impl Failures {
    /// Counts a failed attempt. Returns the number of failed attempts of the address.
    pub(super) fn add(&mut self, address: IpAddr, now: Instant) -> u32 {
        let before = self.by_address.get(&address);
        let before = before.filter(|failed| now < failed.last + FORGET_AFTER);
        let count = before.map_or(0, |failed| failed.count).saturating_add(1);
        if self.by_address.len() >= ADDRESSES_MAX && !self.by_address.contains_key(&address) {
            let oldest = self
                .by_address
                .iter()
                .min_by_key(|(_, failed)| failed.last)
                .map(|(address, _)| *address);
            oldest.and_then(|oldest| self.by_address.remove(&oldest));
        }
        self.by_address
            .insert(address, FailureCount { count, last: now });
        count
    }

    /// Forgets the failed attempts of an address.
    pub(super) fn forget(&mut self, address: IpAddr) {
        self.by_address.remove(&address);
    }
}

/// Delay of the response after this many failed attempts; `None` if there is no delay yet.
pub(super) fn delay(count: u32) -> Option<Duration> {
    let beyond = count.checked_sub(FREE_FAILURES + 1)?;
    Some(
        FIRST_DELAY
            .saturating_mul(1 << beyond.min(16))
            .min(DELAY_MAX),
    )
}

/// Whether the failed attempt with this number is logged. A client that guesses must not fill the log.
pub(super) fn is_logged(count: u32) -> bool {
    count <= FREE_FAILURES || count.is_power_of_two()
}

/// Digests of credentials that are known to be wrong.
#[derive(Default)]
pub(super) struct WrongCredentials {
    known: HashSet<[u8; 32]>,
    order: VecDeque<[u8; 32]>,
}

impl WrongCredentials {
    /// Whether the credentials with this digest are known to be wrong.
    pub(super) fn contains(&self, digest: &[u8; 32]) -> bool {
        self.known.contains(digest)
    }

    /// Remembers that the credentials with this digest are wrong.
    pub(super) fn add(&mut self, digest: [u8; 32]) {
        if !self.known.insert(digest) {
            return;
        }
        self.order.push_back(digest);
        if self.order.len() > WRONG_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn the_table_of_addresses_is_bounded() {
        let mut failures = Failures::default();
        let start = Instant::now();
        for index in 0..2 * ADDRESSES_MAX {
            let address = IpAddr::from(u32::try_from(index).unwrap().to_be_bytes());
            let now = start + Duration::from_millis(index.try_into().unwrap());
            assert_eq!(failures.add(address, now), 1);
        }
        assert_eq!(failures.by_address.len(), ADDRESSES_MAX);
        let first = IpAddr::from([0, 0, 0, 0]);
        assert!(!failures.by_address.contains_key(&first));
    }

    #[test]
    fn addresses_of_one_ipv6_network_count_as_one() {
        let of = |text: &str| network(text.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::2"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.0.2.1"), IpAddr::from([192, 0, 2, 1]));
    }
}
