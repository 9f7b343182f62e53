//! The program on a host with NetworkManager.

use crate::{
    clock::{Clock, eventually, folder, papertick},
    host::Host,
    joining::home,
};

#[tokio::test(flavor = "multi_thread")]
async fn the_status_has_the_network() {
    let Some(host) = Host::with_radio().await else {
        return;
    };
    let profile = host.add_profile(&home("network")).await;
    host.activate(&profile, "home").await;
    let state = folder();
    let mut command = papertick(&["run", "--wifi", "network-manager"]);
    command.env("DBUS_SYSTEM_BUS_ADDRESS", host.address());
    let clock = Clock::start_as(&mut command, state.path());
    eventually("the clock is connected", || {
        let status = clock.get("/api/status").json();
        status["link"]["state"] == "connected" && status["rssi"] == -48
    });
    let link = clock.get("/api/status").json()["link"].clone();
    assert_eq!(link["network"], "radio");
    assert_eq!(link["ssid"], "Home");
    // The clock listens only there, not at the address of the radio.
    assert_eq!(link["ip"], "127.0.0.1");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_without_a_radio_runs_on_the_hosts_network() {
    let Some(host) = Host::wired().await else {
        return;
    };
    let state = folder();
    let mut command = papertick(&["run", "--wifi", "network-manager"]);
    command.env("DBUS_SYSTEM_BUS_ADDRESS", host.address());
    let clock = Clock::start_as(&mut command, state.path());
    eventually("the clock is connected", || {
        clock.get("/api/status").json()["link"]["state"] == "connected"
    });
    let link = clock.get("/api/status").json()["link"].clone();
    assert_eq!(link["network"], "host");
}
