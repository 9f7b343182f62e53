//! The block explorer: blocks and fees over one socket, with two initial HTTP requests.

use std::{convert::Infallible, time::Duration};

use device::sources::ExplorerConfig;
use feeds::{explorer, malformed::Malformed};
use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use market::Observation;
use net::{
    url::Url,
    ws::{Policy, WsMessage},
};

use super::{
    SourceContext,
    freshness::{self, Freshness},
    session::{SessionEnd, SessionLink, SourceSession},
    side_requests,
};

/// Limits of the socket.
pub const POLICY: Policy = Policy {
    message_max: explorer::FRAME_MAX,
    ping_every: Duration::from_secs(30),
    pong_timeout: Duration::from_secs(20),
};

#[derive(Debug)]
pub struct Explorer {
    pub config: ExplorerConfig,
    /// Age of the last block.
    pub freshness: Freshness,
}

/// Result of the HTTP requests beside the socket. Empty if there was no response.
enum ExplorerHttpResult {
    /// Initial values.
    First(Vec<Observation>),
    /// The tip according to the explorer's HTTP interface.
    Tip(Vec<Observation>),
}

impl SourceSession for Explorer {
    async fn run(&mut self, link: &mut SessionLink<'_>) -> Result<Infallible, SessionEnd> {
        let host = self.config.host.expose();
        let address = explorer::socket_url(host, self.config.tls);
        let mut socket = link.open(&Url::parse(&address)?, POLICY).await?;
        socket.send_text(explorer::WANT.to_owned()).await?;
        self.freshness.connected();
        let tip_url = explorer::tip_url(host, self.config.tls);
        let fee_url = explorer::projected_url(host, self.config.tls);
        let precise_fee = self.config.precise_fee;
        let context = link.context();
        let mut asides: FuturesUnordered<BoxFuture<'_, ExplorerHttpResult>> =
            FuturesUnordered::new();
        asides.push(
            tip(context, &tip_url)
                .map(ExplorerHttpResult::First)
                .boxed(),
        );
        asides.push(
            fee(context, &fee_url, precise_fee)
                .map(ExplorerHttpResult::First)
                .boxed(),
        );
        let mut ticks = freshness::ticks();
        loop {
            tokio::select! {
                frame = link.next(&mut socket) => self.handle_frame(link, frame?).await?,
                Some(result) = asides.next() => self.handle_http_result(link, result).await?,
                _ = ticks.tick() => {
                    if self.freshness.is_stale() && asides.is_empty() {
                        asides.push(tip(context, &tip_url).map(ExplorerHttpResult::Tip).boxed());
                    }
                }
            }
        }
    }
}

impl Explorer {
    async fn handle_frame(
        &mut self,
        link: &mut SessionLink<'_>,
        frame: WsMessage,
    ) -> Result<(), SessionEnd> {
        let WsMessage::Text(text) = frame else {
            return link.reject_frame(Malformed("not-text")).await;
        };
        match explorer::frame(text.as_bytes(), self.config.precise_fee) {
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
        result: ExplorerHttpResult,
    ) -> Result<(), SessionEnd> {
        match result {
            ExplorerHttpResult::First(observations) => {
                self.freshness.record(&observations);
                link.report_values(observations).await
            }
            ExplorerHttpResult::Tip(observations) => match observations.first() {
                Some(Observation::Block(tip)) if !self.freshness.confirmed_by(*tip) => Err(
                    SessionEnd::because("the explorer has newer blocks than its feed"),
                ),
                Some(_) | None => link.report_values(observations).await,
            },
        }
    }
}

async fn tip(context: &SourceContext, url: &str) -> Vec<Observation> {
    let tip = side_requests::fetch(context, url, explorer::TIP_BODY_MAX, explorer::tip_body).await;
    tip.unwrap_or_default()
}

async fn fee(context: &SourceContext, url: &str, precise_fee: bool) -> Vec<Observation> {
    let read = |body: &[u8]| explorer::projected_body(body, precise_fee);
    let fees = side_requests::fetch(context, url, explorer::PROJECTED_BODY_MAX, read).await;
    fees.unwrap_or_default()
}
