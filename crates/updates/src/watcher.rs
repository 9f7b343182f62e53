//! Checks the list of releases periodically, after a change of the settings, and on request; installs releases.

use std::{mem, time::Duration};

use device::{
    input::Input,
    releases::{Release, ReleaseCheck, ReleasePlan, ReleaseVerdict, UpdateMode},
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
    fetcher::{FetchError, ReleaseFeed, image_name},
    installer::{IncomingUpdate, Installer, running_version},
    policy::ImageRefusal,
    record,
    slots::{SkipReason, SkippedVersion},
};

/// The first check is at a random time within this period, so that clocks that were switched on together do not send
/// their requests at once.
pub const FIRST_CHECK_WITHIN: Duration = Duration::from_secs(10 * 60);

/// Time between two checks.
pub const CHECK_PERIOD: Duration = Duration::from_secs(6 * 3600);

/// Time until the next check after a failed one.
pub const RETRY_AFTER: Duration = Duration::from_secs(30 * 60);

/// After a change of the feed, the check is at a random time within this period.
pub const NEW_FEED_WITHIN: Duration = Duration::from_secs(30);

/// A release is installed at a random time within this period, so that not all clocks download it at once.
pub const INSTALL_WITHIN: Duration = Duration::from_secs(30 * 60);

/// Watches a release feed.
#[derive(Debug)]
pub struct ReleaseWatcher {
    /// The feed and the rule for its releases.
    pub plans: watch::Receiver<Option<ReleasePlan>>,
    pub requests: mpsc::Receiver<()>,
    pub installer: Installer,
    /// Connects to the feed.
    pub dialer: Dialer,
    /// Queue of inputs to the device, for the results of checks.
    pub inbox: Inbox,
}

/// Why the watcher acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WatchCause {
    /// A periodic check is due.
    Check,
    /// The installation of a release is due.
    Install,
    /// A client has requested the newest release.
    Requested,
    PlanChanged,
    Stop,
}

/// A completely received image.
struct FetchedImage {
    update: IncomingUpdate,
    version: Version,
}

struct FeedState {
    plan: ReleasePlan,
    /// The list; `None` before the first successful check.
    releases: Option<Vec<ListedRelease>>,
    check_at: Instant,
    install_at: Option<Instant>,
    /// Versions without a trusted signature when their image was fetched.
    unsigned: Vec<Version>,
}

/// Watches the feed until the stop signal.
pub async fn run(mut watcher: ReleaseWatcher, mut stop: Stop) {
    let mut chance = Chance::new();
    let mut outage = Outage::default();
    let mut feed: Option<FeedState> = None;
    let mut check_within = FIRST_CHECK_WITHIN;
    let mut plans = watcher.plans.clone();
    // The settings were changed during a requested update, so it starts again.
    let mut repeat_request = false;
    loop {
        let plan = plans.borrow_and_update().clone();
        let is_new = feed.as_ref().map(|feed| &feed.plan) != plan.as_ref();
        feed = plan.map(|plan| {
            let before = feed.take();
            let delay = chance.between(
                Duration::ZERO,
                mem::replace(&mut check_within, NEW_FEED_WITHIN),
            );
            FeedState::with_plan(plan, before, delay)
        });
        if let Some(feed) = feed.as_mut().filter(|_| is_new) {
            watcher
                .evaluate(feed, WatchCause::PlanChanged, &mut chance)
                .await;
        }
        let timer = feed.as_ref().and_then(FeedState::next_timer);
        let cause = tokio::select! {
            biased;
            () = stop.stopped() => WatchCause::Stop,
            () = std::future::ready(()), if mem::take(&mut repeat_request) => WatchCause::Requested,
            changed = plans.changed() => match changed {
                Ok(()) => WatchCause::PlanChanged,
                // The sender is gone, so the clock is stopping.
                Err(_) => WatchCause::Stop,
            },
            Some(()) = watcher.requests.recv() => WatchCause::Requested,
            () = until(timer.map(|(at, _)| at)) => timer.map_or(WatchCause::PlanChanged, |(_, cause)| cause),
        };
        let feed = match (cause, feed.as_mut()) {
            (WatchCause::Stop, _) => return,
            (WatchCause::PlanChanged, _) | (_, None) => continue,
            (WatchCause::Check | WatchCause::Install | WatchCause::Requested, Some(feed)) => feed,
        };
        let plan = feed.plan.clone();
        // A change of the plan aborts the download.
        let fetched = tokio::select! {
            biased;
            () = stop.stopped() => return,
            () = cancelled(&mut plans, &plan, cause) => {
                repeat_request = cause == WatchCause::Requested && plans.borrow().is_some();
                if !repeat_request && cause != WatchCause::Check {
                    watcher.record_failure(&FetchError::Cancelled);
                }
                continue;
            }
            fetched = watcher.check_and_fetch(cause, feed, &mut chance, &mut outage) => fetched,
        };
        let Some(fetched) = fetched else { continue };
        // A received image is installed even if the plan changes now, so that the reported result is right.
        tokio::select! {
            biased;
            () = stop.stopped() => return,
            () = watcher.install(fetched, feed, cause, &mut chance) => {}
        }
    }
}

