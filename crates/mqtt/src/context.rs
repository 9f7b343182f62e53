//! What the MQTT client works with.

use std::sync::Arc;

use api::mqtt::documents::About;
use device::{mqtt::MqttPlan, settings::emit::BuildIdentity, view::View};
use net::{dialer::Dialer, url::bracketed};
use runtime::{clock::Clock, glass::DisplaySnapshot, inbox::Inbox};
use tokio::sync::watch;
use updates::newest::NewestRelease;

/// What the MQTT client works with.
#[derive(Debug, Clone)]
pub struct MqttContext {
    /// What the device wants of the broker.
    pub plans: watch::Receiver<MqttPlan>,
    /// What the device says of itself.
    pub view: watch::Receiver<Arc<View>>,
    /// What the panels show.
    pub glass: watch::Receiver<Arc<DisplaySnapshot>>,
    /// The way into the device.
    pub inbox: Inbox,
    /// Tells the time.
    pub clock: Clock,
    /// The way out.
    pub dialer: Dialer,
    /// Asks for the newest release.
    pub newest: NewestRelease,
    /// What the build and its parts are.
    pub identity: BuildIdentity,
    /// Port of the page.
    pub port: u16,
}

impl MqttContext {
    /// What the clock knows of itself that the view does not tell.
    pub fn about(&self, view: &View, updatable: Option<String>) -> About {
        About {
            identity: self.identity.clone(),
            page: page(&view.link.ip, self.port),
            updatable,
        }
    }
}

/// Address of the page; empty without an address of the clock.
fn page(ip: &str, port: u16) -> String {
    let host = bracketed(ip);
    match (ip, port) {
        ("", _) => String::new(),
        (_, 80) => format!("http://{host}/"),
        (_, port) => format!("http://{host}:{port}/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_the_address_of_the_clock() {
        for (ip, port, expected) in [
            ("192.0.2.7", 80, "http://192.0.2.7/"),
            ("192.0.2.7", 8080, "http://192.0.2.7:8080/"),
            ("2001:db8::7", 80, "http://[2001:db8::7]/"),
            ("2001:db8::7", 8080, "http://[2001:db8::7]:8080/"),
            ("", 80, ""),
            ("", 8080, ""),
        ] {
            assert_eq!(page(ip, port), expected, "{ip} {port}");
        }
    }
}
