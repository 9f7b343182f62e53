//! The clock as an app of Home Assistant: its Supervisor knows the MQTT broker and the password, so that the owner need
//! not enter them.

use std::{env, sync::Arc, time::Duration};

use bytes::Bytes;
use device::{
    request::{Patch, Request},
    secret::Secret,
    sources::Route,
    view::View,
};
use http::header::AUTHORIZATION;
use net::{
    dialer::Dialer,
    http::{Get, RequestLimits, get},
    url::Url,
};
use runtime::{inbox::Inbox, outage::Outage, tasks::Stop};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{sync::watch, time::sleep};

/// Variable with the password for the Supervisor; Home Assistant sets it for its apps.
const TOKEN: &str = "SUPERVISOR_TOKEN";

/// Variable with another address of the Supervisor, for tests.
const ADDRESS: &str = "PAPERTICK_SUPERVISOR";

/// Address of the Supervisor in the network of the apps.
const SUPERVISOR: &str = "http://supervisor";

/// Time between two requests while no broker is known: it may be installed or started later.
const RETRY: Duration = Duration::from_secs(60);

const LIMITS: RequestLimits = RequestLimits {
    timeout: Duration::from_secs(10),
    body_max: 16 * 1024,
};

pub(crate) struct HomeAssistantSupervisor {
    address: String,
    token: Secret,
}

impl HomeAssistantSupervisor {
    /// The Supervisor that runs this program; `None` if none does.
    pub(crate) fn from_env() -> Option<HomeAssistantSupervisor> {
        let token = env::var(TOKEN).ok().filter(|token| !token.is_empty())?;
        let address = env::var(ADDRESS).unwrap_or_else(|_| SUPERVISOR.to_string());
        Some(HomeAssistantSupervisor {
            address,
            token: Secret::new(token),
        })
    }

    /// Uses the broker of Home Assistant unless the owner has entered another one. Runs until it is stopped.
    pub(crate) async fn follow(
        self,
        dialer: Dialer,
        inbox: Inbox,
        view: watch::Receiver<Arc<View>>,
        mut stop: Stop,
    ) {
        tokio::select! {
            () = stop.stopped() => return,
            () = self.configure(&dialer, &inbox, &view) => {}
        }
        // The task must not end by itself: that would be handled as a failure.
        stop.stopped().await;
    }

    async fn configure(&self, dialer: &Dialer, inbox: &Inbox, view: &watch::Receiver<Arc<View>>) {
        let mut outage = Outage::default();
        let broker = loop {
            match self.broker(dialer).await {
                Ok(broker) => break broker,
                Err(reason) if outage.is_new(&reason) => {
                    tracing::warn!("no MQTT broker from Home Assistant ({reason}), retrying");
                }
                Err(_) => {}
            }
            sleep(RETRY).await;
        };
        let stored = {
            let settings = &view.borrow().settings.stored;
            let (host, user) = (settings.mqtt_host.expose(), settings.mqtt_user.clone());
            (host.to_string(), user)
        };
        let Some(body) = broker.change((&stored.0, &stored.1)) else {
            tracing::info!(
                "using the MQTT broker of the settings instead of the one of Home Assistant"
            );
            return;
        };
        let Value::Object(body) = body else { return };
        let patch = Patch {
            body,
            ..Patch::default()
        };
        match inbox.request(Request::Patch(patch)).await {
            Ok(Ok(_)) => {
                tracing::info!("using the MQTT broker of Home Assistant")
            }
            Ok(Err(refusal)) => tracing::warn!(
                ?refusal,
                "the settings refuse the MQTT broker of Home Assistant"
            ),
            // The clock is stopping.
            Err(_) => {}
        }
    }

    async fn broker(&self, dialer: &Dialer) -> Result<BrokerAnswer, String> {
        let url = Url::parse(&format!("{}/services/mqtt", self.address));
        let request = Get::new(url.map_err(|error| error.to_string())?).accepting_json();
        let request = request
            .with_secret(AUTHORIZATION, &format!("Bearer {}", self.token.expose()))
            .map_err(|error| error.to_string())?;
        let response = get(dialer, &Route::default(), request, LIMITS).await;
        let response = response.map_err(|error| error.to_string())?;
        parse(&response.body, &self.token)
    }
}

