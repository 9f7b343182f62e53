//! The documents that say how the clock is: status, system status, Do Not Disturb, lights.
//!
//! All are made of one [`View`], so that no two answers disagree.

use std::{path::Path, sync::Arc, time::Duration};

use bytes::Bytes;
use device::{
    board::PanelFault,
    lights::{Rgb, strip::Mute},
    market::{Fee, Seen},
    settings::{Settings, emit::lux},
    sources::SourceId,
    units::fixed,
    view::{FrontlightState, LinkState, SourceState, View},
};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::{
    glass::{FaultyPanel, Glass, PanelGlass},
    updates::told,
};

use super::{
    answer::{self, Response},
    call::Call,
    vitals::Memory,
};

/// The status, ready to be sent.
#[derive(Debug, Clone)]
pub(crate) struct StatusDocument {
    /// The JSON text.
    pub(crate) text: Bytes,
    /// All of it that does not change by the mere passing of time, for comparing.
    pub(crate) lasting: Arc<str>,
    /// Memory when it was made.
    pub(crate) memory: Memory,
}

impl StatusDocument {
    /// Makes the status of a view.
    pub(crate) fn of(
        view: &View,
        glass: &Glass,
        uptime: Duration,
        memory: Memory,
    ) -> StatusDocument {
        let mut status = lasting(view, &glass.faults());
        let lasting = format!(
            "{} {:?} {:?}",
            Value::Object(status.clone()),
            view.sources,
            view.time_server
        );
        status.insert("espUptime".into(), uptime.as_secs().into());
        status.append(&mut memory.members());
        status.insert("panels".into(), glass.panels.iter().map(panel).collect());
        status.insert("sources".into(), sources(view, uptime));
        let time_server = view.time_server.as_ref();
        let time_server = time_server.map(|state| source(state, uptime));
        status.insert("timeServer".into(), time_server.unwrap_or_default());
        status.insert("market".into(), market(view, Some(uptime)));
        StatusDocument {
            text: Value::Object(status).to_string().into(),
            lasting: lasting.into(),
            memory,
        }
    }
}

/// The members of the status that do not change by the mere passing of time.
fn lasting(view: &View, faults: &[FaultyPanel]) -> Map<String, Value> {
    let mut status = Map::new();
    let mut put = |name: &str, value: Value| status.insert(name.into(), value);
    put("currentScreen", view.current_screen.into());
    put("numScreens", view.board.panels.into());
    put("timerRunning", view.timer_running.into());
    put("isOTAUpdating", view.updating.into());
    put("epdInverted", view.inverted.into());
    put("connectionStatus", connections(view));
    put("rssi", view.link.rssi.into());
    put(
        "currency",
        view.currency
            .as_ref()
            .map_or("", |currency| currency.code())
            .into(),
    );
    put("data", view.data.clone().into());
    put("dnd", dnd(view));
    if let Some(millilux) = view.millilux {
        put("lightLevel", lux(millilux));
    }
    put("leds", lights(&view.lights));
    put("ledsMuted", view.strip_mute.map(Mute::word).into());
    if let Some(frontlight) = &view.frontlight {
        put("frontlight", frontlight_state(frontlight));
        put("flStatus", frontlight.duties.clone().into());
    }
    put("mode", view.mode.into());
    put("stale", view.stale.into());
    let fault = |faulty: &FaultyPanel| {
        json!({
            "panel": faulty.panel,
            "fault": faulty.fault.name(),
            "failures": faulty.failures,
        })
    };
    put("panelFaults", faults.iter().map(fault).collect());
    put("notes", view.notes.clone().into());
    put("market", market(view, None));
    put("safeMode", view.safe_mode.as_deref().into());
    put("link", link(&view.link));
    status
}

/// What is on a panel: since when, how it came there, s, and what is wrong with it.
fn panel(glass: &PanelGlass) -> Value {
    let now = Instant::now();
    let mut object = Map::new();
    let mut put = |name: &str, value: Value| object.insert(name.into(), value);
    if let Some(since) = glass.since {
        put(
            "ageSec",
            now.saturating_duration_since(since).as_secs().into(),
        );
        put("refresh", glass.refresh.name().into());
    }
    put("partials", glass.partials.into());
    put("fault", glass.fault.map(PanelFault::name).into());
    put("failures", glass.failures.into());
    if let Some(at) = glass.retry_at {
        put(
            "nextTrySec",
            at.saturating_duration_since(now).as_secs().into(),
        );
    }
    Value::Object(object)
}

/// The newest values, each with its source and, while the time is known, its age.
fn market(view: &View, uptime: Option<Duration>) -> Value {
    let market = &view.market;
    let mut object = Map::new();
    let mut put = |name: &str, value: Value, source: SourceId, seen: Seen| {
        let mut member = json!({ "value": value, "source": source.name() });
        match (seen, uptime) {
            (Seen::At(at), Some(uptime)) => {
                member["ageSec"] = uptime.saturating_sub(at).as_secs().into();
            }
            (Seen::At(_), None) => {}
            (Seen::Before(_), _) => member["earlierRun"] = true.into(),
        }
        object.insert(name.to_owned(), member);
    };
    if let Some(height) = &market.height {
        put("height", height.value.into(), height.source, height.seen);
    }
    if let Some(fee) = market.current_fee(&view.active).map(Fee::datum) {
        let decimals = if view.active.block_fee_dec { 2 } else { 0 };
        let rate = fixed(fee.value.micros, decimals);
        put("feeRate", rate.into(), fee.source, fee.seen);
    }
    for (currency, price) in market.prices.iter() {
        let decimals = if price.value.micros < SMALL_PRICE_MICROS {
            6
        } else {
            2
        };
        let amount = fixed(price.value.micros, decimals);
        put(currency.code(), amount.into(), price.source, price.seen);
    }
    Value::Object(object)
}

