//! Synchronisation with NTP servers on loopback that give wrong times.

use std::{cell::Cell, io};

use device::{board::BoardSpec, device::Device, memory::Memory, settings::Settings};
use market::now::Now;

use net::resolver::{HostNames, NameService};
use tokio::net::UdpSocket;

use super::*;

/// Seconds from 1900 to 1970.
const NTP_EPOCH: i64 = 2_208_988_800;

/// Serves queries with a clock that is off by another amount each time.
async fn serve(server: UdpSocket, offs_ms: Vec<i64>) {
    for off_ms in offs_ms {
        answer(&server, [off_ms; 2]).await;
    }
}

/// Runs a future while servers respond; its end does not wait for queries that it does not make.
async fn beside<T>(correcting: impl Future<Output = T>, serving: impl Future) -> T {
    let serving = async {
        serving.await;
        std::future::pending().await
    };
    tokio::select! {
        done = correcting => done,
        done = serving => done,
    }
}

/// Serves a query: the clock's error at its receipt and at the response.
async fn answer(server: &UdpSocket, offs_ms: [i64; 2]) {
    let mut question = [0; 48];
    let (_, client) = server.recv_from(&mut question).await.unwrap();
    let stamps = offs_ms.map(|off_ms| {
        let now_ms = host_unix_ms() + off_ms;
        // The NTP era rolls over in 2036.
        let secs = (now_ms.div_euclid(1000) + NTP_EPOCH) & i64::from(u32::MAX);
        let secs = u32::try_from(secs).unwrap();
        let fraction = u32::try_from((now_ms.rem_euclid(1000) << 32) / 1000).unwrap();
        [secs.to_be_bytes(), fraction.to_be_bytes()].concat()
    });
    let mut reply = [0; 48];
    (reply[0], reply[1]) = (0x24, 2);
    reply[24..32].copy_from_slice(&question[40..48]);
    reply[32..40].copy_from_slice(&stamps[0]);
    reply[40..48].copy_from_slice(&stamps[1]);
    server.send_to(&reply, client).await.unwrap();
}

const HOUR: i64 = 3_600_000;
const YEAR: i64 = 365 * 24 * HOUR;

fn sync(built_ms: Option<i64>) -> TimeSync {
    TimeSync {
        server: ("127.0.0.1".to_owned(), TIME_PORT),
        clock: Clock::unset(),
        resolver: Resolver::new(Arc::new(HostNames)),
        built_ms,
        view: watch::Sender::new(Arc::new(view(None))).subscribe(),
        is_set: false,
        steps: Vec::new(),
    }
}

fn at(host: &str, port: u16) -> ServerAddresses {
    Vec::from([(host.to_owned(), port)])
}

/// A view of a device whose newest blocks were mined by then, Unix seconds.
fn view(earliest: Option<u32>) -> View {
    let now = Now {
        uptime: Duration::ZERO,
        utc: None,
    };
    let (settings, memory) = (Settings::default(), Memory::default());
    let mut view = Device::new(BoardSpec::EXAMPLE, settings, memory, now).view();
    view.truth.time.earliest = earliest;
    view
}

/// Synchronises with a server that gives these responses, all of which must be requested; returns the clock's offset to the
/// host's, ms.
async fn corrected(sync: &mut TimeSync, answers: &[i64]) -> (Option<i64>, Result<(), NoTime>) {
    let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let port = server.local_addr().unwrap().port();
    let served = Cell::new(0);
    let answering = async {
        for off_ms in answers {
            answer(&server, [*off_ms; 2]).await;
            served.set(served.get() + 1);
        }
    };
    let place = at("127.0.0.1", port);
    let corrected = beside(sync.correct(&place), answering).await;
    assert_eq!(served.get(), answers.len(), "queries of {answers:?}");
    let utc = sync.clock.now().utc;
    (utc.map(|utc| utc.unix_ms - host_unix_ms()), corrected)
}

fn is_about(off_ms: Option<i64>, expected: i64) -> bool {
    off_ms.is_some_and(|off_ms| (off_ms - expected).abs() < 1000)
}

