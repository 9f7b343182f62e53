//! The release watcher in virtual time: when it checks the list, what it reports, and when it installs a release.

use std::time::Duration;

use device::{
    Device,
    input::{Input, UpdateEvent},
    releases::{
        ReleaseChannel, ReleaseCheck, ReleasePlan, ReleaseRule, ReleaseVerdict, UpdateMode,
    },
    secret::Endpoint,
    settings::Settings,
    sources::Route,
    view::View,
};
use feeds::image::{ImageFacts, ImageKind, Packed};
use market::now::Now;
use net::{
    dialer::{Arrival, Dialer},
    tls::Roots,
};
use runtime::{
    inbox::{InboxMessage, inbox},
    tasks::{Stopper, Tasks, stop_signal},
};
use semver::Version;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use storage::disk::Folder;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream},
    sync::{mpsc, watch},
    time::{Instant, timeout},
};
use updates::{
    build,
    installer::{Announced, Installer, InstallerConfig},
    newest::NewestRelease,
    policy::{AcceptedVersions, ImageRefusal, Signatures},
    record,
    slots::{Factory, Firmware, ImageSlot, Installed, Program, TrialState},
    watcher::{
        self, CHECK_PERIOD, FIRST_CHECK_WITHIN, INSTALL_WITHIN, NEW_FEED_WITHIN, RETRY_AFTER,
        ReleaseWatcher,
    },
};

/// A watcher with its server, and its reports to the device.
struct Rig {
    plans: watch::Sender<Option<ReleasePlan>>,
    newest: NewestRelease,
    installer: Installer,
    check_sender: mpsc::Sender<()>,
    arrivals: mpsc::Receiver<Arrival>,
    reports: mpsc::Receiver<InboxMessage>,
    folder: TempDir,
    tasks: Tasks,
    stopper: Stopper,
}

fn plan() -> ReleasePlan {
    ReleasePlan {
        feed: Endpoint::new("http://feed.example/list"),
        route: Default::default(),
        rule: ReleaseRule {
            channel: ReleaseChannel::Stable,
            pin: String::new(),
            share: 100,
            id: "papertick-aabbcc".into(),
        },
        mode: UpdateMode::CheckOnly,
    }
}

impl Rig {
    fn new() -> Rig {
        Rig::with(|config| config)
    }

    /// A watcher that can install releases.
    fn installing() -> Rig {
        Rig::with(|config| InstallerConfig {
            firmware: Some(Firmware {
                running: Program::Factory,
                version: "4.1.0".into(),
                factory: Factory::own(),
            }),
            signatures: Signatures::NotRequired,
            ..config
        })
    }

    fn with(change: impl FnOnce(InstallerConfig) -> InstallerConfig) -> Rig {
        let plans = watch::Sender::new(Some(plan()));
        let (arrive, arrivals) = mpsc::channel(1);
        let (inbox, reports) = inbox();
        let folder = TempDir::new().unwrap();
        let board = *board::spec::find("rev-b").unwrap();
        let config =
            InstallerConfig::without_slots(board, folder.path().to_path_buf(), inbox.clone());
        let (installer, _) = Installer::new(change(config));
        let (newest, _) = NewestRelease::new(installer.clone(), plans.subscribe());
        let (check_sender, receiver) = mpsc::channel(1);
        let watcher = ReleaseWatcher {
            plans: plans.subscribe(),
            requests: receiver,
            installer: installer.clone(),
            dialer: Dialer::in_memory(Roots::public(), arrive),
            inbox,
        };
        let (stopper, stop) = stop_signal();
        let mut tasks = Tasks::new();
        tasks.spawn("releases", watcher::run(watcher, stop));
        Rig {
            plans,
            newest,
            installer,
            check_sender,
            arrivals,
            reports,
            folder,
            tasks,
            stopper,
        }
    }

    fn change(&self, change: impl FnOnce(&mut ReleasePlan)) {
        self.plans
            .send_modify(|plan| change(plan.as_mut().unwrap()));
    }

