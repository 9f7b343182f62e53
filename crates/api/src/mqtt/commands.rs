//! Parses messages from the broker into requests to the device. Bodies and errors are those of HTTP.

use alloc::{
    string::{String, ToString},
    vec,
    vec::Vec,
};

use device::{
    json,
    lights::{Rgb, frontlight::DUTY_MAX},
    settings::{Key, transfer::secret_in},
    view::View,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::topics::{IncomingTopic, Lamp, QuietHoursBound, Scope};
use crate::{
    answer::Answer,
    device_call::DeviceCall,
    documents::lights::{BrightnessChoice, ColourChoice, ColourName},
    operation::{BodyRule, Operation},
    operations,
    parameters::{Parameters, whole_number},
};

/// Longest request id that is sent back, bytes.
pub const REQUEST_ID_MAX: usize = 64;

/// Longest version name of retained settings, bytes.
pub const REV_MAX: usize = 64;

/// Largest payload that is accepted, bytes: the largest body of an operation.
pub const PAYLOAD_MAX: usize = device::limits::PATCH_BODY_MAX;

/// Highest brightness of a lamp in Home Assistant.
const BRIGHTNESS_MAX: u32 = 255;

/// Operations that are refused for groups.
const NOT_FOR_GROUPS: &[&str] = &["factory_reset"];

/// Operations that the clocks of a group execute after a random delay: otherwise all clocks would be away, or query the
/// same source, at once.
const DELAYED_IN_GROUPS: &[&str] = &["restart", "restart_datasources", AUTO_UPDATE];

/// Name of the operation that installs the newest release.
const AUTO_UPDATE: &str = "firmware/auto_update";

/// Name of the operation that changes settings.
const CHANGE_SETTINGS: &str = "settings";

const WHITE: Rgb = Rgb {
    red: 255,
    green: 255,
    blue: 255,
};

/// What a command does.
#[derive(Debug)]
pub enum CommandAction {
    /// Sends requests to the device, in order until the first one that fails.
    Device(Vec<DeviceCall>),
    /// Installs the newest release.
    InstallNewestRelease,
}

impl CommandAction {
    fn device(call: DeviceCall) -> CommandAction {
        CommandAction::Device(vec![call])
    }
}

/// A received command.
#[derive(Debug)]
pub struct MqttCommand {
    /// Its name in the result.
    pub name: String,
    /// The sender's id of the request.
    pub request_id: Option<Value>,
    /// What it does, or why it is refused.
    pub action: Result<CommandAction, Answer>,
    /// It is executed after a random delay of up to half a minute.
    pub is_delayed: bool,
}

/// Settings that are retained at the broker.
#[derive(Debug, Clone, PartialEq)]
pub struct RetainedSettings {
    /// Name of their version; empty if there is none.
    pub rev: String,
    /// A change as for `PATCH /api/settings`.
    pub settings: Map<String, Value>,
}

/// Retained settings that cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidSettings {
    /// Name of their version; empty if it could not be read.
    pub rev: String,
    /// The token of the HTTP error.
    pub error: String,
}

impl InvalidSettings {
    /// Settings without a readable version.
    pub fn without_rev(error: &str) -> InvalidSettings {
        InvalidSettings {
            rev: String::new(),
            error: error.into(),
        }
    }
}

/// Name of a command in its result. `None` if the topic is not for commands.
pub fn command_name(topic: IncomingTopic<'_>) -> Option<String> {
    match topic {
        IncomingTopic::Command(_, name) => Some(name.into()),
        IncomingTopic::SettingsChange(_) => Some("set".into()),
        IncomingTopic::Lamp(lamp) => Some(lamp.topic()),
        IncomingTopic::QuietHours(bound) => Some(bound.topic().into()),
        IncomingTopic::RetainedSettings(_) | IncomingTopic::HomeAssistantStatus => None,
    }
}

