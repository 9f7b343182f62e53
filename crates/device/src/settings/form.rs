//! The data that the web page draws its settings form from.

use alloc::{string::String, vec::Vec};
use serde_json::{Map, Value, json};

use super::{
    Key, SPECS, Settings, VIRTUAL,
    composite::{Composite, texts::ENTRIES_MAX, tx_power},
    pools::POOLS,
    rules,
    spec::{Access, Apply, Condition, Group, Kind, Spec},
    table::TEXT_MAX,
};

/// The data behind the form of the web page: groups of fields, each with its control.
pub fn fields() -> Value {
    let groups: Vec<Value> = Group::ALL
        .iter()
        .map(|group| {
            let written = |access| matches!(access, Access::ReadWrite | Access::WriteOnly);
            let rows = SPECS
                .iter()
                .filter(|spec| spec.group == *group && written(spec.access))
                .filter(|spec| !spec.title.is_empty())
                .map(field);
            let virtual_rows = VIRTUAL.iter().filter(|row| row.group == *group).map(|row| {
                let mut field = worded(row.name, row.title, row.help, row.unit);
                field.extend(composite_control(row.composite));
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

fn field(spec: &Spec) -> Value {
    let mut field = worded(spec.name, spec.title, spec.help, spec.unit);
    field.extend(control(&spec.kind));
    match spec.access {
        Access::WriteOnly => {}
        Access::ReadWrite | Access::ReadOnly | Access::Internal => {
            field.insert("default".into(), Settings::default().get(spec.key));
        }
    }
    if spec.key == Key::tx_power {
        field.insert("default".into(), tx_power::CLEAR.into());
    }
    field.insert("reboot".into(), (spec.apply == Apply::Reboot).into());
    field.insert("secret".into(), (spec.access == Access::WriteOnly).into());
    if spec.key == Key::mining_pool_user {
        let pools = POOLS
            .iter()
            .filter(|pool| pool.secret_user)
            .map(|pool| pool.id);
        field.insert("secretForPools".into(), pools.collect::<Vec<_>>().into());
    }
    if !spec.needs.is_empty() {
        field.insert("needs".into(), spec.needs.iter().map(needed).collect());
    }
    if let Some(alias) = spec.alias {
        field.insert("alias".into(), alias.into());
    }
    Value::Object(field)
}

fn needed(condition: &Condition) -> Value {
    let (key, values) = condition.terms();
    json!({ "key": key, "in": values })
}

fn worded(name: &str, title: &str, help: &str, unit: &str) -> Map<String, Value> {
    let mut field = Map::new();
    for (member, text) in [
        ("key", name),
        ("label", title),
        ("unit", unit),
        ("help", help),
    ] {
        if !text.is_empty() {
            field.insert(member.into(), text.into());
        }
    }
    field
}

fn control(kind: &Kind) -> Map<String, Value> {
    let bounds = rules::bounds(kind).unwrap_or_default();
    object(match kind {
        Kind::Bool => json!({ "control": "switch" }),
        Kind::Uint(_) => json!({ "control": "number", "min": bounds.0, "max": bounds.1 }),
        Kind::Numbered(names) => {
            let options = names.iter().enumerate();
            let options: Vec<Value> = options
                .map(|(value, label)| json!({ "value": value, "label": label }))
                .collect();
            json!({ "control": "select", "options": options })
        }
        Kind::Rgb => json!({ "control": "color" }),
        Kind::Text(cap) | Kind::UserName(cap) | Kind::Host(cap) => {
            json!({ "control": "text", "maxBytes": cap })
        }
        Kind::Password(cap) => json!({ "control": "password", "maxBytes": cap }),
        Kind::Choice(choices) => json!({ "control": "choice", "choices": choices.listed_as() }),
        Kind::HexKey(_) => json!({ "control": "key", "maxBytes": 64 }),
        Kind::RelayUrl => {
            json!({ "control": "url", "schemes": ["wss", "ws"], "maxBytes": TEXT_MAX })
        }
        Kind::HttpUrl | Kind::BaseUrl => {
            json!({ "control": "url", "schemes": ["https", "http"], "maxBytes": TEXT_MAX })
        }
        Kind::Zone => json!({ "control": "zone" }),
        Kind::Screens => return composite_control(Composite::Screens),
        Kind::Composite(composite) => return composite_control(*composite),
    })
}

fn composite_control(composite: Composite) -> Map<String, Value> {
    object(match composite {
        Composite::Screens => json!({ "control": "screens" }),
        Composite::Dnd => json!({ "control": "dnd" }),
        Composite::TimePerScreen => {
            json!({ "control": "minutes", "min": 0, "max": 60, "readAs": "timerSeconds" })
        }
        Composite::InvertedColor => json!({ "control": "switch" }),
        Composite::TxPower => {
            json!({ "control": "txPower", "min": tx_power::MIN, "max": tx_power::MAX, "none": tx_power::CLEAR })
        }
        Composite::Currencies => {
            json!({ "control": "currencies", "choices": "availableCurrencies" })
        }
        Composite::Relays => {
            json!({ "control": "urls", "schemes": ["wss", "ws"], "max": ENTRIES_MAX, "maxBytes": TEXT_MAX })
        }
        Composite::ZapKeys => {
            json!({ "control": "keys", "max": ENTRIES_MAX, "maxBytes": 64 })
        }
    })
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}
