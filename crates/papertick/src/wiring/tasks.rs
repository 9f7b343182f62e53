//! The tasks beside the HTTP server and the main loop: drivers, sources, MQTT, announcements.

use std::{io, net::SocketAddr, sync::Arc};

use board::{
    ports::{Buttons, Frontlight, LedStrip, LightSensor, Panels},
    sim::SimWifi,
    wiring::Care,
};
use device::{
    board::BoardSpec,
    cells::Picture,
    host::HostFacts,
    lights::Rgb,
    output::{Advert, Effect, WifiPlan},
    secret::Secret,
};
use net::{
    dialer::Dialer,
    mdns::{AnnouncedService, MdnsScope},
};
use runtime::{
    clock::Clock,
    glass::DisplaySnapshot,
    inbox::Inbox,
    tasks::{Stop, Tasks},
};
use sources::{
    SourceServices,
    already_reported::AlreadyReported,
    known_peers::KnownPeers,
    logos::LogoCache,
    supervisor::supervise,
    time::{Timekeeping, synchronise},
    upstreams::Upstreams,
};
use tokio::sync::{mpsc, watch};
use updates::{build, newest::NewestRelease};
use wifi::{
    RadioRequests,
    network_manager::{self, NetworkManager},
};

use super::{
    HTTP_PORT, identity,
    ports::{Board, PortSet, Ports},
};
use crate::{
    buses::serve,
    config::{DeviceConfig, MarketSource, NetworkConfig},
    drivers::{
        advert::{self, AdvertTimeouts, Announcing},
        captive_dns::{self, Names},
        host, lights,
        painter::{self, Canvas, PaintProgress},
        senses,
    },
    main_loop::channels::LoopReceivers,
};

/// The ends of the drivers that others hold the other ends of.
pub(super) struct Ends {
    pub(super) glass: watch::Sender<Arc<DisplaySnapshot>>,
    pub(super) progress: watch::Sender<PaintProgress>,
    pub(super) orders: RadioRequests,
}

/// What most parts need.
pub(super) struct SharedParts {
    pub(super) config: DeviceConfig,
    /// Where the clock listens.
    pub(super) place: SocketAddr,
    pub(super) inbox: Inbox,
    pub(super) clock: Clock,
    pub(super) dialer: Dialer,
    pub(super) newest: NewestRelease,
    pub(super) logos: LogoCache,
    pub(super) known_peers: KnownPeers,
    /// Password of the access point.
    pub(super) password: Secret,
    /// What makes the sources follow the relay of a demo; none elsewhere.
    pub(super) demo: Option<String>,
}

/// The channels of the drivers.
struct DriverChannels {
    picture: watch::Receiver<Picture>,
    strip: watch::Receiver<Vec<Rgb>>,
    frontlight: watch::Receiver<Vec<u16>>,
    glass: watch::Sender<Arc<DisplaySnapshot>>,
    progress: watch::Sender<PaintProgress>,
}

/// Tasks beside the HTTP server and the main loop, by how they end.
pub(super) struct DeviceTasks {
    pub(super) rest: Tasks,
    pub(super) endless: Tasks,
    pub(super) buses: Tasks,
}

impl SharedParts {
    pub(super) async fn start_rest(
        self,
        tasks: &mut DeviceTasks,
        board: Board,
        followed: LoopReceivers,
        ends: Ends,
        stop: Stop,
    ) -> io::Result<mpsc::Receiver<Effect>> {
        let DeviceTasks {
            rest,
            endless,
            buses,
        } = tasks;
        let looked_at = ends.glass.subscribe();
        let wanted = DriverChannels {
            picture: followed.picture,
            strip: followed.strip,
            frontlight: followed.frontlight,
            glass: ends.glass,
            progress: ends.progress,
        };
        match board.ports {
            Ports::Simulated(ports) => self.drive(endless, *ports, board.care, wanted),
            Ports::Assembled(parts, serving) => {
                serve(buses, parts.buses, serving);
                let ports = PortSet {
                    panels: parts.panels,
                    strip: parts.strip,
                    frontlight: parts.frontlight,
                    sensor: parts.sensor,
                    buttons: parts.buttons,
                };
                self.drive(endless, ports, board.care, wanted);
            }
        }
        let plan = followed.wifi.clone();
        self.start_radio(endless, board.wifi, plan, ends.orders)?;
        if let (NetworkConfig::Simulated(_), Some(bench)) = (&self.config.run.network, board.bench)
        {
            let names = Names {
                views: followed.view.clone(),
                port: names_port(self.place),
                bench,
            };
            endless.spawn("captive DNS", captive_dns::run(names));
        }
        let announcing = self.announcing(followed.advert.clone(), stop.clone());
        rest.spawn("announcer", advert::run(announcing));
        endless.spawn("host's clock", self.clock.clone().follow_host());
        let known = host_facts(self.place);
        endless.spawn("host", host::measure(known, self.inbox.clone()));
        let upstreams = Arc::new(self.upstreams()?);
        // The demo contacts no other host.
        if self.config.run.market != MarketSource::Demo {
            let timekeeping = Timekeeping {
                clock: self.clock.clone(),
                resolver: self.dialer.resolver().clone(),
                server: upstreams.time_server(),
                built_ms: build::time().map(|secs| secs.saturating_mul(1000)),
                view: followed.view.clone(),
                inbox: self.inbox.clone(),
            };
            rest.spawn("time", synchronise(timekeeping, stop.clone()));
        }
        let resolver = self.dialer.resolver().clone();
        // Threads that hang for ever end with the process alone.
        endless.spawn("look-ups", async move { resolver.lost().await });
        let door = mqtt::MqttContext {
            plans: followed.mqtt,
            view: followed.view,
            glass: looked_at,
            inbox: self.inbox.clone(),
            clock: self.clock.clone(),
            dialer: self.dialer.clone(),
            newest: self.newest.clone(),
            identity: identity(),
            port: self.place.port(),
        };
        rest.spawn("MQTT", mqtt::serve(door, stop.clone()));
        let shared = SourceServices {
            dialer: self.dialer,
            upstreams,
            inbox: self.inbox,
            clock: self.clock,
            logos: self.logos,
            already_reported: AlreadyReported::default(),
            known_peers: self.known_peers.clone(),
        };
        rest.spawn("sources", supervise(followed.sources, shared, stop));
        Ok(followed.effects)
    }