/// Parses a command. `None` if the topic is not for commands.
pub fn parse(topic: IncomingTopic<'_>, payload: &[u8], view: &View) -> Option<MqttCommand> {
    let mut is_delayed = false;
    let action = match topic {
        IncomingTopic::Command(scope, name) => {
            let is_group = scope != Scope::Own;
            is_delayed = is_group && DELAYED_IN_GROUPS.contains(&name);
            if is_group && NOT_FOR_GROUPS.contains(&name) {
                Err(Answer::error(403, "not for groups"))
            } else if name == AUTO_UPDATE {
                Ok(CommandAction::InstallNewestRelease)
            } else {
                operation(name, payload, view).map(CommandAction::device)
            }
        }
        IncomingTopic::SettingsChange(_) => {
            operation(CHANGE_SETTINGS, payload, view).map(CommandAction::device)
        }
        IncomingTopic::Lamp(lamp) => parse_lamp(lamp, payload, view).map(CommandAction::Device),
        IncomingTopic::QuietHours(bound) => {
            parse_quiet_hours(bound, payload, view).map(CommandAction::device)
        }
        IncomingTopic::RetainedSettings(_) | IncomingTopic::HomeAssistantStatus => return None,
    };
    Some(MqttCommand {
        name: command_name(topic)?,
        request_id: request_id(payload),
        action,
        is_delayed,
    })
}

/// The sender's id of a request.
pub fn request_id(payload: &[u8]) -> Option<Value> {
    let body = json::parse(payload)?;
    match body.get("id")? {
        Value::String(id) if id.len() <= REQUEST_ID_MAX => Some(id.as_str().into()),
        Value::Number(id) => Some(id.clone().into()),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            None
        }
    }
}

/// Parses retained settings. `None` if the payload is empty, which removes them.
///
/// # Errors
/// They cannot be parsed, or contain a secret, which every subscriber could read.
pub fn parse_retained_settings(
    payload: &[u8],
    view: &View,
) -> Result<Option<RetainedSettings>, InvalidSettings> {
    if payload.is_empty() {
        return Ok(None);
    }
    let mut document = match json::parse(payload) {
        Some(Value::Object(members)) => members,
        Some(_) => return Err(InvalidSettings::without_rev("not_object")),
        None => return Err(InvalidSettings::without_rev("json")),
    };
    let rev = match document.remove("rev") {
        Some(Value::String(rev)) if (1..=REV_MAX).contains(&rev.len()) => rev,
        Some(Value::Number(rev)) => rev.to_string(),
        None => String::new(),
        Some(_) => return Err(InvalidSettings::without_rev("rev:bad_type")),
    };
    let Some(Value::Object(settings)) = document.remove("settings") else {
        let error = "settings:bad_type".into();
        return Err(InvalidSettings { rev, error });
    };
    match secret_in(&settings, &view.settings.stored) {
        Some(name) => {
            let error = alloc::format!("{name}:secret");
            Err(InvalidSettings { rev, error })
        }
        None => Ok(Some(RetainedSettings { rev, settings })),
    }
}

/// The request of an operation with this payload as its body.
fn operation(name: &str, payload: &[u8], view: &View) -> Result<DeviceCall, Answer> {
    let operation = operations::named(name).ok_or_else(|| Answer::error(404, "not found"))?;
    operations::command(name, parameters(operation, payload)?, view)
}

/// The request of an operation with this document as its body.
fn operation_with<T: Serialize>(name: &str, body: &T, view: &View) -> Result<DeviceCall, Answer> {
    let body = serde_json::to_vec(body).unwrap_or_default();
    operation(name, &body, view)
}

fn parameters(operation: &Operation, payload: &[u8]) -> Result<Parameters, Answer> {
    if payload.len() > operation.body_max {
        return Err(Answer::error(413, "too large"));
    }
    Ok(match operation.body {
        BodyRule::None => Parameters::default(),
        BodyRule::Optional(_) | BodyRule::BodyOrQuery(_) | BodyRule::Required(_) => {
            Parameters::body(payload)
        }
    })
}

/// Parses a time of day such as `22:05` or `22:05:00`, the new start or end of the quiet hours.
fn parse_quiet_hours(
    bound: QuietHoursBound,
    payload: &[u8],
    view: &View,
) -> Result<DeviceCall, Answer> {
    let text = core::str::from_utf8(payload).unwrap_or_default().trim();
    let mut parts = text.split(':').map(|part| part.parse::<u32>().ok());
    let (hour, minute) = match (parts.next().flatten(), parts.next().flatten()) {
        (Some(hour), Some(minute)) => (hour, minute),
        (_, _) => return Err(Answer::bad_request("bad time")),
    };
    let stored = &view.settings.stored;
    let from = (stored.dnd_start_hour, stored.dnd_start_min);
    let until = (stored.dnd_end_hour, stored.dnd_end_min);
    let (from, until) = match bound {
        QuietHoursBound::From => ((hour, minute), until),
        QuietHoursBound::Until => (from, (hour, minute)),
    };
    let change = json!({ "dnd": {
        "startHour": from.0, "startMinute": from.1, "endHour": until.0, "endMinute": until.1,
    } });
    operation_with(CHANGE_SETTINGS, &change, view)
}

