//! Resolves names with the host's resolver, which respects `/etc/hosts` and local names.
//!
//! The host's resolver is a blocking call that may hang and cannot be cancelled. Each lookup therefore runs on its own
//! thread, of which there are only a few; callers wait in a queue, for a limited time. Lookups of the same name are
//! shared. A hanging thread only reduces the number of lookups, and is available again when it returns.

use std::{
    collections::BTreeMap,
    fmt, io,
    net::{IpAddr, SocketAddr, ToSocketAddrs},
    sync::Arc,
    thread,
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    time::{Instant, timeout},
};

use crate::mdns::MdnsScope;

/// Longest time that a caller waits.
pub const LOOK_UP_MAX: Duration = Duration::from_secs(10);

/// Lookups at the same time, including hanging ones.
pub const LOOK_UPS_MAX: usize = 8;

/// Lookups of one name at the same time, so that a hanging one can be retried.
pub const PER_NAME_MAX: u32 = 2;

/// Time after which a lookup is considered hanging, and another one of the same name may start.
pub const HANGS_AFTER: Duration = Duration::from_secs(60);

/// Time after which lookups that all hang are considered lost.
pub const LOST_AFTER: Duration = Duration::from_secs(600);

/// Time for a look-up by multicast DNS, which gets no answer where the name does not exist.
const MDNS_TIME: Duration = Duration::from_secs(3);

/// Most addresses of a name that are used.
const ADDRESSES_MAX: usize = 32;

/// A name service; called on a thread that it may block.
pub trait NameService: fmt::Debug + Send + Sync + 'static {
    /// Resolves a name; the ports are ignored.
    ///
    /// # Errors
    /// The name does not exist, or the lookup failed.
    fn look_up(&self, host: &str) -> io::Result<Vec<SocketAddr>>;
}

/// The host's own resolver, and multicast DNS for names in `.local`: a resolver without that plug-in, as in a container
/// or a static program, does not find them.
#[derive(Debug, Clone, Copy)]
pub struct HostNames;

impl NameService for HostNames {
    fn look_up(&self, host: &str) -> io::Result<Vec<SocketAddr>> {
        let error = match (host, 0).to_socket_addrs() {
            Ok(addresses) => return Ok(addresses.take(ADDRESSES_MAX).collect()),
            Err(error) => error,
        };
        let addresses = match host.trim_end_matches('.').rsplit_once('.') {
            Some((_, domain)) if domain.eq_ignore_ascii_case("local") => {
                MdnsScope::all().look_up_host(host, MDNS_TIME)
            }
            Some(_) | None => Vec::new(),
        };
        if addresses.is_empty() {
            return Err(error);
        }
        let addresses = addresses.into_iter().take(ADDRESSES_MAX);
        Ok(addresses.map(|ip| SocketAddr::new(ip, 0)).collect())
    }
}

/// Why a name has no address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoAddress {
    /// The name does not exist, or the lookup failed.
    #[error("no address found")]
    NotFound,
    #[error("no answer within {} s", LOOK_UP_MAX.as_secs())]
    Timeout,
}

/// Result of a DNS lookup.
type LookupResult = Result<Vec<SocketAddr>, NoAddress>;

/// Resolves names; clones share the lookups.
#[derive(Debug, Clone)]
pub struct Resolver {
    shared: Arc<ResolverState>,
}

/// State that all clones of a resolver share.
#[derive(Debug)]
struct ResolverState {
    service: Arc<dyn NameService>,
    threads: Arc<Semaphore>,
    names: watch::Sender<BTreeMap<String, NameLookups>>,
    /// Number of threads that have returned.
    returned: watch::Sender<u64>,
}

/// Lookups of one name that are in progress.
#[derive(Debug)]
struct NameLookups {
    threads: u32,
    /// The newest lookup and its start. `None` if it has ended, and only older ones still hang.
    newest: Option<(watch::Sender<Option<LookupResult>>, Instant)>,
}

impl NameLookups {
    /// The running lookup, unless it hangs and another one may start.
    fn current(&self) -> Option<&watch::Sender<Option<LookupResult>>> {
        let (answer, since) = self.newest.as_ref()?;
        let may_retry = self.threads < PER_NAME_MAX && since.elapsed() >= HANGS_AFTER;
        (!may_retry).then_some(answer)
    }
}

/// A lookup on a thread; dropping it releases its permit.
struct LookUp {
    shared: Arc<ResolverState>,
    host: String,
    answer: watch::Sender<Option<LookupResult>>,
    _permit: OwnedSemaphorePermit,
}

