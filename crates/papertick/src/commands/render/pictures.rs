//! What there is to see: the catalogue of screens, and what covers or precedes them.

use std::{sync::Arc, time::Duration};

use device::{
    board::BoardSpec,
    cells::{Cell, Picture},
    panels,
    screens::catalog::Dependency,
    screens::no_data::{self, Silence},
    screens::{
        SCREENS, Scene, Screen, custom, debug, erasing, payment, provisioning, safe_mode, sign_in,
        splash, update, zap,
    },
    secret::{MadePassword, PasswordHash, Secret, WhyMade},
    settings::Settings,
};
use market::{
    Datum, Direction, Figure, FigureIdentity, HeightState, HeightTruth, Market, MinerStats,
    Payment, PoolStats, Proven, Seen, Zap,
    source_id::SourceId,
    units::{Currency, FeeRate, MICRO, Msats, Sats},
};

use super::values::Values;
use crate::{commands::suggestion, failure::Failure};

/// What the screen `custom` shows unless it is told.
const CUSTOM: [&str; 7] = ["Good/day", "mdi:wifi", "₿", "Hi", "21", "$1", "Hello"];

/// Host name of the clock.
const HOSTNAME: &str = "papertick-1a2b3c";

/// Address of the page while the clock has a network of its own.
const PORTAL: &str = "192.168.4.1";

/// Name and password of the clock's own network.
const ACCESS_POINT: &str = "papertick-1a2b3c";
const PASSWORD: &str = "kite-lamp-42";

/// The program.
const VERSION: &str = "4.0.0";
const BUILT: &str = "Nov 20 2026";

/// Progress of the update, percent.
const PROGRESS: u8 = 42;

/// Amounts of a zap and a payment unless one is given, satoshis.
const ZAP: u64 = 21_000;
const PAYMENT: u64 = 2100;

