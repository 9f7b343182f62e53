//! Puts the parts of the device together: makes the channels, starts the tasks.

use std::{
    io,
    net::{SocketAddr, TcpListener},
    pin::Pin,
    sync::Arc,
};

use board::{
    assembly::{AssembledBoard, assemble},
    linux::Linux,
    ports::{Buttons, Frontlight, LedStrip, LightSensor, Panels},
    sim::{
        self, Bench, PowerCycle, SimBoard, SimButtons, SimFrontlight, SimOptions, SimPanels,
        SimSensor, SimStrip, SimWifi, radio::RadioOptions,
    },
    wiring::Care,
};
use device::{
    board::BoardSpec,
    cells::Picture,
    host::HostFacts,
    input::Input,
    lights::Rgb,
    output::{Advert, Effect, WifiPlan},
    secret::Secret,
    settings::{emit::BuildIdentity, fonts::FontId},
};
use net::{
    dialer::Dialer,
    mdns::{AnnouncedService, MdnsScope},
    tls::Roots,
};
use runtime::{
    clock::Clock,
    glass::DisplaySnapshot,
    inbox::{Inbox, inbox},
    log_lines::LogLines,
    tasks::{Stop, Stopper, Tasks, stop_signal},
};
use sources::{
    SourceServices,
    already_reported::AlreadyReported,
    demo::{
        DemoRelay, MarketPace,
        market::{FIRST_HEIGHT, RelayQuotes},
    },
    known_peers::KnownPeers,
    logos::LogoCache,
    supervisor::supervise,
    time::{Timekeeping, synchronise},
    upstreams::Upstreams,
};
use storage::{Store, keeper};
use supervisor::messages::{BEAT_PERIOD, DeviceMessage};
use tokio::{
    sync::{Notify, mpsc, watch},
    time::{Instant, sleep},
};
use updates::{
    build,
    installer::{Installer, InstallerConfig},
    keys::KeyRing,
    newest::NewestRelease,
    policy::Signatures,
    watcher::{self, ReleaseWatcher},
};
use web::{proxy::PublicAccess, services::Services};
use wifi::{
    RadioRequests,
    network_manager::{self, NetworkManager},
    secrets,
};

use crate::{
    buses::{Serving, serve},
    chain_file,
    config::{self, DeviceConfig, MarketSource, NetworkConfig, PartsKind, RunConfig},
    drivers::{
        advert::{self, AdvertTimeouts, Announcing},
        captive_dns::{self, Names},
        host, lights,
        painter::{self, Canvas, PaintProgress},
        senses,
    },
    effects::Performer,
    home_assistant::HomeAssistant,
    kept::StoredState,
    main_loop::{InitialState, LoopReceivers, MainLoop, Rounds},
};

/// Name of the task that reports to the supervisor. It ends when the supervisor is gone.
pub(crate) const SUPERVISOR_TASK: &str = "heart";

/// Name of the task that waits for the first picture.
pub(crate) const FIRST_PICTURE: &str = "first picture";

/// Port that a browser asks without being told.
const HTTP_PORT: u16 = 80;

/// Seed of the demo's market.
const DEMO_SEED: u64 = 21;

/// Performs what the device asks for, for as long as it is polled.
pub(crate) type Performing = Pin<Box<dyn Future<Output = ()> + Send>>;

/// All tasks of the device, and what the process listens to.
pub(crate) struct Parts {
    /// What talks to clients.
    pub(crate) front: Tasks,
    pub(crate) front_stop: Stopper,
    /// The main loop.
    pub(crate) core: Tasks,
    pub(crate) core_stop: Stopper,
    /// Tasks that end when they are told to stop, such as sources.
    pub(crate) rest: Tasks,
    pub(crate) rest_stop: Stopper,
    /// Tasks that never end by themselves, such as drivers; they are aborted.
    pub(crate) endless: Tasks,
    /// What the process itself does; it never ends.
    pub(crate) performing: Performing,
    /// The device is to be started again.
    pub(crate) restart: Arc<Notify>,
    /// The hand at the table, unless the parts are real.
    pub(crate) bench: Option<Bench>,
    /// The buses of the parts; they end after everything else.
    pub(crate) buses: Tasks,
    pub(crate) pulse: Pulse,
}

