//! Composition of the device process: makes the channels and starts the tasks.

mod ports;
mod tasks;

use std::{
    io,
    net::{SocketAddr, TcpListener},
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use board::sim::{Bench, PowerCycle, SimOptions, radio::RadioOptions};
use device::{
    history::{History, Readings, Series, Span},
    input::{Input, LinkEvent},
    settings::{emit::BuildIdentity, fonts::FontId},
};
use market::{now::Now, units::Currency};
use net::{dialer::Dialer, tls::Roots};
use runtime::{
    clock::Clock,
    inbox::{Inbox, inbox},
    log_lines::LogLines,
    panels::PanelsSnapshot,
    tasks::{Stopper, Tasks, stop_signal},
};
use sources::{
    demo::{
        DemoRelay, MarketPace,
        market::{FIRST_HEIGHT, RelayQuotes, past},
    },
    known_peers::KnownPeers,
    logos::LogoCache,
};
use storage::{Store, store_thread::StoreHandle};
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
    tasks::{DeviceTasks, DriverEnds, SharedParts},
};
use crate::{
    chain_file,
    config::{self, DeviceConfig, MarketSource, NetworkConfig},
    drivers::painter::PaintProgress,
    effects::EffectExecutor,
    home_assistant::HomeAssistantSupervisor,
    liveness::LivenessSources,
    main_loop::{InitialState, MainLoop},
    name_suffix::name_suffix,
    stored_state::StoredState,
};

const HTTP_PORT: u16 = 80;

/// Seed of the demo's market.
const DEMO_SEED: u64 = 21;

/// Steps of the history of a new demo: more than a day.
const PAST_STEPS: u32 = 152;

/// Performs effects while it is polled; never returns.
pub(crate) type EffectsFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The running device: all its tasks, and the signals that end it.
pub(crate) struct RunningDevice {
    pub(crate) http: Tasks,
    pub(crate) http_stop: Stopper,
    pub(crate) main_loop: Tasks,
    pub(crate) main_loop_stop: Stopper,
    /// Tasks with a stop signal, such as sources.
    pub(crate) services: Tasks,
    pub(crate) services_stop: Stopper,
    /// Tasks without a stop signal, such as drivers; they are aborted.
    pub(crate) drivers: Tasks,
    /// Performs effects; polled by the process itself.
    pub(crate) effects: EffectsFuture,
    /// Notified when the device is to restart.
    pub(crate) restart: Arc<Notify>,
    /// Controls of the simulated board. `None` for real parts.
    pub(crate) bench: Option<Bench>,
    /// The buses of real parts; they end after everything else.
    pub(crate) buses: Tasks,
    pub(crate) liveness: LivenessSources,
}

