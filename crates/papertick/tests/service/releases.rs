//! A clock follows a list of releases, in virtual time: when it looks, what it says of what it sees, and when it
//! installs something by itself.

use std::time::Duration;

use device::{
    Device,
    input::{Input, UpdateEvent},
    releases::{Habit, ReleaseChannel, ReleaseCheck, ReleasePlan, ReleaseRule, ReleaseVerdict},
    secret::Endpoint,
    settings::Settings,
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

/// A watcher, the server it asks, and the device it tells.
struct Rig {
    plans: watch::Sender<Option<ReleasePlan>>,
    newest: NewestRelease,
    installer: Installer,
    wish: mpsc::Sender<()>,
    arrivals: mpsc::Receiver<Arrival>,
    heard: mpsc::Receiver<InboxMessage>,
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
        habit: Habit::Looks,
    }
}

impl Rig {
    fn new() -> Rig {
        Rig::with(|means| means)
    }

    /// One that can install something.
    fn installing() -> Rig {
        Rig::with(|means| InstallerConfig {
            firmware: Some(Firmware {
                running: Program::Factory,
                version: "4.1.0".into(),
                factory: Factory::own(),
            }),
            signatures: Signatures::NotRequired,
            ..means
        })
    }

    fn with(change: impl FnOnce(InstallerConfig) -> InstallerConfig) -> Rig {
        let plans = watch::Sender::new(Some(plan()));
        let (arrive, arrivals) = mpsc::channel(1);
        let (inbox, heard) = inbox();
        let folder = TempDir::new().unwrap();
        let board = *board::spec::find("rev-b").unwrap();
        let means =
            InstallerConfig::without_slots(board, folder.path().to_path_buf(), inbox.clone());
        let (installer, _) = Installer::new(change(means));
        let (newest, _) = NewestRelease::new(installer.clone(), plans.subscribe());
        let (wish, receiver) = mpsc::channel(1);
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
            wish,
            arrivals,
            heard,
            folder,
            tasks,
            stopper,
        }
    }

    fn change(&self, change: impl FnOnce(&mut ReleasePlan)) {
        self.plans
            .send_modify(|plan| change(plan.as_mut().unwrap()));
    }

    /// Answers the next request with this, and tells what was asked for; none if nobody asks for so long.
    async fn asked(&mut self, within: Duration, status: u16, body: &[u8]) -> Option<String> {
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

    /// What the device is told next.
    async fn told(&mut self) -> ReleaseCheck {
        let message = timeout(Duration::from_secs(60), self.heard.recv()).await;
        let input = message.expect("nothing is told").unwrap().input;
        let Input::ReleaseCheck(look) = input else {
            panic!("{input:?}");
        };
        look
    }

    async fn verdict(&mut self) -> (String, ReleaseVerdict) {
        match self.told().await {
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
async fn a_clock_looks_now_and_then_and_sooner_where_it_failed() {
    let mut rig = Rig::new();
    let begun = Instant::now();
    let asked = rig.asked(FIRST_CHECK_WITHIN, 200, &list("9.9.0")).await;
    assert_eq!(asked.as_deref(), Some("/list"));
    assert_eq!(rig.verdict().await, ("9.9.0".into(), ReleaseVerdict::Taken));
    let seen = Instant::now();
    assert!(begun.elapsed() <= FIRST_CHECK_WITHIN);
    // It only looks: nothing of the release is fetched.
    let asked = rig.asked(2 * CHECK_PERIOD, 404, b"").await;
    assert_eq!(
        (asked.as_deref(), seen.elapsed() >= CHECK_PERIOD),
        (Some("/list"), true)
    );
    let ReleaseCheck::Failed(reason) = rig.told().await else {
        panic!("it was seen");
    };
    assert_eq!(
        reason,
        "cannot fetch the list: the server responded with status 404"
    );
    let failed = Instant::now();
    let asked = rig.asked(2 * RETRY_AFTER, 200, b"[]").await;
    assert_eq!(
        (asked.is_some(), failed.elapsed() >= RETRY_AFTER),
        (true, true)
    );
    assert_eq!(
        rig.told().await,
        ReleaseCheck::Failed("the list has no version".into())
    );
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn another_rule_is_followed_at_once_and_another_list_is_read_soon() {
    let mut rig = Rig::new();
    rig.asked(FIRST_CHECK_WITHIN, 200, &list("9.9.0"))
        .await
        .unwrap();
    rig.verdict().await;
    let begun = Instant::now();
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
        begun.elapsed(),
        Duration::ZERO,
        "nothing was fetched for that"
    );
    rig.change(|plan| plan.feed = Endpoint::new("http://feed.example/other"));
    let asked = rig.asked(NEW_FEED_WITHIN, 200, &list("9.9.1-rc.1")).await;
    assert_eq!(asked.as_deref(), Some("/other"));
    assert_eq!(rig.verdict().await.1, ReleaseVerdict::Channel);
    // Who has no network, or must not act, does not look; who is asked does.
    rig.change(|plan| plan.habit = Habit::Waits);
    assert_eq!(rig.verdict().await.1, ReleaseVerdict::Channel);
    assert_eq!(rig.asked(3 * CHECK_PERIOD, 200, b"").await, None);
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_taken_is_installed_by_itself_where_the_owner_wants_that() {
    let mut rig = Rig::new();
    rig.change(|plan| (plan.habit, plan.rule.share) = (Habit::Installs, 0));
    rig.asked(FIRST_CHECK_WITHIN, 200, &list("9.9.0"))
        .await
        .unwrap();
    assert_eq!(rig.verdict().await.1, ReleaseVerdict::Share);
    assert_eq!(rig.asked(2 * INSTALL_WITHIN, 200, b"").await, None);
    rig.change(|plan| plan.rule.share = 100);
    assert_eq!(rig.verdict().await.1, ReleaseVerdict::Taken);
    // It looks again before it does so.
    let begun = Instant::now();
    let asked = rig.asked(INSTALL_WITHIN, 200, &list("9.9.0")).await;
    assert_eq!(
        (asked.as_deref(), begun.elapsed() <= INSTALL_WITHIN),
        (Some("/list"), true)
    );
    rig.verdict().await;
    let sum = format!("{}  x\n", "ab".repeat(32));
    let asked = rig.asked(Duration::from_secs(9), 200, sum.as_bytes()).await;
    assert_eq!(asked, Some(format!("/{}.sha256", image())));
    let asked = rig.asked(Duration::from_secs(9), 200, b"no image").await;
    assert_eq!(asked, Some(format!("/{}", image())));
    // Nobody is trusted here, which stands where failures of updates do, and is no reason to try again at once.
    assert_eq!(rig.asked(INSTALL_WITHIN, 200, b"").await, None);
    let slots = record::load(&mut Folder::new(rig.folder.path()));
    let failure = slots.last_failure.unwrap();
    assert!(
        failure.starts_with("the newest release was not installed: "),
        "{failure}"
    );
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_list_that_is_away_as_it_is_needed_is_not_asked_for_without_a_pause() {
    let mut rig = Rig::new();
    rig.change(|plan| plan.habit = Habit::Installs);
    rig.asked(FIRST_CHECK_WITHIN, 200, &list("9.9.0"))
        .await
        .unwrap();
    assert_eq!(rig.verdict().await.1, ReleaseVerdict::Taken);
    rig.asked(INSTALL_WITHIN, 503, b"").await.unwrap();
    assert!(matches!(rig.told().await, ReleaseCheck::Failed(_)));
    assert_eq!(rig.asked(RETRY_AFTER / 2, 503, b"").await, None);
    assert!(rig.asked(RETRY_AFTER, 200, &list("9.9.0")).await.is_some());
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_did_not_work_here_is_not_tried_again_by_itself() {
    let mut rig = Rig::new();
    let disk = &mut Folder::new(rig.folder.path());
    let installed = Installed {
        version: semver::Version::new(9, 9, 0),
        bytes: 7,
        digest: [0; 32],
        factory_build: String::new(),
        trial_state: TrialState::Trial { starts: 0 },
        handovers: 0,
    };
    record::change(disk, |slots| {
        slots.activate(ImageSlot::A, installed);
        slots.mark_failed(ImageSlot::A, "it paints nothing");
    })
    .unwrap();
    rig.change(|plan| plan.habit = Habit::Installs);
    rig.asked(FIRST_CHECK_WITHIN, 200, &list("9.9.0"))
        .await
        .unwrap();
    assert_eq!(rig.verdict().await.1, ReleaseVerdict::Failed);
    assert_eq!(rig.asked(2 * INSTALL_WITHIN, 200, b"").await, None);
    // The next one is.
    rig.asked(2 * CHECK_PERIOD, 200, &list("9.9.1"))
        .await
        .unwrap();
    assert_eq!(rig.verdict().await.1, ReleaseVerdict::Taken);
    rig.stop().await;
}

// A thread puts it on the disk, and paused time does not wait for that.
#[tokio::test]
async fn how_much_has_come_is_told_and_once_it_is_installed_nothing_else_is_taken() {
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
    rig.wish.send(()).await.unwrap();
    let soon = Duration::from_secs(9);
    rig.asked(soon, 200, &list("4.9.0")).await.unwrap();
    assert_eq!(rig.verdict().await.1, ReleaseVerdict::Taken);
    let digest = hex::encode(Sha256::digest(&image));
    rig.asked(soon, 200, digest.as_bytes()).await.unwrap();

    let mut stream = rig.arrivals.recv().await.unwrap().stream;
    let length = image.len();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let (part, rest) = image.split_at(length * 3 / 8);
    stream.write_all(part).await.unwrap();
    let mut heard = async |wanted: &UpdateEvent| {
        let hearing = async {
            loop {
                if let Input::Uploaded(told) = rig.heard.recv().await.unwrap().input
                    && told == *wanted
                {
                    return;
                }
            }
        };
        let heard = timeout(Duration::from_secs(60), hearing).await;
        heard.unwrap_or_else(|_| panic!("never {wanted:?}"));
    };
    heard(&UpdateEvent::Started).await;
    heard(&UpdateEvent::Progress(37)).await;
    stream.write_all(rest).await.unwrap();
    heard(&UpdateEvent::Verified).await;

    // The clock is about to be started anew.
    let next = rig.installer.begin(Announced {
        kind: ImageKind::Firmware,
        versions: AcceptedVersions::NotOlder,
        bytes: None,
        digest: None,
    });
    assert!(matches!(next, Err(ImageRefusal::Busy)), "{next:?}");
    rig.stop().await;
}

/// A clock that installs by itself and fetches a release, whose checksum does not come.
async fn fetching() -> (Rig, DuplexStream) {
    let mut rig = Rig::new();
    rig.change(|plan| plan.habit = Habit::Installs);
    for within in [FIRST_CHECK_WITHIN, INSTALL_WITHIN] {
        rig.asked(within, 200, &list("9.9.0")).await.unwrap();
        rig.verdict().await;
    }
    let asked = timeout(Duration::from_secs(5), rig.arrivals.recv()).await;
    (rig, asked.unwrap().unwrap().stream)
}

async fn is_given_up(stream: &mut DuplexStream) -> bool {
    let mut rest = Vec::new();
    let closed = timeout(Duration::from_secs(1), stream.read_to_end(&mut rest)).await;
    closed.is_ok()
}

#[tokio::test(start_paused = true)]
async fn what_is_fetched_is_given_up_when_the_owner_wants_something_else() {
    type Change = fn(&mut ReleasePlan);
    let cases: [(Change, bool); 4] = [
        (|plan| plan.rule.share = 0, false),
        (|plan| plan.rule.pin = "9.8.0".into(), false),
        (|plan| plan.habit = Habit::Looks, false),
        (|plan| plan.rule.share = 99, true),
    ];
    for (change, is_taken) in cases {
        let (mut rig, mut stream) = fetching().await;
        rig.change(change);
        assert!(is_given_up(&mut stream).await, "it goes on");
        rig.verdict().await;
        let slots = record::load(&mut Folder::new(rig.folder.path()));
        assert_eq!(
            slots.last_failure.as_deref(),
            Some(
                "the newest release was not installed: the settings were changed during the download"
            )
        );
        let again = rig.asked(INSTALL_WITHIN, 404, b"").await;
        assert_eq!(again.is_some(), is_taken);
        rig.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_network_that_is_away_for_a_moment_ends_no_download() {
    let (rig, mut stream) = fetching().await;
    rig.change(|plan| plan.habit = Habit::Waits);
    assert!(!is_given_up(&mut stream).await, "it is given up");
    let slots = record::load(&mut Folder::new(rig.folder.path()));
    assert_eq!(slots.last_failure, None);
    rig.stop().await;
}

#[tokio::test(start_paused = true)]
async fn who_asks_gets_what_the_settings_say_by_then() {
    let mut rig = Rig::new();
    rig.asked(FIRST_CHECK_WITHIN, 200, &list("9.9.0"))
        .await
        .unwrap();
    rig.verdict().await;
    rig.wish.try_send(()).unwrap();
    rig.asked(Duration::from_secs(1), 200, &list("9.9.0")).await;
    rig.verdict().await;
    let checksum = timeout(Duration::from_secs(5), rig.arrivals.recv()).await;
    rig.change(|plan| plan.rule.pin = "9.8.0".into());
    assert_eq!(rig.verdict().await.1, ReleaseVerdict::Pin);
    // It looks again at once, with the other rule.
    let asked = rig.asked(Duration::from_secs(1), 200, &list("9.8.0")).await;
    assert_eq!(asked.as_deref(), Some("/list"));
    assert_eq!(rig.verdict().await, ("9.8.0".into(), ReleaseVerdict::Taken));
    drop(checksum);
    rig.stop().await;
}

/// The view of a clock that was just started.
fn view(settings: Settings) -> View {
    let board = *board::spec::find("rev-b").unwrap();
    let now = Now {
        uptime: Duration::ZERO,
        utc: None,
    };
    Device::new(board, settings, Default::default(), now).view()
}

#[tokio::test(start_paused = true)]
async fn nobody_looks_where_nothing_could_be_installed() {
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
async fn who_asks_for_what_nobody_does_now_is_told() {
    let rig = Rig::installing();
    let (newest, mut wishes) = NewestRelease::new(rig.installer.clone(), rig.plans.subscribe());
    let view = view(Settings {
        git_release_url: plan().feed,
        ..Settings::default()
    });
    let told = || newest.request(&view).map_err(|refused| refused.to_string());
    assert_eq!(told(), Ok(()));
    let too_much = told().unwrap_err();
    assert!(too_much.contains("another request"), "{too_much}");
    wishes.recv().await.unwrap();
    // As in safe mode.
    rig.plans.send_replace(None);
    let not_now = told().unwrap_err();
    assert!(not_now.contains("starting or stopping"), "{not_now}");
    assert!(wishes.try_recv().is_err());
    rig.stop().await;
}
