//! Properties of every picture, in every font, at every size.

#![allow(clippy::unwrap_used)]

mod painting;

use std::sync::Arc;

use device::{
    cells::{BlockLine, Cell, Picture, Style},
    settings::fonts::FontId,
};
use market::{logo::Logo, mark::Mark};
use painting::{HEIGHT, Ink, WIDTH, ink, picture};
use proptest::prelude::*;
use render::{Bitmap, Painter, png};

/// Margin above and below digits, px.
const MARGIN: u16 = 4;

/// Margin beside digits, px.
const SIDE: u16 = 6;

/// Height of the capitals of the smallest letters that are drawn, px.
const CAPITAL_LEAST: u16 = 4;

/// All characters that are drawn in the digit font.
const SIGNS: &[&str] = &[
    "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", ".", ":", "%", "K", "M", "B", "T", "Q", "$",
    "€", "£", "¥", "₿", "?", "0.", "5.", "12.", "150.", "8888.",
];

fn fonts() -> impl Strategy<Value = FontId> {
    proptest::sample::select(FontId::all().collect::<Vec<_>>())
}

fn paint_digit(painter: &mut Painter, font: FontId, digit_px: u32, text: &str) -> Option<Ink> {
    let mut picture = picture(vec![Cell::digit(text)]);
    picture.style.font = font;
    picture.style.digit_px = digit_px;
    ink(&painter.paint(&picture, 0))
}

fn check_margin(font: FontId, digit_px: u32, text: &str, ink: Ink) {
    let Ink {
        left,
        right,
        top,
        bottom,
    } = ink;
    let inside = left >= SIDE && right < WIDTH - SIDE && top >= MARGIN && bottom < HEIGHT - MARGIN;
    assert!(inside, "{text} in {} at {digit_px} px: {ink:?}", font.id());
    let (before, after) = (left, WIDTH - 1 - right);
    assert!(
        before.abs_diff(after) <= 1,
        "{text} in {} at {digit_px} px is off centre: {ink:?}",
        font.id()
    );
}

fn check_digits(painter: &mut Painter, font: FontId, digit_px: u32) {
    let digits: Vec<_> = ('0'..='9')
        .map(|digit| {
            let text = digit.to_string();
            let ink = paint_digit(painter, font, digit_px, &text).unwrap();
            check_margin(font, digit_px, &text, ink);
            ink
        })
        .collect();
    // Only digits with flat feet stand on the baseline exactly; round ones reach below it.
    let feet = [1, 2, 4, 7].map(|digit: usize| digits[digit].bottom);
    assert!(
        feet.iter().all(|foot| foot.abs_diff(feet[0]) <= 2),
        "{}: {digits:?}",
        font.id()
    );
    let zero = digits[0];
    assert!(
        zero.top.abs_diff(HEIGHT - 1 - zero.bottom) <= 1,
        "digits in {} at {digit_px} px are not in the middle: {zero:?}",
        font.id()
    );
}

#[test]
fn digits_keep_margin_middle_and_baseline_in_every_font() {
    let mut painter = Painter::new(WIDTH, HEIGHT);
    for font in FontId::all() {
        for digit_px in [80, 180, 220] {
            check_digits(&mut painter, font, digit_px);
        }
    }
}

#[test]
fn signs_keep_the_margin_in_every_font() {
    let mut painter = Painter::new(WIDTH, HEIGHT);
    for font in FontId::all() {
        for (digit_px, text) in [180, 220]
            .into_iter()
            .flat_map(|px| SIGNS.iter().map(move |text| (px, text)))
        {
            let ink = paint_digit(&mut painter, font, digit_px, text);
            let ink = ink.unwrap_or_else(|| panic!("{text} in {} is empty", font.id()));
            check_margin(font, digit_px, text, ink);
        }
    }
}

#[test]
fn the_bitcoin_sign_is_one_drawing_on_numbers_and_in_the_owners_text() {
    let mut painter = Painter::new(WIDTH, HEIGHT);
    for font in FontId::all() {
        let mut ink = |cell: Cell| {
            let mut picture = picture(vec![cell]);
            picture.style.font = font;
            let painted = painter.paint(&picture, 0);
            let pixels = (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (x, y)));
            let inked: Vec<_> = pixels.filter(|(x, y)| painted.is_ink(*x, *y)).collect();
            let top = inked.iter().map(|(_, y)| *y).min().unwrap();
            let left = inked.iter().map(|(x, _)| *x).min().unwrap();
            let moved = inked.into_iter().map(|(x, y)| (x - left, y - top));
            moved.collect::<Vec<_>>()
        };
        let text = |text: &str| Cell::Text {
            text: text.into(),
            px: Some(180),
        };
        let (sign, letter) = (ink(text("₿")), ink(text("B")));
        assert_eq!(ink(Cell::digit("₿")), sign, "{}", font.id());
        assert_ne!(letter, sign, "{}", font.id());
        let height = |ink: &[(u16, u16)]| ink.iter().map(|(_, y)| *y).max().unwrap() + 1;
        let ratio = 100 * height(&sign) / height(&letter);
        assert!((108..=145).contains(&ratio), "{}: {ratio} %", font.id());
    }
}

