//! The exchange: prices over one socket.

use std::{convert::Infallible, future, time::Duration};

use feeds::{exchange, malformed::Malformed};
use market::units::Currency;
use net::{
    url::Url,
    ws::{Policy, WsMessage},
};

use super::session::{SessionEnd, SessionLink, SourceSession};

/// Limits of the socket.
pub const POLICY: Policy = Policy {
    message_max: exchange::FRAME_MAX,
    ping_every: Duration::from_secs(30),
    pong_timeout: Duration::from_secs(20),
};

#[derive(Debug)]
pub struct Exchange {
    pub currencies: Vec<Currency>,
}

impl SourceSession for Exchange {
    async fn run(&mut self, link: &mut SessionLink<'_>) -> Result<Infallible, SessionEnd> {
        let Some(subscription) = exchange::subscription(&self.currencies) else {
            // Without a currency there is no connection until the plan changes.
            return future::pending().await;
        };
        let url = Url::parse(&link.context().shared.upstreams.exchange())?;
        let mut socket = link.open(&url, POLICY).await?;
        socket.send_text(subscription).await?;
        loop {
            match link.next(&mut socket).await? {
                WsMessage::Text(text) => match exchange::frame(text.as_bytes()) {
                    Ok(observations) => link.accept_frame(observations).await?,
                    Err(malformed) => link.reject_frame(malformed).await?,
                },
                WsMessage::Binary(_) => link.reject_frame(Malformed("not-text")).await?,
            }
        }
    }
}
