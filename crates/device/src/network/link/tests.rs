//! Transitions of the state machine as in the interface document, and tables of its timeouts.

#![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

use alloc::string::ToString;

use super::*;

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A link with a radio, and its settings.
struct LinkFixture {
    link: NetworkLink,
    settings: Settings,
    uptime: Duration,
}

impl LinkFixture {
    fn new() -> LinkFixture {
        let mut link = NetworkLink::default();
        let identity = LinkEvent::Identity {
            suffix: "efabcd".into(),
            password: Secret::new("hunter22"),
        };
        link.apply(identity, Duration::ZERO);
        LinkFixture {
            link,
            settings: Settings::default(),
            uptime: Duration::ZERO,
        }
    }

    /// A clock with a stored network.
    fn provisioned() -> LinkFixture {
        let mut bench = LinkFixture::new();
        bench.settings.wifi_configured = true;
        bench.apply(LinkEvent::Credentials(true));
        bench
    }

    fn connected() -> LinkFixture {
        let mut bench = LinkFixture::provisioned();
        bench.up();
        bench
    }

    fn portal() -> LinkFixture {
        let mut bench = LinkFixture::new();
        bench.apply(LinkEvent::Credentials(false));
        bench
    }

    fn apply(&mut self, event: LinkEvent) -> LinkNews {
        self.link.apply(event, self.uptime)
    }

    fn up(&mut self) -> LinkNews {
        self.apply(LinkEvent::Up {
            ip: "192.0.2.7".into(),
            ssid: Some("Home".into()),
        })
    }

    fn down(&mut self, failure: LinkFailure) {
        self.apply(LinkEvent::Down(failure));
    }

    /// Advances the time, stopping at every deadline; returns the first reason to restart.
    fn wait(&mut self, time: Duration) -> Option<RebootReason> {
        let end = self.uptime + time;
        let mut reason = None;
        let mut steps = 0;
        while let Some(at) = self
            .link
            .next_deadline(&self.settings)
            .filter(|at| *at <= end)
        {
            self.uptime = self.uptime.max(at);
            reason = reason.or(self.link.advance(&self.settings, self.uptime));
            steps += 1;
            assert!(steps < 10_000, "the deadline does not move");
        }
        self.uptime = end;
        reason.or(self.link.advance(&self.settings, end))
    }

    fn state(&self) -> &'static str {
        self.link.state().state
    }

    fn plan(&self) -> WifiPlan {
        self.link.plan(&self.settings)
    }
}

#[test]
fn idle_to_connecting_by_connect_with_credentials_stored() {
    let mut bench = LinkFixture::new();
    assert_eq!(bench.state(), "idle");
    bench.apply(LinkEvent::Credentials(true));
    assert_eq!((bench.state(), bench.plan().attempts), ("connecting", 1));
    assert_eq!(bench.plan().access_point, None);
}

#[test]
fn idle_to_access_point_without_credentials() {
    let bench = LinkFixture::portal();
    assert_eq!((bench.state(), bench.plan().attempts), ("access-point", 0));
    let access_point = bench.plan().access_point.unwrap();
    assert_eq!(access_point.ssid, "papertick-ABCD");
    assert_eq!(access_point.password.expose(), "hunter22");
}

#[test]
fn connecting_to_connected_by_an_address() {
    let mut bench = LinkFixture::provisioned();
    assert_eq!(bench.up(), LinkNews::FirstAddress);
    assert_eq!(bench.state(), "connected");
    assert_eq!((bench.link.ip(), bench.link.ssid()), ("192.0.2.7", "Home"));
}

#[test]
fn connecting_to_disconnected_by_any_failure() {
    for failure in LinkFailure::all() {
        let mut bench = LinkFixture::provisioned();
        bench.down(failure);
        assert_eq!(bench.state(), "disconnected");
        assert_eq!(bench.link.state().failure, Some(failure.name()));
    }
}

