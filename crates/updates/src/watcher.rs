//! Looks at the list of releases: now and then, when what is taken of it changes, and when somebody asks.

use std::{mem, time::Duration};

use device::{
    input::Input,
    releases::{Habit, Release as Seen, ReleaseCheck, ReleasePlan, ReleaseVerdict},
};
use feeds::{
    release::{ListedRelease, RELEASES_MAX},
    staging::{self, Here},
};
use net::{chance::Chance, dialer::Dialer};
use runtime::{inbox::Inbox, outage::Outage, tasks::Stop, waits::until};
use semver::Version;
use storage::disk::Folder;
use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};

use super::{
    fetcher::{FetchError, Source, asset},
    installer::{IncomingUpdate, Installer, running},
    judge::ImageRefusal,
    record,
    slots::{Shun, Shunned},
};

/// Time within which a clock looks for the first time, so that clocks that were switched on together do not ask at once.
pub const FIRST_LOOK: Duration = Duration::from_secs(10 * 60);

/// Time between two looks.
pub const LOOK_EVERY: Duration = Duration::from_secs(6 * 3600);

/// Time until the next look after one that failed.
pub const LOOK_AGAIN: Duration = Duration::from_secs(30 * 60);

/// Time within which a clock looks once it is told of another list.
pub const OTHER_LIST: Duration = Duration::from_secs(30);

/// Time within which a clock installs by itself what it takes, so that those of one share do not fetch it at once.
pub const INSTALL_WITHIN: Duration = Duration::from_secs(30 * 60);

/// What it takes to follow the releases.
#[derive(Debug)]
pub struct Watcher {
    /// Where to look, and what is taken.
    pub plans: watch::Receiver<Option<ReleasePlan>>,
    /// Wishes for the newest release.
    pub requests: mpsc::Receiver<()>,
    /// What installs it.
    pub installer: Installer,
    /// The way out.
    pub dialer: Dialer,
    /// Where it is told what was seen.
    pub inbox: Inbox,
}

/// Why the watcher acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WatchCause {
    /// It is time to look.
    Look,
    /// It is time to install what is taken.
    Install,
    /// Somebody asks for it.
    Asked,
    /// Something else is wanted.
    Changed,
    /// The clock stops.
    Stop,
}

/// An image that has come whole.
struct Fetched {
    update: IncomingUpdate,
    /// The version by which it was judged.
    version: Version,
}

/// State of a release feed.
struct FeedState {
    plan: ReleasePlan,
    /// What it had; none before it was read.
    releases: Option<Vec<ListedRelease>>,
    look_at: Instant,
    install_at: Option<Instant>,
    /// Versions whose image nobody who is trusted had signed when it was fetched.
    unsigned: Vec<Version>,
}

/// Follows the releases until told to stop.
pub async fn run(mut watcher: Watcher, mut stop: Stop) {
    let mut chance = Chance::new();
    let mut outage = Outage::default();
    let mut known: Option<FeedState> = None;
    let mut first = FIRST_LOOK;
    let mut plans = watcher.plans.clone();
    // The settings were changed while somebody waited for what they had asked for.
    let mut asked_again = false;
    loop {
        let plan = plans.borrow_and_update().clone();
        let is_new = known.as_ref().map(|known| &known.plan) != plan.as_ref();
        known = match (plan, known.take()) {
            (None, _) => None,
            (Some(plan), Some(before)) if before.plan.reads_as(&plan) => {
                Some(FeedState { plan, ..before })
            }
            (Some(plan), _) => Some(FeedState {
                plan,
                releases: None,
                look_at: Instant::now() + chance.between(Duration::ZERO, first),
                install_at: None,
                unsigned: Vec::new(),
            }),
        };
        if known.is_some() {
            first = OTHER_LIST;
        }
        if let Some(known) = known.as_mut().filter(|_| is_new) {
            watcher.judge(known, WatchCause::Changed, &mut chance).await;
        }
        let wake = known.as_ref().and_then(FeedState::wake);
        let cause = tokio::select! {
            biased;
            () = stop.stopped() => WatchCause::Stop,
            () = std::future::ready(()), if mem::take(&mut asked_again) => WatchCause::Asked,
            changed = plans.changed() => match changed {
                Ok(()) => WatchCause::Changed,
                // Without anybody to plan the clock is ending.
                Err(_) => WatchCause::Stop,
            },
            Some(()) = watcher.requests.recv() => WatchCause::Asked,
            () = until(wake.map(|(at, _)| at)) => wake.map_or(WatchCause::Changed, |(_, cause)| cause),
        };
        let known = match (cause, known.as_mut()) {
            (WatchCause::Stop, _) => return,
            (WatchCause::Changed, _) | (_, None) => continue,
            (WatchCause::Look | WatchCause::Install | WatchCause::Asked, Some(known)) => known,
        };
        let plan = known.plan.clone();
        // What is fetched at that moment is given up.
        let fetched = tokio::select! {
            biased;
            () = stop.stopped() => return,
            () = unwanted(&mut plans, &plan, cause) => {
                asked_again = cause == WatchCause::Asked && plans.borrow().is_some();
                if !asked_again && cause != WatchCause::Look {
                    watcher.not_installed(&FetchError::NotWanted);
                }
                continue;
            }
            fetched = watcher.act(cause, known, &mut chance, &mut outage) => fetched,
        };
        let Some(fetched) = fetched else { continue };
        // What has come whole is installed whatever is wanted meanwhile, so that nobody is told otherwise.
        tokio::select! {
            biased;
            () = stop.stopped() => return,
            () = watcher.install(fetched, known, cause, &mut chance) => {}
        }
    }
}

