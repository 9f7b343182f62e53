//! The state of a circuit: its nets, its chips and its time.

use std::{collections::BTreeSet, time::Duration};

use device::lights::Rgb;
use embedded_hal::i2c::Operation;

use super::{
    PanelCondition, bh1750, mcp23017,
    nets::{ChipNet, NetDriver, Nets},
    panel::PanelChip,
    pca9685,
    strip::SimLedStrip,
    violations::Violations,
};
use board::{
    parts::{epaper::HZ_MAX, mcp23017::LineLevel},
    wiring::{LineLocation, Pull, Sense, Wiring, WiringLine},
};

/// Initial light, thousandths of a lux.
const MILLILUX_AT_START: u32 = 80_000;

/// Bits of an I2C transfer besides its bytes: start, address and acknowledgement.
const I2C_HEAD_BITS: u32 = 10;

/// A simulated panel and its nets.
#[derive(Debug)]
struct SimPanel {
    chip: PanelChip,
    select: ChipNet,
    busy: ChipNet,
    reset: ChipNet,
}

/// Time after which a host ends a transaction on a bus that hangs.
const HOST_TIMEOUT: Duration = Duration::from_secs(1);

/// Condition of the I2C bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum I2cCondition {
    /// The bus works.
    #[default]
    Healthy,
    /// A chip holds the data line low, so that every transaction times out.
    Hanging,
}

/// State of the simulated circuit at one moment.
#[derive(Debug)]
pub(super) struct SimCircuit {
    now: Duration,
    nets: Nets,
    /// Lines that the host has open.
    open: BTreeSet<LineLocation>,
    panels: Vec<SimPanel>,
    command: ChipNet,
    power: Option<ChipNet>,
    spi_hz: u32,
    strip_hz: u32,
    i2c_hz: u32,
    pub(super) i2c: I2cCondition,
    expanders: Vec<mcp23017::Mcp23017Chip>,
    expander_resets: Vec<Option<ChipNet>>,
    frontlight: Option<pca9685::Pca9685Chip>,
    first_output: usize,
    sensor: Option<bh1750::Bh1750Chip>,
    strip: Option<SimLedStrip>,
    strip_device: Option<String>,
    violations: Violations,
    /// Commands to the panels with their data, if they are recorded.
    pub(super) commands: Option<Vec<(u8, Vec<u8>)>>,
}

impl SimCircuit {
    pub(super) fn new(wiring: &Wiring) -> SimCircuit {
        let mut nets = Nets::default();
        let expanders = wiring
            .expanders
            .iter()
            .map(|expander| {
                let pin = |pin| LineLocation::Expander {
                    name: expander.name.clone(),
                    pin,
                };
                let pins = mcp23017::pins()
                    .map(|number| nets.of(&pin(number)))
                    .collect();
                let interrupt = expander.interrupt.as_ref().map(|line| nets.wire(line));
                mcp23017::Mcp23017Chip::new(&expander.name, expander.address, pins, interrupt)
            })
            .collect();
        let expander_resets: Vec<Option<ChipNet>> = wiring
            .expanders
            .iter()
            .map(|expander| expander.reset.as_ref().map(|line| nets.wire(line)))
            .collect();
        let panels = wiring
            .panels
            .iter()
            .enumerate()
            .map(|(index, panel)| SimPanel {
                chip: PanelChip::new(index, &panel.setup()),
                select: nets.wire(&panel.select),
                busy: nets.wire(&panel.busy),
                reset: nets.wire(&panel.reset),
            })
            .collect::<Vec<_>>();
        let frontlight = wiring.frontlight.as_ref().map(|frontlight| {
            let enable = frontlight.enable.as_ref().map(|line| nets.wire(line));
            enable.inspect(|wire| nets.pull_up(*wire));
            pca9685::Pca9685Chip::new(frontlight.address, enable)
        });
        // No panel is selected or reset before the lines have levels. The expanders have no pull-ups: they are in reset while
        // the host does not drive their reset lines.
        for panel in &panels {
            nets.pull_up(panel.select);
            nets.pull_up(panel.reset);
        }
        let mut state = SimCircuit {
            now: Duration::ZERO,
            command: nets.wire(&wiring.spi.command),
            power: wiring.spi.power.as_ref().map(|line| nets.wire(line)),
            nets,
            open: BTreeSet::new(),
            panels,
            spi_hz: wiring.spi.hz,
            strip_hz: wiring.strip.as_ref().map_or(1, |strip| strip.hz),
            i2c_hz: wiring.i2c.as_ref().map_or(1, |i2c| i2c.hz),
            i2c: I2cCondition::default(),
            expanders,
            expander_resets,
            frontlight,
            first_output: wiring
                .frontlight
                .as_ref()
                .map_or(0, |frontlight| usize::from(frontlight.first)),
            sensor: wiring.sensor.as_ref().and_then(|sensor| {
                let address = sensor.addresses.first()?;
                Some(bh1750::Bh1750Chip::new(*address, MILLILUX_AT_START))
            }),
            strip: wiring.strip.as_ref().map(SimLedStrip::new),
            strip_device: wiring.strip.as_ref().map(|strip| strip.device.clone()),
            violations: Violations::default(),
            commands: None,
        };
        let buttons = wiring.buttons.iter().flat_map(|buttons| &buttons.lines);
        for line in buttons {
            state.press(line, LineLevel::High);
        }
        state.settle();
        state
    }

