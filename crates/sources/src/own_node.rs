//! The owner's node, whatever it speaks.

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

/// Time between two questions to a node that does not speak by itself.
pub const ASK_EVERY: Duration = Duration::from_secs(30);

/// Follows the owner's node for ever.
///
/// # Errors
/// The device has stopped.
pub async fn keep(context: &SourceContext, node: NodeConfig) -> Result<Infallible, Stopped> {
    match node.kind {
        NodeKind::Bitcoin => session::keep(context, OwnPeer::of(node)).await,
        NodeKind::Electrum => session::keep(context, Electrum { node }).await,
        NodeKind::Rest => poll::keep(context, ASK_EVERY, Rest { node }).await,
        NodeKind::Rpc => poll::keep(context, ASK_EVERY, Rpc { node }).await,
    }
}