/// Returns when what is done for this cause is no longer what the settings want.
async fn unwanted(
    plans: &mut watch::Receiver<Option<ReleasePlan>>,
    plan: &ReleasePlan,
    cause: WatchCause,
) {
    let is_other = |now: &Option<ReleasePlan>| {
        now.as_ref().is_none_or(|now| {
            // A network that is away for a moment ends no download; one that stays away does.
            let may_go_on = cause != WatchCause::Install || now.habit != Habit::Looks;
            !may_go_on || now.rule != plan.rule || !now.reads_as(plan)
        })
    };
    // Without anybody to plan the clock is ending, and is told so elsewhere.
    if plans.wait_for(is_other).await.is_err() {
        std::future::pending().await
    }
}

/// Tells whether something is fetched: by itself what is taken, and what may have been signed since; where somebody asks
/// also what is not taken by itself, and what there is no image of, for failures of updates stand where he looks.
fn takes(cause: WatchCause, verdict: ReleaseVerdict) -> bool {
    match verdict {
        ReleaseVerdict::Taken | ReleaseVerdict::Unsigned => {
            [WatchCause::Asked, WatchCause::Install].contains(&cause)
        }
        ReleaseVerdict::Failed | ReleaseVerdict::Left | ReleaseVerdict::NoImage => {
            cause == WatchCause::Asked
        }
        ReleaseVerdict::NotNewer
        | ReleaseVerdict::Channel
        | ReleaseVerdict::Pin
        | ReleaseVerdict::Share => false,
    }
}

impl FeedState {
    /// Takes note of an image that nobody who is trusted had signed; of more than a list has, the oldest is forgotten.
    fn note_unsigned(&mut self, version: Version) {
        self.unsigned.retain(|known| *known != version);
        if self.unsigned.len() == RELEASES_MAX {
            self.unsigned.remove(0);
        }
        self.unsigned.push(version);
    }

    /// When a release of this verdict is installed without being asked; none for never.
    fn install_by(
        &self,
        verdict: ReleaseVerdict,
        cause: WatchCause,
        now: Instant,
        chance: &mut Chance,
    ) -> Option<Instant> {
        let mut soon = || now + chance.between(Duration::ZERO, INSTALL_WITHIN);
        match (verdict, self.plan.habit) {
            // What was put off until now is begun at another moment than that of all others.
            (ReleaseVerdict::Taken, Habit::Installs) => {
                let due = self.install_at.filter(|due| *due >= now);
                Some(due.unwrap_or_else(soon))
            }
            // It may have been signed since the last look, or whoever signed it be trusted by now.
            (ReleaseVerdict::Unsigned, Habit::Installs) if cause == WatchCause::Look => {
                Some(soon())
            }
            // A network that comes and goes puts off only what was due while it was away.
            (ReleaseVerdict::Taken, Habit::Waits)
            | (ReleaseVerdict::Unsigned, Habit::Waits | Habit::Installs) => self.install_at,
            (_, _) => None,
        }
    }

    /// When something is to be done without being asked, and what.
    fn wake(&self) -> Option<(Instant, WatchCause)> {
        let look = Some((self.look_at, WatchCause::Look));
        match self.plan.habit {
            Habit::Waits => None,
            Habit::Looks => look,
            Habit::Installs => {
                let install = self.install_at.map(|at| (at, WatchCause::Install));
                [look, install]
                    .into_iter()
                    .flatten()
                    .min_by_key(|(at, _)| *at)
            }
        }
    }
}

