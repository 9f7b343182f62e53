//! Operations on the LED strip, the frontlight and Do Not Disturb.

use alloc::{vec, vec::Vec};

use device::{
    lights::{Rgb, StripEffect, frontlight::DUTY_MAX},
    request::{FrontlightCommand, Refusal, Request},
    view::View,
};
use serde_json::Value;

use super::{
    params::param,
    responses::{BAD_REQUEST, OK, UNAVAILABLE},
};
use crate::{
    answer::Answer,
    device_call::{DeviceCall, refusal_answer},
    documents::lights::{
        BrightnessChoice, ColourChoice, ColourName, Duty, DutyList, EffectChoice, HexColour,
        LedColours, Lights, QueuedEffect,
    },
    operation::{Operation, Param, by_device, deprecated_get, from_view, get, patch, post},
    parameters::{Parameters, whole_number},
    schema::Word,
    shape::{Shape, received, sent},
    status::{DndStatus, FrontlightDuties, leds},
};

const COLOUR: &[Param] = &[param(
    "c",
    received::<ColourName>(),
    "`RRGGBB`, `#RRGGBB` or `off`.",
)];
const BRIGHTNESS: &[Param] = &[param("b", received::<Duty>(), "PWM duty, 0 to 65535.")];

const COLOURED: &[(u16, Shape)] = &[(200, sent::<Lights>()), BAD_REQUEST, UNAVAILABLE];
const LIT: &[(u16, Shape)] = &[OK, UNAVAILABLE];
const LIT_BY: &[(u16, Shape)] = &[OK, BAD_REQUEST, UNAVAILABLE];

pub(super) const OPERATIONS: &[Operation] = &[
    from_view(
        "Get the colours of the LED strip",
        colours,
        &[get("/api/lights")],
    )
    .answers(&[(200, sent::<Lights>()), UNAVAILABLE]),
    by_device(
        "Set one colour for all LEDs",
        colour,
        &[
            post("/api/lights/color").query(COLOUR),
            deprecated_get("/api/lights/color/{color}").path_parameter(received::<ColourName>()),
            deprecated_get("/api/lights/{color}").path_parameter(received::<HexColour>()),
        ],
    )
    .body_or_query(received::<ColourChoice>())
    .answers(COLOURED),
    by_device(
        "Set a colour per LED, or one for all",
        set,
        &[post("/api/lights/set"), patch("/api/lights/set")],
    )
    .body(received::<LedColours>())
    .answers(LIT_BY),
    by_device(
        "Switch all LEDs off",
        |_, _| Ok(pixels(Vec::new())),
        &[post("/api/lights/off"), deprecated_get("/api/lights/off")],
    )
    .answers(LIT),
    by_device(
        "Play an effect on the LED strip",
        effect,
        &[post("/api/lights/effect")],
    )
    .body(received::<EffectChoice>())
    .answers(&[(200, sent::<QueuedEffect>()), BAD_REQUEST, UNAVAILABLE]),
    from_view(
        "Get the duty of each frontlight channel",
        frontlight_status,
        &[get("/api/frontlight/status")],
    )
    .answers(&[(200, sent::<FrontlightDuties>()), UNAVAILABLE]),
    by_device(
        "Switch the frontlight on",
        |_, _| Ok(frontlight(FrontlightCommand::On)),
        &[
            post("/api/frontlight/on"),
            deprecated_get("/api/frontlight/on"),
        ],
    )
    .answers(LIT),
    by_device(
        "Switch the frontlight off",
        |_, _| Ok(frontlight(FrontlightCommand::Off)),
        &[
            post("/api/frontlight/off"),
            deprecated_get("/api/frontlight/off"),
        ],
    )
    .answers(LIT),
    by_device(
        "Flash the frontlight",
        |_, _| Ok(frontlight(FrontlightCommand::Flash)),
        &[
            post("/api/frontlight/flash"),
            deprecated_get("/api/frontlight/flash"),
        ],
    )
    .answers(LIT),
    by_device(
        "Set the brightness of the frontlight",
        brightness,
        &[
            post("/api/frontlight/brightness").query(BRIGHTNESS),
            deprecated_get("/api/frontlight/brightness/{duty}").path_parameter(received::<Duty>()),
        ],
    )
    .body_or_query(received::<BrightnessChoice>())
    .answers(LIT_BY),
    by_device(
        "Set a duty per frontlight channel",
        duties,
        &[post("/api/frontlight/set")],
    )
    .body(received::<DutyList>())
    .answers(LIT_BY),
    from_view(
        "Get the state of Do Not Disturb",
        |view| Answer::json(&DndStatus::of(view)),
        &[get("/api/dnd/status")],
    )
    .answers(&[(200, sent::<DndStatus>())]),
    by_device(
        "Switch Do Not Disturb on",
        |_, _| Ok(DeviceCall::new(Request::SetDnd(true))),
        &[post("/api/dnd/enable"), deprecated_get("/api/dnd/enable")],
    ),
    by_device(
        "Switch Do Not Disturb off",
        |_, _| Ok(DeviceCall::new(Request::SetDnd(false))),
        &[post("/api/dnd/disable"), deprecated_get("/api/dnd/disable")],
    ),
];

