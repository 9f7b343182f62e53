//! Signing in with a default password.

use std::fs;

use base64::{Engine, prelude::BASE64_STANDARD};

use crate::clock::{Clock, folder, papertick};

fn basic(password: &str) -> String {
    let pair = BASE64_STANDARD.encode(format!("satoshi:{password}"));
    format!("Authorization: Basic {pair}")
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
