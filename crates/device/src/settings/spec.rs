//! What one row of the settings table says.

use alloc::vec::Vec;
use serde_json::Value;

use super::{Key, kinds::SettingKind};

/// One row of the settings table.
#[derive(Debug, Clone)]
pub struct Spec {
    /// Which setting.
    pub key: Key,
    /// Name on the wire.
    pub name: &'static str,
    /// Second name on the wire, known to older clients.
    pub alias: Option<&'static str>,
    /// What it is, with its unit.
    pub doc: &'static str,
    /// Type and bounds.
    pub kind: &'static dyn SettingKind,
    /// Who may read and write it.
    pub access: Access,
    /// When a change takes effect.
    pub apply: Apply,
    /// Heading under which people find it.
    pub group: SettingGroup,
    /// Its short name in a form; empty if it is in none.
    pub title: &'static str,
    /// What else a person should know who changes it; often nothing.
    pub help: &'static str,
    /// Unit of a number; empty if it has none.
    pub unit: &'static str,
    /// What must hold for it to mean anything; a form shows it only then.
    pub needs: &'static [SettingCondition],
    /// Other words by which people look for it; empty if there are none.
    pub search: &'static str,
    /// Few people change it: a form shows it behind "More".
    pub is_rare: bool,
    /// How it first is as an entity of a smart home; `None` if it is no entity.
    pub entity: Option<EntityDefault>,
}

/// How a setting first is as an entity of a smart home; the owner can change that there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntityDefault {
    /// It can be used at once.
    Enabled,
    /// It has to be enabled first.
    Disabled,
}

/// A condition without which a setting has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingCondition {
    /// A switch is on.
    On(Key),
    /// A number is one of these.
    Among(Key, &'static [u32]),
    /// A text is this one.
    Chosen(Key, &'static str),
    /// The board has a part.
    Has(BoardPart),
}

impl SettingCondition {
    /// The key of the GET document that it is about, and the values that meet it.
    pub fn terms(self) -> (&'static str, Vec<Value>) {
        match self {
            SettingCondition::On(key) => (key.name(), Vec::from([Value::Bool(true)])),
            SettingCondition::Among(key, numbers) => (
                key.name(),
                numbers.iter().map(|number| Value::from(*number)).collect(),
            ),
            SettingCondition::Chosen(key, text) => (key.name(), Vec::from([Value::from(text)])),
            SettingCondition::Has(part) => (part.told_as(), Vec::from([Value::Bool(true)])),
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
    /// A radio that the clock manages; elsewhere the network is the host's.
    Radio,
}

impl BoardPart {
    /// Key of the GET document that tells whether the board has it.
    pub fn told_as(self) -> &'static str {
        match self {
            BoardPart::Frontlight => "hasFrontlight",
            BoardPart::LightSensor => "hasLightLevel",
            BoardPart::Radio => "hasRadio",
        }
    }
}

/// Who may read and write a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// In GET and PATCH.
    ReadWrite,
    /// In GET; a PATCH that names it is not refused and changes nothing.
    ReadOnly,
    /// In PATCH; GET tells only whether it is set, as `<name>Set`.
    WriteOnly,
    /// Stored with the others, but in neither GET nor PATCH under this name.
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
    /// The way outbound connections take.
    Outbound,
    /// Names announced on the local network.
    Advert,
    /// The radio and its guard.
    Wifi,
    /// Updates of the device.
    Update,
    /// What is told to the owner's broker, and how it is reached.
    Mqtt,
}

/// Heading under which people find a setting.
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
    /// All groups, in the order in which people see them.
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

    /// Word for the group in data.
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

/// A key that is no row of the table: it writes rows that GET also shows under other names.
#[derive(Debug, Clone)]
pub struct Virtual {
    /// Name on the wire.
    pub name: &'static str,
    /// What it is, with its unit.
    pub doc: &'static str,
    /// Its shape.
    pub kind: &'static dyn SettingKind,
    /// In GET too, or in PATCH alone.
    pub access: Access,
    /// Heading under which people find it.
    pub group: SettingGroup,
    /// Its short name in a form.
    pub title: &'static str,
    /// What else a person should know who changes it.
    pub help: &'static str,
    /// Unit of a number; empty if it has none.
    pub unit: &'static str,
    /// Other words by which people look for it.
    pub search: &'static str,
}
