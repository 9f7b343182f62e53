//! Starts the tasks or threads that serve the buses of a board of real parts.

use board::assembly::BusTask;
use runtime::tasks::Tasks;

/// What serves the buses of a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BusExecution {
    /// Tasks, on emulated chips, which do not block.
    #[cfg(test)]
    Tasks,
    /// Threads, on hardware, which blocks.
    Threads,
}

/// Serves buses until the ports of their parts are dropped.
pub(crate) fn serve(tasks: &mut Tasks, buses: Vec<BusTask>, execution: BusExecution) {
    for bus in buses {
        let name = bus.name;
        match execution {
            #[cfg(test)]
            BusExecution::Tasks => tasks.spawn(name, bus.serve()),
            BusExecution::Threads => tasks.spawn(name, async move {
                if let Err(error) = bus.serve_on_thread().await {
                    tracing::error!(bus = name, %error, "cannot start a thread for a bus");
                }
            }),
        }
    }
}
