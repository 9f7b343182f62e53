//! Content of the panels: the rotation, the layers over it, and when a new picture may be painted.
//!
//! [`Glass`] owns `layers` (what covers what), `rotation` (the current screen), `compose` (the cells), `prices`
//! (throttling of prices), `panels` and `refresh` (making a picture).

mod compose;
pub mod layers;
pub mod panels;
mod prices;
pub mod refresh;
pub mod rotation;

use alloc::vec::Vec;
use core::time::Duration;

use market::{Market, now::Now, units::Currency};

use self::{
    layers::Layers,
    panels::{Composition, PanelPictures, Visible, style},
    prices::PriceThrottle,
    rotation::{BLOCK_HEIGHT, Navigation, RotationSlot, ScreenRotation, Timer},
};
use crate::{
    board::BoardSpec,
    canvas::{Layout, LayoutForm},
    cells::{Cell, Marks, Picture},
    frames::{self, Changes, Frame, FrameContent},
    history::{self, BlockReading, Readings, Series},
    limits::{DEBUG_PERIOD, NO_DATA_AFTER, SPLASH_MAX, UPDATE_PAINT_MAX, UPDATE_PERIOD},
    request::Refusal,
    screens::{
        Scene, block_height,
        catalog::{self, Dependency},
    },
    settings::Settings,
    spoken::Sentence,
    tile::Tile,
};

pub use self::{
    compose::ComposeContext,
    layers::{Directions, Layer, LayerContent},
    refresh::RefreshCause,
};

/// Temporary layers that keep a block from stealing the focus.
const PASSING: &[Layer] = &[Layer::Custom, Layer::Notice, Layer::Debug, Layer::Update];

/// Layers under which the rotation does not turn.
const HOLDING: &[Layer] = &[
    Layer::SafeMode,
    Layer::Notice,
    Layer::Debug,
    Layer::Update,
    Layer::Portal,
];

/// State of the panels.
#[derive(Debug, Clone, PartialEq)]
pub struct Glass {
    board: BoardSpec,
    rotation: ScreenRotation,
    layers: Layers,
    panels: PanelPictures,
    prices: PriceThrottle,
    /// Height of the block since which a slow panel shows its picture, and the slots in it.
    slow_since: (Option<u32>, Vec<RotationSlot>),
    debug_painted: Duration,
    update_percent: u8,
    update_painted: Duration,
    update_coming: Option<Coming>,
}

/// A layer that is waiting to be painted.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Coming {
    /// Serial number of the first picture that shows it.
    picture: u64,
    /// Uptime at which the wait ends.
    until: Duration,
}

/// Outcome of a composition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presented {
    /// Nothing to paint, or it has to wait.
    Nothing,
    /// There is a new picture.
    Picture,
    /// There is a new picture in which only a price has changed.
    Price,
}

impl Glass {
    /// The panels after a start, at the slot that was shown last.
    pub fn new(
        board: BoardSpec,
        last: Option<RotationSlot>,
        settings: &Settings,
        now: Now,
    ) -> Glass {
        Glass {
            board,
            rotation: ScreenRotation::start(last, settings, now.uptime),
            layers: Layers::default(),
            panels: PanelPictures::new(board.panels, settings),
            prices: PriceThrottle::default(),
            slow_since: Default::default(),
            debug_painted: now.uptime,
            update_percent: 0,
            update_painted: now.uptime,
            update_coming: None,
        }
    }

    /// Number of panels.
    pub fn panel_count(&self) -> usize {
        self.board.panels
    }

    /// The newest picture.
    pub fn picture(&self) -> &Picture {
        self.panels.picture()
    }

    /// Serial number of the next picture.
    pub fn next_picture(&self) -> u64 {
        self.picture().serial + 1
    }

    /// The newest picture as a sentence.
    pub fn sentence(&self) -> &Sentence {
        self.panels.sentence()
    }

    /// Current marks of the values in the newest picture; none for a layer.
    pub fn marks(&self) -> Marks {
        self.panels.marks()
    }

    /// The current slot, even if a layer covers it.
    pub fn slot(&self) -> RotationSlot {
        self.rotation.slot()
    }

    /// The rotation timer.
    pub fn timer(&self) -> Timer {
        self.rotation.timer()
    }

