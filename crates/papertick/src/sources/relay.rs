//! The relay service: blocks, fees and prices over one socket, with a probe for a feed that stands
//! still.

use std::{convert::Infallible, time::Duration};

use bytes::Bytes;
use device::{market::Observation, sources::RelayEndpoint, units::Currency};
use feeds::relay;
use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use tokio::time::{self, Instant, MissedTickBehavior};

use super::{
    Context,
    session::{Ended, Link, Session},
};
use crate::net::{
    http::{self, Answer, Get, Limits},
    url::Url,
    ws::{Frame, Policy},
};

/// Bounds of the socket.
pub const POLICY: Policy = Policy {
    message_max: relay::FRAME_MAX,
    ping_every: Duration::from_secs(20),
    pong_timeout: Duration::from_secs(15),
};

/// Time between looks at the age of the last block.
pub const STALE_TICK: Duration = Duration::from_secs(5 * 60);

/// Age of the last change of the height from which the relay is asked beside its socket.
pub const STALE_AFTER: Duration = Duration::from_secs(60 * 60);

/// Longest time for an answer beside the socket.
pub const REST_TIMEOUT: Duration = Duration::from_secs(8);

/// A relay and what it is asked for.
#[derive(Debug)]
pub struct Relay {
    /// Which relay.
    pub endpoint: RelayEndpoint,
    /// Currencies to subscribe to.
    pub currencies: Vec<Currency>,
    /// Blocks and fees are wanted too, not only prices.
    pub blocks: bool,
    /// The fee topic with decimals instead of the whole one.
    pub precise_fee: bool,
    /// What is remembered from one connection to the next.
    pub memory: Memory,
}

/// What is remembered from one connection to the next.
#[derive(Debug, Default)]
pub struct Memory {
    height: Option<u32>,
    /// Moment at which the height last changed or was confirmed.
    fresh_since: Option<Instant>,
    catalogue_known: bool,
}

/// What was learned beside the socket, if it was had.
enum Aside {
    /// The list of currencies.
    Catalogue(Option<Vec<Currency>>),
    /// The last block by the relay's own word.
    Tip(Option<u32>),
}

impl Session for Relay {
    async fn run(&mut self, link: &mut Link<'_>) -> Result<Infallible, Ended> {
        let public = link.context().shared.upstreams.relay();
        let address = relay::socket_url(&self.endpoint, &public);
        let mut socket = link.open(&Url::parse(&address)?, POLICY).await?;
        for topic in relay::subscriptions(self.blocks, self.precise_fee, &self.currencies) {
            socket.send_binary(topic).await?;
        }
        self.memory.fresh_since = Some(Instant::now());
        let mut catalogue_wanted = !self.memory.catalogue_known;
        let mut asides: FuturesUnordered<BoxFuture<'_, Aside>> = FuturesUnordered::new();
        let mut ticks = time::interval_at(Instant::now() + STALE_TICK, STALE_TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                frame = link.next(&mut socket) => {
                    self.heard(link, frame?).await?;
                    if link.is_up() && std::mem::take(&mut catalogue_wanted) {
                        asides.push(catalogue(link.context(), &address).boxed());
                    }
                }
                Some(aside) = asides.next() => self.learned(link, aside).await?,
                _ = ticks.tick() => {
                    if self.is_stale() && asides.is_empty() {
                        asides.push(tip(link.context(), &address).boxed());
                    }
                }
            }
        }
    }
}

impl Relay {
    async fn heard(&mut self, link: &mut Link<'_>, frame: Frame) -> Result<(), Ended> {
        let Frame::Binary(bytes) = frame else {
            // Text is not part of the protocol; some relays greet people with it.
            return Ok(());
        };
        match relay::frame(&bytes, self.precise_fee) {
            Ok(observations) => {
                self.take_note(&observations);
                link.understood(observations).await
            }
            Err(malformed) => link.nonsense(malformed),
        }
    }

    /// Repeats of a height do not count as news: a relay whose own source stands still repeats it.
    fn take_note(&mut self, observations: &[Observation]) {
        for observation in observations {
            if let Observation::Block(height) = observation
                && self.memory.height != Some(*height)
            {
                self.memory.height = Some(*height);
                self.memory.fresh_since = Some(Instant::now());
            }
        }
    }

    fn is_stale(&self) -> bool {
        let fresh_since = self.memory.fresh_since.filter(|_| self.blocks);
        fresh_since.is_some_and(|since| since.elapsed() >= STALE_AFTER)
    }

    async fn learned(&mut self, link: &mut Link<'_>, aside: Aside) -> Result<(), Ended> {
        match aside {
            Aside::Catalogue(None) | Aside::Tip(None) => Ok(()),
            Aside::Catalogue(Some(currencies)) => {
                self.memory.catalogue_known = true;
                link.understood(vec![Observation::Currencies(currencies)])
                    .await
            }
            Aside::Tip(Some(tip)) if Some(tip) == self.memory.height => {
                self.memory.fresh_since = Some(Instant::now());
                link.understood(vec![Observation::Block(tip)]).await
            }
            Aside::Tip(Some(_)) => Err(Ended::because("the relay has newer blocks than its feed")),
        }
    }
}

async fn catalogue(context: &Context, socket_url: &str) -> Aside {
    let url = relay::currencies_url(socket_url);
    let body = beside(context, url, relay::CURRENCIES_BODY_MAX).await;
    Aside::Catalogue(body.and_then(|body| relay::currencies(&body).ok()))
}

async fn tip(context: &Context, socket_url: &str) -> Aside {
    let url = relay::last_block_url(socket_url);
    let body = beside(context, url, relay::LAST_BLOCK_BODY_MAX).await;
    Aside::Tip(body.and_then(|body| relay::last_block(&body).ok()))
}

/// Asks the relay something beside its socket; failing that, all stays as it is.
async fn beside(context: &Context, url: Option<String>, body_max: usize) -> Option<Bytes> {
    let url = Url::parse(&url?).ok()?;
    let limits = Limits {
        timeout: REST_TIMEOUT,
        body_max,
    };
    match http::get(
        &context.shared.dialer,
        &context.route,
        Get::new(url),
        limits,
    )
    .await
    {
        Ok(Answer { status, body, .. }) if status.is_success() => Some(body),
        Ok(Answer { status, .. }) => {
            tracing::debug!(
                status = status.as_u16(),
                "no answer beside the relay's socket"
            );
            None
        }
        Err(error) => {
            tracing::debug!(%error, "no answer beside the relay's socket");
            None
        }
    }
}
