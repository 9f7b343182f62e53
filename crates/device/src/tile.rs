//! One screen as words, one figure and a graph, for pictures that are no row of cells; `render` arranges and draws it.
//!
//! Every text comes in forms, the longest first; the longest that fits is drawn, and nothing is ever cut.

use alloc::{format, string::String, sync::Arc, vec::Vec};

use market::{HeightState, mark::Mark};

use crate::cells::Icon;

/// The line of a height that one source has proven.
pub(crate) const PROVEN_BY_ONE: [&str; 2] = ["Proven by one source", "One source"];

/// One screen.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Tile {
    /// Forms of its name, the last of at most seven letters; empty for the owner's text.
    pub labels: Vec<String>,
    /// Forms of the figure; at least one.
    pub figures: Vec<Figure>,
    /// Lines of context, the most important first, each in its forms. They begin with `▲ ` or `▼ ` for an arrow.
    pub lines: Vec<Vec<String>>,
    /// A graph, if there is enough to show.
    pub graph: Option<Graph>,
    /// The mark of a doubtful or stale value. The first line says the same in words.
    pub mark: Option<Mark>,
}

impl Tile {
    /// The tile of a screen with these forms of its name.
    pub fn new(labels: impl IntoIterator<Item = impl Into<String>>, figures: Vec<Figure>) -> Tile {
        Tile {
            labels: forms(labels),
            figures,
            ..Tile::default()
        }
    }

    /// The tile of a screen with a word in place of its value.
    pub fn word(labels: impl IntoIterator<Item = impl Into<String>>, word: &str) -> Tile {
        Tile::new(labels, Vec::from([Figure::word(word)]))
    }

    /// The tile of a screen that has no value yet.
    pub fn unknown(labels: impl IntoIterator<Item = impl Into<String>>) -> Tile {
        Tile::word(labels, "?").line(["Not known yet"])
    }

    /// Adds a line in its forms, unless it has none.
    #[must_use]
    pub fn line(mut self, forms: impl IntoIterator<Item = impl Into<String>>) -> Tile {
        let forms = self::forms(forms);
        if !forms.is_empty() {
            self.lines.push(forms);
        }
        self
    }
}

impl Tile {
    /// Marks the tile of a doubtful value; the first line states the doubt.
    ///
    /// `state` is that of the height, `from` the time of the value, if it is known.
    #[must_use]
    pub fn doubted(mut self, mark: Mark, state: HeightState, from: Option<String>) -> Tile {
        let doubt = match (mark, from) {
            (Mark::Alone, _) if state == HeightState::Alone => forms(PROVEN_BY_ONE),
            (Mark::Alone, _) => Vec::from(["Not proven".into()]),
            (Mark::Disputed, _) => Vec::from(["Sources disagree".into(), "Disputed".into()]),
            (Mark::Stale, Some(from)) => {
                Vec::from([format!("Stale: from {from}"), format!("from {from}")])
            }
            (Mark::Stale, None) => Vec::from(["Stale".into()]),
        };
        // The height and its proof state it already.
        self.lines.retain(|forms| *forms != doubt);
        self.lines.insert(0, doubt);
        self.mark = Some(mark);
        self
    }
}

impl Figure {
    /// A number.
    pub fn number(text: impl Into<String>) -> Figure {
        Figure {
            text: text.into(),
            ..Figure::default()
        }
    }

    /// A word in place of a value.
    pub fn word(text: impl Into<String>) -> Figure {
        Figure {
            kind: FigureKind::Word,
            ..Figure::number(text)
        }
    }

    /// A text that is as large as fits.
    pub fn text(text: impl Into<String>) -> Figure {
        Figure {
            kind: FigureKind::Text,
            ..Figure::number(text)
        }
    }

    /// The same with a unit.
    #[must_use]
    pub fn with_unit(self, unit: impl Into<String>) -> Figure {
        Figure {
            unit: unit.into(),
            ..self
        }
    }
}

/// What the eye sees first.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Figure {
    /// Before everything else: a bolt or an arrow.
    pub icon: Option<Icon>,
    /// Currency sign before the digits; may be empty.
    pub sign: String,
    /// Digits with their grouping, a word such as `OFFLINE`, or the owner's text.
    pub text: String,
    /// A small sign after the digits, such as `%`; may be empty.
    pub tail: String,
    /// Unit in the face of texts; may be empty. Without room it joins the label.
    pub unit: String,
    /// How large it may get.
    pub kind: FigureKind,
}

/// How large a figure may get.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FigureKind {
    /// As large as fits.
    #[default]
    Number,
    /// Half as high as a number: a fault is never louder than a value.
    Word,
    /// As large as fits, and on two lines if one would be too small.
    Text,
}

/// A drawing beside the lines.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Graph {
    /// Values at equal distances, oldest first, per mille of the range between the least and the greatest. `None` is a gap.
    Line(Arc<[Option<u16>]>),
    /// A part of a whole, per mille.
    Bar(u16),
    /// A QR code of this text.
    Qr(String),
}

/// Texts without equal neighbours.
fn forms(texts: impl IntoIterator<Item = impl Into<String>>) -> Vec<String> {
    let mut forms: Vec<String> = texts.into_iter().map(Into::into).collect();
    forms.dedup();
    forms
}
