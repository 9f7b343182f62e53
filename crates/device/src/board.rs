//! What this crate needs to know of a board; the table of boards is in the `board` crate.

/// The parts of a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoardSpec {
    /// Name on the command line, such as `rev-b`.
    pub id: &'static str,
    /// Name for people, such as `Rev B`.
    pub name: &'static str,
    /// Text of `hwRev`, such as `Rev B, 7 x 2.13 in, simulated`.
    pub hardware: &'static str,
    /// Number of panels, or of the cells that one panel shows.
    pub panels: usize,
    /// Width of a panel as the viewer sees it, px.
    pub panel_width: u16,
    /// Height of a panel as the viewer sees it, px.
    pub panel_height: u16,
    /// Width and height of the one panel that shows all cells, or a layout in their place, as the viewer sees it, px. `None`
    /// if each cell has a panel.
    pub canvas: Option<(u16, u16)>,
    /// The one panel changes its colours slowly, so that it gets one picture a block at most, without prices and times.
    pub is_slow: bool,
    /// Number of LEDs on the strip.
    pub leds: usize,
    /// Has a white frontlight with one channel per panel.
    pub frontlight: bool,
    /// Has an ambient light sensor.
    pub light_sensor: bool,
    /// Keeps crash dumps.
    pub coredump: bool,
    /// Largest firmware image, bytes.
    pub firmware_slot_bytes: u64,
    /// Largest web bundle, bytes.
    pub web_slot_bytes: u64,
}

impl BoardSpec {
    /// Number of panels that are refreshed.
    pub fn panel_count(&self) -> usize {
        if self.canvas.is_some() { 1 } else { self.panels }
    }

    /// Width and height of a panel that is refreshed, as the viewer sees it, px.
    pub fn panel_size(&self) -> (u16, u16) {
        self.canvas.unwrap_or((self.panel_width, self.panel_height))
    }

    /// An imaginary board with all parts, for tests of all crates.
    pub const EXAMPLE: BoardSpec = BoardSpec {
        id: "example",
        name: "Example",
        hardware: "Example, 7 x 2.13 in, simulated",
        panels: 7,
        panel_width: 122,
        panel_height: 250,
        canvas: None,
        is_slow: false,
        leds: 4,
        frontlight: true,
        light_sensor: true,
        coredump: true,
        firmware_slot_bytes: 1 << 22,
        web_slot_bytes: 1 << 20,
    };
}

/// Why a panel failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PanelFault {
    /// It stays busy longer than any refresh takes.
    BusyStuck,
    /// A refresh was started while another one ran.
    StartedBusy,
    /// A refresh ended too soon or did not start: the panel does not answer, or has no waveform for the temperature.
    NotRefreshed,
    /// A refresh took over twice its normal time: the panel is cold, or parts of it have failed.
    Slow,
    /// The bus did not accept the frame.
    Bus,
}

impl PanelFault {
    /// All of them.
    pub const ALL: [PanelFault; 5] = [
        PanelFault::BusyStuck,
        PanelFault::StartedBusy,
        PanelFault::NotRefreshed,
        PanelFault::Slow,
        PanelFault::Bus,
    ];

    /// Word for the fault in the status and in logs.
    pub fn name(self) -> &'static str {
        match self {
            PanelFault::BusyStuck => "busy-stuck",
            PanelFault::StartedBusy => "started-busy",
            PanelFault::NotRefreshed => "not-refreshed",
            PanelFault::Slow => "slow",
            PanelFault::Bus => "bus",
        }
    }

    /// What happened and what to do, as sentences for people.
    pub fn says(self) -> &'static str {
        match self {
            PanelFault::BusyStuck => {
                "It stays busy. Compare `model` in the wiring with the name on the panel, because other controllers \
                 signal busy by the opposite level. Then switch off, and check the busy and reset wires and the flat cable."
            }
            PanelFault::StartedBusy => {
                "It received data during a refresh. This is an error of the program: please report it."
            }
            PanelFault::NotRefreshed => {
                "It did not begin to refresh, or ended at once. Switch off, and check 3.3 V, ground, the select, \
                 data/command, reset and busy wires and the flat cable. Below 0 °C wait until it is warmer."
            }
            PanelFault::Slow => {
                "Its refresh took over twice the normal time. Cold panels are slow: wait until it is warmer. \
                 Otherwise the panel is not the one that `model` names, or has a fault: compare the names, switch \
                 off, and check 3.3 V, the wires and the flat cable."
            }
            PanelFault::Bus => {
                "Its bus or expander does not respond. Switch off, and check the wires to it and its address."
            }
        }
    }
}
