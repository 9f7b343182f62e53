//! The tree of a wiring file: every value with the line it stands on, laid over that of its base.

use std::{collections::BTreeMap, ops::Range};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::Mistake;

/// A value of the wiring file and its line number; no line if it comes from the base wiring.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WiringValue {
    pub(super) line: Option<usize>,
    pub(super) kind: WiringValueKind,
}

/// Type and content of a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum WiringValueKind {
    Text(String),
    Number(i64),
    Flag(bool),
    List(Vec<WiringValue>),
    Table(BTreeMap<String, WiringValue>),
    /// Something that no wiring needs, by its name.
    Other(&'static str),
}

impl WiringValueKind {
    /// What it is, in words for people.
    pub(super) fn word(&self) -> &'static str {
        match self {
            WiringValueKind::Text(_) => "a text",
            WiringValueKind::Number(_) => "a number",
            WiringValueKind::Flag(_) => "true or false",
            WiringValueKind::List(_) => "a list",
            WiringValueKind::Table(_) => "a section",
            WiringValueKind::Other(word) => word,
        }
    }
}

/// Reads the tree of a file; what cannot be read at all are mistakes.
pub(super) fn read(text: &str, mistakes: &mut Vec<Mistake>) -> BTreeMap<String, WiringValue> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let lines = Lines::of(text);
    for error in errors {
        let line = error.span().map(|span| lines.number(&span));
        let what = error.message().lines().next().unwrap_or("cannot be read");
        mistakes.push(Mistake::at(line, format!("this is no TOML: {what}")));
    }
    entries(table.get_ref(), &lines)
}

/// Lays a file over its base: sections are laid over sections, panels over panels of the same place.
pub(super) fn lay_over(
    mut base: BTreeMap<String, WiringValue>,
    file: BTreeMap<String, WiringValue>,
) -> BTreeMap<String, WiringValue> {
    for (key, own) in file {
        let laid = match base.remove(&key) {
            Some(under) => over(under, own),
            None => own,
        };
        base.insert(key, laid);
    }
    base
}

/// Lays a file over a known board: what it says of every panel counts before what the board says of each.
pub(super) fn lay_over_board(
    mut base: BTreeMap<String, WiringValue>,
    file: BTreeMap<String, WiringValue>,
) -> BTreeMap<String, WiringValue> {
    let every = file.get("every-panel").map(|value| &value.kind);
    let panels = base.get_mut("panel").map(|value| &mut value.kind);
    if let (Some(every @ WiringValueKind::Table(_)), Some(WiringValueKind::List(panels))) =
        (every, panels)
    {
        for panel in panels {
            let under = std::mem::replace(&mut panel.kind, WiringValueKind::Flag(false));
            let own = WiringValue {
                line: panel.line,
                kind: every.clone(),
            };
            let under = WiringValue {
                line: panel.line,
                kind: under,
            };
            *panel = over(under, own);
        }
    }
    lay_over(base, file)
}

/// Takes the lines away: they are those of another file.
pub(super) fn unplaced(entries: BTreeMap<String, WiringValue>) -> BTreeMap<String, WiringValue> {
    entries
        .into_iter()
        .map(|(key, value)| (key, value.unplaced()))
        .collect()
}

impl WiringValue {
    fn unplaced(self) -> WiringValue {
        let kind = match self.kind {
            WiringValueKind::List(values) => {
                WiringValueKind::List(values.into_iter().map(WiringValue::unplaced).collect())
            }
            WiringValueKind::Table(entries) => WiringValueKind::Table(unplaced(entries)),
            other @ (WiringValueKind::Text(_)
            | WiringValueKind::Number(_)
            | WiringValueKind::Flag(_)
            | WiringValueKind::Other(_)) => other,
        };
        WiringValue { line: None, kind }
    }
}

fn over(base: WiringValue, own: WiringValue) -> WiringValue {
    let kind = match (base.kind, own.kind) {
        (WiringValueKind::Table(base), WiringValueKind::Table(own)) => {
            WiringValueKind::Table(lay_over(base, own))
        }
        (WiringValueKind::List(base), WiringValueKind::List(own))
            if is_of_sections(&base) && is_of_sections(&own) =>
        {
            let mut own = own.into_iter();
            let mut laid: Vec<WiringValue> = base
                .into_iter()
                .map(|under| match own.next() {
                    Some(own) => over(under, own),
                    None => under,
                })
                .collect();
            laid.extend(own);
            WiringValueKind::List(laid)
        }
        (_, own) => own,
    };
    WiringValue {
        line: own.line,
        kind,
    }
}

fn is_of_sections(values: &[WiringValue]) -> bool {
    values
        .iter()
        .all(|value| matches!(value.kind, WiringValueKind::Table(_)))
}

fn entries(table: &DeTable<'_>, lines: &Lines) -> BTreeMap<String, WiringValue> {
    table
        .iter()
        .map(|(key, value)| {
            let line = lines.number(&key.span());
            (
                key.get_ref().to_string(),
                WiringValue {
                    line: Some(line),
                    kind: kind(value, lines),
                },
            )
        })
        .collect()
}

fn kind(value: &Spanned<DeValue<'_>>, lines: &Lines) -> WiringValueKind {
    match value.get_ref() {
        DeValue::String(text) => WiringValueKind::Text(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).map_or(
            WiringValueKind::Other("a number that is too large"),
            WiringValueKind::Number,
        ),
        DeValue::Boolean(flag) => WiringValueKind::Flag(*flag),
        DeValue::Float(_) => WiringValueKind::Other("a fraction"),
        DeValue::Datetime(_) => WiringValueKind::Other("a date"),
        DeValue::Array(values) => WiringValueKind::List(
            values
                .iter()
                .map(|value| WiringValue {
                    line: Some(lines.number(&value.span())),
                    kind: kind(value, lines),
                })
                .collect(),
        ),
        DeValue::Table(table) => WiringValueKind::Table(entries(table, lines)),
    }
}

/// Where the lines of a text begin.
struct Lines {
    begins: Vec<usize>,
}

impl Lines {
    fn of(text: &str) -> Lines {
        let begins = text
            .bytes()
            .enumerate()
            .filter(|(_, byte)| *byte == b'\n')
            .map(|(at, _)| at + 1);
        Lines {
            begins: std::iter::once(0).chain(begins).collect(),
        }
    }

    /// Number of the line on which something begins; the first is 1.
    fn number(&self, span: &Range<usize>) -> usize {
        self.begins.partition_point(|begin| *begin <= span.start)
    }
}
