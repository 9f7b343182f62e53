//! Random steps; the same seed always gives the same steps.

use std::time::Duration;

use device::{lights::StripEffect, request::FrontlightCommand, screens::SCREENS};
use serde_json::{Value, json};

use crate::{
    checks::CANARIES,
    script::{PaymentDirection, Step},
};

/// A small generator of pseudo-random numbers (SplitMix64) that is equal on every platform.
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

/// Number of settings that are changed before the other steps.
const INITIAL_SETTINGS: u64 = 12;

const CURRENCIES: &[&str] = &["USD", "EUR", "JPY", "GBP", "CHF"];

/// Prices of several lengths.
const PRICES: &[&str] = &[
    "95432.7", "95433.2", "95440", "109876", "99999.8", "1000000", "14500000", "10001.3",
];

/// Wall clock times ten seconds before an event: 22:00 and 07:00 in Amsterdam, the changes to and from daylight saving time
/// in Amsterdam, New York and on Lord Howe Island, and a new year.
const MOMENTS: &[i64] = &[
    1_767_301_190,
    1_767_301_190,
    1_767_333_590,
    1_774_745_990,
    1_792_889_990,
    1_772_953_190,
    1_793_512_790,
    1_775_314_790,
    1_791_041_390,
    1_798_757_990,
];

/// Schedules of Do Not Disturb: hour and minute of the start, hour and minute of the end.
const WINDOWS: &[[u32; 4]] = &[
    [22, 0, 7, 0],
    [22, 0, 7, 0],
    [7, 0, 22, 0],
    [21, 0, 22, 0],
    [2, 0, 3, 0],
    [1, 30, 2, 30],
    [3, 0, 3, 30],
    [23, 59, 0, 0],
];

const COLORS: &[&str] = &["off", "#FF8800", "00f"];

/// Sets of pressed buttons.
const HELD_BUTTONS: &[&[u8]] = &[
    &[],
    &[],
    &[1, 2],
    &[1, 4],
    &[2, 3],
    &[3],
    &[1, 2, 3],
    &[2, 3, 4],
];

/// Ids of all screens, in ascending order.
fn screen_ids() -> Vec<i64> {
    let mut ids: Vec<i64> = SCREENS.iter().map(|screen| screen.id.into()).collect();
    ids.sort_unstable();
    ids
}

/// Ids of all screens, and some ids without a screen.
fn any_screen_ids() -> Vec<i64> {
    [screen_ids(), vec![1, 2, 99, -1]].concat()
}

/// The steps of a seed. Every third seed is a clock with a radio; the others are suspended sometimes.
pub fn random_steps(dice: &mut Dice, seed: u64, count: u64) -> Vec<Step> {
    let mut steps = Vec::new();
    let has_radio = seed % 3 == 2;
    if has_radio {
        steps.push(Step::Radio(dice.below(2) == 1));
    }
    // Values that every clock receives, and random settings.
    let facts = [
        mined(dice),
        Step::Fee("4.7".into()),
        price(dice, "USD"),
        price(dice, "EUR"),
    ];
    steps.extend(facts);
    steps.extend((0..INITIAL_SETTINGS).map(|_| setting(dice)));
    steps.push(Step::Clock(Some(moment(dice))));
    for _ in 0..count {
        let next = match dice.below(100) {
            0..=11 => mined(dice),
            12..=20 if has_radio => radio_step(dice),
            12..=14 => nap(dice),
            15 => {
                // Not for long, because the strip plays an effect for it many times a minute.
                steps.extend([Step::Relay(false), outage(dice)]);
                Step::Relay(true)
            }
            16..=18 => {
                steps.extend(night(dice));
                outage(dice)
            }
            19..=28 => {
                steps.extend(scene(dice));
                outage(dice)
            }
            _ => step(dice),
        };
        steps.push(next);
    }
    // The model does not cover a radio during a suspend.
    steps.retain(|step| !has_radio || !matches!(step, Step::Sleep(_)));
    steps
}

/// A step of a clock with a radio.
fn radio_step(dice: &mut Dice) -> Step {
    match dice.below(16) {
        0..=5 => Step::Network(dice.below(3) > 0),
        6..=9 => Step::Provision(dice.below(3) > 0),
        10..=11 => {
            let held = *dice.pick(&[500, 2990, 3100, 9000]);
            let button = u8::try_from(1 + dice.below(4)).unwrap();
            Step::HoldAtPowerOn(button, Duration::from_millis(held))
        }
        12 => Step::FactoryReset,
        13 => Step::Hold(vec![1, 2, 3, 4]),
        _ => {
            let (key, values) = *dice.pick(&[
                ("wifiRebootMin", [0, 1, 5, 60]),
                ("wpTimeout", [0, 60, 300, 900]),
            ]);
            Step::Set(key.into(), json!(dice.pick(&values)))
        }
    }
}

