//! Moments and local time. Time is always an argument: nothing here reads a clock.

use core::time::Duration;

use alloc::string::String;
use jiff::{Timestamp, civil::Date, tz::TimeZone};
use serde::{Deserialize, Serialize};

/// The moment at which an input is handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Time since the device started; never goes backward.
    pub uptime: Duration,
    /// Wall clock, once it is plausible; may step forward and backward.
    pub utc: Option<UtcTime>,
}

impl Now {
    /// Time of the start by the wall clock as it is now; `None` if that is not set.
    pub fn start(self) -> Option<UtcTime> {
        let uptime_ms = i64::try_from(self.uptime.as_millis()).unwrap_or(i64::MAX);
        self.utc.map(|utc| UtcTime {
            unix_ms: utc.unix_ms.saturating_sub(uptime_ms),
        })
    }

    /// The moment of an earlier uptime, by the wall clock as it is now.
    pub fn earlier(self, uptime: Duration) -> Now {
        let ago = self.uptime.saturating_sub(uptime).as_millis();
        let ago_ms = i64::try_from(ago).unwrap_or(i64::MAX);
        let utc = self.utc;
        Now {
            uptime,
            utc: utc.and_then(|utc| UtcTime::plausible(utc.unix_ms.saturating_sub(ago_ms))),
        }
    }
}

/// A moment of the wall clock, milliseconds since 1970-01-01 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UtcTime {
    /// Milliseconds since 1970-01-01 UTC.
    pub unix_ms: i64,
}

impl UtcTime {
    /// Wall clocks before 2020-01-01 UTC are taken as not set.
    pub const PLAUSIBLE_FROM: UtcTime = UtcTime {
        unix_ms: 1_577_836_800_000,
    };

    /// Returns the moment if it is plausible for a clock that was set.
    pub fn plausible(unix_ms: i64) -> Option<UtcTime> {
        let moment = UtcTime { unix_ms };
        (moment >= Self::PLAUSIBLE_FROM).then_some(moment)
    }

    /// Reads a moment such as `2026-11-20T21:34:00.5Z`.
    pub fn parse(text: &str) -> Option<UtcTime> {
        let moment: Timestamp = text.parse().ok()?;
        UtcTime::plausible(moment.as_millisecond())
    }

    /// Seconds since 1970-01-01 UTC, rounded down.
    pub fn unix_secs(self) -> i64 {
        self.unix_ms.div_euclid(1000)
    }
}

/// Date and time of day in a time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalTime {
    /// Calendar year.
    pub year: i16,
    /// Month, 1..=12.
    pub month: u8,
    /// Day of the month, 1..=31.
    pub day: u8,
    /// Hour, 0..=23.
    pub hour: u8,
    /// Minute, 0..=59.
    pub minute: u8,
    /// Second, 0..=59.
    pub second: u8,
}

impl LocalTime {
    /// Day of the week, 0 is Monday.
    pub fn weekday(&self) -> usize {
        // Day and month are valid as unsigned numbers of one byte, so they fit.
        let (month, day) = (self.month.cast_signed(), self.day.cast_signed());
        let date = Date::new(self.year, month, day).unwrap_or_default();
        usize::from(date.weekday().to_monday_zero_offset().unsigned_abs())
    }
}

/// A time zone of the IANA database, looked up once.
#[derive(Debug, Clone, PartialEq)]
pub struct Zone {
    name: String,
    zone: TimeZone,
}

impl Zone {
    /// Looks up an IANA zone by its exact name; `None` if there is no such zone.
    pub fn named(name: &str) -> Option<Zone> {
        let zone = jiff::tz::db().get(name).ok()?;
        // The lookup ignores case; the interface wants the name as it is written in the database.
        (zone.iana_name() == Some(name)).then(|| Zone {
            name: name.into(),
            zone,
        })
    }

    /// Coordinated universal time.
    pub fn utc() -> Zone {
        Zone {
            name: "UTC".into(),
            zone: TimeZone::UTC,
        }
    }

    /// IANA name of the zone.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The next change of the offset from UTC after a moment; `None` if there is none.
    pub fn next_change(&self, moment: UtcTime) -> Option<UtcTime> {
        let timestamp = Timestamp::from_millisecond(moment.unix_ms).ok()?;
        let change = self.zone.following(timestamp).next()?;
        Some(UtcTime {
            unix_ms: change.timestamp().as_millisecond(),
        })
    }

    /// Local date and time at a moment; midnight of 1970-01-01 if the moment is out of the calendar's range.
    pub fn local(&self, moment: UtcTime) -> LocalTime {
        let timestamp =
            Timestamp::from_millisecond(moment.unix_ms).unwrap_or(Timestamp::UNIX_EPOCH);
        let local = timestamp.to_zoned(self.zone.clone());
        LocalTime {
            year: local.year(),
            month: local.month().unsigned_abs(),
            day: local.day().unsigned_abs(),
            hour: local.hour().unsigned_abs(),
            minute: local.minute().unsigned_abs(),
            second: local.second().unsigned_abs(),
        }
    }
}
