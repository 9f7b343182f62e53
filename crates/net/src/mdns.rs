//! Announces the clock in the local network: multicast DNS (RFC 6762) and service discovery (RFC 6763).
//!
//! A *responder* announces one clock under one name; a *search* collects the clocks of others. Each owns a thread of
//! `mdns-sd`, which ends with its owner.
//!
//! **Invariant:** only reachable endpoints are announced: the port and addresses on which the clock listens.

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use mdns_sd::{
    DaemonEvent, Error, HostnameResolutionEvent, IfKind, MDNS_PORT, Receiver, ResolvedService,
    ServiceDaemon, ServiceEvent, ServiceInfo, UnregisterStatus,
};
use tokio::time::{sleep, timeout};

/// Services of a clock: web page, and clock.
const SERVICES: [&str; 2] = ["_http._tcp.local.", OWN_SERVICE];

/// Service of these clocks.
const OWN_SERVICE: &str = "_papertick._tcp.local.";

/// Model name in the TXT record.
pub const MODEL: &str = "papertick";

/// How long to wait until `mdns-sd` has repeated the goodbye packet.
const GOODBYE_REPEAT: Duration = Duration::from_millis(150);

const THREAD_TIMEOUT: Duration = Duration::from_millis(100);

/// Most clocks that a search collects.
const CLOCKS_MAX: usize = 256;

/// Longest text from another clock, bytes.
const TEXT_MAX: usize = 64;

/// Interfaces and addresses on which mDNS announces and searches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MdnsScope {
    addresses: Addresses,
    port: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Addresses {
    /// All except loopback.
    All,
    /// All IPv4 addresses except loopback.
    AllIpv4,
    /// One address of the machine.
    One(IpAddr),
}

impl MdnsScope {
    /// All networks of the machine.
    pub fn all() -> MdnsScope {
        MdnsScope::over(Addresses::All)
    }

    /// The network of one address of the machine.
    pub fn one(address: IpAddr) -> MdnsScope {
        MdnsScope::over(Addresses::One(address))
    }

    /// The scope in which a listener on an address can be reached. `None` if it cannot.
    pub fn of_listener(address: IpAddr) -> Option<MdnsScope> {
        match address {
            IpAddr::V4(_) | IpAddr::V6(_) if address.is_loopback() => None,
            IpAddr::V4(address) if address.is_unspecified() => {
                Some(MdnsScope::over(Addresses::AllIpv4))
            }
            IpAddr::V6(address) if address.is_unspecified() => Some(MdnsScope::all()),
            IpAddr::V4(_) | IpAddr::V6(_) => Some(MdnsScope::one(address)),
        }
    }

    /// The same on another mDNS port, isolated from the real one.
    pub fn on_port(self, port: u16) -> MdnsScope {
        MdnsScope { port, ..self }
    }

    /// Addresses of a host whose name ends with `.local`, IPv4 first. Blocks until the first answer, or for `time`.
    pub fn look_up_host(&self, host: &str, time: Duration) -> Vec<IpAddr> {
        let Ok(daemon) = self.daemon() else {
            return Vec::new();
        };
        let name = format!("{}.", host.trim_end_matches('.').to_ascii_lowercase());
        let mut addresses = Vec::new();
        if let Ok(events) = daemon.resolve_hostname(&name, Some(time.as_millis() as u64)) {
            while let Ok(event) = events.recv_timeout(time) {
                match event {
                    HostnameResolutionEvent::AddressesFound(_, found) => {
                        addresses.extend(found.iter().map(|address| address.to_ip_addr()));
                        break;
                    }
                    HostnameResolutionEvent::SearchTimeout(_)
                    | HostnameResolutionEvent::SearchStopped(_) => break,
                    _ => {}
                }
            }
        }
        // An error means that the thread has ended.
        let _ = daemon.shutdown();
        addresses.sort_unstable();
        addresses
    }

    fn over(addresses: Addresses) -> MdnsScope {
        MdnsScope {
            addresses,
            port: MDNS_PORT,
        }
    }

    fn daemon(&self) -> Result<ServiceDaemon, Error> {
        let daemon = ServiceDaemon::new_with_port(self.port)?;
        let (without, with) = match self.addresses {
            Addresses::All => (vec![IfKind::LoopbackV4, IfKind::LoopbackV6], vec![]),
            Addresses::AllIpv4 => (vec![IfKind::LoopbackV4, IfKind::IPv6], vec![]),
            Addresses::One(address) => (vec![IfKind::All], vec![IfKind::Addr(address)]),
        };
        daemon.disable_interface(without)?;
        daemon.enable_interface(with)?;
        Ok(daemon)
    }

    fn announced(&self) -> Vec<IfKind> {
        match self.addresses {
            Addresses::All => vec![IfKind::All],
            Addresses::AllIpv4 => vec![IfKind::IPv4],
            Addresses::One(address) => vec![IfKind::Addr(address)],
        }
    }
}

