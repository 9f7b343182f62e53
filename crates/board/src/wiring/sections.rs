//! The sections of a wiring file: their keys, and how values of each type are read.

use std::collections::BTreeMap;

use super::{
    Mistake,
    tree::{WiringValue, WiringValueKind},
};

/// Longest text in a wiring file, bytes.
pub const TEXT_MAX: usize = 128;

/// A key of a section of the wiring file.
#[derive(Debug)]
pub(super) struct SectionKey {
    pub(super) name: &'static str,
    /// A valid value, or what to write in words that begin with "a ".
    pub(super) example: &'static str,
}

const fn key(name: &'static str, example: &'static str) -> SectionKey {
    SectionKey { name, example }
}

/// The whole file.
pub(super) const FILE: &[SectionKey] = &[
    key("base", "\"rev-b\""),
    key("id", "\"my-clock\""),
    key("name", "\"My clock\""),
    key("spi", "a section [spi]"),
    key("i2c", "a section [i2c]"),
    key("expander", "a section [expander.exp1]"),
    key("every-panel", "a section [every-panel]"),
    key("panel", "a section [[panel]] for each panel"),
    key("care", "a section [care]"),
    key("strip", "a section [strip]"),
    key("frontlight", "a section [frontlight]"),
    key("sensor", "a section [sensor]"),
    key("buttons", "a section [buttons]"),
];

pub(super) const SPI: &[SectionKey] = &[
    key("device", "\"/dev/spidev0.0\""),
    key("hz", "10_000_000"),
    key("command", "\"gpio:GPIO25\""),
    key("power", "\"gpio:GPIO18\""),
];

pub(super) const I2C: &[SectionKey] = &[key("device", "\"/dev/i2c-1\""), key("hz", "400_000")];

pub(super) const EXPANDER: &[SectionKey] = &[
    key("address", "0x20"),
    key("reset", "\"gpio:GPIO21\""),
    key("interrupt", "\"gpio:GPIO4\""),
];

/// Both `[every-panel]` and `[[panel]]`.
pub(super) const PANEL: &[SectionKey] = &[
    // The waveforms of another model can damage a panel, so no name is suggested.
    key(
        "model",
        "a name from docs/wiring.md, and only that of your own panel: the waveforms of another can damage it",
    ),
    key("select", "\"gpio:GPIO8\""),
    key("busy", "\"gpio:GPIO24\""),
    key("reset", "\"gpio:GPIO17\""),
    key("rotation", "180"),
    key("x-offset", "0"),
    key("full", "\"f7\""),
    key("stagger-ms", "100"),
];

pub(super) const CARE: &[SectionKey] = &[
    key("full-after-partials", "200"),
    key("full-every-hours", "24"),
];

pub(super) const STRIP: &[SectionKey] = &[
    key("device", "\"/dev/spidev1.0\""),
    key("hz", "3_200_000"),
    key("count", "4"),
    key("order", "\"grb\""),
    key("white", "false"),
    key("begins", "\"left\""),
];

pub(super) const FRONTLIGHT: &[SectionKey] = &[
    key("address", "0x42"),
    key("first-output", "0"),
    key("hz", "1000"),
    key("enable", "\"gpio:GPIO22\""),
];

pub(super) const SENSOR: &[SectionKey] = &[key("addresses", "[0x5C, 0x23]")];

pub(super) const BUTTONS: &[SectionKey] = &[key(
    "lines",
    "[\"gpio:GPIO5\", \"gpio:GPIO6\", \"gpio:GPIO13\", \"gpio:GPIO19\"]",
)];

/// A section while it is read. Each key is removed when it is read.
#[derive(Debug)]
pub(super) struct Section {
    /// Its name in messages.
    pub(super) name: String,
    pub(super) line: Option<usize>,
    keys: &'static [SectionKey],
    entries: BTreeMap<String, WiringValue>,
}

/// A parsed value and its line number.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Located<T> {
    pub(super) value: T,
    pub(super) line: Option<usize>,
}

impl Section {
    /// A section that may have these keys. Other keys are mistakes.
    pub(super) fn new(
        name: &str,
        line: Option<usize>,
        keys: &'static [SectionKey],
        entries: BTreeMap<String, WiringValue>,
        mistakes: &mut Vec<Mistake>,
    ) -> Section {
        for (key, value) in &entries {
            if !keys.iter().any(|known| known.name == key) {
                let known: Vec<&str> = keys.iter().map(|key| key.name).collect();
                mistakes.push(Mistake::at(
                    value.line.or(line),
                    format!("{name} has no `{key}`: it has {}", known.join(", ")),
                ));
            }
        }
        Section {
            name: name.to_owned(),
            line,
            keys,
            entries,
        }
    }

    /// A valid entry for a key.
    fn example(&self, key: &str) -> String {
        self.keys
            .iter()
            .find(|known| known.name == key)
            .map_or_else(String::new, |known| match known.example {
                words if words.starts_with("a ") => words.to_owned(),
                example => format!("{key} = {example}"),
            })
    }

