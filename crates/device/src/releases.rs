//! Releases of the program: where to check for them, which to accept, and the result of the last check.
//!
//! [`ReleaseRule`] holds what the settings accept; the code that parses versions applies it.

use alloc::string::String;
use core::time::Duration;

use crate::sources::Route;
use crate::{
    secret::Endpoint,
    settings::Settings,
    spoken::{self, Sentence, SentenceTemplate},
};

const RELEASE: SentenceTemplate = SentenceTemplate::new("Release {version}: {why}");
const RELEASE_TAKEN: SentenceTemplate = SentenceTemplate::new("the clock takes it.");
const RELEASE_NOT_NEWER: SentenceTemplate =
    SentenceTemplate::new("it is not newer than what runs.");
const RELEASE_CHANNEL: SentenceTemplate =
    SentenceTemplate::new("it is a pre-release, which the channel leaves out.");
const RELEASE_PIN: SentenceTemplate = SentenceTemplate::new("another version is pinned.");
const RELEASE_SHARE: SentenceTemplate = SentenceTemplate::new(
    "its turn has not come: the clock has number {number} for it, and the share ends before that.",
);
const RELEASE_NO_IMAGE: SentenceTemplate =
    SentenceTemplate::new("it has nothing for this board and machine.");
const RELEASE_UNSIGNED: SentenceTemplate =
    SentenceTemplate::new("it has no signature by a trusted key.");
const RELEASE_FAILED: SentenceTemplate =
    SentenceTemplate::new("it was tried here and did not work.");
const RELEASE_LEFT: SentenceTemplate =
    SentenceTemplate::new("it ran here, and the owner went back to an older version.");
const RELEASES_UNKNOWN: SentenceTemplate =
    SentenceTemplate::new("The releases could not be checked: {why}");

/// Where to check for releases, and which to accept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleasePlan {
    /// URL of the list.
    pub feed: Endpoint,
    /// Route of outbound connections.
    pub route: Route,
    /// Which releases are accepted.
    pub rule: ReleaseRule,
    /// What is done automatically.
    pub mode: UpdateMode,
}

impl ReleasePlan {
    /// Returns whether both read the same list over the same route.
    pub fn reads_as(&self, other: &ReleasePlan) -> bool {
        (&self.feed, &self.route) == (&other.feed, &other.route)
    }
}

/// What the clock does automatically about releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpdateMode {
    /// Nothing: there is no network, or the device is in safe mode.
    Paused,
    /// Checks regularly.
    CheckOnly,
    /// Checks regularly and installs accepted releases.
    Install,
}

/// Which releases the clock accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseRule {
    /// The channel.
    pub channel: ReleaseChannel,
    /// The only accepted version; empty for any.
    pub pin: String,
    /// Accepts a release if the clock's number for it, 0..=99, is below.
    pub share: u8,
    /// Host name of the clock; its numbers are derived from it.
    pub id: String,
}

/// Channel of releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReleaseChannel {
    /// Stable releases.
    Stable,
    /// Stable releases and versions before them.
    Preview,
}

/// Result of a check for releases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReleaseCheck {
    /// The accepted release, or the newest one that is not accepted.
    Found(Release),
    /// The list was not fetched or not understood; a text for people without secrets.
    Failed(String),
}

/// A release and the clock's verdict on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// Its version.
    pub version: String,
    /// Its title; may be empty.
    pub title: String,
    /// URL of its page; empty if it has none.
    pub page: String,
    /// The clock's number for it, 0..=99.
    pub number: u8,
    /// Whether the clock accepts it.
    pub verdict: ReleaseVerdict,
}

/// Whether the clock accepts a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReleaseVerdict {
    /// Accepted.
    Taken,
    /// The running version is as new.
    NotNewer,
    /// It is a preview, but only stable releases are accepted.
    Channel,
    /// Another version is pinned.
    Pin,
    /// The clock's number for it is not below the share.
    Share,
    /// It has no image for this clock.
    NoImage,
    /// Its image had no trusted signature when it was fetched.
    Unsigned,
    /// It was tried here and failed: it is installed on request, but not automatically.
    Failed,
    /// It ran here and the owner went back to an older version: installed on request, but not automatically.
    Left,
}

impl ReleaseVerdict {
    /// Word for why it is not accepted. `None` if it is.
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

    /// The reason as a sentence, with a placeholder for the clock's number where needed.
    fn words(self) -> SentenceTemplate {
        match self {
            ReleaseVerdict::Taken => RELEASE_TAKEN,
            ReleaseVerdict::NotNewer => RELEASE_NOT_NEWER,
            ReleaseVerdict::Channel => RELEASE_CHANNEL,
            ReleaseVerdict::Pin => RELEASE_PIN,
            ReleaseVerdict::Share => RELEASE_SHARE,
            ReleaseVerdict::NoImage => RELEASE_NO_IMAGE,
            ReleaseVerdict::Unsigned => RELEASE_UNSIGNED,
            ReleaseVerdict::Failed => RELEASE_FAILED,
            ReleaseVerdict::Left => RELEASE_LEFT,
        }
    }

    /// Returns whether it can be installed on request.
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

/// Result of the release checks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Releases {
    /// Result of the last successful check.
    pub found: Option<Release>,
    /// Uptime of that check.
    pub at: Option<Duration>,
    /// Why the newest check failed, as a text for people. `None` if it succeeded.
    pub last_error: Option<String>,
}

impl Releases {
    /// Records the result of a check.
    pub fn record(&mut self, check: ReleaseCheck, uptime: Duration) {
        match check {
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

    /// The result as a sentence. `None` before the first check.
    pub fn sentence(&self) -> Option<Sentence> {
        let found = self.found.as_ref().map(|found| {
            let why = Sentence::from(found.verdict.words());
            let why = why.with("number", spoken::number(found.number));
            let release = RELEASE.with("version", found.version.as_str());
            release.with("why", why)
        });
        let error = self.last_error.as_deref().map(spoken::closed);
        let error = error.map(|why| RELEASES_UNKNOWN.with("why", why));
        match (found, error) {
            (Some(found), Some(error)) => {
                let both = spoken::MARKED.with("sentence", found);
                Some(both.with("mark", error))
            }
            (found, error) => found.or(error),
        }
    }
}

/// The plan of a clock with this host name. `None` if the release check is off.
pub fn plan(settings: &Settings, hostname: &str, may_act: bool) -> Option<ReleasePlan> {
    if !settings.ota_enabled || settings.git_release_url.is_empty() {
        return None;
    }
    Some(ReleasePlan {
        feed: settings.git_release_url.clone(),
        route: Route::of(settings),
        rule: ReleaseRule {
            channel: match settings.update_channel {
                0 => ReleaseChannel::Stable,
                _ => ReleaseChannel::Preview,
            },
            pin: settings.update_pin.clone(),
            share: u8::try_from(settings.update_share).unwrap_or(u8::MAX),
            id: hostname.into(),
        },
        mode: match (may_act, settings.update_auto) {
            (false, _) => UpdateMode::Paused,
            (true, false) => UpdateMode::CheckOnly,
            (true, true) => UpdateMode::Install,
        },
    })
}