    /// Returns whether a device file is that of the strip.
    pub(super) fn is_strip(&self, device: &str) -> bool {
        self.strip_device.as_deref() == Some(device)
    }

    pub(super) fn now(&self) -> Duration {
        self.now
    }

    pub(super) fn violations(&self) -> Vec<String> {
        self.violations.all()
    }

    pub(super) fn panel(&self, panel: usize) -> Option<&PanelChip> {
        self.panels.get(panel).map(|panel| &panel.chip)
    }

    /// Advances time to a moment, if that is in the future.
    pub(super) fn advance(&mut self, to: Duration) {
        if to > self.now {
            self.now = to;
            self.settle();
        }
    }

    pub(super) fn next_change(&self) -> Option<Duration> {
        self.panels
            .iter()
            .filter_map(|panel| panel.chip.falls_at(self.now))
            .min()
    }

    pub(super) fn set_condition(&mut self, panel: usize, condition: PanelCondition) {
        if let Some(panel) = self.panels.get_mut(panel) {
            panel.chip.set_condition(condition);
        }
        self.settle();
    }

    pub(super) fn plug(&mut self, name: &str, is_plugged: bool) {
        for expander in &mut self.expanders {
            if expander.name == name {
                expander.is_plugged = is_plugged;
                expander.reset();
            }
        }
        self.settle();
    }

    pub(super) fn plug_frontlight(&mut self, is_plugged: bool) {
        if let Some(frontlight) = &mut self.frontlight {
            frontlight.is_plugged = is_plugged;
            frontlight.reset();
        }
        self.settle();
    }

    pub(super) fn set_millilux(&mut self, millilux: Option<u32>) {
        if let Some(sensor) = &mut self.sensor {
            sensor.millilux = millilux;
        }
    }

    pub(super) fn press(&mut self, line: &WiringLine, button: LineLevel) {
        let wire = self.nets.wire(line);
        let level = match (button, line.sense) {
            (LineLevel::Low, _) => Some(LineLevel::Low),
            (LineLevel::High, Sense::Straight) => None,
            // An inverter always drives its line.
            (LineLevel::High, Sense::Inverted) => Some(LineLevel::High),
        };
        self.nets
            .drive(wire, NetDriver::Button, level, &mut self.violations);
        self.settle();
    }

    pub(super) fn leds(&self) -> Vec<Rgb> {
        self.strip
            .as_ref()
            .map_or_else(Vec::new, |strip| strip.colours().to_vec())
    }

    pub(super) fn duties(&self) -> Vec<u16> {
        self.frontlight.as_ref().map_or_else(Vec::new, |chip| {
            chip.duties(&self.nets).split_off(self.first_output)
        })
    }

    /// Level of a line, after its inverter if there is one.
    pub(super) fn level(&mut self, line: &WiringLine) -> LineLevel {
        let wire = self.nets.wire(line);
        self.nets.read(wire)
    }

    /// Opens a line of the host; returns whether it was closed.
    pub(super) fn open(&mut self, place: &LineLocation) -> bool {
        self.open.insert(place.clone())
    }

    /// Closes a line of the host, which is no longer driven or pulled.
    pub(super) fn close(&mut self, line: &WiringLine) {
        self.open.remove(&line.place);
        let wire = self.nets.wire(line);
        self.nets
            .drive(wire, NetDriver::Host, None, &mut self.violations);
        self.pull(&line.place, Pull::None);
    }

    pub(super) fn drive(&mut self, line: &WiringLine, level: LineLevel) {
        let wire = self.nets.wire(line);
        self.nets
            .drive(wire, NetDriver::Host, Some(level), &mut self.violations);
        self.settle();
    }

    /// Sets the pull of a line by the host.
    pub(super) fn pull(&mut self, place: &LineLocation, pull: Pull) {
        let net = self.nets.of(place);
        self.nets.pull_by_host(net, pull);
        self.settle();
    }

