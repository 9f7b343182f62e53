//! Random lives: a seed is a life, the same one every time.

use std::time::Duration;

use device::request::FrontlightCommand;
use serde_json::{Value, json};

use crate::{
    checks::CANARIES,
    script::{Step, Way},
};

/// A small generator of pseudo-random numbers (SplitMix64): enough for tests, and the same everywhere.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        let place = self.below(from.len() as u64);
        &from[usize::try_from(place).unwrap()]
    }
}

const CURRENCIES: &[&str] = &["USD", "EUR", "JPY", "GBP", "CHF"];

const PRICES: &[&str] = &[
    "95432.5",
    "109876",
    "0.005",
    "1000000",
    "14500000",
    "0",
    "2550000000",
    "7858.3",
];

const SCREENS: &[i64] = &[0, 3, 4, 6, 10, 20, 30, 40, 70, 71, 80, 81, 90, 1, 2, 99, -1];

/// The next step of the life of a clock with a radio.
pub fn step_on_air(dice: &mut Dice) -> Step {
    match dice.below(100) {
        0..=5 => Step::Network(dice.below(3) > 0),
        6..=9 => Step::Provision(dice.below(3) > 0),
        10..=11 => {
            let held = *dice.pick(&[500, 2990, 3100, 9000]);
            let button = u8::try_from(1 + dice.below(4)).unwrap();
            Step::HoldAtPowerOn(button, Duration::from_millis(held))
        }
        12 => Step::FactoryReset,
        13..=14 => {
            let (key, values) = *dice.pick(&[
                ("wifiRebootMin", [0, 1, 5, 60]),
                ("wpTimeout", [0, 60, 300, 900]),
            ]);
            Step::Set(key.into(), json!(dice.pick(&values)))
        }
        _ => step(dice),
    }
}

/// The next step of a life.
pub fn step(dice: &mut Dice) -> Step {
    match dice.below(100) {
        0..=11 => Step::Block(height(dice)),
        12..=23 => Step::Price((*dice.pick(CURRENCIES)).into(), (*dice.pick(PRICES)).into()),
        24..=27 => Step::Fee((*dice.pick(&["1", "4.7", "12.345", "150.25", "0.99"])).into()),
        28..=30 => Step::Zap(dice.below(2_000_000)),
        31 => Step::TestZap(dice.below(2_000_000)),
        32..=34 => Step::Payment(
            *dice.pick(&[Way::In, Way::Out, Way::Unknown]),
            dice.below(200_000_000),
        ),
        35 => Step::Balance(dice.below(2_000_000_000)),
        36..=38 => {
            Step::Text((*dice.pick(&["HELLO", "", "₿ 1", "too long for the panels"])).into())
        }
        39 => Step::Custom(vec!["A/B".into(), "mdi:wifi".into(), "x".into()]),
        40..=45 => Step::Next,
        46..=49 => Step::Previous,
        50..=54 => Step::Screen(*dice.pick(SCREENS)),
        55..=56 => Step::Currency((*dice.pick(CURRENCIES)).into()),
        57 => Step::Pause,
        58 => Step::TogglePause,
        59..=60 => Step::RestartTimer,
        61 => Step::FullRefresh,
        62 => Step::Upload,
        63..=64 => Step::Progress(u8::try_from(dice.below(101)).unwrap()),
        65..=67 => Step::UploadFailed,
        68..=76 => setting(dice),
        77..=78 => Step::Clock(
            (dice.below(4) > 0)
                .then(|| 1_700_000_000 + i64::try_from(dice.below(100_000_000)).unwrap()),
        ),
        79 => Step::Debug,
        80 => Step::Reboot,
        81 => Step::PowerCut,
        82 => Step::Lux(*dice.pick(&[0, 0, 1, 2, 50, 127, 128, 129, 300])),
        83 => Step::Dnd(dice.below(2) == 1),
        84 => Step::LightsColor((*dice.pick(&["off", "#FF8800", "00f"])).into()),
        85 => Step::Frontlight(
            dice.pick(&[FrontlightCommand::On, FrontlightCommand::Flash])
                .clone(),
        ),
        _ => {
            Step::Wait(Duration::from_millis(*dice.pick(&[
                1, 250, 1000, 7999, 8000, 30_000, 61_000, 61_000, 600_000,
            ])))
        }
    }
}

/// How long a machine sleeps.
pub fn nap(dice: &mut Dice) -> Step {
    Step::Sleep(Duration::from_secs(*dice.pick(&[
        30,
        600,
        8 * 3600,
        3 * 86_400,
    ])))
}

/// A window of Do Not Disturb, near the hours at which clocks are put forward and back.
fn quiet_hours(dice: &mut Dice) -> Value {
    let mut below = |end| dice.below(end);
    json!({
        "dndTimeEnabled": below(5) > 0,
        "startHour": below(24), "startMinute": below(60),
        "endHour": below(4), "endMinute": 30 * below(2),
    })
}

fn height(dice: &mut Dice) -> u32 {
    let base = 900_000 + u32::try_from(dice.below(50)).unwrap();
    match dice.below(20) {
        0 => 0,
        1 => base - 500,
        2 => base + 5_000,
        _ => base,
    }
}

fn setting(dice: &mut Dice) -> Step {
    let flags = [
        "invertedColor",
        "verticalDesc",
        "stealFocus",
        "nostrZapNotify",
        "nwcShowNotify",
        "scrnRestoreZap",
        "suffixPrice",
        "mowMode",
        "decimalShareDot",
        "refrScrnChange",
        "miningPoolStats",
        "minerEnabled",
        "useBlkCountdown",
        "supplyPercent",
        "timerActive",
        "proxyEnabled",
        "mdnsEnabled",
        "disableLeds",
        "flDisable",
        "flAlwaysOn",
        "flOffWhenDark",
        "flOffOnDnd",
        "ledFlashOnUpd",
    ];
    let (key, value): (&str, Value) = match dice.below(14) {
        0..=4 => (*dice.pick(&flags), json!(dice.below(2) == 1)),
        10 => (
            "luxLightToggle",
            json!(*dice.pick(&[0, 1, 128, 200, 65535])),
        ),
        11 => ("flEffectDelay", json!(*dice.pick(&[0, 15, 17, 150]))),
        12 => ("minSecPriceUpd", json!(*dice.pick(&[0, 1, 30, 3600]))),
        13 => ("dnd", quiet_hours(dice)),
        5 => ("timePerScreen", json!(*dice.pick(&[0, 1, 5, 30, 60, 600]))),
        6 if dice.below(2) == 1 => ("overlaySeconds", json!(dice.pick(&[1, 8, 30, 3600]))),
        6 => ("digitFontPx", json!(dice.below(300))),
        7 => (
            "actCurrencies",
            json!([dice.pick(CURRENCIES), dice.pick(CURRENCIES)]),
        ),
        8 => (
            "screens",
            json!([{"id": dice.pick(SCREENS), "enabled": dice.below(2) == 1}]),
        ),
        _ => {
            let (key, text) = *dice.pick(&[
                ("proxyPass", CANARIES[0]),
                ("miningPoolUser", CANARIES[1]),
                ("tzString", "Asia/Kolkata"),
                ("tzString", "America/New_York"),
                ("tzString", "Australia/Lord_Howe"),
                ("tzString", "Not/A_Zone"),
                ("fontName", "inter"),
            ]);
            (key, json!(text))
        }
    };
    Step::Set(key.into(), value)
}