    /// Word for the visible layer.
    pub fn mode(&self) -> &'static str {
        let top = self.layers.top();
        top.map_or("rotation", |(content, _)| content.word())
    }

    /// Returns whether a layer is present.
    pub fn has(&self, layer: Layer) -> bool {
        self.layers.has(layer)
    }

    /// The reason of the safe mode, while its layer is present.
    pub fn safe_mode(&self) -> Option<&str> {
        match self.layers.on(Layer::SafeMode) {
            Some(LayerContent::SafeMode(reason)) => Some(reason),
            Some(_) | None => None,
        }
    }

    /// Returns whether sources stop for an update: the panels show it, or had time to.
    pub fn rests_for_update(&self) -> bool {
        self.layers.has(Layer::Update) && self.update_coming.is_none()
    }

    /// Records that the panels show the picture with this serial number.
    pub fn painted(&mut self, serial: u64) {
        self.update_coming
            .take_if(|coming| coming.picture <= serial);
    }

    /// Whether a screen of the mining pool is visible.
    pub fn shows_pool(&self, settings: &Settings) -> bool {
        self.shows(Dependency::Pool, settings)
    }

    /// Composes the panels and makes a new picture if something changed, unless a price must wait.
    pub fn present(
        &mut self,
        cause: RefreshCause,
        known: &ComposeContext<'_>,
        now: Now,
    ) -> Presented {
        let settings = known.settings();
        let mut composition = self.compose(known.market, known, now);
        let height = known.market.height.as_ref().map(|height| height.value);
        let since = (height, self.slots(settings));
        let is_due = self.slow_since != since
            || self.panels.visible() != composition.visible
            || self.picture().mark != composition.marks.worst();
        if self.board.is_slow && cause == RefreshCause::Data && !is_due {
            composition.tiles = self.picture().tiles.clone();
        }
        self.slow_since = since;
        let mut presented = Presented::Picture;
        let mut is_price_waiting = false;
        if cause == RefreshCause::Data && self.picture().style == style(settings) {
            let is_worse = self.panels.is_worse(&composition);
            let must_wait = !is_worse && self.prices.must_wait(settings, now.uptime);
            // The cells of a board of tiles change with the rotation, unseen.
            if must_wait && self.is_only_price_of_tiles(&composition, known, now) {
                composition.tiles = self.picture().tiles.clone();
                is_price_waiting = true;
            }
            if !is_worse && !self.panels.differs(&composition) {
                self.panels.set_marks(composition.marks);
                if !is_price_waiting {
                    self.prices.caught_up(known.market);
                }
                return Presented::Nothing;
            }
            if !is_worse && !is_price_waiting && self.is_only_price(known, now) {
                if must_wait {
                    return Presented::Nothing;
                }
                presented = Presented::Price;
            }
        }
        if !is_price_waiting {
            if self.shows(Dependency::Price, settings) {
                self.prices.painted(now.uptime);
            }
            self.prices.caught_up(known.market);
        }
        self.panels
            .present(composition, cause, settings, now.uptime);
        presented
    }

    /// Handles everything that is due by now. Returns the kind of the required repaint.
    pub fn advance(&mut self, settings: &Settings, uptime: Duration) -> RefreshCause {
        let due = |deadline: Option<Duration>| deadline.is_some_and(|at| at <= uptime);
        if due(self.splash_deadline()) {
            self.end_splash();
        }
        let cause = if due(self.panels.refresh_deadline(settings)) {
            RefreshCause::Forced
        } else {
            RefreshCause::Data
        };
        if due(self.layers.notice_deadline(settings)) {
            self.layers.hide(Layer::Notice);
            self.rotation.restart(settings, uptime);
        }
        if due(self.turn_deadline()) {
            if self.layers.dismiss() {
                self.rotation.restart(settings, uptime);
            } else {
                self.rotation.turn(settings, uptime);
            }
        }
        if due(self.debug_deadline()) {
            self.debug_painted = uptime;
            // The debug view is always repainted as a whole.
            self.panels.repaint();
        }
        if due(self.update_deadline()) {
            self.update_painted = uptime;
            self.show_progress();
        }
        self.update_coming.take_if(|coming| coming.until <= uptime);
        cause
    }

    /// Uptime at which something is due or the visible content becomes stale.
    pub fn next_deadline(&self, known: &ComposeContext<'_>, now: Now) -> Option<Duration> {
        let settings = known.settings();
        [
            self.splash_deadline(),
            self.panels.refresh_deadline(settings),
            self.layers.notice_deadline(settings),
            self.turn_deadline(),
            self.debug_deadline(),
            self.update_deadline(),
            self.update_coming.map(|coming| coming.until),
            self.minute_deadline(settings, now),
            self.price_deadline(known, now),
            self.mark_deadline(known, now),
            self.worth_deadline(known, now),
            self.no_data_deadline(known, now),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Applies a change of settings.
    pub fn apply_settings(
        &mut self,
        before: &Settings,
        settings: &Settings,
        uptime: Duration,
    ) -> RefreshCause {
        self.rotation.apply_settings(before, settings, uptime);
        if before.tz_string == settings.tz_string {
            RefreshCause::Data
        } else {
            RefreshCause::Forced
        }
    }

    /// Shows a layer; counts as a change of screen only if it was not present.
    pub fn keep(&mut self, content: LayerContent, uptime: Duration) {
        self.layers.keep(content, uptime);
    }

    /// Removes a layer.
    pub fn hide(&mut self, layer: Layer) {
        self.layers.hide(layer);
    }

    /// Requests a cleaning of all panels.
    pub fn clean(&mut self) {
        self.panels.clean();
    }

    /// Ends the start screen.
    pub fn end_splash(&mut self) {
        self.layers.hide(Layer::Splash);
    }

    /// Shows a zap or a payment.
    pub fn notify(&mut self, notice: LayerContent, uptime: Duration) {
        self.layers.show(notice, uptime);
    }

    /// Shows the owner's text.
    pub fn show_text(&mut self, cells: Vec<Cell>, settings: &Settings, uptime: Duration) {
        self.end_splash();
        self.layers.show(LayerContent::Custom(cells), uptime);
        self.rotation.restart(settings, uptime);
    }

    /// Shows or hides the debug view.
    pub fn toggle_debug(&mut self, settings: &Settings, uptime: Duration) -> RefreshCause {
        let before = self.visible(settings);
        self.end_splash();
        if self.layers.hide(Layer::Debug) {
            self.rotation.restart(settings, uptime);
        } else {
            self.debug_painted = uptime;
            self.layers.show(LayerContent::Debug, uptime);
        }
        if self.visible(settings) == before {
            RefreshCause::Data
        } else {
            RefreshCause::Forced
        }
    }

    /// Moves one screen forward or back; removes a text, zap or payment instead if one is shown.
    pub fn step(
        &mut self,
        direction: Navigation,
        settings: &Settings,
        uptime: Duration,
    ) -> RefreshCause {
        self.end_splash();
        if self.layers.dismiss() {
            self.rotation.restart(settings, uptime);
        } else {
            self.rotation.step(direction, settings, uptime);
        }
        self.navigated(settings)
    }

    /// Restarts the period of the rotation.
    pub fn restart_timer(&mut self, settings: &Settings, uptime: Duration) {
        self.rotation.restart(settings, uptime);
    }

    /// Shows a screen: by id, else by position in the rotation order.
    ///
    /// # Errors
    /// There is no such screen, or its feature is off.
    pub fn show_screen(
        &mut self,
        number: i64,
        settings: &Settings,
        uptime: Duration,
    ) -> Result<RefreshCause, Refusal> {
        let slot = match u16::try_from(number).ok().and_then(catalog::find) {
            Some(screen) if !settings.is_screen_available(screen.id) => {
                return Err(Refusal::UnavailableScreen(screen.id));
            }
            Some(screen) => self.rotation.slot_of(screen, settings),
            None => {
                let entries = rotation::sequence(settings);
                let place = usize::try_from(number).ok();
                let entry = place.and_then(|place| entries.get(place));
                entry.ok_or(Refusal::UnknownScreen)?.slot
            }
        };
        Ok(self.jump(slot, settings, uptime))
    }

    /// Shows the current screen in a currency, or the ticker if the current screen has none.
    ///
    /// # Errors
    /// The currency is not in the rotation.
    pub fn show_currency(
        &mut self,
        currency: Currency,
        settings: &Settings,
        uptime: Duration,
    ) -> Result<RefreshCause, Refusal> {
        if !settings.currencies().contains(&currency) {
            return Err(Refusal::CurrencyNotActive);
        }
        let slot = self.rotation.slot_in(currency);
        Ok(self.jump(slot, settings, uptime))
    }

    /// Shows the block height after a new block, if that is enabled and no temporary layer is present.
    pub fn steal_focus(&mut self, settings: &Settings, uptime: Duration) {
        if settings.steal_focus && !self.layers.has_any(PASSING) {
            let slot = RotationSlot::plain(BLOCK_HEIGHT);
            self.rotation.jump(slot, settings, uptime);
        }
    }

    /// Shows the progress of an update; the rotation timer is frozen.
    pub fn begin_update(&mut self, uptime: Duration) {
        self.update_percent = 0;
        self.update_painted = uptime;
        self.update_coming = Some(Coming {
            picture: self.next_picture(),
            until: uptime + UPDATE_PAINT_MAX,
        });
        self.layers.show(LayerContent::Update(0), uptime);
        self.rotation.freeze(uptime);
    }

    /// Progress of an update, percent; 0 if there is none.
    pub fn updated_percent(&self) -> u8 {
        if self.layers.has(Layer::Update) { self.update_percent } else { 0 }
    }

    /// Records the progress of an update; the panels follow at their own pace.
    pub fn update_to(&mut self, percent: u8) {
        self.update_percent = percent;
    }

    /// Shows at once that an update is complete.
    pub fn complete_update(&mut self) {
        self.update_percent = 100;
        self.show_progress();
    }

    /// Removes the update layer.
    pub fn end_update(&mut self, settings: &Settings, uptime: Duration) {
        self.layers.hide(Layer::Update);
        self.update_coming = None;
        self.rotation.thaw(settings, uptime);
    }

    fn jump(&mut self, slot: RotationSlot, settings: &Settings, uptime: Duration) -> RefreshCause {
        self.end_splash();
        self.layers.dismiss();
        self.rotation.jump(slot, settings, uptime);
        self.navigated(settings)
    }

    /// Navigation repaints even if it leads to the screen already shown.
    fn navigated(&self, settings: &Settings) -> RefreshCause {
        match self.visible(settings) {
            Visible::Slot(_) => RefreshCause::Change,
            Visible::Layer(_) | Visible::Board | Visible::Nothing => RefreshCause::Data,
        }
    }

    fn show_progress(&mut self) {
        if self.layers.has(Layer::Update) {
            let content = LayerContent::Update(self.update_percent);
            self.layers.keep(content, self.update_painted);
        }
    }

    /// What is visible; a difference is a change of screen.
    fn visible(&self, settings: &Settings) -> Visible {
        match (self.covering(), self.form(settings)) {
            (Some((_, serial)), _) => Visible::Layer(serial),
            (None, LayoutForm::Board) => Visible::Board,
            (None, LayoutForm::Figure | LayoutForm::Cells) => Visible::Slot(self.rotation.slot()),
        }
    }

    /// What the panels divide: cells, unless there is one panel for all.
    fn form(&self, settings: &Settings) -> LayoutForm {
        match self.board.canvas {
            // It does not follow the rotation.
            Some(_) if self.board.is_slow => LayoutForm::Board,
            Some(_) => settings.panel_layout().form(),
            None => LayoutForm::Cells,
        }
    }

    /// What covers the panels. A slow panel would show a zap or a payment too late, and the start screen too long.
    fn covering(&self) -> Option<(&LayerContent, u64)> {
        let is_left_out = |content: &LayerContent| {
            self.board.is_slow && matches!(content.layer(), Layer::Notice | Layer::Splash)
        };
        self.layers
            .top()
            .filter(|(content, _)| !is_left_out(content))
    }

    /// The slots that the panels show.
    fn slots(&self, settings: &Settings) -> Vec<RotationSlot> {
        let layer = self.covering().map(|(content, _)| content);
        if self.board.is_slow {
            return if layer.is_none() { slow_slots(settings) } else { Vec::new() };
        }
        slots_of(self.form(settings), layer, self.slot(), settings)
    }

    /// The slots of the panels and of the cells for clients, which follow the rotation.
    fn followed_slots(&self, settings: &Settings) -> Vec<RotationSlot> {
        let mut slots = self.slots(settings);
        let is_covered = self.covering().is_some();
        if !is_covered && !slots.contains(&self.slot()) {
            slots.push(self.slot());
        }
        slots
    }

    /// Returns whether something on the panels depends on a fact.
    fn shows(&self, fact: Dependency, settings: &Settings) -> bool {
        let slots = self.slots(settings);
        catalog::dependencies(slots.iter().map(|slot| slot.screen)).contains(&fact)
    }

    /// The state without passwords, which are only for people in front of the clock.
    pub fn without_passwords(&self) -> Glass {
        let mut glass = self.clone();
        glass.layers.hide_passwords();
        glass.panels.hide_password();
        glass
    }

    /// A picture for another screen.
    ///
    /// # Errors
    /// There is no such screen, or its feature is off.
    pub fn frame(
        &self,
        content: FrameContent,
        layout: Layout,
        known: &ComposeContext<'_>,
        now: Now,
    ) -> Result<Frame, Refusal> {
        let settings = known.settings();
        let (slot, is_followed) = match content {
            FrameContent::Follow => (self.slot(), true),
            FrameContent::Screen(id) => {
                let screen = catalog::find(id).ok_or(Refusal::UnknownScreen)?;
                if !settings.is_screen_available(id) {
                    return Err(Refusal::UnavailableScreen(id));
                }
                (self.rotation.slot_of(screen, settings), false)
            }
        };
        let (form, layer) = (layout.form(), self.layers.top());
        let layer = layer.map(|(layer, _)| layer).filter(|_| {
            let is_covered = matches!(self.panels.visible(), Visible::Layer(_));
            is_followed && is_covered
        });
        let slots = slots_of(form, layer, slot, settings);
        let tiles = self.tiles(form, layer, &slots, known.market, known, now);
        let turns = is_followed && (form != LayoutForm::Board || layer.is_some());
        let turn_at = self.turn_deadline().filter(|_| turns);
        let mut frame = Frame {
            picture: Picture {
                tiles,
                ..self.picture().clone()
            },
            slot: None,
            caption: Default::default(),
            since: None,
            changes: Changes {
                depends_on: catalog::dependencies(slots.iter().map(|slot| slot.screen)),
                turn_in: turn_at.map(|at| at.saturating_sub(now.uptime)),
                minute_in: frames::minute_in(now),
                quiet_for: None,
                price_pace: Duration::from_secs(u64::from(settings.min_sec_price_upd)),
            },
        };
        if layer.is_some() {
            return Ok(frame);
        }
        let composition = self.compose_slot(slot, known.market, known, now);
        frame.picture = Picture {
            tiles: frame.picture.tiles,
            mark: composition.marks.worst(),
            ..Picture::new(composition.cells, style(settings))
        };
        if form != LayoutForm::Board {
            frame.slot = Some(slot);
            let scene = self.scene(slot, known.market, known, now);
            frame.set_since(compose::seen(slot, &scene), known.running.zone());
        }
        Ok(frame)
    }

    /// A layer and slots as tiles; none for cells.
    fn tiles(
        &self,
        form: LayoutForm,
        layer: Option<&LayerContent>,
        slots: &[RotationSlot],
        market: &Market,
        known: &ComposeContext<'_>,
        now: Now,
    ) -> Vec<Tile> {
        if form == LayoutForm::Cells {
            return Vec::new();
        }
        let layer = layer.map(|layer| {
            let scene = self.scene(RotationSlot::plain(BLOCK_HEIGHT), market, known, now);
            compose::layer_tile(layer, &scene, known, &self.board, self.debug_painted)
        });
        let screens = slots.iter().map(|slot| {
            let scene = self.scene(*slot, market, known, now);
            let mark = compose::current_marks(*slot, &scene).worst();
            compose::screen_tile(*slot, &scene, known, mark)
        });
        layer.into_iter().chain(screens).collect()
    }

    fn compose(&self, market: &Market, known: &ComposeContext<'_>, now: Now) -> Composition {
        let (settings, layer) = (known.settings(), self.covering());
        let (layer, form) = (layer.map(|(content, _)| content), self.form(settings));
        let slots = self.slots(settings);
        let mut composition = match layer {
            Some(content) => Composition {
                visible: Visible::Nothing,
                cells: compose::layer_cells(content, known, &self.board, self.debug_painted),
                tiles: Vec::new(),
                sentence: compose::layer_sentence(content, self.board.panels),
                marks: Marks::default(),
                shows_password: content.shows_password(),
            },
            None => self.compose_slot(self.slot(), market, known, now),
        };
        composition.visible = self.visible(settings);
        composition.tiles = self.tiles(form, layer, &slots, market, known, now);
        if composition.visible == Visible::Board {
            let scene = |slot| self.scene(slot, market, known, now);
            let marks = slots
                .iter()
                .map(|slot| compose::current_marks(*slot, &scene(*slot)));
            composition.marks = marks.flat_map(Marks::worst_first).collect();
        }
        composition
    }

    /// The composition of a screen of the rotation.
    fn compose_slot(
        &self,
        slot: RotationSlot,
        market: &Market,
        known: &ComposeContext<'_>,
        now: Now,
    ) -> Composition {
        let scene = self.scene(slot, market, known, now);
        let lacking = compose::lacking(slot, known, self.board.panels, now);
        let shown = || {
            let cells = compose::screen_cells(slot, &scene);
            (cells, compose::screen_sentence(slot, &scene))
        };
        let (cells, sentence) = lacking.unwrap_or_else(shown);
        Composition {
            visible: Visible::Slot(slot),
            cells,
            tiles: Vec::new(),
            sentence,
            marks: compose::current_marks(slot, &scene),
            shows_password: false,
        }
    }

    /// The values that the screens show now without a mark.
    pub fn readings(&self, known: &ComposeContext<'_>, now: Now) -> Readings {
        let slot = RotationSlot::plain(BLOCK_HEIGHT);
        let scene = self.scene(slot, known.market, known, now);
        let is_unmarked = |fact, currency| {
            let mut marks = compose::fact_marks(fact, currency, &scene);
            !marks.any(|(_, from)| from.is_none_or(|from| from <= now.uptime))
        };
        let height = scene.height();
        let height = height.filter(|_| is_unmarked(Dependency::Height, None));
        let block = height.zip(block_height::found_at(&scene));
        let block = block.map(|(height, (at, is_by_header))| BlockReading {
            height,
            at: at.unix_secs(),
            is_by_header,
        });
        let fee = scene.fee().filter(|_| is_unmarked(Dependency::Fee, None));
        let fee = fee.map(|fee| fee.datum().value.micros);
        let chosen = known.running.stored.currencies();
        let price = |currency: &Currency| {
            let currency = *currency;
            let price = Scene { currency, ..scene }.shown_price();
            let price = price.filter(|_| is_unmarked(Dependency::Price, Some(currency)));
            (Series::Price(currency), price.map(|price| price.micros))
        };
        let prices = history::recorded(&chosen).iter().map(price);
        Readings {
            values: prices.chain([(Series::Fee, fee)]).collect(),
            block,
        }
    }

    fn scene<'a>(
        &self,
        slot: RotationSlot,
        market: &'a Market,
        known: &ComposeContext<'a>,
        now: Now,
    ) -> Scene<'a> {
        Scene {
            market,
            mark_reasons: known.mark_reasons,
            truth: known.truth,
            history: known.history,
            mark: None,
            settings: known.settings(),
            now,
            zone: known.running.zone(),
            currency: slot
                .currency
                .unwrap_or_else(|| known.settings().first_currency()),
            panels: self.board.panels,
        }
    }

    /// Returns whether the tiles differ from the new ones, and only in prices.
    fn is_only_price_of_tiles(
        &self,
        composition: &Composition,
        known: &ComposeContext<'_>,
        now: Now,
    ) -> bool {
        let shown = &self.picture().tiles;
        composition.tiles != *shown && {
            let throttled = self.prices.throttled(known.market);
            self.compose(&throttled, known, now).tiles == *shown
        }
    }

    /// Returns whether the panels differ from the new content only in prices.
    fn is_only_price(&self, known: &ComposeContext<'_>, now: Now) -> bool {
        if !self.shows(Dependency::Price, known.settings()) {
            return false;
        }
        let throttled = self.prices.throttled(known.market);
        !self.panels.differs(&self.compose(&throttled, known, now))
    }

    fn splash_deadline(&self) -> Option<Duration> {
        self.layers.has(Layer::Splash).then_some(SPLASH_MAX)
    }

    /// Uptime of the next turn of the rotation. `None` while a layer holds it.
    fn turn_deadline(&self) -> Option<Duration> {
        let deadline = self.rotation.next_deadline();
        deadline.filter(|_| !self.layers.has_any(HOLDING))
    }

    fn debug_deadline(&self) -> Option<Duration> {
        let (content, _) = self.layers.top()?;
        (*content == LayerContent::Debug).then(|| self.debug_painted + DEBUG_PERIOD)
    }

    fn update_deadline(&self) -> Option<Duration> {
        let (content, _) = self.layers.top()?;
        let is_behind = content.layer() == Layer::Update
            && *content != LayerContent::Update(self.update_percent);
        is_behind.then(|| self.update_painted + UPDATE_PERIOD)
    }

    /// Uptime of the next minute while the local time is visible.
    fn minute_deadline(&self, settings: &Settings, now: Now) -> Option<Duration> {
        let left = frames::minute_in(now)?;
        let slots = self.followed_slots(settings);
        let depends_on = catalog::dependencies(slots.iter().map(|slot| slot.screen));
        depends_on
            .contains(&Dependency::Time)
            .then(|| now.uptime + left)
    }

    /// Uptime at which a throttled price may be painted.
    fn price_deadline(&self, known: &ComposeContext<'_>, now: Now) -> Option<Duration> {
        let deadline = self
            .prices
            .next_deadline(known.market, known.settings(), now.uptime);
        deadline.filter(|_| self.shows(Dependency::Price, known.settings()))
    }

    /// Uptime at which a value on the panels gets its next mark.
    fn mark_deadline(&self, known: &ComposeContext<'_>, now: Now) -> Option<Duration> {
        let next = |slot: &RotationSlot| {
            let scene = self.scene(*slot, known.market, known, now);
            let moments = compose::marks(*slot, &scene).filter_map(|(_, from)| from);
            moments.filter(|from| *from > now.uptime).min()
        };
        let slots = self.followed_slots(known.settings());
        slots.iter().filter_map(next).min()
    }

    /// Uptime at which the price goes stale, so that amounts are no longer shown with their worth.
    fn worth_deadline(&self, known: &ComposeContext<'_>, now: Now) -> Option<Duration> {
        let slots = self.followed_slots(known.settings());
        let stale_from = |slot: RotationSlot| {
            self.scene(slot, known.market, known, now)
                .price_stale_from()
        };
        let moments = slots.into_iter().chain([self.rotation.slot()]);
        let moments = moments.filter_map(stale_from);
        moments.filter(|at| *at > now.uptime).min()
    }

    /// Uptime from which on the panels report that no data was received. `None` if they do already.
    fn no_data_deadline(&self, known: &ComposeContext<'_>, now: Now) -> Option<Duration> {
        let mut slots = self.followed_slots(known.settings()).into_iter();
        let is_lacking = known.silence.is_some() && slots.any(compose::needs_feeds);
        (is_lacking && now.uptime < NO_DATA_AFTER).then_some(NO_DATA_AFTER)
    }
}

