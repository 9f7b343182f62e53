//! The simulated radio, its driver and the device in virtual time: from a new clock to a network and back.

use std::{
    fs,
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
    time::Duration,
};

use board::{
    sim::{self, Bench, SimOptions, radio::RadioOptions},
    spec,
};
use device::{
    input::{Input, LinkEvent},
    output::{Effect, RebootReason},
    secret::Secret,
    settings::{Settings, store},
    view::View,
};
use futures_util::FutureExt;
use lab::sim_disk::SharedDisk;
use papertick::{
    effects::EffectExecutor,
    main_loop::{InitialState, MainLoop, channels::LoopReceivers},
};
use runtime::{
    clock::Clock,
    inbox::{Inbox, inbox},
    tasks::{Stopper, Tasks, stop_signal},
};
use sources::logos::LogoCache;
use storage::{Store, store_thread::StoreHandle};
use tempfile::TempDir;
use tokio::time::{sleep, timeout};
use wifi::{ProvisionFailure, Radio};

const AIR: &str = r#"[{"ssid": "Home", "password": "correct horse", "rssi": -48}]"#;

/// Address at which the clock listens.
const LISTEN: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));

/// One run of a clock with a radio.
pub(crate) struct RadioRig {
    pub(crate) folder: TempDir,
    pub(crate) disk: SharedDisk,
    pub(crate) bench: Bench,
    pub(crate) radio: Radio,
    pub(crate) receivers: LoopReceivers,
    pub(crate) inbox: Inbox,
    pub(crate) executor: EffectExecutor,
    _stopper: Stopper,
    _tasks: Tasks,
}

impl RadioRig {
    pub(crate) fn new() -> RadioRig {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("air"), AIR).unwrap();
        RadioRig::on(folder, SharedDisk::default())
    }

    /// Stops this run and starts the next one.
    pub(crate) fn restart(self) -> RadioRig {
        RadioRig::on(self.folder, self.disk)
    }

    fn on(folder: TempDir, disk: SharedDisk) -> RadioRig {
        let options = SimOptions {
            radio: Some(RadioOptions {
                networks: folder.path().join("air"),
                credentials: folder.path().join("wifi"),
                portal: "127.0.0.1:8080".to_string(),
            }),
            ..SimOptions::default()
        };
        let board = sim::board(spec::find("rev-b").unwrap(), options);
        let (store, loaded) = Store::open(Box::new(disk.clone()));
        let settings = loaded
            .settings
            .whole()
            .map_or_else(Settings::default, |map| store::from_json(&map).0);
        let clock = Clock::unset();
        let spec = *spec::find("rev-b").unwrap();
        let mut initial = InitialState::with(spec, settings);
        initial.inputs.push(Input::Linked(LinkEvent::Identity {
            suffix: "efabcd".to_string(),
            password: Secret::new("hunter22"),
        }));
        let (inbox, inputs) = inbox();
        let (store, worker) = StoreHandle::new(store);
        let (main_loop, receivers) = MainLoop::new(initial, clock, inputs, store.clone());
        let (stopper, stop) = stop_signal();
        let (radio, orders) = wifi::radio();
        let mut tasks = Tasks::new();
        tasks.spawn("main loop", main_loop.run(stop));
        tasks.spawn("store", worker.run());
        let plan = receivers.wifi.clone();
        tasks.spawn(
            "radio",
            wifi::run(board.wifi, plan, orders, LISTEN, inbox.clone()),
        );
        let executor = EffectExecutor {
            inbox: inbox.clone(),
            store,
            data_dir: folder.path().to_path_buf(),
            logos: LogoCache::new(folder.path().join("logos")),
            radio: radio.clone(),
        };
        RadioRig {
            folder,
            disk,
            bench: board.bench,
            radio,
            receivers,
            inbox,
            executor,
            _stopper: stopper,
            _tasks: tasks,
        }
    }

    /// Waits for a state of the network; returns the view.
    pub(crate) async fn until(&mut self, state: &str) -> Arc<View> {
        let has_state = |view: &Arc<View>| view.link.state == state;
        let waiting = self.receivers.view.wait_for(has_state);
        let view = timeout(Duration::from_secs(3600), waiting).await;
        view.unwrap_or_else(|_| panic!("never {state}"))
            .unwrap()
            .clone()
    }

    pub(crate) async fn provision(&self, password: &str) -> Result<(), ProvisionFailure> {
        let password = Secret::new(password);
        let joined = self
            .radio
            .provision("Home".to_string(), password, None)
            .await;
        joined.map(|_| ())
    }

    pub(crate) async fn restarts(&mut self) -> RebootReason {
        let effect = timeout(Duration::from_secs(7200), self.receivers.effects.recv()).await;
        match effect.expect("it never restarts") {
            Some(Effect::Reboot(reason)) => reason,
            other => panic!("{other:?}"),
        }
    }

    /// A clock that was provisioned, after its restart.
    pub(crate) async fn provisioned() -> RadioRig {
        let mut rig = RadioRig::new();
        rig.until("access-point").await;
        rig.provision("correct horse").await.unwrap();
        assert_eq!(rig.restarts().await, RebootReason::Provisioned);
        rig.restart()
    }
}

#[tokio::test(start_paused = true)]
async fn a_router_that_is_switched_on_later_is_listed() {
    let mut rig = RadioRig::new();
    rig.until("access-point").await;
    for later in ["Attic", "Cellar"] {
        let air = format!(r#"[{{"ssid": "{later}"}}]"#);
        fs::write(rig.folder.path().join("air"), air).unwrap();
        sleep(Duration::from_secs(11)).await;
        assert_eq!(rig.radio.networks().await[0].ssid, later);
    }
}

#[tokio::test(start_paused = true)]
async fn attempts_do_not_overlap() {
    let mut rig = RadioRig::new();
    rig.until("access-point").await;
    let (first, second) = tokio::join!(rig.provision("wrong"), rig.provision("correct horse"));
    assert!(matches!(first, Err(ProvisionFailure::Tried(_))));
    assert_eq!(second, Err(ProvisionFailure::Busy));
}

#[tokio::test(start_paused = true)]
async fn the_access_point_stays_while_credentials_are_tried() {
    let mut rig = RadioRig::new();
    rig.until("access-point").await;
    let radio = rig.radio.clone();
    let mut tasks = Tasks::new();
    tasks.spawn("attempt", async move {
        let wrong = Secret::new("wrong");
        radio
            .provision("Home".to_string(), wrong, None)
            .await
            .unwrap_err();
    });
    let view = rig.until("connecting").await;
    assert!(view.link.portal.is_some());
    assert!(rig.bench.state().access_point.is_some());
    assert!(tasks.ended().await.is_some_and(|ended| !ended.panicked));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_forget_keeps_the_network() {
    let mut rig = RadioRig::provisioned().await;
    rig.until("connected").await;
    // The address of the status is the one at which the clock answers.
    assert_eq!(rig.receivers.view.borrow().link.ip, LISTEN.to_string());
    // The radio has not handled the request yet.
    assert!(rig.radio.forget().now_or_never().is_none());
    sleep(Duration::from_secs(60)).await;
    assert!(rig.folder.path().join("wifi").exists());
    assert_eq!(rig.receivers.view.borrow().link.state, "connected");
}