    /// Answers the next request; returns its path. `None` without a request within the time.
    async fn answer_request(
        &mut self,
        within: Duration,
        status: u16,
        body: &[u8],
    ) -> Option<String> {
        let arrival = timeout(within, self.arrivals.recv()).await.ok()??;
        let mut stream = arrival.stream;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        let answer = format!(
            "HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(answer.as_bytes()).await.unwrap();
        stream.write_all(body).await.unwrap();
        let head = String::from_utf8(head).unwrap();
        Some(head.split(' ').nth(1).unwrap().to_owned())
    }

    async fn next_report(&mut self) -> ReleaseCheck {
        let message = timeout(Duration::from_secs(60), self.reports.recv()).await;
        let input = message.expect("no report within a minute").unwrap().input;
        let Input::ReleaseCheck(look) = input else {
            panic!("{input:?}");
        };
        look
    }

    async fn verdict(&mut self) -> (String, ReleaseVerdict) {
        match self.next_report().await {
            ReleaseCheck::Found(seen) => (seen.version, seen.verdict),
            other @ ReleaseCheck::Failed(_) => panic!("{other:?}"),
        }
    }

    async fn stop(self) {
        self.stopper.stop();
        let late = self.tasks.stop(Duration::from_secs(5)).await;
        assert!(late.is_empty(), "{late:?} did not end");
    }
}

fn image() -> String {
    let target = build::BuildFacts::own().target;
    format!("papertick-rev-b-122x250-{target}.img")
}

fn list(tag: &str) -> Vec<u8> {
    let file = |name: String| json!({ "name": name, "browser_download_url": name });
    let assets: Value = [image(), format!("{}.sha256", image())]
        .map(file)
        .into_iter()
        .collect();
    json!({ "tag_name": tag, "assets": assets })
        .to_string()
        .into_bytes()
}

#[tokio::test(start_paused = true)]
async fn releases_are_checked_periodically_and_sooner_after_a_failure() {
    let mut rig = Rig::new();
    let started = Instant::now();
    let path = rig
        .answer_request(FIRST_CHECK_WITHIN, 200, &list("9.9.0"))
        .await;
    assert_eq!(path.as_deref(), Some("/list"));
    assert_eq!(rig.verdict().await, ("9.9.0".into(), ReleaseVerdict::Taken));
    let seen = Instant::now();
    assert!(started.elapsed() <= FIRST_CHECK_WITHIN);
    // It only checks: no asset is downloaded.
    let path = rig.answer_request(2 * CHECK_PERIOD, 404, b"").await;
    assert_eq!(
        (path.as_deref(), seen.elapsed() >= CHECK_PERIOD),
        (Some("/list"), true)
    );
    let ReleaseCheck::Failed(reason) = rig.next_report().await else {
        panic!("the failure was not reported");
    };
    assert_eq!(
        reason,
        "cannot fetch the list: the server responded with status 404"
    );
    let failed = Instant::now();
    let path = rig.answer_request(2 * RETRY_AFTER, 200, b"[]").await;
    assert_eq!(
        (path.is_some(), failed.elapsed() >= RETRY_AFTER),
        (true, true)
    );
    assert_eq!(
        rig.next_report().await,
        ReleaseCheck::Failed("the list has no version".into())
    );
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_new_policy_applies_at_once_and_a_new_list_soon() {
    let mut rig = Rig::new();
    rig.answer_request(FIRST_CHECK_WITHIN, 200, &list("9.9.0"))
        .await
        .unwrap();
    rig.verdict().await;
    let started = Instant::now();
    type Change = fn(&mut ReleasePlan);
    let cases: [(Change, ReleaseVerdict); 4] = [
        (|plan| plan.rule.share = 0, ReleaseVerdict::Share),
        (|plan| plan.rule.pin = "9.8.0".into(), ReleaseVerdict::Pin),
        (|plan| plan.rule.pin = "9.9.0".into(), ReleaseVerdict::Share),
        (|plan| plan.rule.share = 100, ReleaseVerdict::Taken),
    ];
    for (change, expected) in cases {
        rig.change(change);
        assert_eq!(rig.verdict().await.1, expected);
    }
    assert_eq!(
        started.elapsed(),
        Duration::ZERO,
        "a new policy needs no request"
    );
    rig.change(|plan| plan.feed = Endpoint::new("http://feed.example/other"));
    let path = rig
        .answer_request(NEW_FEED_WITHIN, 200, &list("9.9.1-rc.1"))
        .await;
    assert_eq!(path.as_deref(), Some("/other"));
    assert_eq!(rig.verdict().await.1, ReleaseVerdict::Channel);
    // Without a network, or if it is disabled, it does not check, except on request.
    rig.change(|plan| plan.mode = UpdateMode::Paused);
    assert_eq!(rig.verdict().await.1, ReleaseVerdict::Channel);
    assert_eq!(rig.answer_request(3 * CHECK_PERIOD, 200, b"").await, None);
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn accepted_releases_are_installed_automatically_if_enabled() {
    let mut rig = Rig::new();
    rig.change(|plan| (plan.mode, plan.rule.share) = (UpdateMode::Install, 0));
    rig.answer_request(FIRST_CHECK_WITHIN, 200, &list("9.9.0"))
        .await
        .unwrap();
    assert_eq!(rig.verdict().await.1, ReleaseVerdict::Share);
    assert_eq!(rig.answer_request(2 * INSTALL_WITHIN, 200, b"").await, None);
    rig.change(|plan| plan.rule.share = 100);
    assert_eq!(rig.verdict().await.1, ReleaseVerdict::Taken);
    // It checks again before the installation.
    let started = Instant::now();
    let path = rig
        .answer_request(INSTALL_WITHIN, 200, &list("9.9.0"))
        .await;
    assert_eq!(
        (path.as_deref(), started.elapsed() <= INSTALL_WITHIN),
        (Some("/list"), true)
    );
    rig.verdict().await;
    let sum = format!("{}  x\n", "ab".repeat(32));
    let path = rig
        .answer_request(Duration::from_secs(9), 200, sum.as_bytes())
        .await;
    assert_eq!(path, Some(format!("/{}.sha256", image())));
    let path = rig
        .answer_request(Duration::from_secs(9), 200, b"no image")
        .await;
    assert_eq!(path, Some(format!("/{}", image())));
    // There is no update key: the failure is reported, and not retried at once.
    assert_eq!(rig.answer_request(INSTALL_WITHIN, 200, b"").await, None);
    let slots = record::load(&mut Folder::new(rig.folder.path()));
    let failure = slots.last_failure.unwrap();
    assert!(
        failure.starts_with("the newest release was not installed: "),
        "{failure}"
    );
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_unreachable_list_is_retried_with_a_pause() {
    let mut rig = Rig::new();
    rig.change(|plan| plan.mode = UpdateMode::Install);
    rig.answer_request(FIRST_CHECK_WITHIN, 200, &list("9.9.0"))
        .await
        .unwrap();
    assert_eq!(rig.verdict().await.1, ReleaseVerdict::Taken);
    rig.answer_request(INSTALL_WITHIN, 503, b"").await.unwrap();
    assert!(matches!(rig.next_report().await, ReleaseCheck::Failed(_)));
    assert_eq!(rig.answer_request(RETRY_AFTER / 2, 503, b"").await, None);
    assert!(
        rig.answer_request(RETRY_AFTER, 200, &list("9.9.0"))
            .await
            .is_some()
    );
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_failed_release_is_not_installed_again_automatically() {
    let mut rig = Rig::new();
    let disk = &mut Folder::new(rig.folder.path());
    let installed = Installed {
        version: semver::Version::new(9, 9, 0),
        bytes: 7,
        digest: [0; 32],
        factory_build: String::new(),
        trial_state: TrialState::Trial { starts: 0 },
        executions: 0,
    };
    record::change(disk, |slots| {
        slots.activate(ImageSlot::A, installed);
        slots.mark_failed(ImageSlot::A, "it paints nothing");
    })
    .unwrap();
    rig.change(|plan| plan.mode = UpdateMode::Install);
    rig.answer_request(FIRST_CHECK_WITHIN, 200, &list("9.9.0"))
        .await
        .unwrap();
    assert_eq!(rig.verdict().await.1, ReleaseVerdict::Failed);
    assert_eq!(rig.answer_request(2 * INSTALL_WITHIN, 200, b"").await, None);
    // The next release is installed.
    rig.answer_request(2 * CHECK_PERIOD, 200, &list("9.9.1"))
        .await
        .unwrap();
    assert_eq!(rig.verdict().await.1, ReleaseVerdict::Taken);
    rig.stop().await;
}

// A thread writes to the disk, and paused time does not wait for it.
#[tokio::test]
async fn progress_is_reported_and_after_an_installation_nothing_else_is_installed() {
    let mut rig = Rig::installing();
    let facts = ImageFacts {
        kind: ImageKind::Firmware,
        build_time: 0,
        board: "rev-b".into(),
        panel: "122x250".into(),
        target: build::BuildFacts::own().target,
        version: Version::new(4, 9, 0),
        commit: String::new(),
    };
    let program: Vec<u8> = (0..u16::MAX).flat_map(u16::to_le_bytes).collect();
    let image = Packed::new(&program).image(facts).unwrap();
    rig.check_sender.send(()).await.unwrap();
    let soon = Duration::from_secs(9);
    rig.answer_request(soon, 200, &list("4.9.0")).await.unwrap();
    assert_eq!(rig.verdict().await.1, ReleaseVerdict::Taken);
    let digest = hex::encode(Sha256::digest(&image));
    rig.answer_request(soon, 200, digest.as_bytes())
        .await
        .unwrap();

    let mut stream = rig.arrivals.recv().await.unwrap().stream;
    let length = image.len();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let (part, rest) = image.split_at(length * 3 / 8);
    stream.write_all(part).await.unwrap();
    let mut wait_for_report = async |expected: &UpdateEvent| {
        let receiving = async {
            loop {
                if let Input::Uploaded(report) = rig.reports.recv().await.unwrap().input
                    && report == *expected
                {
                    return;
                }
            }
        };
        let received = timeout(Duration::from_secs(60), receiving).await;
        received.unwrap_or_else(|_| panic!("never {expected:?}"));
    };
    wait_for_report(&UpdateEvent::Started).await;
    wait_for_report(&UpdateEvent::Progress(37)).await;
    stream.write_all(rest).await.unwrap();
    wait_for_report(&UpdateEvent::Verified).await;

    // The clock is about to restart.
    let next = rig.installer.begin(Announced {
        kind: ImageKind::Firmware,
        versions: AcceptedVersions::NotOlder,
        bytes: None,
        digest: None,
    });
    assert!(matches!(next, Err(ImageRefusal::Busy)), "{next:?}");
    rig.stop().await;
}

/// A watcher that installs automatically and waits for the checksum of a release.
async fn fetching() -> (Rig, DuplexStream) {
    let mut rig = Rig::new();
    rig.change(|plan| plan.mode = UpdateMode::Install);
    for within in [FIRST_CHECK_WITHIN, INSTALL_WITHIN] {
        rig.answer_request(within, 200, &list("9.9.0"))
            .await
            .unwrap();
        rig.verdict().await;
    }
    let path = timeout(Duration::from_secs(5), rig.arrivals.recv()).await;
    (rig, path.unwrap().unwrap().stream)
}

async fn is_aborted(stream: &mut DuplexStream) -> bool {
    let mut rest = Vec::new();
    let closed = timeout(Duration::from_secs(1), stream.read_to_end(&mut rest)).await;
    closed.is_ok()
}

#[tokio::test(start_paused = true)]
async fn a_download_is_aborted_if_the_settings_change() {
    type Change = fn(&mut ReleasePlan);
    let cases: [(Change, bool); 4] = [
        (|plan| plan.rule.share = 0, false),
        (|plan| plan.rule.pin = "9.8.0".into(), false),
        (|plan| plan.mode = UpdateMode::CheckOnly, false),
        (|plan| plan.rule.share = 99, true),
    ];
    for (change, is_taken) in cases {
        let (mut rig, mut stream) = fetching().await;
        rig.change(change);
        assert!(is_aborted(&mut stream).await, "the download continues");
        rig.verdict().await;
        let slots = record::load(&mut Folder::new(rig.folder.path()));
        assert_eq!(
            slots.last_failure.as_deref(),
            Some(
                "the newest release was not installed: the settings were changed during the download"
            )
        );
        let again = rig.answer_request(INSTALL_WITHIN, 404, b"").await;
        assert_eq!(again.is_some(), is_taken);
        rig.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_short_network_failure_does_not_abort_a_download() {
    let (rig, mut stream) = fetching().await;
    rig.change(|plan| plan.mode = UpdateMode::Paused);
    assert!(!is_aborted(&mut stream).await, "the download was aborted");
    let slots = record::load(&mut Folder::new(rig.folder.path()));
    assert_eq!(slots.last_failure, None);
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_request_uses_the_current_settings() {
    let mut rig = Rig::new();
    rig.answer_request(FIRST_CHECK_WITHIN, 200, &list("9.9.0"))
        .await
        .unwrap();
    rig.verdict().await;
    rig.check_sender.try_send(()).unwrap();
    rig.answer_request(Duration::from_secs(1), 200, &list("9.9.0"))
        .await;
    rig.verdict().await;
    let checksum = timeout(Duration::from_secs(5), rig.arrivals.recv()).await;
    rig.change(|plan| plan.rule.pin = "9.8.0".into());
    assert_eq!(rig.verdict().await.1, ReleaseVerdict::Pin);
    // It checks again at once, with the new policy.
    let path = rig
        .answer_request(Duration::from_secs(1), 200, &list("9.8.0"))
        .await;
    assert_eq!(path.as_deref(), Some("/list"));
    assert_eq!(rig.verdict().await, ("9.8.0".into(), ReleaseVerdict::Taken));
    drop(checksum);
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_list_is_downloaded_over_the_route_of_the_settings() {
    let mut rig = Rig::new();
    let proxied = Settings {
        proxy_enabled: true,
        proxy_type: 4,
        proxy_host: "proxy".into(),
        ..Settings::default()
    };
    rig.change(|plan| plan.route = Route::of(&proxied));
    let arrival = timeout(FIRST_CHECK_WITHIN, rig.arrivals.recv()).await;
    assert_eq!(arrival.unwrap().unwrap().place, "proxy:1080");
    rig.stop().await;
}

fn view(settings: Settings) -> View {
    let board = *board::spec::find("rev-b").unwrap();
    let now = Now {
        uptime: Duration::ZERO,
        utc: None,
    };
    Device::new(board, settings, Default::default(), now).view()
}

#[tokio::test(start_paused = true)]
async fn releases_are_not_checked_if_nothing_can_be_installed() {
    let rig = Rig::new();
    let off = Settings {
        ota_enabled: false,
        ..Settings::default()
    };
    let refused = rig.newest.request(&view(off)).unwrap_err();
    assert_eq!(refused.to_string(), "updates are switched off");
    let refused = rig.newest.request(&view(Settings::default()));
    assert!(refused.unwrap_err().to_string().contains("is trusted"));
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn requests_are_refused_if_releases_are_not_checked() {
    let rig = Rig::installing();
    let (newest, mut requests) = NewestRelease::new(rig.installer.clone(), rig.plans.subscribe());
    let view = view(Settings {
        git_release_url: plan().feed,
        ..Settings::default()
    });
    let report = || newest.request(&view).map_err(|refused| refused.to_string());
    assert_eq!(report(), Ok(()));
    let too_much = report().unwrap_err();
    assert!(too_much.contains("another request"), "{too_much}");
    requests.recv().await.unwrap();
    // As in safe mode.
    rig.plans.send_replace(None);
    let not_now = report().unwrap_err();
    assert!(not_now.contains("starting or stopping"), "{not_now}");
    assert!(requests.try_recv().is_err());
    rig.stop().await;
}