/// A step of any clock.
fn step(dice: &mut Dice) -> Step {
    match dice.below(100) {
        0..=11 => {
            let code = *dice.pick(CURRENCIES);
            price(dice, code)
        }
        12..=14 => Step::Fee((*dice.pick(&["1", "4.7", "12.35", "150.25", "0.99", "30"])).into()),
        15..=17 => Step::Zap(dice.below(100_000)),
        18 => Step::TestZap(dice.below(100_000)),
        19..=21 => {
            let direction = *dice.pick(&[
                PaymentDirection::In,
                PaymentDirection::Out,
                PaymentDirection::Unknown,
            ]);
            Step::Payment(direction, dice.below(100_000))
        }
        22 => Step::Balance(dice.below(2_000_000_000)),
        23..=25 => {
            Step::Text((*dice.pick(&["HELLO", "", "₿ 1", "too long for the panels"])).into())
        }
        26 => Step::Custom(vec!["A/B".into(), "mdi:wifi".into(), "x".into()]),
        27..=29 => Step::Next,
        30..=31 => Step::Previous,
        32..=37 => Step::Screen(*dice.pick(&any_screen_ids())),
        38..=39 => Step::Currency((*dice.pick(CURRENCIES)).into()),
        40 => Step::Pause,
        41 => Step::TogglePause,
        42..=43 => Step::RestartTimer,
        44 => Step::FullRefresh,
        45 => Step::Upload,
        46..=47 => Step::Progress(u8::try_from(dice.below(101)).unwrap()),
        48..=50 => Step::UploadFailed,
        51..=65 => setting(dice),
        66..=67 => Step::Clock((dice.below(8) > 0).then(|| moment(dice))),
        68 if dice.below(2) == 0 => Step::Hold(dice.pick(HELD_BUTTONS).to_vec()),
        68..=72 => {
            let button = u8::try_from(1 + dice.below(4)).unwrap();
            let held = *dice.pick(&[15, 21, 100, 100, 100, 799, 800, 900, 3000]);
            Step::Press(button, Duration::from_millis(held))
        }
        73 => Step::Reboot,
        74 if dice.below(3) == 0 => Step::SafeMode,
        74 => Step::PowerCut,
        75..=76 => Step::Lux(*dice.pick(&[0, 0, 1, 2, 50, 127, 128, 129, 300])),
        77 => Step::Dnd(dice.below(2) == 1),
        78 => match dice.below(3) {
            0 => Step::LightsColor((*dice.pick(COLORS)).into()),
            1 => {
                let leds = usize::try_from(dice.below(6)).unwrap();
                Step::Lights((0..leds).map(|_| (*dice.pick(COLORS)).into()).collect())
            }
            _ => Step::Effect(dice.pick(StripEffect::NAMED).1),
        },
        79 => {
            let channels = usize::try_from(*dice.pick(&[0, 1, 7, 7, 8, 8])).unwrap();
            let duty = |_| u16::try_from(dice.below(4200)).unwrap();
            let duties = (0..channels).map(duty).collect();
            let commands = [
                FrontlightCommand::Set(duties),
                FrontlightCommand::On,
                FrontlightCommand::Off,
                FrontlightCommand::Flash,
                FrontlightCommand::Brightness(u32::try_from(dice.below(5000)).unwrap()),
            ];
            Step::Frontlight(dice.pick(&commands).clone())
        }
        80..=81 => Step::Identify,
        _ => {
            let times = [
                1, 250, 1000, 7999, 8000, 30_000, 61_000, 61_000, 600_000, 1_200_000,
            ];
            Step::Wait(Duration::from_millis(*dice.pick(&times)))
        }
    }
}

fn price(dice: &mut Dice, code: &str) -> Step {
    Step::Price(code.into(), (*dice.pick(PRICES)).into())
}

/// A time to set the wall clock to.
fn moment(dice: &mut Dice) -> i64 {
    dice.pick(MOMENTS) + i64::try_from(dice.below(9)).unwrap()
}

