//! The documents that say how the clock is: status, system status, Do Not Disturb, lights.
//!
//! All are made of one [`View`], so that no two answers disagree.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::time::Duration;

use device::{
    board::PanelFault,
    lights::{Rgb, strip::MuteReason},
    refresh::Refresh,
    releases::{ReleaseVerdict, Releases},
    settings::{Settings, data_source, emit::lux, kinds::tx_power},
    spoken::{self, Sentence},
    view::{FrontlightState, LinkState, SourceState, View},
};
use market::{
    Datum, Fee, MinerStats, PoolStats, PriceState, QuoteVerdict, Seen, Tip, Voice,
    heights::Claimed,
    now::UtcTime,
    source_id::SourceId,
    units::{Currency, Msats, Price, fixed},
};
use serde_json::{Map, Value, json};

/// What the status tells that the view does not.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// Time since the device started.
    pub uptime: Duration,
    /// Wall clock, once it is plausible.
    pub utc: Option<UtcTime>,
    /// Memory of the host.
    pub memory: HostMemory,
    /// The panels, leftmost first.
    pub panels: Vec<PanelState>,
    /// The owner's proxy; `None` if no proxy is in use.
    pub proxy: Option<SourceState>,
}

/// Memory of the host, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HostMemory {
    /// All there is.
    pub total: u64,
    /// What can be had.
    pub free: u64,
    /// The least that could be had since the first look.
    pub least_free: u64,
    /// All there is beyond that, such as swap.
    pub more_total: u64,
    /// What is free of it.
    pub more_free: u64,
    /// The least that was free of it since the first look.
    pub least_more_free: u64,
}

/// What is on a panel, and what is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PanelState {
    /// How it was painted last and how long ago; none if nothing painted it since the start.
    pub painted: Option<(Refresh, Duration)>,
    /// Partial refreshes since its last full one.
    pub partials: u32,
    /// What is wrong with it; it then shows an older picture than the others.
    pub fault: Option<PanelFault>,
    /// How often it failed since it last did as it was told.
    pub failures: u32,
    /// Time until it is tried again; none if it is not, or as soon as it is idle.
    pub retry_in: Option<Duration>,
}

/// How much a disk holds, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DiskSpace {
    /// What is taken.
    pub used: u64,
    /// All there is.
    pub total: u64,
}

impl HostMemory {
    /// The members of the status.
    pub fn members(self) -> Map<String, Value> {
        let bytes = [
            self.free,
            self.total,
            self.least_free,
            self.free,
            self.more_free,
            self.more_total,
        ];
        let members = MEMORY.into_iter().zip(bytes);
        members
            .map(|(name, bytes)| (name.to_string(), bytes.into()))
            .collect()
    }
}

/// Names of the memory's figures: free, all, the least that was free, the largest piece, and free and all beyond that.
pub const MEMORY: [&str; 6] = [
    "espFreeHeap",
    "espHeapSize",
    "espMinFreeHeap",
    "espLargestFreeBlock",
    "espFreePsram",
    "espPsramSize",
];

/// The status: what is lasting of it, and what changes by the mere passing of time.
pub fn status(
    view: &View,
    lasting: Map<String, Value>,
    surroundings: &Surroundings,
) -> Map<String, Value> {
    let uptime = surroundings.uptime;
    let mut status = lasting;
    status.insert("espUptime".into(), uptime.as_secs().into());
    status.append(&mut surroundings.memory.members());
    let panels = surroundings.panels.iter().map(panel).collect();
    status.insert("panels".into(), panels);
    status.insert("sources".into(), sources(view, uptime));
    let time_server = view.time_server.as_ref();
    let time_server = time_server.map(|state| source(state, uptime));
    status.insert("timeServer".into(), time_server.unwrap_or_default());
    let broker = view.mqtt.as_ref().map(|state| source(state, uptime));
    status.insert("mqtt".into(), broker.unwrap_or_default());
    let proxy = surroundings.proxy.as_ref();
    let proxy = proxy.map(|state| source(state, uptime));
    status.insert("proxy".into(), proxy.unwrap_or_default());
    status.insert("market".into(), market(view, Some(uptime)));
    status.insert("figures".into(), figures(view, Some(uptime)));
    status.insert("truth".into(), truth(view, Some(surroundings)));
    status
}

