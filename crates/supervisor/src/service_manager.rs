//! Notifications to the service manager of the host (`sd_notify`).

use std::{io, os::unix::net::UnixDatagram};

/// Environment variable that names the socket of the service manager.
pub const NOTIFY_SOCKET: &str = "NOTIFY_SOCKET";

/// Sends the state of the clock to the service manager, if there is one.
#[derive(Debug, Default)]
pub struct Notifier {
    socket: Option<UnixDatagram>,
}

impl Notifier {
    /// The service manager that the environment names.
    pub fn from_environment() -> Notifier {
        let socket = std::env::var_os(NOTIFY_SOCKET).and_then(|path| {
            let socket = UnixDatagram::unbound().ok()?;
            match path.to_str().and_then(|path| path.strip_prefix('@')) {
                Some(name) => connect_abstract(&socket, name),
                None => socket.connect(&path),
            }
            .ok()?;
            socket.set_nonblocking(true).ok()?;
            Some(socket)
        });
        Notifier { socket }
    }

    /// A notifier and the socket that receives its notifications.
    #[cfg(test)]
    pub fn connected() -> io::Result<(Notifier, UnixDatagram)> {
        let (socket, manager) = UnixDatagram::pair()?;
        let socket = Some(socket);
        Ok((Notifier { socket }, manager))
    }

    /// Sends a state, such as `READY=1`.
    pub fn notify(&self, state: &str) {
        if let Some(socket) = &self.socket {
            // The clock does not depend on the service manager.
            let _ = socket.send(state.as_bytes());
        }
    }
}

#[cfg(target_os = "linux")]
fn connect_abstract(socket: &UnixDatagram, name: &str) -> io::Result<()> {
    use std::os::{linux::net::SocketAddrExt, unix::net::SocketAddr};

    socket.connect_addr(&SocketAddr::from_abstract_name(name)?)
}

#[cfg(not(target_os = "linux"))]
fn connect_abstract(_socket: &UnixDatagram, _name: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
