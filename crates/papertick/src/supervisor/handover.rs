//! How the supervisor of a new program takes the place of the one that runs, in the same process.
//!
//! It happens where no device runs: after a trial that passed, at the next start of the device.
//! The running supervisor puts the listening socket and the lock into a socket, makes the reading end of that its standard
//! input, and executes the new program. Its process number and the connections that wait stay what they are.
//! Before that the new program is asked whether it understands; and it has to show a sign of life in its new place, or
//! after a few attempts the installed supervisor is left where it is.

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

use rustix::{
    net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
        SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
    },
    stdio::dup2_stdin,
};
use serde::{Deserialize, Serialize};
use tokio::{
    signal::unix::{SignalKind, signal},
    time::timeout,
};

use super::{process::Child, programs::Installation};
use crate::config::DeviceConfig;
use updates::slots::{ImageSlot, Program};

/// What supervisors can expect of each other. Members are only ever added, each with a value for where it is missing; it
/// grows when that is not enough, and who does not know it takes nothing over.
pub(super) const PROTOCOL: u32 = 1;

/// Longest text that is handed over, bytes; it must fit the buffer of a socket.
const TEXT_MAX: usize = 64 * 1024;

/// Time in which a program says whether it would take over.
const TRY_TIME: Duration = Duration::from_secs(10);

/// Most things besides the text that are handed over.
const THINGS_MAX: usize = 2;

/// How the place of a supervisor is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakeOver {
    /// Only to say whether it would work.
    Try,
    /// Really.
    Really,
}

/// The state that a supervisor sends to the next one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HandoverState {
    /// What it expects of the next.
    pub(super) protocol: u32,
    /// The program that takes over.
    pub(super) own: Program,
    /// SHA-256 of its file, in hex digits; none if nobody says.
    #[serde(default)]
    pub(super) own_digest: Option<String>,
    /// The installed program.
    pub(super) installation: Installation,
    /// What the next device is started with.
    pub(super) next: DeviceConfig,
    /// Slots that are left alone in this run.
    #[serde(default)]
    pub(super) given_up: Vec<ImageSlot>,
    /// The page was announced.
    pub(super) announced: bool,
}

/// What a supervisor hands over to the next one.
pub(super) struct Handover {
    /// What it tells.
    pub(super) told: HandoverState,
    /// Where the clock listens.
    pub(super) listener: TcpListener,
    /// What keeps other clocks out of the data folder.
    pub(super) lock: OwnedFd,
}

