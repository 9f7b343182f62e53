//! What comes from the broker, read into what the device is asked: the bodies are those of HTTP, and so are the
//! refusals.

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

use super::topics::{Incoming, Lamp, QuietHoursBound, Scope};
use crate::{
    answer::Answer,
    asked::DeviceCall,
    documents::lights::{BrightnessChoice, ColourChoice, ColourName},
    given::{Parameters, whole_number},
    operation::{Operation, ProgramOperation, Takes},
    operations,
};

/// Longest id of a caller that is told again, bytes.
pub const CALLER_ID_MAX: usize = 64;

/// Longest name of a version of wishes, bytes.
pub const REV_MAX: usize = 64;

/// Largest message that means anything, bytes: what the largest body of an operation takes.
pub const MESSAGE_MAX: usize = device::limits::PATCH_BODY_MAX;

/// The brightest that a lamp of Home Assistant can be.
const BRIGHTEST: u32 = 255;

/// Operations that are not for groups: what is wiped is wiped one by one.
const NOT_FOR_GROUPS: &[&str] = &["factory_reset"];

/// Operations that a group does one after the other: all at once would leave nobody, or fall upon their sources.
const SPREAD_IN_GROUPS: &[&str] = &["restart", "restart_datasources", "firmware/auto_update"];

/// What a command does.
#[derive(Debug)]
pub enum CommandAction {
    /// The device is asked this, one after the other; the first that is refused ends it.
    Device(Vec<DeviceCall>),
    /// The newest release is fetched and installed, if the clock takes it.
    NewestRelease,
}

impl CommandAction {
    fn one(asked: DeviceCall) -> CommandAction {
        CommandAction::Device(vec![asked])
    }
}

/// A command received by MQTT.
#[derive(Debug)]
pub struct MqttCommand {
    /// What it is called in its answer.
    pub name: String,
    /// The caller's own id for it.
    pub caller: Option<Value>,
    /// What is to be done, or why it is not.
    pub work: Result<CommandAction, Answer>,
    /// It is done at some moment of the next half minute.
    pub is_spread: bool,
}

/// Settings that are retained at the broker.
#[derive(Debug, Clone, PartialEq)]
pub struct RetainedSettings {
    /// Name of their version, which the clock reports; empty if there is none.
    pub rev: String,
    /// A change as `PATCH /api/settings` takes it.
    pub settings: Map<String, Value>,
}

/// What a message is called in its answer; none if it is none that is answered.
pub fn name(incoming: Incoming<'_>) -> Option<String> {
    match incoming {
        Incoming::Command(_, name) => Some(name.into()),
        Incoming::Set(_) => Some("set".into()),
        Incoming::Lamp(lamp) => Some(super::topics::lamp(lamp)),
        Incoming::Quiet(edge) => Some(super::topics::quiet(edge).into()),
        Incoming::Desired(_) | Incoming::HomeAssistant => None,
    }
}

/// Reads a message that asks for something at once.
pub fn read(incoming: Incoming<'_>, payload: &[u8], view: &View) -> Option<MqttCommand> {
    let (work, is_spread) = match incoming {
        Incoming::Command(scope, name) => {
            let is_group = scope != Scope::Own;
            let work = if is_group && NOT_FOR_GROUPS.contains(&name) {
                Err(Answer::error(403, "not for groups"))
            } else if operations::name_of(ProgramOperation::AutoUpdate) == Some(name) {
                Ok(CommandAction::NewestRelease)
            } else {
                command(name, payload, view).map(CommandAction::one)
            };
            let is_spread = is_group && SPREAD_IN_GROUPS.contains(&name);
            (work, is_spread)
        }
        Incoming::Set(_) => {
            let asked = command(CHANGE, payload, view);
            (asked.map(CommandAction::one), false)
        }
        Incoming::Lamp(lamp) => (light(lamp, payload, view).map(CommandAction::Device), false),
        Incoming::Quiet(edge) => {
            let asked = quiet(edge, payload, view);
            (asked.map(CommandAction::one), false)
        }
        Incoming::Desired(_) | Incoming::HomeAssistant => return None,
    };
    Some(MqttCommand {
        name: name(incoming)?,
        caller: caller(payload),
        work,
        is_spread,
    })
}

