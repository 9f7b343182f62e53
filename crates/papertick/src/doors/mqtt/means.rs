//! What the door to the broker is given.

use std::sync::Arc;

use device::{mqtt::MqttPlan, settings::emit::Identity, view::View};
use interface::mqtt::documents::About;
use net::{dialer::Dialer, url::bracketed};
use tokio::sync::watch;

use crate::{
    clock::Clock, glass::Glass, inbox::Inbox, sources::at_broker::AtBroker, updates::newest::Newest,
};

/// What the door is given.
#[derive(Debug, Clone)]
pub struct Means {
    /// What the device wants of the broker.
    pub plans: watch::Receiver<MqttPlan>,
    /// What the device says of itself.
    pub view: watch::Receiver<Arc<View>>,
    /// What the panels show.
    pub glass: watch::Receiver<Arc<Glass>>,
    /// The way into the device.
    pub inbox: Inbox,
    /// Tells the time.
    pub clock: Clock,
    /// The way out.
    pub dialer: Dialer,
    /// Where what another clock shares is left for the source that reads it.
    pub market: watch::Sender<AtBroker>,
    /// Asks for the newest release.
    pub newest: Newest,
    /// What the build and its parts are.
    pub identity: Identity,
    /// Port of the page.
    pub port: u16,
}

impl Means {
    /// What the clock knows of itself that the view does not tell.
    pub(crate) fn about(&self, view: &View, updatable: Option<String>) -> About {
        let ip = view.link.ip.as_str();
        let host = bracketed(ip);
        let page = match (ip, self.port) {
            ("", _) => String::new(),
            (_, 80) => format!("http://{host}/"),
            (_, port) => format!("http://{host}:{port}/"),
        };
        About {
            identity: self.identity.clone(),
            page,
            updatable,
        }
    }
}
