//! Factory resets from the request to the last file: everything is erased, or the clock continues and reports why not.

use std::{fs, path::Path, time::Duration};

use device::{
    input::{Contacts, Input},
    output::Effect,
    request::{Changed, Refusal, Reply, Request},
    secret::Secret,
};
use papertick::effects::EffectExecutor;
use runtime::tasks::Tasks;
use tokio::{
    sync::{Notify, mpsc},
    time::{sleep, timeout},
};
use wifi::{ProvisionFailure, secrets};

use crate::radio::RadioRig;

/// Longer than the radio needs to try or to forget credentials.
const LONG: Duration = Duration::from_secs(60);

/// Names in a folder, except the file of networks in range.
fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name != "air").collect();
    names.sort();
    names
}

/// Replaces a file by a folder, which cannot be removed as a file.
fn put_folder_at(path: &Path) {
    let _ = fs::remove_file(path);
    fs::create_dir(path).unwrap();
}

/// Performs effects until a restart is requested.
async fn until_restart(executor: &EffectExecutor, effects: &mut mpsc::Receiver<Effect>) {
    let restart = Notify::new();
    tokio::select! {
        biased;
        () = restart.notified() => {}
        () = executor.run(effects, &restart) => {}
    }
}

/// Requests a factory reset while effects are performed; returns the reply.
async fn reset(rig: &mut RadioRig) -> Reply {
    let pending = rig.inbox.request(Request::FactoryReset);
    let effects = &mut rig.receivers.effects;
    tokio::select! {
        reply = timeout(LONG, pending) => reply.expect("an answer in time").unwrap(),
        () = until_restart(&rig.executor, effects) => panic!("the clock restarts before the reply"),
    }
}

#[tokio::test(start_paused = true)]
async fn everything_is_erased_before_the_reply() {
    let mut rig = RadioRig::provisioned().await;
    rig.until("connected").await;
    let folder = rig.folder.path().to_path_buf();
    secrets::password(&folder).unwrap();
    fs::create_dir(folder.join("logos")).unwrap();
    fs::write(folder.join("logos/pool.bin"), "a picture").unwrap();
    for name in ["coredump.dmp", "coredump.dmp.part"] {
        fs::write(folder.join(name), "a dump").unwrap();
    }
    // Left over by a run that ended while it stored the credentials.
    fs::write(folder.join("wifi.new"), "correct horse").unwrap();
    assert_eq!(reset(&mut rig).await, Ok(Changed::default()));
    assert_eq!(files(&folder), ["logos"]);
    assert_eq!(files(&folder.join("logos")), Vec::<String>::new());
    assert!(!rig.disk.look().holds("wifiConfigured"));
    rig.restart().until("access-point").await;
}

