//! Text that is one of the ids of a catalogue.

use alloc::{format, string::String, vec::Vec};
use serde_json::{Value, json};

use super::{
    super::{fonts, pools, reject::Rejection},
    CheckContext, SettingKind, text,
};
use crate::limits::TEXT_MAX;

/// One of the ids of a catalogue.
#[derive(Debug)]
pub struct ChoiceKind {
    ids: fn() -> Vec<&'static str>,
    /// Key of the GET document that lists the ids.
    pub(in super::super) listed_as: &'static str,
    /// Names of the ids, in their order. `None` to show the ids.
    names: Option<fn() -> Vec<&'static str>>,
    dropped: Dropped,
}

/// Handling of a stored id that is no longer in the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dropped {
    /// It is replaced by the default.
    Replaced,
    /// It is kept; the screens show that it is offline.
    Kept,
}

/// The fonts.
pub const FONT: ChoiceKind = ChoiceKind {
    ids: fonts::ids,
    listed_as: "availableFonts",
    names: None,
    dropped: Dropped::Replaced,
};

/// The mining pools; screens of a dropped one show that it is offline.
pub const POOL: ChoiceKind = ChoiceKind {
    ids: pools::ids,
    listed_as: "availablePools",
    names: Some(pools::names),
    dropped: Dropped::Kept,
};

impl SettingKind for ChoiceKind {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        text::text(name, value, TEXT_MAX)
    }

    fn check(&self, name: &str, value: &Value, _: &CheckContext<'_>) -> Result<(), Rejection> {
        if (self.ids)().contains(&value.as_str().unwrap_or_default()) {
            Ok(())
        } else {
            Err(Rejection::Unknown(name.into()))
        }
    }

    fn restored(&self, value: &Value) -> Option<Value> {
        let usable = match self.dropped {
            Dropped::Replaced => super::passed(self, value),
            Dropped::Kept => self.shape("", value).is_ok(),
        };
        usable.then(|| value.clone())
    }

    fn is_text(&self) -> bool {
        true
    }

    fn catalogue(&self) -> Option<Vec<&'static str>> {
        Some((self.ids)())
    }

    fn schema(&self) -> Value {
        json!({ "type": "string", "enum": (self.ids)() })
    }

    fn shown_schema(&self) -> Value {
        match self.dropped {
            Dropped::Replaced => self.schema(),
            Dropped::Kept => json!({ "type": "string" }),
        }
    }

    fn control(&self) -> Value {
        let mut control = json!({ "control": "choice", "choices": self.listed_as });
        if let Some(names) = self.names {
            let named = (self.ids)().into_iter().zip(names());
            control["names"] = named.map(|(id, name)| (String::from(id), name)).collect();
        }
        control
    }

    fn words(&self) -> String {
        format!("one of `{}`", self.listed_as)
    }
}
