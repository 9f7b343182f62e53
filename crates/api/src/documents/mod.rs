//! The JSON documents of the interface besides the status: bodies of requests and answers, each defined once as a type.
//!
//! Its JSON, its schema in the description of the interface and the type of the page follow from the type.

pub mod access_point;
pub mod bench;
pub mod device;
pub mod diagnostics;
pub mod displays;
pub mod history;
pub mod lights;
pub mod page;
pub mod screens;
pub mod settings;
pub mod settings_file;
pub mod state;
pub mod updates;

mod numbers;

use alloc::string::String;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::Value;

pub use numbers::{TruncatedNumber, WholeNumber};

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ErrorBody {
    /// Token for programs.
    pub error: String,
    /// The reason for people; absent if the token is clear enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub msg: Option<String>,
}

impl ErrorBody {
    /// A token alone.
    pub fn of(error: impl Into<String>) -> ErrorBody {
        ErrorBody {
            error: error.into(),
            msg: None,
        }
    }

    /// A token and the reason for people.
    pub fn with_reason(error: impl Into<String>, msg: impl Into<String>) -> ErrorBody {
        ErrorBody {
            msg: Some(msg.into()),
            ..ErrorBody::of(error)
        }
    }
}

/// Answer of the operations of updates: `msg`, or `error` if they are switched off.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct MessageBody {
    /// Token for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub error: Option<String>,
    /// What happens, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub msg: Option<String>,
}

/// Reads an object; `None` if it is something else, or a member is of another type.
pub fn object<T: DeserializeOwned>(value: &Value) -> Option<T> {
    // A derived `Deserialize` would also read the members from an array.
    let object = Some(value).filter(|value| value.is_object());
    T::deserialize(object?).ok()
}

/// Reads a member, or its default if it is of another type.
fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    let value = Value::deserialize(deserializer)?;
    Ok(T::deserialize(value).unwrap_or_default())
}
