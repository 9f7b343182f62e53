//! Payloads of published messages. The members are those of HTTP.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};

use device::{
    event_log::DeviceEvent,
    glass::Layer,
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
    Datum, Fee, HeightState, Seen,
    now::Now,
    source_id::SourceId,
    units::{Currency, fixed},
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::topics::Lamp;
use crate::{
    answer::Answer,
    documents::displays::{DisplayBattery, DisplayLog},
    schema::Word,
    status::{ClockStatus, LinkStatus, PanelStatus, ReleaseStatus, values},
};

/// Payload of the status while the clock is connected; Home Assistant expects this word.
pub const ONLINE: &str = "online";

/// Payload of the status, and of the will, while the clock is not connected; Home Assistant expects this word.
pub const OFFLINE: &str = "offline";

/// Facts about the program that are not in the view.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProgramInfo {
    /// Versions of the program and its parts.
    pub identity: BuildIdentity,
    /// URL of the clock's page; empty if the clock has no address.
    pub page_url: String,
    /// The running version. `None` if updates cannot be installed.
    pub updatable_version: Option<String>,
}

/// Types of events, except those of buttons.
pub const EVENT_TYPES: &[&str] = &["block", "zap", "payment", "refresh", "warning"];

/// Types of events of buttons.
pub const BUTTON_EVENT_TYPES: &[&str] = &["press", "long_press"];

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