    /// The mistake of a wrong value, with an example of a valid one.
    pub(super) fn wrong(&self, key: &str, line: Option<usize>, why: &str) -> Mistake {
        Mistake::at(
            line.or(self.line),
            format!("{}: {why}; write {}", self.name, self.example(key)),
        )
    }

    /// The mistake of a missing key.
    pub(super) fn missing(&self, key: &str) -> Mistake {
        self.wrong(key, None, &format!("`{key}` is missing"))
    }

    /// Line number of a key; `None` if the file does not have it.
    pub(super) fn line_of(&self, key: &str) -> Option<usize> {
        self.entries.get(key).and_then(|value| value.line)
    }

    /// Returns whether there is a value for a key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// Removes and returns a value of any type.
    pub(super) fn take(&mut self, key: &str) -> Option<WiringValue> {
        self.entries.remove(key)
    }

    /// Removes and returns a text.
    pub(super) fn text(
        &mut self,
        key: &str,
        mistakes: &mut Vec<Mistake>,
    ) -> Option<Located<String>> {
        let value = self.take(key)?;
        match value.kind {
            WiringValueKind::Text(text) if text.contains(char::is_control) => {
                let why = format!("`{key}` is {text:?}, with a control character");
                mistakes.push(self.wrong(key, value.line, &why));
                None
            }
            WiringValueKind::Text(text) if !text.is_empty() && text.len() <= TEXT_MAX => {
                Some(Located {
                    value: text,
                    line: value.line,
                })
            }
            WiringValueKind::Text(text) => {
                let why = format!(
                    "`{key}` has {} bytes where 1 to {} may be",
                    text.len(),
                    TEXT_MAX
                );
                mistakes.push(self.wrong(key, value.line, &why));
                None
            }
            other @ (WiringValueKind::Number(_)
            | WiringValueKind::Flag(_)
            | WiringValueKind::List(_)
            | WiringValueKind::Table(_)
            | WiringValueKind::Other(_)) => {
                let why = format!("`{key}` is {} where a text must be", other.word());
                mistakes.push(self.wrong(key, value.line, &why));
                None
            }
        }
    }

    /// Removes and returns a number in a range.
    pub(super) fn number(
        &mut self,
        key: &str,
        range: std::ops::RangeInclusive<u32>,
        mistakes: &mut Vec<Mistake>,
    ) -> Option<Located<u32>> {
        let value = self.take(key)?;
        let why = match value.kind {
            WiringValueKind::Number(number) => match u32::try_from(number) {
                Ok(number) if range.contains(&number) => {
                    return Some(Located {
                        value: number,
                        line: value.line,
                    });
                }
                Ok(_) | Err(_) => format!(
                    "`{key}` is {number} where {} to {} may be",
                    range.start(),
                    range.end()
                ),
            },
            other @ (WiringValueKind::Text(_)
            | WiringValueKind::Flag(_)
            | WiringValueKind::List(_)
            | WiringValueKind::Table(_)
            | WiringValueKind::Other(_)) => {
                format!("`{key}` is {} where a number must be", other.word())
            }
        };
        mistakes.push(self.wrong(key, value.line, &why));
        None
    }

    /// Removes and returns one of the named values.
    pub(super) fn word<T: Copy>(
        &mut self,
        key: &str,
        named: &[(&str, T)],
        mistakes: &mut Vec<Mistake>,
    ) -> Option<T> {
        let text = self.text(key, mistakes)?;
        let found = named.iter().find(|(name, _)| *name == text.value);
        if found.is_none() {
            let names: Vec<&str> = named.iter().map(|(name, _)| *name).collect();
            let why = format!(
                "`{key}` is {:?} where one of {} must be",
                text.value,
                names.join(", ")
            );
            mistakes.push(self.wrong(key, text.line, &why));
        }
        found.map(|(_, value)| *value)
    }

    /// Removes and returns a flag.
    pub(super) fn flag(&mut self, key: &str, mistakes: &mut Vec<Mistake>) -> Option<bool> {
        let value = self.take(key)?;
        match value.kind {
            WiringValueKind::Flag(flag) => Some(flag),
            other @ (WiringValueKind::Text(_)
            | WiringValueKind::Number(_)
            | WiringValueKind::List(_)
            | WiringValueKind::Table(_)
            | WiringValueKind::Other(_)) => {
                let why = format!("`{key}` is {} where true or false must be", other.word());
                mistakes.push(self.wrong(key, value.line, &why));
                None
            }
        }
    }

    /// Removes and returns a list.
    pub(super) fn list(
        &mut self,
        key: &str,
        mistakes: &mut Vec<Mistake>,
    ) -> Option<Located<Vec<WiringValue>>> {
        let value = self.take(key)?;
        match value.kind {
            WiringValueKind::List(values) => Some(Located {
                value: values,
                line: value.line,
            }),
            other @ (WiringValueKind::Text(_)
            | WiringValueKind::Number(_)
            | WiringValueKind::Flag(_)
            | WiringValueKind::Table(_)
            | WiringValueKind::Other(_)) => {
                let why = format!("`{key}` is {} where a list must be", other.word());
                mistakes.push(self.wrong(key, value.line, &why));
                None
            }
        }
    }
}
