//! A supervisor with all its services: plans go in, observations come out.

use std::{sync::Arc, time::Duration};

use device::{
    input::Input,
    sources::{Plan, RelayConfig, RelayEndpoint, Route, SourceConfig, SourcePlan},
};
use market::{
    Connection, FigureIdentity, Observation,
    source_id::SourceId,
    units::{Currency, FeeRate, Price},
};
use net::{
    dialer::{Arrival, Dialer},
    tls::Roots,
};
use runtime::{
    clock::Clock,
    inbox::{InboxMessage, inbox},
    tasks::{Stopper, Tasks, stop_signal},
};
use sources::{
    SourceServices, already_reported::AlreadyReported, known_peers::KnownPeers, logos::LogoCache,
    supervisor::supervise, upstreams::Upstreams,
};
use tempfile::TempDir;
use tokio::{
    io::DuplexStream,
    sync::{mpsc, watch},
    time,
};
use tokio_tungstenite::{WebSocketStream, accept_async};

/// First byte of a TLS handshake.
pub const TLS_HANDSHAKE: u8 = 0x16;

/// Longest wait of a test.
const WAIT_MAX: Duration = Duration::from_secs(24 * 3600);

/// Reports within which an observation must come.
const REPORTS_MAX: usize = 200;

pub struct Rig {
    pub clock: Clock,
    pub logos: LogoCache,
    pub plans: watch::Sender<Arc<Plan>>,
    pub stopper: Stopper,
    pub tasks: Tasks,
    _folder: TempDir,
    inputs: mpsc::Receiver<InboxMessage>,
}

impl Rig {
    pub fn new(dialer: Dialer, upstreams: Upstreams) -> Rig {
        let (inbox, inputs) = inbox();
        let (stopper, stop) = stop_signal();
        let plans = watch::Sender::new(Arc::default());
        let folder = TempDir::new().unwrap();
        let clock = Clock::unset();
        let logos = LogoCache::new(folder.path().join("logos"));
        let shared = SourceServices {
            dialer,
            upstreams: Arc::new(upstreams),
            inbox,
            clock: clock.clone(),
            logos: logos.clone(),
            already_reported: AlreadyReported::default(),
            known_peers: KnownPeers::default(),
        };
        let mut tasks = Tasks::new();
        tasks.spawn("supervisor", supervise(plans.subscribe(), shared, stop));
        Rig {
            clock,
            logos,
            plans,
            stopper,
            tasks,
            _folder: folder,
            inputs,
        }
    }

    /// A rig with real sockets, whose public addresses are replaced.
    pub fn on_loopback(replacements: &[String]) -> Rig {
        let mut upstreams = Upstreams::default();
        for replacement in replacements {
            upstreams.replace(replacement).unwrap();
        }
        Rig::new(Dialer::new(Roots::public()), upstreams)
    }

    /// A rig whose connections arrive in a queue; public addresses are replaced by plain ones.
    pub fn in_memory() -> (Rig, mpsc::Receiver<Arrival>) {
        let (arrive, arrivals) = mpsc::channel(16);
        let mut upstreams = Upstreams::default();
        for name in [
            "relay", "exchange", "coinbase", "bitstamp", "bitfinex", "gemini",
        ] {
            upstreams.replace(&format!("{name}=ws://{name}")).unwrap();
        }
        (
            Rig::new(Dialer::in_memory(Roots::public(), arrive), upstreams),
            arrivals,
        )
    }

    pub fn plan(&self, id: SourceId, config: SourceConfig) {
        self.plan_through(id, config, Route::default());
    }

    pub fn plan_through(&self, id: SourceId, config: SourceConfig, route: Route) {
        let plan = SourcePlan {
            config,
            supplies: &[],
            identity: identity(id),
            route,
            restarts: 0,
        };
        self.plans.send_modify(|plans| {
            Arc::make_mut(plans).insert(id, plan);
        });
    }

    pub async fn next(&mut self) -> (SourceId, Vec<Observation>) {
        let message = time::timeout(WAIT_MAX, self.inputs.recv())
            .await
            .unwrap()
            .unwrap();
        let Input::Observed(id, observations) = message.input else {
            panic!("unexpected input {:?}", message.input);
        };
        (id, observations)
    }

    /// All observations until a condition holds for one.
    pub async fn until(&mut self, fits: impl Fn(&Observation) -> bool) -> Vec<Observation> {
        let mut seen = Vec::new();
        for _ in 0..REPORTS_MAX {
            let (_, observations) = self.next().await;
            let found = observations.iter().any(&fits);
            seen.extend(observations);
            if found {
                return seen;
            }
        }
        panic!("the expected observation did not occur: {seen:?}");
    }

    /// Waits until a connection is down; returns the reason and the time until the next attempt.
    pub async fn down(&mut self) -> (String, Duration) {
        loop {
            for observation in self.next().await.1 {
                if let Observation::Connection(Connection::Down { reason, retry_in }) = observation
                {
                    return (reason, retry_in);
                }
            }
        }
    }

    /// Waits until a connection is up.
    pub async fn up(&mut self) {
        self.until(|observation| *observation == Observation::Connection(Connection::Up))
            .await;
    }

    /// Returns whether nothing is reported for a while.
    pub async fn is_quiet(&mut self, time: Duration) -> bool {
        time::timeout(time, self.inputs.recv()).await.is_err()
    }

    pub async fn stop(self) {
        self.stopper.stop();
        let late = self.tasks.stop(Duration::from_secs(5)).await;
        assert!(late.is_empty(), "{late:?} did not end");
    }
}

/// Accepts the next connection, which must be a WebSocket.
pub async fn accept(arrivals: &mut mpsc::Receiver<Arrival>) -> WebSocketStream<DuplexStream> {
    accept_async(arrivals.recv().await.unwrap().stream)
        .await
        .unwrap()
}

/// Identity of the figures that a source polls.
pub fn identity(id: SourceId) -> FigureIdentity {
    FigureIdentity::of(&[id.name()])
}

pub fn relay_config() -> SourceConfig {
    SourceConfig::Relay(RelayConfig {
        endpoint: RelayEndpoint::Public,
        currencies: vec![currency("USD"), currency("EUR")],
        blocks: true,
        precise_fee: true,
    })
}

pub fn currency(code: &str) -> Currency {
    Currency::parse(code).unwrap()
}

pub fn price(code: &str, price: &str) -> Observation {
    Observation::Price(currency(code), Price::parse(price).unwrap())
}

pub fn precise_fee(rate: &str) -> Observation {
    Observation::PreciseFee(FeeRate::parse(rate).unwrap())
}
