//! A simulated radio and its network, with a small model of the link and the access point.

use std::time::Duration;

use device::{
    input::{LinkEvent, LinkFailure},
    output::WifiPlan,
    secret::Secret,
    settings::Settings,
};

/// Time from power-on after which the access point opens if no network was found.
const GRACE: Duration = Duration::from_secs(20);

/// A radio and the one network it knows.
#[derive(Debug, Clone, Default)]
pub struct SimulatedRadio {
    /// Credentials are on the disk.
    pub stored: bool,
    /// The network is in reach.
    pub in_reach: bool,
    attempts: u64,
    up: bool,
    was_up: bool,
    portal: bool,
    /// Everything was wiped; the restart is still to come.
    pub erasing: bool,
    away_since: Option<Duration>,
    portal_since: Option<Duration>,
}

impl SimulatedRadio {
    /// A radio with its network in range.
    pub fn new(stored: bool) -> SimulatedRadio {
        SimulatedRadio {
            stored,
            in_reach: true,
            ..SimulatedRadio::default()
        }
    }

    /// Resets the radio at power-on. Returns its first events.
    pub fn power_on(&mut self) -> Vec<LinkEvent> {
        *self = SimulatedRadio {
            stored: self.stored,
            in_reach: self.in_reach,
            portal: !self.stored,
            portal_since: (!self.stored).then_some(Duration::ZERO),
            away_since: self.stored.then_some(Duration::ZERO),
            ..SimulatedRadio::default()
        };
        vec![
            LinkEvent::Identity {
                suffix: "0a1b2c".into(),
                password: Secret::new("canary-of-the-access-point"),
            },
            LinkEvent::Credentials(self.stored),
        ]
    }

    /// Applies a plan. Returns the result of a new attempt to join.
    pub fn apply_plan(&mut self, plan: &WifiPlan) -> Option<LinkEvent> {
        if plan.attempts == self.attempts {
            return None;
        }
        self.attempts = plan.attempts;
        if !self.in_reach || !self.stored {
            return Some(LinkEvent::Down(LinkFailure::NotFound));
        }
        self.up = true;
        self.was_up = true;
        self.portal = false;
        self.away_since = None;
        self.portal_since = None;
        Some(LinkEvent::Up {
            ip: "192.168.1.20".into(),
            ssid: Some("Home".into()),
        })
    }

    /// Brings the network into reach or out of it. Returns an event if the connection is lost.
    pub fn set_reach(&mut self, in_reach: bool, uptime: Duration) -> Option<LinkEvent> {
        self.in_reach = in_reach;
        let lost = self.up && !in_reach;
        self.up &= in_reach;
        if lost {
            self.away_since = Some(uptime);
        }
        lost.then_some(LinkEvent::Down(LinkFailure::Lost))
    }

    /// Submits credentials to the portal. Returns the events of the radio.
    pub fn provision(&mut self, is_correct: bool) -> Vec<LinkEvent> {
        if !self.portal {
            return Vec::new();
        }
        let outcome = if is_correct && self.in_reach {
            self.stored = true;
            // A restart is scheduled, so the portal has no timeout any more.
            self.portal_since = None;
            LinkEvent::Provisioned
        } else {
            LinkEvent::Refused(LinkFailure::Auth)
        };
        vec![LinkEvent::Trying, outcome]
    }

    /// Opens the access point if no network was found in time.
    pub fn advance(&mut self, uptime: Duration) {
        if !self.portal && !self.was_up && self.stored && uptime >= GRACE {
            self.portal = true;
            self.away_since = None;
            self.portal_since = Some(uptime);
        }
    }

    /// Whether the access point should be up.
    pub fn is_portal(&self) -> bool {
        self.portal
    }

    /// Whether the radio should be connected.
    pub fn is_up(&self) -> bool {
        self.up
    }

    /// Asserts that the device restarts, or closes the access point, within the times of the settings.
    pub fn check_timeouts(&self, settings: &Settings, uptime: Duration) {
        let over = |since: Option<Duration>, limit: Duration| {
            since.is_some_and(|since| !limit.is_zero() && uptime > since + limit)
        };
        let away = Duration::from_secs(60 * u64::from(settings.wifi_reboot_min));
        assert!(!over(self.away_since, away), "no restart without a network");
        let open = Duration::from_secs(u64::from(settings.wp_timeout));
        assert!(
            !settings.wifi_configured || !over(self.portal_since, open),
            "the access point of a provisioned clock is open for too long"
        );
    }
}