/// The document on `info`: facts about the clock, and the options of some settings.
pub fn info(view: &View, program: &ProgramInfo, broker: &Broker) -> Value {
    let settings = &view.settings.active;
    let order = settings.rotation_order();
    let screens = order
        .iter()
        .filter(|id| settings.is_screen_available(**id))
        .filter_map(|id| catalog::find(*id))
        .map(|screen| ScreenName {
            id: screen.id,
            name: screen.name,
        });
    let currencies = view.offer.currencies().iter();
    json!(InfoDocument {
        name: &broker.id,
        hostname: &view.hostname,
        board: view.board.id,
        hw_rev: view.board.hardware,
        git_tag: &program.identity.git_tag,
        git_rev: &program.identity.git_rev,
        ip: &view.link.ip,
        page: &program.page_url,
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

/// The document on `state`: the status without values that change with time alone, without the market, and without the
/// figures of pool, miner and wallet, which are private.
///
/// It has nothing about the broker: otherwise every dropped message would cause another one.
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

/// What a remote display reports, on `displays`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DisplayReport<'a> {
    name: &'a str,
    #[serde(flatten)]
    battery: DisplayBattery,
    rssi: Option<i32>,
    /// s since 1970-01-01 UTC.
    last_contact: Option<i64>,
    /// The newest line of its log.
    last_log: Option<DisplayLog>,
}

/// The document on `displays`: what the approved remote displays report, by id. `None` if there are none.
pub fn displays(view: &View, now: Now) -> Option<Value> {
    let approved = view.displays.iter().filter(|state| state.is_approved);
    let reports = approved.map(|state| {
        let contact = &state.report.contact;
        let last_contact = state.report.last_contact;
        let last_contact = last_contact.and_then(|at| utc_of(Seen::At(at), now));
        let report = DisplayReport {
            name: &state.display.name,
            battery: DisplayBattery::of(contact.battery.unwrap_or_default()),
            rssi: contact.rssi,
            last_contact: last_contact.map(|utc| utc.unix_ms.div_euclid(1000)),
            last_log: state.report.log.back().map(DisplayLog::of),
        };
        (state.display.id.as_str(), report)
    });
    let reports: BTreeMap<_, _> = reports.collect();
    (!reports.is_empty()).then(|| json!(reports))
}

/// The document on `update`, with the names of Home Assistant.
#[derive(Serialize)]
struct UpdateDocument<'a> {
    installed_version: &'a str,
    in_progress: bool,
    /// Null unless an update is in progress.
    update_percentage: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latest_version: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    release_url: Option<&'a str>,
}

/// The document on `update`: the running version and the offered release. `None` if updates cannot be installed or are
/// switched off.
pub fn update<'a>(view: &'a View, program: &'a ProgramInfo) -> Option<Value> {
    let installed = program
        .updatable_version
        .as_ref()
        .filter(|_| view.settings.active.ota_enabled)?;
    let found = view.releases.found.as_ref();
    let offered = found.filter(|found| found.verdict.is_offered());
    let latest = found.map(|_| offered.map_or(installed, |offered| &offered.version));
    let text = |text: &'a String| Some(text.as_str()).filter(|text| !text.is_empty());
    let is_updating = view.glass.has(Layer::Update);
    Some(json!(UpdateDocument {
        installed_version: installed,
        in_progress: is_updating,
        update_percentage: is_updating.then(|| view.glass.updated_percent()),
        latest_version: latest.map(String::as_str),
        title: offered.and_then(|offered| text(&offered.title)),
        release_url: offered.and_then(|offered| text(&offered.page)),
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

/// The document on `host`: when the clock was started, s since 1970-01-01 UTC, free memory, bytes, and the number of
/// dropped messages.
pub fn host(view: &View, started_at: Option<i64>, memory_free: u64) -> Value {
    let broker = view.mqtt.as_ref();
    json!(HostDocument {
        started_at,
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

/// A value, its source, and when it was received.
#[derive(Serialize)]
struct TimedValue<T> {
    value: T,
    source: Word<SourceId>,
    time: Option<i64>,
}

/// The document on `market`: the newest values, each with its source and the time at which it was received, s since
/// 1970-01-01 UTC.
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
    let fee = market.current_fee(view.settings.active.fee_precision());
    let fee = fee.map(Fee::datum);
    let prices = market.prices.iter().map(|(currency, price)| {
        let amount = values::amount(price.value);
        (currency.code().to_string(), timed(price, amount, now))
    });
    json!(MarketDocument {
        height: height.map(|height| timed(height, height.value, now)),
        fee_rate: fee.map(|fee| timed(fee, fixed(fee.value.micros, 2), now)),
        prices: prices.collect(),
    })
}

/// The document on `settings`: the settings without secrets, and without the other members of GET.
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

/// The document of a lamp, with the names of Home Assistant.
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

/// The state of a lamp. `None` if the clock lacks the lamp.
pub fn lamp(lamp: Lamp, view: &View) -> Option<Value> {
    let document = match lamp {
        Lamp::Strip => {
            let first = view.lights.first()?;
            let lit = view.lights.iter().find(|led| **led != Rgb::BLACK);
            LampDocument {
                brightness: Some(view.settings.active.led_brightness),
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

/// The document of an event.
pub fn event(event: &DeviceEvent) -> Value {
    json!(match *event {
        DeviceEvent::Block { height } => EventDocument::Block { height },
        DeviceEvent::Zap { sats, ref message } => EventDocument::Zap { sats, message },
        DeviceEvent::Payment { sats, direction } => EventDocument::Payment { sats, direction },
        DeviceEvent::Refresh => EventDocument::Refresh,
        DeviceEvent::Warning { ref text } => EventDocument::Warning { text },
        DeviceEvent::Button { button, held: true } => EventDocument::LongPress { button },
        DeviceEvent::Button {
            button,
            held: false,
        } => EventDocument::Press { button },
    })
}

/// The members of the document on `result` that do not come from the body of the answer.
#[derive(Serialize)]
struct ResultDocument<'a> {
    cmd: &'a str,
    id: Option<&'a Value>,
    status: u16,
}

/// The result of a command.
pub fn result(name: &str, request_id: Option<&Value>, answer: &Answer) -> Value {
    let mut result = json!(ResultDocument {
        cmd: name,
        id: request_id,
        status: answer.status,
    });
    match &answer.body {
        Some(Value::Object(members)) => {
            for (member, value) in members {
                // A member of the body does not replace one of the result itself.
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

/// The result of retained settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsReport {
    /// `own`, or the group that they are for.
    pub scope: String,
    /// Name of their version; empty if there is none or it could not be read.
    pub rev: String,
    /// Token of the HTTP error. `None` if they were applied.
    pub error: Option<String>,
}

/// The document on `reported`.
#[derive(Serialize)]
struct ReportsDocument<'a> {
    #[serde(flatten)]
    most_specific: ReportDocument<'a>,
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

/// The document on `reported`: the most specific report, and the reports of all scopes. `None` without reports. They are
/// ordered from `all` to `own`.
pub fn reported<'a>(reports: &'a [SettingsReport], view: &View) -> Option<Value> {
    let document = |report: &'a SettingsReport| ReportDocument {
        rev: &report.rev,
        applied: report.error.is_none(),
        error: report.error.as_deref(),
        reboot_required: !view.settings.pending_restart().is_empty(),
    };
    let most_specific = reports.last()?;
    let scopes = reports
        .iter()
        .map(|report| (report.scope.clone(), json!(document(report))));
    Some(json!(ReportsDocument {
        most_specific: document(most_specific),
        scope: &most_specific.scope,
        scopes: scopes.collect(),
    }))
}