/// Asks a program whether it would take over.
///
/// # Errors
/// It would not, or does not say.
pub(super) async fn is_understood(program: &Path, told: &HandoverState) -> Result<(), String> {
    let words = |error: io::Error| error.to_string();
    let text = text(told).map_err(words)?;
    let (reader, mut writer) = UnixStream::pair().map_err(words)?;
    let mut command = command(program);
    let command = command
        .arg("--try-only")
        .stdin(Stdio::from(OwnedFd::from(reader)))
        .stdout(Stdio::null());
    let mut child = Child::start(command).map_err(words)?;
    // One that does not read has ended, which is seen next.
    let _ = writer.write_all(&text);
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

/// The command of the next supervisor, ready for exec.
pub(super) struct PreparedExec(Command);

/// Gives a program everything that it takes the place of this one with.
///
/// # Errors
/// It is too much.
pub(super) fn prepare(
    program: &Path,
    told: &HandoverState,
    things: &[BorrowedFd<'_>],
) -> io::Result<PreparedExec> {
    let reader = give(&text(told)?, things)?;
    let mut command = command(program);
    command.stdin(Stdio::from(reader));
    Ok(PreparedExec(command))
}

impl PreparedExec {
    /// Executes it in the place of this one; returns only where that cannot be done, and no other is executed then.
    pub(super) fn execute(mut self) -> io::Error {
        let error = self.0.exec();
        // An attempt leaves this process to be ended by the next line that nobody reads. What is set up here stays,
        // once in a process.
        let _ = signal(SignalKind::pipe());
        error
    }
}

/// Takes what was put into the standard input.
///
/// # Errors
/// In words for people: it is not what a supervisor gives, or one of another time gave it.
pub(super) fn taken() -> Result<Handover, String> {
    let words = |error: io::Error| error.to_string();
    let (text, mut things) = take().map_err(words)?;
    let told = understood(&text)?;
    let mut next = || things.next().ok_or("something is missing".to_string());
    let listener = TcpListener::from(next()?);
    let lock = next()?;
    Ok(Handover {
        told,
        listener,
        lock,
    })
}

/// Says whether what comes on the standard input is understood.
///
/// # Errors
/// In words for people: it is not.
pub(super) fn try_only() -> Result<(), String> {
    let mut text = Vec::new();
    let read = io::stdin().lock().take(TEXT_MAX as u64);
    { read }
        .read_to_end(&mut text)
        .map_err(|error| error.to_string())?;
    understood(&text).map(drop)
}

fn understood(text: &[u8]) -> Result<HandoverState, String> {
    let text: serde_json::Value =
        serde_json::from_slice(text).map_err(|error| error.to_string())?;
    // Earlier builds hand over a device that runs; this one starts its device itself.
    if text.get("device").is_some_and(|device| !device.is_null()) {
        return Err("the other supervisor still has a device".to_string());
    }
    let told: HandoverState = serde_json::from_value(text).map_err(|error| error.to_string())?;
    if told.protocol > PROTOCOL {
        return Err(format!(
            "the other supervisor speaks protocol {}, and this one {PROTOCOL}",
            told.protocol
        ));
    }
    Ok(told)
}

fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg("take-over");
    command
}

fn text(told: &HandoverState) -> io::Result<Vec<u8>> {
    let text = serde_json::to_vec(told).map_err(io::Error::other)?;
    if text.len() > TEXT_MAX {
        return Err(io::Error::other("there is too much to hand over"));
    }
    Ok(text)
}

/// Puts all of it into a socket, whose other end is given.
fn give(text: &[u8], things: &[BorrowedFd<'_>]) -> io::Result<OwnedFd> {
    let (reader, writer) = UnixStream::pair()?;
    writer.set_nonblocking(true)?;
    let mut space = [const { std::mem::MaybeUninit::uninit() }; ROOM];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(things)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let sent = sendmsg(
        &writer,
        &[IoSlice::new(text)],
        &mut control,
        SendFlags::empty(),
    )?;
    // The rest, if any, fits or is refused.
    (&writer).write_all(&text[sent..])?;
    Ok(reader.into())
}

/// Room for the things that come with a text.
const ROOM: usize = rustix::cmsg_space!(ScmRights(THINGS_MAX));

/// Takes all of it out of the standard input, and leaves nothing there.
fn take() -> io::Result<(Vec<u8>, impl Iterator<Item = OwnedFd>)> {
    let socket = io::stdin().as_fd().try_clone_to_owned()?;
    dup2_stdin(File::open("/dev/null")?)?;
    let mut things = Vec::new();
    let mut text = Vec::new();
    let mut part = vec![0; TEXT_MAX];
    loop {
        let mut space = [const { std::mem::MaybeUninit::uninit() }; ROOM];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let received = recvmsg(
            &socket,
            &mut [IoSliceMut::new(&mut part)],
            &mut control,
            RecvFlags::CMSG_CLOEXEC,
        )?;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                things.extend(rights);
            }
        }
        if received.bytes == 0 || text.len() > TEXT_MAX {
            return Ok((text, things.into_iter()));
        }
        text.extend_from_slice(&part[..received.bytes]);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use serde_json::{Value, json};

    use super::*;

    /// What the first program that could hand over told.
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
        let read = |told: &Value| understood(told.to_string().as_bytes());
        let told = read(&first()).unwrap();
        assert_eq!(told.own, Program::Slot(ImageSlot::A));
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
