//! The catalogue of fonts; the first is the default. The `render` crate has the glyphs.

use alloc::vec::Vec;

/// A font of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FontId(u8);

/// Ids of all fonts in display order.
pub const FONTS: &[&str] = &[
    "antonio",
    "oswald",
    "inter",
    "sourceSerif",
    "merriweather",
    "bitter",
    "atkinson",
    "antonioSemiBold",
    "antonioBold",
    "oswaldBold",
    "interBold",
    "sourceSerifBold",
    "merriweatherBold",
    "bitterBold",
    "atkinsonBold",
    "openRunde",
    "roboto",
    "robotoBold",
    "notoSans",
    "notoSansBold",
    "ubuntu",
    "ubuntuBold",
    "azeret",
];

impl FontId {
    /// The default font.
    pub const DEFAULT: FontId = FontId(0);

    /// Finds a font by its id.
    pub fn named(id: &str) -> Option<FontId> {
        let index = FONTS.iter().position(|known| *known == id)?;
        u8::try_from(index).ok().map(FontId)
    }

    /// Id of the font.
    pub fn id(self) -> &'static str {
        FONTS[self.index()]
    }

    /// Index of the font in the catalogue.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// All fonts in display order.
    pub fn all() -> impl Iterator<Item = FontId> {
        (0..).take(FONTS.len()).map(FontId)
    }
}

/// Ids of all fonts.
pub fn ids() -> Vec<&'static str> {
    FONTS.to_vec()
}
