//! The values of the settings: a field and a key for every row of the table.

use alloc::{string::String, vec::Vec};
use serde_json::Value;

use super::{field::Field, table::rows};
use crate::{
    displays::Display,
    glass::rotation::RotationSlot,
    secret::{Endpoint, PasswordHash, Secret},
};
use market::units::Currency;

macro_rules! values {
    ($(
        $(#[doc = $doc:literal])+
        $field:ident: $type:ty {
            name: $name:literal,
            $($rest:tt)*
        }
    )+) => {
        /// All settings with their values.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Settings {
            $( $(#[doc = $doc])+ pub $field: $type, )+
        }

        /// A setting, named after its field in [`Settings`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(non_camel_case_types, missing_docs, reason = "a key is named after its field")]
        pub enum Key { $( $field, )+ }

        impl Key {
            /// Name of the setting on the wire.
            pub const fn name(self) -> &'static str {
                match self { $( Key::$field => $name, )+ }
            }
        }

        impl Settings {
            /// The stored form of one setting.
            pub fn get(&self, key: Key) -> Value {
                match key { $( Key::$field => Field::store(&self.$field), )+ }
            }

            /// Replaces one setting by its stored form; returns whether the type was right.
            pub fn set(&mut self, key: Key, value: &Value) -> bool {
                match key {
                    $( Key::$field => match <$type as Field>::load(value) {
                        Some(loaded) => { self.$field = loaded; true }
                        None => false,
                    }, )+
                }
            }

            /// Copies one setting from other settings.
            pub fn copy(&mut self, key: Key, from: &Settings) {
                match key { $( Key::$field => self.$field.clone_from(&from.$field), )+ }
            }
        }
    };
}

rows!(values);
