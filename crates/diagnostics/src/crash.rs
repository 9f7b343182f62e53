//! Runs in the process that may crash: reports a panic, an abort or a fatal signal to a server, and waits for the dump.
//!
//! The report on the socket has the registers of the thread. The server answers with one byte or closes the connection.
//! After that the process continues as usual: it dies by its signal, or the panic unwinds.

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

/// Longest time that a crashed process waits for its dump.
pub const DUMP_TIMEOUT: Duration = Duration::from_secs(15);

/// Breakpad's code for a requested dump, which replaces the signal number of a panic.
const PANIC: u32 = 0xFFFF_FFFF;

/// Reports crashes of this process to the server on the abstract socket of a name. The server may be started later.
///
/// Only the first panic is reported, because clients may be able to repeat a panic that ends a connection.
///
/// # Errors
/// The name is invalid, or the signal handlers cannot be installed.
pub fn report_crashes(name: &str) -> io::Result<()> {
    let handler = attach(SocketAddrUnix::new_abstract_name(name.as_bytes())?)?;
    let default_hook = panic::take_hook();
    let reported = AtomicBool::new(false);
    panic::set_hook(Box::new(move |panic| {
        default_hook(panic);
        if !reported.swap(true, Ordering::Relaxed) {
            let _ = handler.simulate_signal(PANIC);
        }
    }));
    Ok(())
}

#[allow(
    unsafe_code,
    reason = "no type can express that a signal handler is async-signal-safe"
)]
fn attach(server: SocketAddrUnix) -> io::Result<CrashHandler> {
    // SAFETY: `report` only makes system calls to open, write and read a socket. It does not allocate and takes no lock.
    let event = unsafe {
        crash_handler::make_crash_event(move |context| {
            report(&server, context);
            // A fault occurs again when the handler returns, and then has its default action. A sent signal does not, and
            // the handler of the standard library for stack overflows would keep the process alive.
            CrashEventResult::Handled(context.siginfo.ssi_code <= 0)
        })
    };
    CrashHandler::attach(event).map_err(io::Error::other)
}

/// Sends the report and waits for the dump. Errors are ignored: then there is no server.
fn report(server: &SocketAddrUnix, context: &CrashContext) {
    if let Ok(socket) = open(server)
        && write_all(&socket, context.as_bytes())
    {
        // The server stops this process with ptrace, which interrupts the read.
        while rustix::io::read(&socket, &mut [0; 1][..]) == Err(rustix::io::Errno::INTR) {}
    }
}

fn open(server: &SocketAddrUnix) -> rustix::io::Result<OwnedFd> {
    let socket = socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )?;
    for which in [Timeout::Send, Timeout::Recv] {
        set_socket_timeout(&socket, which, Some(DUMP_TIMEOUT))?;
    }
    connect(&socket, server)?;
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
