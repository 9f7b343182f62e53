//! The nets: their drivers, pull resistors and levels.

use std::collections::BTreeMap;

use super::violations::Violations;
use board::{
    parts::mcp23017::LineLevel,
    wiring::{LineLocation, Pull, Sense, WiringLine},
};

/// The part that drives a net.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NetDriver {
    Host,
    Expander,
    Chip,
    Button,
}

pub(super) type NetId = usize;

/// A net on the side of a chip, after the inverter if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChipNet {
    net: NetId,
    sense: Sense,
}

#[derive(Debug, Default)]
pub(super) struct Nets {
    known: BTreeMap<LineLocation, NetId>,
    nets: Vec<Net>,
}

#[derive(Debug)]
struct Net {
    name: String,
    drives: BTreeMap<NetDriver, LineLevel>,
    /// Pull resistors on the board, in the host and in the expander.
    board: Pull,
    host: Pull,
    expander: Pull,
}

impl ChipNet {
    /// A net without an inverter.
    pub(super) fn straight(net: NetId) -> ChipNet {
        ChipNet {
            net,
            sense: Sense::Straight,
        }
    }
}

impl Nets {
    /// The net of a line, created at first use.
    pub(super) fn of(&mut self, place: &LineLocation) -> NetId {
        if let Some(id) = self.known.get(place) {
            return *id;
        }
        let id = self.nets.len();
        self.nets.push(Net {
            name: place.to_string(),
            drives: BTreeMap::new(),
            board: Pull::None,
            host: Pull::None,
            expander: Pull::None,
        });
        self.known.insert(place.clone(), id);
        id
    }

    /// The net of a line, on the side of its chip.
    pub(super) fn wire(&mut self, line: &WiringLine) -> ChipNet {
        ChipNet {
            net: self.of(&line.place),
            sense: line.sense,
        }
    }

    /// Drives a net, or stops driving it.
    pub(super) fn drive(
        &mut self,
        wire: ChipNet,
        driver: NetDriver,
        level: Option<LineLevel>,
        violations: &mut Violations,
    ) {
        let net = &mut self.nets[wire.net];
        match level {
            Some(level) => net.drives.insert(driver, level.through(wire.sense)),
            None => net.drives.remove(&driver),
        };
        let mut levels = net.drives.values();
        let first = levels.next();
        if levels.any(|level| Some(level) != first) {
            violations.record(format!("{}: driven high and low at once", net.name));
        }
    }

    /// Adds a pull-up on the side of the chip.
    pub(super) fn pull_up(&mut self, wire: ChipNet) {
        self.nets[wire.net].board = match wire.sense {
            Sense::Straight => Pull::Up,
            Sense::Inverted => Pull::Down,
        };
    }

    pub(super) fn pull_by_host(&mut self, id: NetId, pull: Pull) {
        self.nets[id].host = pull;
    }

    pub(super) fn pull_by_expander(&mut self, id: NetId, pull: Pull) {
        self.nets[id].expander = pull;
    }

    pub(super) fn read(&self, wire: ChipNet) -> LineLevel {
        self.level(wire.net).through(wire.sense)
    }

    /// Level of a net. A floating net is low.
    pub(super) fn level(&self, id: NetId) -> LineLevel {
        let net = &self.nets[id];
        let is_low = net.drives.values().any(|level| *level == LineLevel::Low);
        if is_low {
            return LineLevel::Low;
        }
        if !net.drives.is_empty() {
            return LineLevel::High;
        }
        if [net.board, net.host, net.expander].contains(&Pull::Up) {
            LineLevel::High
        } else {
            LineLevel::Low
        }
    }
}
