//! What the service manager of the host is told, if there is one that wants to know.

use std::{io, os::unix::net::UnixDatagram};

/// Environment variable that names the socket of the service manager.
pub(crate) const NOTIFY_SOCKET: &str = "NOTIFY_SOCKET";

/// Tells the service manager how the clock is, if there is one that wants to know.
#[derive(Debug, Default)]
pub(crate) struct Notifier {
    socket: Option<UnixDatagram>,
}

impl Notifier {
    /// The one that the environment names.
    pub(crate) fn from_environment() -> Notifier {
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

    /// One that somebody hears, and who hears it.
    #[cfg(test)]
    pub(crate) fn heard() -> io::Result<(Notifier, UnixDatagram)> {
        let (socket, manager) = UnixDatagram::pair()?;
        let socket = Some(socket);
        Ok((Notifier { socket }, manager))
    }

    /// Tells a state, such as `READY=1`.
    pub(crate) fn tell(&self, state: &str) {
        if let Some(socket) = &self.socket {
            // A manager that does not listen is not helped by an error here.
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
