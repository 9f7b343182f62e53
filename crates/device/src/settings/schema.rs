//! JSON Schemas of the settings document and of a change to it, made from the table.

use alloc::{format, string::String, vec::Vec};
use serde_json::{Map, Value, json};

use super::{
    SPECS, VIRTUAL,
    facts::{FACTS, Fact, FactShape},
    kinds::Composite,
    spec::{Access, Apply},
};

/// Schema of the body of a PATCH; keys that it does not name are ignored by the device.
pub fn json_schema() -> Value {
    let mut properties = Map::new();
    for spec in SPECS {
        match spec.access {
            Access::ReadWrite | Access::WriteOnly => {}
            Access::ReadOnly | Access::Internal => continue,
        }
        let mut schema = described(spec.kind.schema(), spec.doc);
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
        let schema = described(row.kind.schema(), row.doc);
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
                described(spec.kind.shown_schema(), spec.doc),
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
        if spec.kind.composite().is_none_or(Composite::is_always_shown) {
            required.push(name);
        }
    }
    for row in VIRTUAL.iter().filter(|row| row.access == Access::ReadWrite) {
        properties.insert(
            row.name.into(),
            described(row.kind.schema(), row.doc).into(),
        );
        required.push(row.name.into());
    }
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn fact_shape(fact: &Fact) -> Value {
    match fact.shape {
        FactShape::Bool => json!({ "type": "boolean" }),
        FactShape::Integer => json!({ "type": "integer" }),
        FactShape::Number => json!({ "type": "number" }),
        FactShape::Text => json!({ "type": "string" }),
        FactShape::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        FactShape::Fonts => json!({
            "type": "array",
            "items": {
                "type": "object",
                "properties": { "id": { "type": "string" }, "hasBtcSymbol": { "type": "boolean" } },
                "required": ["id", "hasBtcSymbol"],
            },
        }),
    }
}

fn described(schema: Value, doc: &str) -> Map<String, Value> {
    let mut described = Map::new();
    if let Value::Object(members) = schema {
        described = members;
    }
    described.insert("description".into(), doc.trim().into());
    described
}
