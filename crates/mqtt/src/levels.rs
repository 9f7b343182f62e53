//! Which levels are to be told, and when: the newest of each, never a queue of old ones.

use std::time::Duration;

use api::mqtt::topics::RetainedTopic;
use tokio::time::Instant;

/// Time between two tellings of how the host is.
pub const HOST_EVERY: Duration = Duration::from_secs(60);

/// What is known of a level.
#[derive(Debug)]
struct Row {
    level: RetainedTopic,
    /// It may differ from what was told.
    is_stale: bool,
    /// Names what was told.
    told: Option<u64>,
    not_before: Instant,
}

/// The retained topics of a connection, in the order in which they are published.
#[derive(Debug)]
pub struct RetainedTopics {
    rows: Vec<Row>,
}

impl RetainedTopics {
    /// The levels of a clock with so many LEDs, all untold.
    pub fn new(leds: usize, now: Instant) -> RetainedTopics {
        let row = |level| Row {
            level,
            is_stale: true,
            told: None,
            not_before: now,
        };
        RetainedTopics {
            rows: RetainedTopic::all(leds).into_iter().map(row).collect(),
        }
    }

    /// Takes note that a level may differ.
    pub fn changed(&mut self, is_meant: impl Fn(RetainedTopic) -> bool) {
        for row in self.rows.iter_mut().filter(|row| is_meant(row.level)) {
            row.is_stale = true;
        }
    }

    /// Takes note that somebody knows none of them any more: all are due, in their order, however soon after the last
    /// time.
    pub fn forgotten(&mut self, now: Instant) {
        for row in &mut self.rows {
            row.is_stale = true;
            row.told = None;
            row.not_before = now;
        }
    }

    /// The first level that may differ and is due.
    pub fn next(&self, now: Instant) -> Option<RetainedTopic> {
        let mut due = self
            .rows
            .iter()
            .filter(|row| row.is_stale && row.not_before <= now);
        due.next().map(|row| row.level)
    }

    /// When the next one is due; none if none may differ.
    pub fn next_deadline(&self) -> Option<Instant> {
        let stale = self.rows.iter().filter(|row| row.is_stale);
        stale.map(|row| row.not_before).min()
    }

    /// Takes note of what is to be told of a level now; tells whether that is news.
    pub fn is_news(&mut self, level: RetainedTopic, name: u64, now: Instant) -> bool {
        let Some(row) = self.row(level) else {
            return false;
        };
        let is_news = row.told != Some(name);
        // Nobody says when that differs, so it is looked at again whatever it is now.
        row.is_stale = level == RetainedTopic::Host;
        if row.is_stale {
            row.not_before = now + gap(level);
        }
        is_news
    }

    /// Takes note that this was told of a level.
    pub fn told(&mut self, level: RetainedTopic, name: u64, now: Instant) {
        if let Some(row) = self.row(level) {
            row.told = Some(name);
            row.not_before = now + gap(level);
        }
    }

    fn row(&mut self, level: RetainedTopic) -> Option<&mut Row> {
        self.rows.iter_mut().find(|row| row.level == level)
    }
}

/// Least time between two tellings of a level.
fn gap(level: RetainedTopic) -> Duration {
    match level {
        RetainedTopic::Status => Duration::ZERO,
        RetainedTopic::Info
        | RetainedTopic::State
        | RetainedTopic::Update
        | RetainedTopic::Settings
        | RetainedTopic::Reported
        | RetainedTopic::Strip
        | RetainedTopic::Led(_)
        | RetainedTopic::Frontlight
        | RetainedTopic::Panels => Duration::from_secs(1),
        // It differs at any moment.
        RetainedTopic::Host => HOST_EVERY,
        // Each of these makes who follows write down much.
        RetainedTopic::Market
        | RetainedTopic::Discovery
        | RetainedTopic::QuietFrom
        | RetainedTopic::QuietUntil => Duration::from_secs(5),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_newest_of_each_is_told_and_not_too_often() {
        let begun = Instant::now();
        let mut levels = RetainedTopics::new(1, begun);
        let mut told = Vec::new();
        while let Some(level) = levels.next(begun) {
            assert!(levels.is_news(level, 1, begun));
            levels.told(level, 1, begun);
            told.push(level);
        }
        assert_eq!(told, RetainedTopic::all(1));
        // How the host is differs without anybody saying so.
        let minute = Some(begun + HOST_EVERY);
        assert_eq!(levels.next_deadline(), minute);

        levels.changed(|level| [RetainedTopic::State, RetainedTopic::Market].contains(&level));
        assert_eq!(levels.next(begun), None);
        let (second, fifth) = (
            begun + Duration::from_secs(1),
            begun + Duration::from_secs(5),
        );
        assert_eq!(
            (levels.next_deadline(), levels.next(second)),
            (Some(second), Some(RetainedTopic::State))
        );
        // What is as it was told is no news, and counts as told.
        assert!(!levels.is_news(RetainedTopic::State, 1, second));
        assert_eq!(
            (levels.next_deadline(), levels.next(fifth)),
            (Some(fifth), Some(RetainedTopic::Market))
        );
        assert!(levels.is_news(RetainedTopic::Market, 2, fifth));
        levels.told(RetainedTopic::Market, 2, fifth);
        // Also where it is the same for a while.
        for round in 1..4 {
            let now = begun + round * HOST_EVERY;
            assert_eq!(levels.next(now), Some(RetainedTopic::Host));
            assert!(!levels.is_news(RetainedTopic::Host, 1, now));
            assert_eq!(levels.next_deadline(), Some(now + HOST_EVERY));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_knows_nothing_is_told_everything_in_order_however_soon() {
        let begun = Instant::now();
        let mut levels = RetainedTopics::new(1, begun);
        let mut tell_all = |now| {
            let mut told = Vec::new();
            while let Some(level) = levels.next(now) {
                assert!(levels.is_news(level, 1, now), "{level:?}");
                levels.told(level, 1, now);
                told.push(level);
            }
            levels.forgotten(now);
            told
        };
        assert_eq!(tell_all(begun), RetainedTopic::all(1));
        // A state that comes before what it is the state of is lost.
        assert_eq!(tell_all(begun), RetainedTopic::all(1));
    }
}
