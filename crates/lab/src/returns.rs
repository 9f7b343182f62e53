//! How often a remote display returns in a day: one with a board layout, and one that shows the clock. Each return costs a
//! battery seconds of Wi-Fi.

use std::{fmt::Write as _, time::Duration};

use device::{
    displays::schedule::{PowerSource, returns_in},
    frames::Changes,
    screens::catalog::Dependency,
};

/// Accepted ages of a picture, min.
const INTERVALS_MIN: [u64; 7] = [1, 5, 10, 15, 30, 60, 240];

/// Charges of a battery: good, low, almost empty, percent.
const PERCENTS: [u8; 3] = [80, 19, 9];

/// Time between two turns of the rotation, s.
const TURN_SECS: u64 = 1800;

/// A table of the returns of a day.
///
/// # Errors
/// The table, if a board returns more often than the clock.
pub fn compare() -> Result<String, String> {
    const ON_BOARD: [Dependency; 3] = [Dependency::Price, Dependency::Time, Dependency::Height];
    let board = |secs| changes(secs, None, &ON_BOARD);
    let clock = |secs| {
        let turn_in = Duration::from_secs(TURN_SECS - secs % TURN_SECS);
        changes(secs, Some(turn_in), &[Dependency::Price])
    };
    let mut table = String::from("interval, min  battery, %   clock   board\n");
    let mut is_worse = false;
    for minutes in INTERVALS_MIN {
        for percent in PERCENTS {
            let of_clock = of_a_day(clock, minutes, percent);
            let of_board = of_a_day(board, minutes, percent);
            is_worse |= of_board > of_clock;
            // Writing to a string cannot fail.
            let _ = writeln!(
                table,
                "{minutes:>13} {percent:>11} {of_clock:>7} {of_board:>7}"
            );
        }
    }
    if is_worse {
        Err(format!(
            "a board returns more often than the clock\n{table}"
        ))
    } else {
        Ok(table)
    }
}

/// Returns of a day; `at` is the picture at a time of the day, s.
fn of_a_day(at: impl Fn(u64) -> Changes, minutes: u64, percent: u8) -> u32 {
    let (turn_period, interval) = (
        Duration::from_secs(TURN_SECS),
        Duration::from_secs(60 * minutes),
    );
    let power = PowerSource::Battery(Some(percent));
    let (mut secs, mut returns) = (17, 0);
    while secs < DAY_SECS {
        secs += returns_in(&at(secs), turn_period, interval, power).as_secs();
        returns += 1;
    }
    returns
}

const DAY_SECS: u64 = 24 * 3600;

/// When a picture can change, with quiet hours from 22:00 to 7:00.
fn changes(secs: u64, turn_in: Option<Duration>, depends_on: &[Dependency]) -> Changes {
    let quiet_until = match secs / 3600 {
        0..7 => Some(7 * 3600),
        7..22 => None,
        22.. => Some(DAY_SECS + 7 * 3600),
    };
    Changes {
        depends_on: depends_on.into(),
        turn_in,
        minute_in: Some(Duration::from_secs(60 - secs % 60)),
        quiet_for: quiet_until.map(|until| Duration::from_secs(until - secs)),
        price_pace: Duration::ZERO,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_board_costs_no_more_returns_than_the_clock() {
        assert!(super::compare().is_ok_and(|table| table.lines().count() == 22));
    }
}
