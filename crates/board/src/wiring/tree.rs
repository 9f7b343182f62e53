//! The tree of a wiring file: every value with the line it stands on, laid over that of its base.

use std::{collections::BTreeMap, ops::Range};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::Mistake;

/// A value, and where it stands; nowhere if it comes from the base.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Value {
    pub(super) line: Option<usize>,
    pub(super) kind: Kind,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Text(String),
    Number(i64),
    Flag(bool),
    List(Vec<Value>),
    Table(BTreeMap<String, Value>),
    /// Something that no wiring needs, by its name.
    Other(&'static str),
}

impl Kind {
    /// What it is, in words for people.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Kind::Text(_) => "a text",
            Kind::Number(_) => "a number",
            Kind::Flag(_) => "true or false",
            Kind::List(_) => "a list",
            Kind::Table(_) => "a section",
            Kind::Other(word) => word,
        }
    }
}

/// Reads the tree of a file; what cannot be read at all are mistakes.
pub(super) fn read(text: &str, mistakes: &mut Vec<Mistake>) -> BTreeMap<String, Value> {
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
    mut base: BTreeMap<String, Value>,
    file: BTreeMap<String, Value>,
) -> BTreeMap<String, Value> {
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
    mut base: BTreeMap<String, Value>,
    file: BTreeMap<String, Value>,
) -> BTreeMap<String, Value> {
    let every = file.get("every-panel").map(|value| &value.kind);
    let panels = base.get_mut("panel").map(|value| &mut value.kind);
    if let (Some(every @ Kind::Table(_)), Some(Kind::List(panels))) = (every, panels) {
        for panel in panels {
            let under = std::mem::replace(&mut panel.kind, Kind::Flag(false));
            let own = Value {
                line: panel.line,
                kind: every.clone(),
            };
            let under = Value {
                line: panel.line,
                kind: under,
            };
            *panel = over(under, own);
        }
    }
    lay_over(base, file)
}

/// Takes the lines away: they are those of another file.
pub(super) fn unplaced(entries: BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    entries
        .into_iter()
        .map(|(key, value)| (key, value.unplaced()))
        .collect()
}

impl Value {
    fn unplaced(self) -> Value {
        let kind = match self.kind {
            Kind::List(values) => Kind::List(values.into_iter().map(Value::unplaced).collect()),
            Kind::Table(entries) => Kind::Table(unplaced(entries)),
            other @ (Kind::Text(_) | Kind::Number(_) | Kind::Flag(_) | Kind::Other(_)) => other,
        };
        Value { line: None, kind }
    }
}

fn over(base: Value, own: Value) -> Value {
    let kind = match (base.kind, own.kind) {
        (Kind::Table(base), Kind::Table(own)) => Kind::Table(lay_over(base, own)),
        (Kind::List(base), Kind::List(own)) if is_of_sections(&base) && is_of_sections(&own) => {
            let mut own = own.into_iter();
            let mut laid: Vec<Value> = base
                .into_iter()
                .map(|under| match own.next() {
                    Some(own) => over(under, own),
                    None => under,
                })
                .collect();
            laid.extend(own);
            Kind::List(laid)
        }
        (_, own) => own,
    };
    Value {
        line: own.line,
        kind,
    }
}

fn is_of_sections(values: &[Value]) -> bool {
    values
        .iter()
        .all(|value| matches!(value.kind, Kind::Table(_)))
}

fn entries(table: &DeTable<'_>, lines: &Lines) -> BTreeMap<String, Value> {
    table
        .iter()
        .map(|(key, value)| {
            let line = lines.number(&key.span());
            (
                key.get_ref().to_string(),
                Value {
                    line: Some(line),
                    kind: kind(value, lines),
                },
            )
        })
        .collect()
}

fn kind(value: &Spanned<DeValue<'_>>, lines: &Lines) -> Kind {
    match value.get_ref() {
        DeValue::String(text) => Kind::Text(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or(Kind::Other("a number that is too large"), Kind::Number),
        DeValue::Boolean(flag) => Kind::Flag(*flag),
        DeValue::Float(_) => Kind::Other("a fraction"),
        DeValue::Datetime(_) => Kind::Other("a date"),
        DeValue::Array(values) => Kind::List(
            values
                .iter()
                .map(|value| Value {
                    line: Some(lines.number(&value.span())),
                    kind: kind(value, lines),
                })
                .collect(),
        ),
        DeValue::Table(table) => Kind::Table(entries(table, lines)),
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
