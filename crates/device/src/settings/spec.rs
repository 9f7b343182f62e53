//! The parts of a row of the settings table.

use alloc::vec::Vec;
use serde_json::Value;

use super::{Key, kinds::SettingKind};

/// One row of the settings table.
#[derive(Debug, Clone)]
pub struct Spec {
    /// The setting.
    pub key: Key,
    /// Name on the wire.
    pub name: &'static str,
    /// Older name on the wire.
    pub alias: Option<&'static str>,
    /// What it is, with its unit.
    pub doc: &'static str,
    /// Type and bounds.
    pub kind: &'static dyn SettingKind,
    /// Read and write access of clients.
    pub access: Access,
    /// When a change takes effect.
    pub apply: Apply,
    /// Group in the form and the documents.
    pub group: SettingGroup,
    /// Label in the form; empty if it is not in the form.
    pub title: &'static str,
    /// Help text in the form; often empty.
    pub help: &'static str,
    /// Unit of a number; empty if it has none.
    pub unit: &'static str,
    /// Conditions without which it has no effect; the form hides it then.
    pub needs: &'static [SettingCondition],
    /// Search terms; empty if there are none.
    pub search: &'static str,
    /// The form shows it behind "More".
    pub is_rare: bool,
    /// Initial state of its entity in Home Assistant. `None` if it has no entity.
    pub entity: Option<EntityDefault>,
}

/// Initial state of an entity in Home Assistant; the owner can change it there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntityDefault {
    /// Enabled.
    Enabled,
    /// Disabled.
    Disabled,
}

/// A condition without which a setting has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingCondition {
    /// A switch is on.
    On(Key),
    /// A number has one of these values.
    Among(Key, &'static [u32]),
    /// A text has this value.
    Chosen(Key, &'static str),
    /// The board has a part.
    Has(BoardPart),
}

impl SettingCondition {
    /// The key of the GET document that is tested, and the values that meet the condition.
    pub fn terms(self) -> (&'static str, Vec<Value>) {
        match self {
            SettingCondition::On(key) => (key.name(), Vec::from([Value::Bool(true)])),
            SettingCondition::Among(key, numbers) => (
                key.name(),
                numbers.iter().map(|number| Value::from(*number)).collect(),
            ),
            SettingCondition::Chosen(key, text) => (key.name(), Vec::from([Value::from(text)])),
            SettingCondition::Has(part) => (part.fact(), Vec::from([Value::Bool(true)])),
        }
    }
}

/// A part that a board may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoardPart {
    /// The frontlight.
    Frontlight,
    /// The light sensor.
    LightSensor,
    /// One panel that shows everything.
    Canvas,
    /// A managed radio; without one the network of the host is used.
    Radio,
}

impl BoardPart {
    /// Key of the GET document that shows whether the board has it.
    pub fn fact(self) -> &'static str {
        match self {
            BoardPart::Frontlight => "hasFrontlight",
            BoardPart::LightSensor => "hasLightLevel",
            BoardPart::Canvas => "hasOnePanel",
            BoardPart::Radio => "hasRadio",
        }
    }
}

/// Read and write access of clients to a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// In GET and PATCH.
    ReadWrite,
    /// In GET; ignored in PATCH.
    ReadOnly,
    /// In PATCH; GET shows only whether it is set, as `<name>Set`.
    WriteOnly,
    /// Stored, but neither in GET nor in PATCH under this name.
    Internal,
}

/// When a change takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Apply {
    /// At once, on these parts of the device.
    Live(&'static [Component]),
    /// At the next start.
    Reboot,
}

/// A part of the device that a live setting acts on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Component {
    /// Content, drawing or refreshing of the panels.
    Panels,
    /// The order and timing of screens.
    Rotation,
    /// The LED strip.
    Strip,
    /// The frontlight.
    Frontlight,
    /// The set of running data sources.
    Sources,
    /// The route of outbound connections.
    Outbound,
    /// Names announced on the local network.
    Advert,
    /// The radio and its timeouts.
    Wifi,
    /// Updates of the device.
    Update,
    /// The connection to the owner's broker and what is published there.
    Mqtt,
}