#[tokio::test]
async fn a_large_step_needs_two_answers_that_agree() {
    // The server's error at each query, and the clock's afterwards.
    let zero = ZERO_TIME_MS - host_unix_ms();
    let rows: [(&[i64], i64); 9] = [
        (&[2 * HOUR], 2 * HOUR),
        (&[2 * HOUR + 30_000], 2 * HOUR + 30_000),
        (&[YEAR, YEAR], YEAR),
        (&[0, HOUR], YEAR),
        (&[-HOUR, -HOUR], -HOUR),
        (&[3 * YEAR, 2 * YEAR], -HOUR),
        (&[12 * YEAR, 12 * YEAR], 12 * YEAR),
        (&[-20 * YEAR], 12 * YEAR),
        (&[zero], 12 * YEAR),
    ];
    let mut sync = sync(None);
    for (answers, expected) in rows {
        let (off_ms, outcome) = corrected(&mut sync, answers).await;
        assert!(
            is_about(off_ms, expected),
            "{answers:?}: {off_ms:?}, {outcome:?}"
        );
        assert_eq!(outcome.is_ok(), answers.contains(&expected), "{answers:?}");
    }
}

#[tokio::test]
async fn a_single_server_moves_the_clock_by_less_than_a_minute_a_day() {
    const SECOND: i64 = 1000;
    let (asleep, sleep_time) = watch::channel(Duration::ZERO);
    let mut sync = TimeSync {
        clock: Clock::with_sleep(sleep_time),
        ..sync(None)
    };
    // Hours since the row before, the server's error at each query, and the clock's afterwards.
    let rows: [(u64, &[i64], i64); 9] = [
        (0, &[0], 0),
        (1, &[30 * SECOND], 30 * SECOND),
        (1, &[50 * SECOND], 50 * SECOND),
        (1, &[70 * SECOND, 110 * SECOND], 50 * SECOND),
        // Steps in both directions add up.
        (1, &[35 * SECOND, 0], 50 * SECOND),
        // A second response agrees.
        (1, &[70 * SECOND, 70 * SECOND], 70 * SECOND),
        (1, &[75 * SECOND], 75 * SECOND),
        (1, &[85 * SECOND, 120 * SECOND], 75 * SECOND),
        (24, &[130 * SECOND], 130 * SECOND),
    ];
    let mut slept = Duration::ZERO;
    for (hours, answers, expected) in rows {
        // The host's clock does not sleep with this one, so this clock runs ahead.
        slept += Duration::from_secs(hours * 3600);
        asleep.send_replace(slept);
        let now_ms = sync.clock.now().utc.map(|utc| utc.unix_ms);
        let slept_ms = i64::try_from(hours).unwrap() * HOUR;
        if let Some(now_ms) = now_ms {
            sync.clock.set(now_ms - slept_ms);
        }
        let (off_ms, outcome) = corrected(&mut sync, answers).await;
        assert!(
            is_about(off_ms, expected),
            "{answers:?}: {off_ms:?}, {outcome:?}"
        );
    }
}

#[tokio::test]
async fn an_unlikely_first_step_needs_confirmation() {
    // Age of the program by the host's clock, the server's error at each query, and the clock's afterwards. `None`
    // if it is not set.
    let (new, old) = (YEAR / 12, 3 * YEAR);
    let zero = ZERO_TIME_MS - host_unix_ms();
    let rows: [(Option<i64>, &[i64], Option<i64>); 16] = [
        (Some(new), &[0], Some(0)),
        (Some(new), &[11 * HOUR], Some(11 * HOUR)),
        // A day forward needs a second response.
        (Some(new), &[24 * HOUR, 24 * HOUR], Some(24 * HOUR)),
        (Some(new), &[24 * HOUR, 0], Some(0)),
        (Some(new), &[24 * HOUR, 48 * HOUR], None),
        // A host without a real-time clock starts with any time before the build.
        (
            Some(-10 * YEAR),
            &[10 * YEAR + HOUR, 10 * YEAR + HOUR],
            Some(10 * YEAR + HOUR),
        ),
        (Some(new), &[10 * YEAR, 10 * YEAR], Some(10 * YEAR)),
        (Some(new), &[10 * YEAR, 11 * YEAR], None),
        // The second response is a time that needs no confirmation.
        (Some(new), &[10 * YEAR, 0], Some(0)),
        (Some(new), &[-YEAR], None),
        (Some(new), &[10 * YEAR, -YEAR], None),
        (Some(old), &[zero], None),
        (Some(old), &[0], Some(0)),
        (Some(old), &[48 * HOUR, 48 * HOUR], Some(48 * HOUR)),
        (None, &[48 * HOUR, 48 * HOUR], Some(48 * HOUR)),
        (None, &[48 * HOUR, 24 * 48 * HOUR], None),
    ];
    for (age_ms, answers, expected) in rows {
        let mut sync = sync(age_ms.map(|age_ms| host_unix_ms() - age_ms));
        let (off_ms, outcome) = corrected(&mut sync, answers).await;
        let context = format!("{age_ms:?} {answers:?}: {off_ms:?}, {outcome:?}");
        match expected {
            Some(expected) => assert!(is_about(off_ms, expected), "{context}"),
            None => assert!(off_ms.is_none(), "{context}"),
        }
        assert_eq!(outcome.is_ok(), expected.is_some(), "{context}");
    }
}

