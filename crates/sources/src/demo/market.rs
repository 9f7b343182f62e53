//! A random market: the same seed gives the same market.

use std::{collections::BTreeMap, iter, time::Duration};

use net::chance::Chance;

/// First height of the built-in market.
pub const FIRST_HEIGHT: u32 = 900_000;

/// Least and most time between two blocks.
const BLOCK_TIMES: (Duration, Duration) = (Duration::from_secs(4), Duration::from_secs(9));

/// Least and most time between two moves of the prices.
const PRICE_TIMES: (Duration, Duration) =
    (Duration::from_millis(1500), Duration::from_millis(2500));

/// Least and most time between two moves of the fee rate.
const FEE_TIMES: (Duration, Duration) = (Duration::from_secs(4), Duration::from_secs(9));

/// Prices never leave this range, US cents.
const CENTS_RANGE: (u64, u64) = (4_000_000, 16_000_000);

/// Fee rates never leave this range, hundredths of sat/vB.
const FEE_RANGE: (u64, u64) = (100, 9_900);

/// Units of each currency for a thousand US dollars.
const PER_THOUSAND_USD: [(&str, u64); 7] = [
    ("USD", 1_000),
    ("EUR", 862),
    ("GBP", 752),
    ("CAD", 1_381),
    ("CHF", 801),
    ("AUD", 1_529),
    ("JPY", 148_300),
];

/// Data that the demo relay publishes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelayQuotes {
    /// Height of the chain tip.
    pub height: u32,
    /// Fee rate, hundredths of sat/vB.
    pub fee_hundredths: u64,
    /// Prices by currency, hundredths of the currency's unit.
    pub prices: BTreeMap<String, u64>,
}

impl RelayQuotes {
    /// The initial quotes at a height.
    pub fn at(height: u32) -> RelayQuotes {
        let mut quotes = RelayQuotes {
            height,
            fee_hundredths: 425,
            prices: BTreeMap::new(),
        };
        quotes.set_usd_cents(10_842_150);
        quotes
    }

    /// Changes all prices by 5 %: up, or down at the upper bound.
    pub fn jump(&mut self) {
        let (low, high) = CENTS_RANGE;
        let cents = self.prices.get("USD").copied().unwrap_or(low);
        let up = cents.saturating_add(cents / 20);
        let jumped = if up <= high { up } else { cents - cents / 20 };
        self.set_usd_cents(jumped);
    }

    /// Sets all prices from one in US dollars.
    pub fn set_usd_cents(&mut self, cents: u64) {
        for (code, rate) in PER_THOUSAND_USD {
            self.prices.insert(code.to_owned(), cents * rate / 1_000);
        }
    }
}

impl Default for RelayQuotes {
    fn default() -> RelayQuotes {
        RelayQuotes::at(FIRST_HEIGHT)
    }
}

/// Invented quotes of the past, every ten minutes, the newest first. They lead to these.
pub fn past(seed: u64, mut quotes: RelayQuotes) -> impl Iterator<Item = RelayQuotes> {
    let mut market = DemoMarket::new(seed);
    iter::from_fn(move || {
        let cents = quotes.prices.get("USD").copied().unwrap_or(CENTS_RANGE.0);
        quotes.set_usd_cents(market.drift(cents, 40, CENTS_RANGE));
        quotes.fee_hundredths = market.drift(quotes.fee_hundredths, 600, FEE_RANGE);
        Some(quotes.clone())
    })
}

/// Moves the quotes over time.
#[derive(Debug)]
pub struct DemoMarket {
    chance: Chance,
    time: Duration,
    next_block: Duration,
    next_price: Duration,
    next_fee: Duration,
}

impl DemoMarket {
    pub fn new(seed: u64) -> DemoMarket {
        let mut chance = Chance::seeded(seed);
        // The first block comes early, so that a new demo moves soon.
        let next_block =
            Duration::from_secs(8) + chance.between(Duration::ZERO, Duration::from_secs(4));
        DemoMarket {
            chance,
            time: Duration::ZERO,
            next_block,
            next_price: PRICE_TIMES.0,
            next_fee: FEE_TIMES.0,
        }
    }

    /// Time until the next step.
    pub fn pause(&self) -> Duration {
        self.next_step().saturating_sub(self.time)
    }

    /// Advances to the next step and moves what is due.
    pub fn step(&mut self, quotes: &mut RelayQuotes) {
        self.time = self.next_step();
        if self.next_block <= self.time {
            quotes.height = quotes.height.saturating_add(1);
            self.next_block = self.time + self.chance.between(BLOCK_TIMES.0, BLOCK_TIMES.1);
        }
        if self.next_price <= self.time {
            let cents = quotes.prices.get("USD").copied().unwrap_or(CENTS_RANGE.0);
            quotes.set_usd_cents(self.drift(cents, 15, CENTS_RANGE));
            self.next_price = self.time + self.chance.between(PRICE_TIMES.0, PRICE_TIMES.1);
        }
        if self.next_fee <= self.time {
            quotes.fee_hundredths = self.drift(quotes.fee_hundredths, 600, FEE_RANGE);
            self.next_fee = self.time + self.chance.between(FEE_TIMES.0, FEE_TIMES.1);
        }
    }

    fn next_step(&self) -> Duration {
        self.next_block.min(self.next_price).min(self.next_fee)
    }

    /// Moves a value randomly by at most `most` ten-thousandths.
    fn drift(&mut self, value: u64, most: u64, (low, high): (u64, u64)) -> u64 {
        let step = value * self.chance.below(most + 1) / 10_000;
        let moved = if self.chance.below(2) == 0 {
            value.saturating_sub(step)
        } else {
            value.saturating_add(step)
        };
        moved.clamp(low, high)
    }
}
