//! Reads a wiring file and checks it whole: every mistake is found before anything is touched.

use std::{collections::BTreeMap, ops::RangeInclusive, time::Duration};

use super::{
    BUTTONS, BusKind, ButtonsWiring, Care, DeviceFile, ExpanderWiring, FrontlightWiring, I2C_HZ,
    I2cWiring, LEDS_MAX, LineLocation, Mistake, PANELS_MAX, PanelWiring, SPI_HZ, STAGGER_MAX,
    Sense, SensorWiring, Side, SpiWiring, StripWiring, UsedLine, Wiring, WiringLine,
    bases::{BASES, base_text},
    host::on_host,
    sections::{self, Located, Section},
    tree::{self, WiringValue, WiringValueKind},
};
use crate::parts::{
    bh1750, mcp23017, pca9685,
    ssd1680::{self, FullWaveform, Model, PanelRotation, ROW_BYTES, STRIDE, Setup},
    ws2812::{self, ColourOrder, LedChannels},
};

/// Largest wiring file, bytes.
pub const FILE_MAX: usize = 64 * 1024;

/// Most partial refreshes between two full ones.
const PARTIALS_MAX: u32 = 100_000;

/// Longest time between two full refreshes, hours.
const FULL_EVERY_MAX: u32 = 24 * 366;

/// Addresses that a chip on an I2C bus can have.
const ADDRESSES: RangeInclusive<u32> = 0x08..=0x77;

/// Words for the ends of the strip.
const SIDES: &[(&str, Side)] = &[("left", Side::Left), ("right", Side::Right)];

/// A wiring file that has no mistakes in itself.
#[derive(Debug, Clone, PartialEq)]
pub struct WiringFile {
    /// What it says.
    pub wiring: Wiring,
    /// Device files that it names, and where.
    pub devices: Vec<DeviceFile>,
    /// Lines that it names, and where.
    pub lines: Vec<UsedLine>,
}

/// Reads a wiring file.
///
/// # Errors
/// All mistakes in it, in the order of their lines.
pub fn read(text: &str) -> Result<WiringFile, Vec<Mistake>> {
    read_with(text, |_, _| Vec::new())
}

/// The wiring of a known board; none if there is no such board.
pub fn base(name: &str) -> Option<Wiring> {
    read(base_text(name)?).ok().map(|file| file.wiring)
}

/// Reads a wiring file for this host.
///
/// # Errors
/// All mistakes in it, and all that it names and this host has not or does not let this user use, in the order of
/// their lines.
pub fn read_for_host(text: &str) -> Result<WiringFile, Vec<Mistake>> {
    read_with(text, on_host)
}