/// Returns when a new plan cancels the work for this cause.
async fn cancelled(
    plans: &mut watch::Receiver<Option<ReleasePlan>>,
    plan: &ReleasePlan,
    cause: WatchCause,
) {
    let cancels = |new: &Option<ReleasePlan>| {
        new.as_ref().is_none_or(|new| {
            // `UpdateMode::Paused` (network is down) does not cancel a download; it fails by itself if the network stays down.
            let may_continue = cause != WatchCause::Install || new.mode != UpdateMode::CheckOnly;
            !may_continue || new.rule != plan.rule || !new.reads_as(plan)
        })
    };
    // If the sender is gone, the clock is stopping, which the caller handles.
    if plans.wait_for(cancels).await.is_err() {
        std::future::pending().await
    }
}

/// Whether a release with this verdict is fetched. A client can also request releases that are not installed
/// automatically. A release without an image is "fetched" on request, too, so that the failure is recorded.
fn is_fetched(cause: WatchCause, verdict: ReleaseVerdict) -> bool {
    match verdict {
        ReleaseVerdict::Taken | ReleaseVerdict::Unsigned => {
            [WatchCause::Requested, WatchCause::Install].contains(&cause)
        }
        ReleaseVerdict::Failed | ReleaseVerdict::Left | ReleaseVerdict::NoImage => {
            cause == WatchCause::Requested
        }
        ReleaseVerdict::NotNewer
        | ReleaseVerdict::Channel
        | ReleaseVerdict::Pin
        | ReleaseVerdict::Share => false,
    }
}

impl FeedState {
    /// Keeps the state if the plan has the same feed; else starts a new state with a check after `delay`.
    fn with_plan(plan: ReleasePlan, before: Option<FeedState>, delay: Duration) -> FeedState {
        match before {
            Some(before) if before.plan.reads_as(&plan) => FeedState { plan, ..before },
            Some(_) | None => FeedState {
                plan,
                releases: None,
                check_at: Instant::now() + delay,
                install_at: None,
                unsigned: Vec::new(),
            },
        }
    }

    /// Remembers a version without a trusted signature. Forgets the oldest one if there are more than a list can have.
    fn remember_unsigned(&mut self, version: Version) {
        self.unsigned.retain(|known| *known != version);
        if self.unsigned.len() == RELEASES_MAX {
            self.unsigned.remove(0);
        }
        self.unsigned.push(version);
    }

    /// When a release with this verdict is installed automatically; `None` for never.
    fn install_time(
        &self,
        verdict: ReleaseVerdict,
        cause: WatchCause,
        now: Instant,
        chance: &mut Chance,
    ) -> Option<Instant> {
        let mut soon = || now + chance.between(Duration::ZERO, INSTALL_WITHIN);
        match (verdict, self.plan.mode) {
            // An overdue installation gets a new random time, so that not all clocks start at once.
            (ReleaseVerdict::Taken, UpdateMode::Install) => {
                let due = self.install_at.filter(|due| *due >= now);
                Some(due.unwrap_or_else(soon))
            }
            // The image may have a trusted signature by now.
            (ReleaseVerdict::Unsigned, UpdateMode::Install) if cause == WatchCause::Check => {
                Some(soon())
            }
            // While the network is down, the planned time stays.
            (ReleaseVerdict::Taken, UpdateMode::Paused)
            | (ReleaseVerdict::Unsigned, UpdateMode::Paused | UpdateMode::Install) => {
                self.install_at
            }
            (_, _) => None,
        }
    }

