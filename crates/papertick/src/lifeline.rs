//! What the device process tells its supervisor, one word a line on a pipe.

use std::{
    io::{self, Write},
    time::Duration,
};

use board::sim::PowerCycle;

/// Time between two signs of life.
pub const BEAT_PERIOD: Duration = Duration::from_secs(5);

/// Exit code of a device that is to be started again.
pub const RESTART_CODE: u8 = 75;

/// Exit code of a device that broke off.
pub const BROKEN_CODE: u8 = 70;

/// What the device says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// It answers requests.
    Ready,
    /// Its main loop and its painter make progress.
    Beat,
    /// Its painter makes none.
    PainterStuck,
    /// Its power was cut and comes back, with these buttons held.
    PowerCut(PowerCycle),
}

impl Word {
    /// Reads a line; none if it is no word.
    pub fn parse(line: &str) -> Option<Word> {
        let mut parts = line.split_whitespace();
        match parts.next()? {
            "ready" => Some(Word::Ready),
            "beat" => Some(Word::Beat),
            "painter-stuck" => Some(Word::PainterStuck),
            "power-cut" => Some(Word::PowerCut(PowerCycle {
                mask: parts.next()?.parse().ok()?,
                held: Duration::from_millis(parts.next()?.parse().ok()?),
            })),
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
            Word::Ready => writeln!(out, "ready")?,
            Word::Beat => writeln!(out, "beat")?,
            Word::PainterStuck => writeln!(out, "painter-stuck")?,
            Word::PowerCut(cycle) => {
                writeln!(out, "power-cut {} {}", cycle.mask, cycle.held.as_millis())?;
            }
        }
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read() {
        let cycle = PowerCycle {
            mask: 5,
            held: Duration::from_millis(3200),
        };
        for (line, word) in [
            ("ready", Some(Word::Ready)),
            ("beat", Some(Word::Beat)),
            ("painter-stuck", Some(Word::PainterStuck)),
            ("power-cut 5 3200", Some(Word::PowerCut(cycle))),
            ("power-cut 5", None),
            ("power-cut 256 1", None),
            ("hello", None),
            ("", None),
        ] {
            assert_eq!(Word::parse(line), word, "{line}");
        }
    }
}
