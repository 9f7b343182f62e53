//! The main loop with the real device, in virtual time, on a disk that can fail or lose power.

use std::time::Duration;

use board::spec;
use chain::{BlockHash, Header, network::Network};
use device::{
    displays::{DisplayChange, DisplayRequest, TokenDigest},
    history::{History, Series, Span},
    input::{Finished, Input, LinkEvent},
    limits::PROVISIONED_DELAY,
    memory::Memory,
    output::{Effect, RebootReason},
    request::{Changed, FrontlightCommand, Patch, Refusal, Reply, Request},
    secret::PasswordHash,
    settings::{Key, Settings, store},
};
use futures_util::{FutureExt, future::join_all};
use lab::sim_disk::{Dice, DiskFault, SharedDisk, SimDisk};
use market::{
    ChainSpec, Connection, HeadersReach, Observation,
    source_id::SourceId,
    units::{Currency, FeeRate, Price},
};
use papertick::{
    chain_file,
    main_loop::{
        InitialState, MainLoop,
        channels::LoopReceivers,
        pending_save::{
            HEADERS_PERIOD, HISTORY_PERIOD, MEMORY_DELAY, MEMORY_PERIOD, SAVE_PAUSE_MAX,
        },
    },
};
use runtime::{
    clock::Clock,
    inbox::{Inbox, inbox},
    tasks::{Stopper, Tasks, stop_signal},
};
use serde_json::{Map, Value, json};
use storage::{
    Store, StoredFile,
    disk::Disk,
    document::Document,
    file::StateFile,
    store_thread::{StoreHandle, StoreWorker},
};
use tokio::{
    sync::watch,
    time::{Instant, sleep, timeout, timeout_at},
};

use crate::miner::Miner;

const SETTINGS: &str = StoredFile::Settings.kind();
const MEMORY: &str = StoredFile::Memory.kind();
const HISTORY: &str = StoredFile::History.kind();

struct LoopRig {
    inbox: Inbox,
    receivers: LoopReceivers,
    disk: SharedDisk,
    store: StoreHandle,
    clock: Clock,
    stopper: Stopper,
    tasks: Tasks,
}

impl LoopRig {
    fn new() -> LoopRig {
        LoopRig::on(SharedDisk::default())
    }

    /// A main loop on the content of a disk.
    fn on(disk: SharedDisk) -> LoopRig {
        Idle::new(disk).run()
    }

    async fn patch(&self, body: Value) -> Reply {
        self.inbox.request(patch(body)).await.unwrap()
    }

    /// Changes credentials, with the hash of a new password.
    async fn change_credentials(&self, body: &Value, hash: Option<(Key, &str)>) {
        let hashes = hash.map(|(key, hash)| (key, PasswordHash::new(hash)));
        let patch = Patch {
            body: body.as_object().unwrap().clone(),
            hashes: hashes.into_iter().collect(),
        };
        let reply = self.inbox.request(Request::Patch(patch)).await.unwrap();
        assert!(reply.is_ok(), "{body}: {reply:?}");
    }

    /// The settings after a restart if the newest generation were damaged.
    fn settings_if_damaged(&self) -> Settings {
        let mut disk = self.disk.look();
        disk.write("settings.json", b"damaged").unwrap();
        let (_, found) = StateFile::open(SETTINGS, &mut disk);
        store::from_json(&found.content.whole().unwrap()).0
    }

    async fn height(&self, height: u32) {
        let observed = Input::Observed(SourceId::Relay, vec![Observation::Block(height)]);
        self.inbox.send(observed).await.unwrap();
    }

    async fn headers(&self, headers: &[Header]) {
        let headers_input = Input::Headers(
            SourceId::Relay.into(),
            headers.to_vec(),
            HeadersReach::Newest,
        );
        self.inbox.settle(headers_input).await.unwrap();
    }

    fn notes(&self) -> String {
        self.receivers.view.borrow().notes.join("; ")
    }

    fn digit_px(&self) -> u32 {
        self.receivers.view.borrow().settings.stored.digit_font_px
    }

