//! MQTT topics, and names of groups of clocks.

use alloc::{string::String, vec::Vec};
use serde_json::{Value, json};

use super::{
    super::reject::{Rejection, TextFault},
    CheckContext, SettingKind, text,
};

/// Maximum length of a topic, bytes.
pub const TOPIC_MAX: usize = 128;

/// Maximum number of groups of a clock, besides the group of all clocks.
pub const GROUPS_MAX: usize = 8;

/// Maximum length of the name of a group, bytes.
const NAME_MAX: usize = 30;

/// A topic without wildcards.
#[derive(Debug)]
pub struct TopicKind;

/// Names of groups, separated by commas.
#[derive(Debug)]
pub struct GroupNames;

impl SettingKind for TopicKind {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        text::text(name, value, TOPIC_MAX)
    }

    fn check(&self, name: &str, value: &Value, _: &CheckContext<'_>) -> Result<(), Rejection> {
        let topic = value.as_str().unwrap_or_default();
        let is_level = |level: &str| !level.is_empty() && !level.contains(['+', '#']);
        if topic.split('/').all(is_level) && !topic.starts_with('$') {
            Ok(())
        } else {
            Err(Rejection::BadText(name.into(), TextFault::Topic))
        }
    }

    fn is_text(&self) -> bool {
        true
    }

    fn schema(&self) -> Value {
        let level = "[^/+#\\u0000-\\u001f\\u007f-\\u009f]+";
        let pattern = alloc::format!("^(?!\\$){level}(/{level})*$");
        text::schema(TOPIC_MAX, &pattern)
    }

    fn control(&self) -> Value {
        text::control(TOPIC_MAX)
    }

    fn words(&self) -> String {
        "a topic".into()
    }
}

impl SettingKind for GroupNames {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        text::text(name, value, CAP)
    }

    fn check(&self, name: &str, value: &Value, _: &CheckContext<'_>) -> Result<(), Rejection> {
        let names: Vec<&str> = names(value.as_str().unwrap_or_default()).collect();
        if names.len() > GROUPS_MAX {
            return Err(Rejection::BadLength(name.into()));
        }
        if names.into_iter().all(is_name) {
            Ok(())
        } else {
            Err(Rejection::BadText(name.into(), TextFault::Names))
        }
    }

    fn normal(&self, value: &Value) -> Value {
        let mut distinct: Vec<&str> = Vec::new();
        for name in names(value.as_str().unwrap_or_default()) {
            if !distinct.contains(&name) {
                distinct.push(name);
            }
        }
        distinct.join(",").into()
    }

    fn is_text(&self) -> bool {
        true
    }

    fn schema(&self) -> Value {
        json!({ "type": "string", "maxLength": CAP, "pattern": "^[A-Za-z0-9_\\-, ]*$" })
    }

    fn control(&self) -> Value {
        text::control(CAP)
    }

    fn words(&self) -> String {
        "names with commas".into()
    }
}

/// Maximum length of a list of names as sent, bytes.
const CAP: usize = GROUPS_MAX * (NAME_MAX + 2);

/// The names of a list.
pub fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
}

fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    name.len() <= NAME_MAX && name.bytes().all(is_letter)
}
