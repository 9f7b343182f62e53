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

/// The document on `info`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InfoDocument<'a> {
    name: &'a str,
    hostname: &'a str,
    board: &'static str,
    hw_rev: &'static str,
    git_tag: &'a str,
    git_rev: &'a str,
    ip: &'a str,
    page: &'a str,
    panels: usize,
    leds: usize,
    has_frontlight: bool,
    groups: &'a [String],
    screens: Vec<ScreenName>,
    fonts: Vec<&'static str>,
    pools: Vec<&'static str>,
    currencies: Vec<&'a str>,
}

/// A screen that can be shown.
#[derive(Serialize)]
struct ScreenName {
    id: u16,
    name: &'static str,
}

/// What the clock is, and what can be chosen.
pub fn info(view: &View, about: &About, broker: &Broker) -> Value {
    let settings = &view.active;
    let order = settings.rotation_order();
    let screens = order
        .iter()
        .filter(|id| settings.is_screen_available(**id))
        .filter_map(|id| catalog::find(*id))
        .map(|screen| ScreenName {
            id: screen.id,
            name: screen.name,
        });
    let currencies = view.available_currencies.iter();
    json!(InfoDocument {
        name: &broker.id,
        hostname: &view.hostname,
        board: view.board.id,
        hw_rev: view.board.hardware,
        git_tag: &about.identity.git_tag,
        git_rev: &about.identity.git_rev,
        ip: &view.link.ip,
        page: &about.page,
        panels: view.board.panels,
        leds: view.board.leds,
        has_frontlight: view.board.frontlight,
        groups: &broker.groups,
        screens: screens.collect(),
        fonts: fonts::ids(),
        pools: pools::ids(),
        currencies: currencies.map(Currency::code).collect(),
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

/// The document on `update`. Home Assistant gives the names.
#[derive(Serialize)]
struct UpdateDocument<'a> {
    installed_version: &'a str,
    in_progress: bool,
    /// Null unless an update is under way.
    update_percentage: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latest_version: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    release_url: Option<&'a str>,
}

/// The program that runs and the one that the clock takes, as Home Assistant reads it; none where there is no updating.
pub fn update<'a>(view: &'a View, about: &'a About) -> Option<Value> {
    let installed = about
        .updatable
        .as_ref()
        .filter(|_| view.active.ota_enabled)?;
    let found = view.releases.found.as_ref();
    let taken = found.filter(|found| found.verdict.is_offered());
    let latest = found.map(|_| taken.map_or(installed, |taken| &taken.version));
    let text = |text: &'a String| Some(text.as_str()).filter(|text| !text.is_empty());
    Some(json!(UpdateDocument {
        installed_version: installed,
        in_progress: view.updating,
        update_percentage: view.updating.then_some(view.updated_percent),
        latest_version: latest.map(String::as_str),
        title: taken.and_then(|taken| text(&taken.title)),
        release_url: taken.and_then(|taken| text(&taken.page)),
    }))
}

/// The document on `host`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HostDocument {
    started_at: Option<i64>,
    memory_free: u64,
    mqtt_dropped: u64,
}

/// How the host is: since when the clock runs, s since 1970-01-01 UTC, how much memory it can have, bytes, and how much
/// of what was said between it and the broker was dropped.
pub fn host(view: &View, started: Option<i64>, memory_free: u64) -> Value {
    let broker = view.mqtt.as_ref();
    json!(HostDocument {
        started_at: started,
        memory_free,
        mqtt_dropped: broker.map_or(0, |broker| broker.dropped.values().sum()),
    })
}

/// The document on `market`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MarketDocument {
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<TimedValue<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fee_rate: Option<TimedValue<String>>,
    prices: BTreeMap<String, TimedValue<String>>,
}

/// A value, its source, and when it was learned.
#[derive(Serialize)]
struct TimedValue<T> {
    value: T,
    source: Word<SourceId>,
    time: Option<i64>,
}

