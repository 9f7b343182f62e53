//! The values of a wiring file with their line numbers, merged into those of its base.

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
    /// A type that no key has, by its name.
    Other(&'static str),
}

impl WiringValueKind {
    /// Its type, for messages.
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

/// Parses a file. Syntax errors are mistakes.
pub(super) fn read(text: &str, mistakes: &mut Vec<Mistake>) -> BTreeMap<String, WiringValue> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let lines = LineOffsets::of(text);
    for error in errors {
        let line = error.span().map(|span| lines.number(&span));
        let what = error.message().lines().next().unwrap_or("cannot be read");
        mistakes.push(Mistake::at(line, format!("invalid TOML: {what}")));
    }
    entries(table.get_ref(), &lines)
}

/// Merges a file into its base: sections into sections, panels into the panels with the same index.
pub(super) fn merge(
    mut base: BTreeMap<String, WiringValue>,
    file: BTreeMap<String, WiringValue>,
) -> BTreeMap<String, WiringValue> {
    for (key, own) in file {
        let merged = match base.remove(&key) {
            Some(known) => merge_values(known, own),
            None => own,
        };
        base.insert(key, merged);
    }
    base
}

/// Merges a file into a known board. The entries of the file for every panel replace those of the board for each panel.
pub(super) fn merge_into_board(
    mut base: BTreeMap<String, WiringValue>,
    file: BTreeMap<String, WiringValue>,
) -> BTreeMap<String, WiringValue> {
    let every = file.get("every-panel").map(|value| &value.kind);
    let panels = base.get_mut("panel").map(|value| &mut value.kind);
    if let (Some(every @ WiringValueKind::Table(_)), Some(WiringValueKind::List(panels))) =
        (every, panels)
    {
        for panel in panels {
            let known = std::mem::replace(&mut panel.kind, WiringValueKind::Flag(false));
            let own = WiringValue {
                line: panel.line,
                kind: every.clone(),
            };
            let known = WiringValue {
                line: panel.line,
                kind: known,
            };
            *panel = merge_values(known, own);
        }
    }
    merge(base, file)
}

/// Removes the line numbers, which are those of another file.
pub(super) fn without_lines(
    entries: BTreeMap<String, WiringValue>,
) -> BTreeMap<String, WiringValue> {
    entries
        .into_iter()
        .map(|(key, value)| (key, value.without_lines()))
        .collect()
}

impl WiringValue {
    fn without_lines(self) -> WiringValue {
        let kind = match self.kind {
            WiringValueKind::List(values) => {
                WiringValueKind::List(values.into_iter().map(WiringValue::without_lines).collect())
            }
            WiringValueKind::Table(entries) => WiringValueKind::Table(without_lines(entries)),
            other @ (WiringValueKind::Text(_)
            | WiringValueKind::Number(_)
            | WiringValueKind::Flag(_)
            | WiringValueKind::Other(_)) => other,
        };
        WiringValue { line: None, kind }
    }
}

fn merge_values(base: WiringValue, own: WiringValue) -> WiringValue {
    let kind = match (base.kind, own.kind) {
        (WiringValueKind::Table(base), WiringValueKind::Table(own)) => {
            WiringValueKind::Table(merge(base, own))
        }
        (WiringValueKind::List(base), WiringValueKind::List(own))
            if has_only_sections(&base) && has_only_sections(&own) =>
        {
            let mut own = own.into_iter();
            let mut merged: Vec<WiringValue> = base
                .into_iter()
                .map(|known| match own.next() {
                    Some(own) => merge_values(known, own),
                    None => known,
                })
                .collect();
            merged.extend(own);
            WiringValueKind::List(merged)
        }
        (_, own) => own,
    };
    WiringValue {
        line: own.line,
        kind,
    }
}

fn has_only_sections(values: &[WiringValue]) -> bool {
    values
        .iter()
        .all(|value| matches!(value.kind, WiringValueKind::Table(_)))
}

fn entries(table: &DeTable<'_>, lines: &LineOffsets) -> BTreeMap<String, WiringValue> {
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

fn kind(value: &Spanned<DeValue<'_>>, lines: &LineOffsets) -> WiringValueKind {
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

/// Offsets of the lines of a text.
struct LineOffsets {
    starts: Vec<usize>,
}

impl LineOffsets {
    fn of(text: &str) -> LineOffsets {
        let starts = text
            .bytes()
            .enumerate()
            .filter(|(_, byte)| *byte == b'\n')
            .map(|(at, _)| at + 1);
        LineOffsets {
            starts: std::iter::once(0).chain(starts).collect(),
        }
    }

    /// Number of the line at the start of a span; the first is 1.
    fn number(&self, span: &Range<usize>) -> usize {
        self.starts.partition_point(|start| *start <= span.start)
    }
}