/// The slots that a layout shows: those of a board, or the current one.
fn slots_of(
    form: LayoutForm,
    layer: Option<&LayerContent>,
    slot: RotationSlot,
    settings: &Settings,
) -> Vec<RotationSlot> {
    match (form, layer) {
        (LayoutForm::Board, None) => settings.board(),
        // It takes the largest tile.
        (LayoutForm::Board, Some(layer)) if layer.is_passing() => {
            settings.board().into_iter().skip(1).collect()
        }
        (LayoutForm::Board | LayoutForm::Figure | LayoutForm::Cells, Some(_)) => Vec::new(),
        (LayoutForm::Figure | LayoutForm::Cells, None) => Vec::from([slot]),
    }
}

/// The slots of a slow panel. The values of their screens last until the next block.
fn slow_slots(settings: &Settings) -> Vec<RotationSlot> {
    let mut slots = match settings.panel_layout().form() {
        LayoutForm::Board => settings.board(),
        LayoutForm::Figure | LayoutForm::Cells => Vec::new(),
    };
    slots.retain(|slot| {
        let depends_on = catalog::dependencies([slot.screen].into_iter());
        !depends_on.contains(&Dependency::Time) && !depends_on.contains(&Dependency::Price)
    });
    if slots.is_empty() {
        slots.push(RotationSlot::plain(BLOCK_HEIGHT));
    }
    slots
}
