//! What the clock tells at its topics; the members are those of HTTP.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};

use device::{
    happenings::Happening,
    lights::{Rgb, frontlight::DUTY_MAX},
    memory::utc_of,
    mqtt::Broker,
    screens::catalog,
    settings::{
        SPECS, VIRTUAL,
        emit::{self, BuildIdentity},
        fonts, pools,
    },
    view::View,
};
use market::{
    Datum, Fee, HeightState,
    now::Now,
    source_id::SourceId,
    units::{Currency, fixed},
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::topics::Lamp;
use crate::{
    answer::Answer,
    schema::Word,
    status::{ClockStatus, LinkStatus, PanelStatus, ReleaseStatus},
};

/// The clock is there; Home Assistant expects these two words.
pub const ONLINE: &str = "online";

/// It is not.
pub const OFFLINE: &str = "offline";

/// What the clock knows of itself that the view does not tell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct About {
    /// What the build and its parts are.
    pub identity: BuildIdentity,
    /// Where its page is; empty while it has no address.
    pub page: String,
    /// Version of the program that runs; none where no other one can be installed.
    pub updatable: Option<String>,
}

/// Events that can happen, by the word for them.
pub const EVENTS: &[&str] = &["block", "zap", "payment", "refresh", "warning"];

/// What can happen to a button, by the word for it.
pub const PRESSES: &[&str] = &["press", "long_press"];

/// What the clock is, and what can be chosen.
pub fn info(view: &View, about: &About, broker: &Broker) -> Value {
    let settings = &view.active;
    let order = settings.rotation_order();
    let screens = order
        .iter()
        .filter(|id| settings.is_screen_available(**id))
        .filter_map(|id| catalog::find(*id))
        .map(|screen| json!({ "id": screen.id, "name": screen.name }));
    json!({
        "name": broker.id,
        "hostname": view.hostname,
        "board": view.board.id,
        "hwRev": view.board.hardware,
        "gitTag": about.identity.git_tag,
        "gitRev": about.identity.git_rev,
        "ip": view.link.ip,
        "page": about.page,
        "panels": view.board.panels,
        "leds": view.board.leds,
        "hasFrontlight": view.board.frontlight,
        "groups": broker.groups,
        "screens": screens.collect::<Vec<Value>>(),
        "fonts": fonts::ids(),
        "pools": pools::ids(),
        "currencies": view.available_currencies.iter().map(Currency::code).collect::<Vec<&str>>(),
    })
}

/// The document on `state`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StateDocument {
    #[serde(flatten)]
    clock: ClockStatus,
    safe_mode: Option<String>,
    link: LinkStatus,
    sources: BTreeMap<Word<SourceId>, bool>,
    height: Word<HeightState>,
    tip_time: Option<u32>,
    release: Option<ReleaseStatus>,
}

/// How the clock is: the status without what changes by the mere passing of time, without the market, and without the
/// figures of pool, miner and wallet: who reads at a broker need not know what an owner has.
///
/// Nothing of the broker is in it: what it does not take would change what it is told.
pub fn state(view: &View, panels: &[PanelStatus]) -> Value {
    let sources = view.sources.iter();
    json!(StateDocument {
        clock: ClockStatus::of(view, panels),
        safe_mode: view.safe_mode.clone(),
        link: LinkStatus::from(&view.link),
        sources: sources.map(|(id, source)| (Word(*id), source.up)).collect(),
        height: Word(view.truth.height),
        tip_time: view.truth.proven.as_ref().map(|tip| tip.time),
        release: ReleaseStatus::of(&view.releases, None),
    })
}

/// The program that runs and the one that the clock takes, as Home Assistant reads it; none where there is no updating.
pub fn update(view: &View, about: &About) -> Option<Value> {
    let installed = about
        .updatable
        .as_ref()
        .filter(|_| view.active.ota_enabled)?;
    // A percentage says that it is under way, and null that it is not.
    let percent = view.updating.then_some(view.updated_percent);
    let mut update = json!({
        "installed_version": installed,
        "in_progress": view.updating,
        "update_percentage": percent,
    });
    if let Some(found) = &view.releases.found {
        let is_taken = found.verdict.is_offered();
        let latest = if is_taken { &found.version } else { installed };
        update["latest_version"] = latest.as_str().into();
        let told = [("title", &found.title), ("release_url", &found.page)];
        for (member, text) in told
            .into_iter()
            .filter(|(_, text)| is_taken && !text.is_empty())
        {
            update[member] = text.as_str().into();
        }
    }
    Some(update)
}

/// How the host is: since when the clock runs, s since 1970-01-01 UTC, how much memory it can have, bytes, and how much
/// of what was said between it and the broker was dropped.
pub fn host(view: &View, started: Option<i64>, memory_free: u64) -> Value {
    let broker = view.mqtt.as_ref();
    let dropped: u64 = broker.map_or(0, |broker| broker.dropped.values().sum());
    json!({ "startedAt": started, "memoryFree": memory_free, "mqttDropped": dropped })
}

