//! Scenarios written by hand: each line is an input and, after `>`, the expected text of the panels.

use std::time::Duration;

use device::{
    Device,
    input::{Contacts, Finished, Input, LinkEvent, UpdateEvent},
    lights::{self, Rgb},
    memory::Memory,
    output::Effect,
    request::{Patch, Refusal, Request},
    secret::{GeneratedPassword, GenerationReason, PasswordHash, Secret},
    settings::{Key, Settings},
    view::View,
};
use serde_json::{Map, json};

use crate::{
    script::Step,
    world::{BOARD, World},
};

/// A device that shows block 840000 and rotates every minute.
const START: &str = "
    clock 1767225600
    set timePerScreen=1
    set nostrZapNotify=true
    set minSecPriceUpd=0
    block 840000
    price USD 95432
    price EUR 88001
    price JPY 14500000
    fee 4.7
";

/// Scenarios: a name, then one step per line with the expected text of the panels.
const SCENARIOS: &str = r#"
# rotation to custom by show text
text HELLO   > H ELLO
block 840001 > H ELLO
wait 59000   > H ELLO

# custom to rotation by next
text HELLO   > H ELLO
next         > BLOCK/HEIGHT 840000
next         > 01/01 01:00

# custom to rotation by previous
text HELLO   > H ELLO
previous     > BLOCK/HEIGHT 840000
previous     > FEE/RATE 4.70sat/vB

# custom to rotation by set slot
text HELLO   > H ELLO
screen 20    > BTC/USD $95432

# custom to rotation by auto rotate
text HELLO   > H ELLO
wait 60000   > BLOCK/HEIGHT 840000
wait 60000   > 01/01 01:02

# rotation to zap by receipt
zap 2100     > ZAP 2100

# rotation ignores zaps when the feature is off
set nostrZapNotify=false
zap 2100     > BLOCK/HEIGHT 840000

# zap to rotation by timeout
zap 2100     > ZAP 2100
wait 29999   > ZAP 2100
wait 1       > BLOCK/HEIGHT 840000
wait 59999   > BLOCK/HEIGHT 840000
wait 1       > 01/01 01:01

# zap ends after its own time whatever the timer does
set timePerScreen=0
zap 2100     > ZAP 2100
wait 29999   > ZAP 2100
wait 1       > BLOCK/HEIGHT 840000
set timePerScreen=60
pause
set overlaySeconds=3600
received 5   > RECV DN5
wait 3599999 > RECV DN5
wait 1       > BLOCK/HEIGHT 840000

# the time of a notice that is shown follows its setting
zap 2100     > ZAP 2100
wait 20000   > ZAP 2100
set overlaySeconds=40
wait 19999   > ZAP 2100
wait 1       > BLOCK/HEIGHT 840000
zap 21       > ZAP 21
wait 20000   > ZAP 21
set overlaySeconds=10
wait 0       > BLOCK/HEIGHT 840000

# zap stays without restore
set scrnRestoreZap=false
zap 2100     > ZAP 2100
wait 600000  > ZAP 2100
next         > BLOCK/HEIGHT 840000

# zap to rotation by navigation
zap 2100     > ZAP 2100
next         > BLOCK/HEIGHT 840000

# zap during a zap restarts the time
zap 2100     > ZAP 2100
wait 20000
zap 21       > ZAP 21
wait 29999   > ZAP 21
wait 1       > BLOCK/HEIGHT 840000

# rotation to payment by notification
received 2100 > RECV DN2100
wait 30000    > BLOCK/HEIGHT 840000
sent 1000     > PAID UP1000
wait 30000    > BLOCK/HEIGHT 840000
set scrnRestoreZap=false
received 2100 > RECV DN2100
wait 29999    > RECV DN2100
wait 1        > BLOCK/HEIGHT 840000
set nwcShowNotify=false
sent 1000     > BLOCK/HEIGHT 840000

