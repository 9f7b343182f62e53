//! The owner's node, over any supported protocol.

use std::{convert::Infallible, time::Duration};

use device::sources::{NodeConfig, NodeKind};
use runtime::inbox::Stopped;

use super::{
    SourceContext,
    core_node::{Rest, Rpc},
    electrum::Electrum,
    peer::OwnPeer,
    poll, session,
};

/// Interval of the requests to a node that does not push.
pub const REQUEST_EVERY: Duration = Duration::from_secs(30);

/// Follows the owner's node for ever.
///
/// # Errors
/// The device has stopped.
pub async fn run(context: &SourceContext, node: NodeConfig) -> Result<Infallible, Stopped> {
    match node.kind {
        NodeKind::Bitcoin => session::run(context, OwnPeer::of(node)).await,
        NodeKind::Electrum => session::run(context, Electrum { node }).await,
        NodeKind::Rest => poll::run(context, REQUEST_EVERY, Rest { node }).await,
        NodeKind::Rpc => poll::run(context, REQUEST_EVERY, Rpc { node }).await,
    }
}
