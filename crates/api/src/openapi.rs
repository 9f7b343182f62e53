//! The OpenAPI 3.1 document of the interface, made from the table of operations and the table of settings.

use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec::Vec,
};

use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};

use crate::{
    documents::{ErrorBody, device::NotErased},
    operation::{BodyRule, Guard, HttpEndpoint, Method, Operation},
    operations::GROUPS,
    schema,
    shape::{JsonType, Shape, sent},
};

/// Descriptions of responses, if the reason phrase of the status is not enough.
const DESCRIPTIONS: &[(Shape, &str)] = &[
    (
        Shape::Changed,
        "Changed. The body is empty, or `{\"rebootRequired\":true}` when part of it takes effect at the next start.",
    ),
    (
        sent::<NotErased>(),
        "Not everything could be erased. The clock keeps running with its settings, and `notes` in the status gives the reason.",
    ),
];

/// The OpenAPI document of any clock, which `docs/openapi.json` holds.
///
/// It has no web sockets, because OpenAPI cannot describe them.
pub fn document() -> Value {
    let mut paths = Map::new();
    let mut schemas = Schemas::new();
    let mut tags = Vec::new();
    for group in GROUPS {
        tags.push(json!({ "name": group.name }));
        for operation in group.operations {
            for endpoint in operation
                .endpoints
                .iter()
                .filter(|endpoint| !endpoint.upgrades)
            {
                let item = paths.entry(endpoint.path).or_insert_with(|| json!({}));
                let method = endpoint.method.name().to_ascii_lowercase();
                item[method] = operation_object(group.name, operation, endpoint, &mut schemas);
            }
        }
    }
    let components = schemas.components();
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

/// The schemas of the types that clients receive and send.
struct Schemas {
    sent: SchemaGenerator,
    received: SchemaGenerator,
}

impl Schemas {
    fn new() -> Schemas {
        let generator = |is_sent| schema::settings("/components/schemas", is_sent).into_generator();
        Schemas {
            sent: generator(true),
            received: generator(false),
        }
    }

    /// The schema of a type: a reference to its definition among the components.
    fn reference(&mut self, json: JsonType) -> Value {
        let generator = if json.is_sent() { &mut self.sent } else { &mut self.received };
        json.subschema(generator).to_value()
    }

    /// All definitions. For a type that is sent and received, the schema of the sent form is used.
    fn components(mut self) -> BTreeMap<String, Value> {
        let received = self.received.take_definitions(false);
        received
            .into_iter()
            .chain(self.sent.take_definitions(false))
            .collect()
    }
}

fn operation_object(
    group: &str,
    operation: &Operation,
    endpoint: &HttpEndpoint,
    schemas: &mut Schemas,
) -> Value {
    let mut described = json!({
        "tags": [group],
        "summary": operation.summary,
        "operationId": operation_id(endpoint),
        "responses": responses(operation, endpoint, schemas),
    });
    // Older clients send a path parameter instead of a body.
    let body_rule = match endpoint.method {
        Method::Get => BodyRule::None,
        Method::Post | Method::Patch | Method::Delete => operation.body,
    };
    // OpenAPI cannot express that either the body or the query is required, so the description mentions the query.
    let replaces_query = matches!(body_rule, BodyRule::Optional(_) | BodyRule::BodyOrQuery(_));
    let parameters = parameters(endpoint, !replaces_query);
    if !parameters.is_empty() {
        described["parameters"] = parameters.into();
    }
    if replaces_query && let [param] = endpoint.query {
        let text = format!(
            "`{}` may be sent in the query instead of the body.",
            param.name
        );
        described["description"] = text.into();
    }
    let (shape, required) = match body_rule {
        BodyRule::None => (Shape::Empty, false),
        BodyRule::Optional(shape) => (shape, false),
        BodyRule::BodyOrQuery(shape) | BodyRule::Required(shape) => (shape, true),
    };
    if let Some(content) = content(shape, schemas) {
        described["requestBody"] = json!({ "content": content, "required": required });
    }
    match operation.guard {
        // Credentials are required only if the owner has enabled them.
        Guard::Control | Guard::Monitoring | Guard::Upload => {
            described["security"] = json!([{ "basic": [] }, {}])
        }
        Guard::Open | Guard::Portal => {}
    }
    if endpoint.deprecated {
        described["deprecated"] = true.into();
    }
    described
}

/// An id made of method and path: `post-api-show-screen`.
fn operation_id(endpoint: &HttpEndpoint) -> String {
    let method = endpoint.method.name().to_ascii_lowercase();
    let words = endpoint
        .path
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty());
    core::iter::once(method.as_str())
        .chain(words)
        .collect::<Vec<_>>()
        .join("-")
}

