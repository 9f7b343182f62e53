//! The connection to one peer, and the state that all connections share.

use std::{collections::BTreeSet, convert::Infallible, sync::Arc};

use chain::{BlockHash, network::Network};
use net::dialer::{Destination, TransportSecurity};
use tokio::{
    sync::{Notify, Semaphore, oneshot},
    time::Instant,
};

use super::candidates::Candidate;
use crate::{
    SourceContext,
    peer::{Following, PeerConnection, PeerEnd, PeerReply},
    shared_value::SharedValue,
};

#[derive(Debug, Clone)]
pub(super) struct PeerShared {
    pub(super) progress: SharedValue<PeerProgress>,
    /// Notified when a peer has sent headers.
    pub(super) headers_received: Arc<Notify>,
    /// Only one peer has a pending request.
    pub(super) turn: Arc<Semaphore>,
}

/// What the peers have sent so far.
#[derive(Debug, Clone, Default)]
pub(super) struct PeerProgress {
    /// When the last block arrived, from any source.
    pub(super) last_block_at: Option<Instant>,
    /// Their newest block.
    pub(super) tip: Option<BlockHash>,
    /// Places whose peers have sent headers.
    pub(super) up: BTreeSet<u8>,
}

/// Runs a connection until it is released. It must not report afterwards, because its place may be taken by another
/// peer.
pub(super) async fn until_released(
    connection: impl Future<Output = Result<Infallible, PeerEnd>>,
    released: oneshot::Receiver<Infallible>,
) -> PeerEnd {
    tokio::select! {
        biased;
        _ = released => PeerEnd::Stopped,
        result = connection => {
            let Err(end) = result;
            end
        }
    }
}

/// Follows the headers of a peer while it answers correctly.
pub(super) async fn follow_peer(
    context: &SourceContext,
    network: Network,
    candidate: &Candidate,
    place: u8,
    shared: PeerShared,
) -> Result<Infallible, PeerEnd> {
    let destination = Destination {
        host: &candidate.host,
        port: candidate.port,
        security: TransportSecurity::Plain,
    };
    let dialer = &context.shared.dialer;
    let stream = dialer.connect(&context.route, destination).await;
    let stream = stream.map_err(|error| PeerEnd::Failed(error.to_string()))?;
    let wire = PeerConnection::handshake(stream, network, context).await?;
    let mut following = Following::of(context, place, wire, Arc::clone(&shared.turn));
    loop {
        let PeerReply::Headers(reply) = following.next().await? else {
            continue;
        };
        shared.progress.with(|progress| {
            if reply.refused.is_none() {
                progress.up.insert(place);
            }
            let tip = reply.locator.first().filter(|_| reply.is_tip);
            if reply.is_new || (tip.is_some() && tip != progress.tip.as_ref()) {
                progress.last_block_at = Some(Instant::now());
                progress.tip = tip.copied();
            }
        });
        shared.headers_received.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, task::Poll};

    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_released_peer_reports_nothing() {
        // Without the check it would report in half of the runs.
        for _ in 0..64 {
            let (keep_alive, released) = oneshot::channel();
            let mut polls = 0;
            {
                let connection = async {
                    poll_fn(|_| {
                        polls += 1;
                        Poll::Pending
                    })
                    .await
                };
                let mut connection = std::pin::pin!(until_released(connection, released));
                assert_eq!(connection.as_mut().now_or_never(), None);
                drop(keep_alive);
                assert_eq!(connection.await, PeerEnd::Stopped);
            }
            assert_eq!(polls, 1);
        }
    }
}