impl Watcher {
    /// Looks, and fetches what is taken if that is what it is about.
    async fn act(
        &self,
        cause: WatchCause,
        known: &mut FeedState,
        chance: &mut Chance,
        outage: &mut Outage,
    ) -> Option<Fetched> {
        let source = match Source::of(&known.plan, &self.dialer) {
            Ok(source) => source,
            Err(trouble) => {
                self.failed(cause, known, outage, &trouble).await;
                return None;
            }
        };
        match source.releases().await {
            Ok(releases) => {
                outage.end();
                known.releases = Some(releases);
                known.look_at = Instant::now() + LOOK_EVERY;
            }
            Err(trouble) => {
                self.failed(cause, known, outage, &trouble).await;
                return None;
            }
        }
        let Some((release, version, seen)) = self.judge(known, cause, chance).await else {
            let trouble = FetchError::NoVersion;
            self.failed(cause, known, outage, &trouble).await;
            return None;
        };
        if !takes(cause, seen.verdict) {
            if cause == WatchCause::Asked {
                let reason = seen.verdict.reason().unwrap_or_default();
                tracing::info!(version = seen.version, reason, "no release is installed");
            }
            return None;
        }
        known.install_at = None;
        tracing::info!(version = seen.version, "a release is fetched");
        let fetched = source.fetch(&self.installer, &release, version.clone());
        match fetched.await {
            Ok(update) => Some(Fetched { update, version }),
            // That one tells of itself.
            Err(FetchError::Refused(ImageRefusal::Busy)) if cause != WatchCause::Asked => None,
            Err(trouble) => {
                self.refused(&trouble, version, known, cause, chance).await;
                None
            }
        }
    }

    /// Installs what has come.
    async fn install(
        &self,
        fetched: Fetched,
        known: &mut FeedState,
        cause: WatchCause,
        chance: &mut Chance,
    ) {
        if let Err(refusal) = fetched.update.finish().await {
            let trouble = FetchError::Refused(refusal);
            self.refused(&trouble, fetched.version, known, cause, chance)
                .await;
        }
    }

    /// Takes note that a release was not taken.
    async fn refused(
        &self,
        trouble: &FetchError,
        version: Version,
        known: &mut FeedState,
        cause: WatchCause,
        chance: &mut Chance,
    ) {
        self.not_installed(trouble);
        if trouble.is_unsigned() {
            known.note_unsigned(version);
            self.judge(known, cause, chance).await;
        }
    }

    /// Tells the device what of a list is taken, and when that is installed; gives it.
    async fn judge(
        &self,
        known: &mut FeedState,
        cause: WatchCause,
        chance: &mut Chance,
    ) -> Option<(ListedRelease, Version, Seen)> {
        let means = self.installer.means();
        let mut shunned = self.shunned();
        let unsigned = known.unsigned.iter();
        shunned.extend(unsigned.map(|version| (version.clone(), ReleaseVerdict::Unsigned)));
        let here = Here {
            running: &running(means),
            image: &asset(means),
            excluded: &shunned,
        };
        let releases = known.releases.as_ref()?;
        let (release, seen) = staging::choose(releases, &known.plan.rule, &here)?;
        let (release, version) = (release.clone(), release.version()?);
        known.install_at = known.install_by(seen.verdict, cause, Instant::now(), chance);
        self.tell(ReleaseCheck::Found(seen.clone())).await;
        Some((release, version, seen))
    }

    /// Versions that were given up here, or that somebody left for an older one.
    fn shunned(&self) -> Vec<(Version, ReleaseVerdict)> {
        let slots = record::look(&mut Folder::new(&self.installer.means().data_dir));
        let told = |shunned: Shunned| match shunned.why {
            Shun::Failed => (shunned.version, ReleaseVerdict::Failed),
            Shun::Left => (shunned.version, ReleaseVerdict::Left),
        };
        slots.shunned.into_iter().map(told).collect()
    }

    /// Takes note that a list was not had.
    async fn failed(
        &self,
        cause: WatchCause,
        known: &mut FeedState,
        outage: &mut Outage,
        trouble: &FetchError,
    ) {
        known.look_at = Instant::now() + LOOK_AGAIN;
        known.install_at = None;
        let reason = trouble.to_string();
        if cause == WatchCause::Asked {
            self.not_installed(trouble);
        } else if outage.is_new(&reason) {
            tracing::warn!(reason, "the releases were not looked at");
        }
        self.tell(ReleaseCheck::Failed(reason)).await;
    }

