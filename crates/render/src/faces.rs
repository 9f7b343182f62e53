//! The table of font files: unmodified WOFF2 files of their projects, each with its licence beside it.

use device::settings::fonts::FontId;

/// A row of the table: the files of one face.
pub(crate) struct Face {
    /// Id in the catalogue.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "rows are found by place; a test compares the ids")
    )]
    pub(crate) id: &'static str,
    /// Letters, digits and the common currency signs.
    pub(crate) latin: &'static [u8],
    /// Further letters, and the bitcoin sign if the family has it.
    pub(crate) latin_ext: Option<&'static [u8]>,
    /// It has the bitcoin sign. A test compares this with the character map.
    pub(crate) btc: bool,
}

macro_rules! file {
    ($family:literal, $subset:literal, $weight:literal) => {
        include_bytes!(concat!(
            "../fonts/",
            $family,
            "/",
            $family,
            "-",
            $subset,
            "-",
            $weight,
            "-normal.woff2"
        ))
    };
}

macro_rules! face {
    ($id:literal, $family:literal, $weight:literal) => {
        Face {
            id: $id,
            latin: file!($family, "latin", $weight),
            latin_ext: None,
            btc: false,
        }
    };
    ($id:literal, $family:literal, $weight:literal, btc) => {
        Face {
            btc: true,
            ..face!($id, $family, $weight)
        }
    };
    ($id:literal, $family:literal, $weight:literal, ext) => {
        Face {
            latin_ext: Some(file!($family, "latin-ext", $weight)),
            btc: true,
            ..face!($id, $family, $weight)
        }
    };
}

/// One row per font of the catalogue, in its order.
pub(crate) static FACES: &[Face] = &[
    face!("antonio", "antonio", 400),
    face!("oswald", "oswald", 400),
    face!("inter", "inter", 600, ext),
    face!("sourceSerif", "source-serif-4", 600, ext),
    face!("merriweather", "merriweather", 400, ext),
    face!("bitter", "bitter", 600),
    face!("atkinson", "atkinson-hyperlegible", 400),
    face!("antonioSemiBold", "antonio", 600),
    face!("antonioBold", "antonio", 700),
    face!("oswaldBold", "oswald", 700),
    face!("interBold", "inter", 700, ext),
    face!("sourceSerifBold", "source-serif-4", 700, ext),
    face!("merriweatherBold", "merriweather", 700, ext),
    face!("bitterBold", "bitter", 700),
    face!("atkinsonBold", "atkinson-hyperlegible", 700),
    face!("openRunde", "open-runde", 600, btc),
    face!("roboto", "roboto", 600),
    face!("robotoBold", "roboto", 700),
    face!("notoSans", "noto-sans", 600, ext),
    face!("notoSansBold", "noto-sans", 700, ext),
    face!("ubuntu", "ubuntu", 500),
    face!("ubuntuBold", "ubuntu", 700),
    face!("azeret", "azeret-mono", 400, ext),
];

/// Returns whether a font has the bitcoin sign, U+20BF.
pub fn has_btc_symbol(font: FontId) -> bool {
    FACES[font.index()].btc
}

/// The face of the debug view and of provisioning.
pub(crate) fn plain() -> FontId {
    fixed("atkinson")
}

/// The face of everything on a tile but its figure.
pub(crate) fn words() -> FontId {
    fixed("inter")
}

pub(crate) fn plain_bold() -> FontId {
    fixed("atkinsonBold")
}

/// The face of the owner's split texts.
pub(crate) fn poster() -> FontId {
    fixed("oswaldBold")
}

/// The fallback for characters of the owner's text that the font lacks.
pub(crate) fn stand_in() -> FontId {
    fixed("notoSans")
}

fn fixed(id: &str) -> FontId {
    FontId::named(id).unwrap_or(FontId::DEFAULT)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]

    use device::settings::fonts::FONTS;

    use super::*;
    use crate::font::Font;

    #[test]
    fn rows_follow_the_catalogue() {
        let ids: Vec<_> = FACES.iter().map(|face| face.id).collect();
        assert_eq!(ids, FONTS);
    }

    #[test]
    fn btc_column_matches_the_character_maps() {
        for font in FontId::all() {
            let drawn = Font::open(font).has('₿');
            assert_eq!(drawn, has_btc_symbol(font), "{}", font.id());
        }
    }

    #[test]
    fn every_font_has_digits_letters_and_currency_signs() {
        for font in FontId::all() {
            let open = Font::open(font);
            for ch in (' '..='~').chain("£¥€…".chars()) {
                assert!(open.has(ch), "{} lacks {ch:?}", font.id());
            }
        }
    }

    /// Ranges of the characters that can be drawn with every font, by first and last code point.
    fn ranges() -> Vec<(u32, u32)> {
        let fonts: Vec<Font> = FontId::all().map(Font::open).collect();
        let stand_in = &fonts[stand_in().index()];
        let is_drawn = |ch: &char| {
            let by_all = || *ch == '₿' || fonts.iter().all(|font| font.has(*ch));
            !ch.is_control() && (stand_in.has(*ch) || by_all())
        };
        let lacks = |ch: &char| !fonts.iter().all(|font| font.has(*ch));
        let alone = ('\u{80}'..'\u{3000}').find(|ch| stand_in.has(*ch) && lacks(ch));
        let alone = alone.unwrap();
        for ch in ['a', '₿', 'ü', '漢', '\n', '\u{10FFFF}', ' ', alone] {
            assert_eq!(crate::is_drawn(ch), is_drawn(&ch), "{ch:?}");
        }
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for code in ('\0'..=char::MAX).filter(is_drawn).map(u32::from) {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == code => *last = code,
                Some(_) | None => ranges.push((code, code)),
            }
        }
        ranges
    }

    /// The page warns about the other characters of a text.
    #[test]
    fn the_page_has_the_drawable_characters() {
        let rows: Vec<String> = ranges()
            .iter()
            .map(|(first, last)| format!("  [{first}, {last}]"))
            .collect();
        let fresh = format!("[\n{}\n]\n", rows.join(",\n"));
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../webui/src/glyphs.gen.json"
        );
        if std::env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1") {
            std::fs::write(path, &fresh).unwrap();
        }
        let kept = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            kept == fresh,
            "webui/src/glyphs.gen.json is stale: run the tests with UPDATE_EXPECT=1 and commit it"
        );
    }
}
