//! Keys of the interface whose shape is their own: each has its file with the same few functions.
//!
//! `shape` is the first walk over a body (types and bounds), `check` the second, `apply` writes,
//! `emit` reads.

pub(super) mod currencies;
pub(super) mod dnd;
pub(super) mod inverted_color;
pub(super) mod nwc_uri;
pub(super) mod pool_user;
pub(super) mod relays;
pub(super) mod screens;
pub(super) mod texts;
pub(super) mod time_per_screen;
pub(super) mod tx_power;
pub(super) mod zap_keys;

use alloc::string::String;
use serde_json::{Map, Value};

use super::{
    Settings,
    patch::Catalogue,
    reject::Rejection,
    spec::{Access, Group},
};
use crate::view::View;

/// A key whose shape is its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Composite {
    /// `screens`: visibility and order.
    Screens,
    /// `dnd`: the nested object.
    Dnd,
    /// `timePerScreen`: the period of the rotation in minutes.
    TimePerScreen,
    /// `invertedColor`: the polarity, with the colours that follow it.
    InvertedColor,
    /// `txPower`: a range and one number outside it.
    TxPower,
    /// `actCurrencies`: a list of codes.
    Currencies,
    /// `nostrRelays`: a list of URLs.
    Relays,
    /// `nostrZapPubkeys`: a list of keys.
    ZapKeys,
}

/// A key that is no row of the table: it writes rows that GET also shows under other names.
#[derive(Debug, Clone)]
pub struct Virtual {
    /// Name on the wire.
    pub name: &'static str,
    /// What it is, with its unit.
    pub doc: &'static str,
    /// Its shape.
    pub composite: Composite,
    /// In GET too, or in PATCH alone.
    pub access: Access,
    /// Heading under which people find it.
    pub group: Group,
    /// Its short name in a form.
    pub title: &'static str,
    /// What else a person should know who changes it.
    pub help: &'static str,
    /// Unit of a number; empty if it has none.
    pub unit: &'static str,
}

/// All keys that are no rows.
pub static VIRTUAL: &[Virtual] = &[
    Virtual {
        name: "timePerScreen",
        doc: "Auto-rotate period, min; fractions are allowed, 0 stops the rotation, more than 60 counts as 60.",
        composite: Composite::TimePerScreen,
        access: Access::WriteOnly,
        group: Group::Rotation,
        title: "Time per screen",
        help: "0 stays on one screen. At most an hour.",
        unit: "min",
    },
    Virtual {
        name: "screens",
        doc: "Screens that are available: which of them the rotation shows, and in what order.",
        composite: Composite::Screens,
        access: Access::ReadWrite,
        group: Group::Rotation,
        title: "Screens and their order",
        help: "Drag a screen by its handle, or move it with the arrow keys. Screens that are off can still be shown by hand.",
        unit: "",
    },
    Virtual {
        name: "dnd",
        doc: "Do Not Disturb by hand and by schedule; the four times of the schedule are written together or not at all.",
        composite: Composite::Dnd,
        access: Access::ReadWrite,
        group: Group::Quiet,
        title: "Quiet hours every day",
        help: "The LEDs stay dark in this time; it may go across midnight. Local time of the clock.",
        unit: "",
    },
];

/// What the checks of a composite may look at.
pub(super) struct Context<'a> {
    /// The settings with the plain rows of the body in them.
    pub(super) settings: &'a Settings,
    /// What is known outside the table.
    pub(super) available: &'a Catalogue,
}

impl Composite {
    pub(super) fn shape(self, name: &str, value: &Value) -> Result<(), Rejection> {
        match self {
            Composite::Screens => screens::shape(name, value),
            Composite::Dnd => dnd::shape(name, value),
            Composite::TimePerScreen => time_per_screen::shape(name, value),
            Composite::InvertedColor => inverted_color::shape(name, value),
            Composite::TxPower => tx_power::shape(name, value),
            Composite::Currencies => currencies::shape(name, value),
            Composite::Relays => relays::shape(name, value),
            Composite::ZapKeys => zap_keys::shape(name, value),
        }
    }

    pub(super) fn check(self, value: &Value, context: &Context<'_>) -> Result<(), Rejection> {
        match self {
            Composite::Screens => screens::check(value, context),
            Composite::Dnd => dnd::check(value),
            Composite::Currencies => currencies::check(value),
            Composite::Relays => relays::check(value),
            Composite::ZapKeys => zap_keys::check(value),
            Composite::TimePerScreen | Composite::InvertedColor | Composite::TxPower => Ok(()),
        }
    }

    pub(super) fn apply(self, value: &Value, settings: &mut Settings, available: &Catalogue) {
        match self {
            Composite::Screens => screens::apply(value, settings),
            Composite::Dnd => dnd::apply(value, settings),
            Composite::TimePerScreen => time_per_screen::apply(value, settings),
            Composite::InvertedColor => inverted_color::apply(value, settings),
            Composite::TxPower => tx_power::apply(value, settings),
            Composite::Currencies => currencies::apply(value, settings, available),
            Composite::Relays => relays::apply(value, settings),
            Composite::ZapKeys => zap_keys::apply(value, settings),
        }
    }

    pub(super) fn emit(self, view: &View, document: &mut Map<String, Value>) {
        match self {
            Composite::Screens => screens::emit(view, document),
            Composite::Dnd => dnd::emit(view, document),
            Composite::TimePerScreen => {}
            Composite::InvertedColor => inverted_color::emit(view, document),
            Composite::TxPower => tx_power::emit(view, document),
            Composite::Currencies => currencies::emit(view, document),
            Composite::Relays => relays::emit(view, document),
            Composite::ZapKeys => zap_keys::emit(view, document),
        }
    }

    pub(super) fn schema(self) -> Value {
        match self {
            Composite::Screens => screens::schema(),
            Composite::Dnd => dnd::schema(),
            Composite::TimePerScreen => time_per_screen::schema(),
            Composite::InvertedColor => inverted_color::schema(),
            Composite::TxPower => tx_power::schema(),
            Composite::Currencies => currencies::schema(),
            Composite::Relays => relays::schema(),
            Composite::ZapKeys => zap_keys::schema(),
        }
    }
}