impl RunningDevice {
    /// Starts all tasks. The HTTP server comes first, because clients wait for it.
    pub(crate) async fn start(
        mut config: DeviceConfig,
        listener: TcpListener,
        store: Store,
        stored: StoredState,
        log: LogLines,
    ) -> io::Result<RunningDevice> {
        // The clock also starts with a CA file that cannot be read; the log says what is wrong.
        let roots = config::roots(config.run.ca_file.as_deref()).map_err(|failure| failure.message);
        let listen_address = listener.local_addr()?;
        let options = |config: &DeviceConfig| SimOptions {
            timing: config.run.panel_timing(),
            held: config
                .carried
                .as_deref()
                .and_then(PowerCycle::parse)
                .unwrap_or_default(),
            radio: radio_options(config, listen_address),
            times: None,
        };
        let (radio, radio_requests) = wifi::radio();
        let mut board = Board::new(&config.run, options(&config));
        if let Err(why) = &board
            && config.run.offers_panels
        {
            // The owner of a panel that was chosen on a phone may have no other access to the host.
            config.run.simulate_panels(why);
            board = Board::new(&config.run, options(&config));
        }
        let board = board.map_err(io::Error::other)?;
        let spec = config.run.board();
        tracing::info!(board = spec.hardware, "the panels");
        let bench = board.bench.clone();
        let clock = Clock::host();
        let (inbox, inputs) = inbox();
        let height = stored
            .memory
            .market
            .height
            .as_ref()
            .map(|height| height.value);
        let mut notes = stored.notes;
        notes.extend(config.run.notes.clone());
        let access_point = secrets::password(&config.run.data_dir)?;
        if let Some(error) = &access_point.not_stored {
            notes.push(format!(
                "the password of the access point changes at each start: {error}"
            ));
        }
        let (installer, note) = Installer::new(installer_config(&config, inbox.clone()));
        notes.extend(note);
        if config.run.signatures == Signatures::NotRequired {
            notes.push(
                "updates need no signature: the clock was started with --unsigned-updates".into(),
            );
        }
        let (mut access, mistakes) =
            PublicAccess::parse(&config.run.trusted_proxies, &config.run.public_urls);
        let home_assistant = HomeAssistantSupervisor::from_env();
        access.has_ingress = home_assistant.is_some();
        notes.extend(mistakes);
        let dialer = Dialer::new(roots.unwrap_or_else(|note| {
            notes.push(note);
            Roots::public()
        }));
        let locked = stored.generated_password.map(Input::PasswordGenerated);
        let name = Input::Linked(LinkEvent::Identity {
            suffix: name_suffix(&config.run.data_dir),
            password: access_point.text,
        });
        let initial_inputs = initial_inputs(notes, &config).into_iter();
        let unseen = Input::Linked(LinkEvent::PasswordUnseen);
        let unseen = config.run.hides_password().then_some(unseen);
        let initial_inputs = initial_inputs.chain(locked).chain([name]).chain(unseen);
        let known_peers = KnownPeers::of(stored.memory.peers.clone());
        let chain = config.run.chain().map_err(io::Error::other)?;
        let history = stored.history.unwrap_or_default();
        let mut history = History::from_json(&history, chain.as_ref());
        if config.run.market == MarketSource::Demo && history == History::default() {
            history = demo_history(DEMO_SEED, RelayQuotes::default(), clock.now());
        }
        let headers = chain.zip(stored.chain.as_ref());
        let headers = headers.and_then(|(chain, stored)| chain_file::read(stored, &chain));
        let initial = InitialState {
            board: spec,
            settings: stored.settings,
            memory: stored.memory,
            history,
            inputs: initial_inputs.collect(),
            storage_error: stored.storage_error,
            chain,
            headers,
        };
        let (store, worker) = StoreHandle::new(store);
        worker.spawn_thread()?;
        let (main_loop, receivers) = MainLoop::new(initial, clock.clone(), inputs, store.clone());
        let unknown = PanelsSnapshot::unknown(spec.panel_count(), spec.panel_size());
        let glass = watch::Sender::new(Arc::new(unknown));
        let (http_stop, http_stopped) = stop_signal();
        let (main_loop_stop, main_loop_stopped) = stop_signal();
        let (services_stop, stop) = stop_signal();
        let demo = demo_relay(config.run.market, height).await?;
        let (newest, requests) = NewestRelease::new(installer.clone(), receivers.releases.clone());
        let web_services = Services {
            inbox: inbox.clone(),
            view: receivers.view.clone(),
            glass: glass.subscribe(),
            identity: identity(),
            allow_origins: config.run.allow_origins.clone(),
            access,
            port: listen_address.port(),
            clock: clock.clone(),
            crashes: config.crashes,
            installer: installer.clone(),
            newest: newest.clone(),
            data_dir: config.run.data_dir.clone(),
            dialer: dialer.clone(),
            log,
            radio: radio.clone(),
            offers_panels: config.run.offers_panels,
            bench: bench.clone(),
            demo: demo.as_ref().map(DemoRelay::hand),
            connections: None,
            shutdown: http_stopped.signal(),
        };
        let (mut http, mut main_loop_tasks, mut services) =
            (Tasks::new(), Tasks::new(), Tasks::new());
        let listener = tokio::net::TcpListener::from_std(listener)?;
        http.spawn("http", web::serve(listener, web_services));
        main_loop_tasks.spawn("main loop", main_loop.run(main_loop_stopped));
        let progress = watch::Sender::new(PaintProgress::NotStarted);
        let liveness = LivenessSources {
            main_loop: receivers.liveness.clone(),
            painter: progress.subscribe(),
            glass: glass.subscribe(),
        };
        let logos = LogoCache::new(config.run.data_dir.join("logos"));
        let executor = EffectExecutor {
            inbox: inbox.clone(),
            store,
            data_dir: config.run.data_dir.clone(),
            logos: logos.clone(),
            radio,
        };
        let watcher = ReleaseWatcher {
            plans: receivers.releases.clone(),
            requests,
            installer,
            dialer: dialer.clone(),
            inbox: inbox.clone(),
        };
        if let Some(home_assistant) = home_assistant {
            let (dialer, inbox) = (dialer.clone(), inbox.clone());
            let follow = home_assistant.follow(dialer, inbox, receivers.view.clone(), stop.clone());
            services.spawn("home assistant", follow);
        }
        if config.run.managed_by.is_none() {
            services.spawn("releases", watcher::run(watcher, stop.clone()));
        }
        let shared = SharedParts {
            config,
            listen_address,
            inbox,
            clock,
            dialer,
            newest,
            logos,
            known_peers,
            demo_upstream: demo.as_ref().map(DemoRelay::upstream),
        };
        let ends = DriverEnds {
            glass,
            progress,
            radio_requests,
        };
        if let Some(relay) = demo {
            let mut stop = stop.clone();
            services.spawn("demo", async move {
                stop.stopped().await;
                relay.stop().await;
            });
        }
        let mut tasks = DeviceTasks {
            services,
            drivers: Tasks::new(),
            buses: Tasks::new(),
        };
        let mut effects = shared
            .start(&mut tasks, board, receivers, ends, stop)
            .await?;
        let DeviceTasks {
            services,
            drivers,
            buses,
        } = tasks;
        let restart = Arc::new(Notify::new());
        let notify = Arc::clone(&restart);
        let effects = Box::pin(async move { executor.run(&mut effects, &notify).await });
        Ok(RunningDevice {
            http,
            http_stop,
            main_loop: main_loop_tasks,
            main_loop_stop,
            services,
            services_stop,
            drivers,
            effects,
            restart,
            bench,
            buses,
            liveness,
        })
    }
}