#[test]
fn the_dot_is_on_the_baseline_of_the_digits() {
    let mut painter = Painter::new(WIDTH, HEIGHT);
    for font in FontId::all() {
        let dot = paint_digit(&mut painter, font, 180, ".").unwrap();
        let one = paint_digit(&mut painter, font, 180, "1").unwrap();
        let merged = paint_digit(&mut painter, font, 180, "12.").unwrap();
        assert!(
            dot.bottom.abs_diff(one.bottom) <= 3,
            "{}: {dot:?} {one:?}",
            font.id()
        );
        assert!(
            merged.bottom.abs_diff(one.bottom) <= 3,
            "{}: {merged:?} {one:?}",
            font.id()
        );
    }
}

/// A block of lines of text.
fn block(lines: &[&str], px: u32) -> Cell {
    let plain = |text: &&str| BlockLine {
        text: (*text).to_owned(),
        bold: false,
    };
    let lines = lines.iter().map(plain).collect();
    Cell::Block { lines, px }
}

/// First and last row of each group of rows with ink in a drawn cell.
fn rows_of(cell: Cell) -> Vec<(u16, u16)> {
    let bitmap = Painter::new(WIDTH, HEIGHT).paint(&picture(vec![cell]), 0);
    let mut rows: Vec<(u16, u16)> = Vec::new();
    for y in 0..HEIGHT {
        if (0..WIDTH).any(|x| bitmap.is_ink(x, y)) {
            match rows.last_mut() {
                Some((_, last)) if *last + 1 == y => *last = y,
                Some(_) | None => rows.push((y, y)),
            }
        }
    }
    rows
}

#[test]
fn a_block_of_many_lines_becomes_smaller_until_all_are_seen() {
    for count in [2, 6, 9, 12] {
        let rows = rows_of(block(&vec!["EHEH"; count], 60));
        assert_eq!(rows.len(), count);
        let heights: Vec<u16> = rows.iter().map(|(first, last)| last - first).collect();
        let (least, most) = (heights.iter().min().unwrap(), heights.iter().max().unwrap());
        assert!(most - least <= 1, "{heights:?}");
        assert!(
            rows[0].0 >= MARGIN && rows[count - 1].1 < HEIGHT - MARGIN,
            "{rows:?}"
        );
    }
}

#[test]
fn a_text_that_is_far_too_long_is_cut_before_it_is_too_small_to_read() {
    let long = || "EH".repeat(60);
    let (top, bottom) = (long(), long());
    for cell in [
        Cell::Split { top, bottom },
        Cell::Title(long()),
        Cell::Word(long()),
        Cell::Text {
            text: long(),
            px: None,
        },
    ] {
        let name = format!("{cell:?}");
        let rows = rows_of(cell).into_iter();
        // Beside the bar between two lines.
        let height = rows.map(|(first, last)| last - first + 1).max().unwrap();
        assert!(height >= CAPITAL_LEAST, "{name}: {height} px");
    }
}

#[test]
fn a_line_that_is_too_wide_is_wrapped_as_late_as_possible() {
    // At the least readable height, so that no line becomes smaller.
    let words = ["EHEHEHEHEHEHEHEHEHEHEHEHEHEH"];
    let broken = rows_of(block(&words, 24)).len();
    assert!((2..=5).contains(&broken), "{broken} lines");
}

#[test]
fn letters_of_a_picture_have_one_height() {
    let mut painter = Painter::new(WIDTH, HEIGHT);
    let wide = picture(
        ["H", "E", "W"]
            .map(|letter| Cell::Letter(letter.into()))
            .to_vec(),
    );
    let narrow = picture(
        ["H", "E", "I"]
            .map(|letter| Cell::Letter(letter.into()))
            .to_vec(),
    );
    let height = |bitmap: Bitmap| ink(&bitmap).map(|ink| (ink.top, ink.bottom)).unwrap();
    let heights: Vec<_> = painter.paint_all(&wide).into_iter().map(height).collect();
    assert!(
        heights.iter().all(|each| each == &heights[0]),
        "{heights:?}"
    );
    assert_ne!(height(painter.paint(&narrow, 0)), heights[0]);
}

