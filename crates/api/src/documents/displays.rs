//! Remote displays: the list for their owner, and the protocol of TRMNL.

use alloc::{string::String, vec::Vec};
use core::time::Duration;

use device::canvas::{Depth, Layout, Turn};
use device::displays::{Battery, DisplayContent, DisplayLogLine, DisplayState};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;

use super::screens::ScreenId;

/// All remote displays.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DisplayList {
    /// The approved ones, then those that wait for approval.
    pub displays: Vec<RemoteDisplay>,
    /// Greatest number of displays.
    pub max: usize,
}

/// A remote display.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemoteDisplay {
    /// Id of the display, six hex digits.
    pub id: String,
    /// Hardware address; null if the display sends none.
    pub mac: Option<String>,
    /// Name of the display; empty by default.
    pub name: String,
    /// `waiting` for approval, or `approved`.
    pub state: &'static str,
    /// Id of the approved display that this display replaces on approval, because their hardware addresses are equal.
    pub replaces: Option<String>,
    /// Model; null if the display sends none.
    pub model: Option<String>,
    /// Version of the firmware; null if the display sends none.
    pub firmware: Option<String>,
    /// Width of the picture, px.
    pub width: u32,
    /// Height of the picture, px.
    pub height: u32,
    /// Bits per pixel.
    pub depth: u32,
    /// Clockwise rotation of the picture, degrees.
    pub rotate: u32,
    /// Layout: `auto`, which is `figure`; `board`; `cells`, or these as `row`, `two-rows` or `column`.
    pub layout: &'static str,
    /// Screens of its board in its newest picture; null if it has another layout, or no picture was drawn.
    pub tiles: Option<ShownTiles>,
    /// White on black; null: as on the panels.
    pub dark: Option<bool>,
    /// Content: the `clock`, one `screen`, or a `rotation` of its own.
    pub content: &'static str,
    /// Ids of the screens.
    pub screens: Vec<u16>,
    /// Accepted age of a picture, min.
    pub interval_min: u32,
    /// Battery; null if the display reports none.
    pub battery: Option<DisplayBattery>,
    /// Strength of the Wi-Fi signal, dBm; null if the display sends none.
    pub rssi: Option<i32>,
    /// Time since the last contact, s; null before the first contact since the start.
    pub last_contact_sec: Option<u64>,
    /// Time until the expected next contact, s; null if unknown.
    pub next_contact_sec: Option<u64>,
    /// The newest log lines, oldest first.
    pub log: Vec<DisplayLog>,
    /// Token of the display, only in the answer that adds the display.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub token: Option<String>,
}

/// How many screens of a board had room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ShownTiles {
    /// Number of screens that are shown, from the first on.
    pub shown: usize,
    /// Number of screens of the board.
    pub of: usize,
}

/// The battery of a remote display.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DisplayBattery {
    /// Voltage, V; null if unknown.
    pub volts: Option<f64>,
    /// Charge, percent; null if unknown.
    pub percent: Option<u8>,
    /// Whether the battery is being charged; null if unknown.
    pub charging: Option<bool>,
}

/// A line of the log of a remote display.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DisplayLog {
    /// When it was written, s since 1970-01-01 UTC; null if unknown.
    pub at: Option<i64>,
    /// Level of the line.
    pub level: String,
    /// The message.
    pub message: String,
}

impl RemoteDisplay {
    /// A display at an uptime.
    pub fn of(state: &DisplayState, uptime: Duration) -> RemoteDisplay {
        let DisplayState {
            display,
            is_approved,
            replaces,
            report,
        } = state;
        let contact = &report.contact;
        RemoteDisplay {
            id: display.id.clone(),
            mac: display.mac.clone().or_else(|| contact.mac.clone()),
            name: display.name.clone(),
            state: if *is_approved { "approved" } else { "waiting" },
            replaces: replaces.clone(),
            model: contact.model.clone(),
            firmware: contact.firmware.clone(),
            width: display.canvas.width,
            height: display.canvas.height,
            depth: display.canvas.depth.bits(),
            rotate: display.canvas.turn.degrees(),
            layout: display.canvas.layout.name(),
            tiles: None,
            dark: display.canvas.dark,
            content: display.content.word(),
            screens: display.screens.clone(),
            interval_min: display.interval_min,
            battery: contact.battery.map(DisplayBattery::of),
            rssi: contact.rssi,
            last_contact_sec: report
                .last_contact
                .map(|at| uptime.saturating_sub(at).as_secs()),
            next_contact_sec: report
                .next_contact
                .map(|at| at.saturating_sub(uptime).as_secs()),
            log: report.log.iter().map(DisplayLog::of).collect(),
            token: None,
        }
    }
}

impl DisplayBattery {
    /// The state of a battery.
    pub fn of(battery: Battery) -> DisplayBattery {
        DisplayBattery {
            volts: battery.millivolts.map(|volts| f64::from(volts) / 1e3),
            percent: battery.percent,
            charging: battery.charging,
        }
    }
}

