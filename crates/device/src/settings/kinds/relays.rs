//! A list of relays; GET hides their passwords.

use alloc::{string::String, vec::Vec};
use serde_json::{Value, json};

use super::{super::reject::Rejection, CheckContext, SettingKind, address::Schemes, texts};
use crate::secret::Endpoint;

/// A list of web socket URLs, without duplicates.
#[derive(Debug)]
pub struct Relays;

impl SettingKind for Relays {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        texts::shape(name, value)
    }

    fn check(&self, name: &str, value: &Value, _: &CheckContext<'_>) -> Result<(), Rejection> {
        if texts::entries(value).all(|text| Schemes::Relay.fit(text)) {
            Ok(())
        } else {
            Err(Rejection::BadScheme(name.into()))
        }
    }

    fn normal(&self, value: &Value) -> Value {
        let mut relays: Vec<&str> = Vec::new();
        for relay in texts::entries(value) {
            if !relays.contains(&relay) {
                relays.push(relay);
            }
        }
        relays.into()
    }

    fn open(&self, stored: &Value) -> Value {
        let relays = texts::entries(stored).map(|relay| Endpoint::new(relay).masked());
        relays.collect()
    }

    /// A masked entry gets its password at any position; if several look equal, they match in order.
    fn unmask(&self, sent: &mut Value, stored: &Value) {
        let mut known: Vec<Endpoint> = texts::entries(stored).map(Endpoint::new).collect();
        for entry in sent.as_array_mut().into_iter().flatten() {
            let Some(sent) = entry.as_str().map(Endpoint::new) else {
                continue;
            };
            let same = known
                .iter()
                .position(|stored| stored.masked() == sent.masked());
            let stored = same.map(|place| known.remove(place)).unwrap_or_default();
            *entry = sent.with_password_of(&stored).expose().into();
        }
    }

    fn schema(&self) -> Value {
        json!({ "type": "array", "items": Schemes::Relay.schema() })
    }

    fn control(&self) -> Value {
        let mut control = Schemes::Relay.control();
        control["control"] = "urls".into();
        control["max"] = texts::ENTRIES_MAX.into();
        control
    }

    fn words(&self) -> String {
        "a list of URLs".into()
    }
}