# text replaces a zap or a payment at once
zap 21         > ZAP 21
text HELLO     > H ELLO
received 2100  > RECV DN2100
text WORLD     > W ORLD
wait 30000     > W ORLD

# zap ends and the text below it shows again
text HELLO   > H ELLO
zap 21       > ZAP 21
wait 29999   > ZAP 21
wait 1       > H ELLO

# any to update when an upload starts
upload       > UP/DATE 0%
block 840001 > UP/DATE 0%
zap 21       > UP/DATE 0%
text HELLO   > UP/DATE 0%
next         > UP/DATE 0%

# update repaints at most once a second
upload       > UP/DATE 0%
progress 10  > UP/DATE 0%
wait 999     > UP/DATE 0%
progress 40  > UP/DATE 0%
wait 1       > UP/DATE 40%
wait 5000    > UP/DATE 40%
progress 100 > UP/DATE 100%

# update that fails reveals what was below
text HELLO    > H ELLO
zap 21        > ZAP 21
upload        > UP/DATE 0%
upload-failed > ZAP 21

# update freezes the timer and failure thaws it
wait 20000
upload        > UP/DATE 0%
wait 600000   > UP/DATE 0%
upload-failed > BLOCK/HEIGHT 840000
wait 35000    > BLOCK/HEIGHT 840000
wait 30000    > 01/01 01:11

# running to paused by toggle
toggle-pause
wait 600000  > BLOCK/HEIGHT 840000
toggle-pause
wait 59999   > BLOCK/HEIGHT 840000
wait 1       > 01/01 01:11

# pause never toggles
pause
pause
wait 600000  > BLOCK/HEIGHT 840000

# a jump keeps the pause
pause
screen 20    > BTC/USD $95432
wait 600000  > BTC/USD $95432

# restart of the period
wait 50000
restart-timer
wait 59999   > BLOCK/HEIGHT 840000
wait 1       > 01/01 01:01

# restart runs the timer again
pause
restart-timer
wait 60000   > 01/01 01:01

# navigation that only removes an overlay starts the timer too
pause
text HELLO   > H ELLO
next         > BLOCK/HEIGHT 840000
wait 60000   > 01/01 01:01
pause
upload       > UP/DATE 0%
next
upload-failed > HAL/VING 210000
wait 60000   > BTC/SUPPLY 19.69M

# navigation restarts the period
wait 50000
next         > 01/01 01:00
wait 59999   > 01/01 01:01
wait 1       > HAL/VING 210000

# pause survives a restart of the device
screen 40
pause
reboot       > BTC/SUPPLY 19.69M
wait 600000  > BTC/SUPPLY 19.69M

# new block steals focus unless something covers the rotation
set stealFocus=true
screen 20    > BTC/USD $95432
block 840001 > BLOCK/HEIGHT 840001
set timePerScreen=0
screen 20    > BTC/USD $95432
wait 600000
block 840102 > BTC/USD $95432
text HELLO
block 840103 > H ELLO
next         > BTC/USD $95432
zap 21
block 840104 > ZAP 21
next         > BTC/USD $95432
screen 0     > BLOCK/HEIGHT 840104

# disabled screens are shown only by `next` and `previous`
set screens=[{"id":3,"enabled":false}]
wait 60000   > HAL/VING 210000
previous     > 01/01 01:01
previous     > BLOCK/HEIGHT 840000
next         > 01/01 01:01

# `next` skips screens of features that are off
screen 40    > BTC/SUPPLY 19.69M
next         > MSCW/TIME 1048
screen 70    > MSCW/TIME 1048

# prices are held back but navigation is not
set minSecPriceUpd=30
screen 20       > BTC/USD $95432
wait 1000
price USD 95500 > BTC/USD $95432
wait 28999      > BTC/USD $95432
wait 1          > BTC/USD $95500
price USD 95600 > BTC/USD $95500
next            > USD/MCAP $1.88T
previous        > BTC/USD $95600
wait 1000
price USD 95700 > BTC/USD $95600
screen 20       > BTC/USD $95700
wait 1000
price USD 95800 > BTC/USD $95700
currency USD    > BTC/USD $95800

