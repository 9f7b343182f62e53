//! Layers over the rotation, in the order of their priority.
//!
//! There is no saved mode: removing a layer shows what is below it.

use alloc::{collections::BTreeMap, string::String, vec::Vec};
use core::time::Duration;

use crate::{
    cells::Cell,
    secret::{GeneratedPassword, Secret},
    settings::Settings,
};
use market::{Payment, Zap};

/// What can cover the rotation, lowest first; the highest present layer is visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// Shown after a start until there is data.
    Splash,
    /// Why the device runs without its sources.
    SafeMode,
    /// The generated password of a protected clock.
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
    /// Shown during a factory reset.
    Erasing,
}

/// What a layer shows.
#[derive(Debug, Clone, PartialEq)]
pub enum LayerContent {
    /// The start screen.
    Splash,
    /// Why the device runs without its sources, as a text for people.
    SafeMode(String),
    /// The password to sign in with.
    SignIn(GeneratedPassword),
    /// The owner's text; the panels show its beginning.
    Custom(Vec<Cell>),
    /// A zap.
    Zap(Zap),
    /// A payment.
    Payment(Payment),
    /// The debug view.
    Debug,
    /// The progress of an update, percent.
    Update(u8),
    /// How to connect the clock to a network.
    Portal(Directions),
    /// A factory reset.
    Erasing,
}

/// How to connect the clock to a network: name and password of its access point.
#[derive(Debug, Clone, PartialEq)]
pub struct Directions {
    /// Name of the access point.
    pub ssid: String,
    /// Its password; empty for an open one.
    pub password: Secret,
    /// Host name the clock will have.
    pub hostname: String,
    /// Address of the portal.
    pub address: String,
}

impl LayerContent {
    /// The layer this belongs to.
    pub fn layer(&self) -> Layer {
        match self {
            LayerContent::Splash => Layer::Splash,
            LayerContent::SafeMode(_) => Layer::SafeMode,
            LayerContent::SignIn(_) => Layer::SignIn,
            LayerContent::Custom(_) => Layer::Custom,
            LayerContent::Zap(_) | LayerContent::Payment(_) => Layer::Notice,
            LayerContent::Debug => Layer::Debug,
            LayerContent::Update(_) => Layer::Update,
            LayerContent::Portal(_) => Layer::Portal,
            LayerContent::Erasing => Layer::Erasing,
        }
    }

    /// Returns whether it is about a moment, so that it leaves the other screens of a board in sight.
    pub fn is_passing(&self) -> bool {
        match self {
            LayerContent::Custom(_) | LayerContent::Zap(_) | LayerContent::Payment(_) => true,
            LayerContent::Splash
            | LayerContent::SafeMode(_)
            | LayerContent::SignIn(_)
            | LayerContent::Debug
            | LayerContent::Update(_)
            | LayerContent::Portal(_)
            | LayerContent::Erasing => false,
        }
    }

    /// Returns whether it shows a password; pictures of it are not for clients.
    pub fn shows_password(&self) -> bool {
        matches!(self, LayerContent::SignIn(_) | LayerContent::Portal(_))
    }

    /// Word for it in the status.
    pub fn word(&self) -> &'static str {
        match self {
            LayerContent::Splash => "splash",
            LayerContent::SafeMode(_) => "safe-mode",
            LayerContent::SignIn(_) => "sign-in",
            LayerContent::Custom(_) => "custom",
            LayerContent::Zap(_) => "zap",
            LayerContent::Payment(_) => "payment",
            LayerContent::Debug => "debug",
            LayerContent::Update(_) => "update",
            LayerContent::Portal(_) => "portal",
            LayerContent::Erasing => "erasing",
        }
    }
}

/// The present layers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Layers {
    /// Each with a serial number, so that a second text counts as a change of screen.
    there: BTreeMap<Layer, (LayerContent, u64)>,
    /// Serial number of the newest.
    serial: u64,
    notice_since: Option<Duration>,
}

impl Layers {
    /// The highest layer with its serial number. `None` if the rotation is visible.
    pub fn top(&self) -> Option<(&LayerContent, u64)> {
        let (_, (content, serial)) = self.there.last_key_value()?;
        Some((content, *serial))
    }

    /// Content of a layer. `None` if it is not present.
    pub fn on(&self, layer: Layer) -> Option<&LayerContent> {
        self.there.get(&layer).map(|(content, _)| content)
    }

    /// Returns whether a layer is present.
    pub fn has(&self, layer: Layer) -> bool {
        self.there.contains_key(&layer)
    }

    /// Returns whether any of these layers is present.
    pub fn has_any(&self, layers: &[Layer]) -> bool {
        layers.iter().any(|layer| self.has(*layer))
    }

    /// Shows a layer in place of its current content; counts as a change of screen.
    pub fn show(&mut self, content: LayerContent, uptime: Duration) {
        let layer = content.layer();
        if layer == Layer::Notice {
            self.notice_since = Some(uptime);
        }
        if layer == Layer::Custom {
            self.hide(Layer::Notice);
        }
        self.serial += 1;
        self.there.insert(layer, (content, self.serial));
    }

    /// Shows a layer; counts as a change of screen only if it was not present.
    pub fn keep(&mut self, content: LayerContent, uptime: Duration) {
        match self.there.get_mut(&content.layer()) {
            Some((shown, _)) => *shown = content,
            None => self.show(content, uptime),
        }
    }

    /// Removes a layer; returns whether it was present.
    pub fn hide(&mut self, layer: Layer) -> bool {
        if layer == Layer::Notice {
            self.notice_since = None;
        }
        self.there.remove(&layer).is_some()
    }

    /// Removes the layers with a password.
    pub fn hide_passwords(&mut self) {
        self.there
            .retain(|_, (content, _)| !content.shows_password());
    }

    /// Removes the layers that navigation ends; returns whether there were any.
    pub fn dismiss(&mut self) -> bool {
        let notice = self.hide(Layer::Notice);
        let custom = self.hide(Layer::Custom);
        notice || custom
    }

    /// Uptime at which the notice ends. `None` if it stays.
    pub fn notice_deadline(&self, settings: &Settings) -> Option<Duration> {
        let stays =
            matches!(self.on(Layer::Notice)?, LayerContent::Zap(_)) && !settings.scrn_restore_zap;
        let since = self.notice_since.filter(|_| !stays)?;
        Some(since + Duration::from_secs(u64::from(settings.overlay_seconds)))
    }
}
