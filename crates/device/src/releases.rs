//! Releases of the program: where the clock looks for them, which of them it takes, and what it saw there last.
//!
//! Which of them are taken is decided where versions are read, by the [`ReleaseRule`] that the settings make.

use alloc::string::String;
use core::time::Duration;

use crate::{
    secret::Endpoint,
    settings::Settings,
    spoken::{self, Sentence, SentenceTemplate},
};
use crate::{sources, sources::RouteSettings};

/// Where the clock looks for releases, and what it takes of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleasePlan {
    /// Address of the list.
    pub feed: Endpoint,
    /// The way outbound connections take.
    pub route: RouteSettings,
    /// Which of them it takes.
    pub rule: ReleaseRule,
    /// What it does without being asked.
    pub habit: Habit,
}

impl ReleasePlan {
    /// Tells whether the same is read by another one, the same way.
    pub fn reads_as(&self, other: &ReleasePlan) -> bool {
        (&self.feed, &self.route) == (&other.feed, &other.route)
    }
}

/// What a clock does about releases without being asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Habit {
    /// Nothing: it has no network, or must not do anything by itself.
    Waits,
    /// It looks now and then.
    Looks,
    /// It looks, and installs what it takes.
    Installs,
}

/// Which releases the clock accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseRule {
    /// From which channel.
    pub channel: ReleaseChannel,
    /// The only version that is taken; empty for any.
    pub pin: String,
    /// Takes a release whose number for this clock, 0..=99, is below.
    pub share: u8,
    /// The clock's host name, of which its numbers are made.
    pub id: String,
}

/// What releases are said to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReleaseChannel {
    /// Releases for everybody.
    Stable,
    /// Those, and versions that come before them.
    Preview,
}

/// Result of a check for releases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReleaseCheck {
    /// The release that is taken, or the newest of those that are not.
    Found(Release),
    /// It was not fetched or not understood, for this reason in words fit for people; never with a secret.
    Failed(String),
}

/// A release as the clock sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// Its version.
    pub version: String,
    /// What its makers call it; perhaps nothing.
    pub title: String,
    /// A page about it; empty for none.
    pub page: String,
    /// The clock's own number for it, 0..=99.
    pub number: u8,
    /// Whether the clock takes it.
    pub verdict: ReleaseVerdict,
}

/// Whether the clock accepts a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReleaseVerdict {
    /// It does.
    Taken,
    /// What runs is as new.
    NotNewer,
    /// It comes before a release for everybody, and those are what is wanted.
    Channel,
    /// Another version is pinned.
    Pin,
    /// The clock's number for it is not below the share.
    Share,
    /// It has no image for this clock.
    NoImage,
    /// Nobody who is trusted had signed its image when it was fetched.
    Unsigned,
    /// It was tried here and did not work: the clock takes it if it is asked to, but not by itself.
    Failed,
    /// It ran here, and somebody went back to an older one: as before.
    Left,
}

impl ReleaseVerdict {
    /// Word for why it is not taken; none if it is.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            ReleaseVerdict::Taken => None,
            ReleaseVerdict::NotNewer => Some("not-newer"),
            ReleaseVerdict::Channel => Some("channel"),
            ReleaseVerdict::Pin => Some("pin"),
            ReleaseVerdict::Share => Some("share"),
            ReleaseVerdict::NoImage => Some("no-image"),
            ReleaseVerdict::Unsigned => Some("unsigned"),
            ReleaseVerdict::Failed => Some("failed"),
            ReleaseVerdict::Left => Some("left"),
        }
    }

    /// The same for people, with a gap for the clock's number where that is why.
    fn words(self) -> SentenceTemplate {
        match self {
            ReleaseVerdict::Taken => spoken::RELEASE_TAKEN,
            ReleaseVerdict::NotNewer => spoken::RELEASE_NOT_NEWER,
            ReleaseVerdict::Channel => spoken::RELEASE_CHANNEL,
            ReleaseVerdict::Pin => spoken::RELEASE_PIN,
            ReleaseVerdict::Share => spoken::RELEASE_SHARE,
            ReleaseVerdict::NoImage => spoken::RELEASE_NO_IMAGE,
            ReleaseVerdict::Unsigned => spoken::RELEASE_UNSIGNED,
            ReleaseVerdict::Failed => spoken::RELEASE_FAILED,
            ReleaseVerdict::Left => spoken::RELEASE_LEFT,
        }
    }

    /// Tells whether it is installed if somebody asks for it.
    pub fn is_offered(self) -> bool {
        matches!(
            self,
            ReleaseVerdict::Taken | ReleaseVerdict::Failed | ReleaseVerdict::Left
        )
    }

    /// All of them.
    pub const ALL: [ReleaseVerdict; 9] = [
        ReleaseVerdict::Taken,
        ReleaseVerdict::NotNewer,
        ReleaseVerdict::Channel,
        ReleaseVerdict::Pin,
        ReleaseVerdict::Share,
        ReleaseVerdict::NoImage,
        ReleaseVerdict::Unsigned,
        ReleaseVerdict::Failed,
        ReleaseVerdict::Left,
    ];
}

/// What the clock knows of releases.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Releases {
    /// What the list had, when it was last understood.
    pub found: Option<Release>,
    /// Uptime at which that was.
    pub at: Option<Duration>,
    /// Why the newest look failed, in words fit for people; none if it did not.
    pub last_error: Option<String>,
}

impl Releases {
    /// Takes note of a look.
    pub fn saw(&mut self, look: ReleaseCheck, uptime: Duration) {
        match look {
            ReleaseCheck::Found(release) => {
                *self = Releases {
                    found: Some(release),
                    at: Some(uptime),
                    last_error: None,
                };
            }
            ReleaseCheck::Failed(reason) => self.last_error = Some(reason),
        }
    }

