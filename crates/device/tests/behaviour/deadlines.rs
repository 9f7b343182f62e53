//! Automatic changes happen exactly at their deadline, to the millisecond, with a tick as the only input.

use std::time::Duration;

use crate::world::{World, settings};

/// Settings; inputs; time until an automatic change, ms; probe; values of the probe before and after the change.
type Row = (
    &'static str,
    &'static str,
    u64,
    Probe,
    &'static str,
    &'static str,
);

/// Reads one value of the clock.
type Probe = fn(&World) -> String;

const GLASS: Probe = World::glass;
const MODE: Probe = |world| world.device.view().mode.into();
const STALE: Probe = |world| world.device.view().stale.to_string();
const QUIET: Probe = |world| world.device.view().dnd_active.to_string();
const STRIP: Probe = |world| world.device.desired().strip[0].hex();
const FRONTLIGHT: Probe = |world| world.device.desired().frontlight[0].to_string();
/// Number of sources that should run.
const SOURCES: Probe = |world| world.device.desired().sources.len().to_string();
const EFFECTS: Probe = |world| format!("{:?}", world.effects);
const REFRESHES: Probe = |world| world.device.desired().picture.full_refreshes.to_string();
/// The uptime on the debug view.
const DEBUG: Probe = |world| {
    let cells = format!("{:?}", world.device.desired().picture.cells);
    let (_, uptime) = cells.split_once("Uptime").unwrap();
    uptime
        .split('"')
        .find(|text| text.ends_with('s'))
        .unwrap()
        .into()
};

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;

