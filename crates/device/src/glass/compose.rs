//! Composes the content of the panels from the layers and the market data.

use alloc::{
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};
use core::{net::SocketAddr, time::Duration};

use super::{
    layers::{Directions, LayerContent},
    rotation::RotationSlot,
};
use crate::{
    board::BoardSpec,
    cells::{self, Cell, Marks},
    history::History,
    host::HostFacts,
    limits::NO_DATA_AFTER,
    memory,
    screens::catalog::{self, Dependency},
    screens::no_data::{self, Silence},
    screens::{
        Scene, block_height, custom, debug, erasing, payment, provisioning, row, safe_mode,
        sign_in, splash, update, words, zap,
    },
    settings::{RunningSettings, Settings},
    spoken::{self, Sentence, SentenceTemplate},
    tile::Tile,
};
use market::{
    Datum, HeightState, HeightTruth, MarkReason, MarkReasons, Market,
    limits::{STALE_BLOCK, STALE_FEE, STALE_PRICE},
    mark::Mark,
    now::{Now, UtcTime},
    polled_age_max,
    units::Currency,
};

const SPLASH: SentenceTemplate = SentenceTemplate::new("The clock is starting.");
const SIGN_IN: SentenceTemplate =
    SentenceTemplate::new("The panels show a user name and a password for signing in.");
const DEBUG: SentenceTemplate = SentenceTemplate::new("The debug view.");
const ERASING: SentenceTemplate = SentenceTemplate::new("Everything is being erased.");

/// Default port of browsers.
const HTTP_PORT: u16 = 80;

/// Data from outside the glass that the pictures are composed of.
#[derive(Debug, Clone)]
pub struct ComposeContext<'a> {
    /// The market data.
    pub market: &'a Arc<Market>,
    /// Reasons for marks besides age.
    pub mark_reasons: &'a MarkReasons,
    /// Proof of the height.
    pub truth: HeightTruth,
    /// How the values have moved. `None` for the panels, which do not show it.
    pub history: Option<&'a History>,
    /// The settings.
    pub running: &'a RunningSettings,
    /// Facts about the machine and the build.
    pub host: &'a HostFacts,
    /// Why neither chain nor prices were ever received. `None` if either was.
    pub silence: Option<Silence>,
    /// Address of the device; empty if there is none.
    pub ip: &'a str,
    /// Name of the network; empty on a wire.
    pub ssid: &'a str,
}

impl<'a> ComposeContext<'a> {
    /// Settings the device runs on.
    pub fn settings(&self) -> &'a Settings {
        &self.running.active
    }
}

/// The cells of a screen of the rotation.
pub fn screen_cells(slot: RotationSlot, scene: &Scene<'_>) -> Vec<Cell> {
    match catalog::find(slot.screen) {
        Some(screen) => (screen.cells)(scene),
        None => cells::blank(scene.panels),
    }
}

/// A screen of the rotation as a sentence.
pub fn screen_sentence(slot: RotationSlot, scene: &Scene<'_>) -> Sentence {
    match catalog::find(slot.screen) {
        Some(screen) => (screen.sentence)(scene),
        None => spoken::EMPTY_PANELS.into(),
    }
}

/// A screen of the rotation as a tile, doubtful if it has a mark.
pub fn screen_tile(
    slot: RotationSlot,
    scene: &Scene<'_>,
    known: &ComposeContext<'_>,
    mark: Option<Mark>,
) -> Tile {
    let Some(screen) = catalog::find(slot.screen) else {
        return Tile::default();
    };
    let tile = (screen.tile)(&Scene { mark, ..*scene });
    let (zone, now) = (scene.zone, scene.now);
    let moment = |then: Option<UtcTime>| {
        let (then, today) = (zone.local(then?), scene.local()?);
        Some(words::moment(then, today, scene.settings))
    };
    if let Some(silence) = silence(slot, known, now) {
        let since = moment(now.start());
        return no_data::tile(tile.labels, silence, since.as_deref(), &page(known));
    }
    match mark {
        Some(mark) => tile.doubted(mark, scene.truth.state, moment(stale_from(slot, scene))),
        None => tile,
    }
}

/// A layer as a tile.
pub fn layer_tile(
    content: &LayerContent,
    scene: &Scene<'_>,
    known: &ComposeContext<'_>,
    board: &BoardSpec,
    repainted: Duration,
) -> Tile {
    match content {
        LayerContent::Splash => splash::tile(),
        LayerContent::SafeMode(reason) => safe_mode::tile(reason, &page(known)),
        LayerContent::SignIn(made) => sign_in::tile(&known.settings().sign_in_user(), made),
        LayerContent::Custom(cells) => custom::tile(cells),
        LayerContent::Zap(zap) => zap::tile(zap, scene),
        LayerContent::Payment(payment) => payment::tile(payment, scene),
        LayerContent::Debug => debug::tile(&debug_facts(known, board, repainted)),
        LayerContent::Update(percent) => update::tile(*percent),
        LayerContent::Portal(directions) => {
            provisioning::tile(&portal_facts(directions, known, board))
        }
        LayerContent::Erasing => erasing::tile(),
    }
}