fn colours(view: &View) -> Answer {
    if view.board.leds == 0 {
        return refusal_answer(Refusal::NoLeds);
    }
    Answer::json(&Lights(leds(&view.lights)))
}

fn colour(parameters: Parameters, _view: &View) -> Result<DeviceCall, Answer> {
    let colour = parameters
        .path_value
        .as_deref()
        .or_else(|| parameters.text(&["c"]));
    let colour = colour.ok_or("missing c");
    let colour = colour.and_then(|colour| Rgb::parse(colour).ok_or("bad color"));
    let colour = colour.map_err(Answer::bad_request)?;
    Ok(DeviceCall::with_lights(Request::SetLightsColor(colour)))
}

fn set(parameters: Parameters, view: &View) -> Result<DeviceCall, Answer> {
    let colours = parameters
        .json()
        .and_then(|value| listed(value, view.board.leds));
    Ok(pixels(colours.map_err(Answer::bad_request)?))
}

fn pixels(colours: Vec<Rgb>) -> DeviceCall {
    DeviceCall::new(Request::SetLights(colours)).mismatch_text("pixel count mismatch")
}

/// Parses a list of colours. A single colour, in a list or alone, is for all LEDs.
fn listed(value: &Value, leds: usize) -> Result<Vec<Rgb>, &'static str> {
    match value {
        Value::Array(list) => match list.as_slice() {
            [one] => Ok(vec![pixel(one)?; leds]),
            list => list.iter().map(pixel).collect(),
        },
        Value::Object(_) => Ok(vec![pixel(value)?; leds]),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Err("bad json"),
    }
}

/// Parses `{"hex": "#RRGGBB"}` or `{"red": n, "green": n, "blue": n}`.
fn pixel(entry: &Value) -> Result<Rgb, &'static str> {
    let object = entry.as_object().ok_or("bad entry")?;
    if let Some(hex) = object.get("hex") {
        let hex = hex.as_str().filter(|hex| !hex.eq_ignore_ascii_case("off"));
        return hex.and_then(Rgb::parse).ok_or("bad hex");
    }
    let channel = |name: &str| {
        let number = object.get(name).and_then(Value::as_number);
        let number = number.ok_or("missing fields")?;
        // A number that does not fit has no meaningful low byte.
        let whole = number
            .as_i64()
            .or_else(|| number.as_f64().map(|float| float as i64));
        let [low, ..] = whole.unwrap_or_default().to_le_bytes();
        Ok::<u8, &str>(low)
    };
    Ok(Rgb {
        red: channel("red")?,
        green: channel("green")?,
        blue: channel("blue")?,
    })
}

fn effect(parameters: Parameters, _view: &View) -> Result<DeviceCall, Answer> {
    let choice: Option<EffectChoice> = parameters.object();
    let choice = choice.ok_or_else(|| Answer::bad_request("name required"))?;
    let mut effects = StripEffect::NAMED.iter();
    let found = effects.find(|(name, _)| *name == choice.name);
    let (_, effect) = found.ok_or_else(|| Answer::bad_request("unknown effect"))?;
    let queued = Answer::json(&QueuedEffect {
        queued: true,
        name: Word(*effect),
    });
    Ok(DeviceCall::with_answer(
        Request::PlayEffect(*effect),
        queued,
    ))
}

fn frontlight_status(view: &View) -> Answer {
    match &view.frontlight {
        Some(frontlight) => Answer::json(&FrontlightDuties {
            fl_status: frontlight.duties.clone(),
        }),
        None => refusal_answer(Refusal::NoFrontlight),
    }
}

fn frontlight(command: FrontlightCommand) -> DeviceCall {
    DeviceCall::new(Request::Frontlight(command)).mismatch_text("channel count mismatch")
}

fn brightness(parameters: Parameters, _view: &View) -> Result<DeviceCall, Answer> {
    let duty = match &parameters.path_value {
        Some(part) => part.parse().ok(),
        None => parameters.number("b"),
    };
    let duty = duty.ok_or("missing b");
    let duty = duty.and_then(|duty| in_range(duty).ok_or("out of range"));
    let duty = duty.map_err(Answer::bad_request)?;
    Ok(frontlight(FrontlightCommand::Brightness(duty)))
}

/// The brightness has the limits of its setting.
fn in_range(duty: i64) -> Option<u32> {
    let fits = Duty::kind().shape("b", &duty.into()).is_ok();
    u32::try_from(duty).ok().filter(|_| fits)
}

fn duties(parameters: Parameters, _view: &View) -> Result<DeviceCall, Answer> {
    let list = parameters
        .json()
        .and_then(|value| value.as_array().ok_or("bad json"));
    let duties = list.and_then(|list| list.iter().map(duty).collect());
    let duties = duties.map_err(Answer::bad_request)?;
    Ok(frontlight(FrontlightCommand::Set(duties)))
}

fn duty(entry: &Value) -> Result<u16, &'static str> {
    let duty = whole_number(entry).ok_or("bad entry")?;
    let fits = u16::try_from(duty).ok().filter(|duty| *duty <= DUTY_MAX);
    fits.ok_or("duty out of range")
}