/// Prices below this are told with all their decimals, millionths of the currency's unit.
const SMALL_PRICE_MICROS: u64 = 1_000_000;

/// Which upstream connections are up, as clients group them.
fn connections(view: &View) -> Value {
    let up = |id: SourceId| view.sources.get(&id).is_some_and(|state| state.up);
    let relay = up(SourceId::Relay);
    let (price, blocks) = match view.active.data_source {
        1 => (up(SourceId::Exchange) || relay, up(SourceId::Explorer)),
        2 => (up(SourceId::Nostr), up(SourceId::Nostr)),
        _ => (relay, relay),
    };
    json!({
        "price": price,
        "blocks": blocks,
        "V2": relay,
        "nostr": up(SourceId::Nostr) || up(SourceId::Zaps),
        "nwc": view.active.nwc_enabled && up(SourceId::Wallet),
    })
}

/// Each source that should run: whether it is up, the age of its last word, its last error, its next attempt, s,
/// and how much of what it sent was dropped.
fn sources(view: &View, uptime: Duration) -> Value {
    view.sources
        .iter()
        .map(|(id, state)| (id.name().to_string(), source(state, uptime)))
        .collect()
}

fn source(state: &SourceState, uptime: Duration) -> Value {
    let mut object = Map::new();
    object.insert("up".into(), state.up.into());
    if let Some(at) = state.last_success {
        object.insert("ageSec".into(), uptime.saturating_sub(at).as_secs().into());
    }
    if let Some(error) = &state.last_error {
        object.insert("lastError".into(), error.as_str().into());
    }
    if let Some(at) = state.next_try {
        object.insert(
            "nextTrySec".into(),
            at.saturating_sub(uptime).as_secs().into(),
        );
    }
    if !state.dropped.is_empty() {
        object.insert("dropped".into(), json!(state.dropped));
    }
    Value::Object(object)
}

/// Do Not Disturb, as in the status.
pub(crate) fn dnd(view: &View) -> Value {
    let settings: &Settings = &view.settings;
    json!({
        "enabled": settings.dnd_enabled,
        "dndTimeEnabled": settings.dnd_time_enabled,
        "timeBasedEnabled": settings.dnd_time_enabled,
        "startTime": format!("{}:{:02}", settings.dnd_start_hour, settings.dnd_start_min),
        "endTime": format!("{}:{:02}", settings.dnd_end_hour, settings.dnd_end_min),
        "active": view.dnd_active,
    })
}

/// The network: who manages it, where it is, and what went wrong last.
fn link(link: &LinkState) -> Value {
    json!({
        "state": link.state,
        "network": if link.managed { "radio" } else { "host" },
        "ssid": link.ssid,
        "ip": link.ip,
        "rssi": link.rssi,
        "failure": link.failure,
        "announced": link.announced,
    })
}

/// Colours of the strip, one object per LED.
pub(crate) fn lights(colours: &[Rgb]) -> Value {
    let colour = |colour: &Rgb| {
        json!({
            "red": colour.red,
            "green": colour.green,
            "blue": colour.blue,
            "hex": colour.hex(),
        })
    };
    colours.iter().map(colour).collect()
}

fn frontlight_state(state: &FrontlightState) -> Value {
    json!({
        "on": state.on,
        "duties": state.duties,
        "targetDuty": state.target,
        "configuredBrightness": state.brightness,
    })
}

/// The system status.
pub(crate) fn system(view: &View, uptime: Duration, memory: Memory, data_dir: &Path) -> Value {
    let mut object = memory.members();
    let (used, total) = super::vitals::disk(data_dir);
    let mut put = |name: &str, value: Value| object.insert(name.into(), value);
    put("fsUsedBytes", used.into());
    put("fsTotalBytes", total.into());
    put("rssi", view.link.rssi.into());
    let wished = view.active.tx_power.unwrap_or(TX_POWER_MAX);
    put("txPower", view.link.tx_power.unwrap_or(wished).into());
    put(
        "queueDrops",
        // Buttons wait for a place in the inbox, and the frontlight has no queue.
        json!({ "buttons": 0, "led": view.strip_drops, "frontlight": 0 }),
    );
    put("uptime", uptime.as_secs().into());
    Value::Object(object)
}

/// What a radio that does not say sends with, quarter-dBm.
const TX_POWER_MAX: i32 = 78;

/// Answers with the system status.
pub(crate) fn system_status(call: &Call) -> Response {
    let state = &call.state;
    let memory = state.status(&call.view).memory;
    let services = &state.services;
    let mut status = system(&call.view, state.uptime(), memory, &services.data_dir);
    status["firmware"] = told::status(services.firmware.as_ref(), &services.data_dir);
    answer::json(&status)
}