/// Group of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SettingGroup {
    /// Screens, their order and their time.
    Rotation,
    /// Display.
    Display,
    /// Clock and time zone.
    Time,
    /// Data sources.
    Data,
    /// The LED strip and the buttons.
    Lights,
    /// The frontlight.
    Frontlight,
    /// Do Not Disturb.
    Quiet,
    /// Mining pool.
    Pool,
    /// Miner.
    Miner,
    /// Nostr and zaps.
    Nostr,
    /// Nostr Wallet Connect.
    Wallet,
    /// Network.
    Network,
    /// Outbound proxy.
    Proxy,
    /// The owner's MQTT broker.
    Mqtt,
    /// HTTP authentication and updates.
    Access,
    /// Diagnostics.
    Diagnostics,
}

impl SettingGroup {
    /// All groups in display order.
    pub const ALL: &[SettingGroup] = &[
        SettingGroup::Rotation,
        SettingGroup::Display,
        SettingGroup::Time,
        SettingGroup::Data,
        SettingGroup::Lights,
        SettingGroup::Frontlight,
        SettingGroup::Quiet,
        SettingGroup::Pool,
        SettingGroup::Miner,
        SettingGroup::Nostr,
        SettingGroup::Wallet,
        SettingGroup::Network,
        SettingGroup::Proxy,
        SettingGroup::Mqtt,
        SettingGroup::Access,
        SettingGroup::Diagnostics,
    ];

    /// Id of the group in data.
    pub fn id(self) -> &'static str {
        match self {
            SettingGroup::Rotation => "rotation",
            SettingGroup::Display => "display",
            SettingGroup::Time => "time",
            SettingGroup::Data => "data",
            SettingGroup::Lights => "lights",
            SettingGroup::Frontlight => "frontlight",
            SettingGroup::Quiet => "quiet",
            SettingGroup::Pool => "pool",
            SettingGroup::Miner => "miner",
            SettingGroup::Nostr => "nostr",
            SettingGroup::Wallet => "wallet",
            SettingGroup::Network => "network",
            SettingGroup::Proxy => "proxy",
            SettingGroup::Mqtt => "mqtt",
            SettingGroup::Access => "access",
            SettingGroup::Diagnostics => "diagnostics",
        }
    }

    /// Heading of the group.
    pub fn heading(self) -> &'static str {
        match self {
            SettingGroup::Rotation => "Screens",
            SettingGroup::Display => "Display",
            SettingGroup::Time => "Time",
            SettingGroup::Data => "Data",
            SettingGroup::Lights => "LEDs and buttons",
            SettingGroup::Frontlight => "Frontlight",
            SettingGroup::Quiet => "Do Not Disturb",
            SettingGroup::Pool => "Mining pool",
            SettingGroup::Miner => "Miner",
            SettingGroup::Nostr => "Nostr and zaps",
            SettingGroup::Wallet => "Wallet",
            SettingGroup::Network => "Network",
            SettingGroup::Proxy => "Proxy",
            SettingGroup::Mqtt => "MQTT and Home Assistant",
            SettingGroup::Access => "Access and updates",
            SettingGroup::Diagnostics => "Diagnostics",
        }
    }
}

/// A key that is not a row of the table: it writes rows that GET also shows under other names.
#[derive(Debug, Clone)]
pub struct Virtual {
    /// Name on the wire.
    pub name: &'static str,
    /// What it is, with its unit.
    pub doc: &'static str,
    /// Its type.
    pub kind: &'static dyn SettingKind,
    /// In GET and PATCH, or only in PATCH.
    pub access: Access,
    /// Group in the form and the documents.
    pub group: SettingGroup,
    /// Label in the form.
    pub title: &'static str,
    /// Help text in the form.
    pub help: &'static str,
    /// Unit of a number; empty if it has none.
    pub unit: &'static str,
    /// Search terms.
    pub search: &'static str,
}
