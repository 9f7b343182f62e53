//! Automatic choice of the version of MQTT: 5, or 3.1.1 for a broker that does not support it.

use device::{mqtt::Broker, secret::Endpoint};
use mqtt_protocol_core::mqtt::Version;

use super::connection::ConnectionEnd;

/// Connections in a row that end without CONNACK after which the other version is tried.
const NO_CONNACK_MAX: u32 = 2;

/// The version of MQTT that is used if the setting is automatic.
pub(super) struct VersionChoice {
    /// Host and port of the broker that it is for.
    broker: Option<(Endpoint, u16)>,
    version: Version,
    /// Connections in a row that ended without CONNACK.
    no_connack: u32,
}

impl Default for VersionChoice {
    fn default() -> VersionChoice {
        VersionChoice {
            broker: None,
            version: Version::V5_0,
            no_connack: 0,
        }
    }
}

impl VersionChoice {
    /// The version for a broker; starts with 5 at another broker.
    pub(super) fn version(&mut self, broker: &Broker) -> Version {
        let address = Some((broker.host.clone(), broker.port));
        if self.broker != address {
            *self = VersionChoice {
                broker: address,
                ..VersionChoice::default()
            };
        }
        self.version
    }

    /// Takes the end of a connection. Returns whether to connect with 3.1.1 at once.
    pub(super) fn connection_ended(&mut self, end: &ConnectionEnd) -> bool {
        self.no_connack = match end {
            ConnectionEnd::NoConnack(_) => self.no_connack + 1,
            _ => 0,
        };
        let is_unsupported =
            *end == ConnectionEnd::UnsupportedVersion || self.no_connack >= NO_CONNACK_MAX;
        if !is_unsupported {
            return false;
        }
        self.no_connack = 0;
        self.version = match self.version {
            Version::V5_0 | Version::Undetermined => Version::V3_1_1,
            Version::V3_1_1 => Version::V5_0,
        };
        self.version == Version::V3_1_1
    }
}