fn parameters(endpoint: &HttpEndpoint, with_query: bool) -> Vec<Value> {
    let path = endpoint
        .path
        .split_once('{')
        .and_then(|(_, rest)| rest.split_once('}'))
        .map(|(name, _)| {
            let mut schema = endpoint.path_parameter.schema();
            if let Some(value) = endpoint.default_value {
                // A numeric default is a JSON number.
                schema["default"] = serde_json::from_str(value).unwrap_or_else(|_| value.into());
            }
            json!({ "name": name, "in": "path", "required": true, "schema": schema })
        });
    let query = endpoint.query.iter().filter(|_| with_query);
    let query = query.map(|param| {
        json!({
            "name": param.name,
            "in": "query",
            "description": param.doc,
            "schema": param.shape.schema(),
        })
    });
    path.into_iter().chain(query).collect()
}

fn responses(
    operation: &Operation,
    endpoint: &HttpEndpoint,
    schemas: &mut Schemas,
) -> Map<String, Value> {
    let mut answers = endpoint.answers.unwrap_or(operation.answers).to_vec();
    let mut also = |status: u16, shape: Shape| {
        if answers.iter().all(|(known, _)| *known != status) {
            answers.push((status, shape));
        }
    };
    also(403, sent::<ErrorBody>());
    // A parameter in the path that is no text.
    if endpoint.path.contains('{') {
        also(400, sent::<ErrorBody>());
    }
    if matches!(
        operation.guard,
        Guard::Control | Guard::Monitoring | Guard::Upload
    ) {
        also(401, sent::<ErrorBody>());
        also(503, sent::<ErrorBody>());
    }
    if operation.guard == Guard::Portal {
        also(404, sent::<ErrorBody>());
    }
    // The device may have stopped.
    if endpoint.checks_origin || operation.may_fail {
        also(500, sent::<ErrorBody>());
        also(503, sent::<ErrorBody>());
    }
    answers.sort_unstable_by_key(|(status, _)| *status);
    let response = |(status, shape): &(u16, Shape)| {
        let known = DESCRIPTIONS.iter().find(|(known, _)| known == shape);
        let description = known.map_or_else(|| reason(*status), |(_, text)| text);
        let mut response = json!({ "description": description });
        if let Some(content) = content(*shape, schemas) {
            response["content"] = content;
        }
        (status.to_string(), response)
    };
    answers.iter().map(response).collect()
}

fn content(shape: Shape, schemas: &mut Schemas) -> Option<Value> {
    let content_type = shape.content_type()?;
    if shape == Shape::Metrics {
        // The older format for clients that do not accept the newer one.
        return Some(json!({
            content_type: { "schema": shape.schema() },
            "text/plain": { "schema": shape.schema() },
        }));
    }
    if let Shape::Json(json) = shape {
        return Some(json!({ content_type: { "schema": schemas.reference(json) } }));
    }
    Some(json!({ content_type: { "schema": shape.schema() } }))
}

/// The reason phrase of a status.
fn reason(status: u16) -> &'static str {
    match status {
        101 => "Switching Protocols",
        200 => "OK",
        304 => "Not Modified",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        409 => "Conflict",
        411 => "Length Required",
        412 => "Precondition Failed",
        413 => "Payload Too Large",
        422 => "Unprocessable Entity",
        426 => "Upgrade Required",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        _ => "Answer",
    }
}