/// The members of the status that do not change by the mere passing of time.
pub fn lasting(view: &View, panels: &[PanelState]) -> Map<String, Value> {
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
    put("says", view.says.to_string().into());
    put("phrase", phrase(&view.says));
    put("dnd", dnd(view));
    if let Some(millilux) = view.millilux {
        put("lightLevel", lux(millilux));
    }
    put("leds", lights(&view.lights));
    put("ledsMuted", view.strip_mute.map(MuteReason::word).into());
    if let Some(frontlight) = &view.frontlight {
        put("frontlight", frontlight_state(frontlight));
        put("flStatus", frontlight.duties.clone().into());
    }
    put("mode", view.mode.into());
    put("stale", view.stale.into());
    put("disputed", view.disputed.into());
    put("restartFor", view.restart_for.clone().into());
    put("panelFaults", faults(panels));
    put("notes", view.notes.clone().into());
    put("market", market(view, None));
    put("figures", figures(view, None));
    put("truth", truth(view, None));
    put("safeMode", view.safe_mode.as_deref().into());
    put("link", link(&view.link));
    status
}

/// The panels with something wrong, leftmost first.
fn faults(panels: &[PanelState]) -> Value {
    let fault = |(panel, state): (usize, &PanelState)| {
        let fault = state.fault?.name();
        Some(json!({ "panel": panel, "fault": fault, "failures": state.failures }))
    };
    panels.iter().enumerate().filter_map(fault).collect()
}

/// What is on a panel: since when, how it came there, s, and what is wrong with it.
fn panel(panel: &PanelState) -> Value {
    let mut object = Map::new();
    let mut put = |name: &str, value: Value| object.insert(name.into(), value);
    if let Some((refresh, age)) = panel.painted {
        put("ageSec", age.as_secs().into());
        put("refresh", refresh.name().into());
    }
    put("partials", panel.partials.into());
    put("fault", panel.fault.map(PanelFault::name).into());
    put("failures", panel.failures.into());
    if let Some(left) = panel.retry_in {
        put("nextTrySec", left.as_secs().into());
    }
    Value::Object(object)
}

/// The newest values, each with its source and, while the time is known, its age.
fn market(view: &View, uptime: Option<Duration>) -> Value {
    let market = &view.market;
    let mut object = Map::new();
    let mut put = |name: &str, mut member: Value, state: &str| {
        member["state"] = state.into();
        object.insert(name.to_owned(), member);
    };
    if let Some(height) = &market.height {
        let told = told(height, height.value, uptime);
        put("height", told, view.truth.height.name());
    }
    if let Some(fee) = market
        .current_fee(view.active.fee_precision())
        .map(Fee::datum)
    {
        let decimals = if view.active.block_fee_dec { 2 } else { 0 };
        let rate = fixed(fee.value.micros, decimals);
        let state = view.truth.fee.name();
        put("feeRate", told(fee, rate, uptime), state);
    }
    for (currency, price) in market.prices.iter() {
        let told = told(price, amount(price.value), uptime);
        put(currency.code(), told, price_state(view, *currency).name());
    }
    Value::Object(object)
}

/// Names of what pool, miner and wallet say.
pub const FIGURES: [&str; 6] = [
    "poolHashrate",
    "poolEarnings",
    "poolWorkers",
    "minerHashrate",
    "minerBest",
    "walletBalance",
];

/// What the owner's own sources say of themselves, told as the values of the market are: the mining pool, the miner
/// and the wallet, as long as the clock follows them.
fn figures(view: &View, uptime: Option<Duration>) -> Value {
    let market = &view.market;
    let mut object = Map::new();
    let pool = market.pool.as_ref().map(|pool| &pool.datum);
    let miner = market.miner.as_ref().map(|miner| &miner.datum);
    let balance = market.balance.as_ref().map(|balance| &balance.datum);
    let mut put = |name: &str, member: Option<Value>| {
        if let Some(member) = member {
            object.insert(name.to_owned(), member);
        }
    };
    if let Some(pool) = pool {
        let PoolStats {
            hashrate,
            daily,
            workers,
        } = &pool.value;
        put(
            "poolHashrate",
            Some(told(pool, hashrate.0.to_string(), uptime)),
        );
        put("poolEarnings", daily.map(|sats| told(pool, sats.0, uptime)));
        put(
            "poolWorkers",
            workers.map(|count| told(pool, count, uptime)),
        );
    }
    if let Some(miner) = miner {
        let MinerStats {
            hashrate,
            best_difficulty,
        } = &miner.value;
        let rate = hashrate.map(|rate| rate.0.to_string());
        put("minerHashrate", rate.map(|rate| told(miner, rate, uptime)));
        let best = best_difficulty.as_deref();
        put("minerBest", best.map(|best| told(miner, best, uptime)));
    }
    let sats = |balance: &Datum<Msats>| told(balance, balance.value.sats().0, uptime);
    put("walletBalance", balance.map(sats));
    Value::Object(object)
}

