//! What the clock stores, restores and discards, and the effect on the panels.

use device::{
    cells::Cell,
    host::HostFacts,
    input::{Input, LinkEvent},
    mqtt::MqttPlan,
    output::Effect,
    releases::UpdateMode,
    request::{Changed, Refusal, Request},
    screens::SCREENS,
    secret::{GeneratedPassword, GenerationReason, PasswordHash, Secret},
    sources::{PoolConfig, SourceConfig},
};
use market::{MinerStats, Observation, mark::Mark, source_id::SourceId, units::Hashrate};

use crate::world::{World, settings};

/// A clock with all features, and data for each of its screens.
fn with_all_values() -> World {
    let on = "miningPoolStats=true minerEnabled=true nwcEnabled=true timerSeconds=0";
    let mut world = World::at_noon(settings(on));
    world.run_all("pool; miner; balance 123456");
    world
}

fn texts_of_screens(world: &mut World) -> Vec<String> {
    let screens = ["90", "0", "6", "20", "70", "80", "81"];
    let show = |screen| {
        world.run_all(&format!("screen {screen}"));
        world.glass()
    };
    screens.map(show).into()
}

#[test]
fn all_values_survive_a_restart() {
    let mut world = with_all_values();
    let before = texts_of_screens(&mut world);
    let expected = [
        "BAL 123K",
        "BLOCK/HEIGHT 840000",
        "FEE/RATE 12sat/vB",
        "BTC/USD $64000",
        "1.2TH/S",
        "900GH/S",
        "1.2G",
    ];
    for (glass, figure) in before.iter().zip(expected) {
        assert!(glass.contains(figure), "{glass} without {figure}");
    }
    // The newest values and the last screen.
    world.run_all("wait 5000; restart");
    assert_eq!(world.glass(), *before.last().unwrap());
    assert_eq!(texts_of_screens(&mut world), before);
}

#[test]
fn a_clock_without_data_shows_the_reason() {
    let mut world = World::new(settings("timerSeconds=0"));
    world.run_all("source relay down; wait 60000");
    let cells = format!("{:?}", world.device.desired().picture.cells);
    assert!(cells.contains("refused"), "{cells}");
    for (screen, lacks) in [("0", true), ("6", true), ("30", true), ("3", false)] {
        world.run_all(&format!("screen {screen}"));
        assert_eq!(world.glass() == "NO/DATA", lacks, "{screen}");
    }
    world.run_all("screen 0; price USD 64000");
    assert_eq!(
        world.glass(),
        "BLOCK/HEIGHT",
        "a price is known, so only the height is blank"
    );
}

#[test]
fn the_reason_for_no_data_is_the_missing_network_before_missing_answers() {
    let reason = |lines: &str| {
        let mut world = World::new(settings("timerSeconds=0"));
        world.run_all(&format!("network radio; {lines}; wait 60000; screen 0"));
        text_of(&world, 2)
    };
    assert_eq!(reason("network up"), "Why No source has answered yet.");
    assert_eq!(reason("network up; network lost"), "Why no network");
    let back = "network up; network lost; network up";
    assert_eq!(reason(back), "Why No source has answered yet.");
    // An error of a source does not outlive a reconnect of the network.
    let steps = "network up; source relay down; network lost";
    assert_eq!(reason(steps), "Why no network");
    let steps = format!("{steps}; network up");
    assert_eq!(reason(&steps), "Why No source has answered yet.");
}

#[test]
fn the_no_data_screen_shows_the_address_of_the_page() {
    for (served, ip, shown) in [
        ("0.0.0.0:80", "192.168.1.5", "192.168.1.5"),
        ("0.0.0.0:8080", "192.168.1.5", "192.168.1.5:8080"),
        ("[::]:8080", "fd00::5", "[fd00::5]:8080"),
        ("0.0.0.0:8080", "", "-"),
        // A clock that listens on another address is not reachable by that of the network.
        ("127.0.0.1:8080", "192.168.1.5", "127.0.0.1:8080"),
        ("[::1]:8080", "192.168.1.5", "[::1]:8080"),
        ("192.168.7.1:80", "192.168.1.5", "192.168.7.1"),
    ] {
        let mut world = World::new(settings("timerSeconds=0"));
        let known = HostFacts {
            page_address: served.parse().ok(),
            ..HostFacts::default()
        };
        world.handle(Input::Host(known));
        if !ip.is_empty() {
            let (ip, ssid) = (ip.to_owned(), None);
            world.handle(Input::Linked(LinkEvent::Up { ip, ssid }));
        }
        world.run_all("source relay down; wait 60000");
        assert_eq!(text_of(&world, 4), format!("More at {shown}"), "{served}");
    }
}

