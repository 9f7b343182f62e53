//! Lists networks, and joins one.

use alloc::{string::String, vec::Vec};

use device::secret::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// The networks in range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Networks(pub Vec<Network>);

/// A network in range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Network {
    /// Name of the network.
    pub ssid: String,
    /// Signal strength, dBm.
    pub rssi: i32,
    /// Whether the network requires a password.
    pub secured: bool,
    /// The same as `secured`, under the name that newer pages read.
    pub secure: bool,
}

/// Name and password of a network, and the panel of the clock.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct NetworkCredentials {
    /// Name of the network.
    #[schemars(required, length(min = 1))]
    pub ssid: Option<String>,
    /// Missing or empty for an open network.
    #[serde(default, deserialize_with = "secret")]
    #[schemars(with = "String")]
    pub pw: Secret,
    /// Name of the panel that is connected, such as `waveshare-7.5-v2`; empty for simulated ones. Refused if flags or
    /// configuration name the panels.
    pub display: Option<String>,
}

/// A network was joined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Joined {
    /// Always true.
    #[schemars(extend("const" = true))]
    pub ok: bool,
    /// IP address of the clock in the network, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ip: Option<String>,
}

/// A network was not joined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NotJoined {
    /// Always false.
    #[schemars(extend("const" = false))]
    pub ok: bool,
    /// The reason for people.
    pub error: String,
    /// The reason for programs.
    pub code: &'static str,
    /// Number of the reason; 0 if it has none.
    pub reason: u16,
}

/// Reads a secret; null is an empty one.
fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Secret, D::Error> {
    let text: Option<String> = Option::deserialize(deserializer)?;
    Ok(Secret::new(text.unwrap_or_default()))
}
