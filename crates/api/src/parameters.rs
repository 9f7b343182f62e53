//! The parameters of a request, the same for HTTP, MQTT and `papertick ctl`.

use alloc::{string::String, vec::Vec};

use device::{json, settings::reject::Rejection};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::documents;

/// The parameters of a client's request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parameters {
    pub body: RequestBody,
    /// Values of the query by name, for clients that send no body. The first value of a name is used.
    pub query: Vec<(String, String)>,
    /// The parameter in the path, as older clients send it.
    pub path_value: Option<String>,
}

/// The body of a request, parsed if it is JSON.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum RequestBody {
    /// No body, or an incomplete one.
    #[default]
    Missing,
    /// A body that is not JSON.
    NotJson,
    Json(Value),
}

impl RequestBody {
    /// Parses a complete body. An empty one counts as missing.
    pub fn parse(bytes: &[u8]) -> RequestBody {
        if bytes.is_empty() {
            return RequestBody::Missing;
        }
        json::parse(bytes).map_or(RequestBody::NotJson, RequestBody::Json)
    }
}

impl Parameters {
    /// Parameters with a body only.
    pub fn body(bytes: &[u8]) -> Parameters {
        Parameters {
            body: RequestBody::parse(bytes),
            ..Parameters::default()
        }
    }

    /// A member of the body. `None` if the body is not an object or lacks the member.
    pub fn member(&self, name: &str) -> Option<&Value> {
        match &self.body {
            RequestBody::Json(value) => value.get(name),
            RequestBody::Missing | RequestBody::NotJson => None,
        }
    }

    /// The body as a document. `None` if it is not an object, or a member has the wrong type.
    pub fn object<T: DeserializeOwned>(&self) -> Option<T> {
        match &self.body {
            RequestBody::Json(value) => documents::object(value),
            RequestBody::Missing | RequestBody::NotJson => None,
        }
    }

    /// A whole number from the body, or else from the query.
    pub fn number(&self, name: &str) -> Option<i64> {
        let member = self.member(name).and_then(whole_number);
        member.or_else(|| self.query_value(name)?.trim().parse().ok())
    }

    /// A text from the body, or else from the query. The first name that is present wins.
    pub fn text(&self, names: &[&str]) -> Option<&str> {
        let member = |name: &&str| self.member(name)?.as_str();
        let found = names.iter().find_map(member);
        found.or_else(|| names.iter().find_map(|name| self.query_value(name)))
    }

    /// The body.
    ///
    /// # Errors
    /// It is missing or not JSON; the error text for the client.
    pub fn json(&self) -> Result<&Value, &'static str> {
        match &self.body {
            RequestBody::Json(value) => Ok(value),
            RequestBody::Missing => Err("bad body"),
            RequestBody::NotJson => Err("bad json"),
        }
    }

    /// The body as a PATCH of settings.
    ///
    /// # Errors
    /// It is missing, not JSON, or not an object.
    pub fn settings_patch(self) -> Result<Map<String, Value>, Rejection> {
        match self.body {
            RequestBody::Json(Value::Object(members)) => Ok(members),
            RequestBody::Json(_) => Err(Rejection::NotObject),
            RequestBody::Missing => Err(Rejection::BadBody),
            RequestBody::NotJson => Err(Rejection::Json),
        }
    }

    fn query_value(&self, name: &str) -> Option<&str> {
        let mut values = self.query.iter();
        let found = values.find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// Converts a JSON number to a whole number; the fraction is cut off.
pub fn whole_number(value: &Value) -> Option<i64> {
    let number = value.as_number()?;
    number.as_i64().or_else(|| {
        let float = number.as_f64()?;
        // Beyond 2^53 a float cannot represent every whole number.
        (float.abs() < 9e15).then_some(float as i64)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_whole_number_is_read_as_long_as_it_is_exact() {
        for (value, expected) in [
            (json!(7), Some(7)),
            (json!(-7.9), Some(-7)),
            (json!(8e15), Some(8_000_000_000_000_000)),
            (json!(9e15), None),
            (json!(-9e15), None),
            (json!(i64::MAX), Some(i64::MAX)),
            (json!(u64::MAX), None),
            (json!("7"), None),
            (json!(true), None),
            (Value::Null, None),
        ] {
            assert_eq!(whole_number(&value), expected, "{value}");
        }
    }
}
