//! `screens`: which screens the rotation shows, and in what order.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use serde_json::{Map, Value, json};

use super::{
    super::{Settings, number, reject::Rejection},
    Catalogue, CheckContext, Composite, SettingKind, entries, list,
};
use crate::screens::catalog::{self, SCREENS, Screen};

/// `screens`: visibility and order.
#[derive(Debug)]
pub struct Screens;

impl SettingKind for Screens {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        list(name, value)
    }

    fn check(&self, _: &str, value: &Value, context: &CheckContext<'_>) -> Result<(), Rejection> {
        let entries = entries(value);
        let ordered = entries.iter().filter(|entry| has_order(entry)).count();
        if ordered != 0 && ordered != entries.len() {
            return Err(Rejection::ScreensPartialOrder);
        }
        let mut ids = Vec::new();
        let mut orders = Vec::new();
        for entry in entries {
            let id = check_id(entry, &ids)?;
            ids.push(id);
            if ordered != 0 {
                let order = check_order(entry, entries.len(), &orders)?;
                orders.push(order);
            }
        }
        let lists = |screens: &[u16]| screens.iter().all(|id| ids.contains(id));
        // A client that switches a feature sends the list that it read before.
        let complete =
            lists(&context.available.screens) || lists(&context.settings.available_screens());
        if ordered != 0 && !complete {
            return Err(Rejection::ScreensIncomplete);
        }
        Ok(())
    }

    fn composite(&self) -> Option<&dyn Composite> {
        Some(self)
    }

    fn schema(&self) -> Value {
        let ids: Vec<u16> = SCREENS.iter().map(|screen| screen.id).collect();
        json!({
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": { "type": "integer", "enum": ids },
                    "name": { "type": "string" },
                    "enabled": { "type": "boolean" },
                    "order": { "type": "integer", "minimum": 0 },
                },
                "required": ["id"],
            },
        })
    }

    fn control(&self) -> Value {
        let name = |screen: &Screen| (screen.id.to_string(), screen.name.into());
        let names: Map<String, Value> = SCREENS.iter().map(name).collect();
        json!({ "control": "screens", "names": names })
    }

    fn words(&self) -> String {
        "a list of `{id, name, enabled, order}`".into()
    }
}

impl Composite for Screens {
    fn apply(&self, value: &Value, settings: &mut Settings, _: &Catalogue) {
        let entries = entries(value);
        for entry in entries {
            let (Some(id), Some(enabled)) = (
                known_id(entry),
                entry.get("enabled").and_then(Value::as_bool),
            ) else {
                continue;
            };
            settings.screens_hidden.retain(|hidden| *hidden != id);
            if !enabled {
                settings.screens_hidden.push(id);
            }
        }
        settings.screens_hidden.sort_unstable();

        let mut listed: Vec<(i64, u16)> = entries
            .iter()
            .filter_map(|entry| Some((number::integral(entry.get("order")?)?, known_id(entry)?)))
            .collect();
        listed.sort_unstable();
        let listed: Vec<u16> = listed.into_iter().map(|(_, id)| id).collect();
        settings.screen_order = merged(settings, &listed);
    }

    fn emit(
        &self,
        name: &'static str,
        context: &CheckContext<'_>,
        document: &mut Map<String, Value>,
    ) {
        let settings = context.settings;
        let screens = settings.rotation_order().into_iter();
        let list: Vec<Value> = screens
            .filter(|id| settings.is_screen_available(*id))
            .filter_map(catalog::find)
            .enumerate()
            .map(|(order, screen)| {
                let enabled = settings.is_screen_enabled(screen.id);
                json!({ "id": screen.id, "name": screen.name, "enabled": enabled, "order": order })
            })
            .collect();
        document.insert(name.into(), list.into());
    }
}

/// The stored order after a new order of the listed screens; screens not listed keep their places.
///
/// The default order is stored too if it was sent: sending it is a choice.
fn merged(settings: &Settings, listed: &[u16]) -> Vec<u16> {
    if listed.is_empty() {
        return settings.screen_order.clone();
    }
    let effective = settings.rotation_order();
    let known = settings.screen_order.len();
    let places: Vec<u16> = effective
        .into_iter()
        .enumerate()
        .filter(|(place, id)| *place < known || listed.contains(id))
        .map(|(_, id)| id)
        .collect();
    let mut next = listed.iter().copied();
    places
        .into_iter()
        .filter_map(
            |id| {
                if listed.contains(&id) { next.next() } else { Some(id) }
            },
        )
        .collect()
}

fn check_id(entry: &Value, before: &[u16]) -> Result<u16, Rejection> {
    let id = entry.get("id").filter(|id| id.is_number());
    let switch_is_bool = entry.get("enabled").is_none_or(Value::is_boolean);
    let order_is_number = entry.get("order").is_none_or(Value::is_number);
    if id.is_none() || !switch_is_bool || !order_is_number {
        return Err(Rejection::ScreensBadEntry);
    }
    let id = known_id(entry).ok_or(Rejection::ScreensUnknownId)?;
    if before.contains(&id) { Err(Rejection::ScreensDupId) } else { Ok(id) }
}

fn check_order(entry: &Value, entries: usize, before: &[usize]) -> Result<usize, Rejection> {
    let order = entry
        .get("order")
        .and_then(number::integral)
        .and_then(|order| usize::try_from(order).ok());
    let order = order
        .filter(|order| *order < entries)
        .ok_or(Rejection::ScreensOrderRange)?;
    if before.contains(&order) {
        Err(Rejection::ScreensDupOrder)
    } else {
        Ok(order)
    }
}

fn known_id(entry: &Value) -> Option<u16> {
    let id = number::integral(entry.get("id")?)?.try_into().ok()?;
    catalog::find(id).map(|screen| screen.id)
}

fn has_order(entry: &Value) -> bool {
    entry.get("order").is_some_and(Value::is_number)
}
