//! JSON Schemas of the document types, and words of fixed lists as members of documents.

use alloc::{borrow::Cow, vec::Vec};

use device::{
    board::PanelFault,
    history::Span,
    lights::{StripEffect, strip::MuteReason},
    refresh::Refresh,
    releases::ReleaseVerdict,
};
use market::{HeightState, PriceState, QuoteVerdict, TimeState, source_id::SourceId};
use schemars::{
    JsonSchema, Schema, SchemaGenerator,
    generate::{Contract, SchemaSettings},
    json_schema,
};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// How to generate schemas of documents that the clock sends or receives. Schemas of named types are under
/// `definitions`.
pub fn settings(definitions: &'static str, is_sent: bool) -> SchemaSettings {
    let mut settings = SchemaSettings::draft2020_12();
    settings.contract = if is_sent { Contract::Serialize } else { Contract::Deserialize };
    settings.definitions_path = Cow::Borrowed(definitions);
    settings.meta_schema = None;
    settings
}

/// Turns the documented words of an enum into a plain list of words.
pub(crate) fn plain_words(schema: &mut Schema) {
    let Some(Value::Array(variants)) = schema.remove("oneOf") else {
        return;
    };
    let words: Vec<Value> = variants
        .into_iter()
        .filter_map(|mut variant| Some(variant.get_mut("const")?.take()))
        .collect();
    schema.insert("type".into(), "string".into());
    match words.as_slice() {
        [only] => schema.insert("const".into(), only.clone()),
        _ => schema.insert("enum".into(), words.into()),
    };
}

/// Lets a schema of an object accept other values, too.
pub(crate) fn any_type(schema: &mut Schema) {
    schema.remove("type");
}

/// A type whose values are the words of a fixed list.
pub trait Vocabulary: Copy {
    const NAME: &'static str;

    fn word(self) -> &'static str;

    fn words() -> Vec<&'static str>;
}

/// A value in a document, as its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Word<T>(pub T);

impl<T: Vocabulary> Serialize for Word<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.word())
    }
}

impl<T: Vocabulary> JsonSchema for Word<T> {
    fn schema_name() -> Cow<'static, str> {
        T::NAME.into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": T::words() })
    }
}

macro_rules! vocabularies {
    ($($type:ident::$word:ident;)*) => {$(
        impl Vocabulary for $type {
            const NAME: &'static str = stringify!($type);

            fn word(self) -> &'static str {
                $type::$word(self)
            }

            fn words() -> Vec<&'static str> {
                $type::ALL.iter().map(|value| $type::$word(*value)).collect()
            }
        }
    )*};
}

vocabularies! {
    HeightState::name;
    MuteReason::word;
    PanelFault::name;
    PriceState::name;
    QuoteVerdict::name;
    Refresh::name;
    SourceId::name;
    Span::name;
    TimeState::name;
}

/// Why a release is not installed.
impl Vocabulary for ReleaseVerdict {
    const NAME: &'static str = "ReleaseRefusal";

    fn word(self) -> &'static str {
        self.reason().unwrap_or_default()
    }

    fn words() -> Vec<&'static str> {
        ReleaseVerdict::ALL
            .into_iter()
            .filter_map(ReleaseVerdict::reason)
            .collect()
    }
}

/// An effect of the strip that clients can start.
impl Vocabulary for StripEffect {
    const NAME: &'static str = "StripEffect";

    fn word(self) -> &'static str {
        let named = StripEffect::NAMED
            .iter()
            .find(|(_, effect)| *effect == self);
        named.map_or("", |(name, _)| name)
    }

    fn words() -> Vec<&'static str> {
        StripEffect::NAMED.iter().map(|(name, _)| *name).collect()
    }
}