/// The newest values, each with its source and the moment at which it was learned, s since 1970-01-01 UTC.
pub fn market(view: &View, now: Now) -> Value {
    fn told<T>(datum: &Datum<T>, value: Value, now: Now) -> Value {
        let moment = utc_of(datum.seen, now).map(|utc| utc.unix_ms.div_euclid(1000));
        json!({ "value": value, "source": datum.source.name(), "time": moment })
    }
    let market = &view.market;
    let mut object = Map::new();
    if let Some(height) = &market.height {
        object.insert("height".into(), told(height, height.value.into(), now));
    }
    if let Some(fee) = market
        .current_fee(view.active.fee_precision())
        .map(Fee::datum)
    {
        let rate = fixed(fee.value.micros, 2);
        object.insert("feeRate".into(), told(fee, rate.into(), now));
    }
    let prices = market.prices.iter();
    let prices = prices.map(|(currency, price)| {
        let amount = fixed(price.value.micros, 2);
        (currency.code().to_string(), told(price, amount.into(), now))
    });
    object.insert(
        "prices".into(),
        prices.collect::<Map<String, Value>>().into(),
    );
    object.into()
}

/// The settings, without their secrets and without what GET tells beside them.
pub fn settings(view: &View, identity: &BuildIdentity) -> Value {
    let mut document = emit::public_document(view, identity);
    let is_setting = |name: &str| {
        let is_row = SPECS.iter().any(|spec| {
            spec.name == name || name.strip_suffix("Set").is_some_and(|row| row == spec.name)
        });
        is_row || VIRTUAL.iter().any(|row| row.name == name)
    };
    document.retain(|name, _| is_setting(name));
    document.into()
}

/// State of a lamp as Home Assistant reads it; none where there is no such lamp.
pub fn lamp(lamp: Lamp, view: &View) -> Option<Value> {
    match lamp {
        Lamp::Strip => {
            let first = view.lights.first()?;
            let lit = view.lights.iter().find(|led| **led != Rgb::BLACK);
            let mut state = led(*lit.unwrap_or(first));
            state["brightness"] = view.active.led_brightness.into();
            Some(state)
        }
        Lamp::Led(index) => Some(led(*view.lights.get(index)?)),
        Lamp::Frontlight => {
            let frontlight = view.frontlight.as_ref()?;
            let state = if frontlight.on { "ON" } else { "OFF" };
            let brightness = frontlight.brightness.min(DUTY_MAX);
            Some(json!({ "state": state, "color_mode": "brightness", "brightness": brightness }))
        }
    }
}

fn led(colour: Rgb) -> Value {
    let state = if colour == Rgb::BLACK { "OFF" } else { "ON" };
    let Rgb { red, green, blue } = colour;
    json!({ "state": state, "color_mode": "rgb", "color": { "r": red, "g": green, "b": blue } })
}

/// Something that happened, under the word for it.
pub fn event(happening: &Happening) -> Value {
    match happening {
        Happening::Block { height } => json!({ "event_type": "block", "height": height }),
        Happening::Zap { sats, message } => {
            json!({ "event_type": "zap", "sats": sats, "message": message })
        }
        Happening::Payment { sats, direction } => {
            json!({ "event_type": "payment", "sats": sats, "direction": direction })
        }
        Happening::Refresh => json!({ "event_type": "refresh" }),
        Happening::Warning { text } => json!({ "event_type": "warning", "text": text }),
        Happening::Button { button, held } => {
            let press = if *held { "long_press" } else { "press" };
            json!({ "event_type": press, "button": button })
        }
    }
}

/// What became of a wish.
pub fn result(name: &str, caller: Option<&Value>, answer: &Answer) -> Value {
    let mut result = json!({ "cmd": name, "id": caller, "status": answer.status });
    match &answer.body {
        Some(Value::Object(members)) => {
            for (member, value) in members {
                // What a document says counts less than what the answer itself is.
                if result.get(member).is_none() {
                    result[member.as_str()] = value.clone();
                }
            }
        }
        Some(body) => result["body"] = body.clone(),
        None => {}
    }
    if let Some(reason) = &answer.reason {
        result["msg"] = reason.as_str().into();
    }
    result
}

/// What the clock did with retained settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// `own`, or the group that they are for.
    pub scope: String,
    /// Name of their version; empty if there is none or it could not be read.
    pub rev: String,
    /// Why they were refused; `None` if they were applied.
    pub error: Option<String>,
}

/// The document on `reported`: the most specific report, and the reports of all scopes. Reports are ordered from `all` to
/// `own`.
pub fn reported(reports: &[Report], view: &View) -> Option<Value> {
    let told = |report: &Report| {
        json!({
            "rev": report.rev,
            "applied": report.error.is_none(),
            "error": report.error,
            "rebootRequired": !view.restart_for.is_empty(),
        })
    };
    let newest = reports.last()?;
    let mut document = told(newest);
    document["scope"] = newest.scope.as_str().into();
    let scopes = reports
        .iter()
        .map(|report| (report.scope.clone(), told(report)));
    document["scopes"] = scopes.collect::<Map<String, Value>>().into();
    Some(document)
}