#[test]
fn cached_letters_follow_the_style() {
    let mut painter = Painter::new(WIDTH, HEIGHT);
    let mut picture = picture(
        ["H", "E"]
            .map(|letter| Cell::Letter(letter.into()))
            .to_vec(),
    );
    let fonts: Vec<FontId> = FontId::all().take(3).collect();
    for font in fonts.iter().chain(&fonts) {
        picture.style.font = *font;
        let fresh = Painter::new(WIDTH, HEIGHT).paint_all(&picture);
        assert!(painter.paint_all(&picture) == fresh, "{}", font.id());
    }
}

#[test]
fn marks_touch_no_label() {
    let labels = [
        Cell::label("BLOCK", "HEIGHT"),
        Cell::label("MSCW", "TIME"),
        Cell::label("satoshi", "radio"),
        Cell::Word("satoshiradio".into()),
        Cell::digit("$"),
        Cell::digit("8"),
    ];
    let mut painter = Painter::new(WIDTH, HEIGHT);
    for font in FontId::all() {
        for (cell, vertical_labels) in labels.iter().flat_map(|cell| [(cell, false), (cell, true)])
        {
            let mut picture = picture(vec![cell.clone(), cell.clone()]);
            picture.style.font = font;
            picture.style.vertical_labels = vertical_labels;
            let plain = painter.paint_all(&picture);
            for mark in Mark::ALL {
                picture.mark = Some(mark);
                let marked = painter.paint_all(&picture);
                let ink = added(&plain[0], &marked[0]);
                assert!(
                    (40..=225).contains(&ink),
                    "{mark:?} on {cell:?} in {}: {ink} pixels",
                    font.id()
                );
                assert_eq!(plain[1], marked[1]);
            }
        }
    }
}

/// Number of pixels of ink that `after` has in addition to those of `before`; none may be missing.
fn added(before: &Bitmap, after: &Bitmap) -> usize {
    let pixels = (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (x, y)));
    pixels
        .inspect(|&(x, y)| {
            assert!(
                after.is_ink(x, y) || !before.is_ink(x, y),
                "ink lost at {x},{y}"
            )
        })
        .filter(|&(x, y)| after.is_ink(x, y) && !before.is_ink(x, y))
        .count()
}

#[test]
fn all_satoshi_symbols_differ() {
    let mut painter = Painter::new(WIDTH, HEIGHT);
    let mut drawn = |sats_variant| {
        let mut picture = picture(vec![Cell::Sats]);
        picture.style.sats_variant = sats_variant;
        painter.paint(&picture, 0)
    };
    let symbols: Vec<_> = (0..16).map(&mut drawn).collect();
    for (index, symbol) in symbols.iter().enumerate() {
        for (other_index, other) in symbols.iter().enumerate().skip(index + 1) {
            let differing = symbol
                .rows()
                .iter()
                .zip(other.rows())
                .map(|(a, b)| (a ^ b).count_ones())
                .sum::<u32>();
            assert!(
                differing > 250,
                "{index}, {other_index}: {differing} pixels"
            );
        }
    }
}

#[test]
fn satoshi_symbols_grow_with_the_digits_beside_them() {
    let mut painter = Painter::new(WIDTH, HEIGHT);
    let mut height = |digit_px| {
        let mut picture = picture(vec![Cell::Sats]);
        picture.style.digit_px = digit_px;
        let symbol = ink(&painter.paint(&picture, 0)).unwrap();
        i64::from(symbol.bottom - symbol.top + 1)
    };
    let usual = height(180);
    for digit_px in [80, 120, 150] {
        let (found, expected) = (height(digit_px), usual * i64::from(digit_px) / 180);
        assert!(
            (found - expected).abs() <= 6,
            "{digit_px} px: {found} instead of {expected}"
        );
    }
}

#[test]
fn qr_codes_stay_dark_on_light() {
    let mut painter = Painter::new(WIDTH, HEIGHT);
    let mut picture = picture(vec![Cell::Qr(
        "WIFI:T:WPA;S:papertick;P:secret123;;".into(),
    )]);
    let plain = painter.paint(&picture, 0);
    picture.style.inverted = true;
    let inverted = painter.paint(&picture, 0);
    let code = ink(&plain).unwrap();
    for (x, y) in
        (code.left..=code.right).flat_map(|x| (code.top..=code.bottom).map(move |y| (x, y)))
    {
        assert_eq!(plain.is_ink(x, y), inverted.is_ink(x, y));
    }
    assert!(inverted.is_ink(0, 0) && !inverted.is_ink(code.left - 1, code.top - 1));
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        ".{0,12}",
        "\\PC{0,300}",
        "[A-Za-z0-9 /₿łéß.,:-]{0,40}",
        "[\\x00-\\x20]{0,5}"
    ]
}