    /// That in a sentence; none where nobody has looked.
    pub fn says(&self) -> Option<Sentence> {
        let found = self.found.as_ref().map(|found| {
            let why = Sentence::from(found.verdict.words());
            let why = why.with("number", spoken::number(found.number));
            let release = spoken::RELEASE.with("version", found.version.as_str());
            release.with("why", why)
        });
        let trouble = self.last_error.as_deref().map(spoken::closed);
        let trouble = trouble.map(|why| spoken::RELEASES_UNKNOWN.with("why", why));
        match (found, trouble) {
            (Some(found), Some(trouble)) => {
                let both = spoken::MARKED.with("sentence", found);
                Some(both.with("mark", trouble))
            }
            (found, trouble) => found.or(trouble),
        }
    }
}

/// What a clock of this host name does with these settings; none while it looks nowhere.
pub fn plan(settings: &Settings, hostname: &str, may_act: bool) -> Option<ReleasePlan> {
    if !settings.ota_enabled || settings.git_release_url.is_empty() {
        return None;
    }
    Some(ReleasePlan {
        feed: settings.git_release_url.clone(),
        route: sources::route(settings),
        rule: ReleaseRule {
            channel: match settings.update_channel {
                0 => ReleaseChannel::Stable,
                _ => ReleaseChannel::Preview,
            },
            pin: settings.update_pin.clone(),
            share: u8::try_from(settings.update_share).unwrap_or(u8::MAX),
            id: hostname.into(),
        },
        habit: match (may_act, settings.update_auto) {
            (false, _) => Habit::Waits,
            (true, false) => Habit::Looks,
            (true, true) => Habit::Installs,
        },
    })
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    fn found(verdict: ReleaseVerdict) -> ReleaseCheck {
        ReleaseCheck::Found(Release {
            version: "4.1.0".into(),
            title: String::new(),
            page: String::new(),
            number: 42,
            verdict,
        })
    }

    fn says(releases: &Releases) -> String {
        releases
            .says()
            .map_or_else(String::new, |says| says.to_string())
    }

    #[test]
    fn a_sentence_says_whether_a_release_is_taken_and_why_it_is_not() {
        for (verdict, why) in [
            (ReleaseVerdict::Taken, "the clock takes it."),
            (ReleaseVerdict::NotNewer, "it is not newer than what runs."),
            (
                ReleaseVerdict::Channel,
                "it comes before a finished one, and the channel is for those.",
            ),
            (ReleaseVerdict::Pin, "another version is pinned."),
            (
                ReleaseVerdict::Share,
                "its turn has not come: the clock has number 42 for it, and the share ends before that.",
            ),
            (
                ReleaseVerdict::NoImage,
                "it has nothing for this board and machine.",
            ),
            (
                ReleaseVerdict::Unsigned,
                "it has no signature by a trusted key.",
            ),
            (
                ReleaseVerdict::Failed,
                "it was tried here and did not work.",
            ),
            (
                ReleaseVerdict::Left,
                "it ran here, and the owner went back to an older version.",
            ),
        ] {
            let mut releases = Releases::default();
            releases.saw(found(verdict), Duration::from_secs(1));
            assert_eq!(says(&releases), alloc::format!("Release 4.1.0: {why}"));
        }
    }

    #[test]
    fn a_look_that_fails_leaves_what_was_found_until_the_next_that_does_not() {
        let mut releases = Releases::default();
        assert_eq!(releases.says(), None, "nobody has looked");
        releases.saw(
            ReleaseCheck::Failed("it does not answer".into()),
            Duration::from_secs(1),
        );
        assert_eq!(
            (says(&releases), releases.at),
            (
                "The releases were not looked at: it does not answer.".into(),
                None
            )
        );
        releases.saw(found(ReleaseVerdict::Taken), Duration::from_secs(2));
        releases.saw(
            ReleaseCheck::Failed("it is no list".into()),
            Duration::from_secs(3),
        );
        assert_eq!(
            (says(&releases), releases.at),
            (
                "Release 4.1.0: the clock takes it. The releases were not looked at: it is no list.".into(),
                Some(Duration::from_secs(2))
            )
        );
        releases.saw(found(ReleaseVerdict::Taken), Duration::from_secs(4));
        assert_eq!(
            (says(&releases), releases.at),
            (
                "Release 4.1.0: the clock takes it.".into(),
                Some(Duration::from_secs(4))
            )
        );
    }

    #[test]
    fn a_plan_says_the_same_only_of_the_same_list_by_the_same_way() {
        let settings = Settings {
            git_release_url: Endpoint::new("https://releases.example/"),
            ..Settings::default()
        };
        let plan_of = |settings: &Settings| plan(settings, "papertick-aabbcc", true);
        let usual = plan_of(&settings).expect("a clock looks somewhere");
        let changed = |change: fn(&mut Settings)| {
            let mut other = settings.clone();
            change(&mut other);
            plan_of(&other).expect("it still looks somewhere")
        };
        let pinned = changed(|settings| settings.update_pin = "4.0.1".into());
        assert!(usual != pinned && usual.reads_as(&pinned));
        let elsewhere = changed(|settings| {
            settings.git_release_url = Endpoint::new("https://releases.example/list");
        });
        assert!(!usual.reads_as(&elsewhere));
        let proxied = changed(|settings| {
            settings.proxy_enabled = true;
            settings.proxy_type = 4;
            settings.proxy_host = "proxy".into();
        });
        assert!(!usual.reads_as(&proxied));
    }
}
