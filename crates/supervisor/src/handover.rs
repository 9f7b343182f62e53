//! How the supervisor of a new program replaces the running one, in the same process.
//!
//! This happens while no device runs: at the next start of the device after a trial that passed.
//! The running supervisor sends its state, the listening socket and the lock into a socket pair, makes the reading end its
//! standard input, and executes the new program. The process number stays, and so do the connections that wait.
//! Before that it starts the new program with `--try-only` to learn whether it understands the state. The new supervisor must
//! also see its device make progress, or after a few attempts the installed supervisor stays.

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

/// Version of the protocol between supervisors. It grows when new fields, which have a value for when they are missing, are
/// not enough; a supervisor refuses a state of a later version.
const PROTOCOL: u32 = 1;

/// The subcommand of a supervisor that takes over.
const TAKE_OVER: &str = "take-over";

/// Longest state as JSON, bytes; it must fit the buffer of a socket.
const STATE_MAX: usize = 64 * 1024;

/// Time in which a program must answer whether it would take over.
const TRY_TIME: Duration = Duration::from_secs(10);

/// Most file descriptors that are handed over.
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
    /// Slots that are not used until a restart.
    #[serde(default)]
    pub(crate) given_up: Vec<ImageSlot>,
    /// The address of the page was printed.
    pub(crate) announced: bool,
}

/// What a supervisor gets from the one before it.
pub struct Handover {
    pub(crate) state: HandoverState,
    /// The listening socket of the clock.
    pub(crate) listener: TcpListener,
    /// Locks the data folder while it is open.
    pub(crate) lock: OwnedFd,
}

impl HandoverState {
    /// Reads only the state from the standard input, to say whether it is understood.
    ///
    /// # Errors
    /// It is not understood; in words for people.
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
        // Earlier builds hand over a running device; this one starts its device itself.
        if state.get("device").is_some_and(|device| !device.is_null()) {
            return Err("the other supervisor still has a device".to_string());
        }
        let state: HandoverState =
            serde_json::from_value(state).map_err(|error| error.to_string())?;
        if state.protocol > PROTOCOL {
            return Err(format!(
                "the other supervisor speaks protocol {}, and this one {PROTOCOL}",
                state.protocol
            ));
        }
        Ok(state)
    }

    fn to_json(&self) -> io::Result<Vec<u8>> {
        let state = serde_json::to_vec(self).map_err(io::Error::other)?;
        if state.len() > STATE_MAX {
            return Err(io::Error::other("there is too much to hand over"));
        }
        Ok(state)
    }
}

