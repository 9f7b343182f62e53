//! Names of IANA time zones.

use alloc::string::String;
use serde_json::{Value, json};

use super::{super::reject::Rejection, CheckContext, SettingKind, text};
use crate::limits::TEXT_MAX;
use market::now;

/// Name of an IANA time zone.
#[derive(Debug)]
pub struct ZoneName;

impl SettingKind for ZoneName {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        text::text(name, value, TEXT_MAX)
    }

    fn check(&self, name: &str, value: &Value, _: &CheckContext<'_>) -> Result<(), Rejection> {
        match now::Zone::named(value.as_str().unwrap_or_default()) {
            Some(_) => Ok(()),
            None => Err(Rejection::Unknown(name.into())),
        }
    }

    fn is_text(&self) -> bool {
        true
    }

    fn schema(&self) -> Value {
        text::schema(TEXT_MAX, "^[A-Za-z0-9_+/-]+$")
    }

    fn control(&self) -> Value {
        json!({ "control": "zone" })
    }

    fn words(&self) -> String {
        "an IANA zone such as Europe/Amsterdam".into()
    }
}