fn logos() -> impl Strategy<Value = Logo> {
    (
        0..400u16,
        0..600u16,
        proptest::collection::vec(any::<u8>(), 0..6000),
    )
        .prop_map(|(width, height, rows)| Logo {
            name: "any".into(),
            width,
            height,
            rows,
        })
}

fn cells() -> impl Strategy<Value = Cell> {
    let lines = proptest::collection::vec((texts(), any::<bool>()), 0..40);
    let lines = lines.prop_map(|lines| {
        lines
            .into_iter()
            .map(|(text, bold)| BlockLine { text, bold })
            .collect()
    });
    prop_oneof![
        texts().prop_map(Cell::Digit),
        texts().prop_map(Cell::Tail),
        texts().prop_map(Cell::Code),
        texts().prop_map(Cell::Word),
        texts().prop_map(Cell::Title),
        texts().prop_map(Cell::Letter),
        texts().prop_map(Cell::Qr),
        (texts(), texts()).prop_map(|(top, bottom)| Cell::Label { top, bottom }),
        (texts(), texts()).prop_map(|(top, bottom)| Cell::Unit { top, bottom }),
        (texts(), texts()).prop_map(|(top, bottom)| Cell::Split { top, bottom }),
        (texts(), any::<Option<u32>>()).prop_map(|(text, px)| Cell::Text { text, px }),
        (lines, any::<u32>()).prop_map(|(lines, px)| Cell::Block { lines, px }),
        logos().prop_map(|logo| Cell::Logo(Arc::new(logo))),
        Just(Cell::Sats),
    ]
}

fn marks() -> impl Strategy<Value = Option<Mark>> {
    proptest::option::of(proptest::sample::select(&Mark::ALL[..]))
}

fn styles() -> impl Strategy<Value = Style> {
    (
        fonts(),
        any::<u32>(),
        any::<u32>(),
        any::<bool>(),
        any::<bool>(),
        any::<u8>(),
    )
        .prop_map(
            |(font, digit_px, label_fit_pct, vertical_labels, inverted, sats_variant)| Style {
                font,
                digit_px,
                label_fit_pct,
                vertical_labels,
                inverted,
                sats_variant,
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn digits_keep_margin_middle_and_baseline(font in fonts(), digit_px in 80..=220u32) {
        check_digits(&mut Painter::new(WIDTH, HEIGHT), font, digit_px);
    }

    #[test]
    fn every_picture_can_be_painted(
        cells in proptest::collection::vec(cells(), 1..4),
        style in styles(),
        mark in marks(),
        size in prop_oneof![Just((WIDTH, HEIGHT)), (0..300u16, 0..300u16)],
    ) {
        let picture = Picture { mark, ..Picture::new(cells, style) };
        let panels = Painter::new(size.0, size.1).paint_all(&picture);
        prop_assert!(panels.iter().all(|panel| (panel.width(), panel.height()) == size));
        prop_assert!(!png::panel(&panels[0]).is_empty());
    }

    #[test]
    fn owners_text_keeps_off_the_edge(text in texts(), font in fonts(), split in any::<bool>()) {
        let cell = if split {
            Cell::Split { top: text.clone(), bottom: text }
        } else {
            Cell::Text { text, px: None }
        };
        let mut picture = picture(vec![cell]);
        picture.style.font = font;
        if let Some(ink) = ink(&Painter::new(WIDTH, HEIGHT).paint(&picture, 0)) {
            prop_assert!(ink.left >= 1 && ink.right < WIDTH - 1 && ink.top >= 1 && ink.bottom < HEIGHT - 1, "{:?}", ink);
        }
    }

    #[test]
    fn inversion_is_exact(font in fonts(), text in "[0-9$€.]{1,2}", mark in marks()) {
        let mut painter = Painter::new(WIDTH, HEIGHT);
        let mut picture = picture(vec![Cell::digit(text)]);
        picture.style.font = font;
        picture.mark = mark;
        let plain = painter.paint(&picture, 0);
        picture.style.inverted = true;
        let inverted = painter.paint(&picture, 0);
        for (x, y) in (0..WIDTH).flat_map(|x| (0..HEIGHT).map(move |y| (x, y))) {
            prop_assert_ne!(plain.is_ink(x, y), inverted.is_ink(x, y));
        }
    }
}