#[tokio::test(start_paused = true)]
async fn credentials_that_are_being_tried_are_erased_too() {
    // At every stage of the attempt, which takes 800 ms.
    for waits_ms in [0, 1, 400, 799, 800, 801, 900] {
        let mut rig = RadioRig::new();
        rig.until("access-point").await;
        let radio = rig.radio.clone();
        let password = Secret::new("correct horse");
        let attempt = radio.provision("Home".to_string(), password, None);
        let resetting = async {
            sleep(Duration::from_millis(waits_ms)).await;
            reset(&mut rig).await
        };
        let (ended, reply) = tokio::join!(attempt, resetting);
        assert_eq!(reply, Ok(Changed::default()));
        let aborted = ended == Err(ProvisionFailure::Gone);
        assert!(
            aborted || ended.is_ok() && waits_ms >= 799,
            "{waits_ms} ms: {ended:?}"
        );
        let late = rig.provision("correct horse").await;
        assert_eq!(late, Err(ProvisionFailure::Gone), "{waits_ms} ms");
        sleep(LONG).await;
        assert_eq!(
            files(rig.folder.path()),
            Vec::<String>::new(),
            "{waits_ms} ms"
        );
        assert!(!rig.disk.look().holds("wifiConfigured"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_wipe_is_reported_and_the_clock_continues() {
    for busy in [false, true] {
        let mut rig = RadioRig::new();
        rig.until("access-point").await;
        put_folder_at(&rig.folder.path().join("wifi"));
        let (radio, mut tasks) = (rig.radio.clone(), Tasks::new());
        if busy {
            tasks.spawn("attempt", async move {
                let password = Secret::new("wrong");
                let outcome = radio.provision("Home".to_string(), password, None).await;
                assert_eq!(outcome, Err(ProvisionFailure::Gone));
            });
            rig.until("connecting").await;
        }
        assert_eq!(reset(&mut rig).await, Err(Refusal::NotErased));
        assert!(tasks.ended().await.is_none_or(|ended| !ended.panicked));
        let view = rig.until("access-point").await;
        assert_eq!(view.mode, "portal");
        let note = &view.notes[0];
        assert!(
            note.contains("factory reset") && note.contains("/wifi: "),
            "{note}"
        );
        assert!(rig.bench.state().access_point.is_some());
        assert!(
            rig.disk.look().holds("wifiConfigured"),
            "the settings are unchanged"
        );
        // It works after the obstacle was removed.
        fs::remove_dir(rig.folder.path().join("wifi")).unwrap();
        assert_eq!(reset(&mut rig).await, Ok(Changed::default()));
    }
}

#[tokio::test(start_paused = true)]
async fn parts_that_cannot_be_erased_are_reported() {
    for (file, what) in [
        ("coredump.dmp", "the dump of a crash"),
        ("access-point", "the access point's password"),
    ] {
        let mut rig = RadioRig::new();
        rig.until("access-point").await;
        put_folder_at(&rig.folder.path().join(file));
        assert_eq!(reset(&mut rig).await, Err(Refusal::NotErased));
        let view = rig.until("access-point").await;
        assert!(view.notes[0].contains(what), "{file}: {:?}", view.notes);
        assert!(
            rig.disk.look().holds("wifiConfigured"),
            "the settings are unchanged"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_radio_that_never_answers_does_not_block_the_clock() {
    let mut rig = RadioRig::new();
    rig.until("access-point").await;
    let (radio, _unserved) = wifi::radio();
    rig.executor.radio = radio;
    assert_eq!(reset(&mut rig).await, Err(Refusal::NotErased));
    let view = rig.until("access-point").await;
    let note = &view.notes[0];
    assert!(note.contains("the radio does not answer"), "{note}");
    assert_eq!(view.mode, "portal");
}

#[tokio::test(start_paused = true)]
async fn a_network_that_cannot_be_forgotten_is_reported() {
    let mut rig = RadioRig::provisioned().await;
    rig.until("connected").await;
    put_folder_at(&rig.folder.path().join("wifi"));
    let pressed = Contacts {
        down: 1,
        at: Duration::ZERO,
    };
    rig.inbox
        .send(Input::ButtonsAtPowerOn(pressed))
        .await
        .unwrap();
    let running = until_restart(&rig.executor, &mut rig.receivers.effects);
    let outcome = timeout(LONG, running).await;
    assert!(outcome.is_err(), "the clock does not restart");
    let view = rig.receivers.view.borrow().clone();
    assert!(view.notes[0].contains("not forgotten"), "{:?}", view.notes);
    assert!(view.settings.stored.wifi_configured);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_erased_before_a_restart() {
    let mut rig = RadioRig::provisioned().await;
    rig.until("connected").await;
    let before = files(rig.folder.path());
    let restart = Notify::new();
    let requests = async {
        assert_eq!(
            rig.inbox.request(Request::Restart).await.unwrap(),
            Ok(Changed::default())
        );
        restart.notified().await;
        let reply = timeout(LONG, rig.inbox.request(Request::FactoryReset)).await;
        let pressed = Contacts {
            down: 1,
            at: Duration::ZERO,
        };
        rig.inbox
            .send(Input::ButtonsAtPowerOn(pressed))
            .await
            .unwrap();
        sleep(LONG).await;
        reply.expect("an answer in time").unwrap()
    };
    let reply = tokio::select! {
        reply = requests => reply,
        () = rig.executor.run(&mut rig.receivers.effects, &restart) => panic!("the executor has ended"),
    };
    assert_eq!(reply, Err(Refusal::NotErased));
    assert_eq!(files(rig.folder.path()), before);
    let view = rig.receivers.view.borrow().clone();
    let note = &view.notes[0];
    assert!(note.contains("restarting"), "{note}");
    assert!(
        rig.restart()
            .until("connected")
            .await
            .settings
            .stored
            .wifi_configured
    );
}