#[test]
fn connecting_to_disconnected_when_the_radio_reports_nothing() {
    let mut bench = LinkFixture::connected();
    bench.down(LinkFailure::Lost);
    bench.wait(secs(5));
    assert_eq!(bench.state(), "connecting");
    bench.wait(JOIN_MAX - Duration::from_millis(1));
    assert_eq!(bench.state(), "connecting");
    bench.wait(Duration::from_millis(1));
    assert_eq!(bench.state(), "disconnected");
    assert_eq!(bench.link.state().failure, Some("timeout"));
}

#[test]
fn connected_to_disconnected_by_a_link_drop() {
    let mut bench = LinkFixture::connected();
    bench.apply(LinkEvent::Rssi(-50));
    bench.down(LinkFailure::Lost);
    assert_eq!(bench.state(), "disconnected");
    assert_eq!((bench.link.ip(), bench.link.state().rssi), ("", 0));
}

#[test]
fn disconnected_to_connecting_by_auto_retry_after_5_s() {
    let mut bench = LinkFixture::connected();
    bench.down(LinkFailure::Lost);
    bench.wait(Duration::from_millis(4999));
    assert_eq!((bench.state(), bench.plan().attempts), ("disconnected", 1));
    bench.wait(Duration::from_millis(1));
    assert_eq!((bench.state(), bench.plan().attempts), ("connecting", 2));
}

#[test]
fn retries_go_on_for_as_long_as_the_network_is_away() {
    let mut bench = LinkFixture::connected();
    bench.settings.wifi_reboot_min = 0;
    bench.down(LinkFailure::Lost);
    for attempt in 2..1000 {
        assert_eq!(bench.wait(secs(5)), None);
        assert_eq!(
            (bench.state(), bench.plan().attempts),
            ("connecting", attempt)
        );
        bench.down(LinkFailure::NotFound);
    }
}

#[test]
fn disconnected_to_access_point_by_guard_escalation() {
    let mut bench = LinkFixture::provisioned();
    bench.down(LinkFailure::NotFound);
    bench.wait(secs(6));
    bench.down(LinkFailure::NotFound);
    bench.wait(Duration::from_millis(13_999));
    bench.down(LinkFailure::NotFound);
    assert_eq!(bench.state(), "disconnected");
    bench.wait(Duration::from_millis(1));
    assert_eq!(bench.state(), "access-point");
    assert!(bench.plan().access_point.is_some());
}

#[test]
fn access_point_to_connecting_by_credentials_from_the_portal() {
    let mut bench = LinkFixture::portal();
    bench.apply(LinkEvent::Trying);
    assert_eq!(bench.state(), "connecting");
    assert!(
        bench.plan().access_point.is_some(),
        "whoever waits for the answer must get it"
    );
    assert_eq!(bench.plan().attempts, 0, "the stored network is not tried");
}

#[test]
fn access_point_to_reboot_by_credentials_saved() {
    let mut bench = LinkFixture::portal();
    bench.apply(LinkEvent::Trying);
    assert_eq!(bench.apply(LinkEvent::Provisioned), LinkNews::Provisioned);
    assert_eq!(bench.wait(secs(100_000)), None, "nothing else is due");
}

#[test]
fn a_portal_attempt_that_fails_leaves_the_access_point_up() {
    for failure in LinkFailure::all() {
        let mut bench = LinkFixture::portal();
        bench.apply(LinkEvent::Trying);
        bench.apply(LinkEvent::Refused(failure));
        assert_eq!(bench.state(), "access-point");
        assert_eq!(bench.link.state().failure, Some(failure.name()));
    }
}

#[test]
fn an_address_during_a_portal_attempt_is_not_the_answer() {
    let mut bench = LinkFixture::portal();
    bench.apply(LinkEvent::Trying);
    bench.up();
    assert_eq!(bench.state(), "connecting");
    bench.apply(LinkEvent::Refused(LinkFailure::Timeout));
    assert_eq!(bench.state(), "access-point");
}

