//! Actions of the buttons, by duration, order and time since power-on.

use device::output::{Effect, RebootReason};

use crate::world::{World, settings};

/// State of an idle clock.
const NOTHING: &str = "[] rotation 0 runs loud";

#[rustfmt::skip]
const ROWS: &[(&str, &str, &str)] = &[
    // A click.
    ("", "press 1 100", "[] rotation 0 paused loud"),
    ("", "press 1 100; press 1 100", NOTHING),
    ("", "press 2 100", "[] rotation 3 runs loud"),
    ("", "press 3 100", "[] rotation 6 runs loud"),
    ("", "press 4 100", "[] debug 0 runs loud"),
    ("", "press 4 100; press 2 100; press 3 100; press 3 100", "[] debug 0 runs loud"),
    ("inverseButtons=true", "press 4 100", "[] rotation 0 paused loud"),
    ("inverseButtons=true", "press 3 100", "[] rotation 3 runs loud"),
    ("inverseButtons=true", "press 2 100", "[] rotation 6 runs loud"),
    ("inverseButtons=true", "press 1 100", "[] debug 0 runs loud"),

    // A long press.
    ("", "press 1 799", "[] rotation 0 paused loud"),
    ("", "press 1 800", "[] rotation 0 runs quiet"),
    ("", "press 1 4000", "[] rotation 0 runs quiet"),
    ("", "press 1 900; press 1 900", NOTHING),
    ("", "press 2 900", NOTHING),
    ("", "press 3 900", NOTHING),
    ("", "press 4 900", NOTHING),
    ("inverseButtons=true", "press 4 900", "[] rotation 0 runs quiet"),
    ("inverseButtons=true", "press 1 900", NOTHING),

    // All four.
    ("", "press 1234 4999", "[] rotation 0 runs quiet"),
    ("", "press 1234 5000", "[Wipe] erasing 0 runs quiet"),
    ("", "press 1234 20000", "[Wipe] erasing 0 runs quiet"),
    ("", "touch 1234; wait 3000; touch 123; wait 500; touch 1234; wait 3000", "[] rotation 0 runs quiet"),
    ("", "press 123 9000", "[] rotation 0 runs quiet"),
    ("", "press 234 9000", NOTHING),

    // From power-on.
    ("", "power-on; hold 1; wait 2999; touch; wait 100", "[] splash 0 runs loud"),
    ("", "power-on; hold 1; wait 3000", "[ForgetWifi] splash 0 runs loud"),
    ("", "power-on; hold 1; wait 9000; touch; wait 100", "[ForgetWifi] splash 0 runs loud"),
    ("", "power-on; hold 12; wait 3000", "[ForgetWifi] splash 0 runs loud"),
    ("", "power-on; hold 1; wait 1000; touch 12; wait 2000", "[ForgetWifi] splash 0 runs loud"),
    ("", "power-on; hold 12; wait 1000; touch 2; wait 8000", "[] splash 0 runs loud"),
    ("", "power-on; hold 1; wait 1000; touch; wait 100; press 1 900", "[] splash 0 runs quiet"),
    ("", "power-on; hold 2; wait 9000; touch; wait 100", "[] splash 0 runs loud"),
    ("", "power-on; hold 4; wait 9000", "[] splash 0 runs loud"),
    ("", "power-on; hold 234; wait 100; touch 1234; wait 9000", "[] splash 0 runs loud"),
    ("", "power-on; hold; press 1 3500", "[] splash 0 runs quiet"),
    ("inverseButtons=true", "power-on; hold 4; wait 3000", "[ForgetWifi] splash 0 runs loud"),
    ("inverseButtons=true", "power-on; hold 1; wait 9000", "[] splash 0 runs loud"),

    // No navigation while the portal is up.
    ("", "power-on; network none; press 1 100; press 2 100; press 4 100; press 1 900", "[] portal 0 runs loud"),
    ("", "power-on; network none; press 1234 5000", "[Wipe] erasing 0 runs loud"),
];

/// Effects, visible layer, screen, timer, quiet hours.
fn state(world: &World) -> String {
    let view = world.device.view();
    let timer = if view.settings.active.timer_active { "runs" } else { "paused" };
    let quiet = if view.dnd_active { "quiet" } else { "loud" };
    let (effects, mode, screen) = (&world.effects, view.mode, view.current_screen);
    format!("{effects:?} {mode} {screen} {timer} {quiet}")
}

#[test]
fn the_buttons_match_the_table() {
    let mut wrong = Vec::new();
    for (pairs, script, expected) in ROWS {
        let settings = settings(pairs);
        let mut world = match script.strip_prefix("power-on") {
            Some(_) => World::new(settings),
            None => World::at_noon(settings),
        };
        world.run_all(script.trim_start_matches("power-on"));
        let state = state(&world);
        if state != *expected {
            wrong.push(format!("{pairs} | {script}: {state}, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn forgetting_the_network_keeps_the_other_settings_and_restarts() {
    let before = settings("wifiConfigured=true blockFlashColor=255 mowMode=true");
    let mut world = World::new(before.clone());
    world.run_all("hold 1; wait 3000");
    assert_eq!(world.effects, [Effect::ForgetWifi]);
    assert!(
        world.device.settings().wifi_configured,
        "the setting stays until the network is forgotten"
    );
    world.run_all("forgotten");
    let restart = Effect::Reboot(RebootReason::WifiReset);
    assert_eq!(world.effects, [Effect::ForgetWifi, restart]);
    let mut expected = before;
    expected.wifi_configured = false;
    assert_eq!(**world.device.settings(), expected);
}

#[test]
fn changes_by_buttons_survive_a_restart() {
    let mut world = World::at_noon(settings(""));
    world.run_all("press 1 100; press 1 900; press 2 100; press 1 100; restart");
    assert_eq!(state(&world), "[] rotation 3 paused quiet");
}