/// Parses a light command of Home Assistant. It has only the members that change.
fn parse_lamp(lamp: Lamp, payload: &[u8], view: &View) -> Result<Vec<DeviceCall>, Answer> {
    let body = json::parse(payload).ok_or_else(|| Answer::bad_request("bad json"))?;
    let is_on = match body.get("state").and_then(Value::as_str) {
        Some("ON") => true,
        Some("OFF") => false,
        Some(_) | None => return Err(Answer::bad_request("bad state")),
    };
    let colour = body.get("color").map(parse_colour).transpose();
    let colour = colour.map_err(Answer::bad_request)?;
    let brightness = match body.get("brightness").map(whole_number) {
        Some(Some(level @ 0..)) => Some(level.unsigned_abs()),
        Some(_) => return Err(Answer::bad_request("out of range")),
        None => None,
    };
    match lamp {
        Lamp::Strip if !is_on => Ok(vec![operation_with("lights/off", &Value::Null, view)?]),
        Lamp::Strip => switch_strip_on(colour, brightness, body.get("effect"), view),
        Lamp::Led(index) if index >= view.lights.len() => Err(Answer::error(404, "not found")),
        Lamp::Led(index) => {
            let current = view.lights.get(index).copied().unwrap_or_default();
            let mut lights = view.lights.clone();
            if let Some(led) = lights.get_mut(index) {
                *led = match (is_on, colour) {
                    (false, _) => Rgb::BLACK,
                    (true, Some(colour)) => colour,
                    (true, None) if current == Rgb::BLACK => WHITE,
                    (true, None) => current,
                };
            }
            let pixels: Value = lights
                .iter()
                .map(|led| json!({ "hex": led.hex() }))
                .collect();
            Ok(vec![operation_with("lights/set", &pixels, view)?])
        }
        Lamp::Frontlight if !is_on => {
            Ok(vec![operation_with("frontlight/off", &Value::Null, view)?])
        }
        Lamp::Frontlight => {
            let mut calls = vec![operation_with("frontlight/on", &Value::Null, view)?];
            if let Some(level) = brightness {
                let b = level.min(DUTY_MAX.into());
                let duty = BrightnessChoice { b };
                calls.push(operation_with("frontlight/brightness", &duty, view)?);
            }
            Ok(calls)
        }
    }
}

/// Requests that switch the strip on. A dark strip without a colour becomes white.
fn switch_strip_on(
    colour: Option<Rgb>,
    brightness: Option<u64>,
    effect: Option<&Value>,
    view: &View,
) -> Result<Vec<DeviceCall>, Answer> {
    let mut calls = Vec::new();
    if let Some(level) = brightness {
        let change = json!({ Key::led_brightness.name(): level.min(BRIGHTNESS_MAX.into()) });
        calls.push(operation_with(CHANGE_SETTINGS, &change, view)?);
    }
    if let Some(name) = effect {
        let effect = json!({ "name": name });
        calls.push(operation_with("lights/effect", &effect, view)?);
        return Ok(calls);
    }
    let is_dark = view.lights.iter().all(|led| *led == Rgb::BLACK);
    if let Some(colour) = colour.or(is_dark.then_some(WHITE)) {
        let colour = ColourChoice {
            c: ColourName(colour.hex()),
        };
        calls.push(operation_with("lights/color", &colour, view)?);
    }
    Ok(calls)
}

/// Parses `{"r": n, "g": n, "b": n}`.
fn parse_colour(value: &Value) -> Result<Rgb, &'static str> {
    let channel = |name: &str| {
        let level = value.get(name).and_then(whole_number);
        level
            .and_then(|level| u8::try_from(level).ok())
            .ok_or("bad color")
    };
    Ok(Rgb {
        red: channel("r")?,
        green: channel("g")?,
        blue: channel("b")?,
    })
}
