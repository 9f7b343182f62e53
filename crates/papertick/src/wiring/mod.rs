//! Puts the parts of the device together: makes the channels, starts the tasks.

mod ports;
mod tasks;

use std::{
    io,
    net::{SocketAddr, TcpListener},
    pin::Pin,
    sync::Arc,
};

use board::sim::{Bench, PowerCycle, SimOptions, radio::RadioOptions};
use device::{
    input::Input,
    settings::{emit::BuildIdentity, fonts::FontId},
};
use net::{dialer::Dialer, tls::Roots};
use runtime::{
    clock::Clock,
    glass::DisplaySnapshot,
    inbox::{Inbox, inbox},
    log_lines::LogLines,
    tasks::{Stopper, Tasks, stop_signal},
};
use sources::{
    demo::{
        DemoRelay, MarketPace,
        market::{FIRST_HEIGHT, RelayQuotes},
    },
    known_peers::KnownPeers,
    logos::LogoCache,
};
use storage::{Store, keeper};
use tokio::sync::{Notify, watch};
use updates::{
    build,
    installer::{Installer, InstallerConfig},
    keys::KeyRing,
    newest::NewestRelease,
    policy::Signatures,
    watcher::{self, ReleaseWatcher},
};
use web::{proxy::PublicAccess, services::Services};
use wifi::secrets;

use self::{
    ports::Board,
    tasks::{DeviceTasks, Ends, SharedParts},
};
use crate::{
    chain_file,
    config::{self, DeviceConfig, MarketSource, NetworkConfig},
    drivers::painter::PaintProgress,
    effects::Performer,
    home_assistant::HomeAssistant,
    liveness::Pulse,
    main_loop::{InitialState, MainLoop},
    stored_state::StoredState,
};

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
