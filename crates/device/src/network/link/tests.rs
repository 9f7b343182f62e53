//! Transitions of the state machine as in the interface document, and its timeouts.

#![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

use alloc::{
    format,
    string::{String, ToString},
};

use super::*;

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A link with a radio, and its settings.
struct LinkFixture {
    link: NetworkLink,
    settings: Settings,
    uptime: Duration,
    /// The last word for its caller.
    news: LinkNews,
    /// The reasons to restart.
    reasons: Vec<RebootReason>,
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
            news: LinkNews::None,
            reasons: Vec::new(),
        }
    }

    /// A link after these steps.
    fn after(steps: &str) -> LinkFixture {
        let mut bench = LinkFixture::new();
        bench.run(steps);
        bench
    }

    /// Words of the tables below: an event, a wait such as `5s` or `1ms`, or a setting such as `guard=10`.
    fn run(&mut self, steps: &str) {
        for step in steps.split_whitespace() {
            let number = |end: &str| step.strip_suffix(end)?.parse().ok();
            match step {
                "stored" => {
                    self.settings.wifi_configured = true;
                    self.apply(LinkEvent::Credentials(true));
                }
                "unseen" => self.apply(LinkEvent::PasswordUnseen),
                "none" => self.apply(LinkEvent::Credentials(false)),
                "up" => self.apply(LinkEvent::Up {
                    ip: "192.0.2.7".into(),
                    ssid: Some("Home".into()),
                }),
                "signal" => self.apply(LinkEvent::Rssi(-50)),
                "down" => self.apply(LinkEvent::Down(LinkFailure::Lost)),
                "trying" => self.apply(LinkEvent::Trying),
                "refused" => self.apply(LinkEvent::Refused(LinkFailure::Auth)),
                "provisioned" => self.apply(LinkEvent::Provisioned),
                "unmanaged" => self.apply(LinkEvent::Unmanaged),
                "configured" => self.settings.wifi_configured = true,
                _ => match step.split_once('=') {
                    Some(("guard", minutes)) => {
                        self.settings.wifi_reboot_min = minutes.parse().unwrap();
                    }
                    Some(("timeout", secs)) => self.settings.wp_timeout = secs.parse().unwrap(),
                    _ => match number("ms") {
                        Some(millis) => self.wait(Duration::from_millis(millis)),
                        None => self.wait(secs(number("s").unwrap_or_else(|| panic!("{step}?")))),
                    },
                },
            }
        }
    }

    fn apply(&mut self, event: LinkEvent) {
        self.news = self.link.apply(event, self.uptime);
    }

    /// Advances the time, stopping at every deadline.
    fn wait(&mut self, time: Duration) {
        let end = self.uptime + time;
        let mut steps = 0;
        while let Some(at) = self
            .link
            .next_deadline(&self.settings)
            .filter(|at| *at <= end)
        {
            self.uptime = self.uptime.max(at);
            self.advance();
            steps += 1;
            assert!(steps < 10_000, "the deadline does not move");
        }
        self.uptime = end;
        self.advance();
    }

    fn advance(&mut self) {
        let reason = self.link.advance(&self.settings, self.uptime);
        self.reasons.extend(reason);
    }

    fn plan(&self) -> WifiPlan {
        self.link.plan(&self.settings)
    }

    /// The state, the attempts to join, and what else is there: the access point, the failure, a reason to restart.
    fn words(&self) -> String {
        let (state, plan) = (self.link.state(), self.plan());
        let access_point = plan.access_point.map(|access_point| {
            if access_point.password.is_empty() { "open-portal" } else { "portal" }
        });
        let extra = [access_point, state.failure];
        let mut words = format!("{} {}", state.state, plan.attempts);
        for word in extra.into_iter().flatten() {
            words.push(' ');
            words.push_str(word);
        }
        for reason in &self.reasons {
            words.push_str(&format!(" restart:{reason:?}"));
        }
        words
    }
}

#[test]
fn the_states_match_the_table() {
    let mut wrong = String::new();
    let rows = include_str!("table.txt").lines();
    for row in rows.filter(|row| !row.is_empty() && !row.starts_with('#')) {
        let (steps, expected) = row.split_once("->").unwrap();
        let found = LinkFixture::after(steps).words();
        if found != expected.trim() {
            wrong.push_str(&format!("{row}\n  but is {found}\n"));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn what_is_known_of_the_network_and_the_access_point() {
    let mut bench = LinkFixture::after("stored up");
    assert_eq!(bench.news, LinkNews::FirstAddress);
    assert_eq!((bench.link.ip(), bench.link.ssid()), ("192.0.2.7", "Home"));
    bench.run("signal down");
    assert_eq!((bench.link.ip(), bench.link.state().rssi), ("", 0));
    bench.run("up");
    assert_eq!(bench.news, LinkNews::None);
    let access_point = LinkFixture::after("none").plan().access_point.unwrap();
    assert_eq!(access_point.ssid, "papertick-ABCD");
    assert_eq!(access_point.password.expose(), "hunter22");
    let news = LinkFixture::after("none trying provisioned").news;
    assert_eq!(news, LinkNews::Provisioned);
    let host = LinkFixture::after("unmanaged up");
    assert_eq!(host.news, LinkNews::FirstAddress);
    assert!(!host.link.state().managed);
}

#[test]
fn every_failure_is_named() {
    for failure in LinkFailure::all() {
        let mut bench = LinkFixture::after("stored");
        bench.apply(LinkEvent::Down(failure));
        assert_eq!(bench.link.state().failure, Some(failure.name()));
        let mut bench = LinkFixture::after("none trying");
        bench.apply(LinkEvent::Refused(failure));
        assert_eq!(bench.link.state().failure, Some(failure.name()));
    }
}

#[test]
fn retries_go_on_for_as_long_as_the_network_is_away() {
    for start in [
        "guard=0 stored up down",
        "guard=0 timeout=0 stored down 20s",
    ] {
        let mut bench = LinkFixture::after(start);
        let before = bench.plan().attempts;
        for attempt in 1..1000 {
            bench.run("5s");
            assert_eq!(bench.plan().attempts, before + attempt, "{start}");
            bench.run("down");
        }
        assert_eq!(bench.reasons, []);
    }
}

#[test]
fn the_first_join_differs_from_a_reconnect() {
    let mut bench = LinkFixture::new();
    let state_of = |bench: &LinkFixture| {
        let link = &bench.link;
        (link.is_joining(), link.is_lost(), link.is_usable())
    };
    assert_eq!(state_of(&bench), (false, false, true));
    bench.run("stored");
    assert_eq!(state_of(&bench), (true, false, false));
    bench.run("down");
    assert_eq!(state_of(&bench), (true, false, false));
    bench.run("up");
    assert_eq!(state_of(&bench), (false, false, true));
    bench.run("down");
    assert_eq!(state_of(&bench), (false, true, false));
    bench.run("5s");
    assert_eq!(state_of(&bench), (false, true, false));
    assert_eq!(state_of(&LinkFixture::after("none")), (false, false, false));
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
    bench.run("up");
    assert_eq!(hostname_of(&bench.link, &settings), own);
    assert_eq!(
        hostname_of(&LinkFixture::after("none").link, &settings),
        None
    );
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