# a number without a screen is a place in the rotation
screen 1     > 01/01 01:00
screen 99    > 01/01 01:00

# currencies keep the kind of screen
screen 30    > USD/MCAP $1.88T
currency EUR > EUR/MCAP €1.73T
screen 10    > SATS/EUR 1136
currency USD > MSCW/TIME 1048
screen 0
currency EUR > BTC/EUR €88001
currency GBP > BTC/EUR €88001

# the block height replaces a removed currency
currency EUR > BTC/EUR €88001
set screens=[{"id":0,"enabled":false}]
set actCurrencies=["USD"]
wait 0       > BLOCK/HEIGHT 840000

# the first frame after a restart is not empty
screen 20    > BTC/USD $95432
reboot       > BTC/USD $95432

# heights do not go back
block 839999 > BLOCK/HEIGHT 840000
block 0      > BLOCK/HEIGHT 840000
block 840001 > BLOCK/HEIGHT 840001

# heights do not run ahead of time
set timePerScreen=0
block 4294967295 > BLOCK/HEIGHT 840000
block 840101     > BLOCK/HEIGHT 840000
block 840001     > BLOCK/HEIGHT 840001
wait 86400000
block 840145     > BLOCK/HEIGHT 840145
wait 600000
block 840500     > BLOCK/HEIGHT 840145
wait 600000
block 840501     > BLOCK/HEIGHT 840145
wait 600000
block 840502     > BLOCK/HEIGHT 840502

# inverse buttons take effect at the next start
set inverseButtons=true
press 2      > 01/01 01:00
reboot
press 2      > BLOCK/HEIGHT 840000
press 3      > 01/01 01:00

# debug to rotation by toggle
text HELLO
press 4      > DEBUG
screen 20    > DEBUG
press 4      > BTC/USD $95432

# the time is shown at once after a suspend
set timePerScreen=0
screen 3       > 01/01 01:00
sleep 1800000  > 01/01 01:30
wait 59999     > 01/01 01:30
wait 1         > 01/01 01:31
"#;

#[test]
fn the_panels_match_the_scenarios() {
    for scenario in SCENARIOS.split("\n\n") {
        let (name, script) = scenario.trim().split_once('\n').unwrap();
        let mut world = World::new(BOARD);
        for line in START.lines().chain(script.lines()) {
            let (step, glass) = line.split_once(" > ").unwrap_or((line, ""));
            if step.trim().is_empty() {
                continue;
            }
            let step: Step = step.trim().parse().unwrap();
            world.run(&step);
            assert_eq!(
                step.to_string().parse(),
                Ok(step),
                "a step is parsed from its text"
            );
            if line.contains(" > ") {
                assert_eq!(world.glass(), glass.trim(), "{name}, after {line}");
            }
        }
    }
}

#[test]
fn each_of_several_simultaneous_notices_is_painted() {
    let mut world = World::new(BOARD);
    world.run(&"set nostrZapNotify=true".parse().unwrap());
    world.run(&"block 840000".parse().unwrap());
    for (step, glass) in [
        ("zap 21", "ZAP 21"),
        ("zap 21", "ZAP 21"),
        ("received 21", "RECV DN21"),
        ("received 21", "RECV DN21"),
        ("zap 21", "ZAP 21"),
    ] {
        let before = world.device.desired().picture.repaints;
        world.run(&step.parse().unwrap());
        assert_eq!(world.glass(), glass);
        let repaints = world.device.desired().picture.repaints;
        assert!(repaints > before, "{step} was not painted");
    }
    // The newest notice is shown for its whole time.
    world.run(&"wait 29999".parse().unwrap());
    assert_eq!(world.glass(), "ZAP 21");
    world.run(&"wait 1".parse().unwrap());
    assert_eq!(world.glass(), "BLOCK/HEIGHT 840000");
}

