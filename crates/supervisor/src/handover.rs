//! Handover: the supervisor of a new program replaces the running one by exec, in the same process.
//!
//! This happens while no device runs: at the next start of the device after a passed trial.
//! The running supervisor writes its state, the listening socket and the lock to a socket pair, makes the reading end its
//! standard input, and executes the new program. The process ID and the queued connections stay.
//! Before that it starts the new program with `--try-only` to check that it can parse the state. A handover succeeds when
//! the device of the new supervisor makes progress. After a few failed handovers the installed supervisor stays.

use std::{
    fs::File,
    io::{self, IoSlice, IoSliceMut, Read, Write},
    net::TcpListener,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::{net::UnixStream, process::CommandExt},
    },
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use runtime::standard_error::print_error;
use rustix::{
    net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
        SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
    },
    stdio::dup2_stdin,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::{
    signal::unix::{SignalKind, signal},
    time::timeout,
};
use updates::slots::{ImageSlot, Program};

use crate::{
    config::OpaqueConfig,
    process::Child,
    programs::{ChosenProgram, Installation},
    signals::StopSignals,
    supervision::Supervisor,
};

/// Version of the protocol between supervisors. It is increased if new fields with defaults are not enough. A supervisor
/// refuses the state of a later version.
const PROTOCOL: u32 = 1;

/// Subcommand of a supervisor that takes over.
const TAKE_OVER: &str = "take-over";

/// Longest state as JSON, bytes; it must fit into the buffer of a socket.
const STATE_MAX: usize = 64 * 1024;

/// Timeout for the check of a program.
const CHECK_TIMEOUT: Duration = Duration::from_secs(10);

/// File descriptors that are handed over.
const DESCRIPTORS_MAX: usize = 2;

/// How long to wait for pending signals before exec.
const PENDING_SIGNALS: Duration = Duration::from_millis(1);

/// The state of a supervisor, for the next one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandoverState {
    protocol: u32,
    /// The program that takes over.
    pub(crate) own: Program,
    /// SHA-256 of its file in hex digits; `None` if unknown.
    #[serde(default)]
    pub(crate) own_digest: Option<String>,
    /// The installed program.
    pub(crate) installation: Installation,
    /// What the next device is started with.
    pub(crate) next: OpaqueConfig,
    /// Slots that are not used until a requested restart.
    #[serde(default, rename = "given_up")]
    pub(crate) suspended: Vec<ImageSlot>,
    /// The address of the page was printed.
    pub(crate) announced: bool,
}

/// What a supervisor receives from the previous one.
pub struct Handover {
    pub(crate) state: HandoverState,
    /// The listening socket of the clock.
    pub(crate) listener: TcpListener,
    /// Locks the data folder while it is open.
    pub(crate) lock: OwnedFd,
}

impl HandoverState {
    /// Reads only the state from the standard input, for the check before a handover.
    ///
    /// # Errors
    /// A text for people: the state cannot be parsed.
    pub fn receive() -> Result<HandoverState, String> {
        let mut state = Vec::new();
        let read = io::stdin().lock().take(STATE_MAX as u64);
        { read }
            .read_to_end(&mut state)
            .map_err(|error| error.to_string())?;
        HandoverState::parse(&state)
    }

    /// The configuration of the clock.
    pub fn run_config(&self) -> &Value {
        &self.next.run
    }

    fn parse(state: &[u8]) -> Result<HandoverState, String> {
        let state: Value = serde_json::from_slice(state).map_err(|error| error.to_string())?;
        // Earlier builds hand over a running device, which is no longer supported.
        if state.get("device").is_some_and(|device| !device.is_null()) {
            return Err("the other supervisor still has a device".to_string());
        }
        let state: HandoverState =
            serde_json::from_value(state).map_err(|error| error.to_string())?;
        if state.protocol > PROTOCOL {
            return Err(format!(
                "the other supervisor uses protocol {}, but this one {PROTOCOL}",
                state.protocol
            ));
        }
        Ok(state)
    }

    fn to_json(&self) -> io::Result<Vec<u8>> {
        let state = serde_json::to_vec(self).map_err(io::Error::other)?;
        if state.len() > STATE_MAX {
            return Err(io::Error::other("the state is too large to hand over"));
        }
        Ok(state)
    }
}

impl Handover {
    /// Receives state and file descriptors from the standard input.
    ///
    /// # Errors
    /// A text for people: something is missing or malformed.
    pub fn receive() -> Result<Handover, String> {
        let (state, mut descriptors) = receive().map_err(|error| error.to_string())?;
        let state = HandoverState::parse(&state)?;
        let mut next = || {
            let descriptor = descriptors.next();
            descriptor.ok_or("a file descriptor is missing".to_string())
        };
        let listener = TcpListener::from(next()?);
        let lock = next()?;
        Ok(Handover {
            state,
            listener,
            lock,
        })
    }

    /// The configuration of the clock.
    pub fn run_config(&self) -> &Value {
        self.state.run_config()
    }
}

impl Supervisor {
    /// Whether the supervisor of a program should replace this one.
    fn should_hand_over(&self, chosen: &ChosenProgram) -> bool {
        let is_own = self.own.program == chosen.program
            && (self.own.digest.is_none() || self.own.digest == chosen.digest);
        !is_own && chosen.may_take_over && self.may_execute
    }