#[derive(Deserialize)]
struct ServiceResponse {
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    data: Option<Value>,
}

/// The MQTT broker of Home Assistant.
#[derive(Deserialize)]
struct BrokerAnswer {
    host: String,
    port: Port,
    #[serde(default)]
    ssl: bool,
    username: Option<String>,
    password: Option<String>,
}

/// A port: the Supervisor describes it as a number, and sends what the broker has registered.
#[derive(Deserialize)]
#[serde(untagged)]
enum Port {
    Number(u16),
    Text(String),
}

impl BrokerAnswer {
    /// The settings to change, given the host and the user in the settings. `None` if the owner has entered another
    /// broker or another user of this one.
    fn change(&self, stored: (&str, &str)) -> Option<Value> {
        let port = match &self.port {
            Port::Number(port) => Some(*port),
            Port::Text(text) => text.parse().ok(),
        };
        let user = self.username.as_deref().unwrap_or_default();
        let mut body = json!({
            "mqttHost": self.host,
            // 0 is the usual port.
            "mqttPort": port.unwrap_or_default(),
            "mqttTls": self.ssl,
            "mqttUser": user,
            "mqttPass": self.password.as_deref().unwrap_or_default(),
        });
        let is_new = stored.0.is_empty();
        if is_new {
            body["mqttEnabled"] = true.into();
        }
        (is_new || stored == (&self.host, user)).then_some(body)
    }
}

fn parse(body: &Bytes, token: &Secret) -> Result<BrokerAnswer, String> {
    let response: ServiceResponse =
        serde_json::from_slice(body).map_err(|_| "the answer is not JSON".to_string())?;
    let no_broker = || "the answer has no broker".to_string();
    match response.data {
        Some(Value::Object(data)) if !data.is_empty() => {
            serde_json::from_value(data.into()).map_err(|_| no_broker())
        }
        _ => Err(response
            .message
            .map_or_else(no_broker, |reason| token.hidden_in(&reason))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use super::*;

    fn broker(port: Value, ssl: bool) -> BrokerAnswer {
        let data = json!({
            "addon": "core_mosquitto", "host": "core-mosquitto", "port": port, "ssl": ssl,
            "username": "addons", "password": "planted", "protocol": "3.1.1",
        });
        let body = json!({ "result": "ok", "data": data }).to_string();
        parse(&body.into(), &Secret::default()).unwrap_or_else(|reason| panic!("{reason}"))
    }

    #[test]
    fn port_and_tls_are_those_of_the_answer() {
        for (port, ssl, expected) in [
            (json!(1884), false, 1884),
            (json!("1884"), true, 1884),
            (json!("-"), false, 0),
        ] {
            let change = broker(port, ssl).change(("", "")).unwrap();
            assert_eq!(
                (&change["mqttPort"], &change["mqttTls"]),
                (&json!(expected), &json!(ssl))
            );
        }
    }

    #[test]
    fn settings_of_the_owner_are_kept() {
        let broker = broker(json!(1883), false);
        assert_eq!(broker.change(("", "")).unwrap()["mqttEnabled"], true);
        // The password may be new, but MQTT stays off if the owner has switched it off.
        let again = broker.change(("core-mosquitto", "addons")).unwrap();
        assert_eq!(
            (&again["mqttPass"], again.get("mqttEnabled")),
            (&json!("planted"), None)
        );
        assert_eq!(broker.change(("broker.lan", "addons")), None);
        assert_eq!(broker.change(("core-mosquitto", "clock")), None);
    }

    #[test]
    fn no_broker_is_a_reason() {
        for (body, expected) in [
            (
                r#"{"result":"error","message":"Service not enabled"}"#,
                "Service not enabled",
            ),
            (r#"{"result":"ok","data":{}}"#, "the answer has no broker"),
            (
                r#"{"result":"ok","data":{"host":"x"}}"#,
                "the answer has no broker",
            ),
            (
                r#"{"result":"error","message":"bad header: Bearer planted"}"#,
                "bad header: Bearer ***",
            ),
            ("401: Unauthorized", "the answer is not JSON"),
        ] {
            let reason = parse(&body.into(), &Secret::new("planted")).err().unwrap();
            assert_eq!(reason, expected, "{body}");
        }
    }
}
