//! Suggested values of arguments for the completion of shells. Other values are accepted too.

use std::ffi::OsStr;

use api::{documents::screens::ScreenChoice, shape::Shape};
use clap::{
    Arg, Command, Error,
    builder::{PossibleValue, StringValueParser, TypedValueParser},
};
use device::screens::{SCREENS, Screen};
use serde_json::Value;

use super::arguments;
use crate::commands::setting_args;

/// An argument with suggested values.
#[derive(Debug, Clone)]
pub(super) struct Suggestions(Vec<String>);

impl Suggestions {
    /// The names of the settings that can be read.
    pub(super) fn read_settings() -> Suggestions {
        Suggestions(setting_args::read_names().collect())
    }

    /// The names of the settings that can be written, each followed by `=`.
    pub(super) fn assignments() -> Suggestions {
        let names = setting_args::names();
        Suggestions(names.map(|name| format!("{name}=")).collect())
    }

    /// The possible values of the first member of a body.
    pub(super) fn of(shape: Shape, schema: &Value) -> Suggestions {
        let names_screens = shape.is::<ScreenChoice>();
        Suggestions(match names_screens {
            true => SCREENS.iter().map(Screen::word).collect(),
            false => arguments::first_choices(schema),
        })
    }
}

impl TypedValueParser for Suggestions {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values = self.0.iter().map(PossibleValue::new);
        (!self.0.is_empty()).then(|| Box::new(values) as Box<_>)
    }
}
