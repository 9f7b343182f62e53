//! All pictures: the screens of the catalogue, and those that cover them.

use std::{sync::Arc, time::Duration};

use device::{
    board::BoardSpec,
    cells::{Cell, Picture},
    history::History,
    panels,
    screens::catalog::{self, Dependency},
    screens::no_data::{self, Silence},
    screens::{
        SCREENS, Scene, Screen, custom, debug, erasing, payment, provisioning, safe_mode, sign_in,
        splash, ticker, update, zap,
    },
    secret::{GeneratedPassword, GenerationReason, PasswordHash, Secret},
    settings::Settings,
    tile::Tile,
};
use market::{
    Datum, Direction, Figure, FigureIdentity, HeightTruth, MarkReasons, Market, MinerStats,
    Payment, PoolStats, Proven, Seen, Zap,
    now::{Now, Zone},
    source_id::SourceId,
    units::{Currency, FeeRate, Msats, Sats},
};

use super::values::Values;
use crate::{commands::suggestion, failure::Failure};

/// Host name of the clock.
const HOSTNAME: &str = "papertick-1a2b3c";

/// Address of the page while the clock is an access point.
const PORTAL: &str = "192.168.4.1";

/// Name and password of the access point.
const ACCESS_POINT: &str = "papertick-1a2b3c";
const PASSWORD: &str = "kite-lamp-42";

/// Version and build date of the program.
const VERSION: &str = "4.0.0";
const BUILT: &str = "Nov 20 2026";

/// Progress of the update, percent.
const PROGRESS: u8 = 42;

/// Default amounts of a zap and a payment, satoshis.
const ZAP: u64 = 21_000;
const PAYMENT: u64 = 2100;