/// What the sign of life is taken from.
#[derive(Clone)]
pub(crate) struct Pulse {
    rounds: Rounds,
    painter: watch::Receiver<PaintProgress>,
    glass: watch::Receiver<Arc<DisplaySnapshot>>,
}

impl Pulse {
    /// What the panels show.
    pub(crate) fn glass(&self) -> watch::Receiver<Arc<DisplaySnapshot>> {
        self.glass.clone()
    }
}

/// The ends of the drivers that others hold the other ends of.
struct Ends {
    glass: watch::Sender<Arc<DisplaySnapshot>>,
    progress: watch::Sender<PaintProgress>,
    orders: RadioRequests,
}

/// What most parts need.
struct SharedParts {
    config: DeviceConfig,
    /// Where the clock listens.
    place: SocketAddr,
    inbox: Inbox,
    clock: Clock,
    dialer: Dialer,
    newest: NewestRelease,
    logos: LogoCache,
    known_peers: KnownPeers,
    /// Password of the access point.
    password: Secret,
    /// What makes the sources follow the relay of a demo; none elsewhere.
    demo: Option<String>,
}

/// The channels of the drivers.
struct DriverChannels {
    picture: watch::Receiver<Picture>,
    strip: watch::Receiver<Vec<Rgb>>,
    frontlight: watch::Receiver<Vec<u16>>,
    glass: watch::Sender<Arc<DisplaySnapshot>>,
    progress: watch::Sender<PaintProgress>,
}

/// The ports of a board.
struct PortSet<P, S, F, L, B> {
    panels: P,
    strip: Option<S>,
    frontlight: Option<F>,
    sensor: Option<L>,
    buttons: Option<B>,
}

/// The ports of a simulated board.
type SimPorts = PortSet<SimPanels, SimStrip, SimFrontlight, SimSensor, SimButtons>;

/// The ports of a board, whatever its parts are.
enum Ports {
    Simulated(Box<SimPorts>),
    Assembled(AssembledBoard, Serving),
}

/// A board, whatever its parts are.
struct Board {
    ports: Ports,
    care: Care,
    wifi: SimWifi,
    bench: Option<Bench>,
}

impl Board {
    fn make(run: &RunConfig, options: SimOptions) -> Result<Board, String> {
        let spec = run.board();
        match &run.parts {
            PartsKind::Simulated => Ok(Board::simulated(sim::board(&spec, options))),
            PartsKind::Wired(_) => {
                let wiring = run.wiring().ok_or("the wiring has mistakes")?;
                let parts = assemble(&Linux(Instant::now()), &wiring)?;
                Ok(Board {
                    ports: Ports::Assembled(parts, Serving::Threads),
                    care: wiring.care,
                    // Only the network of a board that has no other parts.
                    wifi: sim::board(&spec, options).wifi,
                    bench: None,
                })
            }
        }
    }

    fn simulated(board: SimBoard) -> Board {
        let ports = PortSet {
            panels: board.panels,
            strip: Some(board.strip),
            frontlight: board.frontlight,
            sensor: board.sensor,
            buttons: Some(board.buttons),
        };
        Board {
            ports: Ports::Simulated(Box::new(ports)),
            care: Care::NONE,
            wifi: board.wifi,
            bench: Some(board.bench),
        }
    }
}

