//! Sources of headers with a device's chain: plans go in, and the resulting chain comes out.

use std::{sync::Arc, time::Duration};

use chain::{BlockHash, network::Network};
use device::{
    board::BoardSpec,
    device::Device,
    input::Input,
    memory::Memory,
    settings::Settings,
    sources::{Plan, Route, SourceConfig, SourcePlan},
};
use market::{
    ChainSpec, Connection, FigureIdentity, HeightState, Observation, source_id::SourceId,
};
use net::{
    dialer::{Arrival, Dialer},
    tls::Roots,
};
use runtime::{
    clock::Clock,
    inbox::inbox,
    tasks::{Stopper, Tasks, stop_signal},
};
use sources::{
    SourceServices, already_reported::AlreadyReported, known_peers::KnownPeers, logos::LogoCache,
    supervisor::supervise, upstreams::Upstreams,
};
use tokio::{
    sync::{mpsc, watch},
    time,
};

pub use crate::miner::{Miner, START};

/// Longest wait of a test.
const WAIT_MAX: Duration = Duration::from_secs(7 * 24 * 3600);

/// State of the device.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    pub height: Option<u32>,
    pub state: HeightState,
    pub tip: Option<BlockHash>,
    pub observations: Vec<Observation>,
    /// How often headers were submitted, and the most at once.
    pub messages: u32,
    pub most: usize,
}

pub struct ChainRig {
    pub plans: watch::Sender<Arc<Plan>>,
    pub known: KnownPeers,
    pub clock: Clock,
    seen: watch::Receiver<Seen>,
    stopper: Stopper,
    tasks: Tasks,
}

impl ChainRig {
    /// A rig whose connections arrive in a queue.
    pub fn in_memory() -> (ChainRig, mpsc::Receiver<Arrival>) {
        ChainRig::knowing(&[])
    }

    /// The same with known peers.
    pub fn knowing(peers: &[&str]) -> (ChainRig, mpsc::Receiver<Arrival>) {
        let (arrive, arrivals) = mpsc::channel(16);
        (
            ChainRig::new(Dialer::in_memory(Roots::public(), arrive), peers),
            arrivals,
        )
    }

    fn new(dialer: Dialer, peers: &[&str]) -> ChainRig {
        let (inbox, mut inputs) = inbox();
        let (stopper, stop) = stop_signal();
        let plans = watch::Sender::new(Arc::default());
        let clock = Clock::unset();
        clock.set(i64::from(START) * 1000);
        let known = KnownPeers::of(peers.iter().map(ToString::to_string).collect());
        let shared = SourceServices {
            dialer,
            upstreams: Arc::new(Upstreams::default()),
            inbox,
            clock: clock.clone(),
            logos: LogoCache::new("unused"),
            already_reported: AlreadyReported::default(),
            known_peers: known.clone(),
        };
        let chain = Some(ChainSpec::built_in(Network::Regtest));
        let (board, settings) = (BoardSpec::EXAMPLE, Settings::default());
        let mut device = Device::on_chain(chain, board, settings, Memory::default(), clock.now());
        let device_clock = clock.clone();
        let (sender, seen) = watch::channel(Seen::default());
        let mut tasks = Tasks::new();
        tasks.spawn("supervisor", supervise(plans.subscribe(), shared, stop));
        tasks.spawn("device", async move {
            while let Some(message) = inputs.recv().await {
                let handed = match &message.input {
                    Input::Headers(_, headers, _) => headers.len(),
                    _ => 0,
                };
                let observations = match &message.input {
                    Input::Observed(_, observations) => observations.clone(),
                    _ => Vec::new(),
                };
                let output = device.handle(message.input, clock.now());
                // The state is visible before the reply is sent.
                sender.send_modify(|seen| {
                    let view = device.view();
                    seen.height = view.market.height.as_ref().map(|height| height.value);
                    seen.state = view.truth.height;
                    seen.tip = device.chain().map(chain::chain::Chain::tip);
                    seen.observations.extend(observations);
                    seen.messages += u32::from(handed > 0);
                    seen.most = seen.most.max(handed);
                });
                message.reply_to.send(output.reply, output.headers);
            }
        });
        ChainRig {
            plans,
            known,
            clock: device_clock,
            seen,
            stopper,
            tasks,
        }
    }

    pub fn plan(&self, id: SourceId, config: SourceConfig) {
        self.plan_through(id, config, Route::default());
    }

    pub fn plan_through(&self, id: SourceId, config: SourceConfig, route: Route) {
        let plan = SourcePlan {
            config,
            supplies: &[],
            identity: FigureIdentity::default(),
            route,
            restarts: 0,
        };
        self.plans.send_modify(|plans| {
            Arc::make_mut(plans).insert(id, plan);
        });
    }

    pub fn current(&self) -> Seen {
        self.seen.borrow().clone()
    }

    /// Waits until a condition holds for the state.
    pub async fn until(&mut self, fits: impl Fn(&Seen) -> bool) -> Seen {
        let found = time::timeout(WAIT_MAX, self.seen.wait_for(|seen| fits(seen))).await;
        let found = found.map(|seen| seen.unwrap().clone());
        found.unwrap_or_else(|_| panic!("the expected state did not occur: {:?}", self.current()))
    }

    /// Waits until a block is the newest proven one, or has one source.
    pub async fn until_tip(&mut self, miner: &Miner, state: HeightState) {
        let (tip, height) = (miner.tip(), miner.height());
        self.until(|seen| (seen.tip, seen.height, seen.state) == (Some(tip), Some(height), state))
            .await;
    }

    /// Waits until a source is down; returns the reason and the time until the next attempt.
    pub async fn down(&mut self) -> (String, Duration) {
        let down = |seen: &Seen| {
            seen.observations
                .iter()
                .rev()
                .find_map(|observation| match observation {
                    Observation::Connection(Connection::Down { reason, retry_in }) => {
                        Some((reason.clone(), *retry_in))
                    }
                    _ => None,
                })
        };
        let seen = self.until(|seen| down(seen).is_some()).await;
        down(&seen).unwrap()
    }

    pub async fn stop(self) {
        self.stopper.stop();
        let late = self.tasks.stop(Duration::from_secs(5)).await;
        assert!(late.is_empty(), "{late:?} did not end");
    }
}
