//! When a display returns for its next picture.
//!
//! Each return costs a display on battery about ten seconds of radio. It returns so that its picture is never older than
//! its owner accepts, right after the rotation has turned, and rarely in quiet hours.

use core::time::Duration;

use crate::{frames::Changes, screens::catalog::Dependency};

/// Least time between two returns.
pub const RETURN_MIN: Duration = Duration::from_secs(30);

/// Longest time between two returns.
pub const RETURN_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Time between two returns in quiet hours.
const QUIET_PACE: Duration = Duration::from_secs(60 * 60);

/// Time from the end of the sleep of a display to its new picture.
const WAKE: Duration = Duration::from_secs(10);

/// Part of the sleep by which the timer of a display may be wrong.
const TIMER_ERROR: u32 = 100;

/// Least delay after a turn of the rotation.
const TURN_DELAY: Duration = Duration::from_secs(5);

/// Charge below which a battery is low, percent.
const LOW_PERCENT: u8 = 20;

/// Charge below which a battery is almost empty, percent.
const EMPTY_PERCENT: u8 = 10;

/// How many times longer a display sleeps with a low battery.
const LOW_FACTOR: u32 = 2;

/// How many times longer a display sleeps with an almost empty battery.
const EMPTY_FACTOR: u32 = 6;

/// What a display runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PowerSource {
    /// Mains, or a battery that is being charged.
    Mains,
    /// A battery, with its charge in percent if it is known.
    Battery(Option<u8>),
}

/// Time after which a display returns.
///
/// `changes` is of the picture that it gets now, `turn_period` the period of the rotation timer, `interval` the age of a
/// picture that the owner accepts.
pub fn returns_in(
    changes: &Changes,
    turn_period: Duration,
    interval: Duration,
    power: PowerSource,
) -> Duration {
    let factor = match power {
        PowerSource::Battery(Some(percent)) if percent < EMPTY_PERCENT => EMPTY_FACTOR,
        PowerSource::Battery(Some(percent)) if percent < LOW_PERCENT => LOW_FACTOR,
        PowerSource::Battery(_) | PowerSource::Mains => 1,
    };
    let age = interval * factor;
    let shows_time = changes.depends_on.contains(&Dependency::Time);
    let is_time_alone = changes.depends_on == [Dependency::Time];
    let returns_in = match (changes.quiet_for, changes.turn_in, changes.minute_in) {
        // A wrong time of day is worse than none, so a display that shows nothing else has no quiet hours.
        (Some(_), None, Some(minute_in)) if is_time_alone => at_a_minute(age, minute_in),
        (Some(quiet_for), _, _) => age.max(QUIET_PACE).min(after(quiet_for)),
        (None, Some(turn_in), _) => at_a_turn(age, turn_in, turn_period),
        (None, None, Some(minute_in)) if shows_time => at_a_minute(age, minute_in),
        // Blocks and prices can come at any time, whenever the last one came.
        (None, None, _) => age.saturating_sub(age / TIMER_ERROR + WAKE),
    };
    returns_in.clamp(RETURN_MIN, RETURN_MAX)
}

/// Right after the last minute at which the picture does not exceed the accepted age; at least after the next one.
fn at_a_minute(age: Duration, minute_in: Duration) -> Duration {
    const MINUTE: u64 = 60;
    let minutes = age.saturating_sub(minute_in).as_secs() / MINUTE;
    minute_in + Duration::from_secs(minutes * MINUTE + 1)
}

/// Within the accepted age, and such that one of the returns is right after the next turn.
fn at_a_turn(age: Duration, turn_in: Duration, turn_period: Duration) -> Duration {
    if turn_in <= age {
        // The last turn within the accepted age.
        let turns = (age - turn_in).as_secs().checked_div(turn_period.as_secs());
        let turns = u32::try_from(turns.unwrap_or_default()).unwrap_or_default();
        return after(turn_in + turn_period * turns);
    }
    let returns = turn_in.as_secs().div_ceil(age.as_secs().max(1)).max(1);
    turn_in / u32::try_from(returns).unwrap_or(u32::MAX)
}

/// Right after a moment, even if the timer of the display is fast.
fn after(moment: Duration) -> Duration {
    moment + TURN_DELAY + moment / TIMER_ERROR
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(depends_on: &[Dependency]) -> Changes {
        Changes {
            depends_on: depends_on.into(),
            turn_in: None,
            minute_in: Some(Duration::from_secs(20)),
            quiet_for: None,
            price_pace: Duration::ZERO,
        }
    }

    fn turning(changes: Changes, turn_in: u64) -> Changes {
        Changes {
            turn_in: Some(Duration::from_secs(turn_in)),
            ..changes
        }
    }

    fn quiet(changes: Changes, quiet_for: u64) -> Changes {
        Changes {
            quiet_for: Some(Duration::from_secs(quiet_for)),
            ..changes
        }
    }

    #[test]
    fn a_display_returns_when_its_picture_may_be_wrong() {
        let price = || of(&[Dependency::Price]);
        let height = || of(&[Dependency::Height]);
        let time = || of(&[Dependency::Time]);
        let board = || of(&[Dependency::Price, Dependency::Time, Dependency::Height]);
        let (full, mains) = (PowerSource::Battery(Some(80)), PowerSource::Mains);
        let (low, empty) = (
            PowerSource::Battery(Some(19)),
            PowerSource::Battery(Some(9)),
        );
        #[rustfmt::skip]
        let rows = [
            // One screen: the new picture is there when the old one has the accepted age.
            (price(), 10, full, 584),
            (height(), 10, full, 584),
            (price(), 1, mains, 49),
            (price(), 10, low, 1178),
            (price(), 10, empty, 3554),
            (price(), 1440, empty, 86_400),
            // The time of day: at a minute.
            (time(), 1, mains, 30),
            (time(), 10, full, 561),
            (quiet(time(), 20_000), 10, full, 561),
            (quiet(turning(time(), 60), 20_000), 10, full, 3600),
            // A board: at a minute, but quiet as the other screens.
            (board(), 10, full, 561),
            (board(), 1, mains, 30),
            (quiet(board(), 20_000), 10, full, 3600),
            // The rotation: evenly up to the next turn, then right after it.
            (turning(price(), 1800), 5, full, 300),
            (turning(height(), 1795), 5, full, 299),
            (turning(price(), 1795), 30, full, 1817),
            (turning(price(), 290), 5, full, 297),
            (turning(price(), 2), 5, full, 30),
            // Quick turns: the last one within the accepted age.
            (turning(price(), 1), 60, full, 1824),
            // Quiet hours: rarely, and at their end.
            (quiet(price(), 20_000), 10, full, 3600),
            (quiet(turning(price(), 60), 1000), 10, full, 1015),
            (quiet(price(), 20_000), 180, full, 10_800),
        ];
        for (changes, minutes, power, seconds) in rows {
            let interval = Duration::from_secs(minutes * 60);
            let returns_in =
                super::returns_in(&changes, Duration::from_secs(1800), interval, power).as_secs();
            assert_eq!(returns_in, seconds, "{changes:?} {minutes} {power:?}");
        }
    }
}
