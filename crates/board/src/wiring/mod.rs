//! The wiring of a board: where each part is connected.
//!
//! `values` has the types of a wiring.
//! `read` reads one from a file, merged into one of `bases` if the file has a base; `checks` has the checks across its sections,
//! `named` the device files and lines in it, `mistake` its mistakes.
//! `host` checks it on the host, `drawing` draws it.

mod bases;
mod checks;
pub mod drawing;
mod host;
mod mistake;
mod named;
mod read;
mod values;

pub use crate::parts::epaper::Care;
pub use bases::BASES;
pub use host::{HostParts, devices, lines};
pub use mistake::Mistake;
pub use named::{BusKind, DeviceFile, FoundLine, UsedLine};
pub use read::{FILE_MAX, WiringFile, base, displays, read, read_for_host};
pub use values::{
    BUTTONS, ButtonsWiring, ExpanderWiring, FrontlightWiring, I2C_HZ, I2cWiring, LEDS_MAX,
    LineLocation, PANELS_MAX, PanelWiring, Pull, SPI_HZ, STAGGER_MAX, Sense, SensorWiring, Side,
    SpiWiring, StripWiring, TEXT_MAX, Wiring, WiringLine,
};