/// The TXT record and the port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnnouncedService {
    /// Port the clock listens on.
    pub port: u16,
    pub version: String,
    /// Commit and version of the program and its page, the commit first.
    pub revision: String,
    /// Hardware revision, for display.
    pub hardware: String,
}

impl AnnouncedService {
    fn info(&self, service: &str, name: &str, reach: &MdnsScope) -> Result<ServiceInfo, Error> {
        let texts = [
            ("path", "/"),
            ("model", MODEL),
            ("version", &self.version),
            ("rev", &self.revision),
            ("fsRev", &self.revision),
            ("hw_rev", &self.hardware),
        ];
        let host = format!("{name}.local.");
        let mut info =
            ServiceInfo::new(service, name, &host, (), self.port, &texts[..])?.enable_addr_auto();
        info.set_interfaces(reach.announced());
        Ok(info)
    }
}

/// Announces a clock until it is ended.
pub struct Responder {
    thread: Thread,
    events: Receiver<DaemonEvent>,
    full_names: Vec<String>,
    /// Services that were not yet announced.
    unannounced: Vec<String>,
    /// Something was announced, perhaps under a name that `mdns-sd` chose.
    has_announced: bool,
}

/// An event of the mDNS responder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResponderEvent {
    /// The clock was announced on a network, under all its services.
    Announced,
    /// Another host has the name.
    Taken,
    /// The responder has failed.
    Broken(String),
}

impl Responder {
    /// Starts to announce a clock. The name is probed first.
    ///
    /// # Errors
    /// The thread cannot be started, or the name is invalid.
    pub fn start(
        reach: &MdnsScope,
        name: &str,
        service: &AnnouncedService,
    ) -> Result<Responder, Error> {
        let thread = Thread(reach.daemon()?);
        let events = thread.0.monitor()?;
        let mut full_names = Vec::new();
        for each in SERVICES {
            let info = service.info(each, name, reach)?;
            full_names.push(info.get_fullname().to_string());
            thread.0.register(info)?;
        }
        Ok(Responder {
            thread,
            events,
            unannounced: full_names.clone(),
            full_names,
            has_announced: false,
        })
    }

    pub async fn next_event(&mut self) -> ResponderEvent {
        loop {
            let event = match self.events.recv_async().await {
                Ok(event) => self.handle_event(event),
                Err(_) => Some(ResponderEvent::Broken("its thread has ended".to_string())),
            };
            if let Some(event) = event {
                return event;
            }
        }
    }

    fn handle_event(&mut self, event: DaemonEvent) -> Option<ResponderEvent> {
        match event {
            DaemonEvent::Announce(full_name, _) => {
                self.has_announced = true;
                self.unannounced
                    .retain(|unannounced| !unannounced.eq_ignore_ascii_case(&full_name));
                self.unannounced
                    .is_empty()
                    .then_some(ResponderEvent::Announced)
            }
            DaemonEvent::NameChange(_) => {
                self.has_announced = true;
                Some(ResponderEvent::Taken)
            }
            DaemonEvent::Error(error) => Some(ResponderEvent::Broken(error.to_string())),
            // Changed addresses are handled by the library.
            _ => None,
        }
    }

    /// Withdraws the announcement.
    pub async fn end(mut self) {
        while let Ok(event) = self.events.try_recv() {
            self.handle_event(event);
        }
        if self.has_announced {
            self.send_goodbye().await;
        } else {
            // Otherwise the thread would send a goodbye for a name that may belong to another host. Fails if the thread
            // has ended.
            let _ = self.thread.0.disable_interface(IfKind::All);
        }
        self.thread.end().await;
    }

    async fn send_goodbye(&self) {
        let goodbyes: Vec<Receiver<UnregisterStatus>> = self
            .full_names
            .iter()
            .filter_map(|full_name| self.thread.0.unregister(full_name).ok())
            .collect();
        for sent in goodbyes {
            // If the thread does not respond, it sends the goodbye when it ends.
            let _ = timeout(THREAD_TIMEOUT, sent.recv_async()).await;
        }
        sleep(GOODBYE_REPEAT).await;
    }
}

/// A clock found by mDNS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundClock {
    pub name: String,
    pub host: String,
    pub place: SocketAddr,
    pub model: String,
    pub version: String,
    /// Commit and version of its program.
    pub revision: String,
    /// Hardware revision, for display.
    pub hardware: String,
}

