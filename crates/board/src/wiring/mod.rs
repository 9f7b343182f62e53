//! Which part of a board is connected where: the wiring, as a value.
//!
//! `values` is what a wiring is.
//! `read` makes one of a file, laid over one of `bases` if it names it; `sections` has the keys of the file, `tree` its
//! values with their lines, `named` what it names of the host, `mistake` what is wrong with it.
//! `host` compares it with the host, `drawing` draws it.

mod bases;
pub mod drawing;
mod host;
mod mistake;
mod named;
mod read;
mod sections;
mod tree;
mod values;

pub use bases::BASES;
pub use host::{devices, lines};
pub use mistake::Mistake;
pub use named::{BusKind, DeviceFile, FoundLine, UsedLine};
pub use read::{FILE_MAX, WiringFile, base, read, read_for_host};
pub use sections::TEXT_MAX;
pub use values::{
    BUTTONS, ButtonsWiring, Care, ExpanderWiring, FrontlightWiring, I2C_HZ, I2cWiring, LEDS_MAX,
    LineLocation, PANELS_MAX, PanelWiring, Pull, SPI_HZ, STAGGER_MAX, Sense, SensorWiring, Side,
    SpiWiring, StripWiring, Wiring, WiringLine,
};
