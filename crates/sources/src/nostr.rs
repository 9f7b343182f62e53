//! Nostr relays: market data of one author, and zap receipts of some recipients.
//!
//! Both are a *feed*: a filter of events and a parser of verified ones.
//! All relays are followed at once; they share the state of the feed, so that an event from two relays counts once.

use std::{convert::Infallible, future, time::Duration};

use device::secret::Endpoint;
use feeds::{
    malformed::Malformed,
    nostr::{
        data::{self, DataFeed},
        event::{NostrEvent, VerifiedEvent},
        frame::{self, Filter, RelayMessage},
        zap::{self, ZapFeed},
    },
};
use futures_util::{StreamExt, stream::FuturesUnordered};
use market::{Observation, now::UtcTime};
use net::{
    url::Url,
    ws::{Policy, WsMessage},
};
use runtime::inbox::Stopped;
use tracing::Instrument;

use super::{
    SourceContext,
    already_reported::AlreadyReported,
    connection_group::GroupMember,
    session::{self, SessionEnd, SessionLink, SourceSession},
    shared_value::SharedValue,
};

/// Limits of the socket.
pub const POLICY: Policy = Policy {
    message_max: frame::FRAME_MAX,
    ping_every: Duration::from_secs(30),
    pong_timeout: Duration::from_secs(20),
};

/// Characters of a relay's own text that are reported.
const WORDS_MAX: usize = 120;

/// Events of one kind and their meaning; clones share their state.
pub trait Feed: Clone + Send + Sync {
    const SUBSCRIPTION: &'static str;

    /// The subscribed events.
    fn filter(&self, now: Option<UtcTime>) -> Filter;

    /// Parses a verified event.
    ///
    /// # Errors
    /// The event does not match the filter, or cannot be parsed.
    fn accept(
        &self,
        event: &VerifiedEvent,
        now: Option<UtcTime>,
    ) -> Result<Vec<Observation>, Malformed>;
}

/// Market data that one author publishes on Nostr.
#[derive(Debug, Clone)]
pub struct NostrDataSource {
    author: String,
    feed: SharedValue<DataFeed>,
}

impl NostrDataSource {
    /// The data of an author, given by 64 hex digits. `None` if they are no key.
    pub fn of(author: String) -> Option<NostrDataSource> {
        let feed = SharedValue::new(DataFeed::new(&author)?);
        Some(NostrDataSource { author, feed })
    }
}

impl Feed for NostrDataSource {
    const SUBSCRIPTION: &'static str = data::SUBSCRIPTION;

    fn filter(&self, _: Option<UtcTime>) -> Filter {
        DataFeed::filter(&self.author)
    }

    fn accept(
        &self,
        event: &VerifiedEvent,
        _: Option<UtcTime>,
    ) -> Result<Vec<Observation>, Malformed> {
        self.feed.with(|feed| feed.accept(event))
    }
}

/// Zap receipts of some recipients.
#[derive(Debug, Clone)]
pub struct Zaps {
    recipients: Vec<String>,
    feed: ZapFeed,
    already_reported: AlreadyReported,
}

impl Zaps {
    /// The zaps of recipients, given by 64 hex digits each, without those already reported. `None` if one is no key.
    pub fn of(recipients: Vec<String>, already_reported: AlreadyReported) -> Option<Zaps> {
        let feed = ZapFeed::new(&recipients)?;
        Some(Zaps {
            recipients,
            feed,
            already_reported,
        })
    }
}

impl Feed for Zaps {
    const SUBSCRIPTION: &'static str = zap::SUBSCRIPTION;

    fn filter(&self, now: Option<UtcTime>) -> Filter {
        ZapFeed::filter(&self.recipients, now)
    }

    fn accept(
        &self,
        event: &VerifiedEvent,
        now: Option<UtcTime>,
    ) -> Result<Vec<Observation>, Malformed> {
        let zap = self
            .already_reported
            .with_zaps(|shown| self.feed.accept(event, now, shown))?;
        Ok(zap.map(Observation::Zap).into_iter().collect())
    }
}

