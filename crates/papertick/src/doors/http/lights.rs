//! Operations on the LED strip and the frontlight.

use device::{
    lights::{Rgb, StripEffect},
    request::{FrontlightCommand, Refusal, Reply, Request},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{
    answer::{self, Response},
    call::{Call, Received, SMALL_BODY_MAX},
    control::{ask, reply, tell},
    parse::whole_number,
    status,
};

/// Greatest duty of a frontlight channel.
const DUTY_MAX: i64 = 4095;

/// Greatest brightness of the frontlight.
const BRIGHTNESS_MAX: i64 = 65535;

/// Colours of the LED strip.
pub(crate) fn read(call: &Call) -> Response {
    if call.view.board.leds == 0 {
        return tell(Reply::Refused(Refusal::NoLeds));
    }
    answer::json(&status::lights(&call.view.lights))
}

/// One colour for all LEDs, named by a body or the query.
pub(crate) async fn color(mut call: Call) -> Response {
    match call.text(&["c"], SMALL_BODY_MAX).await {
        Some(color) => set_color(&call, &color).await,
        None => answer::bad_request("missing c"),
    }
}

/// One colour for all LEDs, named by the path.
pub(crate) async fn color_in_path(call: Call) -> Response {
    set_color(&call, call.param.as_deref().unwrap_or_default()).await
}

async fn set_color(call: &Call, color: &str) -> Response {
    match Rgb::parse(color) {
        Some(color) => ask(&call.state, Request::SetLightsColor(color)).await,
        None => answer::bad_request("bad color"),
    }
}

/// A colour per LED, or one for all.
pub(crate) async fn set(mut call: Call) -> Response {
    let leds = call.view.board.leds;
    let colours = read_json(&mut call, SMALL_BODY_MAX).await;
    match colours.and_then(|value| pixels(&value, leds)) {
        Ok(pixels) => set_pixels(&call, pixels).await,
        Err(reason) => answer::bad_request(reason),
    }
}

/// Reads a list of colours; a single one, in a list or alone, is that of all LEDs.
fn pixels(value: &Value, leds: usize) -> Result<Vec<Rgb>, &'static str> {
    match value {
        Value::Array(list) => match list.as_slice() {
            [one] => Ok(vec![pixel(one)?; leds]),
            list => list.iter().map(pixel).collect(),
        },
        Value::Object(_) => Ok(vec![pixel(value)?; leds]),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Err("bad json"),
    }
}

/// All LEDs off.
pub(crate) async fn off(call: Call) -> Response {
    set_pixels(&call, Vec::new()).await
}

async fn set_pixels(call: &Call, pixels: Vec<Rgb>) -> Response {
    match reply(&call.state, Request::SetLights(pixels)).await {
        Ok(Reply::Lights(_)) => answer::done(),
        Ok(Reply::Refused(Refusal::WrongCount)) => answer::bad_request("pixel count mismatch"),
        Ok(other) => tell(other),
        Err(stopped) => stopped,
    }
}

/// Reads a JSON value.
async fn read_json<T: DeserializeOwned>(call: &mut Call, max: usize) -> Result<T, &'static str> {
    match call.body(max).await {
        Received::Whole(body) => serde_json::from_slice(&body).map_err(|_| "bad json"),
        Received::Nothing | Received::TooLarge | Received::Broken => Err("bad body"),
    }
}

/// Reads `{"hex": "#RRGGBB"}` or `{"red": n, "green": n, "blue": n}`.
fn pixel(entry: &Value) -> Result<Rgb, &'static str> {
    let object = entry.as_object().ok_or("bad entry")?;
    if let Some(hex) = object.get("hex") {
        let hex = hex.as_str().filter(|hex| !hex.eq_ignore_ascii_case("off"));
        return hex.and_then(Rgb::parse).ok_or("bad hex");
    }
    let channel = |name: &str| {
        let value = object
            .get(name)
            .and_then(whole_number)
            .ok_or("missing fields")?;
        let [low, ..] = value.to_le_bytes();
        Ok::<u8, &str>(low)
    };
    Ok(Rgb {
        red: channel("red")?,
        green: channel("green")?,
        blue: channel("blue")?,
    })
}

/// Plays an effect on the LED strip.
pub(crate) async fn effect(mut call: Call) -> Response {
    let body = call.json(SMALL_BODY_MAX).await;
    let Some(name) = body.as_ref().and_then(|body| body.get("name")?.as_str()) else {
        return answer::bad_request("name required");
    };
    let Some((name, effect)) = StripEffect::NAMED.iter().find(|(known, _)| *known == name) else {
        return answer::bad_request("unknown effect");
    };
    match reply(&call.state, Request::PlayEffect(*effect)).await {
        Ok(Reply::Done) => answer::json(&json!({ "queued": true, "name": name })),
        Ok(other) => tell(other),
        Err(stopped) => stopped,
    }
}

/// Duty of each frontlight channel.
pub(crate) fn frontlight_status(call: &Call) -> Response {
    match &call.view.frontlight {
        Some(frontlight) => answer::json(&json!({ "flStatus": frontlight.duties })),
        None => tell(Reply::Refused(Refusal::NoFrontlight)),
    }
}

/// Frontlight on.
pub(crate) async fn frontlight_on(call: Call) -> Response {
    frontlight(&call, FrontlightCommand::On).await
}

/// Frontlight off.
pub(crate) async fn frontlight_off(call: Call) -> Response {
    frontlight(&call, FrontlightCommand::Off).await
}

/// Flashes the frontlight.
pub(crate) async fn frontlight_flash(call: Call) -> Response {
    frontlight(&call, FrontlightCommand::Flash).await
}

/// Brightness of the frontlight, named by a body or the query.
pub(crate) async fn brightness(mut call: Call) -> Response {
    match call.number("b", SMALL_BODY_MAX).await {
        Some(duty) => set_brightness(&call, duty).await,
        None => answer::bad_request("missing b"),
    }
}

/// Brightness of the frontlight, named by the path.
pub(crate) async fn brightness_in_path(call: Call) -> Response {
    match call.param.as_deref().unwrap_or_default().parse() {
        Ok(duty) => set_brightness(&call, duty).await,
        Err(_) => answer::bad_request("missing b"),
    }
}

async fn set_brightness(call: &Call, duty: i64) -> Response {
    match u32::try_from(duty).ok().filter(|_| duty <= BRIGHTNESS_MAX) {
        Some(duty) => frontlight(call, FrontlightCommand::Brightness(duty)).await,
        None => answer::bad_request("out of range"),
    }
}

/// A duty per frontlight channel.
pub(crate) async fn duties(mut call: Call) -> Response {
    let list: Vec<Value> = match read_json(&mut call, SMALL_BODY_MAX).await {
        Ok(list) => list,
        Err(reason) => return answer::bad_request(reason),
    };
    match list.iter().map(duty).collect() {
        Ok(duties) => frontlight(&call, FrontlightCommand::Set(duties)).await,
        Err(reason) => answer::bad_request(reason),
    }
}

fn duty(entry: &Value) -> Result<u16, &'static str> {
    let duty = whole_number(entry).ok_or("bad entry")?;
    let fits = u16::try_from(duty).ok().filter(|_| duty <= DUTY_MAX);
    fits.ok_or("duty out of range")
}

async fn frontlight(call: &Call, command: FrontlightCommand) -> Response {
    match reply(&call.state, Request::Frontlight(command)).await {
        Ok(Reply::Refused(Refusal::WrongCount)) => answer::bad_request("channel count mismatch"),
        Ok(other) => tell(other),
        Err(stopped) => stopped,
    }
}
