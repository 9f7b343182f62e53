//! Emulated hardware and experiments for tests. It is not part of the product.
//!
//! `circuit` has emulated chips, which respond to the drivers of `board` as real ones do and report violations of data sheets.
//! `sim_disk` is a disk in memory that fails and loses power, `power_cuts` cuts the power at every file operation of a change,
//! `data_folder` has every change that the clock makes to its data folder. `panel_oracle` compares the drivers of panels with
//! those of the makers, `returns` counts how often remote displays return.

pub mod circuit;
pub mod data_folder;
pub mod panel_oracle;
pub mod power_cuts;
pub mod returns;
pub mod sim_disk;
