//! Events of the network of a host: its manager, its address, and its changes.

use std::time::Duration;

use board::ports::{ProvisionError, Wifi, WifiNetwork};
use device::{
    input::{LinkEvent, LinkFailure},
    secret::Secret,
};
use tokio::time::Instant;
use zbus::Variant;

use crate::{
    host::{Host, IPV4, IPV6, MANAGER_PATH, MOMENT, RADIO, Radio},
    joining::{home, others, plan, up},
};

/// Timeout for a radio that does not report the end of a scan.
const SCAN_LIMIT: Duration = Duration::from_secs(5);

async fn assert_unmanaged(mut radio: Radio) {
    let ip = board::host::address().to_string();
    let own = LinkEvent::Up { ip, ssid: None };
    radio.expect_events(&[LinkEvent::Unmanaged, own]).await;
    radio.is_quiet().await;
    assert!(radio.0.scan().await.is_empty());
    let password = Secret::new("correct horse");
    let tried = radio.0.provision("Home", &password, MOMENT);
    assert_eq!(
        tried.await,
        Err(ProvisionError::Failed(LinkFailure::NotFound))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_bus_the_host_manages_the_network() {
    let Some(mut host) = Host::bare().await else {
        return;
    };
    host.stop_bus();
    assert_unmanaged(host.radio()).await;
    assert!(host.radio().0.forget().await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_network_manager_the_host_manages_the_network() {
    let Some(host) = Host::bare().await else {
        return;
    };
    assert_unmanaged(host.radio()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_radio_the_host_manages_the_network() {
    let Some(host) = Host::wired().await else {
        return;
    };
    let wire = ("eth0", "eth0", 100i32);
    let _: String = host.mock(MANAGER_PATH, "AddEthernetDevice", &wire).await;
    // The timeout is for hosts that are starting; this one has started.
    assert_unmanaged(host.radio_with(Duration::from_secs(3600))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_radio_of_another_manager_is_not_used() {
    for state in [10, 20] {
        let Some(host) = Host::wired().await else {
            return;
        };
        host.add_radio(state).await;
        assert_unmanaged(host.radio()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_permission_the_host_manages_the_network() {
    for (answer, managed) in [("no", false), ("auth", false), ("yes", true)] {
        let Some(host) = Host::with_radio().await else {
            return;
        };
        let name = "org.freedesktop.NetworkManager.settings.modify.system";
        let code = format!("ret = {{'{name}': '{answer}'}}");
        host.replace("GetPermissions", "", "a{ss}", &code).await;
        let mut radio = host.radio();
        if managed {
            radio.expect_events(&[LinkEvent::Credentials(false)]).await;
        } else {
            assert_unmanaged(radio).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_start_of_the_host_is_awaited() {
    let Some(mut host) = Host::bare().await else {
        return;
    };
    let mut radio = host.radio_with(Duration::from_secs(3600));
    radio.is_quiet().await;
    host.start_manager().await;
    host.add_radio(20).await;
    radio.is_quiet().await;
    host.change_state(30, 20, 0).await;
    radio.expect_events(&[LinkEvent::Credentials(false)]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn networks_are_listed() {
    let Some(host) = Host::with_radio().await else {
        return;
    };
    let mut radio = host.radio();
    radio.expect_events(&[LinkEvent::Credentials(false)]).await;
    let expected =
        [("Café", -70, false), ("Home", -48, true)].map(|(ssid, rssi, secured)| WifiNetwork {
            ssid: ssid.to_string(),
            rssi,
            secured,
        });
    for reports_scans in [false, true] {
        if reports_scans {
            host.report_scans().await;
        }
        let started = Instant::now();
        let mut networks = radio.0.scan().await;
        let took = started.elapsed();
        networks.sort_by_key(|network| network.rssi);
        assert_eq!(networks, expected);
        // A reported scan ends the wait.
        assert!(!reports_scans || took < SCAN_LIMIT, "{took:?}");
    }
    assert_eq!(host.calls(RADIO, "RequestScan").await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_network_is_followed() {
    let Some(host) = Host::with_radio().await else {
        return;
    };
    let profile = host.add_profile(&others("Home")).await;
    host.activate(&profile, "home").await;
    let mut radio = host.radio();
    radio
        .expect_events(&[
            LinkEvent::Credentials(true),
            up("192.168.7.9"),
            LinkEvent::Rssi(-48),
        ])
        .await;
    host.set_strength("home", 50).await;
    radio.expect_events(&[LinkEvent::Rssi(-70)]).await;
    // The same strength again, and the strength of another network.
    host.set_strength("home", 50).await;
    host.set_strength("cafe", 90).await;
    radio.is_quiet().await;
    host.set_address("192.168.7.10").await;
    radio
        .expect_events(&[up("192.168.7.10"), LinkEvent::Rssi(-70)])
        .await;
    host.change_state(30, 100, 8).await;
    radio
        .expect_events(&[LinkEvent::Down(LinkFailure::Lost)])
        .await;
    radio.is_quiet().await;
    host.change_state(100, 90, 0).await;
    radio
        .expect_events(&[up("192.168.7.10"), LinkEvent::Rssi(-70)])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_ipv4_a_routable_ipv6_address_is_reported() {
    let Some(host) = Host::with_radio().await else {
        return;
    };
    let profile = host.add_profile(&others("Home")).await;
    host.activate(&profile, "home").await;
    host.set_addresses(&IPV4, &[]).await;
    let mut radio = host.radio();
    radio.expect_events(&[LinkEvent::Credentials(true)]).await;
    // The link-local address is ignored.
    radio.is_quiet().await;
    host.set_addresses(&IPV6, &["fe80::1", "fd00::7"]).await;
    radio
        .expect_events(&[up("fd00::7"), LinkEvent::Rssi(-48)])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_radio_may_be_unplugged() {
    let Some(host) = Host::with_radio().await else {
        return;
    };
    let profile = host.add_profile(&others("Home")).await;
    host.activate(&profile, "home").await;
    let mut radio = host.radio();
    radio
        .expect_events(&[LinkEvent::Credentials(true), up("192.168.7.9")])
        .await;
    radio.expect_events(&[LinkEvent::Rssi(-48)]).await;
    let () = host.mock(MANAGER_PATH, "RemoveObject", &RADIO).await;
    let removed = vec![Variant::from(RADIO)];
    let body = (
        "org.freedesktop.NetworkManager",
        "DeviceRemoved",
        "o",
        removed,
    );
    let () = host.mock(MANAGER_PATH, "EmitSignal", &body).await;
    radio
        .expect_events(&[LinkEvent::Down(LinkFailure::Lost)])
        .await;
    radio.0.follow(&plan(1)).await;
    radio
        .expect_events(&[LinkEvent::Down(LinkFailure::NotFound)])
        .await;
    radio.is_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bus_may_die() {
    let Some(mut host) = Host::with_radio().await else {
        return;
    };
    let profile = host.add_profile(&home("network")).await;
    host.activate(&profile, "home").await;
    let mut radio = host.radio();
    radio
        .expect_events(&[LinkEvent::Credentials(true), up("192.168.7.9")])
        .await;
    radio.expect_events(&[LinkEvent::Rssi(-48)]).await;

    host.stop_bus();
    // The network outlives the bus.
    radio.is_quiet().await;
    let password = Secret::new("correct horse");
    let tried = radio.0.provision("Home", &password, MOMENT);
    assert!(tried.await.is_err());
    assert!(radio.0.scan().await.is_empty());
    assert!(radio.0.forget().await.is_err());
    radio.0.follow(&plan(1)).await;
    radio
        .expect_events(&[LinkEvent::Down(LinkFailure::NotFound)])
        .await;

    host.start_bus().await;
    host.start_manager().await;
    host.add_radio(30).await;
    let profile = host.add_profile(&others("Home")).await;
    host.activate(&profile, "home").await;
    radio
        .expect_events(&[up("192.168.7.9"), LinkEvent::Rssi(-48)])
        .await;
}

/// The result does not depend on whether the driver has noticed the end of the bus.
#[tokio::test(flavor = "multi_thread")]
async fn a_bus_that_has_just_ended_is_reported_as_missing() {
    let Some(mut host) = Host::with_radio().await else {
        return;
    };
    host.add_profile(&home("network")).await;
    let mut radio = host.radio();
    radio.expect_events(&[LinkEvent::Credentials(true)]).await;
    host.stop_bus();
    for attempt in 1..=2 {
        radio.0.follow(&plan(attempt)).await;
        radio
            .expect_events(&[LinkEvent::Down(LinkFailure::NotFound)])
            .await;
        radio.is_quiet().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn network_manager_may_be_started_again() {
    let Some(mut host) = Host::with_radio().await else {
        return;
    };
    let profile = host.add_profile(&others("Home")).await;
    host.activate(&profile, "home").await;
    let mut radio = host.radio();
    radio
        .expect_events(&[LinkEvent::Credentials(true), up("192.168.7.9")])
        .await;
    radio.expect_events(&[LinkEvent::Rssi(-48)]).await;
    host.stop_manager();
    radio.is_quiet().await;
    host.start_manager().await;
    host.add_radio(30).await;
    radio
        .expect_events(&[LinkEvent::Down(LinkFailure::Lost)])
        .await;
    let profile = host.add_profile(&others("Home")).await;
    host.activate(&profile, "home").await;
    radio
        .expect_events(&[up("192.168.7.9"), LinkEvent::Rssi(-48)])
        .await;
}
