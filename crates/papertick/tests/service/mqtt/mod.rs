//! The MQTT client of a clock, against a broker in memory and in virtual time, or against Mosquitto.

mod commands;
mod connection;
mod mosquitto;
mod publishing;
mod retained_settings;
mod start_order;
mod test_broker;

use std::{sync::Arc, time::Duration};

use board::spec;
use device::{
    input::{Input, LinkEvent},
    memory::Memory,
    output::Effect,
    request::{Changed, Patch, Request},
    secret::{Endpoint, Secret},
    settings::{Settings, emit::BuildIdentity},
    view::View,
};
use lab::sim_disk::SharedDisk;
use market::{
    Observation,
    source_id::SourceId,
    units::{Currency, Price},
};
use mqtt::{MqttContext, serve};
use net::{
    dialer::{Arrival, Dialer},
    tls::Roots,
};
use papertick::main_loop::{InitialState, MainLoop, channels::LoopReceivers};
use runtime::{
    clock::Clock,
    inbox::{Inbox, inbox},
    panels::PanelsSnapshot,
    tasks::{Stopper, Tasks, stop_signal},
};
use serde_json::{Map, Value};
use storage::{
    Store,
    store_thread::{StoreHandle, StoreWorker},
};
use tempfile::TempDir;
use tokio::{
    sync::{mpsc, watch},
    time::timeout,
};
use updates::{
    self,
    installer::Installer,
    newest::NewestRelease,
    slots::{Factory, Firmware, Program},
};

use test_broker::TestBroker;

/// Prefix of the clock's topics.
pub(crate) const OWN: &str = "papertick/papertick-aabbcc";

/// Longest time that a test waits for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

/// The main loop of a clock with its MQTT client, without panels. It can install updates, but has no update key.
pub(crate) struct Rig {
    pub(crate) inbox: Inbox,
    pub(crate) outputs: LoopReceivers,
    pub(crate) client: Tasks,
    pub(crate) stopper: Stopper,
    pub(crate) glass: watch::Sender<Arc<PanelsSnapshot>>,
    main_tasks: Tasks,
    pub(crate) folder: TempDir,
    _main_stopper: Stopper,
}

impl Rig {
    pub(crate) async fn new(dialer: Dialer, settings: Settings) -> Rig {
        Rig::on(dialer, settings, SharedDisk::default()).await
    }

    pub(crate) async fn on(dialer: Dialer, settings: Settings, disk: SharedDisk) -> Rig {
        Rig::at(Clock::unset(), dialer, settings, disk).await
    }

    pub(crate) async fn at(
        clock: Clock,
        dialer: Dialer,
        settings: Settings,
        disk: SharedDisk,
    ) -> Rig {
        let (mut rig, store) = Rig::without_store(clock, dialer, settings, disk).await;
        rig.main_tasks.spawn("store", store.run());
        rig
    }

    /// A clock that waits for its store until the returned worker runs.
    pub(crate) async fn without_store(
        clock: Clock,
        dialer: Dialer,
        settings: Settings,
        disk: SharedDisk,
    ) -> (Rig, StoreWorker) {
        let (store, _) = Store::open(Box::new(disk));
        let (store, store_worker) = StoreHandle::new(store);
        let spec = *spec::find("rev-b").unwrap();
        let (inbox, inputs) = inbox();
        let initial = InitialState {
            memory: Memory::default(),
            ..InitialState::with(spec, settings)
        };
        let (main_loop, outputs) = MainLoop::new(initial, clock.clone(), inputs, store);
        let (main_stopper, main_stop) = stop_signal();
        let mut main_tasks = Tasks::new();
        main_tasks.spawn("main loop", main_loop.run(main_stop));
        let glass = PanelsSnapshot::unknown(spec.panel_count(), spec.panel_size());
        let glass = watch::Sender::new(Arc::new(glass));
        let folder = TempDir::new().unwrap();
        let installer = updates::installer::InstallerConfig {
            firmware: Some(Firmware {
                running: Program::Factory,
                version: "4.0.0".into(),
                factory: Factory::own(),
            }),
            ..updates::installer::InstallerConfig::without_slots(
                spec,
                folder.path().to_path_buf(),
                inbox.clone(),
            )
        };
        let (installer, _) = Installer::new(installer);
        let (newest, _) = NewestRelease::new(installer, outputs.releases.clone());
        let context = MqttContext {
            newest,
            plans: outputs.mqtt.clone(),
            view: outputs.view.clone(),
            glass: glass.subscribe(),
            inbox: inbox.clone(),
            clock: clock.clone(),
            dialer,
            identity: BuildIdentity {
                git_tag: "4.0.0".into(),
                ..BuildIdentity::default()
            },
            port: 8080,
        };
        let (stopper, stop) = stop_signal();
        let mut client = Tasks::new();
        client.spawn("MQTT", serve(context, stop));
        let rig = Rig {
            inbox,
            outputs,
            client,
            stopper,
            glass,
            main_tasks,
            folder,
            _main_stopper: main_stopper,
        };
        let identity = LinkEvent::Identity {
            suffix: "aabbcc".into(),
            password: Secret::default(),
        };
        for event in [LinkEvent::Unmanaged, identity] {
            rig.send(Input::Linked(event)).await;
        }
        (rig, store_worker)
    }

