//! What the device process tells its supervisor, one word a line on a pipe.

use std::{
    io::{self, Write},
    time::Duration,
};

/// Time between two signs of life.
pub const BEAT_PERIOD: Duration = Duration::from_secs(5);

/// Exit code of a device that is to be started again.
pub const RESTART_CODE: u8 = 75;

/// Exit code of a device that broke off.
pub const BROKEN_CODE: u8 = 70;

/// What supervisor and device of this program can expect of each other. It grows when one of them needs to know something
/// of the other that members and words which are passed over where they are not known cannot tell.
///
/// 1 is that of the first program; with 2 the supervisor says which program runs and the device when it has painted.
/// 3 belonged to a standby process that is gone: a device that knows it ends at once when its supervisor says 2.
pub const PROTOCOL: u32 = 2;

/// A message of the device to its supervisor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceMessage {
    /// It answers requests.
    Ready,
    /// A picture is on the glass.
    Painted,
    /// Its main loop and its painter make progress.
    Beat,
    /// Its painter makes none.
    PainterStuck,
    /// Its power was cut and comes back; with what its board wants to know then, in the board's own words.
    PowerCut(String),
}

impl DeviceMessage {
    /// Reads a line; none if it is no word.
    pub fn parse(line: &str) -> Option<DeviceMessage> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "ready" => Some(DeviceMessage::Ready),
            "painted" => Some(DeviceMessage::Painted),
            "beat" => Some(DeviceMessage::Beat),
            "painter-stuck" => Some(DeviceMessage::PainterStuck),
            "power-cut" => Some(DeviceMessage::PowerCut(rest.to_owned())),
            _ => None,
        }
    }

    /// Says it.
    ///
    /// # Errors
    /// The supervisor is gone.
    pub fn say(self) -> io::Result<()> {
        let mut out = io::stdout().lock();
        match self {
            DeviceMessage::Ready => writeln!(out, "ready {PROTOCOL}")?,
            DeviceMessage::Painted => writeln!(out, "painted")?,
            DeviceMessage::Beat => writeln!(out, "beat")?,
            DeviceMessage::PainterStuck => writeln!(out, "painter-stuck")?,
            DeviceMessage::PowerCut(carried) => writeln!(out, "power-cut {carried}")?,
        }
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read() {
        for (line, word) in [
            ("ready", Some(DeviceMessage::Ready)),
            ("ready 3 more", Some(DeviceMessage::Ready)),
            ("painted", Some(DeviceMessage::Painted)),
            ("beat", Some(DeviceMessage::Beat)),
            ("painter-stuck", Some(DeviceMessage::PainterStuck)),
            ("painter-stuck", Some(DeviceMessage::PainterStuck)),
            (
                "power-cut 5 3200",
                Some(DeviceMessage::PowerCut("5 3200".into())),
            ),
            ("power-cut", Some(DeviceMessage::PowerCut(String::new()))),
            ("power-cuts 5", None),
            ("hello", None),
            ("", None),
        ] {
            assert_eq!(DeviceMessage::parse(line), word, "{line}");
        }
    }
}