#[derive(Clone, Copy)]
pub(super) enum Subject {
    Screen(&'static Screen),
    Special(&'static SpecialPicture),
}

/// A picture that is not a screen of the rotation.
pub(super) struct SpecialPicture {
    name: &'static str,
    description: &'static str,
    cells: fn(&Values, &Settings, &BoardSpec) -> Vec<Cell>,
    tile: fn(&Values, &Scene<'_>, &BoardSpec) -> Tile,
}

/// All pictures that are not screens of the rotation.
static SPECIALS: &[SpecialPicture] = &[
    SpecialPicture {
        name: "text",
        description: "a text, one character per panel",
        cells: |values, _, board| custom::letters(&values.texts.join(" "), board.panels),
        tile: |values, _, board| {
            let text = values.texts.join(" ");
            let length = custom::length(text.chars().count(), board.panels);
            custom::tile(&custom::letters(&text, length))
        },
    },
    SpecialPicture {
        name: "custom",
        description: "a text or icon per panel",
        cells: |values, _, board| custom::cells(&values.texts, None, board.panels),
        tile: |values, _, board| custom::tile(&custom::cells(&values.texts, None, board.panels)),
    },
    SpecialPicture {
        name: "zap",
        description: "notice of a zap",
        cells: |values, settings, board| zap::cells(&zap(values), settings, board.panels),
        tile: |values, scene, _| zap::tile(&zap(values), scene),
    },
    SpecialPicture {
        name: "payment",
        description: "notice of a payment",
        cells: |values, settings, board| payment::cells(&payment(values), settings, board.panels),
        tile: |values, scene, _| payment::tile(&payment(values), scene),
    },
    SpecialPicture {
        name: "debug",
        description: "debug view",
        cells: |values, _, board| debug::cells(&debug_facts(values, board), board.panels),
        tile: |values, _, board| debug::tile(&debug_facts(values, board)),
    },
    SpecialPicture {
        name: "update",
        description: "progress of an update",
        cells: |_, _, board| update::cells(PROGRESS, board.panels),
        tile: |_, _, _| update::tile(PROGRESS),
    },
    SpecialPicture {
        name: "splash",
        description: "after the start",
        cells: |_, _, board| splash::cells(board.panels),
        tile: |_, _, _| splash::tile(),
    },
    SpecialPicture {
        name: "no-data",
        description: "notice that no data was received",
        cells: |values, _, board| {
            no_data::cells(&Silence::Error(NO_ANSWER.into()), &values.ip, board.panels)
        },
        tile: |values, scene, _| {
            let labels = ticker::tile(scene).labels;
            no_data::tile(labels, &Silence::NoAnswer, None, &values.ip)
        },
    },
    SpecialPicture {
        name: "provisioning",
        description: "how to connect the clock to a network",
        cells: |_, _, board| provisioning::cells(&provisioning_facts(board), board.panels),
        tile: |_, _, board| provisioning::tile(&provisioning_facts(board)),
    },
    SpecialPicture {
        name: "safe-mode",
        description: "notice that the clock is in safe mode",
        cells: |values, _, board| safe_mode::cells(&values.reason, board.panels),
        tile: |values, _, _| safe_mode::tile(&values.reason, &values.ip),
    },
    SpecialPicture {
        name: "sign-in",
        description: "a generated password",
        cells: |_, settings, board| {
            sign_in::cells(&settings.sign_in_user(), &generated(), board.panels)
        },
        tile: |_, scene, _| sign_in::tile(&scene.settings.sign_in_user(), &generated()),
    },
    SpecialPicture {
        name: "erasing",
        description: "all settings are being wiped",
        cells: |_, _, board| erasing::cells(board.panels),
        tile: |_, _, _| erasing::tile(),
    },
];

pub(super) fn names() -> Vec<String> {
    let screens = SCREENS.iter().map(Screen::word);
    let specials = SPECIALS.iter().map(|special| special.name.to_owned());
    screens.chain(specials).collect()
}

/// Finds a picture by its name or the number of its screen.
pub(super) fn find(name: &str) -> Result<Subject, Failure> {
    let matches = |screen: &&Screen| screen.word() == name || screen.id.to_string() == name;
    let screen = SCREENS.iter().find(matches).map(Subject::Screen);
    let special = || SPECIALS.iter().find(|special| special.name == name);
    let found = screen.or_else(|| special().map(Subject::Special));
    found.ok_or_else(|| {
        let names = names();
        let all = format!("possible values are `{}`", names.join("`, `"));
        suggestion::unknown("screen", name, names.iter().map(String::as_str), &all)
    })
}

/// Checks that there are texts for a picture of texts, and for no other.
pub(super) fn check_texts(subject: Subject, texts: &[String]) -> Result<(), Failure> {
    let name = match subject {
        Subject::Screen(screen) => screen.word(),
        Subject::Special(special) => special.name.to_owned(),
    };
    match (["text", "custom"].contains(&name.as_str()), texts) {
        (true, []) => Err(Failure::usage(format!(
            "`{name}` needs a TEXT: papertick render {name} HODL"
        ))),
        (false, [text, ..]) => Err(Failure::usage(format!(
            "`{name}` takes no TEXT: leave `{text}` out"
        ))),
        (true, [_, ..]) | (false, []) => Ok(()),
    }
}

/// The names with descriptions, one per line.
pub(super) fn list() -> String {
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
        .map(|special| format!("  {:24}{}", special.name, special.description));
    screens.chain(specials).collect::<Vec<_>>().join("\n")
}

pub(super) fn compose(
    subject: Subject,
    values: &Values,
    settings: &Settings,
    board: &BoardSpec,
) -> Result<Picture, Failure> {
    let currency = shown_currency(values, settings);
    let cells = match subject {
        Subject::Screen(screen) => {
            let data = SceneData::new(values, needed_price(screen, currency))?;
            (screen.cells)(&data.scene(settings, currency, board))
        }
        Subject::Special(special) => (special.cells)(values, settings, board),
    };
    let mut picture = Picture::new(cells, panels::style(settings));
    if let Subject::Screen(screen) = subject {
        picture.mark = values.mark(screen.depends_on, currency);
    }
    Ok(picture)
}

/// The picture as a tile.
pub(super) fn tile(
    subject: Subject,
    values: &Values,
    settings: &Settings,
    board: &BoardSpec,
) -> Result<Tile, Failure> {
    let currency = shown_currency(values, settings);
    let needed = match subject {
        Subject::Screen(screen) => needed_price(screen, currency),
        Subject::Special(_) => None,
    };
    let data = SceneData::new(values, needed)?;
    let scene = data.scene(settings, currency, board);
    Ok(match subject {
        Subject::Screen(screen) => screen_tile(screen, values, &scene),
        Subject::Special(special) => (special.tile)(values, &scene, board),
    })
}

/// The tiles of the board that the settings choose.
pub(super) fn board_tiles(
    values: &Values,
    settings: &Settings,
    board: &BoardSpec,
) -> Result<Vec<Tile>, Failure> {
    let data = SceneData::new(values, None)?;
    let tiles = settings.board().into_iter().filter_map(|slot| {
        let currency = slot.currency.unwrap_or(shown_currency(values, settings));
        let scene = data.scene(settings, currency, board);
        Some(screen_tile(catalog::find(slot.screen)?, values, &scene))
    });
    Ok(tiles.collect())
}

fn screen_tile(screen: &Screen, values: &Values, scene: &Scene<'_>) -> Tile {
    let mark = values.mark(screen.depends_on, scene.currency);
    let tile = (screen.tile)(&Scene { mark, ..*scene });
    match mark {
        Some(mark) => tile.doubted(mark, scene.truth.state, None),
        None => tile,
    }
}

/// The currency of the price that a screen needs; `None` if it needs none.
fn needed_price(screen: &Screen, currency: Currency) -> Option<Currency> {
    let needs_price = screen.depends_on.contains(&Dependency::Price);
    needs_price.then_some(currency)
}

/// What screens are composed of.
struct SceneData {
    market: Market,
    mark_reasons: MarkReasons,
    truth: HeightTruth,
    history: Option<History>,
    now: Now,
    zone: Zone,
}

impl SceneData {
    /// The values, with the price in a currency that is needed.
    ///
    /// # Errors
    /// There is no such price.
    fn new(values: &Values, needed: Option<Currency>) -> Result<SceneData, Failure> {
        let mut prices = values.prices();
        if let Some(currency) = needed {
            prices.remove(&currency);
            prices.extend(values.price(currency)?.map(|price| (currency, price)));
        }
        let prices = prices.into_iter();
        let now = Now {
            uptime: Duration::ZERO,
            utc: values.time,
        };
        Ok(SceneData {
            market: Market {
                height: values.height.and_then(datum),
                fee: values.fee.map(FeeRate::rounded).and_then(figure),
                precise_fee: values.fee.and_then(figure),
                prices: Arc::new(
                    prices
                        .filter_map(|(currency, price)| Some((currency, datum(price)?)))
                        .collect(),
                ),
                pool: pool(values).and_then(figure),
                pool_logo: None,
                miner: miner(values).and_then(figure),
                balance: values.balance.and_then(|sats| figure(Msats(sats.0 * 1000))),
            },
            mark_reasons: MarkReasons::default(),
            truth: HeightTruth {
                state: values.state,
                proven: values.agreeing.map(|agreeing| Proven {
                    agreeing,
                    hash_end: values.hash_end,
                    age_mins: values.age_mins,
                }),
            },
            history: values.history(now),
            now,
            zone: Zone::utc(),
        })
    }

    fn scene<'a>(
        &'a self,
        settings: &'a Settings,
        currency: Currency,
        board: &BoardSpec,
    ) -> Scene<'a> {
        Scene {
            market: &self.market,
            mark_reasons: &self.mark_reasons,
            truth: self.truth,
            history: self.history.as_ref(),
            mark: None,
            settings,
            now: self.now,
            zone: &self.zone,
            currency,
            panels: board.panels,
        }
    }
}

/// Currency of the screen: from the command line, or else the first one of the settings.
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

/// The figures of the miner; `None` without any, which is a miner that does not answer.
fn miner(values: &Values) -> Option<MinerStats> {
    let has_figure = values.miner.is_some() || values.best.is_some();
    has_figure.then(|| MinerStats {
        hashrate: values.miner,
        best_difficulty: values.best.clone(),
    })
}

fn pool(values: &Values) -> Option<PoolStats> {
    Some(PoolStats {
        hashrate: Some(values.hashrate?),
        daily: values.daily,
        ..PoolStats::default()
    })
}

fn zap(values: &Values) -> Zap {
    Zap {
        amount: Sats(values.sats.map_or(ZAP, i64::unsigned_abs)),
        message: String::new(),
    }
}

fn payment(values: &Values) -> Payment {
    let is_sent = values.sats.is_some_and(i64::is_negative);
    let sats = values.sats.map_or(PAYMENT, i64::unsigned_abs);
    Payment {
        direction: Some(if is_sent { Direction::Sent } else { Direction::Received }),
        amount: Msats(sats.saturating_mul(1000)),
    }
}

fn debug_facts<'a>(values: &'a Values, board: &BoardSpec) -> debug::DebugFacts<'a> {
    debug::DebugFacts {
        ip: &values.ip,
        ssid: &values.ssid,
        heap_free: values.heap,
        psram_free: values.memory,
        hardware: board.name,
        version: VERSION,
        build_date: BUILT,
        uptime: values.uptime,
    }
}

fn generated() -> GeneratedPassword {
    GeneratedPassword {
        password: Secret::new(PASSWORD),
        hash: PasswordHash::default(),
        reason: GenerationReason::NoneStored,
    }
}

/// Last error of a source that does not answer.
const NO_ANSWER: &str = "relay.example: connection refused";

fn provisioning_facts(board: &BoardSpec) -> provisioning::ProvisioningFacts<'static> {
    provisioning::ProvisioningFacts {
        ssid: ACCESS_POINT,
        password: PASSWORD,
        hostname: HOSTNAME,
        hardware: board.name,
        version: VERSION,
        build_date: BUILT,
        portal: PORTAL,
    }
}