/// A layer as a sentence.
pub fn layer_sentence(content: &LayerContent, panels: usize) -> Sentence {
    match content {
        LayerContent::Splash => SPLASH.into(),
        LayerContent::SafeMode(reason) => safe_mode::sentence(reason),
        LayerContent::SignIn(_) => SIGN_IN.into(),
        LayerContent::Custom(cells) => custom::sentence(&row::left(cells.clone(), panels)),
        LayerContent::Zap(zap) => zap::sentence(zap),
        LayerContent::Payment(payment) => payment::sentence(payment),
        LayerContent::Debug => DEBUG.into(),
        LayerContent::Update(percent) => update::sentence(*percent),
        LayerContent::Portal(directions) => provisioning::sentence(&directions.ssid),
        LayerContent::Erasing => ERASING.into(),
    }
}

/// Replacement for a screen of the rotation without data. `None` if it has data.
pub fn lacking(
    slot: RotationSlot,
    known: &ComposeContext<'_>,
    panels: usize,
    now: Now,
) -> Option<(Vec<Cell>, Sentence)> {
    let silence = silence(slot, known, now)?;
    let cells = no_data::cells(silence, &page(known), panels);
    Some((cells, no_data::sentence(silence)))
}

/// Why a screen of the rotation has no data. `None` if it has, or if it is too early to say.
fn silence<'a>(slot: RotationSlot, known: &'a ComposeContext<'_>, now: Now) -> Option<&'a Silence> {
    let is_early = now.uptime < NO_DATA_AFTER;
    let silence = known.silence.as_ref();
    silence.filter(|_| !is_early && needs_feeds(slot))
}

/// Address of the page, without port 80; empty if it is not known.
fn page(known: &ComposeContext<'_>) -> String {
    let Some(served) = known.host.page_address else {
        return known.ip.into();
    };
    // The address of the network reaches the page only if the clock listens on all addresses.
    let ip = if served.ip().is_unspecified() {
        known.ip.parse().ok()
    } else {
        Some(served.ip())
    };
    match ip {
        Some(ip) if served.port() == HTTP_PORT => ip.to_string(),
        Some(ip) => SocketAddr::new(ip, served.port()).to_string(),
        None => known.ip.into(),
    }
}

/// Returns whether a screen of the rotation shows chain or prices.
pub fn needs_feeds(slot: RotationSlot) -> bool {
    let facts = catalog::find(slot.screen).map_or(&[][..], |screen| screen.depends_on);
    facts.iter().any(|fact| fact.is_of_chain_or_prices())
}

/// The cells of a layer; `repainted` is when the debug view was painted last.
pub fn layer_cells(
    content: &LayerContent,
    known: &ComposeContext<'_>,
    board: &BoardSpec,
    repainted: Duration,
) -> Vec<Cell> {
    let (settings, panels) = (known.settings(), board.panels);
    match content {
        LayerContent::Splash => splash::cells(panels),
        LayerContent::SafeMode(reason) => safe_mode::cells(reason, panels),
        LayerContent::SignIn(made) => sign_in::cells(&settings.sign_in_user(), made, panels),
        LayerContent::Custom(cells) => row::left(cells.clone(), panels),
        LayerContent::Zap(zap) => zap::cells(zap, settings, panels),
        LayerContent::Payment(payment) => payment::cells(payment, settings, panels),
        LayerContent::Debug => debug::cells(&debug_facts(known, board, repainted), panels),
        LayerContent::Update(percent) => update::cells(*percent, panels),
        LayerContent::Portal(directions) => {
            provisioning::cells(&portal_facts(directions, known, board), panels)
        }
        LayerContent::Erasing => erasing::cells(panels),
    }
}

fn portal_facts<'a>(
    directions: &'a Directions,
    known: &ComposeContext<'a>,
    board: &BoardSpec,
) -> provisioning::ProvisioningFacts<'a> {
    provisioning::ProvisioningFacts {
        ssid: &directions.ssid,
        password: directions.password.expose(),
        hostname: &directions.hostname,
        hardware: board.name,
        version: &known.host.version,
        build_date: &known.host.built,
        portal: &directions.address,
    }
}

fn debug_facts<'a>(
    known: &ComposeContext<'a>,
    board: &BoardSpec,
    repainted: Duration,
) -> debug::DebugFacts<'a> {
    debug::DebugFacts {
        ip: known.ip,
        ssid: known.ssid,
        heap_free: known.host.heap_free,
        psram_free: known.host.swap_free,
        hardware: board.name,
        version: &known.host.version,
        build_date: &known.host.built,
        // Advances only with the repaints of the debug view.
        uptime: repainted,
    }
}

/// Wall-clock time of the oldest value on a screen of the rotation. `None` if it has none, or the time is unknown.
pub fn seen(slot: RotationSlot, scene: &Scene<'_>) -> Option<UtcTime> {
    oldest(slot, scene, |_| true)
}

