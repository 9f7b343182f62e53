//! An exchange whose prices are compared with the others, over one socket.

use std::{collections::BTreeMap, convert::Infallible, future, time::Duration};

use feeds::{malformed::Malformed, venues};
use market::{Observation, limits::STALE_PRICE, units::Currency};
use net::{
    url::Url,
    ws::{Policy, WsMessage},
};
use tokio::time::{Instant, sleep_until};

use super::session::{SessionEnd, SessionLink, SourceSession};

/// Limits of the socket.
pub const POLICY: Policy = Policy {
    message_max: venues::FRAME_MAX,
    ping_every: Duration::from_secs(30),
    pong_timeout: Duration::from_secs(20),
};

/// Least time between two reported quotes in a currency: not every trade is needed.
pub const QUOTE_EVERY: Duration = Duration::from_secs(1);

/// Time without a quote after which the venue is reconnected: a channel may die while the socket lives.
pub const SILENCE_MAX: Duration = STALE_PRICE;

/// The same after it has rejected a subscription.
pub const REFUSED_MAX: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub struct VenueSource {
    pub currencies: Vec<Currency>,
}

impl SourceSession for VenueSource {
    async fn run(&mut self, link: &mut SessionLink<'_>) -> Result<Infallible, SessionEnd> {
        let source = link.context().id;
        let Some(mut venue) = venues::VenueSession::of(source) else {
            return future::pending().await;
        };
        let subscriptions = venue.subscriptions(&self.currencies);
        if subscriptions.is_empty() {
            // Without a currency there is no connection until the plan changes.
            return future::pending().await;
        }
        let upstreams = &link.context().shared.upstreams;
        let url = Url::parse(&upstreams.venue(source, venue.url()))?;
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
                        return Err(SessionEnd::because("connected, but no quotes came"));
                    }
                    link.accept_frame(pace.take_due()).await?;
                    continue;
                }
            };
            match frame {
                WsMessage::Text(text) => match venue.frame(text.as_bytes()) {
                    Ok(mut quotes) => {
                        quotes.retain(|quote| is_of(quote, &self.currencies));
                        if !quotes.is_empty() {
                            silent_until = Instant::now() + SILENCE_MAX;
                        }
                        link.accept_frame(pace.pass(quotes)).await?;
                    }
                    Err(malformed) => {
                        if malformed == venues::REFUSED {
                            silent_until = silent_until.min(Instant::now() + REFUSED_MAX);
                        }
                        link.reject_frame(malformed).await?;
                    }
                },
                WsMessage::Binary(_) => link.reject_frame(Malformed("not-text")).await?,
            }
        }
    }
}

/// Per currency: when a quote was last reported, and the newest quote that waits.
#[derive(Debug, Default)]
struct QuoteThrottle(BTreeMap<Currency, (Instant, Option<Observation>)>);

impl QuoteThrottle {
    /// Returns the quotes to report now; the newest of the others waits.
    fn pass(&mut self, quotes: Vec<Observation>) -> Vec<Observation> {
        let now = Instant::now();
        let mut passed = Vec::new();
        for quote in quotes {
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

    /// When the next waiting quote is due.
    fn due(&self) -> Option<Instant> {
        let waiting = self.0.values().filter(|(_, waits)| waits.is_some());
        waiting.map(|(last, _)| *last + QUOTE_EVERY).min()
    }

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

fn is_of(quote: &Observation, currencies: &[Currency]) -> bool {
    let is_other =
        matches!(quote, Observation::Quote { currency, .. } if !currencies.contains(currency));
    !is_other
}
