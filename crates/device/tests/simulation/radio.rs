//! The radio of a simulated world, what it joins, and in a few lines what must come of it.

use std::time::Duration;

use device::{
    input::{LinkEvent, LinkFailure},
    output::WifiPlan,
    secret::Secret,
    settings::Settings,
};

/// Time from power-on after which a network that was never there is given up for the access point.
const GRACE: Duration = Duration::from_secs(20);

/// A radio in the reach of one network.
#[derive(Debug, Clone, Default)]
pub struct Air {
    /// Credentials are on the disk.
    pub stored: bool,
    /// The network is there.
    pub in_reach: bool,
    attempts: u64,
    up: bool,
    was_up: bool,
    portal: bool,
    /// Everything was wiped, and a restart is due.
    pub erasing: bool,
    away_since: Option<Duration>,
    portal_since: Option<Duration>,
}

impl Air {
    /// A radio whose network is there.
    pub fn new(stored: bool) -> Air {
        Air {
            stored,
            in_reach: true,
            ..Air::default()
        }
    }

    /// The power comes on; returns what the radio says first.
    pub fn power_on(&mut self) -> Vec<LinkEvent> {
        *self = Air {
            stored: self.stored,
            in_reach: self.in_reach,
            portal: !self.stored,
            portal_since: (!self.stored).then_some(Duration::ZERO),
            away_since: self.stored.then_some(Duration::ZERO),
            ..Air::default()
        };
        vec![
            LinkEvent::Identity {
                suffix: "0a1b2c".into(),
                password: Secret::new("canary-of-the-access-point"),
            },
            LinkEvent::Credentials(self.stored),
        ]
    }

    /// Does as the plan says; returns what comes of it.
    pub fn follow(&mut self, plan: &WifiPlan) -> Option<LinkEvent> {
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

    /// The network comes or goes; returns what the radio says of it.
    pub fn set_reach(&mut self, in_reach: bool, uptime: Duration) -> Option<LinkEvent> {
        self.in_reach = in_reach;
        let lost = self.up && !in_reach;
        self.up &= in_reach;
        if lost {
            self.away_since = Some(uptime);
        }
        lost.then_some(LinkEvent::Down(LinkFailure::Lost))
    }

    /// Somebody sends the portal credentials; returns what the radio says of them.
    pub fn provision(&mut self, right: bool) -> Vec<LinkEvent> {
        if !self.portal {
            return Vec::new();
        }
        let outcome = if right && self.in_reach {
            self.stored = true;
            // The restart is due already.
            self.portal_since = None;
            LinkEvent::Provisioned
        } else {
            LinkEvent::Refused(LinkFailure::Auth)
        };
        vec![LinkEvent::Trying, outcome]
    }

    /// Lets time pass.
    pub fn pass(&mut self, uptime: Duration) {
        if !self.portal && !self.was_up && self.stored && uptime >= GRACE {
            self.portal = true;
            self.away_since = None;
            self.portal_since = Some(uptime);
        }
    }

    /// The access point should be up.
    pub fn is_portal(&self) -> bool {
        self.portal
    }

    /// There should be an address.
    pub fn is_up(&self) -> bool {
        self.up
    }

    /// Asserts that nothing takes longer than the settings allow.
    pub fn has_patience(&self, settings: &Settings, uptime: Duration) {
        let over = |since: Option<Duration>, limit: Duration| {
            since.is_some_and(|since| !limit.is_zero() && uptime > since + limit)
        };
        let away = Duration::from_secs(60 * u64::from(settings.wifi_reboot_min));
        assert!(!over(self.away_since, away), "no restart without a network");
        let open = Duration::from_secs(u64::from(settings.wp_timeout));
        assert!(
            !settings.wifi_configured || !over(self.portal_since, open),
            "the access point of a provisioned clock stays open"
        );
    }
}
