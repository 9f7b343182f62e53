//! How a value has moved.

use alloc::{string::String, vec::Vec};

use device::{
    canvas::chosen,
    history::{self, Series, Span},
    view::View,
};
use market::units::MICRO;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Number;

use crate::schema::{Vocabulary, Word};

/// Values that were shown without a mark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValueHistory {
    /// What the values are.
    pub series: Word<RecordedSeries>,
    /// How far back they go.
    pub span: Word<Span>,
    /// Unit of the values: a currency, `sat/vB`, or `blocks`.
    pub unit: String,
    /// Time from one value to the next, s; null for blocks.
    pub step_secs: Option<u32>,
    /// Times of the values, oldest first, s since 1970-01-01 UTC.
    pub times: Vec<i64>,
    /// The values; null where none was shown without a mark. Heights for blocks.
    #[schemars(with = "Vec<Option<f64>>")]
    pub values: Vec<Option<Number>>,
}

/// The series of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedSeries {
    Price,
    Fee,
    Blocks,
}

impl Vocabulary for RecordedSeries {
    const NAME: &'static str = "RecordedSeries";

    fn word(self) -> &'static str {
        match self {
            RecordedSeries::Price => "price",
            RecordedSeries::Fee => "fee",
            RecordedSeries::Blocks => "blocks",
        }
    }

    fn words() -> Vec<&'static str> {
        Self::ALL.map(Self::word).into()
    }
}

impl RecordedSeries {
    const ALL: [RecordedSeries; 3] = [
        RecordedSeries::Price,
        RecordedSeries::Fee,
        RecordedSeries::Blocks,
    ];
}

impl ValueHistory {
    /// The history that a query asks for: by default the price of a day, in the first currency.
    ///
    /// # Errors
    /// A sentence that names the parameter and its choices.
    pub fn of(view: &View, query: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let sent = |name: &str, default: &str| query(name).unwrap_or_else(|| default.into());
        let choices = RecordedSeries::ALL.map(|series| (series.word().into(), series));
        let series = chosen("series", Some(&sent("series", "price")), &choices)?;
        let settings = &view.settings.active;
        let (recorded, unit) = match series {
            RecordedSeries::Price => {
                let active = settings.currencies();
                let choices = history::recorded(&active).iter();
                let choices = choices.map(|currency| (currency.code().into(), *currency));
                let choices: Vec<_> = choices.collect();
                let code = sent("currency", settings.first_currency().code());
                let currency = chosen("currency", Some(&code), &choices)?;
                (Some(Series::Price(currency)), currency.code().into())
            }
            RecordedSeries::Fee => (Some(Series::Fee), "sat/vB".into()),
            RecordedSeries::Blocks => (None, String::from("blocks")),
        };
        let spans = recorded.map_or(&[Span::Day][..], Series::spans);
        let choices = spans.iter().map(|span| (span.name().into(), *span));
        let choices: Vec<_> = choices.collect();
        let span = chosen("span", Some(&sent("span", "day")), &choices)?;
        let values: (Vec<_>, Vec<_>) = match recorded {
            Some(series) => {
                let values = view.history.values(series, span);
                values.map(|(at, value)| (at, value.map(units))).unzip()
            }
            None => {
                let blocks = view.history.blocks();
                blocks.map(|(height, at)| (at, Some(height.into()))).unzip()
            }
        };
        Ok(ValueHistory {
            series: Word(series),
            span: Word(span),
            unit,
            step_secs: recorded.map(|_| span.step_secs()),
            times: values.0,
            values: values.1,
        })
    }
}

/// A value in whole units, with a fraction if it has one.
fn units(micros: u64) -> Number {
    let fraction = || Number::from_f64(micros as f64 / MICRO as f64);
    let whole = || Number::from(micros / MICRO);
    if micros.is_multiple_of(MICRO) {
        whole()
    } else {
        fraction().unwrap_or_else(whole)
    }
}
