//! What the clock needs of the owner's MQTT broker, computed from the active settings.

use alloc::{string::String, sync::Arc, vec::Vec};

use crate::{
    canvas::Layout,
    secret::{Endpoint, Secret},
    settings::{Settings, kinds::topic},
    sources::Route,
};

/// Default port without TLS.
const PLAIN_PORT: u16 = 1883;

/// Default port with TLS.
const TLS_PORT: u16 = 8883;

/// The group of all clocks.
pub const ALL: &str = "all";

/// What the clock needs of the broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MqttPlan {
    /// MQTT is switched off: retained messages of the clock are to be removed.
    Off,
    /// No connection at the moment.
    Paused,
    /// A connection.
    On(Arc<Broker>),
}

/// A broker and what is published there; any difference starts a new connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broker {
    /// Its host.
    pub host: Endpoint,
    /// Its port.
    pub port: u16,
    /// TLS parameters. `None` without TLS.
    pub tls: Option<Tls>,
    /// User name; empty if none.
    pub user: String,
    /// Password.
    pub pass: Secret,
    /// Client id.
    pub client_id: String,
    /// Version of the protocol.
    pub protocol: MqttProtocol,
    /// Keep-alive interval, s.
    pub keep_alive_secs: u16,
    /// First level of the topics of all clocks.
    pub base: String,
    /// The clock's own level below that.
    pub id: String,
    /// Groups of the clock, the group of all clocks first.
    pub groups: Vec<String>,
    /// Publishes a picture of the panels.
    pub panels: bool,
    /// How that picture is divided.
    pub layout: Layout,
    /// Home Assistant discovery. `None` if it is switched off.
    pub home_assistant: Option<HomeAssistant>,
    /// Route of outbound connections.
    pub route: Route,
    /// Number of reconnects requested by clients: a change starts a new connection.
    pub restarts: u32,
}

/// TLS parameters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tls {
    /// CA certificates that are trusted in addition to the public ones, as stored.
    pub authorities: Secret,
    /// Client certificate as stored; empty if none.
    pub certificate: Secret,
    /// Key of that certificate, as stored.
    pub key: Secret,
}

/// Version of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MqttProtocol {
    /// Version 5, or 3.1.1 if the broker does not know it.
    Automatic,
    /// Version 5.
    V5,
    /// Version 3.1.1.
    V3,
}

/// Topics of Home Assistant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeAssistant {
    /// First level of its discovery topics.
    pub prefix: String,
    /// Topic on which it announces its start.
    pub status_topic: String,
}

/// The plan for a clock with this host name and these settings.
pub fn plan(settings: &Settings, hostname: &str, restarts: u32) -> MqttPlan {
    if !settings.mqtt_enabled || settings.mqtt_host.is_empty() {
        return MqttPlan::Off;
    }
    let tls = settings.mqtt_tls.then(|| Tls {
        authorities: settings.mqtt_ca.clone(),
        certificate: settings.mqtt_cert.clone(),
        key: settings.mqtt_key.clone(),
    });
    let usual = if tls.is_some() { TLS_PORT } else { PLAIN_PORT };
    let port = u16::try_from(settings.mqtt_port).unwrap_or(0);
    let client_id = match settings.mqtt_client_id.as_str() {
        "" => hostname,
        id => id,
    };
    let home_assistant = settings.ha_discovery.then(|| HomeAssistant {
        prefix: settings.ha_prefix.clone(),
        status_topic: settings.ha_status_topic.clone(),
    });
    MqttPlan::On(Arc::new(Broker {
        host: settings.mqtt_host.clone(),
        port: if port == 0 { usual } else { port },
        tls,
        user: settings.mqtt_user.clone(),
        pass: settings.mqtt_pass.clone(),
        client_id: client_id.into(),
        protocol: match settings.mqtt_protocol {
            1 => MqttProtocol::V5,
            2 => MqttProtocol::V3,
            _ => MqttProtocol::Automatic,
        },
        keep_alive_secs: u16::try_from(settings.mqtt_keep_alive).unwrap_or(u16::MAX),
        base: settings.mqtt_base.clone(),
        id: hostname.into(),
        groups: groups(settings),
        panels: settings.mqtt_panels,
        layout: match settings.mqtt_picture {
            1 => Layout::Figure,
            2 => Layout::Board,
            _ => Layout::Cells,
        },
        home_assistant,
        route: Route::of(settings),
        restarts,
    }))
}

/// Groups of a clock with these settings, the group of all clocks first.
pub fn groups(settings: &Settings) -> Vec<String> {
    let named = topic::names(&settings.mqtt_groups).filter(|name| *name != ALL);
    let all = core::iter::once(ALL).chain(named);
    all.map(String::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broker(change: impl FnOnce(&mut Settings)) -> Option<Arc<Broker>> {
        let mut settings = Settings {
            mqtt_enabled: true,
            mqtt_host: Endpoint::new("broker"),
            ..Settings::default()
        };
        change(&mut settings);
        match plan(&settings, "papertick-abcdef", 0) {
            MqttPlan::On(broker) => Some(broker),
            MqttPlan::Off | MqttPlan::Paused => None,
        }
    }

    #[test]
    fn a_broker_has_the_usual_port_unless_it_has_another() {
        for (port, tls, expected) in [
            (0, false, 1883),
            (0, true, 8883),
            (1884, false, 1884),
            (1884, true, 1884),
        ] {
            let broker = broker(|settings| {
                settings.mqtt_port = port;
                settings.mqtt_tls = tls;
            });
            assert_eq!(broker.map(|broker| broker.port), Some(expected));
        }
    }

    #[test]
    fn a_clock_belongs_to_all_clocks_and_to_its_groups() {
        let groups = |list: &str| {
            let broker = broker(|settings| settings.mqtt_groups = list.into());
            broker.map(|broker| broker.groups.join(" "))
        };
        assert_eq!(groups("").as_deref(), Some("all"));
        assert_eq!(
            groups("shop,all,hall-2").as_deref(),
            Some("all shop hall-2")
        );
    }
}
