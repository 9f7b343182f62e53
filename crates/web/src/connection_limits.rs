//! Limits on the number of connections.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Most connections at the same time, if the limit on open files allows that many.
const CONNECTIONS_MAX: usize = 24 * 1024;

/// Connections reserved for requests other than event streams, at most a quarter of all.
const RESERVED_CONNECTIONS: usize = 1024;

/// Connections at the same time even if the limit on open files is lower.
const CONNECTIONS_MIN: usize = 64;

/// File descriptors left to the rest of the program.
const FILES_RESERVED: u64 = 256;

/// How many connections the server accepts.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionLimits {
    /// Most connections at the same time.
    pub connections: usize,
    /// The limit on open files if it determines `connections`.
    pub open_files: Option<u64>,
}

impl ConnectionLimits {
    pub fn configured(connections: usize) -> ConnectionLimits {
        ConnectionLimits {
            connections,
            open_files: None,
        }
    }

    /// Raises the limit on open files to its maximum and derives the limit on connections from it.
    pub fn of_host() -> ConnectionLimits {
        let limit = getrlimit(Resource::Nofile);
        let raised = Rlimit {
            current: limit.maximum,
            maximum: limit.maximum,
        };
        let files = match setrlimit(Resource::Nofile, raised) {
            Ok(()) => limit.maximum,
            Err(_) => limit.current,
        };
        ConnectionLimits::with_files(files)
    }

    fn with_files(files: Option<u64>) -> ConnectionLimits {
        let available = |files: u64| usize::try_from(files.saturating_sub(FILES_RESERVED)).ok();
        let available = files.and_then(available).unwrap_or(CONNECTIONS_MAX);
        ConnectionLimits {
            connections: available.clamp(CONNECTIONS_MIN, CONNECTIONS_MAX),
            open_files: files.filter(|_| available < CONNECTIONS_MAX),
        }
    }

    /// Most clients of the event stream.
    pub fn event_clients(&self) -> usize {
        self.connections - RESERVED_CONNECTIONS.min(self.connections / 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Limit on open files; connections, event clients, and whether the limit on open files determines them.
    #[test]
    fn the_limit_on_open_files_bounds_connections() {
        let rows = [
            (Some(0), 64, 48, true),
            (Some(1024), 768, 576, true),
            (Some(4096 + 256), 4096, 3072, true),
            (Some(20_000), 19_744, 18_720, true),
            (Some(21_280), 21_024, 20_000, true),
            (Some(524_288), 24_576, 23_552, false),
            (Some(u64::MAX), 24_576, 23_552, false),
            (None, 24_576, 23_552, false),
        ];
        for (files, connections, event_clients, bounded) in rows {
            let limits = ConnectionLimits::with_files(files);
            assert_eq!(limits.connections, connections, "{files:?}");
            assert_eq!(limits.event_clients(), event_clients, "{files:?}");
            assert_eq!(limits.open_files, files.filter(|_| bounded), "{files:?}");
        }
    }
}
