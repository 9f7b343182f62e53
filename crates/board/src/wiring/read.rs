//! Reads a wiring file, merged into its base, before any hardware is touched.

use std::collections::BTreeMap;

use serde::{Deserialize, de::DeserializeOwned};
use toml::{
    Spanned,
    de::{DeTable, DeValue, ValueDeserializer},
};

use super::{
    DeviceFile, ExpanderWiring, Mistake, PANELS_MAX, PanelWiring, UsedLine, Wiring,
    bases::{BASES, base_text},
    checks::Checks,
    host::on_host,
    values::{CareEntries, text},
};

/// Largest wiring file, bytes.
pub const FILE_MAX: usize = 64 * 1024;

/// A wiring file without mistakes.
#[derive(Debug, Clone, PartialEq)]
pub struct WiringFile {
    pub wiring: Wiring,
    /// Device files in it, with their line numbers.
    pub devices: Vec<DeviceFile>,
    /// GPIO lines in it, with their line numbers.
    pub lines: Vec<UsedLine>,
}

/// Reads a wiring file.
///
/// # Errors
/// The mistakes, in the order of their lines: of each section the first that keeps it from being read.
pub fn read(text: &str) -> Result<WiringFile, Vec<Mistake>> {
    read_with(text, |_, _| Vec::new())
}

/// The wiring of a known board; `None` if there is no such board.
pub fn base(name: &str) -> Option<Wiring> {
    read(base_text(name)?).ok().map(|file| file.wiring)
}

/// Names of the known boards with one panel.
pub fn displays() -> impl Iterator<Item = &'static str> {
    let names = BASES.iter().map(|(name, _)| *name);
    names.filter(|name| base(name).is_some_and(|wiring| wiring.panels.len() == 1))
}

/// Reads a wiring file and checks that this host has its device files and lines, and that this user may use them.
///
/// # Errors
/// The mistakes, as of [`read`].
pub fn read_for_host(text: &str) -> Result<WiringFile, Vec<Mistake>> {
    read_with(text, on_host)
}

/// Reads a wiring file and checks its device files and lines, even if there are other mistakes.
fn read_with(
    text: &str,
    check: impl FnOnce(&[DeviceFile], &[UsedLine]) -> Vec<Mistake>,
) -> Result<WiringFile, Vec<Mistake>> {
    let mut reader = Reader {
        text,
        checks: Checks::default(),
    };
    let wiring = reader.file();
    let (devices, lines, mut mistakes) = reader.checks.into_parts();
    mistakes.extend(check(&devices, &lines));
    mistakes.sort();
    // An entry for every panel makes the mistake of each.
    mistakes.dedup_by(|next, kept| next == kept || next.line.is_some() && next.line == kept.line);
    match wiring {
        Some(wiring) if mistakes.is_empty() => Ok(WiringFile {
            wiring,
            devices,
            lines,
        }),
        Some(_) | None => Err(mistakes),
    }
}

/// Title and line numbers of a section, for messages. A line number is `None` if it is one of the base.
#[derive(Debug, Default)]
pub(super) struct Section {
    pub(super) title: String,
    pub(super) line: Option<usize>,
    keys: BTreeMap<String, Option<usize>>,
}

impl Section {
    /// Line number of a key.
    pub(super) fn line_of(&self, key: &str) -> Option<usize> {
        self.keys.get(key).copied().flatten()
    }

    /// Line number of a key or of the section.
    pub(super) fn at(&self, key: &str) -> Option<usize> {
        self.line_of(key).or(self.line)
    }
}

const KEYS: [&str; 13] = [
    "base",
    "id",
    "name",
    "spi",
    "i2c",
    "expander",
    "every-panel",
    "panel",
    "care",
    "strip",
    "frontlight",
    "sensor",
    "buttons",
];

/// The keys of a file that are no sections.
#[derive(Debug, Deserialize)]
struct Head {
    #[serde(default = "custom_id", deserialize_with = "text")]
    id: String,
    #[serde(default = "custom_name", deserialize_with = "text")]
    name: String,
}

fn custom_id() -> String {
    "custom".into()
}

fn custom_name() -> String {
    "Custom".into()
}

struct Reader<'t> {
    text: &'t str,
    checks: Checks,
}

