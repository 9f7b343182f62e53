//! One screen as words, one figure and a graph, for pictures that are no row of cells; `render` arranges and draws it.
//!
//! Every text comes in forms, the longest first; the longest that fits is drawn, and nothing is ever cut.

use alloc::{string::String, sync::Arc, vec::Vec};

use market::mark::Mark;

use crate::cells::Icon;

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
