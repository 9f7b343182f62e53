//! Looks names up with the host's own resolver, so that `/etc/hosts` and names of the neighbourhood count.
//!
//! The host's resolver may hang for as long as it likes, and nothing ends that but its process.
//! So a look-up has a thread of its own, of which there are only a few; whoever needs one waits in a queue, and nobody
//! waits for longer than a limit. Equal names share a look-up. A thread that hangs delays other look-ups at worst, and
//! is of use again when it returns.

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

/// Longest time that anybody waits for a look-up.
pub const LOOK_UP_MAX: Duration = Duration::from_secs(10);

/// Look-ups at the same time, those that hang among them.
pub const LOOK_UPS_MAX: usize = 8;

/// Look-ups of one name at the same time: one that hangs, and another that may not.
pub const PER_NAME_MAX: u32 = 2;

/// Time after which a look-up is taken to hang, and another one of the same name may begin.
pub const HANGS_AFTER: Duration = Duration::from_secs(60);

/// Time after which look-ups that all hang are taken to hang for ever.
pub const LOST_AFTER: Duration = Duration::from_secs(600);

/// Addresses of one name that are kept.
const ADDRESSES_MAX: usize = 32;

/// What knows the addresses of names; asked on a thread that it may keep.
pub trait NameService: fmt::Debug + Send + Sync + 'static {
    /// Looks a name up; ports mean nothing.
    ///
    /// # Errors
    /// There is no such name, or nobody could say.
    fn look_up(&self, host: &str) -> io::Result<Vec<SocketAddr>>;
}

/// The host's own resolver.
#[derive(Debug, Clone, Copy)]
pub struct HostNames;

impl NameService for HostNames {
    fn look_up(&self, host: &str) -> io::Result<Vec<SocketAddr>> {
        Ok((host, 0).to_socket_addrs()?.take(ADDRESSES_MAX).collect())
    }
}

/// A name without an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoAddress {
    /// There is no such name, or nobody could say.
    #[error("no address found")]
    NotFound,
    /// Nobody said anything in time.
    #[error("no answer within {} s", LOOK_UP_MAX.as_secs())]
    Timeout,
}

/// Result of a DNS lookup.
type LookupResult = Result<Vec<SocketAddr>, NoAddress>;

/// Looks names up; a copy shares all look-ups.
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
    /// How many threads have returned.
    returned: watch::Sender<u64>,
}

/// Lookups of one name that are in progress.
#[derive(Debug)]
struct NameLookups {
    threads: u32,
    /// The newest look-up and when it began; none if it has ended, and only older ones still hang.
    newest: Option<(watch::Sender<Option<LookupResult>>, Instant)>,
}

impl NameLookups {
    /// The look-up whose answer is worth waiting for.
    fn awaited(&self) -> Option<&watch::Sender<Option<LookupResult>>> {
        let (answer, since) = self.newest.as_ref()?;
        let may_begin = self.threads < PER_NAME_MAX && since.elapsed() >= HANGS_AFTER;
        (!may_begin).then_some(answer)
    }
}

/// A look-up that is done on a thread; dropping it makes its place free.
struct LookUp {
    shared: Arc<ResolverState>,
    host: String,
    answer: watch::Sender<Option<LookupResult>>,
    _place: OwnedSemaphorePermit,
}

impl Resolver {
    /// Looks names up by asking a service.
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

