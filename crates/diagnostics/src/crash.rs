//! For the process that may crash: tells another one of a panic, an abort or a fatal signal, and waits until that one
//! has looked.
//!
//! What is told at the socket are the registers of the thread; the answer is one byte, or the end.
//! What happens then is what would have happened anyway: the process dies by its signal, or the panic unwinds.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    panic,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use crash_handler::{CrashContext, CrashEventResult, CrashHandler};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with,
    sockopt::{Timeout, set_socket_timeout},
};

/// Longest time that a process which has crashed waits to be looked at.
pub const PATIENCE: Duration = Duration::from_secs(15);

/// What stands in the place of the signal when there was none: breakpad's word for a dump that was asked for.
const PANIC: u32 = 0xFFFF_FFFF;

/// Tells of crashes from now on, for as long as the process lives, at the abstract socket of a name. Nobody need be there
/// before that.
///
/// Of all panics only the first is told: one that ends a single connection must not be repeated at will.
///
/// # Errors
/// The name is none, or the signals cannot be watched.
pub fn tell(name: &str) -> io::Result<()> {
    let handler = watch(SocketAddrUnix::new_abstract_name(name.as_bytes())?)?;
    let usual = panic::take_hook();
    let told = AtomicBool::new(false);
    panic::set_hook(Box::new(move |panic| {
        usual(panic);
        if !told.swap(true, Ordering::Relaxed) {
            let _ = handler.simulate_signal(PANIC);
        }
    }));
    Ok(())
}

#[allow(
    unsafe_code,
    reason = "a signal handler may only do what is safe at any moment, and no type can say that"
)]
fn watch(other: SocketAddrUnix) -> io::Result<CrashHandler> {
    // SAFETY: `report` opens a socket, writes and reads it, by system calls, and does nothing else; above all it takes no
    // memory and no lock.
    let event = unsafe {
        crash_handler::make_crash_event(move |context| {
            report(&other, context);
            // A fault happens again now, and ends as it would have without us. A signal that was sent does not, and
            // the handler below ours, which tells of full stacks, would let the process live.
            CrashEventResult::Handled(context.siginfo.ssi_code <= 0)
        })
    };
    CrashHandler::attach(event).map_err(io::Error::other)
}

/// Tells where it happened and waits; an error means that nobody is there to look.
fn report(other: &SocketAddrUnix, context: &CrashContext) {
    if let Ok(socket) = open(other)
        && write_all(&socket, context.as_bytes())
    {
        // Being stopped to be looked at ends a wait, too.
        while rustix::io::read(&socket, &mut [0; 1][..]) == Err(rustix::io::Errno::INTR) {}
    }
}

fn open(other: &SocketAddrUnix) -> rustix::io::Result<OwnedFd> {
    let socket = socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )?;
    for which in [Timeout::Send, Timeout::Recv] {
        set_socket_timeout(&socket, which, Some(PATIENCE))?;
    }
    connect(&socket, other)?;
    Ok(socket)
}

fn write_all(to: impl AsFd, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        match rustix::io::write(&to, bytes) {
            Ok(written) if written > 0 => bytes = bytes.get(written..).unwrap_or_default(),
            Err(rustix::io::Errno::INTR) => {}
            Ok(_) | Err(_) => return false,
        }
    }
    true
}