/// The same of the stale values alone.
fn stale_from(slot: RotationSlot, scene: &Scene<'_>) -> Option<UtcTime> {
    oldest(slot, scene, |fact| {
        let mut marks = fact_marks(fact, slot.currency, scene);
        marks.any(|(mark, from)| {
            mark == Mark::Stale && from.is_none_or(|from| from <= scene.now.uptime)
        })
    })
}

/// Wall-clock time of the oldest of some values on a screen of the rotation.
fn oldest(
    slot: RotationSlot,
    scene: &Scene<'_>,
    counts: impl Fn(Dependency) -> bool,
) -> Option<UtcTime> {
    let facts = catalog::find(slot.screen).map_or(&[][..], |screen| screen.depends_on);
    let facts = facts.iter().filter(|fact| counts(**fact));
    let market = scene.market;
    let times = facts.filter_map(|fact| {
        let seen = match fact {
            Dependency::Time => return None,
            Dependency::Height if scene.truth.state == HeightState::Stale => {
                // A stale height may be reported again and again.
                let made = block_height::made(scene);
                return made.or(memory::utc_of(market.height.as_ref()?.seen, scene.now));
            }
            Dependency::Height => market.height.as_ref()?.seen,
            Dependency::Price => market.prices.get(&slot.currency?)?.seen,
            Dependency::Fee => scene.fee()?.figure().datum.seen,
            Dependency::Pool => market.pool.as_ref()?.datum.seen,
            Dependency::Miner => market.miner.as_ref()?.datum.seen,
            Dependency::Balance => market.balance.as_ref()?.datum.seen,
        };
        memory::utc_of(seen, scene.now)
    });
    times.min()
}

/// Marks of the values on a screen of the rotation, each with the uptime from which on it applies (`None` if it always
/// did).
pub fn marks<'a>(
    slot: RotationSlot,
    scene: &'a Scene<'a>,
) -> impl Iterator<Item = (Mark, Option<Duration>)> + 'a {
    let facts = catalog::find(slot.screen).map_or(&[][..], |screen| screen.depends_on);
    let marks = move |fact: &Dependency| fact_marks(*fact, slot.currency, scene);
    facts.iter().flat_map(marks)
}

/// Marks that apply now.
pub fn current_marks(slot: RotationSlot, scene: &Scene<'_>) -> Marks {
    let uptime = scene.now.uptime;
    let marks = marks(slot, scene).filter(|(_, from)| from.is_none_or(|from| from <= uptime));
    marks.map(|(mark, _)| mark).collect()
}

/// Marks of a value, in a currency if it is a price.
pub fn fact_marks<'a>(
    fact: Dependency,
    currency: Option<Currency>,
    scene: &Scene<'a>,
) -> impl Iterator<Item = (Mark, Option<Duration>)> + use<'a> {
    let old = grows_old(fact, currency, scene).map(|from| (Mark::Stale, from));
    let reasons = reasons_of(fact, currency, scene.mark_reasons).iter();
    let marks = reasons.map(|reason| (reason.mark, Some(reason.from)));
    old.into_iter().chain(marks)
}

const DISPUTED: MarkReason = MarkReason {
    mark: Mark::Disputed,
    from: Duration::ZERO,
};

/// Marks for reasons other than age.
fn reasons_of(
    fact: Dependency,
    currency: Option<Currency>,
    reasons: &MarkReasons,
) -> &[MarkReason] {
    match fact {
        Dependency::Height => &reasons.height,
        Dependency::Price => {
            if currency.is_some_and(|currency| reasons.prices.contains(&currency)) {
                &[DISPUTED]
            } else {
                &[]
            }
        }
        Dependency::Fee
        | Dependency::Time
        | Dependency::Pool
        | Dependency::Miner
        | Dependency::Balance => &[],
    }
}

/// Uptime from which on a value is stale; `Some(None)` if its age is unknown, `None` if there is no value.
fn grows_old(
    fact: Dependency,
    currency: Option<Currency>,
    scene: &Scene<'_>,
) -> Option<Option<Duration>> {
    let (market, settings, now) = (scene.market, scene.settings, scene.now);
    match fact {
        Dependency::Time => None,
        Dependency::Height => old_from(market.height.as_ref(), STALE_BLOCK, now),
        Dependency::Price => old_from(market.prices.get(&currency?), STALE_PRICE, now),
        Dependency::Fee => {
            let fee = scene.fee()?.figure();
            Some(fee.stale_from(STALE_FEE, now))
        }
        Dependency::Pool => {
            let pool = market.pool.as_ref()?;
            Some(pool.stale_from(polled_age_max(settings.pool_poll_sec), now))
        }
        Dependency::Miner => {
            let miner = market.miner.as_ref()?;
            Some(miner.stale_from(polled_age_max(settings.miner_poll_sec), now))
        }
        Dependency::Balance => {
            let balance = market.balance.as_ref()?;
            Some(balance.stale_from(polled_age_max(settings.nwc_refresh_secs), now))
        }
    }
}

/// Uptime from which on a value is stale; unknown for a value of an earlier run if there is no wall-clock time.
fn old_from<T>(datum: Option<&Datum<T>>, limit: Duration, now: Now) -> Option<Option<Duration>> {
    datum.map(|datum| datum.old_from(limit, now))
}