#[rustfmt::skip]
const ROWS: &[Row] = &[
    // The time on the panels.
    ("", "clock 2026-02-03T12:00:30+01:00; screen 3", 30_000, GLASS, "03/02 12:00", "03/02 12:01"),
    ("", "clock 2026-02-03T12:00:59.999+01:00; screen 3", 1, GLASS, "03/02 12:00", "03/02 12:01"),
    ("", "clock 2026-02-03T12:00:00+01:00; screen 3", MINUTE, GLASS, "03/02 12:00", "03/02 12:01"),

    // A throttled price.
    ("", "screen 20; price USD 65000", 30_000, GLASS, "BTC/USD $64000", "BTC/USD $65000"),
    ("minSecPriceUpd=10", "screen 20; wait 4000; price USD 65000", 6_000, GLASS, "BTC/USD $64000", "BTC/USD $65000"),

    // A stale value.
    ("", "block 840001", 90 * MINUTE, STALE, "false", "true"),
    ("proofPeerMax=0", "block 840001", 90 * MINUTE + 1, STALE, "false", "true"),
    ("", "screen 20; price USD 65000", 15 * MINUTE + 1, STALE, "false", "true"),
    ("", "screen 6; fee 13", HOUR + 1, STALE, "false", "true"),
    ("miningPoolStats=true", "screen 70; pool", 10 * MINUTE + 1, STALE, "false", "true"),
    ("miningPoolStats=true poolPollSec=3600", "screen 70; pool", 4 * HOUR + 1, STALE, "false", "true"),
    ("minerEnabled=true", "screen 80; miner", 10 * MINUTE + 1, STALE, "false", "true"),
    ("minerEnabled=true minerPollSec=300", "screen 81; miner", 20 * MINUTE + 1, STALE, "false", "true"),
    ("nwcEnabled=true", "screen 90; balance 21", 10 * MINUTE + 1, STALE, "false", "true"),
    ("nwcEnabled=true nwcRefreshSecs=3600", "screen 90; balance 21", 4 * HOUR + 1, STALE, "false", "true"),

    // No data.
    ("", "power-on; wait 10000; source relay down", 50_000, GLASS, "BLOCK/HEIGHT", "NO/DATA"),
    ("", "power-on; wait 10000; screen 20", 50_000, GLASS, "BTC/USD", "NO/DATA"),

    // The quiet hours.
    ("dndTimeEnabled=true", "clock 2026-02-03T21:59:00+01:00", MINUTE, QUIET, "false", "true"),
    ("dndTimeEnabled=true", "clock 2026-02-03T22:00:00+01:00", 9 * HOUR, QUIET, "true", "false"),
    ("dndTimeEnabled=true dndStartHour=13 dndEndHour=14", "clock 2026-02-03T12:00:00+01:00", HOUR, QUIET, "false", "true"),
    ("dndTimeEnabled=true dndStartHour=13 dndEndHour=14", "clock 2026-02-03T13:00:00+01:00", HOUR, QUIET, "true", "false"),

    // Temporary layers.
    ("nostrZapNotify=true", "zap 21", 30_000, MODE, "zap", "rotation"),
    ("nostrZapNotify=true overlaySeconds=3600", "zap 21", HOUR, MODE, "zap", "rotation"),
    ("overlaySeconds=1", "received 21", 1_000, MODE, "payment", "rotation"),
    ("", "power-on", 10_000, MODE, "splash", "rotation"),
    ("", "press 4 100", 1_000, DEBUG, "1m 0s", "1m 1s"),
    ("", "upload; progress 40", 1_000, GLASS, "UP/DATE 0%", "UP/DATE 40%"),
    ("", "panels broken; upload", 5_000, SOURCES, "4", "0"),
    ("", "panels broken; upload; wait 4000; progress 40", 1_000, SOURCES, "4", "0"),
    ("", "upload; wait 600; progress 40; progress 50", 400, GLASS, "UP/DATE 0%", "UP/DATE 50%"),

    // The rotation, and the refresh of the panels.
    ("timerSeconds=60", "screen 0", MINUTE, GLASS, "BLOCK/HEIGHT 840000", "03/02 12:02"),
    ("timerSeconds=60", "text HI", MINUTE, GLASS, "H I", "03/02 12:02"),
    // A failed update continues the period that it interrupted; a manual step starts a new period.
    ("timerSeconds=60", "screen 0; wait 20000; upload; wait 600000; upload-failed", 40_000, GLASS, "BLOCK/HEIGHT 840000", "03/02 12:12"),
    ("timerSeconds=60", "screen 0; wait 20000; upload; wait 600000; screen 0; upload-failed", MINUTE, GLASS, "BLOCK/HEIGHT 840000", "03/02 12:12"),
    ("fullRefreshMin=10", "full-refresh", 11 * MINUTE, REFRESHES, "2", "3"),

    // The lights.
    ("", "identify", 100, STRIP, "#800000", "#008080"),
    // Nine effects: one is played, eight wait, and more are dropped.
    ("", "identify; identify; identify; identify; identify; identify; identify; identify; identify; identify; wait 7100", 100, STRIP, "#000080", "#081018"),
    ("", "source relay down", 5_000, STRIP, "#081018", "#000000"),
    ("", "source relay down; wait 7500", 2_500, STRIP, "#081018", "#000000"),
    ("dataSource=1", "source explorer down; wait 700", 9_300, STRIP, "#081018", "#400040"),
    ("", "frontlight off", 15, FRONTLIGHT, "2048", "2023"),
    ("", "lux 0; wait 4000; lux 2", 6_015, FRONTLIGHT, "0", "25"),
    ("", "frontlight flash", 2, FRONTLIGHT, "296", "271"),
    ("", "panels broken; block 840001", 10_000, FRONTLIGHT, "2048", "296"),

    // The buttons.
    ("", "touch 2; wait 100; touch", 20, GLASS, "BLOCK/HEIGHT 840000", "03/02 12:01"),
    ("", "touch 1", 800, QUIET, "false", "true"),
    ("", "touch 1234", 5_000, MODE, "rotation", "erasing"),
    ("", "power-on; hold 1", 3_000, EFFECTS, "[]", "[ForgetWifi]"),

    // Restarts.
    ("", "factory-reset; wait 2000; wiped", 2_000, EFFECTS, "[Wipe]", "[Wipe, Reboot(FactoryReset)]"),
    ("", "panels broken; factory-reset; wiped", 10_000, EFFECTS, "[Wipe]", "[Wipe, Reboot(FactoryReset)]"),
    ("", "power-on; network none; network provisioned", 1_000, EFFECTS, "[]", "[Reboot(Provisioned)]"),
    ("wifiConfigured=true wpTimeout=30", "power-on; network none", 30_000, EFFECTS, "[]", "[Reboot(PortalTimeout)]"),
    ("", "power-on; network radio; network up; network lost", 10 * MINUTE, EFFECTS, "[]", "[Reboot(NoNetwork)]"),
    ("", "power-on; network radio; wait 12000", 8_000, MODE, "rotation", "portal"),
];

#[test]
fn automatic_changes_happen_at_their_deadlines() {
    let mut wrong = Vec::new();
    for (pairs, script, ms, probe, before, after) in ROWS {
        // The rotation is off unless the row tests it.
        let settings = settings(&format!("timerSeconds=0 {pairs}"));
        let mut world = match script.strip_prefix("power-on") {
            Some(_) => World::new(settings),
            None => World::at_noon(settings),
        };
        world.run_all(script.trim_start_matches("power-on"));
        let mut seen = vec![probe(&world)];
        for wait in [ms - 1, 1] {
            world.wait(wait);
            seen.push(probe(&world));
        }
        if seen != [*before, *before, *after] {
            wrong.push(format!("{pairs} | {script} | {ms}: {seen:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An idle clock wakes every ten minutes, for the history.
#[test]
fn an_idle_clock_has_few_deadlines() {
    let mut world = World::at_noon(settings("timerSeconds=0 fullRefreshMin=0"));
    world.wait(99 * MINUTE);
    let next = world.now.uptime + Duration::from_millis(10 * MINUTE);
    assert_eq!(world.device.next_deadline(world.now), Some(next));
}