/// Retained settings that cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidSettings {
    /// Name of their version; empty if it could not be read.
    pub rev: String,
    /// Why: the token that HTTP answers with.
    pub reason: String,
}

impl InvalidSettings {
    /// Settings without a readable version.
    pub fn unread(reason: &str) -> InvalidSettings {
        InvalidSettings {
            rev: String::new(),
            reason: reason.into(),
        }
    }
}

/// Parses retained settings. `None` if the message is empty, which removes them.
///
/// # Errors
/// They cannot be parsed, or contain a secret, which every reader of the topic would learn.
pub fn retained_settings(
    payload: &[u8],
    view: &View,
) -> Result<Option<RetainedSettings>, InvalidSettings> {
    if payload.is_empty() {
        return Ok(None);
    }
    let mut read = match json::parse(payload) {
        Some(Value::Object(members)) => members,
        Some(_) => return Err(InvalidSettings::unread("not_object")),
        None => return Err(InvalidSettings::unread("json")),
    };
    let rev = match read.remove("rev") {
        Some(Value::String(rev)) if (1..=REV_MAX).contains(&rev.len()) => rev,
        Some(Value::Number(rev)) => rev.to_string(),
        None => String::new(),
        Some(_) => return Err(InvalidSettings::unread("rev:bad_type")),
    };
    let Some(Value::Object(settings)) = read.remove("settings") else {
        let reason = "settings:bad_type".into();
        return Err(InvalidSettings { rev, reason });
    };
    match secret_in(&settings, &view.settings) {
        Some(name) => {
            let reason = alloc::format!("{name}:secret");
            Err(InvalidSettings { rev, reason })
        }
        None => Ok(Some(RetainedSettings { rev, settings })),
    }
}

/// Name of the operation that changes settings.
const CHANGE: &str = "settings";

fn command(name: &str, payload: &[u8], view: &View) -> Result<DeviceCall, Answer> {
    let operation = operations::named(name).ok_or_else(|| Answer::error(404, "not found"))?;
    operations::command(name, given(operation, payload)?, view)
}

/// Takes a payload as the body of an operation.
fn given(operation: &Operation, payload: &[u8]) -> Result<Parameters, Answer> {
    if payload.len() > operation.body_max {
        return Err(Answer::error(413, "too large"));
    }
    Ok(match operation.body {
        Takes::Nothing => Parameters::default(),
        Takes::Maybe(_) | Takes::OrQuery(_) | Takes::Always(_) => Parameters::body(payload),
    })
}

/// The id that a caller gave, to be told again with the answer.
pub fn caller(payload: &[u8]) -> Option<Value> {
    let body = json::parse(payload)?;
    match body.get("id")? {
        Value::String(id) if id.len() <= CALLER_ID_MAX => Some(id.as_str().into()),
        Value::Number(id) => Some(id.clone().into()),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            None
        }
    }
}

/// Reads a time of the day such as `22:05` or `22:05:00`, at which the quiet hours are to begin or to end.
fn quiet(edge: QuietHoursBound, payload: &[u8], view: &View) -> Result<DeviceCall, Answer> {
    let text = core::str::from_utf8(payload).unwrap_or_default().trim();
    let mut parts = text.split(':').map(|part| part.parse::<u32>().ok());
    let (hour, minute) = match (parts.next().flatten(), parts.next().flatten()) {
        (Some(hour), Some(minute)) => (hour, minute),
        (_, _) => return Err(Answer::bad_request("bad time")),
    };
    let stored = &view.settings;
    let from = (stored.dnd_start_hour, stored.dnd_start_min);
    let until = (stored.dnd_end_hour, stored.dnd_end_min);
    let (from, until) = match edge {
        QuietHoursBound::From => ((hour, minute), until),
        QuietHoursBound::Until => (from, (hour, minute)),
    };
    let change = json!({ "dnd": {
        "startHour": from.0, "startMinute": from.1, "endHour": until.0, "endMinute": until.1,
    } });
    ask(CHANGE, &change, view)
}

