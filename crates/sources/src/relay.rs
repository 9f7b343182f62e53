//! The relay service: blocks, fees and prices over one socket, with a check for a feed that has stopped.

use std::{convert::Infallible, time::Duration};

use device::sources::RelayConfig;
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

/// Limits of the socket.
pub const POLICY: Policy = Policy {
    message_max: relay::FRAME_MAX,
    ping_every: Duration::from_secs(20),
    pong_timeout: Duration::from_secs(15),
};

/// A relay, with state kept across connections.
#[derive(Debug)]
pub struct Relay {
    config: RelayConfig,
    freshness: Freshness,
    /// The list of currencies had all configured ones.
    catalogue_complete: bool,
}

/// Time after which a currency list that lacks a configured currency is fetched again on the same connection: a relay
/// that has just started lists few.
pub const CATALOGUE_RETRY: Duration = Duration::from_secs(15 * 60);

/// Result of the HTTP requests beside the socket.
enum RelayHttpResult {
    /// The list of currencies.
    Catalogue(Option<Vec<Currency>>),
    /// The last block according to the relay's HTTP interface.
    Tip(Option<u32>),
}

impl SourceSession for Relay {
    async fn run(&mut self, link: &mut SessionLink<'_>) -> Result<Infallible, SessionEnd> {
        let public = link.context().shared.upstreams.relay();
        let address = relay::socket_url(&self.config.endpoint, &public);
        let mut socket = link.open(&Url::parse(&address)?, POLICY).await?;
        for topic in relay::subscriptions(
            self.config.blocks,
            self.config.precise_fee,
            &self.config.currencies,
        ) {
            socket.send_binary(topic).await?;
        }
        self.freshness.connected();
        let mut catalogue_requested: Option<Instant> = None;
        let mut asides: FuturesUnordered<BoxFuture<'_, RelayHttpResult>> = FuturesUnordered::new();
        let mut ticks = freshness::ticks();
        loop {
            tokio::select! {
                frame = link.next(&mut socket) => {
                    self.handle_frame(link, frame?).await?;
                    let requested_lately =
                        catalogue_requested.is_some_and(|at| at.elapsed() < CATALOGUE_RETRY);
                    if link.is_up() && !self.catalogue_complete && !requested_lately {
                        catalogue_requested = Some(Instant::now());
                        asides.push(catalogue(link.context(), &address).boxed());
                    }
                }
                Some(result) = asides.next() => self.handle_http_result(link, result).await?,
                _ = ticks.tick() => {
                    if self.config.blocks && self.freshness.is_stale() && asides.is_empty() {
                        asides.push(tip(link.context(), &address).boxed());
                    }
                }
            }
        }
    }
}

impl Relay {
    /// A relay that was never connected.
    pub fn new(config: RelayConfig) -> Relay {
        Relay {
            config,
            freshness: Freshness::default(),
            catalogue_complete: false,
        }
    }

    async fn handle_frame(
        &mut self,
        link: &mut SessionLink<'_>,
        frame: WsMessage,
    ) -> Result<(), SessionEnd> {
        let WsMessage::Binary(bytes) = frame else {
            // Text is not part of the protocol; some relays send a greeting.
            return Ok(());
        };
        match relay::frame(&bytes, self.config.precise_fee) {
            Ok(observations) => {
                self.freshness.record(&observations);
                link.accept_frame(observations).await
            }
            Err(malformed) => link.reject_frame(malformed).await,
        }
    }

    async fn handle_http_result(
        &mut self,
        link: &mut SessionLink<'_>,
        result: RelayHttpResult,
    ) -> Result<(), SessionEnd> {
        match result {
            RelayHttpResult::Catalogue(None) | RelayHttpResult::Tip(None) => Ok(()),
            RelayHttpResult::Catalogue(Some(currencies)) => {
                let offered = |wanted| currencies.contains(wanted);
                self.catalogue_complete = self.config.currencies.iter().all(offered);
                link.report_values(vec![Observation::Currencies(currencies)])
                    .await
            }
            RelayHttpResult::Tip(Some(tip)) if self.freshness.confirmed_by(tip) => {
                link.report_values(vec![Observation::Block(tip)]).await
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
    RelayHttpResult::Catalogue(side_requests::fetch(context, &url, most, relay::currencies).await)
}

async fn tip(context: &SourceContext, socket_url: &str) -> RelayHttpResult {
    let Some(url) = relay::last_block_url(socket_url) else {
        return RelayHttpResult::Tip(None);
    };
    let most = relay::LAST_BLOCK_BODY_MAX;
    RelayHttpResult::Tip(side_requests::fetch(context, &url, most, relay::last_block).await)
}