    /// Requests a factory reset and wipes the store; returns the reply.
    async fn reset(&mut self) -> Reply {
        let pending = self.inbox.request(Request::FactoryReset);
        tokio::pin!(pending);
        assert!(pending.as_mut().now_or_never().is_none());
        while self.receivers.effects.recv().await != Some(Effect::Wipe) {}
        assert!(
            pending.as_mut().now_or_never().is_none(),
            "no reply before the wipe"
        );
        let outcome = self.store.wipe().await.map_err(|error| error.to_string());
        let wiped = Input::Finished(Finished::Wiped(outcome));
        self.inbox.send(wiped).await.unwrap();
        pending.await.unwrap()
    }

    async fn stop(self) -> SharedDisk {
        drop(self.store);
        self.stopper.stop();
        assert!(self.tasks.stop(Duration::from_secs(60)).await.is_empty());
        self.disk
    }
}

/// A main loop that does not run yet; inputs are queued.
struct Idle {
    inbox: Inbox,
    receivers: LoopReceivers,
    disk: SharedDisk,
    store: StoreHandle,
    worker: StoreWorker,
    clock: Clock,
    main_loop: MainLoop,
}

impl Idle {
    fn new(disk: SharedDisk) -> Idle {
        Idle::with_clock(disk, Clock::unset())
    }

    fn with_clock(disk: SharedDisk, clock: Clock) -> Idle {
        let (store, loaded) = Store::open(Box::new(disk.clone()));
        let settings = loaded
            .settings
            .whole()
            .map_or_else(Settings::default, |map| store::from_json(&map).0);
        let memory = loaded
            .memory
            .whole()
            .map_or_else(Memory::default, |map| Memory::from_json(&map));
        let history = loaded.history.whole();
        let history = history.unwrap_or_default();
        let board = *spec::find("rev-b").unwrap();
        let initial = InitialState::with(board, settings);
        let initial = InitialState {
            memory,
            history: History::from_json(&history, initial.chain.as_ref()),
            ..initial
        };
        Idle::with_state(store, disk, clock, initial)
    }

    fn with_state(store: Store, disk: SharedDisk, clock: Clock, initial: InitialState) -> Idle {
        let (inbox, inputs) = inbox();
        let (store, worker) = StoreHandle::new(store);
        let (main_loop, receivers) = MainLoop::new(initial, clock.clone(), inputs, store.clone());
        Idle {
            inbox,
            receivers,
            disk,
            store,
            worker,
            clock,
            main_loop,
        }
    }

    fn run(self) -> LoopRig {
        let (stopper, stop) = stop_signal();
        let mut tasks = Tasks::new();
        tasks.spawn("main loop", self.main_loop.run(stop));
        tasks.spawn("store", self.worker.run());
        LoopRig {
            inbox: self.inbox,
            receivers: self.receivers,
            disk: self.disk,
            store: self.store,
            clock: self.clock,
            stopper,
            tasks,
        }
    }
}

fn on_regtest() -> (LoopRig, ChainSpec) {
    let chain = ChainSpec::built_in(Network::Regtest);
    let disk = SharedDisk::default();
    let (store, _) = Store::open(Box::new(disk.clone()));
    let initial = InitialState {
        chain: Some(chain),
        ..InitialState::with(*spec::find("rev-b").unwrap(), Settings::default())
    };
    let idle = Idle::with_state(store, disk, Clock::unset(), initial);
    (idle.run(), chain)
}

/// The newest block of the chain on a disk.
fn stored_tip(disk: &SharedDisk, spec: &ChainSpec) -> BlockHash {
    let healthy = SharedDisk::of(disk.look().healthy());
    let (_, loaded) = Store::open(Box::new(healthy));
    let stored = loaded.chain.whole().unwrap();
    chain_file::read(&stored, spec).unwrap().tip()
}

fn patch(body: Value) -> Request {
    let Value::Object(body) = body else {
        unreachable!()
    };
    Request::Patch(Patch {
        body,
        ..Patch::default()
    })
}