/// Reads a command to a lamp, which holds what is to change and nothing else.
fn light(lamp: Lamp, payload: &[u8], view: &View) -> Result<Vec<DeviceCall>, Answer> {
    let body = json::parse(payload).ok_or_else(|| Answer::bad_request("bad json"))?;
    let is_on = match body.get("state").and_then(Value::as_str) {
        Some("ON") => true,
        Some("OFF") => false,
        Some(_) | None => return Err(Answer::bad_request("bad state")),
    };
    let colour = body.get("color").map(colour).transpose();
    let colour = colour.map_err(Answer::bad_request)?;
    let brightness = body.get("brightness").map(whole_number);
    let brightness = match brightness {
        Some(Some(level @ 0..)) => Some(level.unsigned_abs()),
        Some(_) => return Err(Answer::bad_request("out of range")),
        None => None,
    };
    match lamp {
        Lamp::Strip if !is_on => Ok(vec![ask("lights/off", &Value::Null, view)?]),
        Lamp::Strip => strip(colour, brightness, body.get("effect"), view),
        Lamp::Led(index) if index >= view.lights.len() => Err(Answer::error(404, "not found")),
        Lamp::Led(index) => {
            let was = view.lights.get(index).copied().unwrap_or_default();
            let mut lights = view.lights.clone();
            if let Some(led) = lights.get_mut(index) {
                *led = match (is_on, colour) {
                    (false, _) => Rgb::BLACK,
                    (true, Some(colour)) => colour,
                    (true, None) if was == Rgb::BLACK => WHITE,
                    (true, None) => was,
                };
            }
            let pixels: Value = lights
                .iter()
                .map(|led| json!({ "hex": led.hex() }))
                .collect();
            Ok(vec![ask("lights/set", &pixels, view)?])
        }
        Lamp::Frontlight if !is_on => Ok(vec![ask("frontlight/off", &Value::Null, view)?]),
        Lamp::Frontlight => match brightness {
            None => Ok(vec![ask("frontlight/on", &Value::Null, view)?]),
            Some(level) => {
                let duty = level.min(DUTY_MAX.into());
                let set = ask("frontlight/brightness", &BrightnessChoice { b: duty }, view)?;
                Ok(vec![ask("frontlight/on", &Value::Null, view)?, set])
            }
        },
    }
}

const WHITE: Rgb = Rgb {
    red: 255,
    green: 255,
    blue: 255,
};

fn strip(
    colour: Option<Rgb>,
    brightness: Option<u64>,
    effect: Option<&Value>,
    view: &View,
) -> Result<Vec<DeviceCall>, Answer> {
    let mut asked = Vec::new();
    if let Some(level) = brightness {
        let change = json!({ Key::led_brightness.name(): level.min(BRIGHTEST.into()) });
        asked.push(ask(CHANGE, &change, view)?);
    }
    if let Some(name) = effect {
        asked.push(ask("lights/effect", &json!({ "name": name }), view)?);
        return Ok(asked);
    }
    let is_dark = view.lights.iter().all(|led| *led == Rgb::BLACK);
    let colour = colour.or(is_dark.then_some(WHITE));
    if let Some(colour) = colour {
        let choice = ColourChoice {
            c: ColourName(colour.hex()),
        };
        asked.push(ask("lights/color", &choice, view)?);
    }
    Ok(asked)
}

/// Asks for an operation by its name, as somebody at another door would.
fn ask<T: Serialize>(name: &str, body: &T, view: &View) -> Result<DeviceCall, Answer> {
    let body = serde_json::to_vec(body).unwrap_or_default();
    command(name, &body, view)
}

/// Reads `{"r": n, "g": n, "b": n}`.
fn colour(value: &Value) -> Result<Rgb, &'static str> {
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
