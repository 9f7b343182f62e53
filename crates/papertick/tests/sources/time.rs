//! Time servers that are correct, wrong, silent, or contradict each other.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use device::{
    Device, board::BoardSpec, input::Input, memory::Memory, settings::Settings, view::View,
};
use market::Connection;
use net::resolver::{HostNames, Resolver};
use runtime::{
    clock::Clock,
    inbox::{Inbox, inbox},
    tasks::{Tasks, stop_signal},
};
use sources::time::{Timekeeping, synchronise};
use tokio::{net::UdpSocket, sync::watch, time};

/// Seconds from 1900 to 1970.
const NTP_EPOCH: u64 = 2_208_988_800;

/// The view of a device without any data.
fn view(clock: &Clock) -> View {
    view_of(clock, &[])
}

/// The same, with configured servers.
fn view_of(clock: &Clock, servers: &[SocketAddr]) -> View {
    let settings = Settings {
        time_servers: servers.iter().map(ToString::to_string).collect(),
        ..Settings::default()
    };
    Device::new(BoardSpec::EXAMPLE, settings, Memory::default(), clock.now()).view()
}

pub(crate) fn timekeeping(clock: &Clock, port: u16, inbox: Inbox) -> Timekeeping {
    Timekeeping {
        clock: clock.clone(),
        resolver: Resolver::new(Arc::new(HostNames)),
        server: ("127.0.0.1".to_owned(), port),
        built_ms: None,
        view: watch::Sender::new(Arc::new(view(clock))).subscribe(),
        inbox,
    }
}

fn unix_ms() -> i64 {
    i64::try_from(
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_millis(),
    )
    .unwrap()
}

fn stamp(unix_ms: i64) -> [u8; 8] {
    let ms = u64::try_from(unix_ms).unwrap();
    let secs = u32::try_from(ms / 1000 + NTP_EPOCH).unwrap();
    let fraction = u32::try_from(((ms % 1000) << 32) / 1000).unwrap();
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&secs.to_be_bytes());
    bytes[4..].copy_from_slice(&fraction.to_be_bytes());
    bytes
}

/// Responds to one query with a clock that is off.
pub(crate) async fn answer(server: &UdpSocket, off_ms: i64, stratum: u8) {
    let mut question = [0; 48];
    let (_, client) = server.recv_from(&mut question).await.unwrap();
    let mut reply = [0; 48];
    reply[0] = 0x24;
    reply[1] = stratum;
    reply[24..32].copy_from_slice(&question[40..48]);
    let now = stamp(unix_ms() + off_ms);
    reply[32..40].copy_from_slice(&now);
    reply[40..48].copy_from_slice(&now);
    server.send_to(&reply, client).await.unwrap();
}

async fn corrected(clock: &Clock) -> i64 {
    let mut steps = clock.steps();
    time::timeout(Duration::from_secs(10), steps.changed())
        .await
        .unwrap()
        .unwrap();
    clock.now().utc.unwrap().unix_ms - unix_ms()
}

#[tokio::test]
async fn a_time_server_sets_the_clock() {
    let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let port = server.local_addr().unwrap().port();
    let clock = Clock::unset();
    assert_eq!(clock.now().utc, None);
    let (stopper, stop) = stop_signal();
    let (inbox, mut inputs) = inbox();
    let mut tasks = Tasks::new();
    tasks.spawn("time", synchronise(timekeeping(&clock, port, inbox), stop));
    answer(&server, 90_000, 2).await;
    let off_ms = corrected(&clock).await;
    let reported = inputs.recv().await.unwrap().input;
    assert!(
        matches!(reported, Input::TimeServer(Connection::Up)),
        "{reported:?}"
    );
    assert!((89_000..91_000).contains(&off_ms), "{off_ms}");
    stopper.stop();
    assert!(tasks.stop(Duration::from_secs(1)).await.is_empty());
}