/// When the access point comes up, as `(connected once, up already, connected, seconds since the first attempt, up)`.
#[test]
fn the_fallback_waits_for_its_grace() {
    for (connected_once, up, connected, after, expected) in [
        (false, false, false, 19_999, false),
        (false, false, false, 20_000, true),
        (false, false, false, 80_000, true),
        (false, false, true, 20_001, false),
        (false, true, false, 20_001, true),
        (true, false, false, 599_000, false),
    ] {
        let mut bench = LinkFixture::provisioned();
        if connected_once || connected {
            bench.up();
        }
        if connected_once {
            bench.down(LinkFailure::Lost);
        }
        if up {
            bench.wait(FALLBACK_GRACE);
        }
        let left = Duration::from_millis(after).saturating_sub(bench.uptime);
        bench.wait(left);
        assert_eq!(
            bench.link.is_portal(),
            expected,
            "once {connected_once}, up {up}, connected {connected}, {after} ms"
        );
    }
}

#[test]
fn behind_the_fallback_the_stored_network_is_still_tried() {
    let mut bench = LinkFixture::provisioned();
    bench.down(LinkFailure::NotFound);
    bench.wait(FALLBACK_GRACE);
    assert_eq!(bench.state(), "access-point");
    let before = bench.plan().attempts;
    for attempt in 1..20 {
        bench.wait(secs(5));
        assert_eq!(bench.plan().attempts, before + attempt);
        bench.down(LinkFailure::NotFound);
    }
    // An attempt without an answer of the radio is repeated later.
    let before = bench.plan().attempts;
    bench.wait(secs(100));
    assert_eq!(bench.plan().attempts, before + 3);
}

#[test]
fn the_fallback_ends_when_the_network_is_back() {
    let mut bench = LinkFixture::provisioned();
    bench.wait(secs(30));
    assert_eq!(bench.state(), "access-point");
    assert_eq!(bench.up(), LinkNews::FirstAddress);
    assert_eq!(bench.state(), "connected");
    assert_eq!(bench.plan().access_point, None);
    // The fallback applies only before the first connection.
    bench.down(LinkFailure::Lost);
    bench.wait(secs(500));
    assert!(!bench.link.is_portal());
}

/// When an outage causes a restart, as `(ms of outage, minutes set, restart)`.
#[test]
fn the_outage_guard_restarts_after_its_minutes() {
    const MINUTE: u64 = 60_000;
    for (outage, minutes, expected) in [
        (9_999_000, 0, false),
        (5 * MINUTE, 10, false),
        (10 * MINUTE, 10, true),
        (15 * MINUTE, 10, true),
        (120 * MINUTE - 1, 120, false),
        (120 * MINUTE, 120, true),
    ] {
        let mut bench = LinkFixture::connected();
        bench.settings.wifi_reboot_min = minutes;
        bench.down(LinkFailure::Lost);
        let reason = bench.wait(Duration::from_millis(outage));
        let expected = expected.then_some(RebootReason::NoNetwork);
        assert_eq!(reason, expected, "{outage} ms, {minutes} min");
    }
}

#[test]
fn the_guard_follows_the_settings_and_restarts_once() {
    let mut bench = LinkFixture::connected();
    bench.down(LinkFailure::Lost);
    assert_eq!(bench.wait(secs(90)), None);
    bench.settings.wifi_reboot_min = 1;
    assert_eq!(bench.wait(secs(1)), Some(RebootReason::NoNetwork));
    assert_eq!(bench.wait(secs(1000)), None);
}

/// When the portal times out, as `(wpTimeout, wifiConfigured, seconds, restart)`.
#[test]
fn the_portal_gives_up_on_a_clock_that_was_provisioned() {
    for (timeout, configured, after, expected) in [
        (900, true, 899, false),
        (900, true, 900, true),
        (900, false, 10_000, false),
        (0, true, 10_000, false),
        (3600, true, 3600, true),
    ] {
        let mut bench = LinkFixture::portal();
        bench.settings.wp_timeout = timeout;
        bench.settings.wifi_configured = configured;
        let reason = bench.wait(secs(after));
        let expected = expected.then_some(RebootReason::PortalTimeout);
        assert_eq!(reason, expected, "{timeout} s, {configured}, {after} s");
    }
}

#[test]
fn the_portal_gives_up_behind_the_fallback_too() {
    let mut bench = LinkFixture::provisioned();
    assert_eq!(bench.wait(FALLBACK_GRACE + secs(899)), None);
    assert_eq!(bench.wait(secs(1)), Some(RebootReason::PortalTimeout));
}