    /// Starts the drivers of whatever parts there are.
    fn drive(
        &self,
        endless: &mut Tasks,
        ports: PortSet<impl Panels, impl LedStrip, impl Frontlight, impl LightSensor, impl Buttons>,
        care: Care,
        wanted: DriverChannels,
    ) {
        let spec = self.config.run.board();
        let canvas = Canvas {
            panels: ports.panels,
            width: spec.panel_width,
            height: spec.panel_height,
            care,
            pictures: wanted.picture,
            glass: wanted.glass,
            progress: wanted.progress,
            inbox: self.inbox.clone(),
        };
        endless.spawn("painter", painter::run(canvas));
        if let Some(strip) = ports.strip {
            endless.spawn("strip", lights::strip(strip, wanted.strip));
        }
        if let Some(frontlight) = ports.frontlight {
            let lights = lights::frontlight(frontlight, wanted.frontlight);
            endless.spawn("frontlight", lights);
        }
        if let Some(sensor) = ports.sensor {
            endless.spawn("light sensor", senses::light(sensor, self.inbox.clone()));
        }
        if let Some(buttons) = ports.buttons {
            let senses = senses::buttons(buttons, self.clock.clone(), self.inbox.clone());
            endless.spawn("buttons", senses);
        }
    }

    fn announcing(&self, adverts: watch::Receiver<Option<Advert>>, stop: Stop) -> Announcing {
        Announcing {
            adverts,
            reach: MdnsScope::of_listener(self.place.ip()),
            service: service(self.place, self.config.run.board()),
            patience: AdvertTimeouts::default(),
            inbox: self.inbox.clone(),
            stop,
        }
    }

    /// Starts the driver of whichever radio there is.
    fn start_radio(
        &self,
        endless: &mut Tasks,
        simulated: SimWifi,
        plan: watch::Receiver<WifiPlan>,
        orders: RadioRequests,
    ) -> io::Result<()> {
        let data_dir = &self.config.run.data_dir;
        let who = wifi::AccessPointIdentity {
            suffix: host::name_suffix(data_dir),
            password: self.password.clone(),
        };
        let inbox = self.inbox.clone();
        match self.config.run.network {
            NetworkConfig::NetworkManager => {
                let radio = NetworkManager::new(network_manager::Options {
                    bus: None,
                    portal_port: self.place.port(),
                    patience: network_manager::PATIENCE,
                });
                endless.spawn("radio", wifi::run(radio, plan, orders, who, inbox));
            }
            NetworkConfig::Host | NetworkConfig::Simulated(_) => {
                endless.spawn("radio", wifi::run(simulated, plan, orders, who, inbox));
            }
        }
        Ok(())
    }

    /// The addresses used instead of public ones.
    fn upstreams(&self) -> io::Result<Upstreams> {
        let mut upstreams = Upstreams::default();
        for assignment in self.demo.iter().chain(&self.config.run.upstreams) {
            // They were checked with the command line.
            upstreams.replace(assignment).map_err(io::Error::other)?;
        }
        Ok(upstreams)
    }
}

/// What is known of the host and of the program before anything is measured.
fn host_facts(place: SocketAddr) -> HostFacts {
    HostFacts {
        version: build::VERSION.into(),
        built: build::date(),
        page_address: Some(place),
        ..HostFacts::default()
    }
}

/// What a clock that listens on an address announces.
fn service(place: SocketAddr, board: BoardSpec) -> AnnouncedService {
    AnnouncedService {
        port: place.port(),
        version: build::VERSION.to_string(),
        revision: build::commit_first(),
        hardware: board.hardware.to_string(),
    }
}

/// Port at which names are answered on the simulated access point: the usual one where the clock has the usual one.
fn names_port(place: SocketAddr) -> u16 {
    match place.port() {
        HTTP_PORT => 53,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_glass_and_whoever_looks_for_clocks_are_told_what_runs_and_where() {
        let place = "192.168.1.7:8080".parse().unwrap();
        let facts = host_facts(place);
        let told = (
            facts.version.as_str(),
            facts.built.as_str(),
            facts.page_address,
        );
        assert_eq!(
            told,
            (env!("CARGO_PKG_VERSION"), &*build::date(), Some(place))
        );
        let service = service(place, BoardSpec::EXAMPLE);
        assert_eq!(
            (service.port, &*service.version),
            (8080, env!("CARGO_PKG_VERSION"))
        );
        assert_eq!(service.hardware, BoardSpec::EXAMPLE.hardware);
        let (commit, version) = service.revision.split_once('-').unwrap();
        assert!(
            version.starts_with(env!("CARGO_PKG_VERSION")),
            "{}",
            service.revision
        );
        assert!(!commit.is_empty());
    }

    #[test]
    fn a_clock_on_the_usual_port_answers_names_on_the_usual_port() {
        for (place, port) in [("192.168.1.7:80", 53), ("192.168.1.7:8080", 0)] {
            assert_eq!(names_port(place.parse().unwrap()), port, "{place}");
        }
    }
}
