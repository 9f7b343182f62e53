//! Do Not Disturb: by hand, or on a schedule in local time.

use core::time::Duration;

use crate::{now::LocalTime, settings::Settings};

const MINUTES_A_DAY: u32 = 24 * 60;

/// Tells whether Do Not Disturb is active; without a clock the schedule is not.
pub fn is_active(settings: &Settings, local: Option<LocalTime>) -> bool {
    settings.dnd_enabled
        || (settings.dnd_time_enabled
            && local.is_some_and(|local| is_in_window(settings, minute_of(local))))
}

/// Time until the schedule may start or end; none if it is off or there is no clock.
///
/// The clock may jump in between, as it does with daylight saving: whoever waits for the edge looks again then.
pub fn next_edge(settings: &Settings, local: Option<LocalTime>) -> Option<Duration> {
    let local = local.filter(|_| settings.dnd_time_enabled)?;
    let now = minute_of(local);
    let until = |edge: u32| match (edge + MINUTES_A_DAY - now) % MINUTES_A_DAY {
        0 => MINUTES_A_DAY,
        minutes => minutes,
    };
    let minutes = until(start(settings)).min(until(end(settings)));
    let seconds = u64::from(minutes) * 60 - u64::from(local.second);
    Some(Duration::from_secs(seconds))
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
            let told = is_active(&settings, at(*hour, *minute));
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

    #[test]
    fn by_hand_wins_over_the_schedule() {
        let rows = [
            (at(22, 30), false, false, false),
            (at(10, 0), true, false, true),
            (at(10, 0), true, true, true),
            (at(22, 30), false, true, true),
            (at(10, 0), false, true, false),
            (None, false, true, false),
            (None, true, true, true),
        ];
        for (local, manual, scheduled, active) in rows {
            let settings = window((22, 0), (23, 0), manual, scheduled);
            assert_eq!(
                is_active(&settings, local),
                active,
                "{local:?} {manual} {scheduled}"
            );
        }
    }

    #[test]
    fn the_next_edge_is_the_nearer_end_of_the_window() {
        let settings = window((22, 0), (7, 0), false, true);
        let minutes =
            |hour, minute| next_edge(&settings, at(hour, minute)).map(|time| time.as_secs() / 60);
        assert_eq!(minutes(21, 59), Some(1));
        assert_eq!(minutes(22, 0), Some(9 * 60));
        assert_eq!(minutes(7, 0), Some(15 * 60));
        assert_eq!(next_edge(&Settings::default(), at(7, 0)), None);
    }
}
