//! Handles and facts that the MQTT client needs.

use std::sync::Arc;

use api::mqtt::documents::ProgramInfo;
use device::{mqtt::MqttPlan, settings::emit::BuildIdentity, view::View};
use net::{dialer::Dialer, url::bracketed};
use runtime::{clock::Clock, inbox::Inbox, panels::PanelsSnapshot};
use tokio::sync::watch;
use updates::newest::NewestRelease;

/// Handles and facts that the MQTT client needs.
#[derive(Debug, Clone)]
pub struct MqttContext {
    /// The broker that the device needs, if any.
    pub plans: watch::Receiver<MqttPlan>,
    /// State of the device.
    pub view: watch::Receiver<Arc<View>>,
    /// What the panels show.
    pub glass: watch::Receiver<Arc<PanelsSnapshot>>,
    /// Queue into the device.
    pub inbox: Inbox,
    pub clock: Clock,
    /// Makes outbound connections.
    pub dialer: Dialer,
    pub newest: NewestRelease,
    /// Versions of the program and its parts.
    pub identity: BuildIdentity,
    /// HTTP port of the clock.
    pub port: u16,
}

impl MqttContext {
    /// Facts about the program that are not in the view.
    pub fn program_info(&self, view: &View, updatable_version: Option<String>) -> ProgramInfo {
        ProgramInfo {
            identity: self.identity.clone(),
            page_url: page_url(&view.link.ip, self.port),
            updatable_version,
        }
    }
}

/// URL of the clock's page; empty if the clock has no address.
fn page_url(ip: &str, port: u16) -> String {
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
    fn page_urls_omit_the_default_port() {
        for (ip, port, expected) in [
            ("192.0.2.7", 80, "http://192.0.2.7/"),
            ("192.0.2.7", 8080, "http://192.0.2.7:8080/"),
            ("2001:db8::7", 80, "http://[2001:db8::7]/"),
            ("2001:db8::7", 8080, "http://[2001:db8::7]:8080/"),
            ("", 80, ""),
            ("", 8080, ""),
        ] {
            assert_eq!(page_url(ip, port), expected, "{ip} {port}");
        }
    }
}
