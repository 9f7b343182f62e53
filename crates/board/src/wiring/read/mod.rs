//! Reads a wiring file and finds all mistakes in it before any hardware is touched.
//!
//! `buses`, `panels` and `parts` read the sections, `lines` the GPIO lines in them.

mod buses;
mod lines;
mod panels;
mod parts;

use std::collections::BTreeMap;

use self::lines::LineUse;
use super::{
    DeviceFile, Mistake, UsedLine, Wiring,
    bases::{BASES, base_text},
    host::on_host,
    sections::{self, Section},
    tree::{self, WiringValue, WiringValueKind},
};

/// Largest wiring file, bytes.
pub const FILE_MAX: usize = 64 * 1024;

/// A wiring file without mistakes.
#[derive(Debug, Clone, PartialEq)]
pub struct WiringFile {
    /// The wiring.
    pub wiring: Wiring,
    /// Device files in it, with their line numbers.
    pub devices: Vec<DeviceFile>,
    /// GPIO lines in it, with their line numbers.
    pub lines: Vec<UsedLine>,
}

/// Reads a wiring file.
///
/// # Errors
/// All mistakes, in the order of their lines.
pub fn read(text: &str) -> Result<WiringFile, Vec<Mistake>> {
    read_with(text, |_, _| Vec::new())
}

/// The wiring of a known board; `None` if there is no such board.
pub fn base(name: &str) -> Option<Wiring> {
    read(base_text(name)?).ok().map(|file| file.wiring)
}

/// Reads a wiring file and checks that this host has its device files and lines, and that this user may use them.
///
/// # Errors
/// All mistakes, in the order of their lines.
pub fn read_for_host(text: &str) -> Result<WiringFile, Vec<Mistake>> {
    read_with(text, on_host)
}

/// Reads a wiring file and checks its device files and lines, even if there are other mistakes.
fn read_with(
    text: &str,
    check: impl FnOnce(&[DeviceFile], &[UsedLine]) -> Vec<Mistake>,
) -> Result<WiringFile, Vec<Mistake>> {
    let mut reader = Reader::default();
    let wiring = reader.file(text);
    let lines: Vec<UsedLine> = reader.lines.into_iter().map(|used| used.line).collect();
    let devices = reader.devices;
    let mut mistakes = reader.mistakes;
    mistakes.extend(check(&devices, &lines));
    mistakes.sort();
    mistakes.dedup();
    match wiring {
        Some(wiring) if mistakes.is_empty() => Ok(WiringFile {
            wiring,
            devices,
            lines,
        }),
        Some(_) | None => Err(mistakes),
    }
}

/// Reads the sections and collects the mistakes.
#[derive(Debug, Default)]
struct Reader {
    mistakes: Vec<Mistake>,
    expanders: Vec<String>,
    has_i2c: bool,
    /// Line number of the expanders, or of the entry that removes them.
    expanders_line: Option<usize>,
    /// Line number of the I2C bus, or of the entry that removes it.
    i2c_line: Option<usize>,
    lines: Vec<LineUse>,
    /// Addresses in use on the I2C bus, each with its part and line number.
    addresses: Vec<(u8, String, Option<usize>)>,
    devices: Vec<DeviceFile>,
}

impl Reader {
    fn file(&mut self, text: &str) -> Option<Wiring> {
        if text.len() > FILE_MAX {
            self.mistakes.push(Mistake::at(
                None,
                format!("the file has {} bytes, {FILE_MAX} at most", text.len()),
            ));
            return None;
        }
        let own = tree::read(text, &mut self.mistakes);
        if !self.mistakes.is_empty() {
            return None;
        }
        let base_panels = self.base(&own);
        let entries = match &base_panels {
            Some((_, base)) => tree::merge_into_board(base.clone(), own),
            None => own,
        };
        let mut file = Section::new(
            "the file",
            None,
            sections::FILE,
            entries,
            &mut self.mistakes,
        );
        let id = file.text("id", &mut self.mistakes);
        let name = file.text("name", &mut self.mistakes);
        let spi_line = file.line_of("spi");
        let spi = self.table(&mut file, "spi", "[spi]", sections::SPI);
        let spi_is_missing = spi.is_none();
        let i2c = self.i2c(&mut file);
        let expanders = self.expanders(&mut file);
        let spi = spi.and_then(|section| self.spi(section));
        let panels = self.panels(&mut file, base_panels.as_ref().map(|(count, _)| *count));
        let care = self.care(&mut file);
        let strip = self.strip(&mut file, spi.as_ref());
        let frontlight = self.frontlight(&mut file, panels.len());
        let sensor = self.sensor(&mut file);
        let buttons = self.buttons(&mut file);
        if spi_is_missing {
            let why = "`spi` is missing";
            self.mistakes.push(file.wrong("spi", spi_line, why));
        }
        Some(Wiring {
            id: id.map_or_else(|| "custom".into(), |id| id.value),
            name: name.map_or_else(|| "Custom".into(), |name| name.value),
            spi: spi?,
            i2c,
            expanders,
            panels,
            care,
            strip,
            frontlight,
            sensor,
            buttons,
        })
    }

    /// The base of the file: its number of panels and its entries.
    fn base(
        &mut self,
        own: &BTreeMap<String, WiringValue>,
    ) -> Option<(usize, BTreeMap<String, WiringValue>)> {
        let named = own.get("base")?;
        let text = match &named.kind {
            WiringValueKind::Text(name) => base_text(name),
            WiringValueKind::Number(_)
            | WiringValueKind::Flag(_)
            | WiringValueKind::List(_)
            | WiringValueKind::Table(_)
            | WiringValueKind::Other(_) => None,
        };
        let Some(text) = text else {
            let known: Vec<&str> = BASES.iter().map(|(name, _)| *name).collect();
            self.mistakes.push(Mistake::at(
                named.line,
                format!(
                    "there is no such base; write base = one of {}",
                    known.join(", ")
                ),
            ));
            return None;
        };
        let base = tree::without_lines(tree::read(text, &mut self.mistakes));
        let panels = match base.get("panel").map(|panels| &panels.kind) {
            Some(WiringValueKind::List(panels)) => panels.len(),
            Some(_) | None => 0,
        };
        Some((panels, base))
    }

    /// Removes and returns a section of the file; `None` if it is absent or "none".
    fn table(
        &mut self,
        file: &mut Section,
        key: &str,
        name: &str,
        keys: &'static [sections::SectionKey],
    ) -> Option<Section> {
        let value = file.take(key)?;
        match value.kind {
            WiringValueKind::Table(entries) => Some(Section::new(
                name,
                value.line,
                keys,
                entries,
                &mut self.mistakes,
            )),
            WiringValueKind::Text(word) if word == "none" => None,
            other @ (WiringValueKind::Text(_)
            | WiringValueKind::Number(_)
            | WiringValueKind::Flag(_)
            | WiringValueKind::List(_)
            | WiringValueKind::Other(_)) => {
                let why = format!("`{key}` is {} where a section must be", other.word());
                self.mistakes.push(file.wrong(key, value.line, &why));
                None
            }
        }
    }

    /// Returns the value of a required key. If it is absent and has no other mistake, that is a mistake.
    fn require<T>(&mut self, section: &Section, key: &str, value: Option<T>) -> Option<T> {
        let has_mistake = self
            .mistakes
            .iter()
            .any(|mistake| mistake.is_about(&section.name, key));
        if value.is_none() && !has_mistake {
            self.mistakes.push(section.missing(key));
        }
        value
    }
}
