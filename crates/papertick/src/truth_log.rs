//! Logs when the trust in a value (height, time, fees, prices) changes.

use std::collections::BTreeMap;

use device::sources::Truth;
use market::{HeightState, PriceState, TimeState};

/// The last logged state of each value.
#[derive(Debug, Default)]
pub(crate) struct TruthLog {
    logged: BTreeMap<String, Trust>,
}

/// How far a value is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Trust {
    state: &'static str,
    /// No warning is needed.
    is_good: bool,
}

impl TruthLog {
    /// Logs states that have changed. The first state of a value is not logged.
    pub(crate) fn update(&mut self, truth: &Truth) {
        self.log("height", height(truth.height));
        self.log("time", time(truth.time.state));
        self.log("fee", price(truth.fee));
        for (currency, known) in truth.prices.iter() {
            self.log(currency.code(), price(known.state));
        }
    }

    fn log(&mut self, value: &str, trust: Trust) {
        let Some(before) = self.logged.get_mut(value) else {
            self.logged.insert(value.to_owned(), trust);
            return;
        };
        let was = std::mem::replace(before, trust);
        if was == trust {
            return;
        }
        let (was_good, was, state) = (was.is_good, was.state, trust.state);
        match (was_good, trust.is_good) {
            (_, false) => tracing::warn!(value, was, "a value is {state}"),
            (false, true) => tracing::info!(value, was, "a value is {state}"),
            // Every new block changes the state twice: claimed, then proven.
            (true, true) => tracing::debug!(value, was, "a value is {state}"),
        }
    }
}

fn height(state: HeightState) -> Trust {
    let is_good = match state {
        HeightState::Proven
        | HeightState::Alone
        | HeightState::Claimed
        // Without a height none can be wrong.
        | HeightState::Unknown => true,
        HeightState::Disputed | HeightState::Stale => false,
    };
    Trust {
        state: state.name(),
        is_good,
    }
}

fn time(state: TimeState) -> Trust {
    let is_good = match state {
        TimeState::Bounded | TimeState::Server | TimeState::Host | TimeState::Unknown => true,
        TimeState::Refused => false,
    };
    Trust {
        state: state.name(),
        is_good,
    }
}

fn price(state: PriceState) -> Trust {
    let is_good = match state {
        PriceState::Agreed | PriceState::Single => true,
        PriceState::Disputed | PriceState::Stale => false,
    };
    Trust {
        state: state.name(),
        is_good,
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
    fn a_worse_state_is_a_warning_and_the_recovery_an_info() {
        let lines = logged(|| {
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
                log.update(&truth);
            }
        });
        let lines: Vec<(LogLevel, &str)> = lines
            .iter()
            .map(|line| (line.level, line.text.as_str()))
            .collect();
        assert_eq!(
            lines,
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
