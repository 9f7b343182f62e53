//! Keys of the GET document that are not settings.

/// A key of the GET document that is not a setting.
#[derive(Debug, Clone, Copy)]
pub struct Fact {
    /// Name on the wire.
    pub name: &'static str,
    /// What it is, with its unit.
    pub doc: &'static str,
    /// Its JSON shape.
    pub shape: FactShape,
    /// In every document, or only where it applies.
    pub always: bool,
}

/// JSON shape of a [`Fact`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactShape {
    /// A truth value.
    Bool,
    /// A whole number.
    Integer,
    /// A number with decimals.
    Number,
    /// A text.
    Text,
    /// A list of texts.
    Texts,
    /// A list of objects with `id` and `hasBtcSymbol`.
    Fonts,
}

const fn always(name: &'static str, shape: FactShape, doc: &'static str) -> Fact {
    Fact {
        name,
        doc,
        shape,
        always: true,
    }
}

const fn sometimes(name: &'static str, shape: FactShape, doc: &'static str) -> Fact {
    Fact {
        name,
        doc,
        shape,
        always: false,
    }
}

/// All facts.
pub static FACTS: &[Fact] = &[
    always(
        "numScreens",
        FactShape::Integer,
        "Number of panels of the board.",
    ),
    always("hostname", FactShape::Text, "Host name, without a domain."),
    always(
        "ip",
        FactShape::Text,
        "Address of the device; empty in access point mode.",
    ),
    always(
        "fgColor",
        FactShape::Integer,
        "Foreground as a 16-bit colour; follows `invertedColor`.",
    ),
    always(
        "bgColor",
        FactShape::Integer,
        "Background as a 16-bit colour; follows `invertedColor`.",
    ),
    always("hwRev", FactShape::Text, "Hardware revision, for people."),
    always("fsRev", FactShape::Text, "Version of the web bundle."),
    sometimes(
        "gitRev",
        FactShape::Text,
        "Version of the firmware; left out when unknown.",
    ),
    sometimes(
        "gitTag",
        FactShape::Text,
        "Tag of the firmware; left out when empty.",
    ),
    sometimes(
        "lastBuildTime",
        FactShape::Integer,
        "When the firmware was built, s since 1970-01-01 UTC.",
    ),
    always("timerRunning", FactShape::Bool, "The rotation timer runs."),
    always(
        "currentScreen",
        FactShape::Integer,
        "Id of the current screen.",
    ),
    always(
        "blockHeight",
        FactShape::Integer,
        "Latest known block height; 0 if none is known.",
    ),
    always(
        "availableFonts",
        FactShape::Fonts,
        "Fonts that can be chosen, and which of them have the bitcoin sign.",
    ),
    always(
        "availablePools",
        FactShape::Texts,
        "Ids of the mining pools that can be chosen.",
    ),
    always(
        "availableCurrencies",
        FactShape::Texts,
        "ISO 4217 codes of the currencies that can be chosen.",
    ),
    always(
        "hasFrontlight",
        FactShape::Bool,
        "The board has a frontlight.",
    ),
    always(
        "hasLightLevel",
        FactShape::Bool,
        "The board has a light sensor.",
    ),
    always(
        "hasOnePanel",
        FactShape::Bool,
        "One panel shows everything, in the layout `panelLayout`.",
    ),
    always(
        "hasSlowPanel",
        FactShape::Bool,
        "The one panel gets a new picture with each block at most; it does not follow the rotation.",
    ),
    always(
        "hasRadio",
        FactShape::Bool,
        "The clock manages a radio; elsewhere the network is the host's.",
    ),
    sometimes(
        "lightLevel",
        FactShape::Number,
        "Light in the room, lux; only with a sensor that answers.",
    ),
    sometimes(
        "nwcUriMasked",
        FactShape::Text,
        "Pairing of the wallet without its secret; only if the stored URI can be read.",
    ),
    sometimes(
        "miningPoolUserSet",
        FactShape::Bool,
        "An API key is stored; only while `miningPoolUser` holds one and is hidden.",
    ),
];