/// What a picture shows.
#[derive(Clone, Copy)]
pub(super) enum Subject {
    /// A screen of the catalogue.
    Screen(&'static Screen),
    /// Something else.
    Special(&'static Special),
}

/// A picture that is no screen of the rotation.
pub(super) struct Special {
    word: &'static str,
    what: &'static str,
    cells: fn(&Values, &Settings, &BoardSpec) -> Vec<Cell>,
}

/// All pictures that are no screens of the rotation.
static SPECIALS: &[Special] = &[
    Special {
        word: "text",
        what: "a text, one character per panel",
        cells: |values, _, board| custom::letters(&text(values), board.panels),
    },
    Special {
        word: "custom",
        what: "a text or icon per panel",
        cells: custom_cells,
    },
    Special {
        word: "zap",
        what: "notice of a zap",
        cells: |values, settings, board| {
            let zap = Zap {
                amount: Sats(values.sats.map_or(ZAP, i64::unsigned_abs)),
                message: String::new(),
            };
            zap::cells(&zap, settings, board.panels)
        },
    },
    Special {
        word: "payment",
        what: "notice of a payment",
        cells: |values, settings, board| {
            let is_sent = values.sats.is_some_and(i64::is_negative);
            let sats = values.sats.map_or(PAYMENT, i64::unsigned_abs);
            let payment = Payment {
                direction: Some(match is_sent {
                    true => Direction::Sent,
                    false => Direction::Received,
                }),
                amount: Msats(sats.saturating_mul(1000)),
            };
            payment::cells(&payment, settings, board.panels)
        },
    },
    Special {
        word: "debug",
        what: "view for finding out what is wrong",
        cells: debug_cells,
    },
    Special {
        word: "update",
        what: "progress of an update",
        cells: |_, _, board| update::cells(PROGRESS, board.panels),
    },
    Special {
        word: "splash",
        what: "first moments after the start",
        cells: |_, _, board| splash::cells(board.panels),
    },
    Special {
        word: "no-data",
        what: "notice that nothing was ever learned",
        cells: |values, _, board| {
            no_data::cells(Silence::Error(NO_ANSWER), &values.ip, board.panels)
        },
    },
    Special {
        word: "provisioning",
        what: "how to bring the clock into a network",
        cells: provisioning_cells,
    },
    Special {
        word: "safe-mode",
        what: "notice that the clock runs on defaults",
        cells: |values, _, board| safe_mode::cells(&values.reason, board.panels),
    },
    Special {
        word: "sign-in",
        what: "a password for a clock that has none stored",
        cells: sign_in_cells,
    },
    Special {
        word: "erasing",
        what: "all settings are being wiped",
        cells: |_, _, board| erasing::cells(board.panels),
    },
];

/// The words of all pictures.
pub(super) fn words() -> Vec<String> {
    let screens = SCREENS.iter().map(Screen::word);
    let specials = SPECIALS.iter().map(|special| special.word.to_owned());
    screens.chain(specials).collect()
}

/// Looks up a picture by its word or the number of its screen.
pub(super) fn find(word: &str) -> Result<Subject, Failure> {
    let is_meant = |screen: &&Screen| screen.word() == word || screen.id.to_string() == word;
    let screen = SCREENS.iter().find(is_meant).map(Subject::Screen);
    let special = || SPECIALS.iter().find(|special| special.word == word);
    let found = screen.or_else(|| special().map(Subject::Special));
    found.ok_or_else(|| {
        let words = words();
        let all = format!("there are `{}`", words.join("`, `"));
        suggestion::unknown("screen", word, words.iter().map(String::as_str), &all)
    })
}

/// The words with what they are, a line each.
pub(super) fn listed() -> String {
    let screens = SCREENS.iter().map(|screen| {
        format!(
            "  {:24}{}, number {}",
            screen.word(),
            screen.name,
            screen.id
        )
    });
    let specials = SPECIALS
        .iter()
        .map(|special| format!("  {:24}{}", special.word, special.what));
    screens.chain(specials).collect::<Vec<_>>().join("\n")
}

/// Makes a picture.
pub(super) fn compose(
    subject: Subject,
    values: &Values,
    settings: &Settings,
    board: &BoardSpec,
) -> Result<Picture, Failure> {
    let cells = match subject {
        Subject::Screen(screen) => screen_cells(screen, values, settings, board)?,
        Subject::Special(special) => (special.cells)(values, settings, board),
    };
    Ok(Picture {
        cells,
        style: panels::style(settings),
        mark: match subject {
            Subject::Screen(screen) => {
                values.mark(screen.depends_on, shown_currency(values, settings))
            }
            Subject::Special(_) => None,
        },
        shows_password: false,
        full_refreshes: 0,
        repaints: 0,
        serial: 0,
    })
}

fn screen_cells(
    screen: &Screen,
    values: &Values,
    settings: &Settings,
    board: &BoardSpec,
) -> Result<Vec<Cell>, Failure> {
    let currency = shown_currency(values, settings);
    let price = if screen.depends_on.contains(&Dependency::Price) {
        values.price(currency)?.and_then(datum)
    } else {
        None
    };
    let market = Market {
        height: values.height.and_then(datum),
        fee: values.fee.map(whole).and_then(figure),
        precise_fee: values.fee.and_then(figure),
        prices: Arc::new(price.into_iter().map(|price| (currency, price)).collect()),
        pool: pool(values).and_then(figure),
        pool_logo: None,
        miner: figure(MinerStats {
            hashrate: values.miner,
            best_difficulty: values.best.clone(),
        }),
        balance: values.balance.and_then(|sats| figure(Msats(sats.0 * 1000))),
    };
    let truth = HeightTruth {
        state: values.state,
        proven: values.agreeing.map(|agreeing| Proven {
            agreeing,
            hash_end: values.hash_end,
            age_mins: values.age_mins,
        }),
    };
    Ok((screen.cells)(&Scene {
        market: &market,
        truth,
        settings,
        local: values.time,
        currency,
        panels: board.panels,
    }))
}

/// Currency of the screen: the given one, or the first of the settings.
fn shown_currency(values: &Values, settings: &Settings) -> Currency {
    let first = settings.currencies().into_iter().next();
    values.currency.or(first).unwrap_or(Currency::USD)
}

fn datum<T>(value: T) -> Option<Datum<T>> {
    Some(Datum {
        value,
        source: SourceId::Relay,
        seen: Seen::At(Duration::ZERO),
    })
}

fn figure<T>(value: T) -> Option<Figure<T>> {
    Some(Figure {
        datum: datum(value)?,
        identity: FigureIdentity::default(),
        failed_polls: 0,
    })
}

/// Rounds a fee rate, as sources do that give it without decimals.
fn whole(fee: FeeRate) -> FeeRate {
    FeeRate {
        micros: (fee.micros + MICRO / 2) / MICRO * MICRO,
    }
}

fn pool(values: &Values) -> Option<PoolStats> {
    Some(PoolStats {
        hashrate: values.hashrate?,
        daily: values.daily,
        workers: None,
    })
}

fn text(values: &Values) -> String {
    match values.texts.is_empty() {
        true => "HELLO".into(),
        false => values.texts.join(" "),
    }
}

fn custom_cells(values: &Values, _: &Settings, board: &BoardSpec) -> Vec<Cell> {
    if values.texts.is_empty() {
        return custom::cells(&CUSTOM.map(String::from), None, board.panels);
    }
    custom::cells(&values.texts, None, board.panels)
}

fn debug_cells(values: &Values, _: &Settings, board: &BoardSpec) -> Vec<Cell> {
    let facts = debug::DebugFacts {
        ip: &values.ip,
        ssid: &values.ssid,
        heap_free: values.heap,
        psram_free: values.memory,
        height: HeightState::Proven,
        height_sources: 4,
        hardware: board.name,
        version: VERSION,
        build_date: BUILT,
        uptime: values.uptime,
    };
    debug::cells(&facts, board.panels)
}

fn sign_in_cells(_: &Values, settings: &Settings, board: &BoardSpec) -> Vec<Cell> {
    let made = MadePassword {
        password: Secret::new(PASSWORD),
        hash: PasswordHash::default(),
        why: WhyMade::NoneStored,
    };
    sign_in::cells(&settings.sign_in_user(), &made, board.panels)
}

/// What a source that is not there has said last.
const NO_ANSWER: &str = "relay.example: connection refused";

fn provisioning_cells(_: &Values, _: &Settings, board: &BoardSpec) -> Vec<Cell> {
    let facts = provisioning::ProvisioningFacts {
        ssid: ACCESS_POINT,
        password: PASSWORD,
        hostname: HOSTNAME,
        hardware: board.name,
        version: VERSION,
        build_date: BUILT,
        portal: PORTAL,
    };
    provisioning::cells(&facts, board.panels)
}