impl Resolver {
    /// A resolver that uses a name service.
    pub fn new(service: Arc<dyn NameService>) -> Resolver {
        Resolver {
            shared: Arc::new(ResolverState {
                service,
                threads: Arc::new(Semaphore::new(LOOK_UPS_MAX)),
                names: watch::Sender::new(BTreeMap::new()),
                returned: watch::Sender::new(0),
            }),
        }
    }

    /// The addresses of a host with this port, at least one.
    ///
    /// # Errors
    /// There are none, or none was found in time.
    pub async fn look_up(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, NoAddress> {
        if let Ok(address) = host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        let resolved = timeout(LOOK_UP_MAX, self.resolve_shared(host)).await;
        let mut addresses = resolved.unwrap_or(Err(NoAddress::Timeout))?;
        for address in &mut addresses {
            address.set_port(port);
        }
        Ok(addresses)
    }

    /// Returns when all lookups are considered lost; only a restart of the process helps then.
    pub async fn lost(&self) {
        let mut returned = self.shared.returned.subscribe();
        loop {
            let is_full = self.shared.threads.available_permits() == 0;
            let returns = timeout(LOST_AFTER, returned.changed()).await.is_ok();
            if is_full && !returns {
                return;
            }
        }
    }

    async fn resolve_shared(&self, host: &str) -> LookupResult {
        let mut names = self.shared.names.subscribe();
        let current = |names: &BTreeMap<String, NameLookups>| {
            let answer = names.get(host).and_then(NameLookups::current);
            answer.map(watch::Sender::subscribe)
        };
        let mut answer = tokio::select! {
            biased;
            // Another caller may have started, or start meanwhile, a lookup of the same name.
            Ok(names) = names.wait_for(|names| current(names).is_some()) => current(&names),
            Ok(permit) = Arc::clone(&self.shared.threads).acquire_owned() => self.start(host, permit),
            else => None,
        }
        .ok_or(NoAddress::NotFound)?;
        let resolved = answer.wait_for(Option::is_some).await;
        match resolved.as_deref() {
            Ok(Some(answer)) => answer.clone(),
            // The thread panicked.
            Ok(None) | Err(_) => Err(NoAddress::NotFound),
        }
    }

    /// Starts a lookup. `None` if no thread can be started.
    fn start(
        &self,
        host: &str,
        permit: OwnedSemaphorePermit,
    ) -> Option<watch::Receiver<Option<LookupResult>>> {
        let answer = watch::Sender::new(None);
        let receiver = answer.subscribe();
        let look_up = LookUp {
            shared: Arc::clone(&self.shared),
            host: host.to_owned(),
            answer: answer.clone(),
            _permit: permit,
        };
        self.shared.names.send_modify(|names| {
            let threads = names.get(host).map_or(0, |name| name.threads);
            let name = NameLookups {
                threads: threads + 1,
                newest: Some((answer, Instant::now())),
            };
            names.insert(host.to_owned(), name);
        });
        let service = Arc::clone(&self.shared.service);
        let work = move || {
            let found = service.look_up(&look_up.host);
            let found = found.map_err(|_| NoAddress::NotFound);
            let answer = found.and_then(|addresses| {
                if addresses.is_empty() { Err(NoAddress::NotFound) } else { Ok(addresses) }
            });
            look_up.answer.send_replace(Some(answer));
        };
        // If the thread cannot be started, the lookup is dropped, which releases its permit.
        let started = thread::Builder::new()
            .name("look-up".to_string())
            .spawn(work);
        started
            .inspect_err(|error| tracing::warn!(%error, "a lookup could not be started"))
            .ok()
            .map(|_| receiver)
    }
}

impl Drop for LookUp {
    fn drop(&mut self) {
        self.shared.names.send_modify(|names| {
            let Some(name) = names.get_mut(&self.host) else {
                return;
            };
            name.threads -= 1;
            name.newest
                .take_if(|(newest, _)| newest.same_channel(&self.answer));
            if name.threads == 0 {
                names.remove(&self.host);
            }
        });
        self.shared.returned.send_modify(|returned| *returned += 1);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use futures_util::future::join_all;

    use super::*;

    /// Resolves every name; lookups of names that start with `hang` block until they are released.
    #[derive(Debug, Default)]
    struct Stubborn {
        lookups: AtomicUsize,
        released: AtomicBool,
    }

    impl Stubborn {
        fn lookups(&self) -> usize {
            self.lookups.load(Ordering::SeqCst)
        }

        fn release(&self) {
            self.released.store(true, Ordering::SeqCst);
        }
    }

    impl NameService for Stubborn {
        fn look_up(&self, host: &str) -> io::Result<Vec<SocketAddr>> {
            self.lookups.fetch_add(1, Ordering::SeqCst);
            while host.starts_with("hang") && !self.released.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(1));
            }
            match host {
                "unknown" => Err(io::ErrorKind::NotFound.into()),
                "empty" => Ok(Vec::new()),
                "panic" => panic!("on purpose"),
                _ => Ok(vec![SocketAddr::from(([192, 0, 2, 7], 0))]),
            }
        }
    }

