//! A summary of the status in ten lines.

use std::fmt::Write as _;

use runtime::printable::one_line;
use serde_json::{Map, Value};

use super::arguments::plain;

/// Seconds of a minute, an hour and a day.
const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// The summary of a status document.
pub(super) fn lines(status: &Value) -> String {
    let mut text = String::new();
    for (name, value) in [
        ("Shows", shows(status)),
        ("Rotation", rotation(status)),
        ("Block height", datum(status, "height")),
        ("Fee rate", datum(status, "feeRate")),
        ("Prices", prices(status)),
        ("Sources", sources(status)),
        ("Network", network(status)),
        ("Panels", panels(status)),
        ("Lights", lights(status)),
        ("Running", running(status)),
    ] {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:12}  {}", one_line(&value));
    }
    text
}

fn shows(status: &Value) -> String {
    let mut text = plain(&status["says"]);
    for (member, what) in [("stale", " (stale)"), ("disputed", " (disputed)")] {
        if status[member] == true {
            text.push_str(what);
        }
    }
    text
}

fn rotation(status: &Value) -> String {
    let runs = if status["timerRunning"] == true { "running" } else { "stopped" };
    let quiet = if status["dnd"]["active"] == true { ", Do Not Disturb" } else { "" };
    format!("{runs}{quiet}, mode {}", plain(&status["mode"]))
}

/// A value of the market with its source and age.
fn datum(status: &Value, name: &str) -> String {
    let datum = &status["market"][name];
    if datum["value"].is_null() {
        return "unknown".into();
    }
    let mut text = plain(&datum["value"]);
    if let Some(state) = datum["state"].as_str() {
        let _ = write!(text, ", {state}");
    }
    if let Some(source) = datum["source"].as_str() {
        let _ = write!(text, ", from {source}");
    }
    if let Some(age) = datum["ageSec"].as_u64() {
        let _ = write!(text, " {} ago", duration(age));
    }
    text + &sentence(&status["truth"][name])
}

/// The sentence of a doubtful value or a fault, in brackets; empty if there is none.
fn sentence(of: &Value) -> String {
    let says = of["says"].as_str();
    says.map_or_else(String::new, |says| format!(" ({says})"))
}

/// The prices: members of the market whose names are three capital letters.
fn prices(status: &Value) -> String {
    let prices = members(&status["market"]).filter(|(name, _)| {
        name.len() == 3 && name.chars().all(|letter| letter.is_ascii_uppercase())
    });
    let prices = prices.map(|(name, price)| {
        let why = sentence(&status["truth"]["prices"][name]);
        format!("{} {name}{why}", plain(&price["value"]))
    });
    join_or(prices.collect(), "unknown")
}

fn sources(status: &Value) -> String {
    let with_broker = [
        ("mqtt", &status["mqtt"]),
        ("time server", &status["timeServer"]),
    ];
    let with_broker = with_broker
        .into_iter()
        .filter(|(_, source)| source.is_object());
    let sources = members(&status["sources"]).chain(with_broker);
    let sources =
        sources.map(
            |(name, source)| match (source["up"] == true, &source["lastError"]) {
                (true, _) => format!("{name} connected"),
                (false, Value::String(error)) => format!("{name} not connected ({error})"),
                (false, _) => format!("{name} not connected"),
            },
        );
    join_or(sources.collect(), "none")
}

fn network(status: &Value) -> String {
    let link = &status["link"];
    let parts = ["state", "ssid", "ip", "announced"]
        .map(|member| link[member].as_str().unwrap_or_default());
    join_or(
        parts
            .into_iter()
            .filter(|part| !part.is_empty())
            .map(String::from)
            .collect(),
        "unknown",
    )
}

fn panels(status: &Value) -> String {
    let count = &status["numScreens"];
    let faults = status["panelFaults"].as_array().into_iter().flatten();
    let faults = faults.map(|fault| {
        let (panel, name) = (&fault["panel"], plain(&fault["fault"]));
        format!("panel {panel} {name}{}", sentence(fault))
    });
    format!("{count}, {}", join_or(faults.collect(), "no faults"))
}

fn lights(status: &Value) -> String {
    let leds = status["leds"].as_array().into_iter().flatten();
    let lit = leds.filter(|led| led["hex"] != "#000000").count();
    let muted = status["ledsMuted"]
        .as_str()
        .map(|why| format!(" (muted: {why})"));
    let front = match status["frontlight"]["on"].as_bool() {
        Some(true) => ", frontlight on",
        Some(false) => ", frontlight off",
        None => "",
    };
    format!("{lit} LEDs on{}{front}", muted.unwrap_or_default())
}

fn running(status: &Value) -> String {
    let uptime = status["espUptime"].as_u64().unwrap_or_default();
    let mut text = format!("for {}", duration(uptime));
    if let Some(why) = status["safeMode"].as_str() {
        let _ = write!(text, ", in safe mode: {why}");
    }
    if status["isOTAUpdating"] == true {
        text.push_str(", updating");
    }
    let waiting = status["restartFor"].as_array().into_iter().flatten();
    let waiting: Vec<String> = waiting.map(plain).collect();
    if !waiting.is_empty() {
        let _ = write!(text, ", restart needed for {}", waiting.join(", "));
    }
    text
}

fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let members = value.as_object().map(Map::iter).into_iter().flatten();
    members.map(|(name, value)| (name.as_str(), value))
}

fn join_or(parts: Vec<String>, otherwise: &str) -> String {
    if parts.is_empty() { otherwise.into() } else { parts.join(", ") }
}

/// A duration in its two largest units.
pub(crate) fn duration(seconds: u64) -> String {
    match seconds {
        ..MINUTE => format!("{seconds} s"),
        MINUTE..HOUR => format!("{} min", seconds / MINUTE),
        HOUR..DAY => format!("{} h {} min", seconds / HOUR, seconds % HOUR / MINUTE),
        DAY.. => format!("{} d {} h", seconds / DAY, seconds % DAY / HOUR),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_summary_has_ten_lines() {
        let status = json!({
            "says": "Block height 900,000.", "stale": true, "timerRunning": true, "mode": "rotation",
            "market": {
                "height": { "value": 900_000, "state": "proven", "source": "relay", "ageSec": 3700 },
                "feeRate": { "value": null },
                "USD": { "value": "108801.40" }
            },
            "sources": { "relay": { "up": true }, "wallet": { "up": false, "lastError": "timed out" } },
            "truth": {
                "height": { "says": "It is stale." }, "prices": { "USD": { "says": "It is doubtful." } }
            },
            "link": { "state": "connected", "ssid": "", "ip": "192.0.2.2", "announced": null },
            "numScreens": 7, "panelFaults": [{ "panel": 2, "fault": "busy-stuck", "says": "It stays busy." }],
            "leds": [{ "hex": "#000000" }, { "hex": "#FF0000" }], "ledsMuted": null,
            "frontlight": { "on": true }, "espUptime": 90_061, "restartFor": ["otaEnabled"]
        });
        expect![[r"
            Shows         Block height 900,000. (stale)
            Rotation      running, mode rotation
            Block height  900000, proven, from relay 1 h 1 min ago (It is stale.)
            Fee rate      unknown
            Prices        108801.40 USD (It is doubtful.)
            Sources       relay connected, wallet not connected (timed out)
            Network       connected, 192.0.2.2
            Panels        7, panel 2 busy-stuck (It stays busy.)
            Lights        1 LEDs on, frontlight on
            Running       for 1 d 1 h, restart needed for otaEnabled
        "]]
        .assert_eq(&lines(&status));
        assert_eq!(lines(&json!({})).lines().count(), 10);
    }
}
