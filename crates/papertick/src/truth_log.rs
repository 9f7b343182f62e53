//! Tells in the log when a value becomes better or worse than it was.

use std::collections::BTreeMap;

use device::sources::Truth;
use market::{HeightState, PriceState, TimeState};

/// How good the values were when it was last told.
#[derive(Debug, Default)]
pub(crate) struct TruthLog {
    told: BTreeMap<String, Grade>,
}

/// How good a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Grade {
    /// Word for it.
    state: &'static str,
    /// It may be trusted as far as it goes.
    is_calm: bool,
}

impl TruthLog {
    /// Tells what is another state than before; that of a value which has just come is nothing to be told.
    pub(crate) fn follow(&mut self, truth: &Truth) {
        self.hear("height", height(truth.height));
        self.hear("time", time(truth.time.state));
        self.hear("fee", price(truth.fee));
        for (currency, known) in truth.prices.iter() {
            self.hear(currency.code(), price(known.state));
        }
    }

    fn hear(&mut self, value: &str, grade: Grade) {
        let Some(before) = self.told.get_mut(value) else {
            self.told.insert(value.to_owned(), grade);
            return;
        };
        let was = std::mem::replace(before, grade);
        if was == grade {
            return;
        }
        let (was_calm, was, state) = (was.is_calm, was.state, grade.state);
        match (was_calm, grade.is_calm) {
            (_, false) => tracing::warn!(value, was, "a value is {state}"),
            (false, true) => tracing::info!(value, was, "a value is {state}"),
            // Every block is claimed before it is proven.
            (true, true) => tracing::debug!(value, was, "a value is {state}"),
        }
    }
}

fn height(state: HeightState) -> Grade {
    let is_calm = match state {
        HeightState::Proven
        | HeightState::Alone
        | HeightState::Claimed
        // There is nothing to be wrong.
        | HeightState::Unknown => true,
        HeightState::Disputed | HeightState::Stale => false,
    };
    Grade {
        state: state.name(),
        is_calm,
    }
}

fn time(state: TimeState) -> Grade {
    let is_calm = match state {
        TimeState::Bounded | TimeState::Server | TimeState::Host | TimeState::Unknown => true,
        TimeState::Refused => false,
    };
    Grade {
        state: state.name(),
        is_calm,
    }
}

fn price(state: PriceState) -> Grade {
    let is_calm = match state {
        PriceState::Agreed | PriceState::Single => true,
        PriceState::Disputed | PriceState::Stale => false,
    };
    Grade {
        state: state.name(),
        is_calm,
    }
}

#[cfg(test)]
mod tests {
    use api::documents::diagnostics::{LogLevel, LogLine};
    use runtime::log_lines::LogLines;
    use tracing::subscriber::with_default;
    use tracing_subscriber::{filter::LevelFilter, layer::SubscriberExt, registry};

    use super::*;

    fn logged(log: impl FnOnce()) -> Vec<LogLine> {
        let lines = LogLines::new();
        let subscriber = registry().with(LevelFilter::INFO).with(lines.layer());
        with_default(subscriber, log);
        lines.log().lines
    }

    #[test]
    fn who_reads_the_log_learns_what_is_wrong_and_that_it_is_right_again() {
        let told = logged(|| {
            let mut log = TruthLog::default();
            let mut truth = Truth::default();
            for state in [
                HeightState::Proven,
                HeightState::Claimed,
                HeightState::Proven,
                HeightState::Disputed,
                HeightState::Disputed,
                HeightState::Stale,
                HeightState::Proven,
            ] {
                truth.height = state;
                log.follow(&truth);
            }
        });
        let told: Vec<(LogLevel, &str)> = told
            .iter()
            .map(|line| (line.level, line.text.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                (
                    LogLevel::Warn,
                    "a value is disputed value=\"height\" was=\"proven\""
                ),
                (
                    LogLevel::Warn,
                    "a value is stale value=\"height\" was=\"disputed\""
                ),
                (
                    LogLevel::Info,
                    "a value is proven value=\"height\" was=\"stale\""
                ),
            ]
        );
    }
}
