//! LEDs, frontlight and Do Not Disturb in documents.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use device::{
    lights::{
        Rgb,
        frontlight::{DUTY_MAX, FrontlightState},
    },
    view::View,
};
use schemars::JsonSchema;
use serde::Serialize;

/// Colour of an LED.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Led {
    /// Red.
    pub red: u8,
    /// Green.
    pub green: u8,
    /// Blue.
    pub blue: u8,
    /// The same colour in hex.
    #[schemars(regex(pattern = "^#[0-9A-F]{6}$"))]
    pub hex: String,
}

/// State of the frontlight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FrontlightStatus {
    /// Whether the frontlight is on or fading on.
    pub on: bool,
    /// Duty of each channel.
    #[schemars(inner(range(max = DUTY_MAX)))]
    pub duties: Vec<u16>,
    /// Duty that the channels fade to.
    pub target_duty: u16,
    /// Duty of full brightness.
    pub configured_brightness: u16,
}

/// Duties of the frontlight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FrontlightDuties {
    /// Duty of each channel.
    #[schemars(inner(range(max = DUTY_MAX)))]
    pub fl_status: Vec<u16>,
}

/// Do Not Disturb.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DndStatus {
    /// Whether Do Not Disturb was switched on by hand.
    pub enabled: bool,
    /// Whether the schedule is enabled.
    pub dnd_time_enabled: bool,
    /// The same as `dndTimeEnabled`.
    pub time_based_enabled: bool,
    /// Start of the schedule, `H:MM`.
    pub start_time: String,
    /// End of the schedule, `H:MM`.
    pub end_time: String,
    /// Whether Do Not Disturb is active now.
    pub active: bool,
}

/// Colours of the LEDs, one entry per LED.
pub fn leds(colours: &[Rgb]) -> Vec<Led> {
    colours.iter().map(Led::from).collect()
}

impl From<&Rgb> for Led {
    fn from(colour: &Rgb) -> Led {
        Led {
            red: colour.red,
            green: colour.green,
            blue: colour.blue,
            hex: colour.hex().to_string(),
        }
    }
}

impl From<&FrontlightState> for FrontlightStatus {
    fn from(state: &FrontlightState) -> FrontlightStatus {
        FrontlightStatus {
            on: state.on,
            duties: state.duties.clone(),
            target_duty: state.target,
            configured_brightness: state.brightness,
        }
    }
}

impl DndStatus {
    /// Do Not Disturb of a view.
    pub fn of(view: &View) -> DndStatus {
        let settings = &view.settings.stored;
        DndStatus {
            enabled: settings.dnd_enabled,
            dnd_time_enabled: settings.dnd_time_enabled,
            time_based_enabled: settings.dnd_time_enabled,
            start_time: format!("{}:{:02}", settings.dnd_start_hour, settings.dnd_start_min),
            end_time: format!("{}:{:02}", settings.dnd_end_hour, settings.dnd_end_min),
            active: view.dnd_active,
        }
    }
}