impl Handover {
    /// Receives state and file descriptors from the standard input.
    ///
    /// # Errors
    /// Something is missing or not understood; in words for people.
    pub fn receive() -> Result<Handover, String> {
        let (state, mut descriptors) = receive().map_err(|error| error.to_string())?;
        let state = HandoverState::parse(&state)?;
        let mut next = || descriptors.next().ok_or("something is missing".to_string());
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
    /// Returns whether the supervisor of a program should replace this one.
    fn is_to_hand_over(&self, chosen: &ChosenProgram) -> bool {
        let is_own = self.own.program == chosen.program
            && (self.own.digest.is_none() || self.own.digest == chosen.digest);
        !is_own && chosen.may_take_over && self.may_execute
    }

    /// Lets the supervisor of a slot's program replace this one if that is due; returns if it does not.
    pub(crate) async fn hand_over(&mut self, chosen: &ChosenProgram, stop: &mut StopSignals) {
        let Some(slot) = chosen.program.slot() else {
            return;
        };
        // An attempt that is not stored could repeat for ever.
        if !self.is_to_hand_over(chosen) || !self.programs.handing_over(slot) {
            return;
        }
        let state = HandoverState {
            protocol: PROTOCOL,
            own: chosen.program,
            own_digest: chosen.digest.clone(),
            installation: self.programs.installation().clone(),
            next: self.next.clone(),
            given_up: self.programs.given_up().to_vec(),
            announced: self.is_announced,
        };
        let understood = tokio::select! {
            biased;
            // The next supervisor would not receive the signal.
            () = stop.received() => return,
            understood = is_understood(&chosen.path, &state) => understood,
        };
        let failure = match understood {
            Ok(()) => match self.execute(&chosen.path, &state, stop).await {
                Some(error) => error.to_string(),
                None => return,
            },
            Err(reason) => reason,
        };
        let version = &chosen.version;
        print_error(&format!(
            "the supervisor of version {version} does not take over: {failure}"
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
        // A signal from here on would reach neither supervisor, so it ends the process at once.
        stop.end_at_once(true);
        let is_stopped = stop.received_within(PENDING_SIGNALS).await;
        let failure = match prepared {
            Ok(_) if is_stopped => None,
            Ok(mut prepared) => {
                let error = prepared.exec();
                // The standard library resets the handling of SIGPIPE before exec: set it again, or the next line without a
                // reader ends this process.
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

/// Asks a program whether it would take over.
///
/// # Errors
/// It would not, or does not answer; in words for people.
async fn is_understood(program: &Path, state: &HandoverState) -> Result<(), String> {
    let words = |error: io::Error| error.to_string();
    let state = state.to_json().map_err(words)?;
    let (reader, mut writer) = UnixStream::pair().map_err(words)?;
    let mut command = Command::new(program);
    let command = command
        .args([TAKE_OVER, "--try-only"])
        .stdin(Stdio::from(OwnedFd::from(reader)))
        .stdout(Stdio::null());
    let mut child = Child::start(command).map_err(words)?;
    // An error means that it has ended, which is seen next.
    let _ = writer.write_all(&state);
    drop(writer);
    match timeout(TRY_TIME, child.wait()).await {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(format!("it does not understand this one ({status})")),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => {
            child.kill().await;
            Err("it does not say whether it understands this one".to_string())
        }
    }
}

/// The command of the next supervisor, with all it needs on its standard input.
///
/// # Errors
/// It is too much.
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

/// Sends it all into a socket pair; returns the reading end.
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
    // The rest, if any, fits or is refused.
    (&writer).write_all(&state[sent..])?;
    Ok(reader.into())
}

/// Receives it all from the standard input, and leaves `/dev/null` there.
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use serde_json::json;

    use super::*;

    /// State that the first program with a hand-over sent.
    fn first() -> Value {
        json!({
            "protocol": 1,
            "own": { "slot": "a" },
            "installation": {
                "path": "/usr/bin/papertick",
                "factory": { "version": "4.0.0", "build": "4.0.0-abc-7" },
            },
            "next": {
                "run": {
                    "listen": "127.0.0.1:8080",
                    "data_dir": "/nowhere",
                    "board": "rev-b",
                    "allow_origins": [],
                    "upstreams": [],
                    "ca_file": null,
                    "parts": "Simulated",
                    "instant_panels": false,
                    "network": "Host",
                    "log": null,
                    "market": "World",
                },
                "supervisor": 7,
                "crashes": 0,
                "note": null,
                "safe_mode": null,
                "carried": null,
            },
            "announced": true,
            "device": null,
        })
    }

    #[test]
    fn supervisors_of_other_versions_are_understood_or_refused() {
        let read = |state: &Value| HandoverState::parse(state.to_string().as_bytes());
        let state = read(&first()).unwrap();
        assert_eq!(state.own, Program::Slot(ImageSlot::A));
        let mut more = first();
        more["something"] = json!({ "new": true });
        more["next"]["run"]["something"] = json!(1);
        assert!(read(&more).is_ok());
        let mut newer = first();
        newer["protocol"] = json!(PROTOCOL + 1);
        let refusal = read(&newer).unwrap_err();
        assert!(refusal.contains("protocol 2"), "{refusal}");
        assert!(read(&json!({})).is_err());
        let mut with_device = first();
        with_device["device"] = json!({ "number": 8, "program": { "slot": "a" }, "heard": "bea" });
        let refusal = read(&with_device).unwrap_err();
        assert!(refusal.contains("device"), "{refusal}");
    }
}
