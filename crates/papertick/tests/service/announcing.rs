//! Announcements as other hosts see them. They use multicast on the loopback interface, so they do not leave this machine.

use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr, UdpSocket},
    time::Duration,
};

use device::{
    input::{Input, LinkEvent},
    output::Advert,
};
use mdns_sd::{IfKind, Receiver, ResolvedService, ServiceDaemon, ServiceEvent};
use net::mdns::{AnnouncedService, MdnsScope, search};
use papertick::drivers::advert::{self, AdvertConfig, AdvertTimeouts};
use runtime::{
    inbox::{InboxMessage, inbox},
    log_lines::LogLines,
    tasks::{Stopper, Tasks, stop_signal},
};
use rustix::net::sockopt::set_socket_reuseaddr;
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep, timeout},
};
use tracing_subscriber::filter::LevelFilter;

use crate::{logged::Logged, needs};

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

const WEB: &str = "_http._tcp.local.";

/// Timeout on a slow machine; two seconds are usual.
const LIMIT: Duration = Duration::from_secs(20);

/// Time of the process for its tasks to stop.
const STOP: Duration = Duration::from_millis(500);

/// A network with its own port, separate from other tests and from the mDNS responder of the machine.
struct Network {
    port: u16,
    /// Reserves the port for sockets that share it.
    _listener: UdpSocket,
}

impl Network {
    /// `None` if the loopback interface has no multicast.
    fn new() -> Option<Network> {
        let group = Ipv4Addr::new(224, 0, 0, 251);
        let listener = UdpSocket::bind("0.0.0.0:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        listener
            .set_read_timeout(Some(Duration::from_secs(1)))
            .unwrap();
        let sender = UdpSocket::bind((LOCALHOST, 0)).unwrap();
        let received = listener
            .join_multicast_v4(&group, &Ipv4Addr::LOCALHOST)
            .and_then(|()| sender.send_to(b"probe", (group, port)))
            .and_then(|_| listener.recv(&mut [0; 16]));
        // Sharing is enabled after the bind, because a shared port could already be in use by others.
        set_socket_reuseaddr(&listener, true).unwrap();
        needs::met("multicast over loopback", received.is_ok()).then_some(Network {
            port,
            _listener: listener,
        })
    }

    fn reach(&self) -> MdnsScope {
        MdnsScope::one(LOCALHOST).on_port(self.port)
    }

    fn observer(&self, service: &str) -> Observer {
        let daemon = ServiceDaemon::new_with_port(self.port).unwrap();
        daemon.disable_interface(IfKind::All).unwrap();
        daemon.enable_interface(IfKind::Addr(LOCALHOST)).unwrap();
        Observer {
            events: daemon.browse(service).unwrap(),
            daemon,
            seen: BTreeMap::new(),
        }
    }

    /// Starts a clock with a name.
    fn clock(&self, name: &str, port: u16) -> Clock {
        Clock::start(Some(self.reach()), AdvertTimeouts::default(), name, port)
    }
}

/// Another host on the network, which browses for services.
struct Observer {
    daemon: ServiceDaemon,
    events: Receiver<ServiceEvent>,
    seen: BTreeMap<String, ResolvedService>,
}

impl Observer {
    /// Waits until exactly these names are announced.
    async fn wait_for_names(&mut self, names: &[&str]) {
        let seeing = async {
            while !self.seen.keys().eq(names.iter()) {
                self.look().await;
            }
        };
        let seen = timeout(LIMIT, seeing).await;
        assert!(seen.is_ok(), "{names:?} expected, but {:?}", self.seen);
    }

