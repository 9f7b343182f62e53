//! Reads the buses, and the device files and addresses on them.

use std::ops::RangeInclusive;

use super::{
    super::{
        BusKind, DeviceFile, I2C_HZ, I2cWiring, Mistake, SPI_HZ, SpiWiring,
        sections::{self, Section},
        tree::WiringValueKind,
    },
    Reader,
    lines::LineRole,
};

/// Addresses that a chip on an I2C bus can have.
const ADDRESSES: RangeInclusive<u32> = 0x08..=0x77;

impl Reader {
    pub(super) fn spi(&mut self, mut section: Section) -> Option<SpiWiring> {
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

    pub(super) fn i2c(&mut self, file: &mut Section) -> Option<I2cWiring> {
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

    /// Checks that there is an I2C bus for a section.
    pub(super) fn needs_i2c(&mut self, section: &Section) {
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

    /// Reads the device file of a bus.
    pub(super) fn device(&mut self, section: &mut Section, kind: BusKind) -> Option<String> {
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

    /// Reads the address of a chip on the I2C bus.
    pub(super) fn address(
        &mut self,
        section: &mut Section,
        range: RangeInclusive<u32>,
    ) -> Option<u8> {
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

    /// Records that an address is in use, and checks that it was not.
    pub(super) fn take_address(
        &mut self,
        section: &Section,
        key: &str,
        address: u8,
        line: Option<usize>,
    ) {
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
}
