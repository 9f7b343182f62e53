//! The network as the core sees it.

use alloc::string::String;
use core::time::Duration;

use crate::{input::LinkEvent, output::WifiPlan, settings::Settings, view::LinkState};

/// State of the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    state: State,
    since: Duration,
    ip: String,
    ssid: Option<String>,
    rssi: i32,
    suffix: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    Connected,
    Disconnected,
}

impl Default for Link {
    fn default() -> Link {
        Link {
            state: State::Idle,
            since: Duration::ZERO,
            ip: String::new(),
            ssid: None,
            rssi: 0,
            suffix: "000000".into(),
        }
    }
}

impl Link {
    /// Takes note of what the network says; tells whether the device has just got its first address.
    pub fn hear(&mut self, event: LinkEvent, uptime: Duration) -> bool {
        let is_first_address = self.state == State::Idle && matches!(event, LinkEvent::Up { .. });
        match event {
            LinkEvent::Up { ip, ssid } => {
                self.enter(State::Connected, uptime);
                self.ip = ip;
                self.ssid = ssid;
            }
            LinkEvent::Down(_) => {
                self.enter(State::Disconnected, uptime);
                self.ip.clear();
                self.rssi = 0;
            }
            LinkEvent::Rssi(dbm) => self.rssi = dbm,
            LinkEvent::Identity { suffix } => self.suffix = suffix,
            LinkEvent::Credentials(_) | LinkEvent::Unmanaged | LinkEvent::Provisioned => {}
        }
        is_first_address
    }

    /// Host name, without a domain.
    pub fn hostname(&self, settings: &Settings) -> String {
        settings.hostname(&self.suffix)
    }

    /// Tells whether there was a network and it is gone.
    pub fn is_lost(&self) -> bool {
        self.state == State::Disconnected
    }

    /// Address; empty if there is none.
    pub fn ip(&self) -> &str {
        &self.ip
    }

    /// Name of the network; empty on a wire.
    pub fn ssid(&self) -> &str {
        self.ssid.as_deref().unwrap_or_default()
    }

    /// What the radio should do.
    pub fn plan(&self, settings: &Settings) -> WifiPlan {
        WifiPlan {
            station: true,
            attempts: 0,
            access_point: false,
            tx_power: settings.tx_power,
        }
    }

    /// State for clients.
    pub fn state(&self) -> LinkState {
        let state = match self.state {
            State::Idle => "idle",
            State::Connected => "connected",
            State::Disconnected => "disconnected",
        };
        LinkState {
            state,
            ip: self.ip.clone(),
            ssid: self.ssid().into(),
            rssi: self.rssi,
            since: self.since,
        }
    }

    fn enter(&mut self, state: State, uptime: Duration) {
        if self.state != state {
            self.state = state;
            self.since = uptime;
        }
    }
}
