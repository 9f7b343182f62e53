//! Tables for the web page.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use serde_json::{Map, Value, json};

use super::{
    SPECS, Settings, VIRTUAL,
    kinds::SettingKind,
    spec::{Access, Apply, SettingCondition, SettingGroup, Spec},
};
use crate::screens::catalog::{SCREENS, Screen};

/// The form of the web page: groups of fields, each with its control.
pub fn fields() -> Value {
    let groups: Vec<Value> = SettingGroup::ALL
        .iter()
        .map(|group| {
            let written = |access| matches!(access, Access::ReadWrite | Access::WriteOnly);
            let rows = SPECS
                .iter()
                .filter(|spec| spec.group == *group && written(spec.access))
                .filter(|spec| !spec.title.is_empty())
                .map(field);
            let virtual_rows = VIRTUAL.iter().filter(|row| row.group == *group).map(|row| {
                let mut field = worded(row.name, row.title, row.help, row.unit, row.search);
                field.extend(control(row.kind));
                field.insert("reboot".into(), false.into());
                field.insert("secret".into(), false.into());
                Value::Object(field)
            });
            let fields: Vec<Value> = virtual_rows.chain(rows).collect();
            json!({ "id": group.id(), "heading": group.heading(), "fields": fields })
        })
        .collect();
    Value::Array(groups)
}

/// The values that each screen shows, by the id of the screen.
pub fn screen_values() -> Value {
    let values = |screen: &Screen| screen.depends_on.iter().map(|value| value.id()).collect();
    let screens = SCREENS.iter();
    Value::Object(
        screens
            .map(|screen| (screen.id.to_string(), values(screen)))
            .collect(),
    )
}

fn field(spec: &Spec) -> Value {
    let mut field = worded(spec.name, spec.title, spec.help, spec.unit, spec.search);
    field.extend(control(spec.kind));
    match spec.access {
        Access::WriteOnly => {}
        Access::ReadWrite | Access::ReadOnly | Access::Internal => {
            let default = Settings::default().get(spec.key);
            field.insert("default".into(), spec.kind.shown(&default));
        }
    }
    field.insert("reboot".into(), (spec.apply == Apply::Reboot).into());
    field.insert("secret".into(), (spec.access == Access::WriteOnly).into());
    if !spec.needs.is_empty() {
        field.insert("needs".into(), spec.needs.iter().map(needed).collect());
    }
    if let Some(alias) = spec.alias {
        field.insert("alias".into(), alias.into());
    }
    if spec.is_rare {
        field.insert("more".into(), true.into());
    }
    Value::Object(field)
}

fn needed(condition: &SettingCondition) -> Value {
    let (key, values) = condition.terms();
    json!({ "key": key, "in": values })
}

fn worded(name: &str, title: &str, help: &str, unit: &str, search: &str) -> Map<String, Value> {
    let mut field = Map::new();
    for (member, text) in [
        ("key", name),
        ("label", title),
        ("unit", unit),
        ("help", help),
        ("search", search),
    ] {
        if !text.is_empty() {
            field.insert(member.into(), text.into());
        }
    }
    field
}

fn control(kind: &dyn SettingKind) -> Map<String, Value> {
    match kind.control() {
        Value::Object(members) => members,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}
