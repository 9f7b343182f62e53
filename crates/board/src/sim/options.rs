//! What can be chosen about a simulated board.

use std::{fmt, time::Duration};

use crate::parts::ssd1680::MODELS;

/// Time a full refresh takes: that of the usual panel.
pub const FULL_REFRESH: Duration = MODELS[0].times.full;

/// Time a partial refresh takes: that of the usual panel, with switching its supply on and off.
pub const PARTIAL_REFRESH: Duration = MODELS[0].times.whole_partial();

/// How fast the simulated panels are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PanelTiming {
    /// As slow as paper.
    #[default]
    Real,
    /// At once.
    Instant,
}

impl PanelTiming {
    /// The timings and their words on the command line.
    pub const NAMED: &[(&str, PanelTiming)] = &[
        ("real", PanelTiming::Real),
        ("instant", PanelTiming::Instant),
    ];

    /// Word for the timing.
    pub fn name(self) -> &'static str {
        match self {
            PanelTiming::Real => "real",
            PanelTiming::Instant => "instant",
        }
    }
}

/// What goes wrong with a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SimFault {
    /// Nothing.
    #[default]
    None,
    /// It never becomes idle again.
    BusyStuck,
}

impl SimFault {
    /// The faults and their words on the bench.
    pub const NAMED: &[(&str, SimFault)] = &[
        ("none", SimFault::None),
        ("busy-stuck", SimFault::BusyStuck),
    ];

    /// Looks up a fault by its word.
    pub fn parse(word: &str) -> Option<SimFault> {
        Self::NAMED
            .iter()
            .find(|(name, _)| *name == word)
            .map(|(_, fault)| *fault)
    }

    /// Word for the fault.
    pub fn name(self) -> &'static str {
        match self {
            SimFault::None => "none",
            SimFault::BusyStuck => "busy-stuck",
        }
    }
}

/// Buttons to hold while the power comes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PowerCycle {
    /// A bit per button.
    pub mask: u8,
    /// How long they are held from the moment the power comes on.
    pub held: Duration,
}

impl PowerCycle {
    /// Reads what it is printed as; none if it is nothing of the kind.
    pub fn parse(text: &str) -> Option<PowerCycle> {
        let (mask, millis) = text.split_once(' ')?;
        Some(PowerCycle {
            mask: mask.parse().ok()?,
            held: Duration::from_millis(millis.parse().ok()?),
        })
    }
}

impl fmt::Display for PowerCycle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.mask, self.held.as_millis())
    }
}
