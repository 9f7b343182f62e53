//! Operations on a simulated board: buttons, light, network, power, panel faults and the demo market.

use std::time::Duration;

use api::{
    documents::{
        WholeNumber,
        bench::{
            AmbientLight, BenchLink, BenchState, ButtonPress, DemoRelayState, LUX_MAX, LinkChange,
            MarketEvent, MarketEventKind, PanelFaultChange, PowerChange,
        },
        object,
    },
    limits::SMALL_BODY_MAX,
};
use board::sim::{Bench, BenchError};
use device::input::Input;
use http::StatusCode;
use market::{Direction, Observation, Payment, source_id::SourceId, units::Msats};
use serde::de::DeserializeOwned;

use super::{
    call::Call,
    response::{self, Response},
    services::Services,
};

/// The simulated board. `None` on a real one, and at an open access point, where strangers could reset the clock by its buttons.
fn bench(call: &Call) -> Option<&Bench> {
    let is_open = call.state.view().link.is_open;
    call.state.services.bench.as_ref().filter(|_| !is_open)
}

/// All signals of the board.
pub fn state(call: &Call) -> Response {
    if bench(call).is_none() {
        return response::not_found();
    }
    let signals = signals(&call.state.services);
    signals.map_or_else(response::not_found, |text| {
        response::json_bytes(text.into())
    })
}

/// All signals of the board and the state of the demo relay as JSON; `None` on a real board.
pub fn signals(services: &Services) -> Option<String> {
    let demo = services.demo.as_ref();
    let state = BenchState {
        signals: services.bench.as_ref()?.state(),
        demo_relay: demo.map(|demo| {
            if demo.is_gone() { DemoRelayState::Gone } else { DemoRelayState::There }
        }),
    };
    serde_json::to_string(&state).ok()
}

/// All panels of the simulated board; without a password even if the control interface needs one.
pub fn panels(call: &Call) -> Response {
    if bench(call).is_some() {
        super::panels::all(call)
    } else {
        response::not_found()
    }
}

/// Presses buttons. The response comes after their release.
pub async fn buttons(mut call: Call) -> Response {
    let press: Option<ButtonPress> = body(&mut call).await;
    let Some(bench) = bench(&call) else {
        return response::not_found();
    };
    match press {
        Some(ButtonPress { press, ms }) => {
            response_of(bench.press(&numbers(press), time(ms)).await)
        }
        None => response::bad_request("press: list of button numbers, ms: whole number"),
    }
}

/// Sets the ambient light; null removes the sensor.
pub async fn lux(mut call: Call) -> Response {
    act(
        &mut call,
        "lux: number from 0 to 4294967, or null",
        |bench, AmbientLight { lux }| {
            let in_range = |lux: &f64| (0.0..=f64::from(LUX_MAX)).contains(lux);
            if !lux.as_ref().is_none_or(in_range) {
                return None;
            }
            Some(bench.set_millilux(lux.map(|lux| (lux * 1000.0).round() as u32)))
        },
    )
    .await
}

/// Connects or disconnects the network.
pub async fn wifi(mut call: Call) -> Response {
    act(
        &mut call,
        "link: up or down",
        |bench, LinkChange { link }| {
            bench.set_link(link == BenchLink::Up);
            Some(Ok(()))
        },
    )
    .await
}

/// Cycles the power, with buttons held during the start.
pub async fn power(mut call: Call) -> Response {
    act(
        &mut call,
        "action: cycle, hold: list of button numbers, ms: whole number",
        |bench, PowerChange { hold, ms, .. }| Some(bench.cycle_power(&numbers(hold), time(ms))),
    )
    .await
}

/// Sets or clears a fault of a panel.
pub async fn panel(mut call: Call) -> Response {
    act(
        &mut call,
        "panel: index, fault: busy-stuck or none",
        |bench, PanelFaultChange { panel, fault }| {
            Some(bench.set_fault(panel.0.try_into().ok()?, fault))
        },
    )
    .await
}

/// Triggers an event in the market of a demo, or a payment to the wallet of a simulated clock.
pub async fn market(mut call: Call) -> Response {
    let body: Option<MarketEvent> = body(&mut call).await;
    let services = &call.state.services;
    if bench(&call).is_none() {
        return response::not_found();
    }
    let event = body.map(|body| body.event);
    if event == Some(MarketEventKind::Payment) {
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
        Some(MarketEventKind::Block) => demo.find_block(),
        Some(MarketEventKind::Price) => demo.jump(),
        Some(MarketEventKind::RelayGone) => demo.set_gone(true),
        Some(MarketEventKind::RelayBack) => demo.set_gone(false),
        Some(MarketEventKind::Payment) | None => {
            return response::bad_request("event: block, price, payment, relay-gone or relay-back");
        }
    }
    response::done()
}

fn payment() -> Observation {
    Observation::Payment(Payment {
        direction: Some(Direction::Received),
        amount: Msats(21_000_000),
    })
}

/// Calls an action on the simulated board. The action returns `None` if a value of the body is out of range.
async fn act<T: DeserializeOwned>(
    call: &mut Call,
    usage: &str,
    action: impl FnOnce(&Bench, T) -> Option<Result<(), BenchError>>,
) -> Response {
    let body = body(call).await;
    match bench(call) {
        None => response::not_found(),
        Some(bench) => {
            let outcome = body.and_then(|body| action(bench, body));
            outcome.map_or_else(|| response::bad_request(usage), response_of)
        }
    }
}

async fn body<T: DeserializeOwned>(call: &mut Call) -> Option<T> {
    object(&call.json(SMALL_BODY_MAX).await?)
}

fn numbers(numbers: Vec<WholeNumber>) -> Vec<u64> {
    numbers
        .into_iter()
        .map(|WholeNumber(number)| number)
        .collect()
}

fn time(WholeNumber(ms): WholeNumber) -> Duration {
    Duration::from_millis(ms)
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
