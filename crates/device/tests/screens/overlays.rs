//! Layers above the rotation: notices, texts, and pictures of the device itself.

use std::time::Duration;

use device::{
    cells::{self, Cell},
    screens::{custom, debug, erasing, payment, safe_mode, splash, update, zap},
    settings::Settings,
};
use market::{
    Direction, Payment, Zap,
    units::{Msats, Sats},
};

use crate::notation;

/// Compares panels in the notation of the tables.
#[track_caller]
fn check(shown: &[Cell], panels: usize, wanted: &str) {
    assert_eq!(shown.len(), panels);
    assert_eq!(notation(shown), wanted);
}

fn marked(price_sym_mode: u32) -> Settings {
    Settings {
        price_sym_mode,
        ..Settings::default()
    }
}

#[test]
fn zaps() {
    let rows = [
        (0, 21, 7, "ZAP|(lightning-bolt)|·|·|·|2|1"),
        (1, 21_000, 7, "ZAP|(lightning-bolt)|2|1|0|0|0"),
        (1, 1000, 7, "ZAP|(lightning-bolt)|STS|1|0|0|0"),
        (2, 1000, 7, "ZAP|(lightning-bolt)|₿|1|0|0|0"),
        (0, 210_000, 7, "ZAP|(lightning-bolt)|·|2|1|0|K"),
        (1, 210_000, 7, "ZAP|(lightning-bolt)|STS|2|1|0|K"),
        (0, 1_200_000, 7, "ZAP|(lightning-bolt)|·|1|.|2|M"),
        (0, 500, 8, "ZAP|(lightning-bolt)|·|·|·|5|0|0"),
        (1, 21_000, 8, "ZAP|(lightning-bolt)|STS|2|1|0|0|0"),
        (1, 1, 7, "ZAP|(lightning-bolt)|·|·|·|STS|1"),
        (1, 1, 8, "ZAP|(lightning-bolt)|·|·|·|·|STS|1"),
        (1, 420, 7, "ZAP|(lightning-bolt)|·|STS|4|2|0"),
        (1, 420, 8, "ZAP|(lightning-bolt)|·|·|STS|4|2|0"),
        (1, 99_999, 7, "ZAP|(lightning-bolt)|9|9|9|9|9"),
        (1, 99_999, 8, "ZAP|(lightning-bolt)|STS|9|9|9|9|9"),
        (1, 100_000, 7, "ZAP|(lightning-bolt)|STS|1|0|0|K"),
        (1, 100_000, 8, "ZAP|(lightning-bolt)|1|0|0|0|0|0"),
        (1, 123_456, 7, "ZAP|(lightning-bolt)|STS|1|2|3|K"),
        (1, 123_456, 8, "ZAP|(lightning-bolt)|1|2|3|4|5|6"),
        (1, 999_999, 7, "ZAP|(lightning-bolt)|STS|1|.|0|M"),
        (1, 999_499, 7, "ZAP|(lightning-bolt)|STS|9|9|9|K"),
        (1, 999_600_000, 7, "ZAP|(lightning-bolt)|STS|1|.|0|B"),
        (1, 999_999, 8, "ZAP|(lightning-bolt)|9|9|9|9|9|9"),
        (1, 1_000_000, 7, "ZAP|(lightning-bolt)|STS|1|.|0|M"),
        (1, 1_000_000, 8, "ZAP|(lightning-bolt)|·|STS|1|.|0|M"),
        (1, 1_250_000, 7, "ZAP|(lightning-bolt)|STS|1|.|3|M"),
        (1, 1_250_000, 8, "ZAP|(lightning-bolt)|·|STS|1|.|3|M"),
        (1, 1_234_567, 7, "ZAP|(lightning-bolt)|STS|1|.|2|M"),
        (1, 12_345_678, 7, "ZAP|(lightning-bolt)|·|STS|1|2|M"),
        (1, 99_500_000, 7, "ZAP|(lightning-bolt)|STS|1|0|0|M"),
        (1, 99_500_000, 8, "ZAP|(lightning-bolt)|·|STS|1|0|0|M"),
        (1, 1_000_000_000, 7, "ZAP|(lightning-bolt)|STS|1|.|0|B"),
        (1, 1_000_000_000, 8, "ZAP|(lightning-bolt)|·|STS|1|.|0|B"),
        (0, 9_999_600_000_000, 7, "ZAP|(lightning-bolt)|1|0|.|0|T"),
        (0, u64::MAX, 7, "ZAP|(lightning-bolt)|·|·|·|·|?"),
    ];
    for (marker, sats, panels, wanted) in rows {
        let zap = Zap {
            amount: Sats(sats),
            message: "not shown".into(),
        };
        check(&zap::cells(&zap, &marked(marker), panels), panels, wanted);
    }
}

