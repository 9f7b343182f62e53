//! `dnd`: Do Not Disturb by hand and by schedule, as one nested object.

use alloc::{format, string::String};
use serde_json::{Map, Value, json};

use super::{
    super::{Settings, number, reject::Rejection},
    Catalogue, CheckContext, Composite, SettingKind,
};

/// `dnd`: the nested object.
#[derive(Debug)]
pub struct Dnd;

impl SettingKind for Dnd {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        let Some(members) = value.as_object() else {
            return Err(Rejection::BadType(name.into()));
        };
        for (member, value) in members {
            let wrong = (switches().any(|switch| switch == member) && !value.is_boolean())
                || (TIMES.iter().any(|(time, _)| time == member) && !value.is_number());
            if wrong {
                return Err(Rejection::BadType(format!("{name}.{member}")));
            }
        }
        Ok(())
    }

    fn check(&self, _: &str, value: &Value, _: &CheckContext<'_>) -> Result<(), Rejection> {
        // Incomplete times are not written and therefore not checked.
        if !TIMES.iter().all(|(member, _)| value.get(member).is_some()) || times(value).is_some() {
            return Ok(());
        }
        Err(Rejection::DndRange)
    }

    fn composite(&self) -> Option<&dyn Composite> {
        Some(self)
    }

    fn schema(&self) -> Value {
        let mut properties = Map::new();
        for member in switches() {
            properties.insert(member.into(), json!({ "type": "boolean" }));
        }
        for (member, max) in TIMES {
            properties.insert(
                member.into(),
                json!({ "type": "integer", "minimum": 0, "maximum": max }),
            );
        }
        json!({ "type": "object", "properties": properties })
    }

    fn control(&self) -> Value {
        json!({ "control": "dnd" })
    }

    fn words(&self) -> String {
        "object".into()
    }
}

impl Composite for Dnd {
    fn apply(&self, value: &Value, settings: &mut Settings, _: &Catalogue) {
        let switch = |member| value.get(member).and_then(Value::as_bool);
        settings.dnd_enabled = switch(BY_HAND).unwrap_or(settings.dnd_enabled);
        // A client that knows one of the two names changes that one and sends the other back unchanged.
        if BY_SCHEDULE
            .into_iter()
            .filter_map(switch)
            .any(|wanted| wanted != settings.dnd_time_enabled)
        {
            settings.dnd_time_enabled = !settings.dnd_time_enabled;
        }
        if let Some([start_hour, start_min, end_hour, end_min]) = times(value) {
            settings.dnd_start_hour = start_hour;
            settings.dnd_start_min = start_min;
            settings.dnd_end_hour = end_hour;
            settings.dnd_end_min = end_min;
        }
    }

    fn emit(
        &self,
        name: &'static str,
        context: &CheckContext<'_>,
        document: &mut Map<String, Value>,
    ) {
        let settings = &context.settings;
        let object = json!({
            "enabled": settings.dnd_enabled,
            "dndTimeEnabled": settings.dnd_time_enabled,
            "startHour": settings.dnd_start_hour,
            "startMinute": settings.dnd_start_min,
            "endHour": settings.dnd_end_hour,
            "endMinute": settings.dnd_end_min,
        });
        document.insert(name.into(), object);
    }
}

/// The times of the schedule: member and maximum.
const TIMES: [(&str, u32); 4] = [
    ("startHour", 23),
    ("startMinute", 59),
    ("endHour", 23),
    ("endMinute", 59),
];

/// The manual switch.
const BY_HAND: &str = "enabled";

/// The schedule switch, and its name in the status of 2025.
const BY_SCHEDULE: [&str; 2] = ["dndTimeEnabled", "timeBasedEnabled"];

fn switches() -> impl Iterator<Item = &'static str> {
    [BY_HAND].into_iter().chain(BY_SCHEDULE)
}

/// The four times, if all are present and in range.
fn times(value: &Value) -> Option<[u32; 4]> {
    let mut read = [0; 4];
    for (slot, (member, max)) in read.iter_mut().zip(TIMES) {
        *slot = number::bounded(value.get(member)?, 0, max)?
            .try_into()
            .ok()?;
    }
    Some(read)
}