impl FoundClock {
    /// Shortens the texts and removes control characters, because they are shown on a terminal.
    fn of(service: &ResolvedService) -> Option<FoundClock> {
        let text = |name: &str| plain(service.get_property_val_str(name).unwrap_or_default());
        let name = service.fullname.strip_suffix(&service.ty_domain)?;
        let ip = service
            .addresses
            .iter()
            .map(|address| address.to_ip_addr())
            .min_by_key(|ip| (rank(*ip), *ip))?;
        Some(FoundClock {
            name: plain(name.trim_end_matches('.')),
            host: plain(service.host.trim_end_matches('.')),
            place: SocketAddr::new(ip, service.port),
            model: text("model"),
            version: text("version"),
            revision: text("rev"),
            hardware: text("hw_rev"),
        })
    }
}

/// Searches for clocks; the result is sorted by name.
///
/// # Errors
/// The thread cannot be started.
pub async fn search(reach: &MdnsScope, time: Duration) -> Result<Vec<FoundClock>, Error> {
    let thread = Thread(reach.daemon()?);
    let events = thread.0.browse(OWN_SERVICE)?;
    let mut found = BTreeMap::new();
    let collect = async {
        while let Ok(event) = events.recv_async().await {
            collect(event, &mut found);
        }
    };
    // Ends early only if the thread has ended.
    let _ = timeout(time, collect).await;
    thread.end().await;
    Ok(found.into_values().collect())
}

fn collect(event: ServiceEvent, found: &mut BTreeMap<String, FoundClock>) {
    match event {
        ServiceEvent::ServiceResolved(service) => {
            let has_room = found.len() < CLOCKS_MAX || found.contains_key(&service.fullname);
            if let Some(clock) = FoundClock::of(&service).filter(|_| has_room) {
                found.insert(service.fullname.clone(), clock);
            }
        }
        ServiceEvent::ServiceRemoved(_, full_name) => {
            found.remove(&full_name);
        }
        // Found is followed by resolved; the rest concerns the search itself.
        _ => {}
    }
}

/// Rank of an address; the smallest is the most useful.
fn rank(ip: IpAddr) -> u8 {
    match ip {
        IpAddr::V4(ip) if ip.is_link_local() => 2,
        IpAddr::V4(_) => 0,
        IpAddr::V6(ip) if ip.is_unicast_link_local() => 3,
        IpAddr::V6(_) => 1,
    }
}

fn plain(text: &str) -> String {
    let mut plain: String = text.chars().filter(|letter| !letter.is_control()).collect();
    plain.truncate(plain.floor_char_boundary(TEXT_MAX));
    plain
}

/// The thread of `mdns-sd`, which ends with its owner.
struct Thread(ServiceDaemon);

impl Thread {
    async fn end(self) {
        if let Ok(ended) = self.0.shutdown() {
            // After the timeout the thread ends with the process.
            let _ = timeout(THREAD_TIMEOUT, ended.recv_async()).await;
        }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        // Fails if the thread has already ended.
        let _ = self.0.shutdown();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use super::*;

    #[test]
    fn a_clock_is_announced_where_it_can_be_reached() {
        let reach = |address: &str| MdnsScope::of_listener(address.parse().unwrap());
        assert_eq!(reach("127.0.0.1"), None);
        assert_eq!(reach("127.0.0.53"), None);
        assert_eq!(reach("::1"), None);
        assert_eq!(reach("0.0.0.0").unwrap().addresses, Addresses::AllIpv4);
        assert_eq!(reach("::").unwrap().addresses, Addresses::All);
        let one = "192.0.2.7".parse().unwrap();
        assert_eq!(reach("192.0.2.7").unwrap().addresses, Addresses::One(one));
    }

    #[test]
    fn nothing_that_a_neighbour_announces_is_obeyed_by_a_terminal() {
        let text = |key: &str| format!("\x1b[2J{key}\r\u{9b}!");
        let keys = ["model", "version", "rev", "fsRev", "hw_rev"];
        let texts = keys.map(|key| (key, text(key)));
        let neighbour = "\x1b]0;hall";
        let host = format!("{neighbour}.local.");
        let info = ServiceInfo::new(OWN_SERVICE, neighbour, &host, "192.0.2.1", 80, &texts[..]);
        let found = FoundClock::of(&info.unwrap().as_resolved_service()).unwrap();
        let text = |key: &str| format!("[2J{key}!");
        let expected = FoundClock {
            name: "]0;hall".to_owned(),
            host: "]0;hall.local".to_owned(),
            place: "192.0.2.1:80".parse().unwrap(),
            model: text("model"),
            version: text("version"),
            revision: text("rev"),
            hardware: text("hw_rev"),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn the_most_useful_address_is_shown() {
        let mut ips: Vec<IpAddr> = ["fe80::1", "169.254.1.1", "fd00::1", "192.0.2.1"]
            .map(|ip| ip.parse().unwrap())
            .to_vec();
        ips.sort_by_key(|ip| rank(*ip));
        let shown: Vec<String> = ips.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["192.0.2.1", "fd00::1", "169.254.1.1", "fe80::1"]);
    }
}