    fn next_timer(&self) -> Option<(Instant, WatchCause)> {
        let check = Some((self.check_at, WatchCause::Check));
        match self.plan.mode {
            UpdateMode::Paused => None,
            UpdateMode::CheckOnly => check,
            UpdateMode::Install => {
                let install = self.install_at.map(|at| (at, WatchCause::Install));
                [check, install]
                    .into_iter()
                    .flatten()
                    .min_by_key(|(at, _)| *at)
            }
        }
    }
}

impl ReleaseWatcher {
    /// Checks the list, and fetches the release if the cause and its verdict require it.
    async fn check_and_fetch(
        &self,
        cause: WatchCause,
        feed: &mut FeedState,
        chance: &mut Chance,
        outage: &mut Outage,
    ) -> Option<FetchedImage> {
        let server = match ReleaseFeed::new(&feed.plan, &self.dialer) {
            Ok(server) => server,
            Err(error) => {
                self.check_failed(cause, feed, outage, &error).await;
                return None;
            }
        };
        match server.releases().await {
            Ok(releases) => {
                outage.end();
                feed.releases = Some(releases);
                feed.check_at = Instant::now() + CHECK_PERIOD;
            }
            Err(error) => {
                self.check_failed(cause, feed, outage, &error).await;
                return None;
            }
        }
        let Some((listed, version, release)) = self.evaluate(feed, cause, chance).await else {
            let error = FetchError::NoVersion;
            self.check_failed(cause, feed, outage, &error).await;
            return None;
        };
        if !is_fetched(cause, release.verdict) {
            if cause == WatchCause::Requested {
                let reason = release.verdict.reason().unwrap_or_default();
                tracing::info!(version = release.version, reason, "release not installed");
            }
            return None;
        }
        feed.install_at = None;
        tracing::info!(version = release.version, "fetching a release");
        let fetched = server.fetch(&self.installer, &listed, version.clone());
        match fetched.await {
            Ok(update) => Some(FetchedImage { update, version }),
            // The other update reports its own result.
            Err(FetchError::Refused(ImageRefusal::Busy)) if cause != WatchCause::Requested => None,
            Err(error) => {
                self.install_failed(&error, version, feed, cause, chance)
                    .await;
                None
            }
        }
    }

    /// Installs a fetched image.
    async fn install(
        &self,
        fetched: FetchedImage,
        feed: &mut FeedState,
        cause: WatchCause,
        chance: &mut Chance,
    ) {
        if let Err(refusal) = fetched.update.finish().await {
            let error = FetchError::Refused(refusal);
            self.install_failed(&error, fetched.version, feed, cause, chance)
                .await;
        }
    }

    /// Records that a release was not installed.
    async fn install_failed(
        &self,
        error: &FetchError,
        version: Version,
        feed: &mut FeedState,
        cause: WatchCause,
        chance: &mut Chance,
    ) {
        self.record_failure(error);
        if error.is_unsigned() {
            feed.remember_unsigned(version);
            self.evaluate(feed, cause, chance).await;
        }
    }

    /// Chooses a release of the list, plans its installation, and reports it to the device.
    async fn evaluate(
        &self,
        feed: &mut FeedState,
        cause: WatchCause,
        chance: &mut Chance,
    ) -> Option<(ListedRelease, Version, Release)> {
        let config = self.installer.config();
        let mut excluded = self.skipped_versions();
        let unsigned = feed.unsigned.iter();
        excluded.extend(unsigned.map(|version| (version.clone(), ReleaseVerdict::Unsigned)));
        let here = Here {
            running: &running_version(config),
            image: &image_name(config),
            excluded: &excluded,
        };
        let releases = feed.releases.as_ref()?;
        let (listed, release) = staging::choose(releases, &feed.plan.rule, &here)?;
        let (listed, version) = (listed.clone(), listed.version()?);
        feed.install_at = feed.install_time(release.verdict, cause, Instant::now(), chance);
        self.report(ReleaseCheck::Found(release.clone())).await;
        Some((listed, version, release))
    }