/// The view after a device was busy during all these edges (pressed buttons, time in ms), with other inputs queued between
/// them.
fn view_after_a_busy_device(edges: &[(u8, u64)]) -> View {
    let mut world = World::new(BOARD);
    world.run(&Step::Block(840_000));
    world.wait(Duration::from_secs(5));
    let from = world.now.uptime;
    world.stall(Duration::from_secs(20));
    for (down, ms) in edges {
        let at = from + Duration::from_millis(*ms);
        world.run(&Step::Price("USD".into(), format!("{}", 90_000 + ms)));
        world.handle(Input::Pressed(Contacts { down: *down, at }));
    }
    world.run(&Step::Block(840_001));
    world.handle(Input::Tick);
    world.device.view()
}

#[test]
fn presses_are_measured_by_the_time_of_their_edges() {
    let click = view_after_a_busy_device(&[(0b0010, 0), (0, 100)]);
    assert_eq!(click.current_screen, 3);
    let two_clicks = view_after_a_busy_device(&[(0b0010, 0), (0, 100), (0b0010, 200), (0, 300)]);
    assert_eq!(two_clicks.current_screen, 4);
    let nearly_long = view_after_a_busy_device(&[(0b0001, 0), (0, 790)]);
    assert!(!nearly_long.dnd_active && !nearly_long.settings.active.timer_active);
    let long = view_after_a_busy_device(&[(0b0001, 0), (0, 810)]);
    assert!(long.dnd_active && long.settings.active.timer_active);
    let held_still = view_after_a_busy_device(&[(0b0001, 0)]);
    assert!(held_still.dnd_active);
    let released = view_after_a_busy_device(&[(0b1111, 0), (0, 4_990)]);
    assert_eq!(released.mode, "rotation", "nothing is wiped");
    let wiped = view_after_a_busy_device(&[(0b1111, 0), (0, 5_010)]);
    assert_eq!(wiped.mode, "erasing");
}

#[test]
fn a_hold_at_power_on_is_measured_by_the_time_of_its_release() {
    for (released_ms, forgets) in [(2_990, false), (3_010, true)] {
        let mut now = World::new(BOARD).now;
        let mut device = Device::new(BOARD, Settings::default(), Memory::default(), now);
        let contacts = |down, ms| Contacts {
            down,
            at: Duration::from_millis(ms),
        };
        let mut effects = Vec::new();
        now.uptime = Duration::from_secs(10);
        for input in [
            Input::ButtonsAtPowerOn(contacts(1, 0)),
            Input::Linked(LinkEvent::Credentials(true)),
            Input::Pressed(contacts(0, released_ms)),
            Input::Tick,
        ] {
            effects.extend(device.handle(input, now).effects);
        }
        assert_eq!(
            effects.contains(&Effect::ForgetWifi),
            forgets,
            "{released_ms}"
        );
    }
}

#[test]
fn a_successful_update_restarts_the_device() {
    let mut world = World::new(BOARD);
    let before = world.device.desired().sources;
    assert!(!before.is_empty());
    // Wait until the first picture is painted.
    world.wait(Duration::from_secs(3));
    world.run(&Step::Upload);
    assert_eq!(
        world.device.desired().sources,
        before,
        "the sources run until the panels show the update"
    );
    world.wait(Duration::from_secs(3));
    assert!(
        world.device.desired().sources.is_empty(),
        "the sources are stopped"
    );
    world.run(&Step::UploadFailed);
    assert_eq!(world.device.desired().sources, before);
    world.run(&Step::Upload);
    let verified = Input::Uploaded(UpdateEvent::Verified);
    assert_eq!(
        world.handle(verified).effects,
        [],
        "the restart waits until the client has the response"
    );
    assert!(world.passes_without_effects(Duration::from_millis(1490)));
    assert!(!world.passes_without_effects(Duration::from_millis(20)));
}

