//! The description of the interface: OpenAPI 3.1, made from the table of operations and the table of settings.

use std::{collections::BTreeSet, sync::LazyLock};

use bytes::Bytes;
use http::HeaderValue;
use serde_json::{Map, Value, json};

use super::{
    answer::{self, Response},
    call::Call,
    etag,
    route::{Guard, Handler, Route, Takes},
    routes::ROUTES,
    shape::Shape,
};

/// What a status alone does not tell.
const DESCRIPTIONS: &[(Shape, &str)] = &[
    // Two answers of one status cannot be told apart in a schema.
    (
        Shape::Patched,
        "Changed. The body is empty, or `{\"rebootRequired\":true}` when part of it takes effect at the next start.",
    ),
    (
        Shape::NotErased,
        "Not everything could be erased. The clock goes on with its settings, and `notes` in the status say what went wrong.",
    ),
];

static TEXT: LazyLock<Bytes> = LazyLock::new(|| document().to_string().into());

/// Answers with the description.
pub(crate) fn read(call: &Call) -> Response {
    let tag = etag::tag(&format!("{:08x}", crc32fast::hash(&TEXT)));
    if etag::is_known(call.headers(), &tag) {
        return etag::not_modified(tag);
    }
    let mut response = etag::tagged(answer::json_bytes(TEXT.clone()), tag);
    response.headers_mut().insert(
        http::header::CACHE_CONTROL,
        HeaderValue::from_static("no-cache"),
    );
    response
}

/// The description of the interface.
pub fn document() -> Value {
    let mut paths = Map::new();
    let mut shapes = BTreeSet::new();
    let mut tags = Vec::new();
    for group in ROUTES {
        tags.push(json!({ "name": group.name }));
        for route in group.routes {
            let item = paths.entry(route.path).or_insert_with(|| json!({}));
            let method = route.method.as_str().to_ascii_lowercase();
            item[method] = operation(group.name, route, &mut shapes);
        }
    }
    let components: Map<String, Value> = shapes
        .into_iter()
        .map(|shape| (format!("{shape:?}"), shape.schema()))
        .collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "papertick",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Control interface of an e-paper clock for Bitcoin data.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "tags": tags,
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": { "basic": { "type": "http", "scheme": "basic" } },
        },
    })
}

fn operation(group: &str, route: &Route, shapes: &mut BTreeSet<Shape>) -> Value {
    let mut operation = json!({
        "tags": [group],
        "summary": route.summary,
        "operationId": operation_id(route),
        "responses": responses(route, shapes),
    });
    let parameters = parameters(route);
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    let (shape, required) = match route.body {
        Takes::Nothing => (Shape::Empty, false),
        Takes::Maybe(shape) => (shape, false),
        Takes::Always(shape) => (shape, true),
    };
    if let Some(content) = content(shape, shapes) {
        operation["requestBody"] = json!({ "content": content, "required": required });
    }
    match route.guard {
        // Credentials are asked for only when the owner has switched that on.
        Guard::Control | Guard::Upload => operation["security"] = json!([{ "basic": [] }, {}]),
        Guard::Open | Guard::Portal => {}
    }
    if route.old {
        operation["deprecated"] = true.into();
    }
    operation
}

/// A name made of method and path: `post-api-show-screen`.
fn operation_id(route: &Route) -> String {
    let method = route.method.as_str().to_ascii_lowercase();
    let words = route
        .path
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty());
    std::iter::once(method.as_str())
        .chain(words)
        .collect::<Vec<_>>()
        .join("-")
}

fn parameters(route: &Route) -> Vec<Value> {
    let open = route
        .path
        .split_once('{')
        .and_then(|(_, rest)| rest.split_once('}'))
        .map(|(name, _)| {
            let mut schema = route.open.schema();
            if let Some(unsaid) = route.unsaid {
                // What is a number there is one here.
                schema["default"] = serde_json::from_str(unsaid).unwrap_or_else(|_| unsaid.into());
            }
            json!({ "name": name, "in": "path", "required": true, "schema": schema })
        });
    let query = route.query.iter().map(|param| {
        json!({
            "name": param.name,
            "in": "query",
            "description": param.doc,
            "schema": param.shape.schema(),
        })
    });
    open.into_iter().chain(query).collect()
}

fn responses(route: &Route, shapes: &mut BTreeSet<Shape>) -> Map<String, Value> {
    let mut answers = route.answers.to_vec();
    let mut also = |status: u16, shape: Shape| {
        if answers.iter().all(|(known, _)| *known != status) {
            answers.push((status, shape));
        }
    };
    also(403, Shape::Error);
    if matches!(route.guard, Guard::Control | Guard::Upload) {
        also(401, Shape::Error);
        also(503, Shape::Error);
    }
    if route.guard == Guard::Portal {
        also(404, Shape::Error);
    }
    if let Handler::Later(_) = route.handler {
        also(500, Shape::Error);
        also(503, Shape::Error);
    }
    answers.sort_unstable();
    let response = |(status, shape): &(u16, Shape)| {
        let known = DESCRIPTIONS.iter().find(|(known, _)| known == shape);
        let description = known.map_or_else(|| reason(*status), |(_, text)| text);
        let mut response = json!({ "description": description });
        if let Some(content) = content(*shape, shapes) {
            response["content"] = content;
        }
        (status.to_string(), response)
    };
    answers.iter().map(response).collect()
}

fn content(shape: Shape, shapes: &mut BTreeSet<Shape>) -> Option<Value> {
    let content_type = shape.content_type()?;
    if content_type != "application/json" {
        return Some(json!({ content_type: { "schema": shape.schema() } }));
    }
    shapes.insert(shape);
    Some(
        json!({ content_type: { "schema": { "$ref": format!("#/components/schemas/{shape:?}") } } }),
    )
}

fn reason(status: u16) -> &'static str {
    http::StatusCode::from_u16(status)
        .ok()
        .and_then(|status| status.canonical_reason())
        .unwrap_or("Answer")
}
