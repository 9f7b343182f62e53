//! Checks of a wiring across its sections: ranges, and lines, addresses and buses that are used twice.

use std::{fmt::Display, ops::RangeInclusive};

use super::{
    BUTTONS, BusKind, ButtonsWiring, DeviceFile, ExpanderWiring, FrontlightWiring, I2C_HZ,
    I2cWiring, LEDS_MAX, LineLocation, Mistake, PanelWiring, SPI_HZ, STAGGER_MAX, SensorWiring,
    SpiWiring, StripWiring, UsedLine, WiringLine, read::Section, values::CareEntries,
};
use crate::parts::{bh1750, epaper::FullWaveform, mcp23017, pca9685, ws2812};

/// Largest number of partial refreshes between two full ones.
const PARTIALS_MAX: u32 = 100_000;

/// Longest time between two full refreshes, hours.
const FULL_EVERY_MAX: u32 = 24 * 366;

/// Addresses that a frontlight can have: the last of the chip are reserved.
const FRONTLIGHT_ADDRESSES: RangeInclusive<u8> = 0x40..=0x77;

/// What the sections use, and the mistakes.
#[derive(Debug, Default)]
pub(super) struct Checks {
    pub(super) mistakes: Vec<Mistake>,
    /// The file without its base.
    pub(super) file: Section,
    pub(super) expanders: Vec<String>,
    pub(super) has_i2c: bool,
    pub(super) devices: Vec<DeviceFile>,
    lines: Vec<(LineRole, UsedLine)>,
    /// Addresses in use on the I2C bus, each with its part and line number.
    addresses: Vec<(u8, String, Option<usize>)>,
}

/// The use of a line, which decides whether parts may share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineRole {
    Output,
    Input,
    /// A reset line, which several panels may share.
    PanelReset,
    /// A reset line, which several expanders may share.
    ExpanderReset,
}

impl Checks {
    pub(super) fn into_parts(self) -> (Vec<DeviceFile>, Vec<UsedLine>, Vec<Mistake>) {
        let lines = self.lines.into_iter().map(|(_, line)| line);
        (self.devices, lines.collect(), self.mistakes)
    }

    pub(super) fn mistake(&mut self, line: Option<usize>, what: String) {
        self.mistakes.push(Mistake::at(line, what));
    }

    /// The mistake of a value.
    fn wrong(&mut self, section: &Section, key: &str, why: &str) {
        let what = format!("{}: `{key}` {why}", section.title);
        self.mistake(section.at(key), what);
    }

    pub(super) fn spi(&mut self, section: &Section, spi: &SpiWiring) {
        self.device(section, BusKind::Spi, &spi.device);
        self.range(section, "hz", spi.hz, SPI_HZ);
        self.line(
            section,
            "command",
            LineRole::Output,
            "data/command line",
            &spi.command,
        );
        if let Some(power) = &spi.power {
            self.line(section, "power", LineRole::Output, "power line", power);
        }
    }

    pub(super) fn i2c(&mut self, section: &Section, i2c: &I2cWiring) {
        self.device(section, BusKind::I2c, &i2c.device);
        self.range(section, "hz", i2c.hz, I2C_HZ);
    }

    pub(super) fn expander(&mut self, section: &Section, expander: &ExpanderWiring) {
        let name = &expander.name;
        let is_word = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        if ["gpio", "chip", ""].contains(&name.as_str())
            || name.len() > 32
            || !name.chars().all(is_word)
        {
            let what = format!(
                "{}: an expander cannot have this name; write [expander.exp1]",
                section.title
            );
            self.mistake(section.line, what);
        }
        self.needs_i2c(section);
        self.address(section, expander.address, mcp23017::ADDRESSES);
        for (key, role, line) in [
            ("reset", LineRole::ExpanderReset, &expander.reset),
            ("interrupt", LineRole::Input, &expander.interrupt),
        ] {
            let Some(line) = line else { continue };
            if let LineLocation::Expander { .. } = line.place {
                self.wrong(section, key, "must be a line of the host");
            }
            let what = format!("{key} line of {}", section.title);
            self.line(section, key, role, &what, line);
        }
    }

