//! A venue that is a witness of prices, over one socket.

use std::{collections::BTreeMap, convert::Infallible, future, time::Duration};

use device::{market::Observation, sources::SourceId, units::Currency};
use feeds::{malformed::Malformed, venues};
use net::{
    url::Url,
    ws::{Frame, Policy},
};
use tokio::time::Instant;

use super::session::{Ended, Link, Session};

/// Bounds of the socket.
pub const POLICY: Policy = Policy {
    message_max: venues::FRAME_MAX,
    ping_every: Duration::from_secs(30),
    pong_timeout: Duration::from_secs(20),
};

/// Least time between two quotes in a currency that are passed on: a witness need not tell every trade.
pub const QUOTE_EVERY: Duration = Duration::from_secs(1);

/// A venue.
#[derive(Debug)]
pub struct Venue {
    /// Which one.
    pub source: SourceId,
    /// Currencies to subscribe to.
    pub currencies: Vec<Currency>,
}

impl Session for Venue {
    async fn run(&mut self, link: &mut Link<'_>) -> Result<Infallible, Ended> {
        let Some(mut venue) = venues::Venue::of(self.source) else {
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
        let mut told = BTreeMap::new();
        loop {
            match link.next(&mut socket).await? {
                Frame::Text(text) => match venue.frame(text.as_bytes()) {
                    Ok(mut heard) => {
                        heard.retain(|quote| is_due(quote, &mut told));
                        link.understood(heard).await?;
                    }
                    Err(malformed) => link.nonsense(malformed).await?,
                },
                Frame::Binary(_) => link.nonsense(Malformed("not-text")).await?,
            }
        }
    }
}

/// Tells whether a quote is to be passed on, and takes note of it if it is.
fn is_due(quote: &Observation, told: &mut BTreeMap<Currency, Instant>) -> bool {
    let Observation::Quote { currency, .. } = quote else {
        return true;
    };
    let last = told.get(currency);
    let is_due = last.is_none_or(|last| last.elapsed() >= QUOTE_EVERY);
    if is_due {
        told.insert(*currency, Instant::now());
    }
    is_due
}