fn installer_config(config: &DeviceConfig, inbox: Inbox) -> InstallerConfig {
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

/// Logs the problems found at the start; returns the inputs that report them to the device.
fn initial_inputs(notes: Vec<String>, config: &DeviceConfig) -> Vec<Input> {
    let mut inputs = Vec::new();
    for note in notes.into_iter().chain(config.note.clone()) {
        tracing::warn!("{note}");
        inputs.push(Input::StartupProblem(note));
    }
    if let Some(reason) = &config.safe_mode {
        tracing::warn!("safe mode: {reason}");
        inputs.push(Input::SafeMode(reason.clone()));
    }
    inputs
}

/// Starts the relay of a demo, at the stored height or above. `None` without a demo.
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

/// An invented day that leads to these quotes, so that a demo has graphs from the beginning.
pub(crate) fn demo_history(seed: u64, quotes: RelayQuotes, now: Now) -> History {
    let mut history = Arc::new(History::default());
    let quotes = past(seed, quotes);
    let step = Duration::from_secs(Span::Day.step_secs().into());
    let quotes: Vec<_> = (0..PAST_STEPS).zip(quotes).collect();
    for (ago, quotes) in quotes.into_iter().rev() {
        // As if the clock had run for that time.
        let then = Now {
            uptime: step * PAST_STEPS,
            ..now
        };
        let then = then.earlier(step * (PAST_STEPS - ago));
        history.record(None, then, || {
            let price = |(code, hundredths): (&String, &u64)| {
                let series = Series::Price(Currency::parse(code)?);
                Some((series, Some(hundredths * 10_000)))
            };
            let prices = quotes.prices.iter().filter_map(price);
            let fee = (Series::Fee, Some(quotes.fee_hundredths * 10_000));
            Readings {
                values: prices.chain([fee]).collect(),
                block: None,
            }
        });
    }
    Arc::unwrap_or_clone(history)
}

/// Options of the simulated radio. `None` if the host or NetworkManager manages the network.
fn radio_options(config: &DeviceConfig, address: SocketAddr) -> Option<RadioOptions> {
    let NetworkConfig::Simulated(networks) = &config.run.network else {
        return None;
    };
    let ip = match address.ip() {
        ip if ip.is_unspecified() => board::host::address(),
        ip => ip,
    };
    Some(RadioOptions {
        networks: networks.clone(),
        credentials: secrets::credentials(&config.run.data_dir),
        portal: match address.port() {
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
    async fn the_chain_of_a_demo_continues_at_the_stored_height() {
        for (stored, expected) in [
            (None, FIRST_HEIGHT),
            (Some(FIRST_HEIGHT - 1), FIRST_HEIGHT),
            (Some(FIRST_HEIGHT + 21), FIRST_HEIGHT + 21),
        ] {
            let relay = demo_relay(MarketSource::Demo, stored).await.unwrap();
            let height = relay.map(|relay| relay.quotes().height);
            assert_eq!(height, Some(expected), "{stored:?}");
        }
        let world = demo_relay(MarketSource::World, None).await.unwrap();
        assert!(world.is_none());
    }
}
