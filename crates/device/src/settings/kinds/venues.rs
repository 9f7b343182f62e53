//! A list of venues.

use alloc::{string::String, vec::Vec};
use serde_json::{Value, json};

use super::{super::reject::Rejection, CheckContext, SettingKind, texts};
use market::{
    venues,
    venues::{VENUES, VenueSpec},
};

/// A list of venues by the names of their sources, without duplicates.
#[derive(Debug)]
pub struct Venues;

impl SettingKind for Venues {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        texts::shape(name, value)
    }

    fn check(&self, name: &str, value: &Value, _: &CheckContext<'_>) -> Result<(), Rejection> {
        if texts::entries(value).all(|text| venues::named(text).is_some()) {
            Ok(())
        } else {
            Err(Rejection::Unknown(name.into()))
        }
    }

    fn normal(&self, value: &Value) -> Value {
        let mut chosen: Vec<&str> = Vec::new();
        for name in texts::entries(value) {
            if !chosen.contains(&name) {
                chosen.push(name);
            }
        }
        chosen.into()
    }

    fn schema(&self) -> Value {
        let names: Vec<&str> = VENUES.iter().map(|venue| venue.source.name()).collect();
        json!({ "type": "array", "items": { "enum": names } })
    }

    fn control(&self) -> Value {
        let option =
            |venue: &VenueSpec| json!({ "value": venue.source.name(), "label": venue.name });
        let options: Vec<Value> = VENUES.iter().map(option).collect();
        json!({ "control": "several", "options": options })
    }

    fn words(&self) -> String {
        "a list of venues".into()
    }
}
