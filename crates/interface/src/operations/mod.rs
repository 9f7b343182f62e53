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
    asked::Asked,
    given::Given,
    operation::{Act, Group, Operation, Service},
};

/// All operations.
pub static GROUPS: &[Group] = &[
    Group {
        name: "State",
        operations: state::OPERATIONS,
    },
    Group {
        name: "Settings",
        operations: settings::OPERATIONS,
    },
    Group {
        name: "Screens",
        operations: screens::OPERATIONS,
    },
    Group {
        name: "Lights",
        operations: lights::OPERATIONS,
    },
    Group {
        name: "Device",
        operations: device::OPERATIONS,
    },
    Group {
        name: "Updates",
        operations: updates::OPERATIONS,
    },
    Group {
        name: "Diagnostics",
        operations: diagnostics::OPERATIONS,
    },
    Group {
        name: "Bench",
        operations: bench::OPERATIONS,
    },
    Group {
        name: "Access point",
        operations: access_point::OPERATIONS,
    },
    Group {
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
    let asks = |operation: &&Operation| matches!(operation.act, Act::Asks(_));
    all()
        .filter(asks)
        .find(|operation| operation.name() == Some(name))
}

/// Where HTTP finds what the program does by itself.
pub fn path_of(service: Service) -> &'static str {
    let does =
        |operation: &&Operation| matches!(operation.act, Act::Serves(does) if does == service);
    let first = all()
        .find(does)
        .and_then(|operation| operation.forms.first());
    first.map_or("/", |form| form.path)
}

/// Name of what the program does by itself; none if it has none.
pub fn name_of(service: Service) -> Option<&'static str> {
    let does =
        |operation: &&Operation| matches!(operation.act, Act::Serves(does) if does == service);
    all().find(does)?.name()
}

/// Reads a command: the name of an operation that the device does, and what a client gives with it.
///
/// # Errors
/// There is no such command, or it cannot be understood; as the client is told.
pub fn command(name: &str, given: Given, view: &View) -> Result<Asked, Answer> {
    match named(name).map(|operation| operation.act) {
        Some(Act::Asks(read)) => read(given, view),
        Some(Act::Tells(_) | Act::Serves(_)) | None => Err(Answer::error(404, "not found")),
    }
}
