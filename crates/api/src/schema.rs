//! JSON Schemas of the document types, and words of fixed lists as members of documents.

use alloc::{borrow::Cow, vec::Vec};

use device::{
    board::PanelFault, lights::strip::MuteReason, refresh::Refresh, releases::ReleaseVerdict,
};
use market::{HeightState, PriceState, QuoteVerdict, TimeState, source_id::SourceId};
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema};
use serde::{Serialize, Serializer};

/// Generates schemas of documents that the clock sends. Schemas of types that have a name stand under `definitions`.
pub fn generator(definitions: &'static str) -> SchemaGenerator {
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.definitions_path = Cow::Borrowed(definitions);
    settings.meta_schema = None;
    settings.into_generator()
}

/// A type whose values are the words of a fixed list.
pub trait Vocabulary: Copy {
    /// Name of the list.
    const NAME: &'static str;

    /// The word for a value.
    fn word(self) -> &'static str;

    /// All words.
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
    TimeState::name;
}

/// Why a release is not taken.
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