    pub(super) fn panel(&mut self, section: &Section, panel: &PanelWiring) {
        for (key, role, line) in [
            ("select", LineRole::Output, &panel.select),
            ("busy", LineRole::Input, &panel.busy),
            ("reset", LineRole::PanelReset, &panel.reset),
        ] {
            let what = format!("{key} line of {}", section.title);
            self.line(section, key, role, &what, line);
        }
        self.range(
            section,
            "x-offset",
            panel.x_offset,
            0..=panel.model.x_offset_max(),
        );
        self.range(
            section,
            "stagger-ms",
            panel.stagger.as_millis(),
            0..=STAGGER_MAX.as_millis(),
        );
        if panel.full == FullWaveform::Warm && panel.model.times.fast_full.is_none() {
            let line = section.line_of("full").or(section.at("model"));
            let what = format!(
                "{}: `full` is \"fast\", which was never tested on {}; write \"normal\"",
                section.title, panel.model.id
            );
            self.mistake(line, what);
        }
    }

    pub(super) fn care(&mut self, section: &Section, care: &CareEntries) {
        let partials = care.partials_max.unwrap_or_default();
        self.range(section, "full-after-partials", partials, 0..=PARTIALS_MAX);
        let hours = care.full_every.unwrap_or_default();
        self.range(section, "full-every-hours", hours, 0..=FULL_EVERY_MAX);
    }

    pub(super) fn strip(
        &mut self,
        section: &Section,
        strip: &StripWiring,
        spi: Option<&SpiWiring>,
    ) {
        self.device(section, BusKind::Spi, &strip.device);
        self.range(section, "hz", strip.hz, ws2812::HZ_RANGE);
        self.range(section, "count", strip.count, 1..=LEDS_MAX);
        // Without the number of the select line.
        let bus_of = |device: &str| device.rsplit_once('.').map(|(bus, _)| bus.to_owned());
        if let Some(spi) = spi
            && bus_of(&spi.device) == bus_of(&strip.device)
        {
            let panels = self.devices.iter().find(|device| device.path == spi.device);
            let line = section
                .at("device")
                .or(panels.and_then(|device| device.line));
            let what = format!(
                "{}: the strip is on the bus of the panels, whose data it would show as colours; write a `device` of another bus",
                section.title
            );
            self.mistake(line, what);
        }
    }

    pub(super) fn frontlight(
        &mut self,
        section: &Section,
        light: &FrontlightWiring,
        panels: usize,
    ) {
        self.needs_i2c(section);
        self.address(section, light.address, FRONTLIGHT_ADDRESSES);
        // One output per panel.
        let first_max = pca9685::CHANNELS.saturating_sub(panels.max(1));
        self.range(
            section,
            "first-output",
            usize::from(light.first),
            0..=first_max,
        );
        self.range(section, "hz", light.hz, pca9685::HZ);
        if let Some(enable) = &light.enable {
            let what = "output-enable line of the frontlight";
            self.line(section, "enable", LineRole::Output, what, enable);
        }
        let also = "the frontlight, which answers there too".into();
        self.addresses.push((pca9685::ALL_CALL, also, section.line));
    }

    pub(super) fn sensor(&mut self, section: &Section, sensor: &SensorWiring) {
        self.needs_i2c(section);
        let (known, addresses) = (bh1750::ADDRESSES, &sensor.addresses);
        if addresses.is_empty() || addresses.iter().any(|at| !known.contains(at)) {
            let why = "must be one or both of 0x5C and 0x23";
            self.wrong(section, "addresses", why);
        }
        for address in addresses {
            self.take_address(section, "addresses", *address);
        }
    }

    pub(super) fn buttons(&mut self, section: &Section, buttons: &ButtonsWiring) {
        let lines = &buttons.lines;
        if lines.len() != BUTTONS {
            let why = format!("has {} lines where {BUTTONS} must be", lines.len());
            self.wrong(section, "lines", &why);
        }
        for (index, line) in lines.iter().enumerate() {
            let what = format!("line of button {}", index + 1);
            self.line(section, "lines", LineRole::Input, &what, line);
        }
    }