/// A value with its source and, while the time is known, its age.
fn told<T>(datum: &Datum<T>, value: impl Into<Value>, uptime: Option<Duration>) -> Value {
    let value: Value = value.into();
    let mut member = json!({ "value": value, "source": datum.source.name() });
    match (datum.seen, uptime) {
        (Seen::At(_) | Seen::Aged { .. }, Some(uptime)) => {
            let age = datum.seen.age_at(uptime).unwrap_or_default();
            member["ageSec"] = age.as_secs().into();
        }
        (Seen::At(_) | Seen::Aged { .. }, None) => {}
        (Seen::Before(_), _) => member["earlierRun"] = true.into(),
    }
    member
}

/// How good the height is, and who says what; ages while the time is known.
fn truth(view: &View, surroundings: Option<&Surroundings>) -> Value {
    let truth = &view.truth;
    let uptime = surroundings.map(|surroundings| surroundings.uptime);
    let claim = |claimed: &Claimed| {
        let mut claim = json!({ "source": claimed.source.name(), "value": claimed.height });
        if let Some(age) = uptime.and_then(|uptime| claimed.seen.age_at(uptime)) {
            claim["ageSec"] = age.as_secs().into();
        }
        claim
    };
    let proof = |(source, tip): &(SourceId, Tip)| json!({ "source": source.name(), "value": tip.height, "hash": tip.hash.to_string() });
    let proven = truth.proven.as_ref();
    let mut height = json!({
        "state": truth.height.name(),
        "chain": truth.chain,
        "anchor": truth.anchor,
        "proven": proven.map(|tip| tip.height),
        "tipHash": proven.map(|tip| tip.hash.to_string()),
        "tipTime": proven.map(|tip| tip.time),
        "chainWork": truth.work.map(|work| format!("{work:x}")),
        "peers": truth.peers(),
        "agreeing": truth.agreeing(),
        "reorgs": truth.reorganisations.count,
        "lastReorgDepth": truth.reorganisations.last_depth,
        "proofs": truth.proofs.iter().map(proof).collect::<Vec<Value>>(),
        "claimed": truth.claims.iter().map(claim).collect::<Vec<Value>>(),
    });
    let utc = surroundings.and_then(|surroundings| surroundings.utc);
    if let Some((tip, utc)) = proven.zip(utc) {
        // A block may be somewhat ahead of the time.
        let age_secs = utc.unix_secs() - i64::from(tip.time);
        height["tipAgeSec"] = age_secs.max(0).into();
    }
    let time = json!({ "state": truth.time.state.name(), "earliest": truth.time.earliest });
    json!({
        "height": height,
        "fee": fee(view),
        "prices": prices(view, uptime),
        "time": time,
    })
}

/// The state and the source of the fee rate.
fn fee(view: &View) -> Value {
    let shown = view
        .market
        .current_fee(view.active.fee_precision())
        .map(Fee::datum);
    json!({
        "state": view.truth.fee.name(),
        "source": shown.map(|shown| shown.source.name()),
    })
}

/// What one source reports.
struct SourceReport {
    source: SourceId,
    value: String,
    seen: Seen,
    standing: QuoteVerdict,
}

impl SourceReport {
    fn object(self, uptime: Duration) -> Value {
        let age = self.seen.age_at(uptime).unwrap_or_default();
        json!({
            "source": self.source.name(),
            "value": self.value,
            "ageSec": age.as_secs(),
            "verdict": self.standing.name(),
        })
    }
}

/// How good a price is; one that nobody has quoted in this run is old.
fn price_state(view: &View, currency: Currency) -> PriceState {
    let truth = view.truth.prices.get(&currency);
    truth.map_or(PriceState::Stale, |truth| truth.state)
}

