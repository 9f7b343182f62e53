//! Suggested values of arguments for the completion of shells. Other values are accepted too.

use std::{ffi::OsStr, iter::once};

use api::{
    documents::screens::{CurrencyChoice, ScreenChoice},
    shape::Shape,
};
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
pub(crate) struct Suggestions(Vec<String>);

impl Suggestions {
    /// The names of the settings that can be read.
    pub(super) fn read_settings() -> Suggestions {
        Suggestions(setting_args::read_names().collect())
    }

    /// The names of the settings that can be written, each followed by `=`, and by each of its values if they are few.
    pub(crate) fn assignments() -> Suggestions {
        let names = setting_args::names();
        let with_values = names.flat_map(|name| {
            let values = setting_args::values(name).into_iter();
            let values = values.map(move |value| format!("{name}={value}"));
            once(format!("{name}=")).chain(values)
        });
        Suggestions(with_values.collect())
    }

    /// The usual currencies.
    pub(crate) fn currencies() -> Suggestions {
        Suggestions(setting_args::currencies())
    }

    /// These values.
    pub(crate) fn new(values: Vec<String>) -> Suggestions {
        Suggestions(values)
    }

    /// The possible values of the first member of a body.
    pub(super) fn of(shape: Shape, schema: &Value) -> Suggestions {
        if shape.is::<ScreenChoice>() {
            Suggestions(SCREENS.iter().map(Screen::word).collect())
        } else if shape.is::<CurrencyChoice>() {
            Suggestions::currencies()
        } else {
            Suggestions(arguments::first_choices(schema))
        }
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
