//! `timePerScreen`: the period of the rotation in minutes, which GET shows as `timerSeconds`.

use alloc::string::String;
use serde_json::{Map, Value, json};

use super::{
    super::{Key, Settings, reject::Rejection},
    Catalogue, CheckContext, Composite, SettingKind,
};
use crate::limits::TIMER_SECONDS_MAX;

/// `timePerScreen`: the period of the rotation in minutes.
#[derive(Debug)]
pub struct TimePerScreen;

impl SettingKind for TimePerScreen {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        match value.as_f64() {
            None => Err(Rejection::BadType(name.into())),
            Some(minutes) if !(0.0..f64::MAX).contains(&minutes) => {
                Err(Rejection::Range(name.into()))
            }
            Some(_) => Ok(()),
        }
    }

    fn composite(&self) -> Option<&dyn Composite> {
        Some(self)
    }

    fn schema(&self) -> Value {
        json!({ "type": "number", "minimum": 0, "writeOnly": true })
    }

    fn control(&self) -> Value {
        json!({ "control": "minutes", "min": 0, "max": TIMER_SECONDS_MAX / 60, "readAs": Key::timer_seconds.name() })
    }

    fn words(&self) -> String {
        "minutes, 0 or more".into()
    }
}

impl Composite for TimePerScreen {
    fn apply(&self, value: &Value, settings: &mut Settings, _: &Catalogue) {
        settings.timer_seconds = value.as_f64().map_or(settings.timer_seconds, seconds);
    }

    fn emit(&self, _: &'static str, _: &CheckContext<'_>, _: &mut Map<String, Value>) {}
}

/// Whole seconds in a number of minutes, at most an hour.
///
/// Clients divide seconds by 60 and send the nearest binary fraction, which may be slightly too small. Rounding to
/// millionths of a second before truncating restores their seconds.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates"
)]
fn seconds(minutes: f64) -> u32 {
    let micros = (minutes * 60e6 + 0.5) as u64;
    u32::try_from(micros / 1_000_000)
        .map_or(TIMER_SECONDS_MAX, |seconds| seconds.min(TIMER_SECONDS_MAX))
}