/// Resolves every name to two addresses.
#[derive(Debug)]
struct Two;

impl NameService for Two {
    fn look_up(&self, _: &str) -> io::Result<Vec<SocketAddr>> {
        let both = [[127, 0, 0, 1], [127, 0, 0, 2]];
        Ok(both.map(|address| (address, 0).into()).into())
    }
}

fn sync_of_two() -> TimeSync {
    TimeSync {
        resolver: Resolver::new(Arc::new(Two)),
        ..sync(Some(host_unix_ms() - YEAR))
    }
}

#[tokio::test]
async fn the_confirmation_is_from_another_server() {
    let liar = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let port = liar.local_addr().unwrap().port();
    let honest = UdpSocket::bind(("127.0.0.2", port)).await.unwrap();
    let mut sync = sync_of_two();
    let lying = serve(liar, vec![10 * YEAR]);
    let place = at("time.example", port);
    let serving = async { tokio::join!(lying, serve(honest, vec![0])) };
    beside(sync.correct(&place), serving).await.unwrap();
    let off_ms = sync.clock.now().utc.map(|utc| utc.unix_ms - host_unix_ms());
    assert!(is_about(off_ms, 0), "{off_ms:?}");

    // The same server, if the other address does not answer.
    let only = UdpSocket::bind("127.0.0.2:0").await.unwrap();
    let place = at("time.example", only.local_addr().unwrap().port());
    let mut sync = sync_of_two();
    let serving = serve(only, vec![48 * HOUR; 2]);
    beside(sync.correct(&place), serving).await.unwrap();
    let off_ms = sync.clock.now().utc.map(|utc| utc.unix_ms - host_unix_ms());
    assert!(is_about(off_ms, 48 * HOUR), "{off_ms:?}");
}

#[tokio::test]
async fn the_confirmation_is_from_another_name_if_there_are_two() {
    // Responses of the other name's server, and the clock's error afterwards. `None` if it is not set.
    for (answers, expected) in [(vec![0], Some(0)), (Vec::new(), None)] {
        let first = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let port = first.local_addr().unwrap().port();
        let beside_first = UdpSocket::bind(("127.0.0.2", port)).await.unwrap();
        let other = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let named = at("other.example", other.local_addr().unwrap().port());
        let places = [at("time.example", port), named].concat();
        let mut sync = sync_of_two();
        let serving = async {
            tokio::join!(
                serve(first, vec![10 * YEAR; 2]),
                serve(beside_first, vec![10 * YEAR; 2]),
                serve(other, answers),
            )
        };
        let outcome = beside(sync.correct(&places), serving).await;
        let utc = sync.clock.now().utc;
        let off_ms = utc.map(|utc| utc.unix_ms - host_unix_ms());
        let is_right = expected.map_or(off_ms.is_none(), |expected| is_about(off_ms, expected));
        assert!(is_right, "{expected:?}: {off_ms:?}, {outcome:?}");
        assert_eq!(outcome.is_ok(), expected.is_some(), "{outcome:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_next_query_is_in_time_after_a_night_asleep() {
    let (sleep, asleep) = tokio::sync::watch::channel(Duration::ZERO);
    let clock = Clock::with_sleep(asleep);
    let sync = TimeSync {
        clock: clock.clone(),
        ..sync(None)
    };
    let wanted = sync.wanted();
    let night = async {
        time::sleep(SYNC_EVERY / 2).await;
        sleep.send_replace(SYNC_EVERY);
    };
    let start = time::Instant::now();
    tokio::select! {
        (changed, ()) = async { tokio::join!(sync.wait(SYNC_EVERY, &wanted), night) } => assert!(!changed),
        () = clock.follow_host() => {}
    }
    assert!(start.elapsed() < SYNC_EVERY / 2 + Duration::from_secs(1));
}