#[test]
fn a_running_attempt_of_the_portal_is_not_interrupted() {
    let mut bench = LinkFixture::portal();
    bench.settings.wifi_configured = true;
    bench.wait(secs(895));
    bench.apply(LinkEvent::Trying);
    assert_eq!(bench.wait(secs(14)), None);
    bench.apply(LinkEvent::Refused(LinkFailure::Auth));
    assert_eq!(bench.wait(secs(0)), Some(RebootReason::PortalTimeout));
}

#[test]
fn a_host_with_a_network_of_its_own_is_left_alone() {
    let mut bench = LinkFixture::new();
    bench.apply(LinkEvent::Unmanaged);
    assert!(!bench.link.state().managed);
    assert_eq!(bench.up(), LinkNews::FirstAddress);
    assert_eq!(bench.state(), "connected");
    bench.settings.wifi_reboot_min = 0;
    bench.down(LinkFailure::Lost);
    assert!(bench.link.is_lost());
    bench.wait(secs(10_000));
    assert_eq!((bench.state(), bench.plan().attempts), ("disconnected", 0));
    assert_eq!(bench.up(), LinkNews::None);
    assert_eq!(bench.state(), "connected");
}

#[test]
fn the_first_join_differs_from_a_reconnect() {
    let mut bench = LinkFixture::new();
    let state_of = |bench: &LinkFixture| {
        let link = &bench.link;
        (link.is_joining(), link.is_lost(), link.is_usable())
    };
    assert_eq!(state_of(&bench), (false, false, true));
    bench.apply(LinkEvent::Credentials(true));
    assert_eq!(state_of(&bench), (true, false, false));
    bench.down(LinkFailure::Auth);
    assert_eq!(state_of(&bench), (true, false, false));
    bench.up();
    assert_eq!(state_of(&bench), (false, false, true));
    bench.down(LinkFailure::Lost);
    assert_eq!(state_of(&bench), (false, true, false));
    bench.wait(secs(5));
    assert_eq!(state_of(&bench), (false, true, false));
    assert_eq!(state_of(&LinkFixture::portal()), (false, false, false));
}

#[test]
fn a_clock_is_announced_once_it_knows_its_name_and_not_as_an_access_point() {
    let settings = Settings::default();
    assert_eq!(NetworkLink::default().advert(&settings), None);
    let hostname_of = |link: &NetworkLink, settings: &Settings| {
        link.advert(settings).map(|advert| advert.hostname)
    };
    let own = Some("papertick-efabcd".to_string());
    let mut bench = LinkFixture::new();
    assert_eq!(hostname_of(&bench.link, &settings), own);
    bench.up();
    assert_eq!(hostname_of(&bench.link, &settings), own);
    assert_eq!(hostname_of(&LinkFixture::portal().link, &settings), None);
    let silent = Settings {
        mdns_enabled: false,
        ..Settings::default()
    };
    assert_eq!(hostname_of(&bench.link, &silent), None);
}

#[test]
fn a_clock_goes_by_the_name_under_which_it_is_found() {
    let mut bench = LinkFixture::new();
    let mut settings = Settings::default();
    let mut announce = |name: Option<&str>| {
        bench.apply(LinkEvent::Announced {
            asked: "papertick-efabcd".into(),
            name: name.map(Into::into),
        });
        bench.link.clone()
    };
    let link = announce(Some("papertick-efabcd-2"));
    assert_eq!(link.hostname(&settings), "papertick-efabcd-2");
    assert_eq!(
        link.state().announced.as_deref(),
        Some("papertick-efabcd-2")
    );
    let advert = link.advert(&settings).unwrap();
    assert_eq!(
        advert.hostname, "papertick-efabcd",
        "what is asked for stays the same"
    );
    settings.hostname_prefix = "kitchen".into();
    assert_eq!(
        link.hostname(&settings),
        "kitchen-efabcd",
        "a rename shows at once"
    );
    settings.hostname_prefix = "papertick".into();
    let link = announce(None);
    assert_eq!(link.hostname(&settings), "papertick-efabcd");
    assert_eq!(link.state().announced, None);
}
