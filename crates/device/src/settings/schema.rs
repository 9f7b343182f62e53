//! JSON Schemas of the settings document and of a change to it, made from the table.

use alloc::{format, string::String, vec::Vec};
use serde_json::{Map, Value, json};

use super::{
    Key, SPECS, VIRTUAL,
    facts::{FACTS, Fact, Shape},
    rules,
    spec::{Access, Apply, HexCase, Kind, Spec},
    table::TEXT_MAX,
};

/// Schema of the body of a PATCH; keys that it does not name are ignored by the device.
pub fn json_schema() -> Value {
    let mut properties = Map::new();
    for spec in SPECS {
        match spec.access {
            Access::ReadWrite | Access::WriteOnly => {}
            Access::ReadOnly | Access::Internal => continue,
        }
        let mut schema = described(shape(&spec.kind), spec.doc);
        if spec.apply == Apply::Reboot {
            schema.insert("x-reboot".into(), true.into());
        }
        if spec.access == Access::WriteOnly {
            schema.insert("writeOnly".into(), true.into());
        }
        if let Some(alias) = spec.alias {
            let mut twin = schema.clone();
            twin.insert(
                "description".into(),
                format!("Older name of `{}`.", spec.name).into(),
            );
            properties.insert(alias.into(), twin.into());
        }
        properties.insert(spec.name.into(), schema.into());
    }
    for row in VIRTUAL {
        let schema = described(row.composite.schema(), row.doc);
        properties.insert(row.name.into(), schema.into());
    }
    json!({ "type": "object", "properties": properties, "additionalProperties": true })
}

/// Schema of the document of GET.
pub fn document_schema() -> Value {
    let mut properties = Map::new();
    let mut required: Vec<String> = Vec::new();
    for fact in FACTS {
        properties.insert(
            fact.name.into(),
            described(fact_shape(fact), fact.doc).into(),
        );
        if fact.always {
            required.push(fact.name.into());
        }
    }
    for spec in SPECS {
        let (name, schema) = match spec.access {
            Access::ReadWrite | Access::ReadOnly => (
                String::from(spec.name),
                described(read_shape(spec), spec.doc),
            ),
            Access::WriteOnly => {
                let doc = format!("Tells whether `{}` is set.", spec.name);
                (
                    format!("{}Set", spec.name),
                    described(json!({ "type": "boolean" }), &doc),
                )
            }
            Access::Internal => continue,
        };
        if let Some(alias) = spec.alias {
            properties.insert(alias.into(), schema.clone().into());
            required.push(alias.into());
        }
        properties.insert(name.clone(), schema.into());
        if spec.key != Key::mining_pool_user {
            required.push(name);
        }
    }
    for row in VIRTUAL.iter().filter(|row| row.access == Access::ReadWrite) {
        properties.insert(
            row.name.into(),
            described(row.composite.schema(), row.doc).into(),
        );
        required.push(row.name.into());
    }
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn shape(kind: &Kind) -> Value {
    if let Some((min, max)) = rules::bounds(kind) {
        return json!({ "type": "integer", "minimum": min, "maximum": max });
    }
    match kind {
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Text(cap) | Kind::Host(cap) | Kind::Password(cap) => {
            text(*cap, "^[^\\u0000-\\u001f\\u007f]*$")
        }
        Kind::UserName(cap) => text(*cap, "^[^:\\u0000-\\u001f\\u007f]*$"),
        Kind::Choice(choices) => json!({ "type": "string", "enum": choices.ids() }),
        Kind::HexKey(HexCase::Lower) => text(64, "^([0-9a-f]{64}|npub1[02-9ac-hj-np-z]{58})?$"),
        Kind::HexKey(HexCase::Any) => text(64, rules::KEY_PATTERN),
        Kind::RelayUrl => text(TEXT_MAX, "^(wss?://[^\\u0000-\\u001f\\u007f]*)?$"),
        Kind::HttpUrl | Kind::BaseUrl => text(TEXT_MAX, "^(https?://[^\\u0000-\\u001f\\u007f]*)?$"),
        Kind::Zone => text(TEXT_MAX, "^[A-Za-z0-9_+/-]+$"),
        Kind::Screens => json!({ "type": "string" }),
        Kind::Composite(composite) => composite.schema(),
        Kind::Uint(_) | Kind::Numbered(_) | Kind::Rgb => json!({ "type": "integer" }),
    }
}

/// As it is read: the id of a dropped pool is shown, though it cannot be written.
fn read_shape(spec: &Spec) -> Value {
    if spec.key == Key::mining_pool_name {
        return json!({ "type": "string" });
    }
    shape(&spec.kind)
}

fn fact_shape(fact: &Fact) -> Value {
    match fact.shape {
        Shape::Bool => json!({ "type": "boolean" }),
        Shape::Integer => json!({ "type": "integer" }),
        Shape::Number => json!({ "type": "number" }),
        Shape::Text => json!({ "type": "string" }),
        Shape::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Shape::Fonts => json!({
            "type": "array",
            "items": {
                "type": "object",
                "properties": { "id": { "type": "string" }, "hasBtcSymbol": { "type": "boolean" } },
                "required": ["id", "hasBtcSymbol"],
            },
        }),
    }
}

/// The cap is in bytes of UTF-8; the schema can only count characters.
fn text(cap: usize, pattern: &str) -> Value {
    json!({ "type": "string", "maxLength": cap, "pattern": pattern })
}

fn described(schema: Value, doc: &str) -> Map<String, Value> {
    let mut described = Map::new();
    if let Value::Object(members) = schema {
        described = members;
    }
    described.insert("description".into(), doc.trim().into());
    described
}