#[test]
fn payments() {
    let (received, sent) = (Some(Direction::Received), Some(Direction::Sent));
    let rows = [
        (received, 21, 7, "RECV|(arrow-down-bold)|·|·|·|2|1"),
        (sent, 1000, 7, "PAID|(arrow-up-bold)|·|1|0|0|0"),
        (None, 42, 7, "RECV|(lightning-bolt)|·|·|·|4|2"),
        (sent, 1500, 8, "PAID|(arrow-up-bold)|·|·|1|5|0|0"),
        (received, 2100, 7, "RECV|(arrow-down-bold)|·|2|1|0|0"),
        (received, 2100, 8, "RECV|(arrow-down-bold)|·|·|2|1|0|0"),
        (sent, 250_000, 7, "PAID|(arrow-up-bold)|·|2|5|0|K"),
        (sent, 250_000, 8, "PAID|(arrow-up-bold)|2|5|0|0|0|0"),
        (sent, 123_456_789, 7, "PAID|(arrow-up-bold)|·|1|2|3|M"),
        (sent, 123_456_789, 8, "PAID|(arrow-up-bold)|1|.|2|3|4|6"),
        (sent, 1_234_567_890, 8, "PAID|(arrow-up-bold)|·|·|1|.|2|B"),
        (received, 0, 7, "RECV|(arrow-down-bold)|·|·|·|<|1"),
    ];
    for (direction, sats, panels, wanted) in rows {
        // Amounts are rounded down.
        let payment = Payment {
            direction,
            amount: Msats(sats * 1000 + 999),
        };
        check(
            &payment::cells(&payment, &Settings::default(), panels),
            panels,
            wanted,
        );
    }
}

#[test]
fn text_is_shown_one_character_per_panel() {
    check(&custom::letters("HELLO", 7), 7, "H|E|L|L|O|·|·");
    check(&custom::letters("HELLO", 8), 8, "H|E|L|L|O|·|·|·");
    check(&custom::letters("Größe 1€₿!", 7), 7, "G|r|ö|ß|e| |1");
    check(&custom::letters("", 7), 7, "·|·|·|·|·|·|·");
}

#[test]
fn texts_are_shown_as_icons_two_lines_or_one() {
    let text = |text: &str, px| Cell::Text {
        text: text.into(),
        px,
    };
    let split = |top: &str, bottom: &str| Cell::Split {
        top: top.into(),
        bottom: bottom.into(),
    };
    let rows = [
        ("", Cell::Blank),
        ("A/B", split("A", "B")),
        ("/B", text("/B", None)),
        ("A/", text("A/", None)),
        ("A/B/C", text("A/B/C", None)),
        ("/", text("/", None)),
        ("//", text("//", None)),
        ("₿", text("₿", None)),
        ("mixed Case", text("mixed Case", None)),
        ("mdi:no/t", split("mdi:no", "t")),
        ("mdi:no_t", text("mdi:no_t", None)),
        ("mdi", text("mdi", None)),
    ];
    for (sent, wanted) in rows {
        assert_eq!(custom::cells(&[sent.into()], None, 1), [wanted], "{sent:?}");
    }
    for (size, expected_size) in [(19, None), (20, Some(20)), (220, Some(220)), (221, None)] {
        assert_eq!(
            custom::cells(&["x".into()], Some(size), 1),
            [text("x", expected_size)]
        );
    }
}

#[test]
fn icons_are_named_in_any_case() {
    let rows = [
        ("mdi:wifi", "(wifi)"),
        (" MDI:WiFi ", "(wifi)"),
        ("mdi: rocket-launch", "(rocket-launch)"),
        ("mdi:no-such-icon", "()"),
        ("mdi:", "()"),
    ];
    for (sent, wanted) in rows {
        check(&custom::cells(&[sent.into()], None, 1), 1, wanted);
    }
}