/// The text of a block, or the content of a QR code, on a panel.
fn text_of(world: &World, panel: usize) -> String {
    let cell = &world.device.desired().picture.cells[panel];
    if let Cell::Qr(text) = cell {
        return text.clone();
    }
    let Cell::Block { lines, .. } = cell else {
        panic!("the cell has no text: {cell:?}");
    };
    let lines = lines.iter().map(|line| line.text.as_str());
    let lines = lines.filter(|text| !text.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_locked_clock_shows_the_name_and_password_to_sign_in() {
    for (pairs, name) in [
        ("", "Name papertick"),
        // A name has to be typed even if none is required.
        ("httpAuthUser=", "Name papertick"),
        ("httpAuthUser=satoshi", "Name satoshi"),
    ] {
        let mut world = World::at_noon(settings(pairs));
        world.handle(Input::PasswordGenerated(GeneratedPassword {
            password: Secret::new("correct-horse"),
            hash: PasswordHash::new("hash"),
            reason: GenerationReason::SettingsLost,
        }));
        assert_eq!(text_of(&world, 3), name);
        assert_eq!(text_of(&world, 4), "Password correct-horse");
    }
}

#[test]
fn the_access_point_shows_how_to_reach_the_portal() {
    for (password, portal, details, code) in [
        (
            "hunter22",
            None,
            "Wi-Fi papertick-ABCD Password hunter22 Page 192.168.4.1",
            "WIFI:T:WPA;S:papertick-ABCD;P:hunter22;;",
        ),
        (
            "",
            Some("192.168.9.1:8080"),
            "Wi-Fi papertick-ABCD Password - Page 192.168.9.1:8080",
            "WIFI:T:nopass;S:papertick-ABCD;;",
        ),
    ] {
        let mut world = World::new(settings(""));
        let identity = LinkEvent::Identity {
            suffix: "efabcd".into(),
            password: Secret::new(password),
        };
        let portal = portal.map(|address: &str| LinkEvent::Portal {
            address: address.into(),
        });
        let no_network = LinkEvent::Credentials(false);
        world.handle(Input::Host(HostFacts {
            version: "4.0.0".into(),
            built: "2026-01-31".into(),
            ..HostFacts::default()
        }));
        for event in [identity, no_network].into_iter().chain(portal) {
            world.handle(Input::Linked(event));
        }
        let about = "Name papertick-efabcd Board Example Version 4.0.0 Built 2026-01-31";
        assert_eq!(text_of(&world, 5), about);
        assert_eq!(text_of(&world, 4), details);
        assert_eq!(text_of(&world, 6), code);
    }
}

#[test]
fn new_values_and_the_current_screen_are_saved() {
    for (line, saves) in [
        ("block 840001", true),
        ("price USD 64001", true),
        ("fee 13", true),
        ("set miningPoolUser=bob", true),
        ("balance 9", true),
        ("currencies USD", true),
        ("screen 20", true),
        ("price USD 64000", false),
        ("block 840000", false),
        ("balance 123456", false),
        ("screen 0", false),
        ("lux 50", false),
    ] {
        let mut world = with_all_values();
        world.run_all("screen 0");
        let before = world.save_memory();
        world.run_all(line);
        assert_eq!(world.save_memory() != before, saves, "{line}");
    }
}

#[test]
fn no_source_is_up_without_a_network() {
    let mut world = with_all_values();
    let up = |world: &World| {
        let sources = world.device.view().sources;
        sources.values().filter(|state| state.up).count()
    };
    assert_eq!(up(&world), world.device.desired().sources.len());
    world.run_all("network lost");
    assert_eq!(up(&world), 0);
    assert!(world.device.desired().sources.is_empty());
    world.run_all("network up");
    assert_eq!(up(&world), 0, "no source has connected yet");
    assert!(!world.device.desired().sources.is_empty());
    world.run_all("source relay up");
    assert_eq!(up(&world), 1);
}

#[test]
fn sources_are_stopped_and_started_by_hand() {
    let mut world = World::at_noon(settings(""));
    let restarts = |world: &World| {
        let sources = world.device.desired().sources;
        sources.get(&SourceId::Relay).map(|plan| plan.restarts)
    };
    assert_eq!(restarts(&world), Some(0));
    world.run_all("restart-sources");
    assert_eq!(restarts(&world), Some(1));
    world.run_all("stop-sources");
    assert_eq!(restarts(&world), None);
    world.run_all("restart-sources");
    assert_eq!(restarts(&world), Some(2));
    world.run_all("safe-mode");
    assert_eq!(restarts(&world), None);
}

#[test]
fn broker_and_releases_are_used_only_with_a_network_outside_safe_mode() {
    let on = "mqttEnabled=true mqttHost=broker gitReleaseUrl=https://feed.example/ updateAuto=true";
    for (lines, expected_broker, expected_mode) in [
        ("", "On", Some(UpdateMode::Install)),
        ("set updateAuto=false", "On", Some(UpdateMode::CheckOnly)),
        ("network lost", "Paused", Some(UpdateMode::Paused)),
        ("network lost; network up", "On", Some(UpdateMode::Install)),
        ("safe-mode", "Paused", Some(UpdateMode::Paused)),
        // A factory reset removes the clock from the broker too.
        ("factory-reset", "Off", None),
        ("network lost; factory-reset", "Off", None),
        ("factory-reset; not-wiped", "On", Some(UpdateMode::Install)),
    ] {
        let mut world = World::at_noon(settings(on));
        let identity = LinkEvent::Identity {
            suffix: "aabbcc".into(),
            password: Secret::default(),
        };
        world.handle(Input::Linked(identity));
        world.run_all(lines);
        let desired = world.device.desired();
        let broker = match desired.mqtt {
            MqttPlan::On(_) => "On",
            MqttPlan::Paused => "Paused",
            MqttPlan::Off => "Off",
        };
        let mode = desired.releases.map(|plan| plan.mode);
        assert_eq!((broker, mode), (expected_broker, expected_mode), "{lines}");
    }
}

#[test]
fn a_clock_does_not_start_with_a_disabled_screen() {
    let all: Vec<String> = SCREENS.iter().map(|screen| screen.id.to_string()).collect();
    let all = format!("screensHidden=[{}]", all.join(","));
    for (hidden, screen, after) in [
        ("", "20", 20),
        ("screensHidden=[20]", "20", 0),
        ("screensHidden=[0]", "20", 20),
        ("screensHidden=[0,20]", "20", 3),
        (&all, "20", 0),
    ] {
        let mut world = World::at_noon(settings(hidden));
        world.run_all(&format!("screen {screen}"));
        assert_eq!(
            world.device.view().current_screen,
            20,
            "a request shows a disabled screen"
        );
        world.run_all("restart");
        assert_eq!(world.device.view().current_screen, after, "{hidden}");
    }
}

#[test]
fn the_timer_shows_the_block_height_if_all_screens_are_disabled() {
    let all: Vec<String> = SCREENS.iter().map(|screen| screen.id.to_string()).collect();
    let hidden = format!("timerSeconds=60 screensHidden=[{}]", all.join(","));
    let mut world = World::at_noon(settings(&hidden));
    for (line, screen) in [
        ("screen 20", 20),
        ("wait 60000", 0),
        ("wait 60000", 0),
        ("next", 3),
    ] {
        world.run_all(line);
        assert_eq!(world.device.view().current_screen, screen, "{line}");
    }
}

#[test]
fn prices_in_unused_currencies_are_discarded() {
    let mut world = World::at_noon(settings(""));
    let known = |world: &World| {
        let market = world.device.view().market;
        let codes = market.prices.keys().map(|currency| currency.code());
        codes.collect::<Vec<_>>().join(" ")
    };
    for (lines, codes) in [
        // USD, EUR and JPY are chosen.
        (
            "currencies USD EUR JPY GBP; price GBP 50000",
            "EUR GBP JPY USD",
        ),
        ("price CHF 60000", "EUR GBP JPY USD"),
        ("currencies USD EUR", "EUR JPY USD"),
        // A client that does not see a chosen currency does not deselect it.
        ("set actCurrencies=[\"USD\"]", "EUR JPY USD"),
        (
            "currencies USD EUR JPY; set actCurrencies=[\"USD\"]; currencies USD",
            "USD",
        ),
    ] {
        world.run_all(lines);
        assert_eq!(known(&world), codes, "{lines}");
    }
    let dropped = &world.device.view().sources[&SourceId::Relay].dropped;
    assert_eq!(dropped.get("currency"), Some(&1));
}

#[test]
fn a_visible_logo_is_added_and_removed_with_a_full_refresh() {
    for (screen, seen) in [("70", true), ("0", false)] {
        let mut world = with_all_values();
        world.run_all(&format!("screen {screen}"));
        let observed = |world: &World| {
            let desired = world.device.desired();
            let logo = |cell: &Cell| matches!(cell, Cell::Logo(_));
            let SourceConfig::Pool(PoolConfig { logo_fetches, .. }) =
                desired.sources[&SourceId::Pool].config
            else {
                panic!("{:?}", desired.sources);
            };
            let picture = desired.picture;
            (
                picture.cells.iter().any(logo),
                picture.full_refreshes,
                logo_fetches,
            )
        };
        let (shown, refreshes, fetches) = observed(&world);
        assert!(!shown);
        let more = u64::from(seen);
        for (line, shown, refreshes, fetches) in [
            ("logo noderunners", seen, refreshes + more, fetches),
            ("logo noderunners", seen, refreshes + more, fetches),
            ("clear-logos", false, refreshes + 2 * more, fetches + 1),
            ("clear-logos", false, refreshes + 2 * more, fetches + 2),
        ] {
            world.run_all(line);
            assert_eq!(
                observed(&world),
                (shown, refreshes, fetches),
                "{line} on {screen}"
            );
        }
        assert_eq!(world.effects, [Effect::ClearLogos, Effect::ClearLogos]);
    }
}

/// Not the wallet of the settings used here.
const OTHER_WALLET: &str = "nostr+walletconnect://c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5?relay=wss://relay.example&secret=71a8c14c1407c113601079c4302dab36460f0ccd0ad506f1f2dc73b5100e4f3c";

#[test]
fn a_figure_is_shown_and_stored_only_for_the_identity_it_was_polled_for() {
    let other_wallet = format!("set nwcUri={OTHER_WALLET}; restart");
    #[rustfmt::skip]
    let rows = [
        ("set poolPollSec=30 minerPollSec=30", "70", "1.2TH/S", true),
        ("set miningPoolName=ocean", "70", "OFF/LINE", false),
        ("set miningPoolUser=bob", "70", "OFF/LINE", false),
        ("set poolWorker=rig2", "70", "OFF/LINE", false),
        ("set poolGlobalStats=false", "70", "OFF/LINE", false),
        ("set localPoolHost=lan:1; restart", "70", "OFF/LINE", false),
        ("set miningPoolStats=false; set miningPoolStats=true", "70", "OFF/LINE", false),
        ("set minerHostname=other", "80", "OFF/LINE", false),
        ("set minerEnabled=false; set minerEnabled=true", "81", "OFF/LINE", false),
        ("restart", "90", "123K", true),
        (&other_wallet, "90", "BAL ?", false),
        ("set nwcUri=; restart", "90", "BAL ?", false),
    ];
    for (change, screen, empty, stored) in rows {
        let figure = match screen {
            "70" => "pool",
            "80" | "81" => "miner",
            _ => "balance",
        };
        let mut world = with_all_values();
        for then in [change, "restart"] {
            world.run_all(&format!("{then}; screen {screen}"));
            assert!(world.glass().contains(empty), "{change}: {}", world.glass());
            assert!(!world.device.view().stale, "{change}");
            let known = world.save_memory();
            assert_eq!(!known[figure].is_null(), stored, "{change}: {known:?}");
        }
    }
}

#[test]
fn a_queued_figure_is_dropped_if_its_identity_has_changed() {
    let mut world = with_all_values();
    let stats = MinerStats {
        hashrate: Some(Hashrate(900_000_000_000)),
        best_difficulty: None,
    };
    let late = Observation::Miner(world.polled(SourceId::Miner, stats));
    world.run_all("set minerHostname=other; screen 80");
    world.handle(Input::Observed(SourceId::Miner, vec![late]));
    assert!(world.glass().contains("OFF/LINE"), "{}", world.glass());
    world.run_all("miner");
    assert!(world.glass().contains("900GH/S"), "{}", world.glass());
}

#[test]
fn three_failed_polls_mark_a_figure_and_six_take_a_pool_or_miner_offline() {
    for (screen, figure, failed, shown, offline) in [
        ("70", "pool", "source pool down", "1.2TH/S", "OFF/LINE"),
        ("80", "miner", "source miner down", "900GH/S", "OFF/LINE"),
        ("90", "balance 123456", "source wallet down", "123K", "123K"),
        ("90", "balance 123456", "poll-failed wallet", "123K", "123K"),
    ] {
        let mut world = with_all_values();
        let observed = |world: &World| (world.glass().contains(shown), world.device.view().stale);
        world.run_all(&format!("screen {screen}; {failed}; {failed}; wait 60000"));
        assert_eq!(observed(&world), (true, false), "{failed} twice");
        // A successful poll resets the count; failures within half a minute count once.
        world.run_all(&format!(
            "{figure}; {failed}; {failed}; {failed}; wait 30000"
        ));
        assert_eq!(observed(&world), (true, false), "{failed}, 30 s old");
        world.run_all("wait 1");
        assert_eq!(observed(&world), (true, true), "{failed} three times");
        let mark = world.device.desired().picture.mark;
        assert_eq!(mark, Some(Mark::Stale), "{failed}");
        world.run_all(&format!("{failed}; {failed}"));
        assert_eq!(observed(&world), (true, true), "{failed} five times");
        world.run_all(failed);
        assert!(world.glass().contains(offline), "{}", world.glass());
        assert_eq!(world.device.view().stale, screen == "90", "{failed}");
        world.run_all(figure);
        assert_eq!(observed(&world), (true, false), "{figure} again");
    }
}

#[test]
fn due_full_refreshes_may_come_in_quiet_hours_and_dark_rooms() {
    for (lines, is_quiet) in [
        ("lux 50", false),
        ("lux 0", true),
        ("lux 0; lux 50", false),
        ("set dndEnabled=true", true),
    ] {
        let mut world = World::at_noon(settings("timerSeconds=0"));
        world.run_all(lines);
        assert_eq!(world.device.desired().picture.is_quiet, is_quiet, "{lines}");
    }
}

/// Full refreshes, and partial refreshes of all panels.
#[test]
fn changes_that_leave_ghosts_are_full_refreshes_and_others_repaint_all_panels() {
    for (lines, full, partial) in [
        ("set fontName=inter", 1, 0),
        ("set invertedColor=true", 1, 0),
        ("set satsVariant=3", 1, 0),
        ("set tzString=Asia/Tokyo", 1, 0),
        ("set digitFontPx=200", 0, 0),
        ("set labelFitPct=50", 0, 0),
        ("set verticalDesc=false", 0, 0),
        ("set ledBrightness=9", 0, 0),
        ("full-refresh", 1, 0),
        ("clean-panels", 1, 0),
        ("upload", 1, 0),
        ("factory-reset", 1, 0),
        ("press 4 100", 1, 0),
        ("press 4 100; press 4 100", 2, 0),
        // The uptime of the debug view.
        ("press 4 100; wait 1000", 1, 1),
        // Nothing changes below the update.
        ("upload; press 4 100", 1, 0),
        ("block 840001", 0, 0),
        ("screen 20", 0, 1),
        ("screen 0", 0, 1),
        ("next", 0, 1),
        ("text HI", 0, 1),
        ("text HI; next", 0, 2),
        ("set refrScrnChange=true; screen 20", 1, 0),
        ("set refrScrnChange=true; text HI", 1, 0),
    ] {
        let mut world = World::at_noon(settings("timerSeconds=0"));
        let count = |world: &World| {
            let picture = world.device.desired().picture;
            (picture.full_refreshes, picture.repaints, picture.cleanings)
        };
        let before = count(&world);
        world.run_all(lines);
        let after = count(&world);
        let cleanings = u64::from(lines == "clean-panels");
        assert_eq!(
            (after.0 - before.0, after.1 - before.1, after.2 - before.2),
            (full, partial, cleanings),
            "{lines}"
        );
    }
}

#[test]
fn the_splash_stays_until_there_is_something_to_show() {
    for (line, mode) in [
        ("network up", "splash"),
        ("sources up", "splash"),
        ("lux 50", "splash"),
        ("block 840000", "rotation"),
        ("price USD 64000", "rotation"),
        ("zap 21", "rotation"),
        ("next", "rotation"),
        ("screen 20", "rotation"),
        ("text HI", "custom"),
    ] {
        let mut world = World::new(settings(""));
        world.run_all(&format!("network host; {line}"));
        assert_eq!(world.device.view().mode, mode, "{line}");
    }
}

#[test]
fn an_unprovisioned_clock_keeps_the_portal_open() {
    let mut world = World::new(settings("wpTimeout=10"));
    world.run_all("network none; wait 60000");
    assert_eq!(
        (world.effects.as_slice(), world.device.view().mode),
        (&[][..], "portal")
    );
    world.run_all("network provisioned");
    world.run_all("restart");
    assert!(world.device.settings().wifi_configured);
}

#[test]
fn the_sentence_of_the_view_describes_the_newest_picture() {
    let mut world = World::at_noon(settings("timerSeconds=0"));
    let mut sentence = |script: &str| {
        world.run_all(script);
        world.device.view().sentence.to_string()
    };
    // The height is disputed because it is below the checkpoint.
    let disputed = "Block height 840,000. The sources disagree about this, or it cannot be.";
    assert_eq!(sentence("screen 0"), disputed);
    assert_eq!(sentence("text HODL"), "HODL");
    assert_eq!(sentence("next; screen 20"), "1 bitcoin costs 64,000 USD.");
    // The sentence of a throttled price changes when it is painted.
    assert_eq!(sentence("price USD 65000"), "1 bitcoin costs 64,000 USD.");
    assert_eq!(sentence("wait 30000"), "1 bitcoin costs 65,000 USD.");
    let old = "1 bitcoin costs 65,000 USD. This is older than it should be.";
    assert_eq!(sentence("wait 901000"), old);
}

#[test]
fn the_sentence_of_the_view_describes_the_visible_layer() {
    let sentence = |start: World, script: &str| {
        let mut world = start;
        world.run_all(script);
        world.device.view().sentence.to_string()
    };
    let on = "nwcEnabled=true timerSeconds=0";
    assert_eq!(
        sentence(World::new(settings(on)), ""),
        "The clock is starting."
    );
    for (script, expected) in [
        ("press 4 100", "The debug view."),
        ("test-zap 21", "A zap of 21 sats came in."),
        ("received 22", "A payment of 22 sats came in."),
        (
            "upload; progress 40; wait 1000",
            "An update is on its way, 40 percent.",
        ),
        ("safe-mode", "Safe mode: it failed."),
        ("factory-reset", "Everything is being erased."),
    ] {
        let world = World::at_noon(settings(on));
        assert_eq!(sentence(world, script), expected, "{script}");
    }
    let mut locked = World::at_noon(settings(on));
    locked.handle(Input::PasswordGenerated(GeneratedPassword {
        password: Secret::new("correct-horse"),
        hash: PasswordHash::new("hash"),
        reason: GenerationReason::SettingsLost,
    }));
    assert_eq!(
        sentence(locked, ""),
        "The panels show a user name and a password for signing in."
    );
    let mut joining = World::new(settings(on));
    joining.handle(Input::Linked(LinkEvent::Identity {
        suffix: "efabcd".into(),
        password: Secret::new("hunter22"),
    }));
    assert_eq!(
        sentence(joining, "network none"),
        "The clock waits to be brought into a network: join its Wi-Fi papertick-ABCD."
    );
    let silent = World::new(settings("timerSeconds=0 ledTestOnPower=false"));
    assert_eq!(
        sentence(silent, "network host; network up; screen 20; wait 120000"),
        "No data so far: no source has answered yet."
    );
}

#[test]
fn a_single_source_can_be_restarted() {
    let mut world = World::at_noon(settings("miningPoolStats=true"));
    let before = world.device.desired().sources;
    let restart = |world: &mut World, source| {
        let request = Input::Request(Request::RestartSource(source));
        world.device.handle(request, world.now).reply
    };
    assert_eq!(
        restart(&mut world, SourceId::Pool),
        Some(Ok(Changed::default()))
    );
    let after = world.device.desired().sources;
    assert_eq!(after[&SourceId::Relay], before[&SourceId::Relay]);
    assert_ne!(after[&SourceId::Pool], before[&SourceId::Pool]);
    let unused = Some(Err(Refusal::UnusedSource));
    assert_eq!(restart(&mut world, SourceId::Miner), unused);
    world.run_all("stop-sources");
    assert_eq!(restart(&mut world, SourceId::Pool), unused);
}

#[test]
fn the_connection_to_the_broker_can_be_restarted() {
    let restart = |world: &mut World| {
        let request = Input::Request(Request::RestartBroker);
        world.device.handle(request, world.now).reply
    };
    let mut world = World::at_noon(settings("mqttEnabled=true mqttHost=broker"));
    let identity = LinkEvent::Identity {
        suffix: "aabbcc".into(),
        password: Secret::default(),
    };
    world.handle(Input::Linked(identity));
    let before = world.device.desired().mqtt;
    assert_eq!(restart(&mut world), Some(Ok(Changed::default())));
    assert_ne!(world.device.desired().mqtt, before);
    let mut world = World::at_noon(settings(""));
    let unused = Some(Err(Refusal::UnusedSource));
    assert_eq!(restart(&mut world), unused);
}