    /// Sends an input to the device, and waits until it is handled.
    pub(crate) async fn send(&self, input: Input) {
        self.inbox.settle(input).await.unwrap();
    }

    /// Changes settings, as the page does.
    pub(crate) async fn patch(&self, body: Value) {
        let Value::Object(body) = body else {
            panic!("{body}");
        };
        let patch = Patch {
            body,
            hashes: Default::default(),
        };
        let reply = self.inbox.request(Request::Patch(patch)).await.unwrap();
        assert_eq!(reply, Ok(Changed::default()));
    }

    pub(crate) fn view(&self) -> Arc<View> {
        Arc::clone(&self.outputs.view.borrow())
    }

    /// Waits for a state of the device; `what` names it in the error.
    pub(crate) async fn wait_for(
        &self,
        what: &str,
        is_reached: impl Fn(&View) -> bool,
    ) -> Arc<View> {
        let mut view = self.outputs.view.clone();
        let waiting = view.wait_for(|view| is_reached(view));
        let view = timeout(PATIENCE, waiting).await;
        view.unwrap_or_else(|_| panic!("never {what}"))
            .unwrap()
            .clone()
    }

    /// Waits for an error of the connection that contains a text.
    pub(crate) async fn wait_for_error(&self, text: &str) -> Arc<View> {
        self.wait_for(text, |view| {
            let error = view
                .mqtt
                .as_ref()
                .and_then(|state| state.last_error.as_deref());
            error.is_some_and(|error| error.contains(text))
        })
        .await
    }

    /// Waits for the next effect of the device.
    pub(crate) async fn effect(&mut self) -> Effect {
        let effect = timeout(PATIENCE, self.outputs.effects.recv()).await;
        effect.expect("no effect").unwrap()
    }

    /// Waits until the connection is up.
    pub(crate) async fn wait_until_up(&self) {
        self.wait_for("up", |view| {
            view.mqtt.as_ref().is_some_and(|state| state.up)
        })
        .await;
    }

    /// Waits until so many messages were dropped for a reason.
    pub(crate) async fn wait_for_dropped(&self, reason: &'static str, count: u64) {
        let has = |view: &View| {
            let state = view.mqtt.as_ref();
            state.is_some_and(|state| state.dropped.get(reason) == Some(&count))
        };
        self.wait_for(reason, has).await;
    }

    /// Stops the MQTT client.
    pub(crate) async fn stop(self) {
        self.stopper.stop();
        let late = self.client.stop(PATIENCE).await;
        assert!(late.is_empty(), "{late:?} did not stop");
    }
}

/// A clock whose outbound connections arrive in the receiver.
async fn in_memory(settings: Settings) -> (Rig, mpsc::Receiver<Arrival>) {
    let (arrive, arrivals) = mpsc::channel(4);
    let rig = Rig::new(Dialer::in_memory(Roots::public(), arrive), settings).await;
    (rig, arrivals)
}

/// A clock and its broker, after the first messages and the splash screen.
async fn settled(settings: Settings) -> (Rig, mpsc::Receiver<Arrival>, TestBroker) {
    let (rig, mut arrivals) = in_memory(settings).await;
    let mut broker = TestBroker::accept(&mut arrivals).await;
    broker.all_within(Duration::from_secs(15)).await;
    (rig, arrivals, broker)
}

/// Reports an observation of the relay to the device.
async fn observe(rig: &Rig, observation: Observation) {
    rig.send(Input::Observed(SourceId::Relay, vec![observation]))
        .await;
}

fn price(dollars: u32) -> Observation {
    Observation::Price(Currency::USD, Price::parse(&dollars.to_string()).unwrap())
}

/// Settings of a clock with a broker at this address.
pub(crate) fn settings(host: &str, port: u16) -> Settings {
    Settings {
        mqtt_enabled: true,
        mqtt_host: Endpoint::new(host),
        mqtt_port: port.into(),
        ..Settings::default()
    }
}

/// A payload as a document.
pub(crate) fn json(payload: &[u8]) -> Map<String, Value> {
    let text = String::from_utf8_lossy(payload).into_owned();
    serde_json::from_slice(payload).unwrap_or_else(|error| panic!("{text}: {error}"))
}
