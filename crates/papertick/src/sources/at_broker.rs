//! What the door for MQTT leaves to the sources.

use std::sync::Arc;

use interface::mqtt::shared::{Reached, SharedMarket};

/// What the door for MQTT knows of a market that is shared.
#[derive(Debug, Clone, Default)]
pub enum AtBroker {
    /// The clock does not listen at a broker.
    #[default]
    Away,
    /// It listens, and nobody shares a market.
    Nothing,
    /// The newest that another clock has shared, and how it came here.
    Told(Arc<SharedMarket>, Reached),
}

impl AtBroker {
    /// The clock listens from now on; tells whether that is news. A broker may say what stands there before it says that.
    pub(crate) fn listen(&mut self) -> bool {
        match self {
            AtBroker::Away => {
                *self = AtBroker::Nothing;
                true
            }
            AtBroker::Nothing | AtBroker::Told(..) => false,
        }
    }
}
