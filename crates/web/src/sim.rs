//! Operations on a simulated board: buttons, light, network, power, panel faults and the demo market.

use std::time::Duration;

use api::{given::whole_number, limits::SMALL_BODY_MAX};
use board::sim::{Bench, BenchError, BenchState, SimFault};
use device::input::Input;
use http::StatusCode;
use market::{Direction, Observation, Payment, source_id::SourceId, units::Msats};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    call::Call,
    response::{self, Response},
    services::Services,
};

/// Brightest light, lux.
const LUX_MAX: f64 = 4_294_967.0;

/// Default duration of a button press.
const SHORT_PRESS_MS: u64 = 100;

/// All signals of the board.
pub fn state(call: &Call) -> Response {
    let signals = signals(&call.state.services);
    signals.map_or_else(response::not_found, |text| {
        response::json_bytes(text.into())
    })
}

/// All signals of the board and the state of the demo relay as JSON; `None` on a real board.
pub fn signals(services: &Services) -> Option<String> {
    let demo = services.demo.as_ref();
    let signals = BenchSignals {
        board: services.bench.as_ref()?.state(),
        demo_relay: demo.map(|demo| if demo.is_gone() { "gone" } else { "there" }),
    };
    serde_json::to_string(&signals).ok()
}

#[derive(Serialize)]
struct BenchSignals {
    #[serde(flatten)]
    board: BenchState,
    demo_relay: Option<&'static str>,
}

/// All panels of the simulated board; without a password even if the control interface needs one.
pub fn panels(call: &Call) -> Response {
    if call.state.services.bench.is_some() {
        super::panels::all(call)
    } else {
        response::not_found()
    }
}

/// Presses buttons. The response comes after their release.
pub async fn buttons(mut call: Call) -> Response {
    let body = body(&mut call).await;
    let Some(bench) = &call.state.services.bench else {
        return response::not_found();
    };
    let held = body.get("ms").map_or(Some(SHORT_PRESS_MS), whole);
    match (numbers(&body, "press"), held) {
        (Some(press), Some(ms)) => {
            response_of(bench.press(&press, Duration::from_millis(ms)).await)
        }
        _ => response::bad_request("press: list of button numbers, ms: whole number"),
    }
}

/// Sets the ambient light; null removes the sensor.
pub async fn lux(mut call: Call) -> Response {
    act(
        &mut call,
        "lux: number from 0 to 4294967, or null",
        |bench, body| {
            let lux = body.get("lux")?;
            if lux.is_null() {
                return Some(bench.set_millilux(None));
            }
            let lux = lux.as_f64().filter(|lux| (0.0..=LUX_MAX).contains(lux))?;
            Some(bench.set_millilux(Some((lux * 1000.0).round() as u32)))
        },
    )
    .await
}

/// Connects or disconnects the network.
pub async fn wifi(mut call: Call) -> Response {
    act(&mut call, "link: up or down", |bench, body| {
        let up = match body.get("link")?.as_str()? {
            "up" => true,
            "down" => false,
            _ => return None,
        };
        bench.set_link(up);
        Some(Ok(()))
    })
    .await
}

/// Cycles the power, with buttons held during the start.
pub async fn power(mut call: Call) -> Response {
    act(
        &mut call,
        "action: cycle, hold: list of button numbers, ms: whole number",
        |bench, body| {
            body.get("action")?
                .as_str()
                .filter(|action| *action == "cycle")?;
            let hold = match body.get("hold") {
                Some(_) => numbers(body, "hold")?,
                None => Vec::new(),
            };
            let ms = body.get("ms").map_or(Some(0), whole)?;
            Some(bench.cycle_power(&hold, Duration::from_millis(ms)))
        },
    )
    .await
}

/// Sets or clears a fault of a panel.
pub async fn panel(mut call: Call) -> Response {
    act(
        &mut call,
        "panel: index, fault: busy-stuck or none",
        |bench, body| {
            let panel = whole(body.get("panel")?)?.try_into().ok()?;
            let fault = SimFault::parse(body.get("fault")?.as_str()?)?;
            Some(bench.set_fault(panel, fault))
        },
    )
    .await
}

/// Triggers an event in the market of a demo, or a payment to the wallet of a simulated clock.
pub async fn market(mut call: Call) -> Response {
    let body = body(&mut call).await;
    let services = &call.state.services;
    if services.bench.is_none() {
        return response::not_found();
    }
    let event = body.get("event").and_then(Value::as_str);
    if event == Some("payment") {
        return match services
            .inbox
            .send(Input::Observed(SourceId::Wallet, vec![payment()]))
            .await
        {
            Ok(()) => response::done(),
            Err(_) => response::error(StatusCode::SERVICE_UNAVAILABLE, "stopping"),
        };
    }
    let Some(demo) = &services.demo else {
        return response::not_found();
    };
    match event {
        Some("block") => demo.find_block(),
        Some("price") => demo.jump(),
        Some("relay-gone") => demo.set_gone(true),
        Some("relay-back") => demo.set_gone(false),
        Some(_) | None => {
            return response::bad_request("event: block, price, payment, relay-gone or relay-back");
        }
    }
    response::done()
}

/// An incoming payment.
fn payment() -> Observation {
    Observation::Payment(Payment {
        direction: Some(Direction::Received),
        amount: Msats(21_000_000),
    })
}

/// Calls an action on the simulated board. The action returns `None` if the body is malformed.
async fn act(
    call: &mut Call,
    usage: &str,
    action: impl FnOnce(&Bench, &Value) -> Option<Result<(), BenchError>>,
) -> Response {
    let body = body(call).await;
    match &call.state.services.bench {
        None => response::not_found(),
        Some(bench) => {
            action(bench, &body).map_or_else(|| response::bad_request(usage), response_of)
        }
    }
}

async fn body(call: &mut Call) -> Value {
    call.json(SMALL_BODY_MAX).await.unwrap_or_else(|| json!({}))
}

fn numbers(body: &Value, name: &str) -> Option<Vec<u64>> {
    body.get(name)?.as_array()?.iter().map(whole).collect()
}

/// A whole number; `100.0` is one, too.
fn whole(value: &Value) -> Option<u64> {
    let is_whole = value.as_f64().is_some_and(|number| number % 1.0 == 0.0);
    u64::try_from(whole_number(value).filter(|_| is_whole)?).ok()
}

fn response_of(result: Result<(), BenchError>) -> Response {
    match result {
        Ok(()) => response::done(),
        Err(error @ BenchError::NoPanel(_)) => {
            response::error(StatusCode::NOT_FOUND, &error.to_string())
        }
        Err(error) => response::bad_request(&error.to_string()),
    }
}