    fn range<T: Display + PartialOrd>(
        &mut self,
        section: &Section,
        key: &str,
        value: T,
        range: RangeInclusive<T>,
    ) {
        if !range.contains(&value) {
            let why = format!(
                "is {value} where {} to {} may be",
                range.start(),
                range.end()
            );
            self.wrong(section, key, &why);
        }
    }

    fn needs_i2c(&mut self, section: &Section) {
        if !self.has_i2c {
            let line = section.line.or(self.file.line_of("i2c"));
            let what = format!(
                "{} needs an I2C bus; write a section [i2c] with device = \"/dev/i2c-1\"",
                section.title
            );
            self.mistake(line, what);
        }
    }

    /// Records the device file of a bus.
    fn device(&mut self, section: &Section, kind: BusKind, path: &str) {
        let line = section.at("device");
        let is_other_kind = |known: &&DeviceFile| known.path == path && known.kind != kind;
        if let Some(other) = self.devices.iter().find(is_other_kind) {
            let what = format!(
                "{}: `device` is {path:?}, already a bus of another kind; write one of its own for each",
                section.title
            );
            self.mistake(line.or(other.line), what);
        }
        self.devices.push(DeviceFile {
            path: path.to_owned(),
            kind,
            line,
        });
    }

    fn address(&mut self, section: &Section, address: u8, range: RangeInclusive<u8>) {
        if !range.contains(&address) {
            let why = format!("must be {:#04X} to {:#04X}", range.start(), range.end());
            self.wrong(section, "address", &why);
        } else {
            self.take_address(section, "address", address);
        }
    }

    /// Records that an address is in use, and checks that it was not.
    fn take_address(&mut self, section: &Section, key: &str, address: u8) {
        let line = section.at(key);
        let known = self
            .addresses
            .iter()
            .find(|(known, _, _)| *known == address);
        if let Some((_, other, at)) = known {
            let what = format!(
                "{}: `{key}` {address:#04X} is that of {other}; write one that nothing else has",
                section.title
            );
            self.mistake(line.or(*at), what);
        }
        self.addresses.push((address, section.title.clone(), line));
    }

    /// Records the use of a line, and checks that it exists and is free.
    fn line(
        &mut self,
        section: &Section,
        key: &str,
        role: LineRole,
        what: &str,
        line: &WiringLine,
    ) {
        if let LineLocation::Expander { name, pin } = &line.place {
            if !self.expanders.contains(name) {
                let why = match self.expanders.as_slice() {
                    [] => "there is none".to_owned(),
                    known => format!("there is only {}", known.join(", ")),
                };
                // Without its pin, so that a missing expander is one mistake for all panels.
                let what = format!(
                    "{}: `{key}` is on the expander `{name}`, and {why}",
                    section.title
                );
                let at = section.at(key).or(self.file.line_of("expander"));
                self.mistake(at, what);
                return;
            }
            if role == LineRole::Input && mcp23017::OUTPUT_ONLY.contains(pin) {
                let why = format!("is {line}: pins 7 and 15 of an expander can only be outputs");
                self.wrong(section, key, &why);
            }
        }
        if let Some((why, other)) = self.conflict(role, line) {
            let at = section.at(key).or(other);
            self.mistake(at, format!("{}: `{key}` is {why}", section.title));
        }
        let used = UsedLine {
            line: line.clone(),
            what: what.to_owned(),
            at: section.line_of(key),
        };
        self.lines.push((role, used));
    }

    /// Why a line cannot be used again, and the line number of its other use.
    fn conflict(&self, role: LineRole, line: &WiringLine) -> Option<(String, Option<usize>)> {
        let is_reset = matches!(role, LineRole::PanelReset | LineRole::ExpanderReset);
        let mut others = self
            .lines
            .iter()
            .filter(|(_, used)| used.line.place == line.place);
        let (other_role, other) = others
            .find(|(other, used)| !is_reset || *other != role || used.line.sense != line.sense)?;
        let at = other
            .at
            .map_or_else(String::new, |at| format!(" (line {at})"));
        let what = &other.what;
        let why = if is_reset && *other_role == role {
            format!(
                "{line}, and {} as the {what}{at}; write both with `!` or both without",
                other.line
            )
        } else {
            format!(
                "{}, already the {what}{at}; write a line that nothing else is on",
                line.place
            )
        };
        Some((why, other.at))
    }
}