/// The newest values, each with its source and the moment at which it was learned, s since 1970-01-01 UTC.
pub fn market(view: &View, now: Now) -> Value {
    fn timed<T, V>(datum: &Datum<T>, value: V, now: Now) -> TimedValue<V> {
        TimedValue {
            value,
            source: Word(datum.source),
            time: utc_of(datum.seen, now).map(|utc| utc.unix_ms.div_euclid(1000)),
        }
    }
    let market = &view.market;
    let height = market.height.as_ref();
    let fee = market.current_fee(view.active.fee_precision());
    let fee = fee.map(Fee::datum);
    let prices = market.prices.iter().map(|(currency, price)| {
        let amount = fixed(price.value.micros, 2);
        (currency.code().to_string(), timed(price, amount, now))
    });
    json!(MarketDocument {
        height: height.map(|height| timed(height, height.value, now)),
        fee_rate: fee.map(|fee| timed(fee, fixed(fee.value.micros, 2), now)),
        prices: prices.collect(),
    })
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

/// The document of a lamp. Home Assistant gives the names.
#[derive(Serialize)]
struct LampDocument {
    state: &'static str,
    color_mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    color: Option<LampColour>,
    #[serde(skip_serializing_if = "Option::is_none")]
    brightness: Option<u32>,
}

/// Colour of a lamp.
#[derive(Serialize)]
struct LampColour {
    r: u8,
    g: u8,
    b: u8,
}

/// State of a lamp as Home Assistant reads it; none where there is no such lamp.
pub fn lamp(lamp: Lamp, view: &View) -> Option<Value> {
    let document = match lamp {
        Lamp::Strip => {
            let first = view.lights.first()?;
            let lit = view.lights.iter().find(|led| **led != Rgb::BLACK);
            LampDocument {
                brightness: Some(view.active.led_brightness),
                ..led(*lit.unwrap_or(first))
            }
        }
        Lamp::Led(index) => led(*view.lights.get(index)?),
        Lamp::Frontlight => {
            let frontlight = view.frontlight.as_ref()?;
            LampDocument {
                state: on_or_off(frontlight.on),
                color_mode: "brightness",
                color: None,
                brightness: Some(frontlight.brightness.min(DUTY_MAX).into()),
            }
        }
    };
    Some(json!(document))
}

fn led(colour: Rgb) -> LampDocument {
    LampDocument {
        state: on_or_off(colour != Rgb::BLACK),
        color_mode: "rgb",
        color: Some(LampColour {
            r: colour.red,
            g: colour.green,
            b: colour.blue,
        }),
        brightness: None,
    }
}

fn on_or_off(is_on: bool) -> &'static str {
    if is_on { "ON" } else { "OFF" }
}

/// The document of an event.
#[derive(Serialize)]
#[serde(tag = "event_type", rename_all = "snake_case")]
enum EventDocument<'a> {
    Block {
        height: u32,
    },
    Zap {
        sats: u64,
        message: &'a str,
    },
    Payment {
        sats: u64,
        direction: Option<&'static str>,
    },
    Refresh,
    Warning {
        text: &'a str,
    },
    Press {
        button: Option<usize>,
    },
    LongPress {
        button: Option<usize>,
    },
}

/// Something that happened, under the word for it.
pub fn event(happening: &Happening) -> Value {
    json!(match *happening {
        Happening::Block { height } => EventDocument::Block { height },
        Happening::Zap { sats, ref message } => EventDocument::Zap { sats, message },
        Happening::Payment { sats, direction } => EventDocument::Payment { sats, direction },
        Happening::Refresh => EventDocument::Refresh,
        Happening::Warning { ref text } => EventDocument::Warning { text },
        Happening::Button { button, held: true } => EventDocument::LongPress { button },
        Happening::Button {
            button,
            held: false,
        } => EventDocument::Press { button },
    })
}

/// The members of the document on `result` that are those of the answer itself.
#[derive(Serialize)]
struct ResultDocument<'a> {
    cmd: &'a str,
    id: Option<&'a Value>,
    status: u16,
}

/// What became of a wish.
pub fn result(name: &str, caller: Option<&Value>, answer: &Answer) -> Value {
    let mut result = json!(ResultDocument {
        cmd: name,
        id: caller,
        status: answer.status,
    });
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

/// The document on `reported`.
#[derive(Serialize)]
struct ReportsDocument<'a> {
    #[serde(flatten)]
    newest: ReportDocument<'a>,
    scope: &'a str,
    scopes: Map<String, Value>,
}

/// The report of a scope.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReportDocument<'a> {
    rev: &'a str,
    applied: bool,
    error: Option<&'a str>,
    reboot_required: bool,
}

/// The document on `reported`: the most specific report, and the reports of all scopes. Reports are ordered from `all` to
/// `own`.
pub fn reported<'a>(reports: &'a [Report], view: &View) -> Option<Value> {
    let document = |report: &'a Report| ReportDocument {
        rev: &report.rev,
        applied: report.error.is_none(),
        error: report.error.as_deref(),
        reboot_required: !view.restart_for.is_empty(),
    };
    let newest = reports.last()?;
    let scopes = reports
        .iter()
        .map(|report| (report.scope.clone(), json!(document(report))));
    Some(json!(ReportsDocument {
        newest: document(newest),
        scope: &newest.scope,
        scopes: scopes.collect(),
    }))
}