#[test]
fn changes_below_the_visible_layer_paint_nothing() {
    for cover in ["press 4", "upload"] {
        let mut world = World::new(BOARD);
        for line in START.lines().map(str::trim).filter(|line| !line.is_empty()) {
            world.run(&line.parse().unwrap());
        }
        // Now every change of screen would be a full refresh.
        world.run(&"set refrScrnChange=true".parse().unwrap());
        world.run(&cover.parse().unwrap());
        world.wait(Duration::from_millis(100));
        let before = world.device.desired().picture;
        for below in ["zap 21", "text HODL", "screen 20", "next", "received 21"] {
            world.run(&below.parse().unwrap());
            assert_eq!(world.device.desired().picture, before, "{cover}, {below}");
        }
        world.wait(Duration::from_secs(70));
        let after = world.device.desired().picture;
        assert_eq!(after.full_refreshes, before.full_refreshes, "{cover}");
    }
}

#[test]
fn any_input_after_a_suspend_updates_the_time_and_do_not_disturb() {
    let mut world = World::new(BOARD);
    for line in [
        "clock 1767225600",
        "block 840000",
        "set timePerScreen=0",
        r#"set dnd={"dndTimeEnabled":true,"startHour":8,"startMinute":0,"endHour":9,"endMinute":0}"#,
        "screen 3",
    ] {
        world.run(&line.parse().unwrap());
    }
    world.stall(Duration::from_secs(7 * 3600 + 60));
    world.run(&Step::Fee("3".into()));
    assert_eq!(world.glass(), "01/01 08:01");
    assert!(world.device.view().dnd_active);
    world.run(&Step::Screen(0));
    assert!(world.device.view().stale);
}

#[test]
fn do_not_disturb_ends_by_local_time_across_daylight_saving_changes() {
    for (evening, morning) in [
        // The nights of 2026-03-29 and 2026-10-25 in Amsterdam.
        (1_774_737_000, 1_774_760_400),
        (1_792_881_000, 1_792_908_000),
    ] {
        let mut world = World::new(BOARD);
        world.run(&Step::Clock(Some(evening)));
        let hours = r#"set dnd={"dndTimeEnabled":true,"startHour":22,"startMinute":0,"endHour":7,"endMinute":0}"#;
        world.run(&hours.parse().unwrap());
        let night = Duration::from_secs(u64::try_from(morning - evening).unwrap());
        world.wait(night - Duration::from_millis(1));
        assert!(world.device.view().dnd_active);
        world.wait(Duration::from_millis(1));
        assert!(!world.device.view().dnd_active);
    }
}

#[test]
fn a_black_strip_does_not_mute_effects() {
    for black in [
        Request::SetLights(Vec::new()),
        Request::SetLights(vec![Rgb::BLACK; BOARD.leds]),
        Request::SetLightsColor(Rgb::BLACK),
        Request::PlayEffect(lights::StripEffect::Off),
    ] {
        let mut world = World::new(BOARD);
        world.run(&"set ledFlashOnUpd=true".parse().unwrap());
        world.run(&Step::Block(840_000));
        world.wait(Duration::from_secs(10));
        world.handle(Input::Request(black.clone()));
        assert!(!world.device.settings().disable_leds, "{black:?}");
        assert_eq!(world.device.desired().strip, [Rgb::BLACK; 4], "{black:?}");
        world.run(&Step::Block(840_001));
        assert_ne!(world.device.desired().strip, [Rgb::BLACK; 4], "{black:?}");
    }
}

/// Runs a script on a clock that shows a block. The number after `>` is the expected number of full refreshes so far.
fn check_refreshes(script: &str) {
    let mut world = World::new(BOARD);
    world.run(&"block 840000".parse().unwrap());
    let refreshes = |world: &World| world.device.desired().picture.full_refreshes;
    let start = refreshes(&world);
    for line in script
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        let (step, count) = line.split_once('>').unwrap_or((line, ""));
        world.run(&step.trim().parse().unwrap());
        if let Ok(count) = count.trim().parse::<u64>() {
            assert_eq!(refreshes(&world) - start, count, "after {line}");
        }
    }
}

