//! The page of the access point: it lists networks, tries credentials, and nothing else is served meanwhile.
//!
//! The radio's driver works off the wishes; it stores credentials that it found right before it says so.

use std::time::Duration;

use device::{
    input::{Input, LinkEvent, LinkFailure},
    secret::Secret,
    view::View,
};
use http::{HeaderValue, StatusCode};
use serde_json::{Value, json};
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};

use super::{
    answer::{self, Response},
    call::{Call, Received},
    parse::network_credentials,
};

/// Largest body with credentials, bytes.
const BODY_MAX: usize = 512;

/// Longest name of a network, bytes.
const SSID_MAX: usize = 32;

/// Longest password of a network, bytes.
const PASSWORD_MAX: usize = 64;

/// Wishes that wait for the radio.
const WISHES_MAX: usize = 4;

/// Time the radio has to list networks or to try one.
const RADIO_TIME: Duration = Duration::from_secs(20);

/// The page.
const PAGE: &str = include_str!("portal.html");

/// The way to the radio.
#[derive(Debug, Clone)]
pub struct Radio {
    wishes: mpsc::Sender<Wish>,
}

/// What the page wants of the radio.
#[derive(Debug)]
pub enum Wish {
    /// Which networks are in reach.
    Scan(oneshot::Sender<Vec<Network>>),
    /// Join a network, and store its credentials if that succeeds.
    Join {
        /// Name of the network.
        ssid: String,
        /// Its password; empty for an open one.
        password: Secret,
        /// Whether it was joined.
        answer: oneshot::Sender<Result<(), LinkFailure>>,
    },
}

/// A network in reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    /// Its name.
    pub ssid: String,
    /// Strength of its signal, dBm.
    pub rssi: i32,
    /// It wants a password.
    pub secure: bool,
}

impl Radio {
    /// Makes the way to the radio, and its end for the radio's driver.
    pub fn new() -> (Radio, mpsc::Receiver<Wish>) {
        let (wishes, driver) = mpsc::channel(WISHES_MAX);
        (Radio { wishes }, driver)
    }

    async fn scan(&self) -> Option<Vec<Network>> {
        let (answer, networks) = oneshot::channel();
        self.wishes.try_send(Wish::Scan(answer)).ok()?;
        timeout(RADIO_TIME, networks).await.ok()?.ok()
    }

    async fn join(&self, ssid: String, password: Secret) -> Result<(), LinkFailure> {
        let (answer, joined) = oneshot::channel();
        let wish = Wish::Join {
            ssid,
            password,
            answer,
        };
        self.wishes
            .try_send(wish)
            .map_err(|_| LinkFailure::Timeout)?;
        match timeout(RADIO_TIME, joined).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) | Err(_) => Err(LinkFailure::Timeout),
        }
    }
}

/// Whether the clock is an access point.
pub(crate) fn is_open(view: &View) -> bool {
    view.link.state == "access-point"
}

/// The page, under whatever path a phone looks for it.
pub(crate) fn page() -> Response {
    answer::bytes(
        HeaderValue::from_static("text/html; charset=utf-8"),
        PAGE.into(),
    )
}

/// Networks in reach.
pub(crate) async fn scan(call: Call) -> Response {
    match networks(&call).await {
        Some(networks) => answer::json(&list(networks)),
        None => answer::error(StatusCode::SERVICE_UNAVAILABLE, "no radio"),
    }
}

/// Networks in reach, in the words of an older page.
pub(crate) async fn scan_as_before(call: Call) -> Response {
    let networks = networks(&call).await;
    answer::json(
        &json!({ "ready": networks.is_some(), "scan": list(networks.unwrap_or_default()) }),
    )
}

async fn networks(call: &Call) -> Option<Vec<Network>> {
    call.state.services.radio.as_ref()?.scan().await
}

fn list(networks: Vec<Network>) -> Value {
    let entry = |network: Network| json!({ "ssid": network.ssid, "rssi": network.rssi, "secure": network.secure });
    networks.into_iter().map(entry).collect()
}

/// Tries credentials and keeps them if they are right.
pub(crate) async fn save(mut call: Call) -> Response {
    let body = match call.body(BODY_MAX).await {
        Received::Whole(body) => body,
        Received::Nothing | Received::TooLarge | Received::Broken => {
            return refused("invalid body");
        }
    };
    let Some((ssid, password)) = network_credentials(&body) else {
        return refused("invalid body");
    };
    if ssid.is_empty() || ssid.len() > SSID_MAX {
        return refused("ssid required");
    }
    if password.expose().len() > PASSWORD_MAX {
        return refused("password too long");
    }
    let Some(radio) = &call.state.services.radio else {
        return answer::error(StatusCode::SERVICE_UNAVAILABLE, "no radio");
    };
    match radio.join(ssid, password).await {
        Ok(()) => {
            let provisioned = Input::Linked(LinkEvent::Provisioned);
            let _ = call.state.services.inbox.tell(provisioned).await;
            answer::json(&json!({ "ok": true }))
        }
        Err(failure) => failed(failure),
    }
}

fn refused(reason: &str) -> Response {
    let body = json!({ "ok": false, "error": reason });
    answer::json_with(StatusCode::UNPROCESSABLE_ENTITY, &body)
}

/// Says why a network was not joined, with the reason code of the radio.
fn failed(failure: LinkFailure) -> Response {
    let (code, reason, words) = match failure {
        LinkFailure::Timeout => ("timeout", 0, "the network did not answer in time"),
        LinkFailure::NotFound => ("no_ap_found", 201, "no network of that name is in reach"),
        LinkFailure::Auth => ("auth_fail", 202, "the password is wrong"),
        LinkFailure::Association => ("assoc_fail", 203, "the network refused the clock"),
        LinkFailure::Handshake => ("handshake_timeout", 204, "the handshake did not end"),
        LinkFailure::Connection => ("connection_fail", 205, "the connection broke off"),
        LinkFailure::Lost => ("unknown", 0, "the network was lost"),
    };
    let status = match failure {
        LinkFailure::Auth => StatusCode::UNAUTHORIZED,
        LinkFailure::Timeout
        | LinkFailure::NotFound
        | LinkFailure::Association
        | LinkFailure::Handshake
        | LinkFailure::Connection
        | LinkFailure::Lost => StatusCode::UNPROCESSABLE_ENTITY,
    };
    answer::json_with(
        status,
        &json!({ "ok": false, "code": code, "reason": reason, "error": words }),
    )
}