/// Reads a wiring file and compares what it names with something, whatever mistakes are in it.
fn read_with(
    text: &str,
    compare: impl FnOnce(&[DeviceFile], &[UsedLine]) -> Vec<Mistake>,
) -> Result<WiringFile, Vec<Mistake>> {
    let mut reader = Reader::default();
    let wiring = reader.file(text);
    let lines: Vec<UsedLine> = reader.lines.into_iter().map(|used| used.is).collect();
    let devices = reader.devices;
    let mut mistakes = reader.mistakes;
    mistakes.extend(compare(&devices, &lines));
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

#[derive(Debug, Default)]
struct Reader {
    mistakes: Vec<Mistake>,
    expanders: Vec<String>,
    has_i2c: bool,
    /// Where expanders are named, or taken away.
    expanders_line: Option<usize>,
    /// Where the I2C bus is named, or taken away.
    i2c_line: Option<usize>,
    lines: Vec<Used>,
    addresses: Vec<(u8, String, Option<usize>)>,
    devices: Vec<DeviceFile>,
}

/// A line that is in use, and how.
#[derive(Debug)]
struct Used {
    role: LineRole,
    is: UsedLine,
}

/// What a line is used for, which decides whether parts may share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineRole {
    Output,
    Input,
    /// Several panels may be on one.
    PanelReset,
    /// Several expanders may be on one.
    ExpanderReset,
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
            Some((_, base)) => tree::lay_over_board(base.clone(), own),
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

    /// The base that a file names: its number of panels and its entries.
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
        let base = tree::unplaced(tree::read(text, &mut self.mistakes));
        let panels = match base.get("panel").map(|panels| &panels.kind) {
            Some(WiringValueKind::List(panels)) => panels.len(),
            Some(_) | None => 0,
        };
        Some((panels, base))
    }

    /// Takes a section out of the file; none if it is not there, or is written as "none".
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

    fn spi(&mut self, mut section: Section) -> Option<SpiWiring> {
        let device = self.device(&mut section, BusKind::Spi);
        let hz = section.number("hz", SPI_HZ, &mut self.mistakes);
        let command = self.line(
            &mut section,
            "command",
            LineRole::Output,
            "data/command line",
        );
        let power = self.line(&mut section, "power", LineRole::Output, "power line");
        Some(SpiWiring {
            device: self.require(&section, "device", device)?,
            hz: hz.map_or(10_000_000, |hz| hz.value),
            command: self.require(&section, "command", command)?,
            power,
        })
    }

    fn i2c(&mut self, file: &mut Section) -> Option<I2cWiring> {
        self.i2c_line = file.line_of("i2c");
        let mut section = self.table(file, "i2c", "[i2c]", sections::I2C)?;
        self.has_i2c = true;
        let device = self.device(&mut section, BusKind::I2c);
        let hz = section.number("hz", I2C_HZ, &mut self.mistakes);
        Some(I2cWiring {
            device: self.require(&section, "device", device)?,
            hz: hz.map_or(100_000, |hz| hz.value),
        })
    }

    fn expanders(&mut self, file: &mut Section) -> Vec<ExpanderWiring> {
        let Some(value) = file.take("expander") else {
            return Vec::new();
        };
        self.expanders_line = value.line;
        let is_none = |kind: &WiringValueKind| *kind == WiringValueKind::Text("none".into());
        if is_none(&value.kind) {
            return Vec::new();
        }
        let mut named = match value.kind {
            WiringValueKind::Table(named) => named,
            other @ (WiringValueKind::Text(_)
            | WiringValueKind::Number(_)
            | WiringValueKind::Flag(_)
            | WiringValueKind::List(_)
            | WiringValueKind::Other(_)) => {
                let why = format!("`expander` is {}", other.word());
                self.mistakes.push(file.wrong("expander", value.line, &why));
                return Vec::new();
            }
        };
        named.retain(|_, value| !is_none(&value.kind));
        // All names first: a line of one may be on the list of another.
        self.expanders = named.keys().cloned().collect();
        let mut expanders = Vec::new();
        for (name, value) in named {
            let title = format!("[expander.{name}]");
            if ["gpio", "chip"].contains(&name.as_str()) || !is_word(&name) {
                self.mistakes.push(Mistake::at(
                    value.line,
                    format!("{title}: an expander cannot have this name; write [expander.exp1]"),
                ));
            }
            let WiringValueKind::Table(entries) = value.kind else {
                let why = format!("`{name}` is {}", value.kind.word());
                self.mistakes.push(file.wrong("expander", value.line, &why));
                continue;
            };
            let mut section = Section::new(
                &title,
                value.line,
                sections::EXPANDER,
                entries,
                &mut self.mistakes,
            );
            self.needs_i2c(&section);
            let range = mcp23017::ADDRESSES;
            let range = u32::from(*range.start())..=u32::from(*range.end());
            let address = self.address(&mut section, range);
            let reset =
                self.host_line(&mut section, "reset", LineRole::ExpanderReset, "reset line");
            let interrupt =
                self.host_line(&mut section, "interrupt", LineRole::Input, "interrupt line");
            if let Some(address) = self.require(&section, "address", address) {
                expanders.push(ExpanderWiring {
                    name,
                    address,
                    reset,
                    interrupt,
                });
            }
        }
        expanders
    }

    fn panels(&mut self, file: &mut Section, base: Option<usize>) -> Vec<PanelWiring> {
        let every = file.take("every-panel");
        let every = match every {
            Some(WiringValue {
                kind: WiringValueKind::Table(entries),
                ..
            }) => entries,
            Some(other) => {
                let why = format!("`every-panel` is {}", other.kind.word());
                self.mistakes
                    .push(file.wrong("every-panel", other.line, &why));
                BTreeMap::new()
            }
            None => BTreeMap::new(),
        };
        let is_missing = !file.has("panel");
        let Some(list) = file.list("panel", &mut self.mistakes) else {
            if is_missing {
                self.mistakes.push(file.missing("panel"));
            }
            return Vec::new();
        };
        let most = base.unwrap_or(PANELS_MAX);
        if list.value.is_empty() || list.value.len() > most {
            let extra = list.value.get(most).and_then(|panel| panel.line);
            self.mistakes.push(Mistake::at(
                extra.or(list.line),
                format!("{} panels where 1 to {most} may be", list.value.len()),
            ));
        }
        let mut panels = Vec::new();
        for (index, value) in list.value.into_iter().enumerate() {
            let title = format!("panel {}", index + 1);
            let WiringValueKind::Table(own) = value.kind else {
                let why = format!("{title} is {}", value.kind.word());
                self.mistakes.push(file.wrong("panel", value.line, &why));
                continue;
            };
            let entries = tree::lay_over(every.clone(), own);
            let section = Section::new(
                &title,
                value.line,
                sections::PANEL,
                entries,
                &mut self.mistakes,
            );
            panels.extend(self.panel(section));
        }
        let sizes = |panel: &PanelWiring| (panel.setup.model.width, panel.setup.model.height);
        if panels
            .windows(2)
            .any(|pair| sizes(&pair[0]) != sizes(&pair[1]))
        {
            self.mistakes.push(Mistake::at(
                list.line,
                "the panels are of different sizes; write a `model` of one size for all".into(),
            ));
        }
        panels
    }

    fn panel(&mut self, mut section: Section) -> Option<PanelWiring> {
        let name = section.name.clone();
        let model = self.model(&mut section);
        let of = |what: &str| format!("{what} of {name}");
        let select = self.line(&mut section, "select", LineRole::Output, &of("select line"));
        let busy = self.line(&mut section, "busy", LineRole::Input, &of("busy line"));
        let reset = self.line(
            &mut section,
            "reset",
            LineRole::PanelReset,
            &of("reset line"),
        );
        let degrees = section.number("rotation", 0..=359, &mut self.mistakes);
        let rotation = degrees.and_then(|degrees| {
            let known = PanelRotation::DEGREES
                .iter()
                .find(|(known, _)| *known == i64::from(degrees.value));
            if known.is_none() {
                let why = format!("`rotation` is {} where 0 or 180 must be", degrees.value);
                self.mistakes
                    .push(section.wrong("rotation", degrees.line, &why));
            }
            known.map(|(_, rotation)| *rotation)
        });
        let offset_max = u32::from(ROW_BYTES) - STRIDE as u32 - 1;
        let x_offset = section.number("x-offset", 0..=offset_max, &mut self.mistakes);
        let full_line = section.line_of("full").or(section.line_of("model"));
        let full = section.word("full", FullWaveform::NAMED, &mut self.mistakes);
        let stagger = section.number(
            "stagger-ms",
            0..=STAGGER_MAX.as_millis() as u32,
            &mut self.mistakes,
        );
        let model = model?;
        let full = full.unwrap_or_default();
        if full == FullWaveform::Warm && model.times.fast_full.is_none() {
            let why = format!("nobody has tried `full` = \"d7\" on {}", model.id);
            self.mistakes.push(section.wrong("full", full_line, &why));
        }
        Some(PanelWiring {
            setup: Setup {
                model,
                rotation: rotation.unwrap_or_default(),
                x_offset: x_offset.map_or(0, |offset| offset.value as u8),
                full,
            },
            select: self.require(&section, "select", select)?,
            busy: self.require(&section, "busy", busy)?,
            reset: self.require(&section, "reset", reset)?,
            stagger: Duration::from_millis(u64::from(stagger.map_or(0, |stagger| stagger.value))),
        })
    }

    fn model(&mut self, section: &mut Section) -> Option<&'static Model> {
        let Some(named) = section.text("model", &mut self.mistakes) else {
            return Some(&ssd1680::MODELS[0]);
        };
        let id = named.value.to_ascii_lowercase();
        let found = ssd1680::find(&id);
        if found.is_none() {
            let refused = ssd1680::REFUSED_MODELS
                .iter()
                .find(|(known, _)| *known == id);
            // The waveforms of another panel can damage one that cannot be driven: no other name is suggested for it.
            let why = match refused {
                Some((_, why)) => format!("{why}; this panel cannot be used"),
                None => {
                    let known = ssd1680::MODELS.iter().map(|model| model.id);
                    let known: Vec<&str> = known.collect();
                    format!(
                        "it is not supported; only {} are, and the name of another panel than yours can damage it",
                        known.join(", ")
                    )
                }
            };
            let why = format!("`model` is {:?}, and {why}", named.value);
            self.mistakes.push(section.wrong("model", named.line, &why));
        }
        found
    }

    fn care(&mut self, file: &mut Section) -> Care {
        let default = Care::default();
        let Some(mut section) = self.table(file, "care", "[care]", sections::CARE) else {
            return default;
        };
        let partials = section.number("full-after-partials", 0..=PARTIALS_MAX, &mut self.mistakes);
        let hours = section.number("full-every-hours", 0..=FULL_EVERY_MAX, &mut self.mistakes);
        Care {
            partials_max: partials.map_or(default.partials_max, |partials| partials.value),
            full_every: hours.map_or(default.full_every, |hours| {
                Duration::from_secs(u64::from(hours.value) * 60 * 60)
            }),
        }
    }

    fn strip(&mut self, file: &mut Section, spi: Option<&SpiWiring>) -> Option<StripWiring> {
        let mut section = self.table(file, "strip", "[strip]", sections::STRIP)?;
        let device_line = section.line_of("device");
        let device = self.device(&mut section, BusKind::Spi);
        let hz = section.number("hz", ws2812::HZ_RANGE, &mut self.mistakes);
        let count = section.number("count", 1..=LEDS_MAX as u32, &mut self.mistakes);
        let order = section.word("order", ColourOrder::NAMED, &mut self.mistakes);
        let channels = match section.flag("white", &mut self.mistakes) {
            Some(true) => LedChannels::Four,
            Some(false) | None => LedChannels::Three,
        };
        let begins = section.word("begins", SIDES, &mut self.mistakes);
        let device = self.require(&section, "device", device)?;
        if spi.is_some_and(|spi| bus_of(&spi.device) == bus_of(&device)) {
            let why = "the strip is on the bus of the panels, where every byte would be light";
            let mut devices = self.devices.iter();
            let of_panels = devices.find(|device| device.kind == BusKind::Spi);
            let panels_line = of_panels.and_then(|device| device.line);
            let line = device_line.or(section.line).or(panels_line);
            let other = match bus_of(&device) {
                "/dev/spidev1" => "/dev/spidev0.0",
                _ => "/dev/spidev1.0",
            };
            let what = format!("[strip]: {why}; write device = {other:?}");
            self.mistakes.push(Mistake::at(line, what));
        }
        Some(StripWiring {
            device,
            hz: hz.map_or(ws2812::HZ, |hz| hz.value),
            count: count.map_or(4, |count| count.value as usize),
            kind: ws2812::StripKind {
                order: order.unwrap_or_default(),
                channels,
            },
            begins: begins.unwrap_or_default(),
        })
    }

    fn frontlight(&mut self, file: &mut Section, panels: usize) -> Option<FrontlightWiring> {
        let name = "[frontlight]";
        let mut section = self.table(file, "frontlight", name, sections::FRONTLIGHT)?;
        self.needs_i2c(&section);
        let address = self.address(&mut section, 0x40..=0x7F);
        let outputs = pca9685::CHANNELS as u32;
        let first = section.number("first-output", 0..=outputs - 1, &mut self.mistakes);
        if let Some(first) = &first
            && first.value as usize + panels > pca9685::CHANNELS
        {
            let highest = pca9685::CHANNELS.saturating_sub(panels);
            let what = format!(
                "{name}: with `first-output` = {} there are too few outputs for {panels} panels; \
                 write first-output = {highest} or less",
                first.value
            );
            self.mistakes.push(Mistake::at(first.line, what));
        }
        let hz = section.number("hz", pca9685::HZ, &mut self.mistakes);
        let what = "output-enable line of the frontlight";
        let enable = self.line(&mut section, "enable", LineRole::Output, what);
        self.addresses.push((
            pca9685::ALL_CALL,
            "the frontlight, which answers there too".into(),
            section.line,
        ));
        Some(FrontlightWiring {
            address: self.require(&section, "address", address)?,
            first: first.map_or(0, |first| first.value as u8),
            hz: hz.map_or(1000, |hz| hz.value),
            enable,
        })
    }

    fn sensor(&mut self, file: &mut Section) -> Option<SensorWiring> {
        let mut section = self.table(file, "sensor", "[sensor]", sections::SENSOR)?;
        self.needs_i2c(&section);
        let Some(list) = section.list("addresses", &mut self.mistakes) else {
            for address in bh1750::ADDRESSES {
                self.take_address(&section, "addresses", address, section.line);
            }
            return Some(SensorWiring {
                addresses: bh1750::ADDRESSES.to_vec(),
            });
        };
        let mut addresses = Vec::new();
        for value in &list.value {
            let known = bh1750::ADDRESSES
                .into_iter()
                .find(|address| value.kind == WiringValueKind::Number(i64::from(*address)));
            match known {
                Some(address) if !addresses.contains(&address) => {
                    self.take_address(&section, "addresses", address, value.line);
                    addresses.push(address);
                }
                Some(_) | None => {
                    let why = "a BH1750 can be at 0x5C or at 0x23, each named once";
                    self.mistakes
                        .push(section.wrong("addresses", value.line, why));
                }
            }
        }
        if list.value.is_empty() {
            let why = "`addresses` is empty";
            self.mistakes
                .push(section.wrong("addresses", list.line, why));
        }
        Some(SensorWiring { addresses })
    }

    fn buttons(&mut self, file: &mut Section) -> Option<ButtonsWiring> {
        let mut section = self.table(file, "buttons", "[buttons]", sections::BUTTONS)?;
        let Some(list) = section.list("lines", &mut self.mistakes) else {
            self.mistakes.push(section.missing("lines"));
            return None;
        };
        if list.value.len() != BUTTONS {
            let why = format!("{} lines where {BUTTONS} must be", list.value.len());
            self.mistakes.push(section.wrong("lines", list.line, &why));
        }
        let mut lines = Vec::new();
        for (index, value) in list.value.into_iter().enumerate().take(BUTTONS) {
            let WiringValueKind::Text(text) = value.kind else {
                let why = format!("button {} is {}", index + 1, value.kind.word());
                self.mistakes.push(section.wrong("lines", value.line, &why));
                continue;
            };
            let read = Located {
                value: text,
                line: value.line,
            };
            let what = format!("line of button {}", index + 1);
            lines.extend(self.used(&section, "lines", LineRole::Input, &what, read));
        }
        Some(ButtonsWiring { lines })
    }

    /// Takes a key's value, or says that it is missing unless something else was said of it.
    fn require<T>(&mut self, section: &Section, key: &str, value: Option<T>) -> Option<T> {
        let is_told = self
            .mistakes
            .iter()
            .any(|mistake| mistake.is_about(&section.name, key));
        if value.is_none() && !is_told {
            self.mistakes.push(section.missing(key));
        }
        value
    }

    fn needs_i2c(&mut self, section: &Section) {
        if !self.has_i2c {
            self.mistakes.push(Mistake::at(
                section.line.or(self.i2c_line),
                format!(
                    "{} needs an I2C bus; write a section [i2c] with device = \"/dev/i2c-1\"",
                    section.name
                ),
            ));
        }
    }

    fn device(&mut self, section: &mut Section, kind: BusKind) -> Option<String> {
        let path = section.text("device", &mut self.mistakes)?;
        if !path.value.starts_with("/dev/") || path.value.contains("/../") {
            let why = format!("`device` is {:?} where a file in /dev must be", path.value);
            self.mistakes.push(section.wrong("device", path.line, &why));
            return None;
        }
        let line = path.line.or(section.line);
        let is_other_kind = |known: &&DeviceFile| known.path == path.value && known.kind != kind;
        if let Some(other) = self.devices.iter().find(is_other_kind) {
            let what = format!(
                "{}: `device` is {:?}, already a bus of another kind; write one of its own for each",
                section.name, path.value
            );
            self.mistakes.push(Mistake::at(line.or(other.line), what));
        }
        self.devices.push(DeviceFile {
            path: path.value.clone(),
            kind,
            line,
        });
        Some(path.value)
    }

    fn address(&mut self, section: &mut Section, range: RangeInclusive<u32>) -> Option<u8> {
        let range = (*range.start()).max(*ADDRESSES.start())..=(*range.end()).min(*ADDRESSES.end());
        let value = section.take("address")?;
        let number = match value.kind {
            WiringValueKind::Number(number) => {
                u32::try_from(number).ok().filter(|at| range.contains(at))
            }
            WiringValueKind::Text(_)
            | WiringValueKind::Flag(_)
            | WiringValueKind::List(_)
            | WiringValueKind::Table(_)
            | WiringValueKind::Other(_) => None,
        };
        let Some(address) = number.and_then(|number| u8::try_from(number).ok()) else {
            let why = format!(
                "`address` must be {:#04X} to {:#04X}",
                range.start(),
                range.end()
            );
            self.mistakes
                .push(section.wrong("address", value.line, &why));
            return None;
        };
        self.take_address(section, "address", address, value.line);
        Some(address)
    }

    fn take_address(&mut self, section: &Section, key: &str, address: u8, line: Option<usize>) {
        if let Some((_, other, at)) = self
            .addresses
            .iter()
            .find(|(known, _, _)| *known == address)
        {
            let what = format!(
                "{}: `{key}` {address:#04X} is that of {other}; write one that nothing else has",
                section.name
            );
            let line = line.or(section.line).or(*at);
            self.mistakes.push(Mistake::at(line, what));
        }
        self.addresses.push((address, section.name.clone(), line));
    }

    /// Takes a line out that must be one of the host.
    fn host_line(
        &mut self,
        section: &mut Section,
        key: &str,
        role: LineRole,
        what: &str,
    ) -> Option<WiringLine> {
        let what = format!("{what} of {}", section.name);
        let at = section.line_of(key);
        let line = self.line(section, key, role, &what)?;
        match line.place {
            LineLocation::Named(_) | LineLocation::Numbered { .. } => Some(line),
            LineLocation::Expander { .. } => {
                let why = format!("`{key}` must be a line of the host");
                self.mistakes.push(section.wrong(key, at, &why));
                None
            }
        }
    }

    fn line(
        &mut self,
        section: &mut Section,
        key: &str,
        role: LineRole,
        what: &str,
    ) -> Option<WiringLine> {
        let read = section.text(key, &mut self.mistakes)?;
        self.used(section, key, role, what, read)
    }

    /// Reads a line, and notes what it is used for.
    fn used(
        &mut self,
        section: &Section,
        key: &str,
        role: LineRole,
        what: &str,
        read: Located<String>,
    ) -> Option<WiringLine> {
        let line = match parse(&read.value, &self.expanders) {
            Ok(line) => line,
            Err(why) => {
                let why = format!("`{key}` is {:?}: {why}", read.value);
                let at = read.line.or(section.line).or(self.expanders_line);
                self.mistakes.push(section.wrong(key, at, &why));
                return None;
            }
        };
        if let LineLocation::Expander { pin, .. } = &line.place
            && role == LineRole::Input
            && mcp23017::OUTPUT_ONLY.contains(pin)
        {
            let why =
                format!("`{key}` is {line}: pins 7 and 15 of an expander can only be outputs");
            self.mistakes.push(section.wrong(key, read.line, &why));
        }
        if let Some(mistake) = self.taken(section, key, role, &line, read.line) {
            self.mistakes.push(mistake);
        }
        self.lines.push(Used {
            role,
            is: UsedLine {
                line: line.clone(),
                what: what.to_owned(),
                at: read.line,
            },
        });
        Some(line)
    }

    /// What is wrong with a line that something else is on.
    fn taken(
        &self,
        section: &Section,
        key: &str,
        role: LineRole,
        line: &WiringLine,
        at: Option<usize>,
    ) -> Option<Mistake> {
        let may_share = |used: &Used| {
            matches!(role, LineRole::PanelReset | LineRole::ExpanderReset)
                && used.role == role
                && used.is.line.sense == line.sense
        };
        let mut others = self.lines.iter();
        let other = others.find(|used| used.is.line.place == line.place && !may_share(used))?;
        let other_role = other.role;
        let other = &other.is;
        let on_line = other
            .at
            .map_or_else(String::new, |line| format!(" (line {line})"));
        let what = match role == other_role && role != LineRole::Input && role != LineRole::Output {
            true => format!(
                "`{key}` is {line}, and {} as the {}{on_line}; write both with `!` or both without",
                other.line, other.what
            ),
            false => format!(
                "`{key}` is {}, already the {}{on_line}; write {key} = a line that nothing else is on",
                line.place, other.what
            ),
        };
        let at = at.or(section.line).or(other.at);
        Some(Mistake::at(at, format!("{}: {what}", section.name)))
    }
}

