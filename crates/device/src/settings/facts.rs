//! What GET tells besides the settings themselves.

/// A key of the GET document that is no setting.
#[derive(Debug, Clone, Copy)]
pub struct Fact {
    /// Name on the wire.
    pub name: &'static str,
    /// What it is, with its unit.
    pub doc: &'static str,
    /// Its JSON shape.
    pub shape: Shape,
    /// In every document, or only where it applies.
    pub always: bool,
}

/// JSON shape of a [`Fact`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
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

const fn always(name: &'static str, shape: Shape, doc: &'static str) -> Fact {
    Fact {
        name,
        doc,
        shape,
        always: true,
    }
}

const fn sometimes(name: &'static str, shape: Shape, doc: &'static str) -> Fact {
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
        Shape::Integer,
        "Number of panels of the board.",
    ),
    always("hostname", Shape::Text, "Host name, without a domain."),
    always(
        "ip",
        Shape::Text,
        "Address of the device; empty in access point mode.",
    ),
    always(
        "fgColor",
        Shape::Integer,
        "Foreground as a 16-bit colour; follows `invertedColor`.",
    ),
    always(
        "bgColor",
        Shape::Integer,
        "Background as a 16-bit colour; follows `invertedColor`.",
    ),
    always("hwRev", Shape::Text, "Hardware revision, for people."),
    always("fsRev", Shape::Text, "Version of the web bundle."),
    sometimes(
        "gitRev",
        Shape::Text,
        "Version of the firmware; left out when unknown.",
    ),
    sometimes(
        "gitTag",
        Shape::Text,
        "Tag of the firmware; left out when empty.",
    ),
    sometimes(
        "lastBuildTime",
        Shape::Integer,
        "When the firmware was built, s since 1970-01-01 UTC.",
    ),
    always("timerRunning", Shape::Bool, "The rotation timer runs."),
    always("currentScreen", Shape::Integer, "Id of the current screen."),
    always(
        "blockHeight",
        Shape::Integer,
        "Latest known block height; 0 if none is known.",
    ),
    always(
        "availableFonts",
        Shape::Fonts,
        "Fonts that can be chosen, and which of them have the bitcoin sign.",
    ),
    always(
        "availablePools",
        Shape::Texts,
        "Ids of the mining pools that can be chosen.",
    ),
    always(
        "availableCurrencies",
        Shape::Texts,
        "ISO 4217 codes of the currencies that can be chosen.",
    ),
    always("hasFrontlight", Shape::Bool, "The board has a frontlight."),
    always(
        "hasLightLevel",
        Shape::Bool,
        "The board has a light sensor.",
    ),
    sometimes(
        "lightLevel",
        Shape::Number,
        "Light in the room, lux; only with a sensor that answers.",
    ),
    sometimes(
        "nwcUriMasked",
        Shape::Text,
        "Pairing of the wallet without its secret; only if the stored URI can be read.",
    ),
    sometimes(
        "miningPoolUserSet",
        Shape::Bool,
        "An API key is stored; only while `miningPoolUser` holds one and is hidden.",
    ),
];
