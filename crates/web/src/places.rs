//! How many connections there may be.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Connections at the same time, where the limit on open files allows so many.
const CONNECTIONS_MAX: usize = 24 * 1024;

/// Connections kept for those who want to act, or a quarter of all where there are few.
const FOR_OTHERS: usize = 1024;

/// Connections at the same time, however few files may be open.
const CONNECTIONS_MIN: usize = 64;

/// File descriptors left to the rest of the program.
const FILES_RESERVED: u64 = 256;

/// How many connections the server accepts.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionLimits {
    /// Connections at the same time.
    pub connections: usize,
    /// The limit on open files, where it is that which bounds them.
    pub open_files: Option<u64>,
}

impl ConnectionLimits {
    /// As many as are asked for.
    pub fn of(connections: usize) -> ConnectionLimits {
        ConnectionLimits {
            connections,
            open_files: None,
        }
    }

    /// As many as the limit on open files leaves room for, after raising that limit as far as it goes.
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
        let room = |files: u64| usize::try_from(files.saturating_sub(FILES_RESERVED)).ok();
        let room = files.and_then(room).unwrap_or(CONNECTIONS_MAX);
        ConnectionLimits {
            connections: room.clamp(CONNECTIONS_MIN, CONNECTIONS_MAX),
            open_files: files.filter(|_| room < CONNECTIONS_MAX),
        }
    }

    /// How many of them may follow the clock; the rest is kept for those who want to act.
    pub fn followers(&self) -> usize {
        self.connections - FOR_OTHERS.min(self.connections / 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Limit on open files; connections, followers, and whether that limit is what bounds them.
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
        for (files, connections, followers, bounded) in rows {
            let places = ConnectionLimits::with_files(files);
            assert_eq!(places.connections, connections, "{files:?}");
            assert_eq!(places.followers(), followers, "{files:?}");
            assert_eq!(places.open_files, files.filter(|_| bounded), "{files:?}");
        }
    }
}
