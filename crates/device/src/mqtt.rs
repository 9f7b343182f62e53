//! What the clock wants of its owner's MQTT broker: computed from the active settings, never switched by hand.

use alloc::{string::String, sync::Arc, vec::Vec};

use crate::{
    secret::{Endpoint, Secret},
    settings::{Settings, kinds::topic},
    sources::{self, RouteSettings},
};

/// Port of a broker that is spoken to in the clear.
const PLAIN_PORT: u16 = 1883;

/// Port of a broker that is spoken to over TLS.
const TLS_PORT: u16 = 8883;

/// The group to which every clock belongs.
pub const ALL: &str = "all";

/// What the clock wants of the broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MqttPlan {
    /// The owner wants no connection: what the broker keeps of the clock is to be taken away.
    Off,
    /// There is to be no connection at the moment.
    Paused,
    /// A connection.
    On(Arc<Broker>),
}

/// A broker, and what it is told; any difference begins a new connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broker {
    /// Its host.
    pub host: Endpoint,
    /// Its port.
    pub port: u16,
    /// How the connection is secured; none if it is not.
    pub tls: Option<Tls>,
    /// User name; empty for none.
    pub user: String,
    /// Password.
    pub pass: Secret,
    /// Name of the connection.
    pub client_id: String,
    /// Version of the protocol.
    pub protocol: MqttProtocol,
    /// Longest silence, s.
    pub keep_alive_secs: u16,
    /// What the topics of all clocks begin with.
    pub base: String,
    /// The clock's own level below that.
    pub id: String,
    /// Groups to which the clock belongs, the one of all clocks first.
    pub groups: Vec<String>,
    /// Publishes a picture of the panels.
    pub panels: bool,
    /// Home Assistant; none where it is not told of the clock.
    pub home_assistant: Option<HomeAssistant>,
    /// The way outbound connections take.
    pub route: RouteSettings,
    /// How often a client asked for a new connection: another number starts one.
    pub restarts: u32,
}

/// How a connection is secured.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tls {
    /// Authorities that are trusted beside the public ones, as they are stored.
    pub authorities: Secret,
    /// Certificate of the clock, as it is stored; empty for none.
    pub certificate: Secret,
    /// Key of that certificate, as it is stored.
    pub key: Secret,
}

/// Version of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MqttProtocol {
    /// Version 5, and 3.1.1 with a broker that does not know it.
    Automatic,
    /// Version 5.
    V5,
    /// Version 3.1.1.
    V3,
}

/// Where Home Assistant listens and speaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeAssistant {
    /// What the topics of its discovery begin with.
    pub prefix: String,
    /// Topic on which it says that it has started.
    pub status_topic: String,
}

/// What the settings of a clock with this host name want.
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
        home_assistant,
        route: sources::route(settings),
        restarts,
    }))
}

/// Groups to which a clock with these settings belongs, the one of all clocks first.
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
    fn the_version_that_was_chosen_is_the_one_that_is_spoken() {
        for (chosen, spoken) in [
            (0, MqttProtocol::Automatic),
            (1, MqttProtocol::V5),
            (2, MqttProtocol::V3),
        ] {
            let broker = broker(|settings| settings.mqtt_protocol = chosen);
            assert_eq!(broker.map(|broker| broker.protocol), Some(spoken));
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

    #[test]
    fn what_is_not_set_follows_from_the_host_name() {
        let client_id = |id: &str| {
            let broker = broker(|settings| settings.mqtt_client_id = id.into());
            broker.map(|broker| broker.client_id.clone())
        };
        assert_eq!(client_id("").as_deref(), Some("papertick-abcdef"));
        assert_eq!(client_id("me").as_deref(), Some("me"));
    }

    #[test]
    fn without_a_host_there_is_no_broker() {
        assert_eq!(
            broker(|settings| settings.mqtt_host = Endpoint::default()),
            None
        );
        assert_eq!(broker(|settings| settings.mqtt_enabled = false), None);
    }
}
