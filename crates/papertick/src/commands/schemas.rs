//! Schemas of the documents of the interface, from the OpenAPI document.

use std::sync::LazyLock;

use api::shape::Shape;
use serde_json::Value;
use web::openapi;

/// What references to a schema begin with.
const REFERENCE: &str = "#/components/schemas/";

/// Schemas within schemas that are inlined; some refer to themselves.
const DEPTH_MAX: usize = 8;

static DOCUMENT: LazyLock<Value> = LazyLock::new(openapi::document);

/// The schema of JSON; null if it is no JSON.
pub(crate) fn of(shape: Shape) -> Value {
    let Shape::Json(json) = shape else {
        return Value::Null;
    };
    named(&json.name())
}

/// The schema of a name, with all schemas to which it refers.
fn named(name: &str) -> Value {
    let mut schema = DOCUMENT["components"]["schemas"][name].clone();
    inline(&mut schema, DEPTH_MAX);
    schema
}

fn inline(schema: &mut Value, depth: usize) {
    let reference = schema["$ref"].as_str();
    let name = reference.and_then(|reference| reference.strip_prefix(REFERENCE));
    if let (Some(name), Some(depth)) = (name, depth.checked_sub(1)) {
        *schema = DOCUMENT["components"]["schemas"][name].clone();
        return inline(schema, depth);
    }
    match schema {
        Value::Object(members) => members
            .values_mut()
            .for_each(|member| inline(member, depth)),
        Value::Array(entries) => entries.iter_mut().for_each(|entry| inline(entry, depth)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
