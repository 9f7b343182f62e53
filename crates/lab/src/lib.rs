//! Stand-ins and experiments for tests; nothing of it is part of the product.
//!
//! `circuit` has emulated chips, which answer the drivers of `board` as real ones would and report what their makers forbid.
//! `sim_disk` is a disk in memory that fails and loses power, `power_cuts` cuts the power at every moment of a change, and
//! `data_folder` has every change that the clock makes to its data folder.

pub mod circuit;
pub mod data_folder;
pub mod power_cuts;
pub mod sim_disk;
