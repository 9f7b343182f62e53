//! The table of all operations of the clock.
//!
//! Each row is in the file of its group, next to the function that parses its parameters.
//! Routes, guards, the names of commands and the OpenAPI document follow from it.

mod access_point;
mod bench;
pub(crate) mod device;
mod diagnostics;
mod displays;
mod lights;
mod page;
mod params;
mod responses;
mod screens;
mod settings;
mod state;
mod updates;

use ::device::view::View;

pub use screens::text_per_panel;

use crate::{
    answer::Answer,
    device_call::DeviceCall,
    operation::{Operation, OperationGroup, OperationHandler},
    parameters::Parameters,
};

pub static GROUPS: &[OperationGroup] = &[
    OperationGroup {
        name: "State",
        operations: state::OPERATIONS,
    },
    OperationGroup {
        name: "Settings",
        operations: settings::OPERATIONS,
    },
    OperationGroup {
        name: "Screens",
        operations: screens::OPERATIONS,
    },
    OperationGroup {
        name: "Displays",
        operations: displays::OPERATIONS,
    },
    OperationGroup {
        name: "Lights",
        operations: lights::OPERATIONS,
    },
    OperationGroup {
        name: "Device",
        operations: device::OPERATIONS,
    },
    OperationGroup {
        name: "Updates",
        operations: updates::OPERATIONS,
    },
    OperationGroup {
        name: "Diagnostics",
        operations: diagnostics::OPERATIONS,
    },
    OperationGroup {
        name: "Bench",
        operations: bench::OPERATIONS,
    },
    OperationGroup {
        name: "Access point",
        operations: access_point::OPERATIONS,
    },
    OperationGroup {
        name: "Page",
        operations: page::OPERATIONS,
    },
];

/// All operations, group by group.
pub fn all() -> impl Iterator<Item = &'static Operation> {
    GROUPS.iter().flat_map(|group| group.operations)
}

/// Finds an operation of the device by its name.
pub fn named(name: &str) -> Option<&'static Operation> {
    let by_device =
        |operation: &&Operation| matches!(operation.handler, OperationHandler::Device(_));
    all()
        .filter(by_device)
        .find(|operation| operation.name() == Some(name))
}

/// Parses a command: the name of an operation of the device, and its parameters.
///
/// # Errors
/// The command does not exist, or its parameters are wrong. Returns the answer for the client.
pub fn command(name: &str, parameters: Parameters, view: &View) -> Result<DeviceCall, Answer> {
    match named(name).map(|operation| operation.handler) {
        Some(OperationHandler::Device(read)) => read(parameters, view),
        Some(OperationHandler::View(_) | OperationHandler::Program) | None => {
            Err(Answer::error(404, "not found"))
        }
    }
}
