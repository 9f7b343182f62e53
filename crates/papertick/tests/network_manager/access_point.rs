//! The access point: start, stop, attempts to join, and restart.

use std::time::Duration;

use board::ports::Wifi;
use device::{
    input::{LinkEvent, LinkFailure},
    output::{AccessPoint, WifiPlan},
    secret::Secret,
};
use tokio::time;

use crate::{
    host::{Host, MANAGER_PATH, MOMENT, PROFILE, Radio},
    joining::{home, plan},
};

/// Time between two attempts to start the access point.
const RAISE_RETRY: Duration = Duration::from_secs(10);

fn portal(attempts: u64) -> WifiPlan {
    WifiPlan {
        access_point: Some(AccessPoint {
            ssid: "papertick-ABCD".to_string(),
            password: Secret::new("hunter2222"),
        }),
        ..plan(attempts)
    }
}

/// A radio with the access point up.
async fn with_access_point(host: &Host) -> Radio {
    host.set_address("192.168.4.1").await;
    let mut radio = host.radio();
    let first = radio.event().await;
    assert!(matches!(first, LinkEvent::Credentials(_)));
    radio.0.follow(&portal(0)).await;
    wait_until_up(&mut radio).await;
    radio
}

async fn wait_until_up(radio: &mut Radio) {
    let address = "192.168.4.1:8080".to_string();
    radio.expect_events(&[LinkEvent::Portal { address }]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_access_point_starts_and_stops() {
    let Some(host) = Host::with_radio().await else {
        return;
    };
    let mut radio = with_access_point(&host).await;
    let profiles = host.profiles().await;
    assert_eq!(profiles.len(), 1);
    for part in [
        "access-point",
        "shared",
        "192.168.4.1",
        "hunter2222",
        "wpa-psk",
    ] {
        assert!(
            profiles[0].1.contains(part),
            "{part} is in {}",
            profiles[0].1
        );
    }
    let name = b"papertick-ABCD"
        .map(|byte| format!("U8({byte})"))
        .join(", ");
    assert!(profiles[0].1.contains(&name), "{}", profiles[0].1);
    radio.0.follow(&portal(0)).await;
    radio.is_quiet().await;
    assert_eq!(host.profiles().await, profiles);
    // The own access point is in range too, but cannot be joined.
    host.add_network("own", "papertick-ABCD", 100, 0x100).await;
    let offered = radio.0.scan().await;
    let mut names: Vec<&str> = offered.iter().map(|network| &*network.ssid).collect();
    names.sort_unstable();
    assert_eq!(names, ["Café", "Home"]);

    radio.0.follow(&plan(0)).await;
    radio.is_quiet().await;
    assert_eq!(host.profiles().await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn leftovers_of_an_earlier_run_are_removed() {
    let Some(host) = Host::with_radio().await else {
        return;
    };
    host.add_profile(&home("trial")).await;
    host.add_profile(&home("access-point")).await;
    let _radio = with_access_point(&host).await;
    assert_eq!(host.profiles().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_credentials_bring_the_access_point_back() {
    let Some(host) = Host::with_radio().await else {
        return;
    };
    let mut radio = with_access_point(&host).await;
    let code = "role = get_object(args[0]).settings['user']['data']['papertick.role']\n\
         if role == 'trial':\n    \
             for change in [(110, 100, 60), (40, 30, 0), (120, 60, 7)]:\n        \
                 get_object(args[1]).EmitSignal('org.freedesktop.NetworkManager.Device', \
                 'StateChanged', 'uuu', [dbus.UInt32(number) for number in change])\n    \
             ret = dbus.ObjectPath('/org/freedesktop/NetworkManager/ActiveConnection/9')\n\
         else:\n    ret = self.activate_connection(self, args[0], args[1], args[2])";
    host.replace("ActivateConnection", "ooo", "o", code).await;
    let password = Secret::new("wrong horse");
    let limit = Duration::from_secs(15);
    let outcome = radio.0.provision("Home", &password, limit).await;
    assert_eq!(
        outcome,
        Err(board::ports::ProvisionError::Failed(LinkFailure::Auth))
    );
    wait_until_up(&mut radio).await;
    let profiles = host.profiles().await;
    assert_eq!(profiles.len(), 1, "{profiles:?}");
    assert!(profiles[0].1.contains("access-point"));
    host.succeed().await;
    // Right credentials are stored, and the access point stops.
    let open = Secret::default();
    let joined = radio.0.provision("Café", &open, MOMENT * 20).await;
    assert!(joined.is_ok(), "{joined:?}");
    let profiles = host.profiles().await;
    assert_eq!(profiles.len(), 1, "{profiles:?}");
    assert!(!profiles[0].1.contains("access-point"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_access_point_stops_only_for_a_network_in_range() {
    let Some(host) = Host::with_radio().await else {
        return;
    };
    let mut out_of_range = home("network");
    let wireless = out_of_range.get_mut("802-11-wireless").unwrap();
    wireless.insert("ssid", b"Elsewhere".to_vec().into());
    let stored = host.add_profile(&out_of_range).await;
    let mut radio = with_access_point(&host).await;
    radio.0.follow(&portal(1)).await;
    radio
        .expect_events(&[LinkEvent::Down(LinkFailure::NotFound)])
        .await;
    radio.is_quiet().await;
    assert_eq!(host.profiles().await.len(), 2, "the access point stayed up");

    let () = host.call(&stored, PROFILE, "Delete", &()).await;
    host.add_profile(&home("network")).await;
    radio.0.follow(&portal(2)).await;
    // The mock does not report which network of that name was joined.
    let ip = "192.168.4.1".to_string();
    radio
        .expect_events(&[LinkEvent::Up { ip, ssid: None }])
        .await;
    radio.0.follow(&plan(2)).await;
    assert_eq!(host.profiles().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_access_point_stays_up_while_the_stored_password_is_wrong() {
    let Some(host) = Host::with_radio().await else {
        return;
    };
    host.add_profile(&home("network")).await;
    host.fail_with(7).await;
    let mut radio = host.radio();
    radio.expect_events(&[LinkEvent::Credentials(true)]).await;
    let refused = [LinkEvent::Down(LinkFailure::Auth)];
    radio.0.follow(&plan(1)).await;
    radio.expect_events(&refused).await;

    host.set_address("192.168.4.1").await;
    host.succeed().await;
    radio.0.follow(&portal(1)).await;
    wait_until_up(&mut radio).await;
    // A client that enters the right password is not disconnected before.
    for attempt in 2..4 {
        radio.0.follow(&portal(attempt)).await;
        radio.expect_events(&refused).await;
        radio.is_quiet().await;
    }
    assert_eq!(host.profiles().await.len(), 2, "the access point stayed up");
    assert_eq!(host.calls(MANAGER_PATH, "ActivateConnection").await, 2);
}

/// On one thread, where the time can be advanced.
#[tokio::test]
async fn a_failed_access_point_is_restarted_after_a_pause() {
    let Some(host) = Host::with_radio().await else {
        return;
    };
    let mut radio = with_access_point(&host).await;
    let before = host.calls(MANAGER_PATH, "ActivateConnection").await;
    host.change_state(30, 100, 39).await;
    radio.is_quiet().await;
    // The access point is not restarted at once, because the cause of the failure may persist.
    let after = host.calls(MANAGER_PATH, "ActivateConnection").await;
    assert_eq!((before, after), (1, 1));
    time::pause();
    time::advance(RAISE_RETRY).await;
    time::resume();
    wait_until_up(&mut radio).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_start_of_the_access_point_is_retried_after_a_pause() {
    let Some(host) = Host::with_radio().await else {
        return;
    };
    let mut radio = host.radio();
    radio.expect_events(&[LinkEvent::Credentials(false)]).await;
    host.fail_with(17).await;
    radio.0.follow(&portal(0)).await;
    radio.is_quiet().await;
    assert_eq!(host.calls(MANAGER_PATH, "ActivateConnection").await, 1);
    radio.0.follow(&plan(0)).await;
    assert_eq!(host.profiles().await, []);
}
