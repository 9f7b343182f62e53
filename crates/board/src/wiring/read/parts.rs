//! Reads the expanders, the strip, the frontlight, the light sensor and the buttons.

use super::{
    super::{
        BUTTONS, BusKind, ButtonsWiring, ExpanderWiring, FrontlightWiring, LEDS_MAX, Mistake,
        SensorWiring, Side, SpiWiring, StripWiring,
        sections::{self, Located, Section},
        tree::WiringValueKind,
    },
    Reader,
    lines::{LineRole, is_word},
};
use crate::parts::{
    bh1750, mcp23017, pca9685,
    ws2812::{self, ColourOrder, LedChannels},
};

/// Names of the ends of the strip.
const SIDES: &[(&str, Side)] = &[("left", Side::Left), ("right", Side::Right)];

impl Reader {
    pub(super) fn expanders(&mut self, file: &mut Section) -> Vec<ExpanderWiring> {
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
        // All names first, because a line of one expander may be on another.
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

    pub(super) fn strip(
        &mut self,
        file: &mut Section,
        spi: Option<&SpiWiring>,
    ) -> Option<StripWiring> {
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
            let why = "the strip is on the bus of the panels, whose data it would show as colours";
            let mut devices = self.devices.iter();
            let panels_device = devices.find(|device| device.kind == BusKind::Spi);
            let panels_line = panels_device.and_then(|device| device.line);
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

    pub(super) fn frontlight(
        &mut self,
        file: &mut Section,
        panels: usize,
    ) -> Option<FrontlightWiring> {
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

    pub(super) fn sensor(&mut self, file: &mut Section) -> Option<SensorWiring> {
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

    pub(super) fn buttons(&mut self, file: &mut Section) -> Option<ButtonsWiring> {
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
            lines.extend(self.use_line(&section, "lines", LineRole::Input, &what, read));
        }
        Some(ButtonsWiring { lines })
    }
}

/// The bus of a device file of SPI, without the number of its select line.
fn bus_of(device: &str) -> &str {
    device.rsplit_once('.').map_or(device, |(bus, _)| bus)
}
