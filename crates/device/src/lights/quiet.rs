//! Do Not Disturb: by hand, or on a schedule in local time.

use crate::settings::Settings;
use market::now::{LocalTime, UtcTime, Zone};

const MINUTES_A_DAY: u32 = 24 * 60;
const MINUTE_MS: i64 = 60_000;

/// Returns whether Do Not Disturb is active. Without a wall clock the schedule is inactive.
pub fn is_active(settings: &Settings, local: impl FnOnce() -> Option<LocalTime>) -> bool {
    let is_now = |local| is_in_window(settings, minute_of(local));
    settings.dnd_enabled || (settings.dnd_time_enabled && local().is_some_and(is_now))
}

/// Next start or end of the schedule. `None` if the schedule has no effect.
///
/// If the time zone changes its offset before that, returns the moment of the change, because the remaining minutes must be
/// computed again.
pub fn next_edge(settings: &Settings, zone: &Zone, utc: UtcTime) -> Option<UtcTime> {
    let (start, end) = (start(settings), end(settings));
    if !settings.dnd_time_enabled || settings.dnd_enabled || start == end {
        return None;
    }
    let local = zone.local(utc);
    let into_minute = i64::from(local.second) * 1000 + utc.unix_ms.rem_euclid(1000);
    let now = minute_of(local);
    let until = |edge: u32| match (edge + MINUTES_A_DAY - now) % MINUTES_A_DAY {
        0 => MINUTES_A_DAY,
        minutes => minutes,
    };
    let minutes = until(start).min(until(end));
    let edge = UtcTime {
        unix_ms: utc.unix_ms + i64::from(minutes) * MINUTE_MS - into_minute,
    };
    Some(
        zone.next_change(utc)
            .map_or(edge, |change| change.min(edge)),
    )
}

/// Start inclusive, end exclusive; a window that ends before it starts goes over midnight, one without length is empty.
fn is_in_window(settings: &Settings, minute: u32) -> bool {
    let (start, end) = (start(settings), end(settings));
    if start <= end {
        (start..end).contains(&minute)
    } else {
        minute >= start || minute < end
    }
}

fn minute_of(local: LocalTime) -> u32 {
    u32::from(local.hour) * 60 + u32::from(local.minute)
}

fn start(settings: &Settings) -> u32 {
    settings.dnd_start_hour * 60 + settings.dnd_start_min
}

fn end(settings: &Settings) -> u32 {
    settings.dnd_end_hour * 60 + settings.dnd_end_min
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hour: u8, minute: u8) -> Option<LocalTime> {
        Some(LocalTime {
            year: 2026,
            month: 5,
            day: 9,
            hour,
            minute,
            second: 0,
        })
    }

    fn window(start: (u32, u32), end: (u32, u32), manual: bool, scheduled: bool) -> Settings {
        Settings {
            dnd_enabled: manual,
            dnd_time_enabled: scheduled,
            dnd_start_hour: start.0,
            dnd_start_min: start.1,
            dnd_end_hour: end.0,
            dnd_end_min: end.1,
            ..Settings::default()
        }
    }

    fn check(times: &[(u8, u8)], start: (u32, u32), end: (u32, u32), active: bool) {
        let settings = window(start, end, false, true);
        for (hour, minute) in times {
            let told = is_active(&settings, || at(*hour, *minute));
            assert_eq!(told, active, "{hour}:{minute} in {start:?} to {end:?}");
        }
    }

    #[test]
    fn the_window_holds_as_in_the_table() {
        check(&[(22, 30), (22, 0)], (22, 0), (23, 0), true);
        check(&[(23, 0), (10, 0), (23, 1)], (22, 0), (23, 0), false);
        check(&[(22, 31), (0, 0), (6, 59)], (22, 30), (7, 0), true);
        check(&[(7, 0), (12, 0)], (22, 30), (7, 0), false);
        check(&[(12, 0), (0, 0), (23, 59)], (12, 0), (12, 0), false);
        check(&[(12, 0)], (12, 0), (12, 1), true);
        check(&[(12, 1), (11, 59)], (12, 0), (12, 1), false);
        check(&[(0, 0), (12, 0)], (0, 0), (23, 59), true);
        check(&[(23, 59)], (0, 0), (23, 59), false);
    }

    fn utc(text: &str) -> UtcTime {
        let timestamp: jiff::Timestamp = text.parse().unwrap();
        UtcTime {
            unix_ms: timestamp.as_millisecond(),
        }
    }

    #[test]
    fn the_schedule_changes_at_its_edges_and_at_no_other_minute() {
        let windows = [
            ((22, 0), (7, 0)),
            ((2, 0), (3, 0)),
            ((2, 30), (2, 45)),
            ((1, 59), (2, 1)),
            ((23, 59), (0, 0)),
            ((0, 0), (23, 59)),
        ];
        let days = [
            ("Europe/Amsterdam", "2026-03-28T00:00:00Z"),
            ("Europe/Amsterdam", "2026-10-24T00:00:00Z"),
            ("America/New_York", "2026-03-07T00:00:00Z"),
            ("Australia/Lord_Howe", "2026-04-04T00:00:00Z"),
            ("Australia/Lord_Howe", "2026-10-03T00:00:00Z"),
            ("Africa/Cairo", "2026-04-23T00:00:00Z"),
            ("Asia/Kolkata", "2026-04-23T00:00:00Z"),
        ];
        for ((name, day), (start, end)) in days
            .into_iter()
            .flat_map(|day| windows.map(|window| (day, window)))
        {
            let zone = Zone::named(name).unwrap();
            let settings = window(start, end, false, true);
            let active = |utc| is_active(&settings, || Some(zone.local(utc)));
            let mut now = utc(day);
            let (mut edge, mut before) = (now, active(now));
            for _ in 0..3 * MINUTES_A_DAY {
                if now == edge {
                    before = active(now);
                    edge = next_edge(&settings, &zone, now).unwrap();
                    assert!(edge > now);
                }
                assert_eq!(active(now), before, "{name} {now:?} {start:?} {end:?}");
                now.unix_ms += MINUTE_MS;
            }
        }
    }
}
