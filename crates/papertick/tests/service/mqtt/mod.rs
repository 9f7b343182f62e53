//! The door for MQTT: a clock and a broker, which is one of our own in memory and in virtual time, or a real one.

mod mosquitto;
mod orders;
mod peer;
mod talking;

use std::{sync::Arc, time::Duration};

use board::spec;
use device::{
    input::{Input, LinkEvent},
    memory::Memory,
    output::Effect,
    request::{Patch, Reply, Request},
    secret::{Endpoint, Secret},
    settings::{Settings, emit::BuildIdentity},
    view::View,
};
use lab::sim_disk::SharedDisk;
use mqtt::{MqttContext, serve};
use net::dialer::Dialer;
use papertick::main_loop::{InitialState, LoopReceivers, MainLoop};
use runtime::{
    clock::Clock,
    glass::DisplaySnapshot,
    inbox::{Inbox, inbox},
    tasks::{Stopper, Tasks, stop_signal},
};
use serde_json::{Map, Value};
use storage::{
    Store,
    keeper::{self, StoreWorker},
};
use tempfile::TempDir;
use tokio::{sync::watch, time::timeout};
use updates::{
    self,
    installer::Installer,
    newest::NewestRelease,
    slots::{Factory, Firmware, Program},
};

/// What the topics of the clock begin with.
pub(crate) const OWN: &str = "papertick/papertick-aabbcc";

/// Longest time that a test waits for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

/// A clock whose door for MQTT is open, without panels; it has room for another program, and trusts nobody.
pub(crate) struct Rig {
    pub(crate) inbox: Inbox,
    pub(crate) followed: LoopReceivers,
    pub(crate) door: Tasks,
    pub(crate) stopper: Stopper,
    pub(crate) glass: watch::Sender<Arc<DisplaySnapshot>>,
    core: Tasks,
    pub(crate) folder: TempDir,
    _going: Stopper,
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
        let (mut rig, shelf) = Rig::without_store(clock, dialer, settings, disk).await;
        rig.core.spawn("store", shelf.as_a_task());
        rig
    }

    /// A clock that waits for ever for what it stores, as long as nobody does the work.
    pub(crate) async fn without_store(
        clock: Clock,
        dialer: Dialer,
        settings: Settings,
        disk: SharedDisk,
    ) -> (Rig, StoreWorker) {
        let (store, _) = Store::open(Box::new(disk));
        let (keeper, shelf) = keeper::keeper(store);
        let spec = *spec::find("rev-b").unwrap();
        let (inbox, inputs) = inbox();
        let beginning = InitialState {
            memory: Memory::default(),
            ..InitialState::with(spec, settings)
        };
        let (main_loop, followed) = MainLoop::new(beginning, clock.clone(), inputs, keeper);
        let (going, go_on) = stop_signal();
        let mut core = Tasks::new();
        core.spawn("main loop", main_loop.run(go_on));
        let glass = DisplaySnapshot::unknown(spec.panels, spec.panel_width, spec.panel_height);
        let glass = watch::Sender::new(Arc::new(glass));
        let folder = TempDir::new().unwrap();
        let nobody = updates::installer::InstallerConfig {
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
        let (installer, _) = Installer::new(nobody);
        let (newest, _) = NewestRelease::new(installer, followed.releases.clone());
        let means = MqttContext {
            newest,
            plans: followed.mqtt.clone(),
            view: followed.view.clone(),
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
        let mut door = Tasks::new();
        door.spawn("MQTT", serve(means, stop));
        let rig = Rig {
            inbox,
            followed,
            door,
            stopper,
            glass,
            core,
            folder,
            _going: going,
        };
        let identity = LinkEvent::Identity {
            suffix: "aabbcc".into(),
            password: Secret::default(),
        };
        for event in [LinkEvent::Unmanaged, identity] {
            rig.tell(Input::Linked(event)).await;
        }
        (rig, shelf)
    }

    pub(crate) async fn tell(&self, input: Input) {
        self.inbox.settle(input).await.unwrap();
    }

    /// Changes settings, as the page does.
    pub(crate) async fn set(&self, body: Value) {
        let Value::Object(body) = body else {
            panic!("{body}");
        };
        let patch = Patch {
            body,
            hashes: Default::default(),
        };
        let reply = self.inbox.request(Request::Patch(patch)).await.unwrap();
        assert_eq!(reply, Reply::Done);
    }

    pub(crate) fn view(&self) -> Arc<View> {
        Arc::clone(&self.followed.view.borrow())
    }

    /// Waits until the view is as it should be.
    pub(crate) async fn until(&self, what: &str, is_so: impl Fn(&View) -> bool) -> Arc<View> {
        let mut view = self.followed.view.clone();
        let waiting = view.wait_for(|view| is_so(view));
        let view = timeout(PATIENCE, waiting).await;
        view.unwrap_or_else(|_| panic!("never {what}"))
            .unwrap()
            .clone()
    }

    pub(crate) async fn effect(&mut self) -> Effect {
        let effect = timeout(PATIENCE, self.followed.effects.recv()).await;
        effect.expect("nothing happens").unwrap()
    }

    /// Waits until the connection is up.
    pub(crate) async fn up(&self) {
        self.until("up", |view| {
            view.mqtt.as_ref().is_some_and(|state| state.up)
        })
        .await;
    }

    /// How much was dropped for a reason.
    pub(crate) async fn dropped(&self, reason: &'static str, count: u64) {
        let has = |view: &View| {
            let state = view.mqtt.as_ref();
            state.is_some_and(|state| state.dropped.get(reason) == Some(&count))
        };
        self.until(reason, has).await;
    }

    pub(crate) async fn stop(self) {
        self.stopper.stop();
        let late = self.door.stop(PATIENCE).await;
        assert!(late.is_empty(), "{late:?} did not end");
    }
}

/// Settings of a clock with a broker at this place.
pub(crate) fn settings(host: &str, port: u16) -> Settings {
    Settings {
        mqtt_enabled: true,
        mqtt_host: Endpoint::new(host),
        mqtt_port: port.into(),
        ..Settings::default()
    }
}

/// A document.
pub(crate) fn json(payload: &[u8]) -> Map<String, Value> {
    let text = String::from_utf8_lossy(payload).into_owned();
    serde_json::from_slice(payload).unwrap_or_else(|error| panic!("{text}: {error}"))
}