#[test]
fn a_due_full_refresh_is_done_with_the_next_repaint() {
    check_refreshes(
        "
        pause
        set fullRefreshMin=10
        wait 599999  > 0
        block 840001 > 0
        wait 1       > 0
        block 840001 > 0
        block 840002 > 1
        block 840003 > 1
        next         > 1
        ",
    );
}

#[test]
fn a_due_full_refresh_is_done_within_a_minute_without_a_repaint() {
    check_refreshes(
        "
        pause
        set fullRefreshMin=10
        wait 659999  > 0
        wait 1       > 1
        wait 659999  > 1
        wait 1       > 2
        text HELLO
        set timePerScreen=0
        wait 7200000 > 12
        set fullRefreshMin=0
        wait 7200000 > 12
        block 840001 > 12
        next         > 13
        next         > 14
        ",
    );
}

/// The mode of a clock with a radio after each step.
fn modes(script: &str) -> Vec<&'static str> {
    let mut world = World::new(BOARD);
    let lines = script.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty())
        .map(|line| {
            world.run(&line.parse::<Step>().unwrap());
            world.device.view().mode
        })
        .collect()
}

#[test]
fn a_factory_reset_ends_in_the_access_point() {
    let script = "
        radio stored
        block 840000
        wait 5000
        factory-reset
        wait 3900
        wait 200
        block 840001
    ";
    let all = [
        "splash", "rotation", "rotation", "erasing", "erasing", "portal", "portal",
    ];
    assert_eq!(modes(script), all);
}

#[test]
fn the_restart_waits_until_the_panels_show_the_erasure() {
    let script = "
        radio stored
        block 840000
        wait 5000
        full-refresh
        wait 100
        factory-reset
        wait 5800
        wait 200
    ";
    let after = modes(script);
    assert_eq!(after[after.len() - 2..], ["erasing", "portal"]);
}

#[test]
fn a_flash_waits_until_its_picture_is_painted() {
    let flashes = |world: &World| {
        let state = world.device.view().frontlight.unwrap();
        state.duties.iter().any(|duty| *duty != state.target)
    };
    let mut world = World::new(BOARD);
    world.run(&Step::Block(840_000));
    world.wait(Duration::from_secs(10));
    assert!(!flashes(&world));
    // The panels are busy for two seconds when the block arrives.
    world.run(&Step::FullRefresh);
    world.wait(Duration::from_millis(1900));
    world.run(&Step::Block(840_001));
    world.wait(Duration::from_millis(350));
    assert!(!flashes(&world), "an older picture was painted");
    world.wait(Duration::from_millis(100));
    assert!(flashes(&world), "the block was painted");
}

#[test]
fn a_generated_password_is_shown_until_the_first_sign_in() {
    let mut world = World::new(BOARD);
    world.run(&Step::Block(840_000));
    let locked = Input::PasswordGenerated(GeneratedPassword {
        password: Secret::new("canary-generated"),
        hash: PasswordHash::new("hash"),
        reason: GenerationReason::SettingsLost,
    });
    for ending in ["signed in", "stored"] {
        world.handle(locked.clone());
        let view = world.device.view();
        assert_eq!((view.mode, view.shows_password), ("sign-in", true));
        assert!(
            view.settings.active.http_auth_enabled,
            "a password is required"
        );
        assert_eq!(view.settings.active.http_auth_pass.phc(), "hash");
        assert!(
            !view.settings.stored.http_auth_enabled,
            "the stored settings are unchanged"
        );
        assert_eq!(
            view.settings.pending_restart(),
            [""; 0],
            "no setting waits for a restart"
        );
        let glass = format!("{:?}", world.device.desired().picture.cells);
        assert!(glass.contains("canary-generated"), "{glass}");
        assert!(
            !format!("{view:?}").contains("canary-generated"),
            "only on the panels"
        );
        // The password is visible again when a layer above it is removed.
        world.run(&Step::Text("HI".into()));
        assert_eq!(world.device.view().mode, "custom");
        world.run(&Step::Next);
        assert_eq!(world.device.view().mode, "sign-in");

        if ending == "signed in" {
            world.handle(Input::SignedIn);
        } else {
            let patch = Patch {
                body: Map::from_iter([("httpAuthPass".into(), json!("new"))]),
                hashes: [(Key::http_auth_pass, PasswordHash::new("new"))].into(),
            };
            world.handle(Input::Request(Request::Patch(patch)));
        }
        let view = world.device.view();
        let waits: &[&str] = match ending {
            "stored" => &["httpAuthPass"],
            _ => &[],
        };
        assert_eq!(view.settings.pending_restart(), waits);
        assert_eq!((view.mode, view.shows_password), ("rotation", false));
        assert_eq!(
            view.settings.active.http_auth_pass.phc(),
            "hash",
            "until the restart"
        );
    }
}

