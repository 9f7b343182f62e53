//! Boards of real parts: connects the drivers to the buses and lines of a wiring.
//!
//! `hardware` is the trait of a host, `lines` are GPIO lines of the host and of expanders. `panel_worker` drives the bus of
//! the panels, `i2c_backoff` skips an I2C bus that hangs. `panels`, `i2c_bus` and `strip` are the ports and the tasks of the
//! buses, `board` combines them.

mod board;
mod hardware;
mod i2c_backoff;
mod i2c_bus;
mod lines;
mod panel_worker;
mod panels;
mod strip;

pub use board::{AssembledBoard, BusTask, assemble};
pub use hardware::{Edges, Hardware};
pub use i2c_backoff::{BackoffI2c, I2cFault};
pub use i2c_bus::{AssembledButtons, AssembledFrontlight, AssembledSensor};
pub use lines::{ExpanderBus, InputLine, LineFault, OutputLine};
pub use panel_worker::{PanelWorker, Wake};
pub use panels::{AssembledPanels, last_refresh_limit};
pub use strip::AssembledStrip;