    async fn look(&mut self) {
        let name = |full: &str| full.split_once("._").unwrap().0.to_string();
        match self.events.recv_async().await.unwrap() {
            ServiceEvent::ServiceResolved(service) => {
                self.seen.insert(name(&service.fullname), *service);
            }
            ServiceEvent::ServiceRemoved(_, full) => {
                self.seen.remove(&name(&full));
            }
            _ => {}
        }
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        let _ = self.daemon.shutdown();
    }
}

struct Clock {
    adverts: watch::Sender<Option<Advert>>,
    inputs: mpsc::Receiver<InboxMessage>,
    tasks: Tasks,
    stopper: Stopper,
}

impl Clock {
    fn start(scope: Option<MdnsScope>, timeouts: AdvertTimeouts, name: &str, port: u16) -> Clock {
        let (adverts, receiver) = watch::channel(advert_of(name));
        let (inbox, inputs) = inbox();
        let (stopper, stop) = stop_signal();
        let mut tasks = Tasks::new();
        let config = AdvertConfig {
            adverts: receiver,
            scope,
            service: AnnouncedService {
                port,
                version: "4.0.0".to_string(),
                revision: "1a2b3c4-4.0.0".to_string(),
                hardware: "Rev A, 7 panels".to_string(),
            },
            timeouts,
            inbox,
            stop,
        };
        tasks.spawn("announcer", advert::run(config));
        Clock {
            adverts,
            inputs,
            tasks,
            stopper,
        }
    }

    /// Expects the next report to the device: the announced name.
    async fn expect_report(&mut self, hostname: &str, name: Option<&str>) {
        let message = timeout(LIMIT, self.inputs.recv()).await;
        let Ok(Some(InboxMessage { input, .. })) = message else {
            panic!("no report about {hostname}")
        };
        let Input::Linked(LinkEvent::Announced {
            asked: requested,
            name: announced,
        }) = input
        else {
            panic!("{input:?}")
        };
        assert_eq!((requested.as_str(), announced.as_deref()), (hostname, name));
    }

    /// Stops it; the machine may be busy with other tests.
    async fn stop(self) {
        self.stop_within(LIMIT).await;
    }

