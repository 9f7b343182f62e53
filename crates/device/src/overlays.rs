//! What covers the rotation for a while: the order of the layers is their priority.
//!
//! No saved mode: taking a layer away shows what is below it.

use alloc::{collections::BTreeMap, vec::Vec};
use core::time::Duration;

use crate::{
    cells::Cell,
    market::{Payment, Zap},
    settings::Settings,
};

/// A layer over the rotation; the highest one is visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The owner's text.
    Custom,
    /// A zap or a payment.
    Notice,
    /// The debug view.
    Debug,
    /// The progress of an update.
    Update,
}

/// What a layer shows.
#[derive(Debug, Clone, PartialEq)]
pub enum Overlay {
    /// The owner's text.
    Custom(Vec<Cell>),
    /// A zap.
    Zap(Zap),
    /// A payment.
    Payment(Payment),
    /// The debug view.
    Debug,
    /// The progress of an update, percent.
    Update(u8),
}

impl Overlay {
    /// The layer this belongs to.
    pub fn layer(&self) -> Layer {
        match self {
            Overlay::Custom(_) => Layer::Custom,
            Overlay::Zap(_) | Overlay::Payment(_) => Layer::Notice,
            Overlay::Debug => Layer::Debug,
            Overlay::Update(_) => Layer::Update,
        }
    }
}

/// The layers that are there.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overlays {
    /// Each with a serial number, so that a second text in a row counts as a change of screen.
    layers: BTreeMap<Layer, (Overlay, u64)>,
    /// Serial number of the newest overlay.
    serial: u64,
    notice_since: Option<Duration>,
}

impl Overlays {
    /// The visible layer and its serial number; none while the rotation is visible.
    pub fn visible(&self) -> Option<(&Overlay, u64)> {
        let (_, (overlay, serial)) = self.layers.last_key_value()?;
        Some((overlay, *serial))
    }

    /// Tells whether a layer is there.
    pub fn has(&self, layer: Layer) -> bool {
        self.layers.contains_key(&layer)
    }

    /// Tells whether any layer is there.
    pub fn any(&self) -> bool {
        !self.layers.is_empty()
    }

    /// Puts an overlay on its layer, in place of what is there.
    pub fn show(&mut self, overlay: Overlay, uptime: Duration) {
        let layer = overlay.layer();
        if layer == Layer::Notice {
            self.notice_since = Some(uptime);
        }
        if layer == Layer::Custom {
            self.hide(Layer::Notice);
        }
        self.serial += 1;
        self.layers.insert(layer, (overlay, self.serial));
    }

    /// Moves the progress of an update on without counting as a change of screen.
    pub fn progress(&mut self, percent: u8) {
        if let Some((Overlay::Update(shown), _)) = self.layers.get_mut(&Layer::Update) {
            *shown = percent;
        }
    }

    /// Takes a layer away; tells whether it was there.
    pub fn hide(&mut self, layer: Layer) -> bool {
        if layer == Layer::Notice {
            self.notice_since = None;
        }
        self.layers.remove(&layer).is_some()
    }

    /// Takes away what navigation ends; tells whether anything was there.
    pub fn dismiss(&mut self) -> bool {
        let notice = self.hide(Layer::Notice);
        let custom = self.hide(Layer::Custom);
        notice || custom
    }

    /// Uptime at which the notice ends by itself; none if it stays.
    pub fn notice_deadline(&self, settings: &Settings) -> Option<Duration> {
        let (notice, _) = self.layers.get(&Layer::Notice)?;
        let stays = match notice {
            Overlay::Zap(_) => !settings.scrn_restore_zap,
            Overlay::Payment(_) => false,
            Overlay::Custom(_) | Overlay::Debug | Overlay::Update(_) => true,
        };
        let since = self.notice_since.filter(|_| !stays)?;
        Some(since + Duration::from_secs(u64::from(settings.overlay_seconds)))
    }
}
