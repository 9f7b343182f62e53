//! All tasks except the HTTP server and the main loop: drivers, sources, MQTT, announcements.

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
};
use net::{
    dialer::Dialer,
    mdns::{AnnouncedService, MdnsScope},
};
use render::BoardPainter;
use runtime::{
    clock::Clock,
    inbox::Inbox,
    panels::PanelsSnapshot,
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
        advert::{self, AdvertConfig, AdvertTimeouts},
        captive_dns::{self, CaptiveDns},
        host, lights,
        painter::{self, PaintProgress, PainterConfig},
        senses,
    },
    main_loop::channels::LoopReceivers,
};

/// Driver side of the channels.
pub(super) struct DriverEnds {
    pub(super) glass: watch::Sender<Arc<PanelsSnapshot>>,
    pub(super) progress: watch::Sender<PaintProgress>,
    pub(super) radio_requests: RadioRequests,
}

/// What most tasks need.
pub(super) struct SharedParts {
    pub(super) config: DeviceConfig,
    /// Address on which the clock listens.
    pub(super) listen_address: SocketAddr,
    pub(super) inbox: Inbox,
    pub(super) clock: Clock,
    pub(super) dialer: Dialer,
    pub(super) newest: NewestRelease,
    pub(super) logos: LogoCache,
    pub(super) known_peers: KnownPeers,
    /// `NAME=URL` that connects the sources to the relay of a demo. `None` without a demo.
    pub(super) demo_upstream: Option<String>,
}

struct DriverChannels {
    picture: watch::Receiver<Picture>,
    strip: watch::Receiver<Vec<Rgb>>,
    frontlight: watch::Receiver<Vec<u16>>,
    glass: watch::Sender<Arc<PanelsSnapshot>>,
    progress: watch::Sender<PaintProgress>,
}

/// Tasks other than the HTTP server and the main loop, by how they end.
pub(super) struct DeviceTasks {
    pub(super) services: Tasks,
    pub(super) drivers: Tasks,
    pub(super) buses: Tasks,
}

impl SharedParts {
    /// Starts the drivers and the services; returns the effects of the device.
    pub(super) async fn start(
        self,
        tasks: &mut DeviceTasks,
        board: Board,
        receivers: LoopReceivers,
        ends: DriverEnds,
        stop: Stop,
    ) -> io::Result<mpsc::Receiver<Effect>> {
        let DeviceTasks {
            services,
            drivers,
            buses,
        } = tasks;
        let displayed = ends.glass.subscribe();
        let channels = DriverChannels {
            picture: receivers.picture,
            strip: receivers.strip,
            frontlight: receivers.frontlight,
            glass: ends.glass,
            progress: ends.progress,
        };
        match board.ports {
            Ports::Simulated(ports) => self.start_drivers(drivers, *ports, board.care, channels),
            Ports::Assembled(parts, execution) => {
                serve(buses, parts.buses, execution);
                let ports = PortSet {
                    panels: parts.panels,
                    strip: parts.strip,
                    frontlight: parts.frontlight,
                    sensor: parts.sensor,
                    buttons: parts.buttons,
                };
                self.start_drivers(drivers, ports, board.care, channels);
            }
        }
        let plan = receivers.wifi.clone();
        self.start_radio(drivers, board.wifi, plan, ends.radio_requests)?;
        if let (NetworkConfig::Simulated(_), Some(bench)) = (&self.config.run.network, board.bench)
        {
            let captive_dns = CaptiveDns {
                views: receivers.view.clone(),
                port: dns_port(self.listen_address),
                bench,
            };
            drivers.spawn("captive DNS", captive_dns::run(captive_dns));
        }
        let driver = self.advert_driver(receivers.advert.clone(), stop.clone());
        services.spawn("announcer", advert::run(driver));
        drivers.spawn("host's clock", self.clock.clone().follow_host());
        let known = host_facts(self.listen_address);
        drivers.spawn("host", host::measure(known, self.inbox.clone()));
        let upstreams = Arc::new(self.upstreams()?);
        // The demo contacts no other host.
        if self.config.run.market != MarketSource::Demo {
            let timekeeping = Timekeeping {
                clock: self.clock.clone(),
                resolver: self.dialer.resolver().clone(),
                server: upstreams.time_server(),
                built_ms: build::time().map(|secs| secs.saturating_mul(1000)),
                view: receivers.view.clone(),
                inbox: self.inbox.clone(),
            };
            services.spawn("time", synchronise(timekeeping, stop.clone()));
        }
        let resolver = self.dialer.resolver().clone();
        // Restarts the device if all lookups hang, because their threads cannot be stopped.
        drivers.spawn("look-ups", async move { resolver.lost().await });
        let mqtt = mqtt::MqttContext {
            plans: receivers.mqtt,
            view: receivers.view,
            glass: displayed,
            inbox: self.inbox.clone(),
            clock: self.clock.clone(),
            dialer: self.dialer.clone(),
            newest: self.newest.clone(),
            identity: identity(),
            port: self.listen_address.port(),
        };
        services.spawn("MQTT", mqtt::serve(mqtt, stop.clone()));
        let sources = SourceServices {
            dialer: self.dialer,
            upstreams,
            inbox: self.inbox,
            clock: self.clock,
            logos: self.logos,
            already_reported: AlreadyReported::default(),
            known_peers: self.known_peers.clone(),
        };
        services.spawn("sources", supervise(receivers.sources, sources, stop));
        Ok(receivers.effects)
    }

