//! A device process: starts it, reads its messages, waits for its end, and stops it.

use std::{
    io,
    os::{fd::OwnedFd, unix::process::ExitStatusExt},
    process::{Command, ExitStatus, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use tokio::{
    io::AsyncReadExt,
    net::unix::pipe,
    signal::unix::{self, SignalKind},
    time::timeout,
};

use crate::messages::DeviceMessage;

/// Longest line of a device, bytes; a longer one is dropped.
const LINE_MAX: usize = 4096;

/// A device process and the messages it sends.
pub(super) struct Process {
    pub(super) child: Child,
    pub(super) messages: DeviceMessages,
}

impl Process {
    /// Starts a process whose standard output is read.
    pub(super) fn start(command: &mut Command) -> io::Result<Process> {
        let children = unix::signal(SignalKind::child())?;
        let mut started = command.stdout(Stdio::piped()).spawn()?;
        let child = Child::of(started.id(), children)?;
        let out = started.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Process {
            child,
            messages: DeviceMessages::of(out.into())?,
        })
    }
}

/// A child of this process; dropping it kills it.
pub(super) struct Child {
    pid: Pid,
    children: unix::Signal,
    ended: Option<ExitStatus>,
}

impl Child {
    fn of(number: u32, children: unix::Signal) -> io::Result<Child> {
        let pid = i32::try_from(number).ok().and_then(Pid::from_raw);
        Ok(Child {
            pid: pid.ok_or(io::ErrorKind::InvalidInput)?,
            children,
            ended: None,
        })
    }

    /// Waits for its end. Cancel safe.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        loop {
            if let Some(status) = self.ended {
                return Ok(status);
            }
            match waitpid(Some(self.pid), WaitOptions::NOHANG)? {
                Some((_, status)) => self.ended = Some(ExitStatus::from_raw(status.as_raw())),
                None => {
                    self.children.recv().await;
                }
            }
        }
    }

    /// Kills it and waits for its end.
    pub(super) async fn kill(&mut self) {
        self.signal(Signal::KILL);
        // Fails only if its exit status was read already.
        let _ = self.wait().await;
    }

    /// Sends SIGTERM. Returns whether the child ends in time.
    pub(super) async fn stop(&mut self, limit: Duration) -> bool {
        self.signal(Signal::TERM);
        timeout(limit, self.wait()).await.is_ok()
    }

    /// Sends a signal, unless the child has ended.
    pub(super) fn signal(&self, signal: Signal) {
        if self.ended.is_none() {
            // Fails if it has ended already.
            let _ = kill_process(self.pid, signal);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

pub(super) struct DeviceMessages {
    pipe: pipe::Receiver,
    /// Bytes that are not parsed yet.
    received: Vec<u8>,
    is_over: bool,
}

impl DeviceMessages {
    fn of(out: OwnedFd) -> io::Result<DeviceMessages> {
        Ok(DeviceMessages {
            pipe: pipe::Receiver::from_owned_fd(out)?,
            received: Vec::new(),
            is_over: false,
        })
    }

    /// Waits for the next message; forever after the end of the pipe. Cancel safe.
    pub(super) async fn next(&mut self) -> DeviceMessage {
        match self.next_or_end().await {
            Some(message) => message,
            None => std::future::pending().await,
        }
    }

    /// Waits for the next message; `None` at the end of the pipe.
    pub(super) async fn next_or_end(&mut self) -> Option<DeviceMessage> {
        loop {
            while let Some(end) = self.received.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.received.drain(..=end).collect();
                let line = String::from_utf8_lossy(&line);
                if let Some(message) = DeviceMessage::parse(line.trim_end()) {
                    return Some(message);
                }
            }
            if self.received.len() > LINE_MAX {
                self.received.clear();
            }
            if self.is_over {
                return None;
            }
            let read = self.pipe.read_buf(&mut self.received).await;
            self.is_over = !matches!(read, Ok(1..));
        }
    }
}