impl Parts {
    /// Starts all parts; clients wait for the servers, so these come first.
    pub(crate) async fn start(
        config: DeviceConfig,
        listener: TcpListener,
        store: Store,
        kept: StoredState,
        log: LogLines,
    ) -> io::Result<Parts> {
        // A file of authorities that cannot be read stops nothing; the log says what is wrong with it.
        let roots = config::roots(config.run.ca_file.as_deref()).map_err(|failure| failure.message);
        let spec = config.run.board();
        let place = listener.local_addr()?;
        let options = SimOptions {
            timing: config.run.panel_timing(),
            held: config
                .carried
                .as_deref()
                .and_then(PowerCycle::parse)
                .unwrap_or_default(),
            radio: radio_options(&config, place),
        };
        let (radio, orders) = wifi::radio();
        let board = Board::make(&config.run, options).map_err(io::Error::other)?;
        let bench = board.bench.clone();
        let clock = Clock::host();
        let (inbox, inputs) = inbox();
        let height = kept
            .memory
            .market
            .height
            .as_ref()
            .map(|height| height.value);
        let mut notes = kept.notes;
        notes.extend(config.run.notes.clone());
        let access_point = secrets::password(&config.run.data_dir)?;
        if let Some(error) = &access_point.not_stored {
            notes.push(format!(
                "the access point has another password after each start: {error}"
            ));
        }
        let (installer, note) = Installer::new(means(&config, inbox.clone()));
        notes.extend(note);
        if config.run.signatures == Signatures::NotRequired {
            notes.push(
                "updates need no signature: the clock was started with --unsigned-updates".into(),
            );
        }
        let (access, mistakes) =
            PublicAccess::parse(&config.run.trusted_proxies, &config.run.public_urls);
        notes.extend(mistakes);
        let dialer = Dialer::new(roots.unwrap_or_else(|note| {
            notes.push(note);
            Roots::public()
        }));
        let locked = kept.made_password.map(Input::Locked);
        let said = said_at_start(notes, &config).into_iter().chain(locked);
        let known_peers = KnownPeers::of(kept.memory.peers.clone());
        let chain = config.run.chain().map_err(io::Error::other)?;
        let headers = chain.and_then(|chain| chain_file::read(&kept.chain, &chain));
        let beginning = InitialState {
            board: spec,
            settings: kept.settings,
            memory: kept.memory,
            said: said.collect(),
            unstored: kept.unstored,
            chain,
            headers,
        };
        let (keeper, shelf) = keeper::keeper(store);
        shelf.on_a_thread()?;
        let (main_loop, followed) = MainLoop::new(beginning, clock.clone(), inputs, keeper.clone());
        let unknown = DisplaySnapshot::unknown(spec.panels, spec.panel_width, spec.panel_height);
        let glass = watch::Sender::new(Arc::new(unknown));
        let (front_stop, front_stopped) = stop_signal();
        let (core_stop, core_stopped) = stop_signal();
        let (rest_stop, stop) = stop_signal();
        let demo = demo_relay(config.run.market, height).await?;
        let (newest, requests) = NewestRelease::new(installer.clone(), followed.releases.clone());
        let services = Services {
            inbox: inbox.clone(),
            view: followed.view.clone(),
            glass: glass.subscribe(),
            identity: identity(),
            allow_origins: config.run.allow_origins.clone(),
            access,
            clock: clock.clone(),
            crashes: config.crashes,
            installer: installer.clone(),
            newest: newest.clone(),
            data_dir: config.run.data_dir.clone(),
            dialer: dialer.clone(),
            log,
            radio: radio.clone(),
            bench: bench.clone(),
            demo: demo.as_ref().map(DemoRelay::hand),
            connections: None,
            shutdown: front_stopped.signal(),
        };
        let (mut front, mut core, mut rest) = (Tasks::new(), Tasks::new(), Tasks::new());
        let listener = tokio::net::TcpListener::from_std(listener)?;
        front.spawn("http", web::serve(listener, services));
        core.spawn("main loop", main_loop.run(core_stopped));
        let progress = watch::Sender::new(PaintProgress::Begun);
        let pulse = Pulse {
            rounds: followed.rounds.clone(),
            painter: progress.subscribe(),
            glass: glass.subscribe(),
        };
        let logos = LogoCache::new(config.run.data_dir.join("logos"));
        let performer = Performer {
            inbox: inbox.clone(),
            keeper,
            data_dir: config.run.data_dir.clone(),
            logos: logos.clone(),
            radio,
        };
        let watcher = ReleaseWatcher {
            plans: followed.releases.clone(),
            requests,
            installer,
            dialer: dialer.clone(),
            inbox: inbox.clone(),
        };
        if let Some(home_assistant) = HomeAssistant::from_env() {
            let (dialer, inbox) = (dialer.clone(), inbox.clone());
            let follow = home_assistant.follow(dialer, inbox, followed.view.clone(), stop.clone());
            rest.spawn("home assistant", follow);
        }
        if config.run.managed_by.is_none() {
            rest.spawn("releases", watcher::run(watcher, stop.clone()));
        }
        let common = SharedParts {
            config,
            place,
            inbox,
            clock,
            dialer,
            newest,
            logos,
            known_peers,
            password: access_point.text,
            demo: demo.as_ref().map(DemoRelay::upstream),
        };
        let ends = Ends {
            glass,
            progress,
            orders,
        };
        if let Some(relay) = demo {
            let mut stop = stop.clone();
            rest.spawn("demo", async move {
                stop.stopped().await;
                relay.stop().await;
            });
        }
        let mut tasks = DeviceTasks {
            rest,
            endless: Tasks::new(),
            buses: Tasks::new(),
        };
        let mut effects = common
            .start_rest(&mut tasks, board, followed, ends, stop)
            .await?;
        let DeviceTasks {
            rest,
            endless,
            buses,
        } = tasks;
        let restart = Arc::new(Notify::new());
        let wanted = Arc::clone(&restart);
        let performing = Box::pin(async move { performer.run(&mut effects, &wanted).await });
        Ok(Parts {
            front,
            front_stop,
            core,
            core_stop,
            rest,
            rest_stop,
            endless,
            performing,
            restart,
            bench,
            buses,
            pulse,
        })
    }
}