/// Sets the wall clock shortly before an event of the calendar, and waits for the event.
fn night(dice: &mut Dice) -> Vec<Step> {
    let set = |key: &str, value| Step::Set(key.into(), value);
    let (window, at) = match dice.below(4) {
        0 => ([1, 30, 2, 30], 1_774_745_990),
        1 => ([2, 15, 3, 30], 1_792_889_990),
        2 => (WINDOWS[0], MOMENTS[0]),
        _ => (*dice.pick(WINDOWS), moment(dice)),
    };
    vec![
        set("tzString", json!("Europe/Amsterdam")),
        set("dnd", quiet_in(window, dice.below(5) > 0)),
        Step::Clock(Some(at)),
        Step::Wait(Duration::from_secs(11)),
    ]
}

/// Steps that only test something together, such as a held-back price or the progress of an update.
fn scene(dice: &mut Dice) -> Vec<Step> {
    let wait = |secs| Step::Wait(Duration::from_secs(secs));
    let progress = |percent: u64| Step::Progress(u8::try_from(percent).unwrap());
    match dice.below(11) {
        0 => vec![
            Step::Set("ledFlashOnUpd".into(), json!(true)),
            Step::Set("disableLeds".into(), json!(false)),
            Step::Set("minSecPriceUpd".into(), json!(30)),
            Step::Screen(*dice.pick(&[10, 20, 30])),
            Step::Currency("EUR".into()),
            price(dice, "EUR"),
            price(dice, "EUR"),
            wait(*dice.pick(&[29, 31])),
        ],
        // More effects than the queue can hold.
        1 => [vec![Step::Identify; 10], vec![wait(9)]].concat(),
        2 => vec![Step::Press(*dice.pick(&[1, 1, 4]), Duration::from_millis(900)); 2],
        // The debug view stops the rotation.
        3 => vec![
            Step::Set("timePerScreen".into(), json!(1)),
            Step::RestartTimer,
            Step::Press(4, Duration::from_millis(100)),
            wait(61),
            Step::Press(4, Duration::from_millis(100)),
            wait(61),
        ],
        // A screen is disabled while it is shown.
        4 => vec![
            Step::Screen(6),
            Step::Set("screens".into(), json!([{"id": 6, "enabled": false}])),
            Step::Reboot,
            Step::Set("screens".into(), json!([{"id": 6, "enabled": true}])),
        ],
        // A clock that was suspended for long shows the new height without a flash.
        5 => vec![
            Step::Set("ledFlashOnUpd".into(), json!(true)),
            Step::Sleep(Duration::from_secs(86_400)),
            Step::Mined(*dice.pick(&[101, 120])),
            wait(1),
        ],
        6 => vec![
            Step::Upload,
            progress(dice.below(50)),
            wait(1),
            progress(dice.below(101)),
            wait(2),
            Step::UploadFailed,
        ],
        7 => vec![
            Step::Screen(*dice.pick(&[0, 6, 20, 30])),
            Step::Sleep(Duration::from_secs(*dice.pick(&[950, 3700, 5500]))),
            wait(1),
        ],
        8 => {
            let hold = |dice: &mut Dice| Step::Hold(dice.pick(HELD_BUTTONS).to_vec());
            vec![
                hold(dice),
                hold(dice),
                outage(dice),
                hold(dice),
                Step::Hold(Vec::new()),
            ]
        }
        // A block may interrupt any screen.
        9 => vec![
            Step::Set("stealFocus".into(), json!(dice.below(3) > 0)),
            Step::Screen(*dice.pick(&[3, 6, 20])),
            Step::Mined(1),
            wait(1),
        ],
        _ => vec![
            Step::Set("ledFlashOnUpd".into(), json!(true)),
            Step::Set("ledBrightness".into(), json!(255)),
            Step::Mined(1),
            wait(2),
        ],
    }
}

fn outage(dice: &mut Dice) -> Step {
    Step::Wait(Duration::from_millis(*dice.pick(&[100, 4000, 12_000])))
}

/// Suspends the machine.
fn nap(dice: &mut Dice) -> Step {
    Step::Sleep(Duration::from_secs(*dice.pick(&[
        3,
        30,
        600,
        8 * 3600,
        3 * 86_400,
    ])))
}

/// A schedule of Do Not Disturb.
fn quiet_hours(dice: &mut Dice) -> Value {
    quiet_in(*dice.pick(WINDOWS), dice.below(5) > 0)
}

