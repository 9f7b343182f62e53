//! Start of the supervisor: lock, program and listening socket.

use std::{
    io,
    net::{SocketAddr, TcpListener},
    process::ExitCode,
    time::Duration,
};

use listenfd::ListenFd;
use runtime::standard_error::print_error;
use serde_json::Value;
use storage::lock::{self, FolderError, Holder};
use tokio::signal::unix::{SignalKind, signal};

use crate::{
    config::ClockConfig, execution::Execution, programs::Programs, supervision::Supervisor,
};

/// How long to wait for the lock of a supervisor that was just killed.
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);

/// How long to wait for a device whose supervisor was killed, without a refresh of the panels.
const ORPHAN_TIMEOUT: Duration = Duration::from_secs(3);

/// Attempts to bind the address of a process that has just ended, because the kernel does not release lock and address at
/// the same time.
const BIND_ATTEMPTS: u32 = 20;
const BIND_PAUSE: Duration = Duration::from_millis(25);

/// Why the clock ended, or did not start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SupervisorError {
    /// Another program uses the data folder or the port.
    #[error("{0}")]
    InUse(String),
    #[error("{0}")]
    Failed(String),
}

impl From<FolderError> for SupervisorError {
    fn from(error: FolderError) -> SupervisorError {
        let message = error.to_string();
        match error {
            FolderError::Taken { .. } => SupervisorError::InUse(message),
            FolderError::Unusable { .. } => SupervisorError::Failed(message),
        }
    }
}

/// Runs the clock until a signal stops it, or until a service manager should start it again with a new program. The
/// configuration `run` is passed to each device. Returns the exit code.
///
/// # Errors
/// The folder or the address cannot be used, or the device does not start at all.
pub fn run(
    listen: SocketAddr,
    clock: ClockConfig,
    run: Value,
) -> Result<ExitCode, SupervisorError> {
    let _lock = lock::lock_patiently(&clock.data_dir, Holder::Clock, LOCK_TIMEOUT)?;
    let own = Execution::of_this_process().map_err(cannot_start)?;
    let mut programs = Programs::new(clock.data_dir.clone(), own.installation.clone());
    let failure = own.execute_update(&mut programs);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(cannot_start)?;
    if let Some(failure) = failure {
        let _context = runtime.enter();
        // `exec` has reset SIGPIPE to its default. With a handler, writing to a closed standard error does not end this
        // process.
        let _ = signal(SignalKind::pipe());
        print_error(&failure);
    }
    wait_for_orphan(&clock)?;
    let inherited = inherited()?;
    let has_manager = inherited.is_some();
    let listener = match inherited {
        Some(listener) => listener,
        None => bind(listen)?,
    };
    let mut supervisor =
        Supervisor::new(listener, own, programs, clock, run).map_err(cannot_start)?;
    supervisor.has_manager = has_manager;
    runtime.block_on(supervisor.run())
}

/// The error for a failed system call at the start.
pub(crate) fn cannot_start(error: io::Error) -> SupervisorError {
    SupervisorError::Failed(format!("the clock cannot start: {error}"))
}

/// Waits for the device of a previous supervisor that was killed.
fn wait_for_orphan(clock: &ClockConfig) -> Result<(), FolderError> {
    match lock::lock(&clock.data_dir, Holder::Device) {
        Ok(_) => return Ok(()),
        Err(FolderError::Taken { .. }) => {}
        Err(error @ FolderError::Unusable { .. }) => return Err(error),
    }
    print_error("the device of an earlier run has not ended yet, waiting for it");
    let limit = ORPHAN_TIMEOUT + clock.last_refresh;
    lock::lock_patiently(&clock.data_dir, Holder::Device, limit).map(drop)
}

/// The socket that the service manager passed to this process, if any.
fn inherited() -> Result<Option<TcpListener>, SupervisorError> {
    let mut passed = ListenFd::from_env();
    if passed.len() > 1 {
        print_error("the service manager passed more than one socket: only the first is used");
    }
    let listener = passed.take_tcp_listener(0).map_err(|error| {
        SupervisorError::Failed(format!(
            "the socket of the service manager is not usable: {error}"
        ))
    })?;
    if let Some(listener) = &listener {
        let address = listener.local_addr().map_err(cannot_start)?;
        print_error(&format!(
            "listening on {address}, the socket of the service manager"
        ));
    }
    Ok(listener)
}

/// Binds the address; waits for a process that is ending.
fn bind(address: SocketAddr) -> Result<TcpListener, SupervisorError> {
    bind_patiently(address).map_err(|error| {
        let (ip, port, kind) = (address.ip(), address.port(), error.kind());
        if kind == io::ErrorKind::AddrInUse {
            return SupervisorError::InUse(format!(
                "port {port} of {ip} is taken by another program: choose another with --listen {ip}:PORT"
            ));
        }
        SupervisorError::Failed(if kind == io::ErrorKind::PermissionDenied {
            format!("port {port} may not be used by this user: choose one from 1024 up with --listen {ip}:PORT")
        } else if kind == io::ErrorKind::AddrNotAvailable {
            format!("this machine has no address {ip}: choose another with --listen, such as 0.0.0.0:{port}")
        } else {
            format!("cannot listen on {address} ({error}): choose another address with --listen")
        })
    })
}

fn bind_patiently(address: SocketAddr) -> io::Result<TcpListener> {
    for _ in 1..BIND_ATTEMPTS {
        match TcpListener::bind(address) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                std::thread::sleep(BIND_PAUSE);
            }
            bound => return bound,
        }
    }
    TcpListener::bind(address)
}