/// What is needed to install updates.
fn means(config: &DeviceConfig, inbox: Inbox) -> InstallerConfig {
    let data_dir = config.run.data_dir.clone();
    InstallerConfig {
        keys: KeyRing {
            files: config.run.update_keys.clone(),
            data_dir: data_dir.clone(),
        },
        data_dir,
        firmware: config.firmware.clone(),
        signatures: config.run.signatures,
        managed_by: config.run.managed_by.clone(),
        board: config.run.board(),
        inbox,
    }
}

/// What went wrong before the device was there, for the log and the status.
fn said_at_start(notes: Vec<String>, config: &DeviceConfig) -> Vec<Input> {
    let mut said = Vec::new();
    for note in notes.into_iter().chain(config.note.clone()) {
        tracing::warn!("{note}");
        said.push(Input::Noticed(note));
    }
    if let Some(reason) = &config.safe_mode {
        tracing::warn!("safe mode: {reason}");
        said.push(Input::SafeMode(reason.clone()));
    }
    said
}

/// Tasks beside the HTTP server and the main loop, by how they end.
struct DeviceTasks {
    rest: Tasks,
    endless: Tasks,
    buses: Tasks,
}

impl SharedParts {
    async fn start_rest(
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

/// The relay of a demo, with a chain that is not below the height that is remembered; none elsewhere.
async fn demo_relay(market: MarketSource, height: Option<u32>) -> io::Result<Option<DemoRelay>> {
    match market {
        MarketSource::World => Ok(None),
        MarketSource::Demo => {
            let first = RelayQuotes::at(height.unwrap_or_default().max(FIRST_HEIGHT));
            let pace = MarketPace::Lively { seed: DEMO_SEED };
            DemoRelay::start(first, pace).await.map(Some)
        }
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

/// The simulated radio, if there is one.
fn radio_options(config: &DeviceConfig, place: SocketAddr) -> Option<RadioOptions> {
    let NetworkConfig::Simulated(networks) = &config.run.network else {
        return None;
    };
    let ip = match place.ip() {
        ip if ip.is_unspecified() => board::host::address(),
        ip => ip,
    };
    Some(RadioOptions {
        networks: networks.clone(),
        credentials: secrets::credentials(&config.run.data_dir),
        portal: match place.port() {
            HTTP_PORT => ip.to_string(),
            port => SocketAddr::new(ip, port).to_string(),
        },
    })
}

/// Tells the supervisor when a panel shows the first picture; ends when the supervisor is gone.
///
/// A painter that has given all panels up has painted nothing.
pub(crate) async fn first_picture(mut glass: watch::Receiver<Arc<DisplaySnapshot>>) {
    let is_painted = glass.wait_for(|glass| glass.is_painted()).await.is_ok();
    if is_painted && DeviceMessage::Painted.send().is_err() {
        return;
    }
    std::future::pending().await
}

/// Gives the supervisor a sign of life whenever the main loop comes round and the painter is not stuck; ends when it is
/// gone.
pub(crate) async fn heartbeat(pulse: Pulse, say: impl Fn(DeviceMessage) -> io::Result<()>) {
    let Pulse {
        rounds, painter, ..
    } = pulse;
    let mut looks_stuck = 0;
    loop {
        looks_stuck = if painter.borrow().is_stuck() {
            looks_stuck + 1
        } else {
            0
        };
        // After a time in which the whole process was stopped the painter gets its chance first.
        if looks_stuck > 1 {
            tracing::error!("the painter makes no progress");
            if say(DeviceMessage::PainterStuck).is_err() {
                return;
            }
            // The supervisor ends this process.
            return std::future::pending().await;
        }
        if rounds.next().await.is_err() {
            return;
        }
        if say(DeviceMessage::Beat).is_err() {
            return;
        }
        sleep(BEAT_PERIOD).await;
    }
}

fn identity() -> BuildIdentity {
    BuildIdentity {
        git_rev: build::revision(),
        git_tag: build::VERSION.to_string(),
        last_build_time: build::time(),
        bitcoin_sign_fonts: FontId::all()
            .filter(|font| render::has_btc_symbol(*font))
            .collect(),
        ..BuildIdentity::default()
    }
}

/// Liveness probes of the main loop.
#[cfg(test)]
type LivenessProbes = tokio::sync::mpsc::Receiver<tokio::sync::oneshot::Sender<u64>>;

#[cfg(test)]
impl Pulse {
    /// One that is made by hand, with the main loop's and the painter's side of it.
    pub(crate) fn by_hand() -> (Pulse, LivenessProbes, watch::Sender<PaintProgress>) {
        let (rounds, asked) = Rounds::by_hand();
        let progress = watch::Sender::new(PaintProgress::Begun);
        let blank = DisplaySnapshot {
            generation: 0,
            panels: Vec::new(),
        };
        let pulse = Pulse {
            rounds,
            painter: progress.subscribe(),
            glass: watch::Sender::new(Arc::new(blank)).subscribe(),
        };
        (pulse, asked, progress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_sign_of_life_takes_a_main_loop_that_comes_round_and_a_painter_that_paints() {
        let (pulse, mut asked, progress) = Pulse::by_hand();
        let told = watch::Sender::new(Vec::new());
        let says = |word| {
            told.send_modify(|told| told.push(word));
            Ok(())
        };
        let life = async {
            // Nothing is reported until there is a response.
            let first = asked.recv().await.unwrap();
            sleep(BEAT_PERIOD * 5).await;
            assert_eq!(*told.borrow(), []);
            first.send(1).unwrap();
            asked.recv().await.unwrap().send(2).unwrap();
            asked.recv().await.unwrap().send(3).unwrap();
            assert_eq!(*told.borrow(), [DeviceMessage::Beat, DeviceMessage::Beat]);
            progress.send_replace(PaintProgress::Painting(Instant::now()));
            asked.recv().await.unwrap().send(4).unwrap();
            assert!(asked.recv().await.is_none(), "it asks no more");
        };
        tokio::select! {
            biased;
            () = life => panic!("it gave its end of the main loop up"),
            () = heartbeat(pulse, says) => panic!("it ended"),
            () = sleep(BEAT_PERIOD * 20) => {}
        }
        let last = told.borrow().iter().skip(2).cloned().collect::<Vec<_>>();
        assert_eq!(
            last,
            [
                DeviceMessage::Beat,
                DeviceMessage::Beat,
                DeviceMessage::PainterStuck
            ]
        );
    }

    #[tokio::test]
    async fn the_chain_of_a_demo_goes_on_where_it_was() {
        for (remembered, goes_on) in [
            (None, FIRST_HEIGHT),
            (Some(FIRST_HEIGHT - 1), FIRST_HEIGHT),
            (Some(FIRST_HEIGHT + 21), FIRST_HEIGHT + 21),
        ] {
            let relay = demo_relay(MarketSource::Demo, remembered).await.unwrap();
            let height = relay.map(|relay| relay.quotes().height);
            assert_eq!(height, Some(goes_on), "{remembered:?}");
        }
        let world = demo_relay(MarketSource::World, None).await.unwrap();
        assert!(world.is_none());
    }

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
