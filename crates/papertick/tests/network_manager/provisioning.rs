//! Credentials are tried, stored only if they are right, and deleted without changing profiles of other programs.

use std::time::Duration;

use board::ports::{ProvisionError, Wifi};
use device::{
    input::{LinkEvent, LinkFailure},
    secret::Secret,
};

use crate::{
    host::{Host, MOMENT, PROFILE, Radio},
    joining::{home, others},
};

const LIMIT: Duration = Duration::from_secs(15);

async fn started(host: &Host) -> Radio {
    let mut radio = host.radio();
    let first = radio.event().await;
    assert!(matches!(first, LinkEvent::Credentials(_)));
    radio
}

async fn provision(radio: &mut Radio, ssid: &str, password: &str) -> Result<(), ProvisionError> {
    let password = Secret::new(password);
    let joined = radio.0.provision(ssid, &password, LIMIT).await;
    joined.map(|_| ())
}

fn failed(failure: LinkFailure) -> Result<(), ProvisionError> {
    Err(ProvisionError::Failed(failure))
}

#[tokio::test(flavor = "multi_thread")]
async fn right_credentials_are_stored_in_place_of_older_ones() {
    let Some(host) = Host::with_radio().await else {
        return;
    };
    let other = host.add_profile(&others("Home")).await;
    let older = host.add_profile(&home("network")).await;
    let mut radio = started(&host).await;
    assert_eq!(provision(&mut radio, "Home", "correct horse").await, Ok(()));
    let profiles = host.profiles().await;
    assert_eq!(profiles.len(), 2, "{profiles:?}");
    assert_eq!(profiles[0].0, other);
    assert_ne!(profiles[1].0, older);
    for part in ["correct horse", "wpa-psk", "network", "infrastructure"] {
        assert!(
            profiles[1].1.contains(part),
            "{part} is in {}",
            profiles[1].1
        );
    }
    assert!(!profiles[1].1.contains("trial"));
}

#[tokio::test(flavor = "multi_thread")]
async fn open_networks_need_no_password() {
    let Some(host) = Host::with_radio().await else {
        return;
    };
    let mut radio = started(&host).await;
    assert_eq!(provision(&mut radio, "Café", "").await, Ok(()));
    let profiles = host.profiles().await;
    assert!(!profiles[0].1.contains("psk"), "{profiles:?}");
    let mut radio = host.radio();
    radio.expect_events(&[LinkEvent::Credentials(true)]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hidden_networks_are_searched_by_name() {
    let Some(host) = Host::with_radio().await else {
        return;
    };
    for (ssid, password, is_hidden) in [
        ("Attic", "correct horse", true),
        ("Cellar", "", true),
        ("Home", "correct horse", false),
    ] {
        let mut radio = started(&host).await;
        assert_eq!(provision(&mut radio, ssid, password).await, Ok(()));
        let profiles = host.profiles().await;
        let (_, stored) = profiles.last().unwrap();
        for member in [
            format!("\"hidden\": OwnedVariant(Bool({is_hidden}))"),
            // The host prefers it to its own profiles.
            "\"autoconnect-priority\": OwnedVariant(I32(10))".to_owned(),
        ] {
            assert!(stored.contains(&member), "{member} is in {stored}");
        }
        assert_eq!(stored.contains("wpa-psk"), !password.is_empty(), "{stored}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_credentials_keep_the_stored_ones() {
    let Some(host) = Host::with_radio().await else {
        return;
    };
    host.add_profile(&others("Café")).await;
    host.add_profile(&home("network")).await;
    let before = host.profiles().await;
    let mut radio = started(&host).await;
    for (reason, failure) in [
        (7, LinkFailure::Auth),
        (11, LinkFailure::Handshake),
        (53, LinkFailure::NotFound),
        (16, LinkFailure::Connection),
    ] {
        host.fail_with(reason).await;
        let outcome = provision(&mut radio, "Home", "wrong horse").await;
        assert_eq!(outcome, failed(failure));
        assert_eq!(host.profiles().await, before);
    }
    // Invalid credentials are not tried.
    for (ssid, password) in [("Home", ""), ("Home", "short"), ("Café", "correct horse")] {
        let outcome = provision(&mut radio, ssid, password).await;
        assert_eq!(outcome, failed(LinkFailure::Auth), "{ssid} {password}");
    }
    assert_eq!(host.profiles().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_has_a_limit() {
    let Some(host) = Host::with_radio().await else {
        return;
    };
    let mut radio = started(&host).await;
    let code = "ret = dbus.ObjectPath('/org/freedesktop/NetworkManager/ActiveConnection/9')";
    host.replace("ActivateConnection", "ooo", "o", code).await;
    for (state, failure) in [(50, LinkFailure::Timeout), (60, LinkFailure::Auth)] {
        host.change_state(state, 40, 0).await;
        let password = Secret::new("correct horse");
        let outcome = radio.0.provision("Home", &password, MOMENT).await;
        assert_eq!(outcome.map(|_| ()), failed(failure));
        assert_eq!(host.profiles().await, []);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_that_cannot_be_stored_are_no_success() {
    let Some(host) = Host::with_radio().await else {
        return;
    };
    let mut radio = started(&host).await;
    // The path that the next profile gets.
    let probe = host.add_profile(&others("Home")).await;
    let () = host.call(&probe, PROFILE, "Delete", &()).await;
    let code = format!(
        "self.activate_connection(self, args[0], args[1], args[2])\n\
         get_object('{probe}').AddMethod('{PROFILE}', 'Update', 'a{{sa{{sv}}}}', '', \
         \"raise dbus.exceptions.DBusException('disk full', name='org.example.Full')\")\n\
         ret = dbus.ObjectPath('/org/freedesktop/NetworkManager/ActiveConnection/0')"
    );
    host.replace("ActivateConnection", "ooo", "o", &code).await;
    let outcome = provision(&mut radio, "Home", "correct horse").await;
    let Err(ProvisionError::NotStored(why)) = outcome else {
        panic!("{outcome:?}")
    };
    assert!(why.contains("disk full"), "{why}");
    assert_eq!(host.profiles().await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_own_profiles_are_deleted() {
    let Some(host) = Host::with_radio().await else {
        return;
    };
    host.add_profile(&others("Home")).await;
    let before = host.profiles().await;
    for role in ["network", "network", "trial", "access-point"] {
        host.add_profile(&home(role)).await;
    }
    // Also before the first event was received.
    let mut radio = host.radio();
    assert_eq!(radio.0.forget().await, Ok(()));
    assert_eq!(host.profiles().await, before);
    assert_eq!(radio.0.forget().await, Ok(()));
    radio.expect_events(&[LinkEvent::Credentials(true)]).await;
}
