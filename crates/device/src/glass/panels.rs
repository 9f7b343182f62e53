//! Makes pictures for the panels from compositions, as far as the refresh policy allows.

use alloc::vec::Vec;
use core::time::Duration;

use super::{
    refresh::{Refresh, RefreshCause, RefreshPolicy},
    rotation::RotationSlot,
};
use crate::{
    cells::{self, Cell, Marks, Picture, Style},
    settings::Settings,
    spoken::{self, Sentence},
    tile::Tile,
};

/// What is visible; a difference is a change of screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visible {
    /// Nothing was composed yet.
    Nothing,
    /// A screen of the rotation.
    Slot(RotationSlot),
    /// The board.
    Board,
    /// A layer, by its serial number.
    Layer(u64),
}

/// New content of the panels, before the refresh policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Composition {
    /// What is visible.
    pub visible: Visible,
    /// One cell per panel.
    pub cells: Vec<Cell>,
    /// What one panel shows in place of the cells.
    pub tiles: Vec<Tile>,
    /// The cells as a sentence.
    pub sentence: Sentence,
    /// Marks of the values in it.
    pub marks: Marks,
    /// It contains a password.
    pub shows_password: bool,
}

/// The newest picture and its state.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelPictures {
    picture: Picture,
    sentence: Sentence,
    /// Current marks of the values; the mark in the picture may be a worse one.
    marks: Marks,
    visible: Visible,
    policy: RefreshPolicy,
}

impl PanelPictures {
    /// Blank panels that were never painted.
    pub fn new(panels: usize, settings: &Settings) -> PanelPictures {
        PanelPictures {
            picture: Picture::new(cells::blank(panels), style(settings)),
            sentence: spoken::EMPTY_PANELS.into(),
            marks: Marks::default(),
            visible: Visible::Nothing,
            policy: RefreshPolicy::default(),
        }
    }

    /// The newest picture.
    pub fn picture(&self) -> &Picture {
        &self.picture
    }

    /// The newest picture as a sentence.
    pub fn sentence(&self) -> &Sentence {
        &self.sentence
    }

    /// Replaces a picture with a password by one that shows nothing.
    pub fn hide_password(&mut self) {
        if self.picture.shows_password {
            let panels = self.picture.cells.len();
            self.picture.cells = cells::blank(panels);
            self.picture.tiles = Vec::new();
            self.picture.shows_password = false;
            self.visible = Visible::Nothing;
        }
    }

    /// Requests a repaint of all panels, changed or not.
    pub fn repaint(&mut self) {
        self.picture.repaints += 1;
        self.picture.serial += 1;
    }

    /// Requests a cleaning of all panels; the next picture comes after it.
    pub fn clean(&mut self) {
        self.picture.cleanings += 1;
    }

    /// What is visible.
    pub fn visible(&self) -> Visible {
        self.visible
    }

    /// Current marks of the values on the panels.
    pub fn marks(&self) -> Marks {
        self.marks
    }

    /// Records the current marks; a better mark is painted with the next picture.
    pub fn set_marks(&mut self, marks: Marks) {
        self.marks = marks;
    }

    /// Returns whether a composition changes more than the mark.
    pub fn differs(&self, composition: &Composition) -> bool {
        self.visible != composition.visible
            || self.picture.cells != composition.cells
            || self.picture.tiles != composition.tiles
    }

    /// Returns whether a composition has a worse mark than the picture.
    pub fn is_worse(&self, composition: &Composition) -> bool {
        composition.marks.worst() > self.picture.mark
    }

    /// Uptime at which a mandatory full refresh comes by itself.
    pub fn refresh_deadline(&self, settings: &Settings) -> Option<Duration> {
        self.policy.next_deadline(settings)
    }

    /// Makes a composition the newest picture.
    pub fn present(
        &mut self,
        composition: Composition,
        cause: RefreshCause,
        settings: &Settings,
        uptime: Duration,
    ) {
        let style = style(settings);
        let cause = cause
            .max(self.cause_of_visible(composition.visible))
            .max(cause_of_style(&self.picture.style, &style));
        match (self.policy.decide(cause, settings, uptime), cause) {
            (Refresh::Full, _) => self.picture.full_refreshes += 1,
            (Refresh::Partial, RefreshCause::Change | RefreshCause::Forced) => {
                self.picture.repaints += 1
            }
            (Refresh::Partial, RefreshCause::Data) => {}
        }
        self.picture.serial += 1;
        self.visible = composition.visible;
        self.picture.cells = composition.cells;
        self.picture.tiles = composition.tiles;
        self.sentence = composition.sentence;
        self.picture.mark = composition.marks.worst();
        self.picture.shows_password = composition.shows_password;
        self.marks = composition.marks;
        self.picture.style = style;
    }

    fn cause_of_visible(&self, visible: Visible) -> RefreshCause {
        if self.visible == Visible::Nothing {
            RefreshCause::Forced
        } else if self.visible == visible {
            RefreshCause::Data
        } else {
            RefreshCause::Change
        }
    }
}

/// How cells are drawn under these settings.
pub fn style(settings: &Settings) -> Style {
    Style {
        font: settings.font(),
        digit_px: settings.digit_font_px,
        label_fit_pct: settings.label_fit_pct,
        vertical_labels: settings.vertical_desc,
        inverted: settings.inverted_color,
        sats_variant: u8::try_from(settings.sats_variant).unwrap_or(u8::MAX),
    }
}

/// The kind of repaint after a change of style; some changes leave ghosts.
fn cause_of_style(before: &Style, after: &Style) -> RefreshCause {
    let ghosts = before.inverted != after.inverted
        || before.font != after.font
        || before.sats_variant != after.sats_variant;
    if ghosts { RefreshCause::Forced } else { RefreshCause::Data }
}
