//! Values that a shell offers to complete an argument with; any other value is taken as well.

use std::ffi::OsStr;

use api::{documents::screens::ScreenChoice, shape::Shape};
use clap::{
    Arg, Command, Error,
    builder::{PossibleValue, StringValueParser, TypedValueParser},
};
use device::screens::{SCREENS, Screen};
use serde_json::Value;

use super::words;
use crate::commands::setting_words;

/// Takes any text and offers some.
#[derive(Debug, Clone)]
pub(super) struct Suggested(Vec<String>);

impl Suggested {
    /// The names of the settings that can be read.
    pub(super) fn read_settings() -> Suggested {
        Suggested(setting_words::read_names().collect())
    }

    /// The names of the settings that can be written, as the beginning of an assignment.
    pub(super) fn assignments() -> Suggested {
        let names = setting_words::names();
        Suggested(names.map(|name| format!("{name}=")).collect())
    }

    /// The values that the first member of a body can have.
    pub(super) fn of(shape: Shape, schema: &Value) -> Suggested {
        let names_screens = shape.is::<ScreenChoice>();
        Suggested(match names_screens {
            true => SCREENS.iter().map(Screen::word).collect(),
            false => words::first_choices(schema),
        })
    }
}

impl TypedValueParser for Suggested {
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