#[tokio::test]
async fn configured_servers_are_queried_and_a_change_counts_at_once() {
    let bound = async || {
        let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let place = server.local_addr().unwrap();
        (server, place)
    };
    let (usual, usual_place) = bound().await;
    let (first, first_place) = bound().await;
    let (second, second_place) = bound().await;
    let (third, third_place) = bound().await;
    let clock = Clock::unset();
    let (_stopper, stop) = stop_signal();
    let (inbox, _inputs) = inbox();
    let views = watch::Sender::new(Arc::new(view_of(&clock, &[first_place, second_place])));
    let timekeeping = Timekeeping {
        view: views.subscribe(),
        ..timekeeping(&clock, usual_place.port(), inbox)
    };
    let mut tasks = Tasks::new();
    tasks.spawn("time", synchronise(timekeeping, stop));
    // Such a large step needs confirmation by the other server.
    let day_ms = 86_400_000;
    answer(&first, day_ms, 2).await;
    answer(&second, day_ms, 2).await;
    let off_ms = corrected(&clock).await;
    assert!((day_ms - 1000..day_ms + 1000).contains(&off_ms), "{off_ms}");
    // Less than an hour later.
    views.send_replace(Arc::new(view_of(&clock, &[third_place])));
    answer(&third, day_ms + 2_000, 2).await;
    let off_ms = corrected(&clock).await - day_ms;
    assert!((1_000..3_000).contains(&off_ms), "{off_ms}");
    views.send_replace(Arc::new(view(&clock)));
    answer(&usual, day_ms + 5_000, 2).await;
    let off_ms = corrected(&clock).await - day_ms;
    assert!((4_000..6_000).contains(&off_ms), "{off_ms}");
}

#[tokio::test]
async fn a_time_before_the_newest_blocks_is_refused() {
    let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let port = server.local_addr().unwrap().port();
    let clock = Clock::unset();
    let (_stopper, stop) = stop_signal();
    let (inbox, mut inputs) = inbox();
    let mut known_view = view(&clock);
    known_view.truth.time.earliest = u32::try_from(unix_ms() / 1000 - 600).ok();
    let timekeeping = Timekeeping {
        view: watch::Sender::new(Arc::new(known_view)).subscribe(),
        ..timekeeping(&clock, port, inbox)
    };
    let mut tasks = Tasks::new();
    tasks.spawn("time", synchronise(timekeeping, stop));
    answer(&server, -3_600_000, 2).await;
    let reported = inputs.recv().await.unwrap().input;
    assert!(
        matches!(reported, Input::TimeServerRejected),
        "{reported:?}"
    );
    let reported = inputs.recv().await.unwrap().input;
    let Input::TimeServer(Connection::Down { reason, .. }) = reported else {
        panic!("{reported:?}");
    };
    assert_eq!(reason, "the answer is before the newest blocks");
    assert_eq!(clock.now().utc, None);
}

#[tokio::test]
async fn implausible_answers_leave_the_clock_unset() {
    let century_ms = 100 * 365 * 86_400 * 1000;
    let (soon, hour) = (Duration::from_secs(4), Duration::from_secs(3600));
    for (off_ms, stratum, least) in [
        (-century_ms / 2, 2, soon),
        // A server that reports itself unsynchronised sends a kiss of death.
        (0, 0, hour),
        (0, 16, soon),
    ] {
        let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let port = server.local_addr().unwrap().port();
        let clock = Clock::unset();
        let (_stopper, stop) = stop_signal();
        let (inbox, mut inputs) = inbox();
        let mut tasks = Tasks::new();
        tasks.spawn("time", synchronise(timekeeping(&clock, port, inbox), stop));
        answer(&server, off_ms, stratum).await;
        let reported = inputs.recv().await.unwrap().input;
        assert_eq!(clock.now().utc, None, "{off_ms} ms, stratum {stratum}");
        let Input::TimeServer(Connection::Down { reason, retry_in }) = reported else {
            panic!("{reported:?}");
        };
        assert!(!reason.is_empty());
        let in_time = least..=least * 3 / 2;
        assert!(in_time.contains(&retry_in), "{reason}: {retry_in:?}");
    }
}