/// Reads a line as it is written: `gpio:NAME`, `chip:LABEL/OFFSET` or `EXPANDER:PIN`, with `!` before it if inverted.
fn parse(text: &str, expanders: &[String]) -> Result<WiringLine, String> {
    const FORMS: &str = "it must be gpio:NAME, chip:LABEL/OFFSET or EXPANDER:PIN";
    let (sense, rest) = match text.strip_prefix('!') {
        Some(rest) => (Sense::Inverted, rest),
        None => (Sense::Straight, text),
    };
    let (kind, name) = rest.split_once(':').ok_or(FORMS)?;
    let place = match kind {
        _ if name.is_empty() || name.chars().any(char::is_whitespace) => return Err(FORMS.into()),
        "gpio" => LineLocation::Named(name.to_owned()),
        "chip" => {
            let (chip, offset) = name.rsplit_once('/').ok_or(FORMS)?;
            let offset = offset.parse().map_err(|_| FORMS)?;
            if chip.is_empty() {
                return Err(FORMS.into());
            }
            LineLocation::Numbered {
                chip: chip.to_owned(),
                offset,
            }
        }
        expander if expanders.iter().any(|known| known == expander) => {
            let pin = name.parse().ok().filter(|pin| *pin < mcp23017::PINS);
            LineLocation::Expander {
                name: expander.to_owned(),
                pin: pin.ok_or("an expander has pins 0 to 15")?,
            }
        }
        other if is_word(other) => {
            return Err(match expanders {
                [] => format!("there is no expander `{other}`, nor any other"),
                known => format!("there is no expander `{other}`, only {}", known.join(", ")),
            });
        }
        _ => return Err(FORMS.into()),
    };
    Ok(WiringLine { place, sense })
}

fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 32
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

/// The bus of a device file of SPI, without the number of its select line.
fn bus_of(device: &str) -> &str {
    device.rsplit_once('.').map_or(device, |(bus, _)| bus)
}