    /// Starts a driver for each part of the board.
    fn start_drivers(
        &self,
        drivers: &mut Tasks,
        ports: PortSet<impl Panels, impl LedStrip, impl Frontlight, impl LightSensor, impl Buttons>,
        care: Care,
        channels: DriverChannels,
    ) {
        let painter = PainterConfig {
            panels: ports.panels,
            renderer: BoardPainter::new(&self.config.run.board()),
            care,
            pictures: channels.picture,
            glass: channels.glass,
            progress: channels.progress,
            inbox: self.inbox.clone(),
        };
        drivers.spawn("painter", painter::run(painter));
        if let Some(strip) = ports.strip {
            drivers.spawn("strip", lights::strip(strip, channels.strip));
        }
        if let Some(frontlight) = ports.frontlight {
            let lights = lights::frontlight(frontlight, channels.frontlight);
            drivers.spawn("frontlight", lights);
        }
        if let Some(sensor) = ports.sensor {
            drivers.spawn("light sensor", senses::light(sensor, self.inbox.clone()));
        }
        if let Some(buttons) = ports.buttons {
            let senses = senses::buttons(buttons, self.clock.clone(), self.inbox.clone());
            drivers.spawn("buttons", senses);
        }
    }

    fn advert_driver(&self, adverts: watch::Receiver<Option<Advert>>, stop: Stop) -> AdvertConfig {
        AdvertConfig {
            adverts,
            scope: MdnsScope::of_listener(self.listen_address.ip()),
            service: service(self.listen_address, self.config.run.board()),
            timeouts: AdvertTimeouts::default(),
            inbox: self.inbox.clone(),
            stop,
        }
    }

    /// Starts the driver of the radio: NetworkManager's, or the simulated one.
    fn start_radio(
        &self,
        drivers: &mut Tasks,
        simulated: SimWifi,
        plan: watch::Receiver<WifiPlan>,
        requests: RadioRequests,
    ) -> io::Result<()> {
        let inbox = self.inbox.clone();
        let listen = self.listen_address.ip();
        match self.config.run.network {
            NetworkConfig::NetworkManager => {
                let radio = NetworkManager::new(network_manager::Options {
                    bus: None,
                    portal_port: self.listen_address.port(),
                    patience: network_manager::PATIENCE,
                });
                drivers.spawn("radio", wifi::run(radio, plan, requests, listen, inbox));
            }
            NetworkConfig::Host | NetworkConfig::Simulated(_) => {
                drivers.spawn("radio", wifi::run(simulated, plan, requests, listen, inbox));
            }
        }
        Ok(())
    }

    /// The upstream addresses, with those that replace public ones.
    fn upstreams(&self) -> io::Result<Upstreams> {
        let mut upstreams = Upstreams::default();
        for assignment in self.demo_upstream.iter().chain(&self.config.run.upstreams) {
            // The assignments were checked with the command line.
            upstreams.replace(assignment).map_err(io::Error::other)?;
        }
        Ok(upstreams)
    }
}

/// The facts that are known before anything is measured.
fn host_facts(address: SocketAddr) -> HostFacts {
    HostFacts {
        version: build::VERSION.into(),
        built: build::date(),
        page_address: Some(address),
        ..HostFacts::default()
    }
}

/// The mDNS service of a clock that listens on an address.
fn service(address: SocketAddr, board: BoardSpec) -> AnnouncedService {
    AnnouncedService {
        port: address.port(),
        version: build::VERSION.to_string(),
        revision: build::commit_first(),
        hardware: board.hardware.to_string(),
    }
}

/// Port of the DNS server of the simulated access point: 53 if the clock uses port 80, or else any free port.
fn dns_port(address: SocketAddr) -> u16 {
    match address.port() {
        HTTP_PORT => 53,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_and_mdns_announce_the_version_and_the_address() {
        let address = "192.168.1.7:8080".parse().unwrap();
        let facts = host_facts(address);
        let shown = (
            facts.version.as_str(),
            facts.built.as_str(),
            facts.page_address,
        );
        assert_eq!(
            shown,
            (env!("CARGO_PKG_VERSION"), &*build::date(), Some(address))
        );
        let service = service(address, BoardSpec::EXAMPLE);
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
    fn a_clock_on_the_standard_http_port_uses_the_standard_dns_port() {
        for (address, port) in [("192.168.1.7:80", 53), ("192.168.1.7:8080", 0)] {
            assert_eq!(dns_port(address.parse().unwrap()), port, "{address}");
        }
    }
}
