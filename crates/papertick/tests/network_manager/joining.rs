//! Joining the stored network by the plan, and the reasons of failures.

use std::collections::BTreeMap;

use board::ports::Wifi;
use device::{
    input::{LinkEvent, LinkFailure},
    output::WifiPlan,
};
use zbus::Variant;

use crate::host::{Host, Settings};

pub(crate) fn plan(attempts: u64) -> WifiPlan {
    WifiPlan {
        attempts,
        access_point: None,
        tx_power: None,
    }
}

/// The event for "Home" with an address.
pub(crate) fn up(ip: &str) -> LinkEvent {
    LinkEvent::Up {
        ip: ip.to_string(),
        ssid: Some("Home".to_string()),
    }
}

/// A profile of another program.
pub(crate) fn others(ssid: &str) -> Settings {
    let connection = BTreeMap::from([
        ("id", Variant::from(ssid.to_string())),
        ("type", "802-11-wireless".into()),
    ]);
    let wireless = BTreeMap::from([
        ("ssid", Variant::from(ssid.as_bytes().to_vec())),
        ("mode", "infrastructure".into()),
    ]);
    Settings::from([("connection", connection), ("802-11-wireless", wireless)])
}

/// A profile of the clock for "Home", with a role.
pub(crate) fn home(role: &'static str) -> Settings {
    let data = BTreeMap::from([("papertick.role", role)]);
    let mut settings = others("Home");
    settings.insert("user", BTreeMap::from([("data", data.into())]));
    settings
}

/// A profile that the host does not activate by itself.
pub(crate) fn idle(ssid: &str) -> Settings {
    let mut settings = others(ssid);
    let connection = settings.get_mut("connection").unwrap();
    connection.insert("autoconnect", false.into());
    settings
}

#[tokio::test(flavor = "multi_thread")]
async fn known_state_is_reported_first() {
    let mut wired = others("Home");
    let connection = wired.get_mut("connection").unwrap();
    connection.insert("type", "802-3-ethernet".into());
    for (profile, known) in [
        (home("network"), true),
        (home("trial"), false),
        (home("access-point"), false),
        (others("Elsewhere"), true),
        (idle("Elsewhere"), false),
        (wired, false),
    ] {
        let Some(host) = Host::with_radio().await else {
            return;
        };
        host.add_profile(&profile).await;
        let what = format!("{profile:?}");
        let mut radio = host.radio();
        assert_eq!(radio.event().await, LinkEvent::Credentials(known), "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_active_network_counts_as_stored_unless_it_is_temporary() {
    for (profile, known) in [
        (idle("Home"), true),
        (home("trial"), false),
        (home("access-point"), false),
    ] {
        let Some(host) = Host::with_radio().await else {
            return;
        };
        let path = host.add_profile(&profile).await;
        host.activate(&path, "home").await;
        let what = format!("{profile:?}");
        let mut radio = host.radio();
        assert_eq!(radio.event().await, LinkEvent::Credentials(known), "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stored_network_is_joined_when_an_attempt_is_due() {
    let Some(host) = Host::with_radio().await else {
        return;
    };
    host.add_profile(&idle("Café")).await;
    host.add_profile(&home("network")).await;
    let mut radio = host.radio();
    radio.expect_events(&[LinkEvent::Credentials(true)]).await;
    radio.is_quiet().await;
    radio.0.follow(&plan(0)).await;
    radio.is_quiet().await;
    radio.0.follow(&plan(1)).await;
    // The mock does not report which network of that name was joined.
    let ip = "192.168.7.9".to_string();
    let joined = LinkEvent::Up { ip, ssid: None };
    radio.expect_events(std::slice::from_ref(&joined)).await;
    // An active network is reported again, and not left.
    radio.0.follow(&plan(2)).await;
    radio.expect_events(&[joined]).await;
    radio.0.follow(&plan(2)).await;
    radio.is_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reason_of_a_failed_attempt_is_reported() {
    let Some(host) = Host::with_radio().await else {
        return;
    };
    host.add_profile(&home("network")).await;
    let mut radio = host.radio();
    radio.expect_events(&[LinkEvent::Credentials(true)]).await;
    let reasons = [
        (7, LinkFailure::Auth),
        (8, LinkFailure::Association),
        (11, LinkFailure::Handshake),
        (17, LinkFailure::Connection),
        (53, LinkFailure::NotFound),
    ];
    for (attempts, (reason, failure)) in (1..).zip(reasons) {
        host.fail_with(reason).await;
        radio.0.follow(&plan(attempts)).await;
        radio.expect_events(&[LinkEvent::Down(failure)]).await;
        radio.is_quiet().await;
    }
    for (attempts, (error, failure)) in (10..).zip([
        ("ConnectionNotAvailable", LinkFailure::NotFound),
        ("PermissionDenied", LinkFailure::Connection),
    ]) {
        let code = format!(
            "raise dbus.exceptions.DBusException('no', name='org.freedesktop.NetworkManager.{error}')"
        );
        host.replace("ActivateConnection", "ooo", "o", &code).await;
        radio.0.follow(&plan(attempts)).await;
        radio.expect_events(&[LinkEvent::Down(failure)]).await;
    }
}
