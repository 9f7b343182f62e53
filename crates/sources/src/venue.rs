//! A venue that is a witness of prices, over one socket.

use std::{collections::BTreeMap, convert::Infallible, future, time::Duration};

use feeds::{malformed::Malformed, venues};
use market::{Observation, limits::STALE_PRICE, source_id::SourceId, units::Currency};
use net::{
    url::Url,
    ws::{Policy, WsMessage},
};
use tokio::time::{Instant, sleep_until};

use super::session::{SessionEnd, SessionLink, SourceSession};

/// Bounds of the socket.
pub const POLICY: Policy = Policy {
    message_max: venues::FRAME_MAX,
    ping_every: Duration::from_secs(30),
    pong_timeout: Duration::from_secs(20),
};

/// Least time between two quotes in a currency that are passed on: a witness need not tell every trade.
pub const QUOTE_EVERY: Duration = Duration::from_secs(1);

/// Time without any quote after which a venue is asked anew: a channel may die while the socket lives.
pub const SILENCE_MAX: Duration = STALE_PRICE;

/// The same after it has refused something.
pub const REFUSED_MAX: Duration = Duration::from_secs(60);

/// A venue and the currencies to subscribe to.
#[derive(Debug)]
pub struct VenueSource {
    /// Which one.
    pub source: SourceId,
    /// Currencies to subscribe to.
    pub currencies: Vec<Currency>,
}

impl SourceSession for VenueSource {
    async fn run(&mut self, link: &mut SessionLink<'_>) -> Result<Infallible, SessionEnd> {
        let Some(mut venue) = venues::VenueSession::of(self.source) else {
            return future::pending().await;
        };
        let subscriptions = venue.subscriptions(&self.currencies);
        if subscriptions.is_empty() {
            // Without a currency there is nothing to connect for until the plan changes.
            return future::pending().await;
        }
        let upstreams = &link.context().shared.upstreams;
        let url = Url::parse(&upstreams.venue(self.source, venue.url()))?;
        let mut socket = link.open(&url, POLICY).await?;
        for subscription in subscriptions {
            socket.send_text(subscription).await?;
        }
        let mut pace = QuoteThrottle::default();
        let mut silent_until = Instant::now() + SILENCE_MAX;
        loop {
            let wake = pace.due().map_or(silent_until, |due| due.min(silent_until));
            let frame = tokio::select! {
                frame = link.next(&mut socket) => frame?,
                () = sleep_until(wake) => {
                    if wake == silent_until {
                        return Err(SessionEnd::because("connected, but it quotes nothing"));
                    }
                    link.understood(pace.take_due()).await?;
                    continue;
                }
            };
            match frame {
                WsMessage::Text(text) => match venue.frame(text.as_bytes()) {
                    Ok(mut heard) => {
                        heard.retain(|quote| is_of(quote, &self.currencies));
                        if !heard.is_empty() {
                            silent_until = Instant::now() + SILENCE_MAX;
                        }
                        link.understood(pace.pass(heard)).await?;
                    }
                    Err(malformed) => {
                        if malformed == venues::REFUSED {
                            silent_until = silent_until.min(Instant::now() + REFUSED_MAX);
                        }
                        link.nonsense(malformed).await?;
                    }
                },
                WsMessage::Binary(_) => link.nonsense(Malformed("not-text")).await?,
            }
        }
    }
}

/// When the last quote of each currency was passed on, and the newest quote that is held back.
#[derive(Debug, Default)]
struct QuoteThrottle(BTreeMap<Currency, (Instant, Option<Observation>)>);

impl QuoteThrottle {
    /// Those of these quotes that are passed on at once; of others the newest waits.
    fn pass(&mut self, heard: Vec<Observation>) -> Vec<Observation> {
        let now = Instant::now();
        let mut passed = Vec::new();
        for quote in heard {
            let Observation::Quote { currency, .. } = quote else {
                passed.push(quote);
                continue;
            };
            match self.0.get_mut(&currency) {
                Some((last, waits)) if *last + QUOTE_EVERY > now => *waits = Some(quote),
                Some(_) | None => {
                    self.0.insert(currency, (now, None));
                    passed.push(quote);
                }
            }
        }
        passed
    }

    /// When the next of those that wait is passed on.
    fn due(&self) -> Option<Instant> {
        let waiting = self.0.values().filter(|(_, waits)| waits.is_some());
        waiting.map(|(last, _)| *last + QUOTE_EVERY).min()
    }

    /// Those that have waited long enough.
    fn take_due(&mut self) -> Vec<Observation> {
        let now = Instant::now();
        let mut due = Vec::new();
        for (last, waits) in self.0.values_mut() {
            if *last + QUOTE_EVERY <= now
                && let Some(quote) = waits.take()
            {
                *last = now;
                due.push(quote);
            }
        }
        due
    }
}

/// Tells whether a quote is in one of the currencies that were asked for.
fn is_of(quote: &Observation, currencies: &[Currency]) -> bool {
    let is_other =
        matches!(quote, Observation::Quote { currency, .. } if !currencies.contains(currency));
    !is_other
}
