//! Who guessed how often, and what was guessed: both bounded.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    net::{IpAddr, Ipv6Addr},
    time::Duration,
};

use tokio::time::Instant;

/// Addresses whose failed attempts are remembered.
const ADDRESSES_MAX: usize = 1024;

/// Wrong credentials that are remembered, so that they need not be hashed again.
const GUESSES_MAX: usize = 2048;

/// Failed attempts before an address is slowed.
const FREE_FAILURES: u32 = 3;

/// How long an answer is kept back after the first attempt too many; doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(250);

/// The longest time an answer is kept back: clients give up after ten seconds.
const LONGEST_WAIT: Duration = Duration::from_secs(4);

/// Time after which failed attempts are forgotten.
const FORGET: Duration = Duration::from_secs(15 * 60);

/// What counts as one address: with IPv6 everybody has a whole network of them.
pub(super) fn network(address: IpAddr) -> IpAddr {
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
    by_address: HashMap<IpAddr, Failed>,
}

#[derive(Debug, Clone, Copy)]
struct Failed {
    count: u32,
    last: Instant,
}

impl Failures {
    /// Counts a failed attempt; tells which one of its address it is.
    pub(super) fn add(&mut self, address: IpAddr, now: Instant) -> u32 {
        let before = self.by_address.get(&address);
        let before = before.filter(|failed| now < failed.last + FORGET);
        let count = before.map_or(0, |failed| failed.count).saturating_add(1);
        if self.by_address.len() >= ADDRESSES_MAX && !self.by_address.contains_key(&address) {
            let oldest = self
                .by_address
                .iter()
                .min_by_key(|(_, failed)| failed.last)
                .map(|(address, _)| *address);
            oldest.and_then(|oldest| self.by_address.remove(&oldest));
        }
        self.by_address.insert(address, Failed { count, last: now });
        count
    }

    /// Forgets what an address failed at.
    pub(super) fn forget(&mut self, address: IpAddr) {
        self.by_address.remove(&address);
    }
}

/// How long the answer to an address is kept back with so many failed attempts; none while it may try.
pub(super) fn wait(count: u32) -> Option<Duration> {
    let beyond = count.checked_sub(FREE_FAILURES + 1)?;
    Some(
        FIRST_WAIT
            .saturating_mul(1 << beyond.min(16))
            .min(LONGEST_WAIT),
    )
}

/// Whether a failed attempt is worth a line in the log; a guesser must not fill it.
pub(super) fn is_told(count: u32) -> bool {
    count <= FREE_FAILURES || count.is_power_of_two()
}

/// Wrong credentials, by their digests.
#[derive(Default)]
pub(super) struct Guesses {
    known: HashSet<[u8; 32]>,
    order: VecDeque<[u8; 32]>,
}

impl Guesses {
    /// Whether these are known to be wrong.
    pub(super) fn contains(&self, digest: &[u8; 32]) -> bool {
        self.known.contains(digest)
    }

    /// Remembers that these are wrong.
    pub(super) fn add(&mut self, digest: [u8; 32]) {
        if !self.known.insert(digest) {
            return;
        }
        self.order.push_back(digest);
        if self.order.len() > GUESSES_MAX
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
    fn failures_are_counted_and_forgotten() {
        let mut failures = Failures::default();
        let (address, start) = (IpAddr::from([192, 0, 2, 1]), Instant::now());
        for (seconds, count) in [(0, 1), (1, 2), (800, 3), (1600, 4), (2501, 1)] {
            let now = start + Duration::from_secs(seconds);
            assert_eq!(failures.add(address, now), count, "{seconds}");
        }
        failures.forget(address);
        assert_eq!(failures.add(address, start), 1);
    }

    #[test]
    fn waits_grow_up_to_a_limit_and_the_log_does_not() {
        let millis = |count| wait(count).map(|wait| wait.as_millis());
        let waits: Vec<_> = (1..10).map(millis).collect();
        let expected = [0, 0, 0, 250, 500, 1000, 2000, 4000, 4000];
        assert_eq!(waits, expected.map(|wait| (wait > 0).then_some(wait)));
        assert_eq!(millis(u32::MAX), Some(4000));
        assert_eq!((1..=10_000).filter(|count| is_told(*count)).count(), 3 + 12);
    }

    #[test]
    fn guesses_are_remembered_with_a_bound() {
        let digest = |number: usize| {
            let mut digest = [0; 32];
            digest[..8].copy_from_slice(&number.to_le_bytes());
            digest
        };
        let mut guesses = Guesses::default();
        for number in (0..GUESSES_MAX + 10).chain([GUESSES_MAX]) {
            guesses.add(digest(number));
        }
        assert_eq!(guesses.known.len(), GUESSES_MAX);
        assert_eq!(guesses.order.len(), GUESSES_MAX);
        assert!(!guesses.contains(&digest(9)) && guesses.contains(&digest(10)));
    }

    #[test]
    fn ipv6_neighbours_count_as_one_address() {
        let of = |text: &str| network(text.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::2"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.0.2.1"), IpAddr::from([192, 0, 2, 1]));
    }
}
