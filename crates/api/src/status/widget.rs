//! The widget: four values that a home server shows on its own page, as Umbrel defines `four-stats`.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
};

use device::{spoken, view::View};
use market::{Datum, Fee, HeightState, PriceState, units::Price};
use schemars::JsonSchema;
use serde::Serialize;

use super::values::{amount, fee_rate, price_state};

/// Time after which the home server reads the widget again.
const REFRESH: &str = "10s";

/// Text of an unknown value.
const UNKNOWN: &str = "-";

/// Prices below this are shown with decimals.
const ROUNDED_FROM: u64 = 1000;

/// Four values for the page of a home server, in English.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Widget {
    /// Layout of the widget: `four-stats`.
    #[serde(rename = "type")]
    pub layout: &'static str,
    /// Interval of the refresh, such as `10s`.
    pub refresh: &'static str,
    /// Path that a click opens; empty for the clock's page.
    pub link: &'static str,
    /// Block height, price, fee rate, and the proof of the block height.
    pub items: [WidgetItem; 4],
}

/// A value with its title and a line below.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WidgetItem {
    /// Title.
    pub title: &'static str,
    /// The value; `-` if it is not known.
    pub text: String,
    /// Unit or sources; followed by `disputed` or `stale` if the value is.
    pub subtext: String,
}

impl Widget {
    /// The widget of a view: public values only, because it is read without a password.
    pub fn of(view: &View) -> Widget {
        Widget {
            layout: "four-stats",
            refresh: REFRESH,
            link: "",
            items: [block(view), price(view), fee(view), proof(view)],
        }
    }
}

fn block(view: &View) -> WidgetItem {
    let height = view.market.height.as_ref();
    WidgetItem {
        title: "Block",
        text: height.map_or(UNKNOWN.to_owned(), |height| grouped(height.value)),
        subtext: "height".to_owned(),
    }
}

/// The price in the first chosen currency that has one.
fn price(view: &View) -> WidgetItem {
    let currencies = view.settings.active.currencies();
    let prices = &view.market.prices;
    let mut priced = currencies.iter().filter(|code| prices.contains_key(code));
    let currency = priced.next().or(currencies.first());
    let price = currency.and_then(|currency| prices.get(currency));
    let text = |price: &Datum<Price>| match price.value.rounded() {
        whole if whole >= ROUNDED_FROM => grouped(whole),
        _ => amount(price.value),
    };
    let unit = currency.map_or("", |currency| currency.code());
    let state = currency.map_or(PriceState::Stale, |currency| price_state(view, *currency));
    WidgetItem {
        title: "Price",
        text: price.map_or(UNKNOWN.to_owned(), text),
        subtext: price.map_or(unit.to_owned(), |_| judged(unit, state)),
    }
}

fn fee(view: &View) -> WidgetItem {
    let fee = view
        .market
        .current_fee(view.settings.active.fee_precision())
        .map(Fee::datum);
    let unit = "sat/vB";
    WidgetItem {
        title: "Fee rate",
        text: fee.map_or(UNKNOWN.to_owned(), |fee| fee_rate(view, fee.value)),
        subtext: fee.map_or(unit.to_owned(), |_| judged(unit, view.truth.fee)),
    }
}

fn proof(view: &View) -> WidgetItem {
    let state = match view.truth.height {
        HeightState::Proven => "Proven",
        HeightState::Alone => "One source",
        HeightState::Claimed => "Not proven",
        HeightState::Disputed => "Disputed",
        HeightState::Stale => "Stale",
        HeightState::Unknown => UNKNOWN,
    };
    let sources = match view.truth.agreeing() {
        1 => "1 source".to_owned(),
        count => format!("{count} sources"),
    };
    WidgetItem {
        title: "Proof",
        text: state.to_owned(),
        subtext: sources,
    }
}

/// A unit, and the state of the value if it is disputed or stale.
fn judged(unit: &str, state: PriceState) -> String {
    match state {
        PriceState::Agreed | PriceState::Single => unit.to_owned(),
        PriceState::Disputed | PriceState::Stale => format!("{unit}, {}", state.name()),
    }
}

/// A number with thousands separators.
fn grouped(number: impl ToString) -> String {
    spoken::number(number).to_string()
}