    /// Versions that failed here or were replaced by an older one.
    fn skipped_versions(&self) -> Vec<(Version, ReleaseVerdict)> {
        let slots = record::load(&mut Folder::new(&self.installer.config().data_dir));
        let with_verdict = |skipped: SkippedVersion| match skipped.why {
            SkipReason::Failed => (skipped.version, ReleaseVerdict::Failed),
            SkipReason::Left => (skipped.version, ReleaseVerdict::Left),
        };
        slots.skipped.into_iter().map(with_verdict).collect()
    }

    /// Reports a failed check and plans the next one.
    async fn check_failed(
        &self,
        cause: WatchCause,
        feed: &mut FeedState,
        outage: &mut Outage,
        error: &FetchError,
    ) {
        feed.check_at = Instant::now() + RETRY_AFTER;
        feed.install_at = None;
        let reason = error.to_string();
        if cause == WatchCause::Requested {
            self.record_failure(error);
        } else if outage.is_new(&reason) {
            tracing::warn!(reason, "cannot check for releases");
        }
        self.report(ReleaseCheck::Failed(reason)).await;
    }

    /// Logs and stores why an update failed.
    fn record_failure(&self, error: &FetchError) {
        tracing::warn!(%error, "the clock was not updated");
        let disk = &mut Folder::new(&self.installer.config().data_dir);
        let reason = format!("the newest release was not installed: {error}");
        if let Err(error) = record::change(disk, |slots| slots.set_failure(&reason)) {
            tracing::warn!(%error, "cannot store the reason");
        }
    }

    async fn report(&self, check: ReleaseCheck) {
        // Fails only if the device has stopped.
        let _ = self.inbox.send(Input::ReleaseCheck(check)).await;
    }
}

#[cfg(test)]
mod tests {
    use device::{
        releases::{ReleaseChannel, ReleaseRule},
        secret::Endpoint,
    };

    use super::*;

    fn feed(mode: UpdateMode, install_at: Option<Instant>) -> FeedState {
        let plan = ReleasePlan {
            feed: Endpoint::new("http://feed.example/"),
            route: Default::default(),
            rule: ReleaseRule {
                channel: ReleaseChannel::Stable,
                pin: String::new(),
                share: 100,
                id: String::new(),
            },
            mode,
        };
        FeedState {
            plan,
            releases: None,
            check_at: Instant::now(),
            install_at,
            unsigned: Vec::new(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_unsigned_release_is_tried_again_after_each_check() {
        let now = Instant::now();
        let (due, past) = (now + Duration::from_secs(60), now - Duration::from_secs(1));
        #[rustfmt::skip]
        let rows = [
            (ReleaseVerdict::Taken, UpdateMode::Install, WatchCause::PlanChanged, None, true),
            (ReleaseVerdict::Taken, UpdateMode::CheckOnly, WatchCause::Check, Some(due), false),
            (ReleaseVerdict::Unsigned, UpdateMode::Install, WatchCause::Check, None, true),
            // It was just tried.
            (ReleaseVerdict::Unsigned, UpdateMode::Install, WatchCause::Install, None, false),
            (ReleaseVerdict::Unsigned, UpdateMode::Install, WatchCause::Requested, None, false),
            (ReleaseVerdict::Unsigned, UpdateMode::Install, WatchCause::PlanChanged, None, false),
            (ReleaseVerdict::Unsigned, UpdateMode::Install, WatchCause::PlanChanged, Some(due), true),
            (ReleaseVerdict::Unsigned, UpdateMode::CheckOnly, WatchCause::Check, None, false),
            (ReleaseVerdict::Failed, UpdateMode::Install, WatchCause::Check, Some(due), false),
        ];
        for (verdict, mode, cause, before, is_due) in rows {
            let feed = feed(mode, before);
            let at = feed.install_time(verdict, cause, now, &mut Chance::seeded(1));
            assert_eq!(at.is_some(), is_due, "{verdict:?} {mode:?} {cause:?}");
            assert!(at.is_none_or(|at| at <= now + INSTALL_WITHIN));
        }
        let overdue = feed(UpdateMode::Install, Some(past));
        let at = overdue.install_time(
            ReleaseVerdict::Taken,
            WatchCause::PlanChanged,
            now,
            &mut Chance::seeded(1),
        );
        assert!(at.is_some_and(|at| at >= now));
    }
}
