//! The relay service: blocks, fees and prices over one socket, with a probe for a feed that stands
//! still.

use std::{convert::Infallible, time::Duration};

use device::sources::RelayEndpoint;
use feeds::relay;
use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use market::{Observation, units::Currency};
use net::{
    url::Url,
    ws::{Policy, WsMessage},
};
use tokio::time::Instant;

use super::{
    SourceContext,
    freshness::{self, Freshness},
    session::{SessionEnd, SessionLink, SourceSession},
    side_requests,
};

/// Bounds of the socket.
pub const POLICY: Policy = Policy {
    message_max: relay::FRAME_MAX,
    ping_every: Duration::from_secs(20),
    pong_timeout: Duration::from_secs(15),
};

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
    pub memory: Remembered,
}

/// Time after which a list of currencies that lacks one that is wanted is asked for again on the same connection: a
/// relay that has just been started lists few.
pub const CATALOGUE_RETRY: Duration = Duration::from_secs(15 * 60);

/// What is remembered from one connection to the next.
#[derive(Debug, Default)]
pub struct Remembered {
    freshness: Freshness,
    /// The list of currencies had all that are wanted.
    catalogue_complete: bool,
}

/// What HTTP requests beside the WebSocket returned.
enum RelayHttpResult {
    /// The list of currencies.
    Catalogue(Option<Vec<Currency>>),
    /// The last block by the relay's own word.
    Tip(Option<u32>),
}

impl SourceSession for Relay {
    async fn run(&mut self, link: &mut SessionLink<'_>) -> Result<Infallible, SessionEnd> {
        let public = link.context().shared.upstreams.relay();
        let address = relay::socket_url(&self.endpoint, &public);
        let mut socket = link.open(&Url::parse(&address)?, POLICY).await?;
        for topic in relay::subscriptions(self.blocks, self.precise_fee, &self.currencies) {
            socket.send_binary(topic).await?;
        }
        self.memory.freshness.connected();
        let mut catalogue_asked: Option<Instant> = None;
        let mut asides: FuturesUnordered<BoxFuture<'_, RelayHttpResult>> = FuturesUnordered::new();
        let mut ticks = freshness::ticks();
        loop {
            tokio::select! {
                frame = link.next(&mut socket) => {
                    self.heard(link, frame?).await?;
                    let asked_lately =
                        catalogue_asked.is_some_and(|asked| asked.elapsed() < CATALOGUE_RETRY);
                    if link.is_up() && !self.memory.catalogue_complete && !asked_lately {
                        catalogue_asked = Some(Instant::now());
                        asides.push(catalogue(link.context(), &address).boxed());
                    }
                }
                Some(aside) = asides.next() => self.learned(link, aside).await?,
                _ = ticks.tick() => {
                    if self.blocks && self.memory.freshness.is_stale() && asides.is_empty() {
                        asides.push(tip(link.context(), &address).boxed());
                    }
                }
            }
        }
    }
}

impl Relay {
    async fn heard(
        &mut self,
        link: &mut SessionLink<'_>,
        frame: WsMessage,
    ) -> Result<(), SessionEnd> {
        let WsMessage::Binary(bytes) = frame else {
            // Text is not part of the protocol; some relays greet people with it.
            return Ok(());
        };
        match relay::frame(&bytes, self.precise_fee) {
            Ok(observations) => {
                self.memory.freshness.take_note(&observations);
                link.understood(observations).await
            }
            Err(malformed) => link.nonsense(malformed).await,
        }
    }

    async fn learned(
        &mut self,
        link: &mut SessionLink<'_>,
        aside: RelayHttpResult,
    ) -> Result<(), SessionEnd> {
        match aside {
            RelayHttpResult::Catalogue(None) | RelayHttpResult::Tip(None) => Ok(()),
            RelayHttpResult::Catalogue(Some(currencies)) => {
                let offered = |wanted| currencies.contains(wanted);
                self.memory.catalogue_complete = self.currencies.iter().all(offered);
                link.learned_beside(vec![Observation::Currencies(currencies)])
                    .await
            }
            RelayHttpResult::Tip(Some(tip)) if self.memory.freshness.confirmed_by(tip) => {
                link.learned_beside(vec![Observation::Block(tip)]).await
            }
            RelayHttpResult::Tip(Some(_)) => Err(SessionEnd::because(
                "the relay has newer blocks than its feed",
            )),
        }
    }
}

async fn catalogue(context: &SourceContext, socket_url: &str) -> RelayHttpResult {
    let Some(url) = relay::currencies_url(socket_url) else {
        return RelayHttpResult::Catalogue(None);
    };
    let most = relay::CURRENCIES_BODY_MAX;
    RelayHttpResult::Catalogue(side_requests::ask(context, &url, most, relay::currencies).await)
}

async fn tip(context: &SourceContext, socket_url: &str) -> RelayHttpResult {
    let Some(url) = relay::last_block_url(socket_url) else {
        return RelayHttpResult::Tip(None);
    };
    let most = relay::LAST_BLOCK_BODY_MAX;
    RelayHttpResult::Tip(side_requests::ask(context, &url, most, relay::last_block).await)
}
