//! Signing in during an attack on the password.

use std::{
    fs,
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::Duration,
};

use base64::{Engine, prelude::BASE64_STANDARD};

use crate::clock::{Clock, eventually, folder, papertick, resident};

fn basic(password: &str) -> String {
    let pair = BASE64_STANDARD.encode(format!("satoshi:{password}"));
    format!("Authorization: Basic {pair}")
}

/// Fifty different wrong passwords per second from the address of the owner, who signs in for the first time.
#[test]
fn wrong_passwords_neither_lock_the_owner_out_nor_use_memory() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    clock.patch(
        r#"{"httpAuthEnabled": true, "httpAuthUser": "satoshi", "httpAuthPass": "correct horse"}"#,
    );
    let before = clock.device();
    clock.send("POST", "/api/restart", "").unwrap();
    eventually("another device runs", || clock.device() != before);
    let status_with = |password: &str| {
        let header = basic(password);
        let answer = clock.send_with("GET", "/api/status", &header).unwrap();
        answer.status
    };
    assert_eq!(status_with("wrong"), 401);
    let (device, memory) = (clock.device(), resident(clock.device()));

    let guessed = AtomicU32::new(0);
    thread::scope(|scope| {
        for number in 0..100 {
            let (clock, guessed) = (&clock, &guessed);
            scope.spawn(move || {
                thread::sleep(Duration::from_millis(20) * number);
                guessed.fetch_add(1, Ordering::Relaxed);
                // Each attempt waits for all earlier ones, however busy the machine is.
                let guess = basic(&format!("guess {number}"));
                let answer = clock.queue_with("GET", "/api/status", &guess).unwrap();
                assert_eq!(answer.status, 401, "{number}");
            });
        }
        eventually("an attack is in progress", || {
            guessed.load(Ordering::Relaxed) >= 25
        });
        for number in 0..23 {
            assert_eq!(status_with("correct horse"), 200, "{number}");
            thread::sleep(Duration::from_millis(100));
        }
    });
    assert_eq!(clock.device(), device);
    let grown = resident(device).saturating_sub(memory);
    assert!(grown < 4 * 1024 * 1024, "{grown} bytes");
}

#[test]
fn a_default_password_works() {
    let folder = folder();
    let mut command = papertick(&["run"]);
    let defaults =
        r#"{"httpAuthEnabled": true, "httpAuthUser": "satoshi", "httpAuthPass": "planted"}"#;
    command.env("PAPERTICK_DEFAULTS", defaults);
    // App stores write empty variables for values that they do not have.
    for name in [
        "PAPERTICK_BOARD",
        "PAPERTICK_WIRING",
        "PAPERTICK_PUBLIC_URL",
    ] {
        command.env(name, "");
    }
    let clock = Clock::start_as(&mut command, folder.path());
    // Other users of the host can read these.
    let arguments = fs::read(format!("/proc/{}/cmdline", clock.device().as_raw_nonzero())).unwrap();
    assert!(!String::from_utf8_lossy(&arguments).contains("planted"));
    for (password, status) in [("other", 401), ("planted", 200)] {
        let header = basic(password);
        let answer = clock.send_with("GET", "/api/settings", &header).unwrap();
        assert_eq!(answer.status, status, "{password}");
    }
}