    /// Sends bytes on the bus of the panels.
    pub(super) fn send(&mut self, bytes: &[u8]) {
        let selected: Vec<usize> = (0..self.panels.len())
            .filter(|panel| self.nets.read(self.panels[*panel].select) == LineLevel::Low)
            .collect();
        if selected.len() != 1 && !bytes.is_empty() {
            self.violations
                .record(format!("a byte for {} panels at once", selected.len()));
        }
        if self.spi_hz > HZ_MAX {
            self.violations
                .record(format!("a clock of {} Hz for the panels", self.spi_hz));
        }
        let is_data = self.nets.read(self.command) == LineLevel::High;
        if let Some(commands) = &mut self.commands {
            match commands.last_mut() {
                Some((_, data)) if is_data => data.extend_from_slice(bytes),
                _ => commands.extend(bytes.iter().map(|byte| (*byte, Vec::new()))),
            }
        }
        for panel in selected {
            for byte in bytes {
                self.panels[panel]
                    .chip
                    .receive(*byte, is_data, self.now, &mut self.violations);
            }
        }
        self.advance(self.now + transfer_time(8 * bytes.len(), self.spi_hz));
        // A command may have changed a busy line at once.
        self.settle();
    }

    /// Sends bytes on the bus of the strip.
    pub(super) fn send_to_strip(&mut self, bytes: &[u8]) {
        if let Some(strip) = &mut self.strip {
            strip.receive(bytes, &mut self.violations);
        }
        self.advance(self.now + transfer_time(8 * bytes.len(), self.strip_hz));
    }

    /// Runs a transaction on the I2C bus; returns whether a chip has answered.
    pub(super) fn transact(&mut self, address: u8, operations: &mut [Operation<'_>]) -> bool {
        if self.i2c == I2cCondition::Hanging {
            self.advance(self.now + HOST_TIMEOUT);
            return false;
        }
        let is_answered = operations.iter_mut().all(|operation| {
            let count = match operation {
                Operation::Write(bytes) => bytes.len(),
                Operation::Read(bytes) => bytes.len(),
            };
            let bits = I2C_HEAD_BITS as usize + 9 * count;
            self.advance(self.now + transfer_time(bits, self.i2c_hz));
            self.operate(address, operation)
        });
        self.advance(self.now + transfer_time(1, self.i2c_hz));
        self.settle();
        is_answered
    }

    fn operate(&mut self, address: u8, operation: &mut Operation<'_>) -> bool {
        let expander = self
            .expanders
            .iter_mut()
            .find(|expander| expander.address == address && expander.answers());
        if let Some(expander) = expander {
            match operation {
                Operation::Write(bytes) => expander.write(bytes, &mut self.violations),
                Operation::Read(bytes) => expander.read(bytes),
            }
            return true;
        }
        if let Some(chip) = self
            .frontlight
            .as_mut()
            .filter(|chip| chip.address == address && chip.is_plugged)
        {
            match operation {
                Operation::Write(bytes) => chip.write(bytes, &mut self.violations),
                Operation::Read(bytes) => chip.read(bytes),
            }
            return true;
        }
        if let Some(chip) = self
            .sensor
            .as_mut()
            .filter(|chip| chip.address == address && chip.millilux.is_some())
        {
            match operation {
                Operation::Write(bytes) => chip.write(bytes, self.now, &mut self.violations),
                Operation::Read(bytes) => chip.read(bytes, self.now),
            }
            return true;
        }
        false
    }

    /// Updates all chips and nets.
    fn settle(&mut self) {
        let violations = &mut self.violations;
        for (expander, reset) in self.expanders.iter_mut().zip(&self.expander_resets) {
            expander.is_reset = reset.is_some_and(|wire| self.nets.read(wire) == LineLevel::Low);
            if expander.is_reset {
                expander.reset();
            }
            expander.drive(&mut self.nets, violations);
        }
        let has_supply = self
            .power
            .is_none_or(|power| self.nets.read(power) == LineLevel::High);
        for panel in &mut self.panels {
            panel.chip.advance(self.now, violations);
            panel.chip.set_supply(has_supply, self.now, violations);
            let is_low = self.nets.read(panel.reset) == LineLevel::Low;
            panel.chip.set_reset(is_low, self.now, violations);
            let busy = panel.chip.busy(self.now);
            self.nets
                .drive(panel.busy, NetDriver::Chip, busy, violations);
        }
        for expander in &mut self.expanders {
            expander.update(&mut self.nets, violations);
        }
        if let Some(frontlight) = &self.frontlight {
            frontlight.check_enable(&self.nets, violations);
        }
    }
}

fn transfer_time(bits: usize, hz: u32) -> Duration {
    Duration::from_nanos(bits as u64 * 1_000_000_000 / u64::from(hz.max(1)))
}