/// A clock during a factory reset.
fn erasing() -> World {
    let mut world = World::new(BOARD);
    world.run(&Step::Block(840_000));
    let output = world.handle(Input::Request(Request::FactoryReset));
    assert_eq!(output.effects, [Effect::Wipe]);
    assert_eq!(world.device.view().mode, "erasing");
    assert!(world.device.desired().sources.is_empty());
    world
}

#[test]
fn a_factory_reset_restarts_only_after_the_wipe() {
    let mut world = erasing();
    assert!(
        world.passes_without_effects(Duration::from_secs(60)),
        "the restart waits for the end of the wipe"
    );
    let again = world.handle(Input::Request(Request::FactoryReset));
    assert_eq!(again.reply, Some(Err(Refusal::Erasing)));
    assert_eq!(again.effects, []);
    world.handle(Input::Finished(Finished::Wiped(Ok(()))));
    assert!(world.passes_without_effects(Duration::from_millis(1900)));
    assert!(!world.passes_without_effects(Duration::from_millis(200)));
}

#[test]
fn a_failed_factory_reset_leaves_the_clock_unchanged() {
    let mut world = erasing();
    let failed = Finished::Wiped(Err("the disk is busy".into()));
    for round in 1..=2 {
        let refreshes = |world: &World| world.device.desired().picture.full_refreshes;
        let before = refreshes(&world);
        let output = world.handle(Input::Finished(failed.clone()));
        assert_eq!(output.effects, [], "{round}");
        // A full refresh removes the ghosts of the letters.
        assert_eq!(refreshes(&world), before + 1, "{round}");
        let view = world.device.view();
        assert_eq!(view.mode, "rotation");
        assert!(view.notes[0].contains("is busy"), "{view:?}");
        assert_eq!(view.notes.len(), 1, "reported once");
        assert!(!world.device.desired().sources.is_empty());
        assert!(world.passes_without_effects(Duration::from_secs(60)));
        world.handle(Input::Request(Request::FactoryReset));
    }
}

#[test]
fn a_failure_to_forget_the_network_is_reported_without_a_restart() {
    let mut world = World::new(BOARD);
    world.run(&Step::Block(840_000));
    let failed = Finished::Forgotten(Err("the disk is busy".into()));
    let output = world.handle(Input::Finished(failed));
    assert_eq!(output.effects, []);
    assert!(!output.unsaved.settings);
    let view = world.device.view();
    assert!(view.notes[0].contains("is busy"), "{view:?}");
    assert_eq!(view.mode, "rotation");
}

#[test]
fn a_failed_save_is_reported_until_one_succeeds() {
    let mut world = World::new(BOARD);
    let notes = |world: &World| world.device.view().notes;
    for reason in ["disk full", "read-only"] {
        world.device.stored(Err(reason.into()));
        assert_eq!(notes(&world), [format!("nothing can be stored: {reason}")]);
    }
    world.device.stored(Ok(()));
    assert!(notes(&world).is_empty());
}