    async fn stop_within(self, time: Duration) {
        self.stopper.stop();
        let stuck = self.tasks.stop(time).await;
        assert_eq!(stuck, [""; 0], "after {time:?}");
    }
}

fn advert_of(name: &str) -> Option<Advert> {
    let hostname = name.to_string();
    Some(Advert { hostname })
}

#[tokio::test]
async fn announcements_as_other_hosts_see_them() {
    let Some(network) = Network::new() else {
        return;
    };
    let other = || Network::new().unwrap();
    // All parts mostly wait, so they run concurrently.
    tokio::join!(
        a_clock_announces_its_address_and_service(network),
        others_see_a_rename_and_a_stop(other()),
        others_see_the_end_of_the_announcement(other()),
        a_second_clock_with_the_same_name_gets_a_number(other()),
    );
}

async fn a_clock_announces_its_address_and_service(network: Network) {
    let mut clock = network.clock("papertick-0a1b2c", 8123);
    for service in [WEB, "_papertick._tcp.local."] {
        let mut observer = network.observer(service);
        observer.wait_for_names(&["papertick-0a1b2c"]).await;
        let seen = &observer.seen["papertick-0a1b2c"];
        assert_eq!(seen.fullname, format!("papertick-0a1b2c.{service}"));
        assert_eq!(seen.host, "papertick-0a1b2c.local.");
        assert_eq!(seen.port, 8123);
        assert_eq!(seen.get_addresses_v4(), [Ipv4Addr::LOCALHOST].into());
        for (key, value) in [
            ("path", "/"),
            ("model", "papertick"),
            ("version", "4.0.0"),
            ("rev", "1a2b3c4-4.0.0"),
            ("fsRev", "1a2b3c4-4.0.0"),
            ("hw_rev", "Rev A, 7 panels"),
        ] {
            assert_eq!(seen.get_property_val_str(key), Some(value), "{key}");
        }
    }
    clock
        .expect_report("papertick-0a1b2c", Some("papertick-0a1b2c"))
        .await;
    // An answer is not repeated within a second (RFC 6762, 6): the first query may see nothing.
    let mut found = Vec::new();
    let started = Instant::now();
    while found.is_empty() && started.elapsed() < LIMIT {
        let looked = search(&network.reach(), Duration::from_secs(1)).await;
        found = looked.unwrap();
    }
    let [found] = found.try_into().unwrap();
    assert_eq!(found.name, "papertick-0a1b2c");
    assert_eq!(found.host, "papertick-0a1b2c.local");
    assert_eq!(found.place.to_string(), "127.0.0.1:8123");
    let reach = network.reach();
    let host = tokio::task::spawn_blocking(move || {
        let look_up = |name| reach.look_up_host(name, Duration::from_secs(2));
        (look_up("Papertick-0a1b2c.local"), look_up("absent.local"))
    });
    assert_eq!(
        host.await.unwrap(),
        (vec![IpAddr::V4(Ipv4Addr::LOCALHOST)], vec![])
    );
    assert_eq!((&*found.model, &*found.version), ("papertick", "4.0.0"));
    assert_eq!(
        (&*found.revision, &*found.hardware),
        ("1a2b3c4-4.0.0", "Rev A, 7 panels")
    );
    clock.stop().await;
}

async fn others_see_a_rename_and_a_stop(network: Network) {
    let mut observer = network.observer(WEB);
    let mut clock = network.clock("hall-0a1b2c", 80);
    observer.wait_for_names(&["hall-0a1b2c"]).await;
    clock
        .expect_report("hall-0a1b2c", Some("hall-0a1b2c"))
        .await;

    clock.adverts.send_replace(advert_of("shop-0a1b2c"));
    clock.expect_report("hall-0a1b2c", None).await;
    clock
        .expect_report("shop-0a1b2c", Some("shop-0a1b2c"))
        .await;
    observer.wait_for_names(&["shop-0a1b2c"]).await;

    clock.stop().await;
    observer.wait_for_names(&[]).await;
}

async fn others_see_the_end_of_the_announcement(network: Network) {
    let mut observer = network.observer(WEB);
    let mut clock = network.clock("hush-0a1b2c", 80);
    observer.wait_for_names(&["hush-0a1b2c"]).await;
    clock
        .expect_report("hush-0a1b2c", Some("hush-0a1b2c"))
        .await;
    clock.adverts.send_replace(None);
    clock.expect_report("hush-0a1b2c", None).await;
    observer.wait_for_names(&[]).await;
    clock.stop().await;
}

async fn a_second_clock_with_the_same_name_gets_a_number(network: Network) {
    let mut observer = network.observer(WEB);
    let mut first = network.clock("twin-0a1b2c", 8001);
    first
        .expect_report("twin-0a1b2c", Some("twin-0a1b2c"))
        .await;
    let mut second = network.clock("twin-0a1b2c", 8002);
    second
        .expect_report("twin-0a1b2c", Some("twin-0a1b2c-2"))
        .await;
    observer
        .wait_for_names(&["twin-0a1b2c", "twin-0a1b2c-2"])
        .await;
    for (name, port) in [("twin-0a1b2c", 8001), ("twin-0a1b2c-2", 8002)] {
        let seen = &observer.seen[name];
        assert_eq!((seen.port, &seen.host), (port, &format!("{name}.local.")));
    }
    second.stop().await;
    first.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_failed_announcement_is_logged_once_and_stops_in_time() {
    let log = Logged::from_now(LevelFilter::INFO, &LogLines::new());
    let timeouts = AdvertTimeouts {
        warn_after: Duration::from_millis(100),
        retry: Duration::from_millis(100),
    };
    // An address that is not on this machine.
    let nowhere = MdnsScope::one(IpAddr::V4(Ipv4Addr::new(203, 0, 113, 9)));
    let mut clock = Clock::start(Some(nowhere), timeouts, "lost-0a1b2c", 80);
    sleep(Duration::from_secs(1)).await;
    assert!(clock.inputs.try_recv().is_err(), "nothing was announced");
    clock.stop_within(STOP).await;
    let log = log.lines();
    assert_eq!(log.len(), 1, "{log:?}");
    assert!(log[0].contains("WARN"), "{log:?}");
}

#[tokio::test(start_paused = true)]
async fn a_clock_on_loopback_is_not_announced() {
    let reach = MdnsScope::of_listener(LOCALHOST);
    let mut clock = Clock::start(reach, AdvertTimeouts::default(), "here-0a1b2c", 80);
    sleep(Duration::from_secs(3600)).await;
    assert!(clock.inputs.try_recv().is_err());
    clock.stop().await;
}