/// How good each price is, and who quotes what; voices while the time is known, for they change all the time.
fn prices(view: &View, uptime: Option<Duration>) -> Value {
    let known = view.market.prices.iter();
    let told = known.map(|(currency, price)| {
        let mut object = json!({
            "state": price_state(view, *currency).name(),
            "source": price.source.name(),
        });
        if let (Some(truth), Some(uptime)) = (view.truth.prices.get(currency), uptime) {
            object["shown"] = amount(price.value).into();
            object["spreadPermille"] = truth.spread_permille.into();
            let voice = |voice: &Voice| {
                let told = SourceReport {
                    source: voice.source,
                    value: amount(voice.price),
                    seen: voice.seen,
                    standing: voice.standing,
                };
                told.object(uptime)
            };
            object["voices"] = truth.voices.iter().map(voice).collect();
        }
        (currency.code().to_owned(), object)
    });
    told.collect()
}

/// A price as a text.
fn amount(price: Price) -> String {
    let decimals = match price.micros < SMALL_PRICE_MICROS {
        true => 6,
        false => 2,
    };
    fixed(price.micros, decimals)
}

/// Prices below this are told with all their decimals, millionths of the currency's unit.
const SMALL_PRICE_MICROS: u64 = 1_000_000;

/// Which upstream connections are up, as clients group them.
fn connections(view: &View) -> Value {
    let up = |id: SourceId| view.sources.get(&id).is_some_and(|state| state.up);
    let relay = up(SourceId::Relay);
    let (price, blocks) = match view.active.data_source {
        data_source::EXPLORER => (up(SourceId::Exchange) || relay, up(SourceId::Explorer)),
        data_source::NOSTR => (up(SourceId::Nostr), up(SourceId::Nostr)),
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

/// A sentence in its parts, for those who say it in another language.
fn phrase(sentence: &Sentence) -> Value {
    let told = |(gap, value): &(&'static str, spoken::SentenceValue)| {
        let value = match value {
            spoken::SentenceValue::Text(text) => text.as_str().into(),
            spoken::SentenceValue::Number(number) => json!({ "number": number }),
            spoken::SentenceValue::Phrase(sentence) => phrase(sentence),
        };
        (String::from(*gap), value)
    };
    let values: Map<String, Value> = sentence.values.iter().map(told).collect();
    json!({ "words": sentence.words.template(), "values": values })
}

/// Do Not Disturb, as in the status.
pub fn dnd(view: &View) -> Value {
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
pub fn lights(colours: &[Rgb]) -> Value {
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
pub fn system(
    view: &View,
    uptime: Duration,
    memory: HostMemory,
    disk: DiskSpace,
) -> Map<String, Value> {
    let mut object = memory.members();
    let mut put = |name: &str, value: Value| object.insert(name.into(), value);
    put("fsUsedBytes", disk.used.into());
    put("fsTotalBytes", disk.total.into());
    put("rssi", view.link.rssi.into());
    // A radio that does not say sends with as much as it may.
    let wished = view.active.tx_power.unwrap_or(tx_power::MAX);
    put("txPower", view.link.tx_power.unwrap_or(wished).into());
    put(
        "queueDrops",
        // Buttons wait for a place in the inbox, and the frontlight has no queue.
        json!({ "buttons": 0, "led": view.strip_drops, "frontlight": 0 }),
    );
    put("uptime", uptime.as_secs().into());
    let mut release = release(&view.releases);
    if let Some(at) = view.releases.at {
        release["ageSec"] = uptime.saturating_sub(at).as_secs().into();
    }
    put("release", release);
    object
}

/// The release that is taken, or the newest of those that are not, and why; null where nobody looks, or has seen one.
pub fn release(known: &Releases) -> Value {
    let Some(says) = known.says() else {
        return Value::Null;
    };
    let mut release = json!({
        "lastError": known.last_error,
        "says": says.to_string(),
        "phrase": phrase(&says),
    });
    if let Some(found) = &known.found {
        release["version"] = found.version.as_str().into();
        release["title"] = found.title.as_str().into();
        release["url"] = found.page.as_str().into();
        release["taken"] = (found.verdict == ReleaseVerdict::Taken).into();
        release["why"] = found.verdict.reason().into();
        release["number"] = found.number.into();
    }
    release
}
