//! Who serves the buses of a board of real parts.

use board::assembly::BusTask;
use runtime::tasks::Tasks;

/// Who serves the buses of a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Serving {
    /// Tasks, on emulated chips, which do not block.
    #[cfg(test)]
    Tasks,
    /// Threads of their own, on hardware that does.
    Threads,
}

/// Serves buses until the ports of their parts are gone.
pub(crate) fn serve(tasks: &mut Tasks, buses: Vec<BusTask>, serving: Serving) {
    for bus in buses {
        let name = bus.name;
        match serving {
            #[cfg(test)]
            Serving::Tasks => tasks.spawn(name, bus.serve()),
            Serving::Threads => tasks.spawn(name, async move {
                if let Err(error) = bus.serve_on_thread().await {
                    tracing::error!(bus = name, %error, "there is no thread for a bus");
                }
            }),
        }
    }
}
