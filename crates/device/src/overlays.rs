//! What can be on the glass, and what covers the rotation for a while: the order of the layers is their priority.
//!
//! No saved mode: taking a layer away shows what is below it.

use alloc::{collections::BTreeMap, vec::Vec};
use core::time::Duration;

use crate::{
    cells::Cell,
    market::{Payment, Zap},
    settings::Settings,
};

/// What can be on the glass, from the bottom to the top: the highest that is there is visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The screens in turn; always there.
    Rotation,
    /// The first moments after a start, before there is data.
    Splash,
    /// Why the device runs without its sources.
    SafeMode,
    /// The password of a clock that is locked without one.
    SignIn,
    /// The owner's text.
    Custom,
    /// A zap or a payment.
    Notice,
    /// The debug view.
    Debug,
    /// The progress of an update.
    Update,
    /// The access point's instructions.
    Portal,
    /// The words while everything is wiped.
    Erasing,
}

impl Layer {
    /// All layers, the highest first.
    pub const FROM_THE_TOP: [Layer; 10] = [
        Layer::Erasing,
        Layer::Portal,
        Layer::Update,
        Layer::Debug,
        Layer::Notice,
        Layer::Custom,
        Layer::SignIn,
        Layer::SafeMode,
        Layer::Splash,
        Layer::Rotation,
    ];
}

/// What a layer shows that is there for a while.
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
    /// What is on a layer, with its serial number; none if nothing is.
    pub fn on(&self, layer: Layer) -> Option<(&Overlay, u64)> {
        let (overlay, serial) = self.layers.get(&layer)?;
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

#[cfg(test)]
mod tests {
    use super::Layer;

    #[test]
    fn the_layers_are_listed_from_the_top() {
        let layers = Layer::FROM_THE_TOP;
        assert!(layers.windows(2).all(|pair| pair[0] > pair[1]));
        assert_eq!(layers.last(), Some(&Layer::Rotation));
    }
}