/// A feed on a relay. `None` as the feed if the key is invalid.
#[derive(Debug)]
pub struct Subscriber<F> {
    pub relay: Endpoint,
    pub feed: Option<F>,
}

/// Follows a feed on all relays, as one source.
///
/// # Errors
/// The device has stopped.
pub async fn run<F: Feed>(
    context: &SourceContext,
    mut relays: Vec<Endpoint>,
    feed: Option<F>,
) -> Result<Infallible, Stopped> {
    if relays.len() == 1
        && let Some(relay) = relays.pop()
    {
        return session::run(context, Subscriber { relay, feed }).await;
    }
    let members = GroupMember::of(relays.iter().map(Endpoint::masked));
    let sessions = relays.into_iter().zip(members).map(|(relay, member)| {
        let context = SourceContext {
            member: Some(member),
            ..context.clone()
        };
        let span = tracing::info_span!("relay", url = %relay);
        let feed = feed.clone();
        let session = async move { session::run(&context, Subscriber { relay, feed }).await };
        session.instrument(span)
    });
    let mut sessions: FuturesUnordered<_> = sessions.collect();
    match sessions.next().await {
        Some(ended) => ended,
        None => future::pending().await,
    }
}

impl<F: Feed> SourceSession for Subscriber<F> {
    async fn run(&mut self, link: &mut SessionLink<'_>) -> Result<Infallible, SessionEnd> {
        let url = Url::parse(self.relay.expose())?;
        let feed = self
            .feed
            .as_ref()
            .ok_or_else(|| SessionEnd::because("the public key that is set is not valid"))?;
        let mut socket = link.open(&url, POLICY).await?;
        let now = link.context().shared.clock.now().utc;
        let request = frame::subscribe(F::SUBSCRIPTION, &feed.filter(now));
        socket.send_text(request).await?;
        loop {
            match link.next(&mut socket).await? {
                WsMessage::Text(text) => handle_frame(feed, link, text.as_bytes()).await?,
                WsMessage::Binary(_) => link.reject_frame(Malformed("not-text")).await?,
            }
        }
    }
}

async fn handle_frame<F: Feed>(
    feed: &F,
    link: &mut SessionLink<'_>,
    text: &[u8],
) -> Result<(), SessionEnd> {
    let message = match frame::message(text) {
        Ok(message) => message,
        Err(malformed) => return link.reject_frame(malformed).await,
    };
    match message {
        RelayMessage::Event {
            subscription,
            event,
        } if subscription == F::SUBSCRIPTION => {
            let now = link.context().shared.clock.now().utc;
            match read(feed, event, now) {
                Ok(observations) => link.accept_frame(observations).await,
                Err(malformed) => link.reject_frame(malformed).await,
            }
        }
        RelayMessage::EndOfStored { subscription } if subscription == F::SUBSCRIPTION => {
            link.accept_frame(Vec::new()).await
        }
        RelayMessage::Closed {
            subscription,
            reason,
        } if subscription == F::SUBSCRIPTION => Err(SessionEnd::because(format!(
            "the relay ended the subscription: {}",
            words(&reason)
        ))),
        RelayMessage::Event { .. }
        | RelayMessage::EndOfStored { .. }
        | RelayMessage::Closed { .. } => link.reject_frame(Malformed("subscription")).await,
        RelayMessage::Notice(notice) => {
            tracing::debug!(notice = words(&notice), "notice of the relay");
            Ok(())
        }
        RelayMessage::Taken { .. } | RelayMessage::Other => Ok(()),
    }
}

fn read<F: Feed>(
    feed: &F,
    event: NostrEvent,
    now: Option<UtcTime>,
) -> Result<Vec<Observation>, Malformed> {
    feed.accept(&VerifiedEvent::verify(event)?, now)
}

/// A relay's own text, shortened and without control characters.
pub(super) fn words(text: &str) -> String {
    text.chars()
        .filter(|char| !char.is_control())
        .take(WORDS_MAX)
        .collect()
}