    fn resolver() -> (Arc<Stubborn>, Resolver) {
        let service = Arc::new(Stubborn::default());
        (Arc::clone(&service), Resolver::new(service))
    }

    /// Waits until no lookup is running.
    async fn settled(resolver: &Resolver) {
        let all = u32::try_from(LOOK_UPS_MAX).unwrap();
        drop(resolver.shared.threads.acquire_many(all).await.unwrap());
        assert!(resolver.shared.names.borrow().is_empty());
    }

    #[tokio::test]
    async fn names_and_addresses() {
        let (service, resolver) = resolver();
        let known = Ok(vec!["192.0.2.7:80".parse().unwrap()]);
        for (host, expected) in [
            ("known", known.clone()),
            ("unknown", Err(NoAddress::NotFound)),
            ("empty", Err(NoAddress::NotFound)),
            ("panic", Err(NoAddress::NotFound)),
            ("192.0.2.7", known),
            ("::1", Ok(vec!["[::1]:80".parse().unwrap()])),
        ] {
            assert_eq!(resolver.look_up(host, 80).await, expected, "{host}");
        }
        assert_eq!(service.lookups(), 4, "addresses are not looked up");
        settled(&resolver).await;
        let local = Resolver::new(Arc::new(HostNames));
        let addresses = local.look_up("localhost", 1).await.unwrap();
        assert!(addresses.iter().all(|address| address.ip().is_loopback()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_hanging_lookup_times_out_and_frees_its_place() {
        let (service, resolver) = resolver();
        let names: Vec<String> = (0..3 * LOOK_UPS_MAX).map(|n| format!("hang-{n}")).collect();
        for round in 1..=3 {
            let started = Instant::now();
            let all = join_all(names.iter().map(|name| resolver.look_up(name, 1)));
            for outcome in all.await {
                assert_eq!(outcome, Err(NoAddress::Timeout), "{round}");
            }
            assert_eq!(started.elapsed(), LOOK_UP_MAX);
        }
        assert_eq!(resolver.shared.threads.available_permits(), 0);
        service.release();
        // Threads run in real time, so virtual time ends here.
        tokio::time::resume();
        settled(&resolver).await;
        let all = join_all(names.iter().map(|name| resolver.look_up(name, 1)));
        assert!(all.await.iter().all(Result::is_ok));
    }

    #[tokio::test(start_paused = true)]
    async fn a_name_that_hangs_takes_two_places_and_leaves_the_others() {
        let (service, resolver) = resolver();
        for _ in 0..30 {
            let outcome = resolver.look_up("hang", 1).await;
            assert_eq!(outcome, Err(NoAddress::Timeout));
        }
        let free = resolver.shared.threads.available_permits();
        assert_eq!(free, LOOK_UPS_MAX - 2);
        tokio::time::resume();
        resolver.look_up("known", 1).await.unwrap();
        service.release();
        settled(&resolver).await;
    }

    #[tokio::test(start_paused = true)]
    async fn lookups_that_hang_for_ever_are_reported() {
        let (service, resolver) = resolver();
        let never = timeout(3 * LOST_AFTER, resolver.lost()).await;
        assert!(never.is_err(), "nothing is looked up");
        let names: Vec<String> = (1..LOOK_UPS_MAX).map(|n| format!("hang-{n}")).collect();
        join_all(names.iter().map(|name| resolver.look_up(name, 1))).await;
        let never = timeout(3 * LOST_AFTER, resolver.lost()).await;
        assert!(never.is_err(), "there is a permit left");
        let _ = resolver.look_up("hang", 1).await;
        let started = Instant::now();
        let lost = timeout(3 * LOST_AFTER, resolver.lost()).await;
        assert!(lost.is_ok(), "no permit is left");
        assert_eq!(started.elapsed(), LOST_AFTER);
        service.release();
    }
}
