//! Messages of the device process to its supervisor: one line each, on a pipe.

use std::{
    io::{self, Write},
    time::Duration,
};

/// Time between two heartbeats.
pub const BEAT_PERIOD: Duration = Duration::from_secs(5);

/// Exit code of a device that requests a restart.
pub const RESTART_CODE: u8 = 75;

/// Exit code of a device that cannot start and has printed the reason.
pub const REFUSED_CODE: u8 = 1;

/// Exit code of a device that failed.
pub const BROKEN_CODE: u8 = 70;

/// Version of the protocol between supervisor and device. Unknown members and messages are ignored; the version is
/// increased if that is not enough for compatibility.
///
/// 1: the first program. 2: the supervisor reports the running program, and the device its first picture. 3: builds with
/// a standby process, which restart without it under a supervisor of version 2.
pub const PROTOCOL: u32 = 2;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceMessage {
    /// The HTTP server answers requests; with the longest time that the device needs to end a refresh in progress. `None`
    /// from older programs.
    Ready(Option<Duration>),
    /// The panels show a picture.
    Painted,
    /// Main loop and painter make progress.
    Beat,
    /// The painter makes no progress.
    PainterStuck,
    /// The simulated power was cut; with the state of the board for the next start.
    PowerCut(String),
}

impl DeviceMessage {
    /// Parses a line. `None` if the message is unknown.
    pub fn parse(line: &str) -> Option<DeviceMessage> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "ready" => {
                let millis = rest.split(' ').nth(1).and_then(|text| text.parse().ok());
                Some(DeviceMessage::Ready(millis.map(Duration::from_millis)))
            }
            "painted" => Some(DeviceMessage::Painted),
            "beat" => Some(DeviceMessage::Beat),
            "painter-stuck" => Some(DeviceMessage::PainterStuck),
            "power-cut" => Some(DeviceMessage::PowerCut(rest.to_owned())),
            _ => None,
        }
    }

    /// Sends it.
    ///
    /// # Errors
    /// The supervisor is gone.
    pub fn send(self) -> io::Result<()> {
        let mut out = io::stdout().lock();
        match self {
            DeviceMessage::Ready(last_refresh) => {
                let millis = last_refresh.unwrap_or_default().as_millis();
                writeln!(out, "ready {PROTOCOL} {millis}")?;
            }
            DeviceMessage::Painted => writeln!(out, "painted")?,
            DeviceMessage::Beat => writeln!(out, "beat")?,
            DeviceMessage::PainterStuck => writeln!(out, "painter-stuck")?,
            DeviceMessage::PowerCut(carried) => writeln!(out, "power-cut {carried}")?,
        }
        out.flush()
    }
}