fn quiet_in([hour, minute, end_hour, end_minute]: [u32; 4], on: bool) -> Value {
    json!({
        "dndTimeEnabled": on,
        "startHour": hour, "startMinute": minute,
        "endHour": end_hour, "endMinute": end_minute,
    })
}

/// Heights as relays report them: the next ones, the same again, one of another chain, many after a long suspend.
fn mined(dice: &mut Dice) -> Step {
    Step::Mined(*dice.pick(&[1, 1, 1, 1, 2, 3, 100, 0, 0, -50, 120]))
}

/// Boolean settings.
const FLAGS: &[&str] = &[
    "invertedColor",
    "verticalDesc",
    "stealFocus",
    "nostrZapNotify",
    "nostrZapNotify",
    "nwcShowNotify",
    "nwcFlashOnPay",
    "nwcEnabled",
    "scrnRestoreZap",
    "suffixPrice",
    "refrScrnChange",
    "miningPoolStats",
    "minerEnabled",
    "proofScreen",
    "useBlkCountdown",
    "useMscwTime",
    "hideLeadZero",
    "blockFeeDec",
    "supplyPercent",
    "timerActive",
    "mdnsEnabled",
    "disableLeds",
    "ledFlashOnUpd",
    "ledFlashOnUpd",
    "ledFlashOnZap",
    "ledTestOnPower",
    "flDisable",
    "flAlwaysOn",
    "flAlwaysOn",
    "flOffWhenDark",
    "flOffOnDnd",
    "flFlashOnUpd",
    "flFlashOnZap",
    "inverseButtons",
];

/// Numeric settings and their values.
const NUMBERS: &[(&str, &[u32])] = &[
    ("luxLightToggle", &[0, 1, 128, 200, 65535]),
    ("flEffectDelay", &[0, 15, 17, 150]),
    ("flMaxBrightness", &[0, 500, 4095, 65535, 65535]),
    ("minSecPriceUpd", &[0, 1, 30, 3600]),
    ("timePerScreen", &[0, 1, 5, 5, 30, 60, 600]),
    ("nwcRefreshSecs", &[30, 300, 900]),
    ("overlaySeconds", &[1, 8, 30, 3600]),
    ("fullRefreshMin", &[0, 1, 10, 60]),
    ("digitFontPx", &[80, 180, 300]),
    ("priceSymMode", &[0, 1, 2]),
    ("satsVariant", &[0, 7]),
    ("dataSource", &[0, 1]),
    ("proofMode", &[0, 1, 1, 1, 2]),
    ("proofPeerMax", &[0, 0, 1, 4]),
    ("ledBrightness", &[0, 1, 128, 255]),
    ("blockFlashColor", &[0, 0x00_FF_88, 0xE0_43_00]),
];

/// Text settings and their values.
const TEXTS: &[(&str, &str)] = &[
    ("proxyPass", CANARIES[0]),
    ("miningPoolUser", CANARIES[1]),
    ("tzString", "Asia/Kolkata"),
    ("tzString", "America/New_York"),
    ("tzString", "Australia/Lord_Howe"),
    ("tzString", "Europe/Amsterdam"),
    ("tzString", "Not/A_Zone"),
    ("fontName", "inter"),
    ("fontName", "oswald"),
];

fn setting(dice: &mut Dice) -> Step {
    let (key, value): (&str, Value) = match dice.below(15) {
        0..=6 => (*dice.pick(FLAGS), json!(dice.below(2) == 1)),
        7..=9 => {
            let (key, values) = dice.pick(NUMBERS);
            (key, json!(dice.pick(values)))
        }
        10..=11 => ("dnd", quiet_hours(dice)),
        12 => {
            let codes = [dice.pick(CURRENCIES), dice.pick(CURRENCIES)];
            ("actCurrencies", json!(codes))
        }
        13 => ("screens", screens(dice)),
        _ => {
            let (key, text) = *dice.pick(TEXTS);
            (key, json!(text))
        }
    };
    Step::Set(key.into(), value)
}

/// Enables or disables a screen, or sets another order of all screens.
fn screens(dice: &mut Dice) -> Value {
    if dice.below(4) > 0 {
        return json!([{"id": dice.pick(&any_screen_ids()), "enabled": dice.below(2) == 1}]);
    }
    let mut ids = screen_ids();
    let places = dice.below(ids.len() as u64 - 1);
    ids.rotate_left(usize::try_from(places).unwrap());
    let entry = |(order, id)| json!({ "id": id, "order": order });
    ids.into_iter().enumerate().map(entry).collect()
}