    /// The addresses of a host, at least one, with this port.
    ///
    /// # Errors
    /// There are none, or none is known in time.
    pub async fn look_up(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, NoAddress> {
        if let Ok(address) = host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        let answered = timeout(LOOK_UP_MAX, self.ask(host)).await;
        let mut addresses = answered.unwrap_or(Err(NoAddress::Timeout))?;
        for address in &mut addresses {
            address.set_port(port);
        }
        Ok(addresses)
    }

    /// Returns when every look-up hangs, and seems to hang for ever: only the end of the process helps then.
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

    async fn ask(&self, host: &str) -> LookupResult {
        let mut names = self.shared.names.subscribe();
        let awaited = |names: &BTreeMap<String, NameLookups>| {
            let answer = names.get(host).and_then(NameLookups::awaited);
            answer.map(watch::Sender::subscribe)
        };
        let mut answer = tokio::select! {
            biased;
            // Somebody else may have begun, or begin meanwhile, to look the same name up.
            Ok(names) = names.wait_for(|names| awaited(names).is_some()) => awaited(&names),
            Ok(place) = Arc::clone(&self.shared.threads).acquire_owned() => self.begin(host, place),
            else => None,
        }
        .ok_or(NoAddress::NotFound)?;
        let answered = answer.wait_for(Option::is_some).await;
        match answered.as_deref() {
            Ok(Some(answer)) => answer.clone(),
            // The thread broke off.
            Ok(None) | Err(_) => Err(NoAddress::NotFound),
        }
    }

    /// Begins to look a name up; none if there is no thread to be had.
    fn begin(
        &self,
        host: &str,
        place: OwnedSemaphorePermit,
    ) -> Option<watch::Receiver<Option<LookupResult>>> {
        let answer = watch::Sender::new(None);
        let receiver = answer.subscribe();
        let look_up = LookUp {
            shared: Arc::clone(&self.shared),
            host: host.to_owned(),
            answer: answer.clone(),
            _place: place,
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
            let answer = found.and_then(|addresses| match addresses.is_empty() {
                true => Err(NoAddress::NotFound),
                false => Ok(addresses),
            });
            look_up.answer.send_replace(Some(answer));
        };
        // Without a thread the look-up is dropped, and its place with it.
        let begun = thread::Builder::new()
            .name("look-up".to_string())
            .spawn(work);
        begun
            .inspect_err(|error| tracing::warn!(%error, "a name was not looked up"))
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

    /// Knows every name, but does not come back from those that begin with `hang` before it is told to.
    #[derive(Debug, Default)]
    struct Stubborn {
        asked: AtomicUsize,
        released: AtomicBool,
    }

    impl Stubborn {
        fn asked(&self) -> usize {
            self.asked.load(Ordering::SeqCst)
        }

        fn release(&self) {
            self.released.store(true, Ordering::SeqCst);
        }
    }

    impl NameService for Stubborn {
        fn look_up(&self, host: &str) -> io::Result<Vec<SocketAddr>> {
            self.asked.fetch_add(1, Ordering::SeqCst);
            while host.starts_with("hang") && !self.released.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(1));
            }
            match host {
                "nobody" => Err(io::ErrorKind::NotFound.into()),
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

    /// Waits until nothing is being looked up.
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
            ("somebody", known.clone()),
            ("nobody", Err(NoAddress::NotFound)),
            ("empty", Err(NoAddress::NotFound)),
            ("panic", Err(NoAddress::NotFound)),
            ("192.0.2.7", known),
            ("::1", Ok(vec!["[::1]:80".parse().unwrap()])),
        ] {
            assert_eq!(resolver.look_up(host, 80).await, expected, "{host}");
        }
        assert_eq!(service.asked(), 4, "addresses are not looked up");
        settled(&resolver).await;
        let local = Resolver::new(Arc::new(HostNames));
        let addresses = local.look_up("localhost", 1).await.unwrap();
        assert!(addresses.iter().all(|address| address.ip().is_loopback()));
    }

    #[tokio::test]
    async fn equal_names_share_a_look_up() {
        let (service, resolver) = resolver();
        let all = join_all((0..50).map(|port| resolver.look_up("hang", port)));
        let released = async {
            while service.asked() == 0 {
                tokio::task::yield_now().await;
            }
            service.release();
        };
        let (found, ()) = tokio::join!(all, released);
        assert!(found.iter().all(Result::is_ok));
        assert_eq!(found[7].as_ref().unwrap()[0].port(), 7);
        assert_eq!(service.asked(), 1);
        settled(&resolver).await;
        resolver.look_up("hang", 1).await.unwrap();
        assert_eq!(service.asked(), 2, "nothing is remembered");
    }

    #[tokio::test(start_paused = true)]
    async fn what_hangs_keeps_nobody_for_long_and_no_place_for_good() {
        let (service, resolver) = resolver();
        let names: Vec<String> = (0..3 * LOOK_UPS_MAX).map(|n| format!("hang-{n}")).collect();
        for round in 1..=3 {
            let begun = Instant::now();
            let all = join_all(names.iter().map(|name| resolver.look_up(name, 1)));
            for outcome in all.await {
                assert_eq!(outcome, Err(NoAddress::Timeout), "{round}");
            }
            assert_eq!(begun.elapsed(), LOOK_UP_MAX);
        }
        assert_eq!(resolver.shared.threads.available_permits(), 0);
        service.release();
        // From here on nothing takes virtual time, which would not wait for threads.
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
        resolver.look_up("somebody", 1).await.unwrap();
        service.release();
        settled(&resolver).await;
    }

    #[tokio::test(start_paused = true)]
    async fn look_ups_that_hang_for_ever_are_told() {
        let (service, resolver) = resolver();
        let never = timeout(3 * LOST_AFTER, resolver.lost()).await;
        assert!(never.is_err(), "nothing is looked up");
        let names: Vec<String> = (1..LOOK_UPS_MAX).map(|n| format!("hang-{n}")).collect();
        join_all(names.iter().map(|name| resolver.look_up(name, 1))).await;
        let never = timeout(3 * LOST_AFTER, resolver.lost()).await;
        assert!(never.is_err(), "there is a place left");
        let _ = resolver.look_up("hang", 1).await;
        let begun = Instant::now();
        let lost = timeout(3 * LOST_AFTER, resolver.lost()).await;
        assert!(lost.is_ok(), "no place is left");
        assert_eq!(begun.elapsed(), LOST_AFTER);
        service.release();
    }
}