    /// Replaces this supervisor by that of a slot's program, if that is due. Returns if that is not due or fails.
    pub(crate) async fn hand_over(&mut self, chosen: &ChosenProgram, stop: &mut StopSignals) {
        let Some(slot) = chosen.program.slot() else {
            return;
        };
        // An attempt that is not stored could repeat forever.
        if !self.should_hand_over(chosen) || !self.programs.handover_started(slot) {
            return;
        }
        let state = HandoverState {
            protocol: PROTOCOL,
            own: chosen.program,
            own_digest: chosen.digest.clone(),
            installation: self.programs.installation().clone(),
            next: self.next.clone(),
            suspended: self.programs.suspended().to_vec(),
            announced: self.is_announced,
        };
        let accepted = tokio::select! {
            biased;
            // The next supervisor would not receive the signal.
            () = stop.received() => return,
            accepted = check(&chosen.path, &state) => accepted,
        };
        let failure = match accepted {
            Ok(()) => match self.execute(&chosen.path, &state, stop).await {
                Some(error) => error.to_string(),
                None => return,
            },
            Err(reason) => reason,
        };
        let version = &chosen.version;
        print_error(&format!(
            "the supervisor of version {version} cannot take over: {failure}"
        ));
    }

    /// Executes a program in this process. Returns the error, or `None` if a signal came before.
    async fn execute(
        &mut self,
        program: &Path,
        state: &HandoverState,
        stop: &mut StopSignals,
    ) -> Option<io::Error> {
        let descriptors = [self.listener.as_fd(), self.lock.as_fd()];
        let prepared = prepare(program, state, &descriptors);
        // A later signal would reach neither supervisor, so it ends the process at once.
        stop.end_at_once(true);
        let is_stopped = stop.received_within(PENDING_SIGNALS).await;
        let failure = match prepared {
            Ok(_) if is_stopped => None,
            Ok(mut prepared) => {
                let error = prepared.exec();
                // The standard library resets the handler of SIGPIPE before exec. Without it, the next line without a
                // reader would end this process.
                let _ = signal(SignalKind::pipe());
                Some(error)
            }
            Err(error) => Some(error),
        };
        stop.end_at_once(false);
        self.may_execute &= failure.is_none();
        failure
    }
}

/// Checks that a program can take over from this state.
///
/// # Errors
/// A text for people: it cannot, or it does not answer.
async fn check(program: &Path, state: &HandoverState) -> Result<(), String> {
    let text = |error: io::Error| error.to_string();
    let state = state.to_json().map_err(text)?;
    let (reader, mut writer) = UnixStream::pair().map_err(text)?;
    let mut command = Command::new(program);
    let command = command
        .args([TAKE_OVER, "--try-only"])
        .stdin(Stdio::from(OwnedFd::from(reader)))
        .stdout(Stdio::null());
    let mut child = Child::start(command).map_err(text)?;
    // Fails if the child has ended, which `wait` reports.
    let _ = writer.write_all(&state);
    drop(writer);
    match timeout(CHECK_TIMEOUT, child.wait()).await {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(format!("it does not accept the state ({status})")),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => {
            child.kill().await;
            Err("it does not answer".to_string())
        }
    }
}

/// The command of the next supervisor, with state and descriptors on its standard input.
///
/// # Errors
/// The state is too large, or a socket call fails.
fn prepare(
    program: &Path,
    state: &HandoverState,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<Command> {
    let reader = send(&state.to_json()?, descriptors)?;
    let mut command = Command::new(program);
    command.arg(TAKE_OVER).stdin(Stdio::from(reader));
    Ok(command)
}

/// Space for the file descriptors of a message.
const SPACE: usize = rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX));

/// Writes state and descriptors to a socket pair. Returns the reading end.
fn send(state: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<OwnedFd> {
    let (reader, writer) = UnixStream::pair()?;
    writer.set_nonblocking(true)?;
    let mut space = [const { std::mem::MaybeUninit::uninit() }; SPACE];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let sent = sendmsg(
        &writer,
        &[IoSlice::new(state)],
        &mut control,
        SendFlags::empty(),
    )?;
    // Fails if the rest does not fit into the buffer.
    (&writer).write_all(&state[sent..])?;
    Ok(reader.into())
}

/// Reads state and descriptors from the standard input, and replaces it by `/dev/null`.
fn receive() -> io::Result<(Vec<u8>, impl Iterator<Item = OwnedFd>)> {
    let socket = io::stdin().as_fd().try_clone_to_owned()?;
    dup2_stdin(File::open("/dev/null")?)?;
    let mut descriptors = Vec::new();
    let mut state = Vec::new();
    let mut part = vec![0; STATE_MAX];
    loop {
        let mut space = [const { std::mem::MaybeUninit::uninit() }; SPACE];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let received = recvmsg(
            &socket,
            &mut [IoSliceMut::new(&mut part)],
            &mut control,
            RecvFlags::CMSG_CLOEXEC,
        )?;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                descriptors.extend(rights);
            }
        }
        if received.bytes == 0 || state.len() > STATE_MAX {
            return Ok((state, descriptors.into_iter()));
        }
        state.extend_from_slice(&part[..received.bytes]);
    }
}