/// A stored document on a disk, and how often it was saved.
fn stored(disk: &SimDisk, kind: &'static str) -> Option<(u64, Map<String, Value>)> {
    let mut disk = disk.clone().healthy();
    let bytes = disk.read(&format!("{kind}.json")).unwrap()?;
    let document = Document::decode(kind, &bytes).unwrap();
    Some((document.generation, document.body))
}

#[tokio::test(start_paused = true)]
async fn a_change_is_durable_and_visible_before_it_is_answered() {
    let rig = LoopRig::new();
    for px in [200, 220, 100] {
        assert_eq!(
            rig.patch(json!({"digitFontPx": px})).await,
            Ok(Changed::default())
        );
        assert_eq!(rig.digit_px(), px);
        for seed in 1..50 {
            let mut disk = rig.disk.look().after_power_cut(&mut Dice(seed));
            let (_, found) = StateFile::open(SETTINGS, &mut disk);
            assert_eq!(
                found.content.whole().unwrap()["digitFontPx"],
                px,
                "seed {seed}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn initial_inputs_are_visible_and_saved() {
    let disk = SharedDisk::default();
    let (store, _) = Store::open(Box::new(disk.clone()));
    let initial = InitialState {
        inputs: vec![
            Input::StartupProblem("a word to the owner".into()),
            Input::Request(Request::SetDnd(true)),
            Input::Request(Request::Restart),
        ],
        storage_error: Some("the disk is full".into()),
        ..InitialState::with(*spec::find("rev-b").unwrap(), Settings::default())
    };
    let idle = Idle::with_state(store, disk, Clock::unset(), initial);
    let view = idle.receivers.view.borrow().clone();
    let notes = [
        "a word to the owner",
        "nothing can be stored: the disk is full",
    ];
    assert_eq!(view.notes, notes);
    assert!(view.settings.stored.dnd_enabled);

    let mut rig = idle.run();
    let effect = rig.receivers.effects.recv().await;
    assert_eq!(effect, Some(Effect::Reboot(RebootReason::Requested)));
    let (_, settings) = stored(&rig.disk.look(), SETTINGS).unwrap();
    assert_eq!(settings["dndEnabled"], true);
}

#[tokio::test(start_paused = true)]
async fn a_change_that_cannot_be_saved_is_reverted() {
    let rig = LoopRig::new();
    rig.patch(json!({"digitFontPx": 200})).await.unwrap();
    rig.disk.arrange(1, DiskFault::Error);
    let refused = Err(Refusal::NotStored);
    assert_eq!(rig.patch(json!({"digitFontPx": 220})).await, refused);
    assert_eq!(rig.digit_px(), 200);
    assert_eq!(rig.receivers.picture.borrow().style.digit_px, 200);
    let disk = rig.stop().await;
    let rig = LoopRig::on(disk);
    assert_eq!(rig.digit_px(), 200);
    assert_eq!(
        rig.patch(json!({"digitFontPx": 220})).await,
        Ok(Changed::default())
    );
    assert_eq!(rig.digit_px(), 220);
}

#[tokio::test(start_paused = true)]
async fn a_change_during_a_wipe_is_refused() {
    let rig = LoopRig::new();
    rig.patch(json!({"digitFontPx": 200})).await.unwrap();
    let pending = rig.inbox.request(Request::FactoryReset);
    tokio::pin!(pending);
    assert!(pending.as_mut().now_or_never().is_none());
    let refused = Err(Refusal::Erasing);
    assert_eq!(rig.patch(json!({"digitFontPx": 220})).await, refused);
    assert_eq!(rig.digit_px(), 200);
    let again = rig.inbox.request(Request::FactoryReset).await;
    assert_eq!(again.unwrap(), refused);
    assert!(pending.now_or_never().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_failed_factory_reset_changes_nothing() {
    // The disk fails at each step of the wipe.
    for step in 1..=40 {
        let mut rig = LoopRig::new();
        rig.patch(json!({"digitFontPx": 200})).await.unwrap();
        rig.patch(json!({"digitFontPx": 210})).await.unwrap();
        rig.disk.arrange(step, DiskFault::Error);
        let reply = rig.reset().await;
        if reply == Ok(Changed::default()) {
            assert!(stored(&rig.disk.look(), SETTINGS).is_none());
            continue;
        }
        assert_eq!(reply, Err(Refusal::NotErased), "step {step}");
        let view = rig.receivers.view.borrow().clone();
        assert_eq!(
            (view.mode, view.settings.stored.digit_font_px),
            ("splash", 210)
        );
        assert!(view.notes[0].contains("factory reset"), "{:?}", view.notes);
        let rig = LoopRig::on(rig.stop().await);
        assert_eq!(rig.digit_px(), 210, "step {step}");
        assert_eq!(
            rig.patch(json!({"digitFontPx": 220})).await,
            Ok(Changed::default())
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_read_only_disk_refuses_changes_and_is_reported() {
    let mut rig = LoopRig::new();
    rig.patch(json!({"digitFontPx": 200})).await.unwrap();
    rig.disk.arrange(1, DiskFault::ReadOnly);
    let refused = Err(Refusal::NotStored);
    assert_eq!(rig.patch(json!({"digitFontPx": 220})).await, refused);
    assert_eq!(rig.reset().await, Err(Refusal::NotErased));
    let notes = rig.receivers.view.borrow().notes.join("; ");
    assert!(
        notes.contains("nothing can be stored: read-only"),
        "{notes}"
    );
    rig.height(900_000).await;
    sleep(MEMORY_PERIOD * 3).await;
    assert_eq!(rig.digit_px(), 200);

    rig.disk.heal();
    assert_eq!(
        rig.patch(json!({"digitFontPx": 220})).await,
        Ok(Changed::default())
    );
    let notes = rig.receivers.view.borrow().notes.join("; ");
    assert!(!notes.contains("nothing can be stored"), "{notes}");
}

#[tokio::test(start_paused = true)]
async fn older_generations_never_have_a_weaker_login() {
    let interface = json!({"httpAuthEnabled": true, "httpAuthPass": "horse"});
    let updates = json!({"otaPass": "horse"});
    type HashOf = fn(&Settings) -> &PasswordHash;
    let cases: [(Value, Key, HashOf); 2] = [
        (interface, Key::http_auth_pass, |settings| {
            &settings.http_auth_pass
        }),
        (updates, Key::ota_pass, |settings| &settings.ota_pass),
    ];
    for (body, key, hash_of) in cases {
        let rig = LoopRig::new();
        rig.patch(json!({"digitFontPx": 200})).await.unwrap();
        rig.change_credentials(&body, Some((key, "hash"))).await;
        let settings = rig.settings_if_damaged();
        assert_eq!(hash_of(&settings).phc(), "hash", "{body}");
        assert_eq!(
            settings.http_auth_enabled,
            key == Key::http_auth_pass,
            "{body}"
        );
        assert_eq!(settings.digit_font_px, 200);
    }
}

#[tokio::test(start_paused = true)]
async fn older_generations_have_no_old_credentials() {
    let pass = Key::http_auth_pass;
    for (body, hash, expected) in [
        (json!({"httpAuthUser": "new"}), None, ("new", "old hash")),
        (
            json!({"httpAuthPass": "new"}),
            Some((pass, "new hash")),
            ("old", "new hash"),
        ),
    ] {
        let rig = LoopRig::new();
        let closing =
            json!({"httpAuthEnabled": true, "httpAuthUser": "old", "httpAuthPass": "old"});
        rig.change_credentials(&closing, Some((pass, "old hash")))
            .await;
        rig.patch(json!({"digitFontPx": 200})).await.unwrap();
        rig.change_credentials(&body, hash).await;
        let settings = rig.settings_if_damaged();
        let login = (
            settings.http_auth_user.as_str(),
            settings.http_auth_pass.phc(),
        );
        assert_eq!(login, expected, "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn older_generations_have_no_removed_display() {
    let rig = LoopRig::new();
    let add = DisplayRequest::Add(TokenDigest::new([7; 32]), [7; 16], DisplayChange::default());
    let added = rig.inbox.request(Request::Display(add)).await.unwrap();
    assert_eq!(added, Ok(Changed::default()));
    rig.patch(json!({"digitFontPx": 200})).await.unwrap();
    let [added] = &rig.settings_if_damaged().displays[..] else {
        panic!("not added");
    };
    let remove = Request::Display(DisplayRequest::Remove(added.id.clone()));
    assert_eq!(
        rig.inbox.request(remove).await.unwrap(),
        Ok(Changed::default())
    );
    assert_eq!(rig.settings_if_damaged().displays, []);
}

#[tokio::test(start_paused = true)]
async fn a_factory_reset_that_fails_halfway_keeps_memory_and_headers() {
    for step in 1..=40 {
        let (mut rig, spec) = on_regtest();
        let miner = Miner::with(3);
        rig.headers(&miner.headers[1..]).await;
        let known = Observation::Fee(FeeRate::whole(4).unwrap());
        let known = Input::Observed(SourceId::Relay, vec![known]);
        rig.inbox.settle(known).await.unwrap();
        sleep(MEMORY_PERIOD).await;
        let before = stored(&rig.disk.look(), MEMORY).unwrap().1;
        rig.disk.arrange(step, DiskFault::Error);
        if rig.reset().await == Ok(Changed::default()) {
            assert!(step > 1, "the first step is refused");
            continue;
        }
        rig.disk.heal();
        sleep(HEADERS_PERIOD).await;
        let after = stored(&rig.disk.look(), MEMORY).unwrap().1;
        assert_eq!(after["fee"]["value"], before["fee"]["value"], "step {step}");
        assert_eq!(stored_tip(&rig.disk, &spec), miner.tip(), "step {step}");
    }
}

#[tokio::test(start_paused = true)]
async fn settings_lost_in_a_failed_reset_are_reported() {
    let mut rig = LoopRig::new();
    rig.patch(json!({"digitFontPx": 200})).await.unwrap();
    rig.disk.arrange(1, DiskFault::ReadOnly);
    assert_eq!(rig.reset().await, Err(Refusal::NotErased));
    let notes = rig.notes();
    assert!(
        notes.contains("nothing can be stored: read-only"),
        "{notes}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_forgotten_network_restarts_the_clock_even_if_the_disk_fails() {
    let mut rig = LoopRig::new();
    let provisioned = LinkEvent::Provisioned;
    rig.inbox.settle(Input::Linked(provisioned)).await.unwrap();
    rig.disk.arrange(1, DiskFault::Error);
    let forgotten = Input::Finished(Finished::Forgotten(Ok(())));
    rig.inbox.settle(forgotten).await.unwrap();
    assert!(rig.receivers.view.borrow().settings.stored.wifi_configured);
    let effect = rig.receivers.effects.recv().await;
    assert_eq!(effect, Some(Effect::Reboot(RebootReason::WifiReset)));
    let notes = rig.receivers.view.borrow().notes.join("; ");
    assert!(notes.contains("nothing can be stored"), "{notes}");
}

/// A refused change in the round of a planned restart must not drop the restart.
#[tokio::test(start_paused = true)]
async fn a_refused_change_does_not_drop_due_effects() {
    let mut rig = LoopRig::new();
    let provisioned = LinkEvent::Provisioned;
    rig.inbox.settle(Input::Linked(provisioned)).await.unwrap();
    rig.disk.arrange(1, DiskFault::ReadOnly);
    sleep(PROVISIONED_DELAY).await;
    let refused = Err(Refusal::NotStored);
    assert_eq!(rig.patch(json!({"digitFontPx": 220})).await, refused);
    let effect = timeout(Duration::from_secs(1), rig.receivers.effects.recv()).await;
    let reboot = Effect::Reboot(RebootReason::Provisioned);
    assert_eq!(effect, Ok(Some(reboot)));
}

#[tokio::test(start_paused = true)]
async fn changes_in_one_round_share_one_save() {
    let rig = LoopRig::new();
    let all = (80..=179).map(|px| rig.patch(json!({"digitFontPx": px})));
    assert!(
        join_all(all)
            .await
            .iter()
            .all(|reply| *reply == Ok(Changed::default()))
    );
    let (saves, body) = stored(&rig.disk.look(), SETTINGS).unwrap();
    assert_eq!(saves, 1);
    assert_eq!(body["digitFontPx"], 179);
}

#[tokio::test(start_paused = true)]
async fn an_effect_starts_after_the_reply() {
    let mut rig = LoopRig::new();
    let pending = rig.inbox.request(Request::Restart);
    tokio::pin!(pending);
    assert!(pending.as_mut().now_or_never().is_none());
    let effect = rig.receivers.effects.recv().await;
    assert_eq!(effect, Some(Effect::Reboot(RebootReason::Requested)));
    assert_eq!(pending.now_or_never(), Some(Ok(Ok(Changed::default()))));
}

#[tokio::test(start_paused = true)]
async fn the_memory_is_saved_at_most_once_a_minute() {
    let rig = LoopRig::new();
    rig.height(900_000).await;
    sleep(MEMORY_DELAY + Duration::from_secs(1)).await;
    assert_eq!(stored(&rig.disk.look(), MEMORY).unwrap().0, 1);
    for height in 900_001..900_300 {
        rig.height(height).await;
        sleep(Duration::from_secs(1)).await;
    }
    let (saves, _) = stored(&rig.disk.look(), MEMORY).unwrap();
    assert!((4..=6).contains(&saves), "{saves} saves in five minutes");
    // The next save would be due only later.
    sleep(MEMORY_PERIOD + MEMORY_DELAY).await;
    rig.height(900_300).await;
    sleep(MEMORY_DELAY + Duration::from_secs(1)).await;
    rig.height(900_301).await;
    sleep(Duration::from_secs(1)).await;
    let (_, body) = stored(&rig.disk.look(), MEMORY).unwrap();
    assert_eq!(body["height"]["value"], 900_300, "the newest is not due");
    let disk = rig.stop().await;
    let (_, body) = stored(&disk.look(), MEMORY).unwrap();
    assert_eq!(
        body["height"]["value"], 900_301,
        "the newest is saved at the end"
    );

    let rig = LoopRig::on(disk);
    let height = rig.receivers.view.borrow().market.height.clone();
    assert_eq!(height.map(|height| height.value), Some(900_301));
}

#[tokio::test(start_paused = true)]
async fn a_failed_save_of_the_memory_has_no_other_effect() {
    let rig = LoopRig::new();
    rig.disk.arrange(1, DiskFault::Error);
    rig.height(900_000).await;
    sleep(MEMORY_DELAY + Duration::from_secs(1)).await;
    let notes = rig.notes();
    assert!(notes.contains("nothing can be stored"), "{notes}");
    sleep(MEMORY_PERIOD).await;
    assert_eq!(rig.notes(), "", "the next save has succeeded");
    assert_eq!(
        rig.patch(json!({"digitFontPx": 200})).await,
        Ok(Changed::default())
    );
    rig.height(900_001).await;
    sleep(MEMORY_PERIOD + MEMORY_DELAY).await;
    let (_, body) = stored(&rig.disk.look(), MEMORY).unwrap();
    assert_eq!(body["height"]["value"], 900_001);
}

#[tokio::test(start_paused = true)]
async fn the_headers_are_saved() {
    let (rig, spec) = on_regtest();
    let mut miner = Miner::with(3);
    rig.headers(&miner.headers[1..]).await;
    sleep(MEMORY_DELAY + Duration::from_secs(1)).await;
    assert_eq!(stored_tip(&rig.disk, &spec), miner.tip());
    // A failed save is reported, and retried.
    rig.disk.arrange(1, DiskFault::ReadOnly);
    miner.mine(1);
    rig.headers(&miner.headers[4..]).await;
    sleep(HEADERS_PERIOD).await;
    let notes = rig.notes();
    assert!(notes.contains("nothing can be stored"), "{notes}");
    rig.disk.heal();
    sleep(HEADERS_PERIOD).await;
    assert_eq!(stored_tip(&rig.disk, &spec), miner.tip());
    assert_eq!(rig.notes(), "");
    // The last headers are saved at the end.
    miner.mine(1);
    rig.headers(&miner.headers[5..]).await;
    let disk = rig.stop().await;
    assert_eq!(stored_tip(&disk, &spec), miner.tip());
}

#[tokio::test(start_paused = true)]
async fn the_history_is_saved_every_ten_minutes_and_at_the_end() {
    const START: i64 = 1_776_000_000_000;
    let clock = Clock::unset();
    clock.set(START - 1000);
    let rig = Idle::with_clock(SharedDisk::default(), clock).run();
    for price in [60_000, 61_000, 62_000] {
        let price = Observation::Price(Currency::USD, Price::parse(&price.to_string()).unwrap());
        let observed = Input::Observed(SourceId::Relay, vec![price]);
        rig.inbox.settle(observed).await.unwrap();
        sleep(HISTORY_PERIOD).await;
    }
    sleep(Duration::from_secs(2)).await;
    let (saves, _) = stored(&rig.disk.look(), HISTORY).unwrap();
    assert_eq!(saves, 3, "the newest values are not due");
    let clock = Clock::unset();
    clock.set(START + 30 * 60_000);
    let idle = Idle::with_clock(rig.stop().await, clock);
    let view = idle.receivers.view.borrow();
    let values = view.history.values(Series::Price(Currency::USD), Span::Day);
    let values: Vec<_> = values
        .map(|(_, value)| value.map(|value| value / 1_000_000))
        .collect();
    let expected = [60_000, 61_000, 62_000, 62_000].map(Some);
    assert_eq!(values, expected, "the newest values are saved at the end");
}

#[tokio::test(start_paused = true)]
async fn saves_on_a_full_disk_back_off() {
    let disk = SharedDisk::of(SimDisk::default().recording());
    let rig = LoopRig::on(disk);
    rig.disk.arrange(1, DiskFault::ReadOnly);
    let height = |minute: u32| 900_000 + minute;
    for minute in 0..8 * 60 {
        rig.height(height(minute)).await;
        sleep(Duration::from_secs(60)).await;
    }
    let looked = rig.disk.look();
    let tries = looked.recorded().iter();
    let tries = tries
        .filter(|step| step.starts_with("write memory"))
        .count();
    assert!((10..=16).contains(&tries), "{tries} tries in eight hours");
    // After a success the usual schedule applies again.
    rig.disk.heal();
    rig.height(height(480)).await;
    sleep(SAVE_PAUSE_MAX).await;
    for minute in [481, 482] {
        rig.height(height(minute)).await;
        sleep(MEMORY_PERIOD + MEMORY_DELAY).await;
        let (_, body) = stored(&rig.disk.look(), MEMORY).unwrap();
        assert_eq!(body["height"]["value"], height(minute));
    }
}

#[tokio::test(start_paused = true)]
async fn a_factory_reset_leaves_nothing_on_the_disk() {
    let mut rig = LoopRig::new();
    rig.patch(json!({"proxyPass": "MARKED-SECRET"}))
        .await
        .unwrap();
    rig.height(900_000).await;
    assert_eq!(rig.reset().await, Ok(Changed::default()));
    rig.height(900_001).await;
    let disk = rig.stop().await.look();
    assert!(stored(&disk, SETTINGS).is_none());
    assert!(stored(&disk, MEMORY).is_none());
    assert!(!disk.holds("MARKED-SECRET"));
}

#[tokio::test(start_paused = true)]
async fn the_loop_ticks_at_deadlines() {
    let rig = LoopRig::new();
    rig.patch(json!({"timePerScreen": 1})).await.unwrap();
    let before = rig.receivers.view.borrow().current_screen;
    sleep(Duration::from_secs(61)).await;
    assert_ne!(rig.receivers.view.borrow().current_screen, before);
}

#[tokio::test(start_paused = true)]
async fn a_flash_of_the_frontlight_has_a_limited_frame_rate() {
    let mut rig = LoopRig::new();
    sleep(Duration::from_secs(4)).await;
    let lit = rig.receivers.frontlight.borrow_and_update().clone();
    let flash = Request::Frontlight(FrontlightCommand::Flash);
    rig.inbox.request(flash).await.unwrap().unwrap();
    let end = Instant::now() + Duration::from_millis(650);
    let mut frames = 0;
    while let Ok(changed) = timeout_at(end, rig.receivers.frontlight.changed()).await {
        changed.unwrap();
        let duties = rig.receivers.frontlight.borrow_and_update().clone();
        let seen = rig.receivers.view.borrow().frontlight.clone().unwrap();
        assert_eq!(seen.duties, duties, "frame {frames}");
        frames += 1;
    }
    // The flash has 306 steps in 612 ms, and is dark for a quarter of that time.
    assert_eq!(*rig.receivers.frontlight.borrow(), lit);
    assert!((25..=45).contains(&frames), "{frames} frames");
}

#[tokio::test(start_paused = true)]
async fn a_step_of_the_wall_clock_is_seen_at_once() {
    let rig = LoopRig::new();
    rig.inbox
        .request(Request::ShowScreen(3))
        .await
        .unwrap()
        .unwrap();
    let blank = rig.receivers.view.borrow().data.clone();
    rig.clock.set(1_767_225_600_000);
    sleep(Duration::from_millis(5)).await;
    assert_ne!(rig.receivers.view.borrow().data, blank);
}

#[tokio::test(start_paused = true)]
async fn prices_are_stale_right_after_a_suspend() {
    const NIGHT: Duration = Duration::from_secs(8 * 3600);
    let (sleeps, asleep) = watch::channel(Duration::ZERO);
    let clock = Clock::with_sleep(asleep);
    let mut rig = Idle::with_clock(SharedDisk::default(), clock.clone()).run();
    rig.tasks.spawn("host's clock", clock.clone().follow_host());
    clock.set(1_767_225_600_000);
    let usd = Currency::USD;
    let price = Observation::Price(usd, Price::parse("95000").unwrap());
    let observed = Input::Observed(SourceId::Relay, vec![price]);
    rig.inbox.send(observed).await.unwrap();
    rig.inbox
        .request(Request::ShowCurrency(usd))
        .await
        .unwrap()
        .unwrap();
    rig.inbox
        .request(Request::ShowScreen(20))
        .await
        .unwrap()
        .unwrap();
    assert!(!rig.receivers.view.borrow().stale);
    sleep(Duration::from_secs(60)).await;
    assert!(!rig.receivers.view.borrow().stale);

    let woken = Instant::now();
    sleeps.send_replace(NIGHT);
    let old = rig.receivers.view.wait_for(|view| view.stale);
    timeout(Duration::from_secs(3600), old)
        .await
        .unwrap()
        .unwrap();
    assert!(
        woken.elapsed() < Duration::from_millis(10),
        "{:?}",
        woken.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn an_idle_loop_sleeps() {
    let rig = LoopRig::new();
    let rounds = async || rig.receivers.liveness.rounds().await.unwrap();
    // With all sources connected no light blinks.
    let up = LinkEvent::Up {
        ip: "192.0.2.1".into(),
        ssid: None,
    };
    rig.inbox.send(Input::Linked(up)).await.unwrap();
    let connected = Observation::Connection(Connection::Up);
    rig.inbox
        .send(Input::Observed(SourceId::Relay, vec![connected]))
        .await
        .unwrap();
    rig.height(900_000).await;
    rig.inbox
        .send(Input::Finished(Finished::Painted(u64::MAX)))
        .await
        .unwrap();
    sleep(Duration::from_secs(60)).await;
    let before = rounds().await;
    for _ in 0..600 {
        sleep(Duration::from_secs(1)).await;
        rounds().await;
    }
    let turned = rounds().await - before;
    assert!(turned <= 3, "{turned} rounds in ten idle minutes");
}
