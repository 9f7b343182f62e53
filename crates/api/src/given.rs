//! What a client gives with its wish: the same at every door.

use alloc::{string::String, vec::Vec};

use device::{json, settings::reject::Rejection};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::documents;

/// The parameters of a client's request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parameters {
    /// The body.
    pub body: RequestBody,
    /// Values by name beside it, for clients that send none; the first of a name counts.
    pub beside: Vec<(String, String)>,
    /// The one value that older clients write into the path.
    pub in_path: Option<String>,
}

/// The body of a request, parsed if it is JSON.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum RequestBody {
    /// None, or not all of it.
    #[default]
    Missing,
    /// One that is no JSON.
    NotJson,
    /// JSON.
    Json(Value),
}

impl RequestBody {
    /// Reads a body that came whole; an empty one is none.
    pub fn read(bytes: &[u8]) -> RequestBody {
        if bytes.is_empty() {
            return RequestBody::Missing;
        }
        json::parse(bytes).map_or(RequestBody::NotJson, RequestBody::Json)
    }
}

impl Parameters {
    /// A body and nothing else.
    pub fn body(bytes: &[u8]) -> Parameters {
        Parameters {
            body: RequestBody::read(bytes),
            ..Parameters::default()
        }
    }

    /// A member of the body, if that is an object which has it.
    pub fn member(&self, name: &str) -> Option<&Value> {
        match &self.body {
            RequestBody::Json(value) => value.get(name),
            RequestBody::Missing | RequestBody::NotJson => None,
        }
    }

    /// The body as a document; `None` if it is no object, or a member is of another type.
    pub fn object<T: DeserializeOwned>(&self) -> Option<T> {
        match &self.body {
            RequestBody::Json(value) => documents::object(value),
            RequestBody::Missing | RequestBody::NotJson => None,
        }
    }

    /// A whole number: a member of the body first, else a value beside it.
    pub fn number(&self, name: &str) -> Option<i64> {
        let member = self.member(name).and_then(whole_number);
        member.or_else(|| self.beside(name)?.trim().parse().ok())
    }

    /// A text: a member of the body first, else a value beside it; the first name that is there wins.
    pub fn text(&self, names: &[&str]) -> Option<&str> {
        let member = |name: &&str| self.member(name)?.as_str();
        let found = names.iter().find_map(member);
        found.or_else(|| names.iter().find_map(|name| self.beside(name)))
    }

    /// The body.
    ///
    /// # Errors
    /// There is none, or it is no JSON; in a word for the client.
    pub fn json(&self) -> Result<&Value, &'static str> {
        match &self.body {
            RequestBody::Json(value) => Ok(value),
            RequestBody::Missing => Err("bad body"),
            RequestBody::NotJson => Err("bad json"),
        }
    }

    /// The body as a change of settings.
    ///
    /// # Errors
    /// There is none, or it is no JSON, or no object.
    pub fn change(self) -> Result<Map<String, Value>, Rejection> {
        match self.body {
            RequestBody::Json(Value::Object(members)) => Ok(members),
            RequestBody::Json(_) => Err(Rejection::NotObject),
            RequestBody::Missing => Err(Rejection::BadBody),
            RequestBody::NotJson => Err(Rejection::Json),
        }
    }

    fn beside(&self, name: &str) -> Option<&str> {
        let mut values = self.beside.iter();
        let found = values.find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// Reads a whole number; what a JSON number has behind its point is cut off.
pub fn whole_number(value: &Value) -> Option<i64> {
    let number = value.as_number()?;
    number.as_i64().or_else(|| {
        let float = number.as_f64()?;
        // Beyond 2^53 a float no longer tells one whole number from the next.
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