impl Reader<'_> {
    fn file(&mut self) -> Option<Wiring> {
        let text = self.text;
        if text.len() > FILE_MAX {
            let what = format!("the file has {} bytes, {FILE_MAX} at most", text.len());
            self.checks.mistake(None, what);
            return None;
        }
        let mut own = self.parse(text)?;
        self.checks.file = self.titled("the file".into(), None, &own);
        // Behind the text of the file, so that an offset tells which of the two it is in.
        let base = format!("{}{}", " ".repeat(text.len() + 1), self.base(&own)?);
        let mut base = self.parse(&base)?;
        let known = self.panels(Vec::new(), &mut base);
        let panels_max = match known.len() {
            0 => PANELS_MAX,
            count => count,
        };
        let panels = self.panels(known, &mut own);
        let mut file = merged(base, own);
        let mut keys = file.keys();
        if let Some(key) = keys.find(|key| !KEYS.contains(&key.get_ref().as_ref())) {
            let known = KEYS.join(", ");
            let what = format!("the file has no `{}`: it has {known}", key.get_ref());
            let line = self.line(key.span().start);
            self.checks.mistake(line, what);
        }
        self.checks.has_i2c = file.get("i2c").is_some_and(|value| !is_none(value));
        let i2c = self.section(&mut file, "i2c", Checks::i2c);
        let expanders = self.expanders(&mut file);
        let spi = self.section(&mut file, "spi", Checks::spi);
        if spi.is_none() && self.checks.mistakes.is_empty() {
            let line = self.checks.file.line_of("spi");
            let what = "the file has no section [spi] for the bus of the panels";
            self.checks.mistake(line, what.into());
        }
        let panels_count = panels.len();
        let panels = self.read_panels(panels, panels_max);
        let care: CareEntries = self
            .section(&mut file, "care", Checks::care)
            .unwrap_or_default();
        let strip = self.section(&mut file, "strip", |checks, section, strip| {
            checks.strip(section, strip, spi.as_ref());
        });
        let frontlight = self.section(&mut file, "frontlight", |checks, section, light| {
            checks.frontlight(section, light, panels_count);
        });
        let sensor = self.section(&mut file, "sensor", Checks::sensor);
        let buttons = self.section(&mut file, "buttons", Checks::buttons);
        let head = DeValue::Table(file);
        let head = self.read::<Head>("the file".into(), None, Spanned::new(0..0, head));
        let (_, Head { id, name }) = head?;
        Some(Wiring {
            id,
            name,
            spi: spi?,
            i2c,
            expanders,
            care: care.of(panels.first()?.model.care),
            clear_at_stop: care.clear_at_stop,
            panels,
            strip,
            frontlight,
            sensor,
            buttons,
        })
    }

    fn parse<'t>(&mut self, text: &'t str) -> Option<DeTable<'t>> {
        let parsed = DeTable::parse(text);
        let parsed = parsed.map_err(|error| {
            let line = error.span().and_then(|span| self.line(span.start));
            let what = format!("invalid TOML: {}", error.message());
            self.checks.mistake(line, what);
        });
        Some(parsed.ok()?.into_inner())
    }

    /// Text of the base; empty if the file has none.
    fn base(&mut self, own: &DeTable<'_>) -> Option<&'static str> {
        let Some(named) = own.get("base") else {
            return Some("");
        };
        let text = named.get_ref().as_str().and_then(base_text);
        if text.is_none() {
            let known: Vec<&str> = BASES.iter().map(|(name, _)| *name).collect();
            let known = known.join(", ");
            let what = format!("there is no such base; write base = one of {known}");
            self.checks.mistake(self.checks.file.line_of("base"), what);
        }
        text
    }

    /// Line number of an offset; `None` if it is in the base.
    fn line(&self, offset: usize) -> Option<usize> {
        let before = self.text.get(..offset)?;
        Some(before.matches('\n').count() + 1)
    }

    /// Removes the panels of a file, each merged into that of the base at its place; the entries for every panel replace those
    /// of the base and are replaced by those of the panel.
    fn panels<'t>(
        &mut self,
        base: Vec<Spanned<DeValue<'t>>>,
        file: &mut DeTable<'t>,
    ) -> Vec<Spanned<DeValue<'t>>> {
        let mut wrong = |key: &str, what: &str| {
            let what = format!("`{key}` is not {what}");
            self.checks.mistake(self.checks.file.line_of(key), what);
        };
        let every = match file.remove("every-panel").map(Spanned::into_inner) {
            Some(DeValue::Table(every)) => every,
            Some(_) => {
                wrong("every-panel", "a section [every-panel]");
                DeTable::new()
            }
            None => DeTable::new(),
        };
        let own = match file.remove("panel").map(Spanned::into_inner) {
            Some(DeValue::Array(own)) => own.into_iter().collect(),
            Some(_) => {
                wrong("panel", "a section [[panel]] for each panel");
                Vec::new()
            }
            None => Vec::new(),
        };
        let count = base.len().max(own.len());
        let (mut base, mut own) = (base.into_iter(), own.into_iter());
        let panels = (0..count).map(|_| {
            let nowhere = usize::MAX..usize::MAX;
            let none = || Spanned::new(nowhere, DeValue::Table(DeTable::new()));
            let known = base.next().unwrap_or_else(none);
            let every = Spanned::new(known.span(), DeValue::Table(every.clone()));
            let known = merge(known, every);
            match own.next() {
                Some(own) => merge(known, own),
                None => known,
            }
        });
        panels.collect()
    }

    fn read_panels(&mut self, panels: Vec<Spanned<DeValue<'_>>>, most: usize) -> Vec<PanelWiring> {
        let count = panels.len();
        if count == 0 || count > most {
            let extra = panels
                .get(most)
                .and_then(|panel| self.line(panel.span().start));
            let line = extra.or(self.checks.file.line_of("panel"));
            let what = format!("{count} sections [[panel]] where 1 to {most} may be");
            self.checks.mistake(line, what);
        }
        let mut read = Vec::new();
        for (index, panel) in panels.into_iter().enumerate() {
            let title = format!("panel {}", index + 1);
            let line = self.line(panel.span().start);
            if let Some((section, panel)) = self.read::<PanelWiring>(title, line, panel) {
                self.checks.panel(&section, &panel);
                read.push(panel);
            }
        }
        if read.windows(2).any(|pair| pair[0].size() != pair[1].size()) {
            let what = "the panels are of different sizes; use panels of one size";
            let line = self.checks.file.line_of("panel");
            self.checks.mistake(line, what.into());
        }
        read
    }

    fn expanders(&mut self, file: &mut DeTable<'_>) -> Vec<ExpanderWiring> {
        let Some((key, value)) = file.remove_entry("expander") else {
            return Vec::new();
        };
        if is_none(&value) {
            return Vec::new();
        }
        let DeValue::Table(named) = value.into_inner() else {
            let line = self.line(key.span().start);
            let what = "`expander` is not a section [expander.exp1]";
            self.checks.mistake(line, what.into());
            return Vec::new();
        };
        let named = named.into_iter();
        let named: Vec<_> = named.filter(|(_, value)| !is_none(value)).collect();
        // All names first, because a line of one expander may be on another.
        let names = named.iter().map(|(name, _)| name.get_ref().to_string());
        self.checks.expanders = names.collect();
        let mut expanders = Vec::new();
        for (name, value) in named {
            let line = self.line(name.span().start);
            let name = name.into_inner().into_owned();
            let title = format!("[expander.{name}]");
            if let Some((section, read)) = self.read::<ExpanderWiring>(title, line, value) {
                let expander = ExpanderWiring { name, ..read };
                self.checks.expander(&section, &expander);
                expanders.push(expander);
            }
        }
        expanders
    }

    /// Removes, reads and checks a section of the file; `None` if it is absent, "none", or has a mistake.
    fn section<T: DeserializeOwned>(
        &mut self,
        file: &mut DeTable<'_>,
        key: &str,
        check: impl FnOnce(&mut Checks, &Section, &T),
    ) -> Option<T> {
        let (key, value) = file.remove_entry(key)?;
        if is_none(&value) {
            return None;
        }
        let title = format!("[{}]", key.get_ref());
        let (section, read) = self.read(title, self.line(key.span().start), value)?;
        check(&mut self.checks, &section, &read);
        Some(read)
    }

    fn read<T: DeserializeOwned>(
        &mut self,
        title: String,
        line: Option<usize>,
        value: Spanned<DeValue<'_>>,
    ) -> Option<(Section, T)> {
        let Some(table) = value.get_ref().as_table() else {
            self.checks
                .mistake(line, format!("{title} is not a section"));
            return None;
        };
        let section = self.titled(title, line, table);
        let read = T::deserialize(ValueDeserializer::from(value)).map_err(|error| {
            let at = error.span().and_then(|span| self.line(span.start));
            // The key follows on a line of its own.
            let what = error.to_string();
            let what = match what.trim_end().split_once("\nin ") {
                Some((why, key)) => format!("{}: {key}: {why}", section.title),
                None => format!("{}: {}", section.title, what.trim_end()),
            };
            self.checks.mistake(at.or(line), what);
        });
        Some((section, read.ok()?))
    }

    fn titled(&self, title: String, line: Option<usize>, table: &DeTable<'_>) -> Section {
        let keys = table.keys();
        let keys = keys.map(|key| (key.get_ref().to_string(), self.line(key.span().start)));
        let keys = keys.collect();
        Section { title, line, keys }
    }
}

/// Whether a section is removed from the base.
fn is_none(value: &Spanned<DeValue<'_>>) -> bool {
    value.get_ref().as_str() == Some("none")
}

/// Merges a value into that of the base: sections into sections, anything else replaces it.
fn merge<'t>(base: Spanned<DeValue<'t>>, own: Spanned<DeValue<'t>>) -> Spanned<DeValue<'t>> {
    let span = own.span();
    let value = match (base.into_inner(), own.into_inner()) {
        (DeValue::Table(base), DeValue::Table(own)) => DeValue::Table(merged(base, own)),
        (_, own) => own,
    };
    Spanned::new(span, value)
}

fn merged<'t>(mut base: DeTable<'t>, own: DeTable<'t>) -> DeTable<'t> {
    for (key, own) in own {
        let value = match base.remove(key.get_ref().as_ref()) {
            Some(known) => merge(known, own),
            None => own,
        };
        base.insert(key, value);
    }
    base
}
