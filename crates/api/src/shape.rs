//! What a body, an answer or a parameter consists of: the type of its JSON, or a format of its own.

use alloc::borrow::Cow;
use core::{any::TypeId, fmt};

use schemars::JsonSchema;
#[cfg(feature = "schemas")]
use schemars::{Schema, SchemaGenerator};
#[cfg(feature = "schemas")]
use serde_json::{Value, json};

#[cfg(feature = "schemas")]
use crate::schema;

/// What a body, an answer or a parameter consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Empty,
    /// Nothing, or [`RestartRequired`](crate::documents::settings::RestartRequired): a schema cannot describe two answers of
    /// one status separately.
    Changed,
    Json(JsonType),
    Events,
    Png,
    Bmp,
    Bytes,
    Image,
    /// A web page.
    Html,
    Metrics,
}

#[derive(Clone, Copy)]
pub struct JsonType {
    id: TypeId,
    is_sent: bool,
    name: fn() -> Cow<'static, str>,
    #[cfg(feature = "schemas")]
    schema: fn(&mut SchemaGenerator) -> Schema,
}

/// JSON that the clock sends.
pub const fn sent<T: JsonSchema + 'static>() -> Shape {
    json_type::<T>(true)
}

/// JSON that a client sends, or a value in a path or a query.
pub const fn received<T: JsonSchema + 'static>() -> Shape {
    json_type::<T>(false)
}

const fn json_type<T: JsonSchema + 'static>(is_sent: bool) -> Shape {
    Shape::Json(JsonType {
        id: TypeId::of::<T>(),
        is_sent,
        name: T::schema_name,
        #[cfg(feature = "schemas")]
        schema: SchemaGenerator::subschema_for::<T>,
    })
}

impl Shape {
    /// Returns whether it is JSON of this type.
    pub fn is<T: 'static>(self) -> bool {
        matches!(self, Shape::Json(json) if json.id == TypeId::of::<T>())
    }

    /// Content type; `None` without a body.
    pub fn content_type(self) -> Option<&'static str> {
        match self {
            Shape::Empty | Shape::Changed => None,
            Shape::Json(_) => Some("application/json"),
            Shape::Events => Some("text/event-stream"),
            Shape::Png => Some("image/png"),
            Shape::Bmp => Some("image/bmp"),
            Shape::Bytes | Shape::Image => Some("application/octet-stream"),
            Shape::Html => Some("text/html"),
            Shape::Metrics => Some("application/openmetrics-text"),
        }
    }

    /// A complete JSON Schema.
    #[cfg(feature = "schemas")]
    pub fn schema(self) -> Value {
        match self {
            Shape::Empty | Shape::Changed => json!({}),
            Shape::Json(json) => json.schema(),
            Shape::Events => event(),
            Shape::Png | Shape::Bmp | Shape::Bytes => {
                json!({ "type": "string", "format": "binary" })
            }
            Shape::Image => json!({ "type": "string", "format": "binary", "minLength": 1 }),
            Shape::Html | Shape::Metrics => json!({ "type": "string" }),
        }
    }
}

impl JsonType {
    /// Whether the clock sends it.
    pub fn is_sent(self) -> bool {
        self.is_sent
    }

    pub fn name(self) -> Cow<'static, str> {
        (self.name)()
    }

    /// JSON Schema, with the definitions that it refers to in a generator.
    #[cfg(feature = "schemas")]
    pub fn subschema(self, generator: &mut SchemaGenerator) -> Schema {
        (self.schema)(generator)
    }

    /// A complete JSON Schema; only recursive parts have definitions.
    #[cfg(feature = "schemas")]
    fn schema(self) -> Value {
        let mut settings = schema::settings("/$defs", self.is_sent);
        settings.inline_subschemas = true;
        let mut generator = settings.into_generator();
        let mut schema = self.subschema(&mut generator).to_value();
        let definitions = generator.take_definitions(false);
        if !definitions.is_empty() {
            schema["$defs"] = definitions.into();
        }
        schema
    }
}

impl PartialEq for JsonType {
    fn eq(&self, other: &JsonType) -> bool {
        self.id == other.id
    }
}

impl Eq for JsonType {}

impl fmt::Debug for JsonType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name())
    }
}

#[cfg(feature = "schemas")]
fn event() -> Value {
    json!({
        "type": "object",
        "properties": {
            "data": { "type": "string" },
            "event": { "enum": ["welcome", "status", "panels", "bench"] },
        },
        "required": ["data"],
    })
}
