//! The owner's node, over any supported protocol.

use std::convert::Infallible;

use device::sources::{NodeConfig, NodeKind};
use runtime::inbox::Stopped;

use super::{SourceContext, electrum::Electrum, peer::OwnPeer, session};

/// Follows the owner's node for ever.
///
/// # Errors
/// The device has stopped.
pub async fn run(context: &SourceContext, node: NodeConfig) -> Result<Infallible, Stopped> {
    match node.kind {
        NodeKind::Bitcoin => session::run(context, OwnPeer::of(node)).await,
        NodeKind::Electrum => session::run(context, Electrum { node }).await,
    }
}