impl DisplayLog {
    /// A line.
    pub fn of(line: &DisplayLogLine) -> DisplayLog {
        DisplayLog {
            at: line.unix_s,
            level: line.level.clone(),
            message: line.message.clone(),
        }
    }
}

/// A change of a remote display, or a new one; absent members stay as they are.
#[derive(Debug, Clone, PartialEq, Eq, Default, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DisplayChange {
    /// Name of the display, at most 64 bytes.
    #[serde(default)]
    #[schemars(with = "String")]
    pub name: Option<String>,
    /// `approved` approves a waiting display.
    #[serde(default)]
    #[schemars(schema_with = "states")]
    pub state: Option<String>,
    /// Width of the picture, px.
    #[serde(default)]
    #[schemars(with = "u32", range(min = 200, max = 3840))]
    pub width: Option<u32>,
    /// Height of the picture, px.
    #[serde(default)]
    #[schemars(with = "u32", range(min = 100, max = 2160))]
    pub height: Option<u32>,
    /// Bits per pixel.
    #[serde(default)]
    #[schemars(schema_with = "depths")]
    pub depth: Option<u8>,
    /// Clockwise rotation of the picture, degrees.
    #[serde(default)]
    #[schemars(schema_with = "turns")]
    pub rotate: Option<u16>,
    /// Layout of its picture.
    #[serde(default)]
    #[schemars(schema_with = "layouts")]
    pub layout: Option<String>,
    /// White on black; null: as on the panels.
    #[serde(default)]
    pub dark: Option<bool>,
    /// Content of the display.
    #[serde(default)]
    #[schemars(schema_with = "contents")]
    pub content: Option<String>,
    /// Ids of the screens, at most 32; `screen` shows the first one.
    #[serde(default)]
    #[schemars(with = "Vec<ScreenId>", length(max = 32), extend("uniqueItems" = true))]
    pub screens: Option<Vec<u16>>,
    /// Accepted age of a picture, min.
    #[serde(default)]
    #[schemars(with = "u32", range(min = 1, max = 1440))]
    pub interval_min: Option<u32>,
}

fn states(_generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": ["approved", "waiting"] })
}

pub(super) fn depths(_generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer", "enum": Depth::ALL.map(Depth::bits) })
}

pub(super) fn turns(_generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer", "enum": Turn::ALL.map(Turn::degrees) })
}

pub(super) fn layouts(_generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": Layout::ALL.map(Layout::name) })
}

fn contents(_generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": DisplayContent::ALL.map(DisplayContent::word) })
}

/// Answer to the setup request of a TRMNL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TrmnlSetup {
    /// 200: the display is registered.
    pub status: u16,
    /// Token of the display.
    pub api_key: String,
    /// Id of the display.
    pub friendly_id: String,
    /// Address of the first picture.
    pub image_url: String,
    /// What to do next, for people; at most 127 characters.
    pub message: String,
}

/// Answer to the picture request of a TRMNL or a compatible client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TrmnlDisplay {
    /// 0: there is a picture; of a display that waits for approval it has the id and how to approve it.
    pub status: u16,
    /// Absolute address of the picture, at most 1023 characters.
    pub image_url: String,
    /// Timeout of the download, s.
    pub image_url_timeout: u32,
    /// Name of the picture; the same picture has the same name.
    pub filename: String,
    /// Time after which to return, s.
    pub refresh_rate: u64,
    /// False: papertick has no firmware for displays.
    pub update_firmware: bool,
    /// Null.
    pub firmware_url: Option<String>,
    /// Null.
    pub firmware_version: Option<String>,
    /// False: the display keeps its token.
    pub reset_firmware: bool,
    /// Action of the button: `restart_playlist`, or `none` without a rotation of its own.
    pub special_function: &'static str,
    /// `restart_playlist`, only in the answer to a press of the button.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub action: Option<&'static str>,
    /// False: partial refreshes are allowed.
    pub maximum_compatibility: bool,
    /// Waveforms for the temperature.
    pub temperature_profile: &'static str,
}

/// The picture that a display shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TrmnlScreen {
    /// 200.
    pub status: u16,
    /// Time after which to return, s.
    pub refresh_rate: u64,
    /// Absolute address of the picture.
    pub image_url: String,
    /// Name of the picture.
    pub filename: String,
    /// Null.
    pub rendered_at: Option<String>,
}

/// Log lines of a display: `logs` of TRMNL, or `log` of Kobo.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
pub struct TrmnlLog {
    /// Lines with a level and a time.
    #[serde(default)]
    // Client generators do not read `true` as a schema.
    #[schemars(with = "Vec<Value>", extend("items" = serde_json::json!({})))]
    pub logs: Option<Vec<Value>>,
    /// Lines as texts.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub log: Option<Vec<String>>,
}
