//! Options of a simulated board.

use std::{fmt, time::Duration};

use crate::parts::epaper::MODELS;

/// Duration of a full refresh of the default panel.
pub const FULL_REFRESH: Duration = MODELS[0].times.full;

/// Duration of a partial refresh of the default panel, including switching its supply on and off.
pub const PARTIAL_REFRESH: Duration = MODELS[0].times.whole_partial();

/// How fast the simulated panels are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PanelTiming {
    /// As slow as real ones.
    #[default]
    Real,
    /// Refreshes take no time.
    Instant,
}

impl PanelTiming {
    /// The timings by their names on the command line.
    pub const NAMED: &[(&str, PanelTiming)] = &[
        ("real", PanelTiming::Real),
        ("instant", PanelTiming::Instant),
    ];

    pub fn name(self) -> &'static str {
        match self {
            PanelTiming::Real => "real",
            PanelTiming::Instant => "instant",
        }
    }
}

/// Buttons that are held at power-on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PowerCycle {
    /// One bit per button.
    pub mask: u8,
    /// How long they are held after power-on.
    pub held: Duration,
}

impl PowerCycle {
    /// Parses the format of its `Display`.
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