#[test]
fn the_status_returns_the_texts_of_the_owner() {
    let sent = [
        "A/B",
        "mdi:wifi",
        "₿",
        "",
        " MDI:nothing",
        "long text",
        "7",
        "surplus",
    ];
    let texts: Vec<String> = sent.iter().map(|text| text.to_string()).collect();
    assert_eq!(cells::mirror(&custom::cells(&texts, None, 7)), sent[..7]);
    check(
        &custom::cells(&texts[..3], None, 8),
        8,
        "A/B|(wifi)|₿|·|·|·|·|·",
    );
}

const DEBUG: debug::DebugFacts<'_> = debug::DebugFacts {
    ip: "192.168.1.20",
    ssid: "",
    heap_free: Some(180_000),
    psram_free: None,
    hardware: "Rev B, 7 x 2.13 in, simulated",
    version: "4.0.0-gabcdef0-dirty",
    build_date: "2026-01-31",
    uptime: Duration::from_secs(90_061),
};

#[test]
fn debug_view() {
    let facts = "DEBUG|IP ~ 192.168.1.20|SSID ~ -|Heap free ~ 176 KB|PSRAM free ~ -\
        |Board ~ Rev B, 7 x ~ 2.13 in, ~ simulated ~  ~ Version ~ 4.0.0 ~ -gabcdef0 ~ -dirty ~  \
        ~ Built ~ 2026-01-31|Uptime ~ 1d 1h 1m";
    check(&debug::cells(&DEBUG, 7), 7, facts);
    check(
        &debug::cells(&DEBUG, 8),
        8,
        &format!("{facts}|Leave ~ button 4"),
    );
    assert_eq!(
        cells::mirror(&debug::cells(&DEBUG, 7)),
        ["DEBUG", "", "", "", "", "", ""]
    );
}

#[test]
fn amounts_of_memory() {
    let rows = [
        (0, "0 KB"),
        (512, "1 KB"),
        (143_360, "140 KB"),
        (180_000, "176 KB"),
        (1_048_063, "1023 KB"),
        (1_048_064, "1.0 MB"),
        (1_048_576, "1.0 MB"),
        (6_000_000, "5.7 MB"),
        (8_388_608, "8.0 MB"),
        (2_097_151, "2.0 MB"),
        (u64::MAX, "17592186044416.0 MB"),
    ];
    for (bytes, wanted) in rows {
        assert_eq!(debug::amount(bytes), wanted);
    }
}

#[test]
fn update_progress() {
    check(&update::cells(0, 7), 7, "UP/DATE|·|·|·|·|0|%");
    check(&update::cells(42, 7), 7, "UP/DATE|·|·|·|4|2|%");
    check(&update::cells(100, 8), 8, "UP/DATE|·|·|·|1|0|0|%");
    check(&update::cells(255, 8), 8, "UP/DATE|·|·|·|1|0|0|%");
}

#[test]
fn pictures_of_the_device_itself() {
    check(&splash::cells(7), 7, "(bitcoin)|P|A|P|E|R|(check-bold)");
    check(
        &splash::cells(8),
        8,
        "(bitcoin)|(clock-outline)|P|A|P|E|R|(check-bold)",
    );
    check(&erasing::cells(7), 7, "E|R|A|S|I|N|G");
    check(&erasing::cells(8), 8, "E|R|A|S|I|N|G|·");
    let reason = "It stopped five times in a row, so the data sources are off";
    let shown = "SAFE/MODE|It stopped ~ five times ~ in a row, ~ so the ~ data ~ sources ~ are off";
    check(
        &safe_mode::cells(reason, 7),
        7,
        &format!("{shown}|·|·|·|·|·"),
    );
    let longer = "the settings file is damaged and was kept aside; the clock starts with defaults";
    let shown = "SAFE/MODE|the ~ settings ~ file is ~ damaged ~ and was ~ kept\
        |aside; the ~ clock ~ starts ~ with ~ defaults|·|·|·|·|·";
    check(&safe_mode::cells(longer, 8), 8, shown);
    assert_eq!(safe_mode::cells(&reason.repeat(50), 8).len(), 8);
}
