//! The table of all operations: what can be asked of the clock, at any door.
//!
//! A row stands in the file of its group, beside the function that reads what its clients give.
//! Routes, guards, the names of commands and the description of the interface follow from it.

mod access_point;
mod bench;
pub(crate) mod device;
mod diagnostics;
mod lights;
mod page;
mod screens;
mod settings;
mod state;
mod updates;
mod words;

use ::device::view::View;

use crate::{
    answer::Answer,
    asked::DeviceCall,
    given::Parameters,
    operation::{Operation, OperationGroup, OperationHandler, ProgramOperation},
};

/// All operations.
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

/// Looks an operation up that the device does, by its name.
pub fn named(name: &str) -> Option<&'static Operation> {
    let asks = |operation: &&Operation| matches!(operation.act, OperationHandler::Asks(_));
    all()
        .filter(asks)
        .find(|operation| operation.name() == Some(name))
}

/// Where HTTP finds what the program does by itself.
pub fn path_of(service: ProgramOperation) -> &'static str {
    let does = |operation: &&Operation| matches!(operation.act, OperationHandler::Serves(does) if does == service);
    let first = all()
        .find(does)
        .and_then(|operation| operation.forms.first());
    first.map_or("/", |form| form.path)
}

/// Name of what the program does by itself; none if it has none.
pub fn name_of(service: ProgramOperation) -> Option<&'static str> {
    let does = |operation: &&Operation| matches!(operation.act, OperationHandler::Serves(does) if does == service);
    all().find(does)?.name()
}

/// Reads a command: the name of an operation that the device does, and what a client gives with it.
///
/// # Errors
/// There is no such command, or it cannot be understood; as the client is told.
pub fn command(name: &str, given: Parameters, view: &View) -> Result<DeviceCall, Answer> {
    match named(name).map(|operation| operation.act) {
        Some(OperationHandler::Asks(read)) => read(given, view),
        Some(OperationHandler::Tells(_) | OperationHandler::Serves(_)) | None => {
            Err(Answer::error(404, "not found"))
        }
    }
}
