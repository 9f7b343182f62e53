//! One device going on where another ends: nobody waits, nobody is turned away, and whoever breaks off on the way harms
//! nobody.

use std::{
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread::{self, sleep},
    time::Duration,
};

use papertick::updates::{
    record,
    slots::{ImageSlot, Standing},
};
use rustix::process::{Pid, Signal, kill_process};
use storage::disk::Folder;

use crate::{
    clock::{Clock, PATIENCE, ends_in_time, eventually, folder, is_alive},
    programs::{NEW, as_device, firmware, install, settled, working},
    updating::Shop,
};

/// A device that does something else as a standby.
fn as_standby(instead: &str) -> String {
    as_device(&format!(
        "case \"$2\" in *AsStandby*) {instead};; esac\nexec {} \"$@\"",
        env!("CARGO_BIN_EXE_papertick")
    ))
}

/// Answers that a client wants, however slow the machine is.
const ANSWERS_MIN: u32 = 6;

/// A client that keeps its connection for as long as it may.
fn ask_on_one_connection(clock: &Clock, over: &AtomicBool) {
    let mut answers = 0;
    let connect = || {
        let stream = TcpStream::connect(clock.address()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    };
    let mut stream = connect();
    while answers < ANSWERS_MIN || !over.load(Ordering::Relaxed) {
        let request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
        let mut head = Vec::new();
        let sent = stream.write_all(request);
        let mut chunk = [0; 4096];
        if let (Ok(()), Ok(read @ 1..)) = (sent, stream.read(&mut chunk)) {
            head.extend_from_slice(&chunk[..read]);
            let text = String::from_utf8_lossy(&head).to_lowercase();
            assert!(text.starts_with("http/1.1 200"), "{text}");
            answers += 1;
            if !text.contains("connection: close") {
                sleep(Duration::from_millis(5));
                continue;
            }
        }
        // It was asked to come again, or met the end of a connection on which nothing was under way.
        stream = connect();
    }
}

/// What a client that follows is told until the end of its stream.
fn follow(clock: &Clock) -> impl FnOnce() -> String + Send + use<> {
    let mut stream = clock.follow();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    move || {
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }
}

#[test]
fn nobody_is_turned_away_by_a_restart_or_an_update() {
    let shop = Shop::new();
    let clock = shop.clock();
    let image = shop.image("4.9.0", &working());
    for is_update in [false, true] {
        let before = clock.device();
        let streams: Vec<_> = (0..3).map(|_| thread::spawn(follow(&clock))).collect();
        let over = AtomicBool::new(false);
        let (clock, over) = (&clock, &over);
        let (each_time, were_two) = thread::scope(|scope| {
            let each_time = scope.spawn(move || {
                let mut answers = 0;
                while answers < ANSWERS_MIN || !over.load(Ordering::Relaxed) {
                    assert_eq!(clock.get("/api/status").status, 200);
                    // What is stored is stored once the answer is there, whoever gives it.
                    let body = format!(r#"{{"digitFontPx": {}}}"#, 180 + answers % 30);
                    assert_eq!(clock.patch(&body).status, 200);
                    answers += 1;
                }
                answers
            });
            let kept = scope.spawn(move || ask_on_one_connection(clock, over));
            match is_update {
                true => drop(clock.upload(&image)),
                false => drop(clock.send("POST", "/api/restart", "").unwrap()),
            }
            let mut were_two = false;
            eventually("another device runs", || {
                let devices = clock.devices();
                were_two |= devices.first() == Some(&before) && devices.len() == 2;
                devices.first().is_some_and(|device| *device != before)
            });
            assert_eq!(clock.get("/readyz").status, 200);
            over.store(true, Ordering::Relaxed);
            kept.join().unwrap();
            (each_time.join().unwrap(), were_two)
        });
        assert!(were_two, "one stood by while the other served");
        let stored = clock.setting("digitFontPx");
        assert_eq!(stored, 180 + (each_time - 1) % 30, "what was stored last");
        for stream in streams {
            let told = stream.join().unwrap();
            assert!(told.contains("data: closing"), "{told}");
        }
        assert!(!is_alive(before));
        let status = clock.get("/api/status").json();
        assert_eq!(status["notes"], serde_json::json!([]), "{status}");
    }
    assert_eq!(firmware(&clock)["version"], "4.9.0");
}

/// Asks for a restart, waits for the standby and for a moment more.
fn with_standby(clock: &Clock, moment: Duration) -> (Pid, Option<Pid>) {
    let device = clock.device();
    clock.send("POST", "/api/restart", "").unwrap();
    let mut standby = None;
    eventually("one stands by", || {
        standby = clock
            .devices()
            .into_iter()
            .find(|process| *process != device);
        standby.is_some()
    });
    sleep(moment);
    (device, standby)
}

/// From before it is prepared until after it has taken over.
const MOMENTS: [u64; 6] = [0, 10, 50, 300, 600, 900];

#[test]
fn a_standby_may_be_killed_at_any_moment() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    for (round, moment) in (0..).zip(MOMENTS) {
        let stored = 190 + round;
        clock.patch(&format!(r#"{{"digitFontPx": {stored}}}"#));
        let (device, standby) = with_standby(&clock, Duration::from_millis(moment));
        // It may have gone by itself where the machine is slow.
        let _ = kill_process(standby.unwrap(), Signal::KILL);
        eventually("another device runs", || {
            let devices = clock.devices();
            devices.len() == 1 && devices[0] != device && Some(devices[0]) != standby
        });
        assert_eq!(clock.setting("digitFontPx"), stored, "{moment}");
        let status = clock.get("/api/status").json();
        assert_eq!(status["safeMode"], serde_json::Value::Null, "{moment}");
        assert!(!is_alive(device), "{moment}");
    }
    let (status, _) = clock.end(Signal::TERM);
    assert!(status.success());
}

#[test]
fn a_clock_with_a_standby_ends_as_fast_as_any() {
    let end_at = |moment| {
        let folder = folder();
        let clock = Clock::start(folder.path());
        let supervisor = clock.supervisor();
        let (device, standby) = with_standby(&clock, Duration::from_millis(moment));
        let (status, took) = clock.end(Signal::TERM);
        assert!(status.success(), "{moment}: {status}");
        for process in [supervisor, device, standby.unwrap()] {
            assert!(!is_alive(process), "{moment}");
        }
        took
    };
    for moment in MOMENTS {
        ends_in_time(&moment.to_string(), || end_at(moment));
    }
}

#[test]
fn both_end_with_a_supervisor_that_is_killed() {
    for moment in MOMENTS {
        let folder = folder();
        let clock = Clock::start(folder.path());
        let (device, standby) = with_standby(&clock, Duration::from_millis(moment));
        kill_process(clock.supervisor(), Signal::KILL).unwrap();
        eventually("both end", || {
            !is_alive(device) && !is_alive(standby.unwrap())
        });
        let next = Clock::start(folder.path());
        assert_eq!(next.get("/api/status").status, 200);
    }
}

/// Starts of the program in a slot without a verdict; none where it is not on trial.
fn trial_starts(data_dir: &Path, slot: ImageSlot) -> Option<u64> {
    let slots = record::look(&mut Folder::new(data_dir));
    match slots.get(slot)?.standing {
        Standing::Trial { starts } => Some(starts),
        Standing::Proven | Standing::Failed => None,
    }
}

#[test]
fn a_trial_is_counted_once_however_it_begins() {
    for (what, program) in [
        ("beside the one before it", working()),
        ("after it, for it cannot stand by", as_standby("exit 1")),
    ] {
        let shop = Shop::new();
        let patient = ["--trial-seconds", "3600"];
        let clock = Clock::start_with(shop.path(), &patient);
        assert_eq!(clock.upload(&shop.image("4.9.0", &program)).status, 200);
        eventually("it runs", || firmware(&clock)["version"] == "4.9.0");
        eventually(what, || trial_starts(shop.path(), ImageSlot::A) > Some(0));
        assert_eq!(trial_starts(shop.path(), ImageSlot::A), Some(1), "{what}");
    }
}

#[test]
fn a_new_program_that_breaks_off_as_it_takes_over_is_gone_back_from() {
    for (instead, reason) in [
        ("echo standby; sleep 0.2; exit 70", "exit status: 70"),
        ("echo standby; sleep 1; exit 70", "exit status: 70"),
        ("echo standby; sleep 1; kill -SEGV $$", "signal: 11"),
    ] {
        let shop = Shop::new();
        let clock = shop.clock();
        let image = shop.image("4.9.0", &as_standby(instead));
        assert_eq!(clock.upload(&image).status, 200);
        eventually("the one before it runs again", || {
            let answer = clock.send("GET", "/api/system/status", "");
            answer.is_ok_and(|answer| {
                let firmware = &answer.json()["firmware"];
                let failure = firmware["lastFailure"].as_str().unwrap_or_default();
                failure.contains("4.9.0 was given up") && failure.contains(reason)
            })
        });
        assert_eq!(firmware(&clock)["running"], "factory", "{instead}");
    }
}

/// What a program of protocol 2 does in the place of this one: it knows nothing of standbys.
fn of_protocol_2() -> String {
    as_device(&format!(
        "config=$(printf %s \"$2\" | sed 's/\"protocol\":[0-9]*/\"protocol\":2/; s/,\"begin\":\"[A-Za-z]*\"//')\n\
         exec {} device \"$config\"",
        env!("CARGO_BIN_EXE_papertick")
    ))
}

#[test]
fn a_program_from_before_there_were_standbys_is_started_again_all_the_same() {
    let folder = folder();
    install(
        folder.path(),
        ImageSlot::A,
        "4.8.0",
        &of_protocol_2(),
        Standing::Proven,
    );
    let clock = Clock::start_with(folder.path(), &["--trial-seconds", "1"]);
    settled(folder.path());
    // It ends by itself, and another one is started.
    let device = clock.device();
    clock.send("POST", "/api/restart", "").unwrap();
    eventually("another device runs", || clock.device() != device);
    assert_eq!(clock.get("/api/status").status, 200);
    clock.end(Signal::TERM);

    // A newer program goes back to it: as a standby it waits in vain for the data folder, and starts again after that.
    install(folder.path(), ImageSlot::B, "4.9.0", &working(), NEW);
    let clock = Clock::start_with(folder.path(), &["--trial-seconds", "1"]);
    eventually("it works", || firmware(&clock)["trial"] == false);
    settled(folder.path());
    record::change(&mut Folder::new(folder.path()), |slots| {
        slots.active = Some(ImageSlot::A);
        slots.a.as_mut().unwrap().standing = NEW;
    })
    .unwrap();
    clock.send("POST", "/api/restart", "").unwrap();
    eventually("it runs", || {
        let answer = clock.send("GET", "/api/system/status", "");
        answer.is_ok_and(|answer| answer.json()["firmware"]["running"] == "a")
    });
    eventually("it works", || firmware(&clock)["trial"] == false);
    let slots = record::look(&mut Folder::new(folder.path()));
    assert_eq!(slots.last_failure, None);
}