    /// Takes note that a release that was to be installed was not.
    fn not_installed(&self, trouble: &FetchError) {
        tracing::warn!(error = %trouble, "the clock was not updated");
        let disk = &mut Folder::new(&self.installer.means().data_dir);
        let reason = format!("the newest release was not installed: {trouble}");
        if let Err(error) = record::change(disk, |slots| slots.note(&reason)) {
            tracing::warn!(%error, "and why could not be stored");
        }
    }

    async fn tell(&self, look: ReleaseCheck) {
        // The loss of the device is noticed elsewhere.
        let _ = self.inbox.send(Input::Looked(look)).await;
    }
}

#[cfg(test)]
mod tests {
    use device::{
        releases::{ReleaseChannel, ReleaseRule},
        secret::Endpoint,
    };

    use super::*;

    fn known(habit: Habit, install_at: Option<Instant>) -> FeedState {
        let plan = ReleasePlan {
            feed: Endpoint::new("http://feed.example/"),
            route: Default::default(),
            rule: ReleaseRule {
                channel: ReleaseChannel::Stable,
                pin: String::new(),
                share: 100,
                id: String::new(),
            },
            habit,
        };
        FeedState {
            plan,
            releases: None,
            look_at: Instant::now(),
            install_at,
            unsigned: Vec::new(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_signed_is_tried_once_more_with_each_look() {
        let now = Instant::now();
        let (due, past) = (now + Duration::from_secs(60), now - Duration::from_secs(1));
        for (verdict, habit, cause, before, is_due) in [
            (
                ReleaseVerdict::Taken,
                Habit::Installs,
                WatchCause::Changed,
                None,
                true,
            ),
            (
                ReleaseVerdict::Taken,
                Habit::Looks,
                WatchCause::Look,
                Some(due),
                false,
            ),
            (
                ReleaseVerdict::Unsigned,
                Habit::Installs,
                WatchCause::Look,
                None,
                true,
            ),
            // It was just tried.
            (
                ReleaseVerdict::Unsigned,
                Habit::Installs,
                WatchCause::Install,
                None,
                false,
            ),
            (
                ReleaseVerdict::Unsigned,
                Habit::Installs,
                WatchCause::Asked,
                None,
                false,
            ),
            (
                ReleaseVerdict::Unsigned,
                Habit::Installs,
                WatchCause::Changed,
                None,
                false,
            ),
            (
                ReleaseVerdict::Unsigned,
                Habit::Installs,
                WatchCause::Changed,
                Some(due),
                true,
            ),
            (
                ReleaseVerdict::Unsigned,
                Habit::Looks,
                WatchCause::Look,
                None,
                false,
            ),
            (
                ReleaseVerdict::Failed,
                Habit::Installs,
                WatchCause::Look,
                Some(due),
                false,
            ),
        ] {
            let known = known(habit, before);
            let at = known.install_by(verdict, cause, now, &mut Chance::seeded(1));
            assert_eq!(at.is_some(), is_due, "{verdict:?} {habit:?} {cause:?}");
            assert!(at.is_none_or(|at| at <= now + INSTALL_WITHIN));
        }
        let put_off = known(Habit::Installs, Some(past));
        let at = put_off.install_by(
            ReleaseVerdict::Taken,
            WatchCause::Changed,
            now,
            &mut Chance::seeded(1),
        );
        assert!(at.is_some_and(|at| at >= now));
    }

    #[test]
    fn who_asks_learns_why_not_and_by_itself_only_what_is_taken_is_fetched() {
        for verdict in ReleaseVerdict::ALL {
            let by = [WatchCause::Look, WatchCause::Install, WatchCause::Asked]
                .map(|cause| takes(cause, verdict));
            let expected = match verdict {
                ReleaseVerdict::Taken | ReleaseVerdict::Unsigned => [false, true, true],
                ReleaseVerdict::Failed | ReleaseVerdict::Left | ReleaseVerdict::NoImage => {
                    [false, false, true]
                }
                ReleaseVerdict::NotNewer
                | ReleaseVerdict::Channel
                | ReleaseVerdict::Pin
                | ReleaseVerdict::Share => [false; 3],
            };
            assert_eq!(by, expected, "{verdict:?}");
        }
    }

    #[tokio::test]
    async fn of_what_nobody_signed_only_the_newest_is_remembered() {
        let mut known = known(Habit::Looks, None);
        for minor in (0..50).chain([49]) {
            known.note_unsigned(Version::new(4, minor, 0));
        }
        assert_eq!(known.unsigned.len(), RELEASES_MAX);
        let newest = known.unsigned.last().map(|version| version.minor);
        assert_eq!(newest, Some(49));
    }
}
