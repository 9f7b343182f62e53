//! The event stream: its events, their order, and its end.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{pause, resume, sleep, timeout},
};

use board::sim::{self, SimOptions};
use device::{board::PanelFault, refresh::Refresh, view::SourceState};
use market::source_id::SourceId;

use crate::support::{Clock, SOON, Setup, followers};

pub(crate) struct EventClient {
    stream: TcpStream,
    received: String,
}

impl EventClient {
    pub(crate) async fn of(clock: &Clock) -> EventClient {
        EventClient::at(clock, "/events").await
    }

    pub(crate) async fn at(clock: &Clock, path: &str) -> EventClient {
        let mut stream = clock.connect().await;
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\n\r\n",
            clock.address
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut follower = EventClient {
            stream,
            received: String::new(),
        };
        let head = follower.until("\r\n\r\n").await;
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        for header in [
            "content-type: text/event-stream",
            "cache-control: no-cache",
            // A buffering proxy would delay events.
            "x-accel-buffering: no",
        ] {
            assert!(head.contains(&format!("{header}\r\n")), "{head}");
        }
        follower
    }

    async fn until(&mut self, mark: &str) -> String {
        loop {
            if let Some(at) = self.received.find(mark) {
                let rest = self.received.split_off(at + mark.len());
                return std::mem::replace(&mut self.received, rest);
            }
            let mut buffer = [0; 4096];
            let read = timeout(SOON, self.stream.read(&mut buffer))
                .await
                .expect("bytes in time")
                .unwrap();
            assert_ne!(read, 0, "the stream ended after {:?}", self.received);
            self.received
                .push_str(std::str::from_utf8(&buffer[..read]).unwrap());
        }
    }

    /// Name and data of the next frame; comments are skipped.
    pub(crate) async fn frame(&mut self) -> (String, String) {
        timeout(SOON, self.next()).await.expect("a frame in time")
    }

    async fn next(&mut self) -> (String, String) {
        loop {
            let chunk = self.until("\n\n").await;
            // A chunk starts with its length, and may have several frames.
            let text = chunk.trim_start_matches("\r\n");
            let text = text.split_once("\r\n").map_or(text, |(_, text)| text);
            let field = |name: &str| {
                text.lines()
                    .find_map(|line| line.strip_prefix(name))
                    .unwrap_or_default()
            };
            let frame = (field("event: ").to_string(), field("data: ").to_string());
            if !frame.1.is_empty() {
                return frame;
            }
        }
    }

    pub(crate) async fn status(&mut self) -> Value {
        let (name, data) = self.frame().await;
        assert_eq!(name, "status");
        serde_json::from_str(&data).unwrap()
    }
}

#[tokio::test]
async fn a_client_receives_the_status_at_once() {
    let clock = Clock::start().await;
    let mut client = EventClient::of(&clock).await;
    assert_eq!(client.frame().await, ("welcome".into(), "{}".into()));
    assert_eq!(client.status().await["currentScreen"], 20);
    clock.change(|view| view.current_screen = 3);
    assert_eq!(client.status().await["currentScreen"], 3);
}

/// A client with open settings must reload them.
#[tokio::test]
async fn a_client_receives_changes_of_settings() {
    let clock = Clock::start().await;
    let tag = async || {
        let settings = clock.get("/api/settings").await;
        settings.header("etag").unwrap().to_string()
    };
    let mut client = EventClient::of(&clock).await;
    client.frame().await;
    let first = tag().await;
    assert_eq!(client.status().await["settingsTag"], first);
    clock.change(|view| Arc::make_mut(&mut view.settings.stored).led_brightness = 5);
    let second = client.status().await["settingsTag"].clone();
    assert_ne!(second, first);
    assert_eq!(second, tag().await);
}

#[tokio::test]
async fn a_lost_source_is_sent_at_once() {
    let clock = Clock::start().await;
    let mut client = EventClient::of(&clock).await;
    client.frame().await;
    client.status().await;
    let gone = || SourceState {
        last_error: Some("gone".into()),
        ..SourceState::default()
    };
    clock.change(|view| view.mqtt = Some(gone()));
    assert_eq!(client.status().await["mqtt"]["lastError"], "gone");
    clock.change(|view| view.sources = [(SourceId::Relay, gone())].into());
    let status = client.status().await;
    assert_eq!(status["sources"]["relay"]["lastError"], "gone");
    clock.change(|view| view.time_server = Some(gone()));
    assert_eq!(client.status().await["timeServer"]["lastError"], "gone");
}

/// The signals of the bench are sent to clients that request them, at once and after changes.
#[tokio::test(start_paused = true)]
async fn bench_signals_are_sent_on_request() {
    let spec = board::spec::find("rev-b").unwrap();
    let bench = sim::board(spec, SimOptions::default()).bench;
    let clock = Clock::with(Setup {
        bench: Some(bench.clone()),
        ..Setup::default()
    })
    .await;
    let mut client = EventClient::at(&clock, "/events?bench").await;
    let mut other = EventClient::of(&clock).await;
    for follower in [&mut client, &mut other] {
        assert_eq!(follower.frame().await.0, "welcome");
        follower.status().await;
    }
    let (name, data) = client.frame().await;
    assert_eq!(name, "bench");
    assert_eq!(data, clock.get("/sim/state").await.text());
    bench.set_millilux(Some(7_000)).unwrap();
    let (name, data) = client.frame().await;
    let state: Value = serde_json::from_str(&data).unwrap();
    assert_eq!((name.as_str(), &state["lux"]), ("bench", &json!(7.0)));
    // Without changes nothing is sent.
    clock.change(|view| view.current_screen = 3);
    assert_eq!(client.status().await["currentScreen"], 3);
    assert_eq!(other.status().await["currentScreen"], 3);

    let real = Clock::start().await;
    let mut client = EventClient::at(&real, "/events?bench").await;
    client.frame().await;
    client.status().await;
    real.change(|view| view.current_screen = 3);
    assert_eq!(client.status().await["currentScreen"], 3);
}

/// A change between two clients is sent with its reversal.
#[tokio::test(start_paused = true)]
async fn a_change_and_its_reversal_are_sent_to_a_later_client() {
    let clock = Clock::start().await;
    for round in 0..3 {
        let mut client = EventClient::of(&clock).await;
        client.frame().await;
        assert_eq!(client.status().await["currentScreen"], 20, "round {round}");
        drop(client);
        while followers(&clock).await > 0 {
            sleep(Duration::from_millis(10)).await;
        }
        clock.change(|view| view.current_screen = 3);
        sleep(Duration::from_secs(1)).await;
        let mut client = EventClient::of(&clock).await;
        client.frame().await;
        assert_eq!(client.status().await["currentScreen"], 3, "round {round}");
        clock.change(|view| view.current_screen = 20);
        assert_eq!(client.status().await["currentScreen"], 20, "round {round}");
    }
}

#[tokio::test]
async fn quick_changes_are_sent_at_most_ten_times_a_second_with_the_last_one() {
    let clock = Clock::start().await;
    let mut client = EventClient::of(&clock).await;
    client.frame().await;
    client.status().await;
    let started = tokio::time::Instant::now();
    let mut frames = 0;
    for screen in 0..200 {
        clock.change(|view| view.current_screen = screen);
        tokio::task::yield_now().await;
    }
    loop {
        frames += 1;
        if client.status().await["currentScreen"] == 199 {
            break;
        }
    }
    let allowed = started.elapsed().as_millis() / 100 + 2;
    assert!(
        frames <= allowed,
        "{frames} frames in {:?}",
        started.elapsed()
    );
}

#[tokio::test]
async fn repainted_panels_are_sent_with_the_kind_of_refresh() {
    let clock = Clock::start().await;
    let mut client = EventClient::of(&clock).await;
    client.frame().await;
    client.status().await;
    clock.glass.send_modify(|glass| {
        let glass = Arc::make_mut(glass);
        glass.generation = 2;
        for (index, refresh) in [
            (0, Refresh::Full),
            (5, Refresh::Partial),
            (6, Refresh::Partial),
        ] {
            glass.panels[index].painted = 2;
            glass.panels[index].refresh = refresh;
        }
    });
    let (name, data) = client.frame().await;
    assert_eq!(name, "panels");
    assert_eq!(
        data,
        concat!(
            r#"{"generation":2,"panels":[{"panel":0,"refresh":"full"},"#,
            r#"{"panel":5,"refresh":"partial"},{"panel":6,"refresh":"partial"}]}"#,
        )
    );
    // The next event has no earlier changes.
    clock.glass.send_modify(|glass| {
        let glass = Arc::make_mut(glass);
        glass.generation = 3;
        glass.panels[5].painted = 3;
    });
    let (_, data) = client.frame().await;
    assert_eq!(
        data,
        r#"{"generation":3,"panels":[{"panel":5,"refresh":"partial"}]}"#
    );
}

#[tokio::test]
async fn the_stream_announces_its_end() {
    let clock = Clock::start().await;
    let mut client = EventClient::of(&clock).await;
    client.frame().await;
    client.status().await;
    clock.shutdown.send_replace(true);
    assert_eq!(client.frame().await, (String::new(), "closing".into()));
    timeout(Duration::from_secs(3), clock.server)
        .await
        .expect("the server ends in time")
        .unwrap();
}

#[tokio::test]
async fn a_panel_fault_is_sent_until_it_recovers() {
    let clock = Clock::start().await;
    let mut follower = EventClient::of(&clock).await;
    follower.frame().await;
    assert_eq!(follower.status().await["panelFaults"], json!([]));
    let says = PanelFault::BusyStuck.says();
    let faults = json!([{ "panel": 3, "fault": "busy-stuck", "says": says, "failures": 2 }]);
    for (fault, expected) in [(Some(PanelFault::BusyStuck), faults), (None, json!([]))] {
        clock.glass.send_modify(|glass| {
            let glass = Arc::make_mut(glass);
            glass.generation += 1;
            glass.panels[3].fault = fault;
            glass.panels[3].failures = if fault.is_some() { 2 } else { 0 };
        });
        assert_eq!(follower.status().await["panelFaults"], expected);
        let status = clock.get("/api/status").await.json();
        assert_eq!(status["panelFaults"], expected);
        assert_eq!(
            status["panels"][3]["failures"],
            if fault.is_some() { 2 } else { 0 }
        );
    }
}

/// Proxies and clients close streams that are silent for long.
#[tokio::test(start_paused = true)]
async fn an_idle_stream_has_a_keepalive_every_five_seconds() {
    let clock = Clock::start().await;
    let mut client = EventClient::of(&clock).await;
    client.frame().await;
    client.status().await;
    client.until(": ping\n\n").await;
    let started = tokio::time::Instant::now();
    for round in 1..=6 {
        client.until(": ping\n\n").await;
        let late = started.elapsed().abs_diff(Duration::from_secs(5) * round);
        assert!(late < Duration::from_millis(100), "{round}: {late:?}");
    }
}

/// More frames than are buffered for a client that does not read, and the time for each.
const FRAMES: u32 = 100;
const FRAME_GAP: Duration = Duration::from_millis(105);

/// After more frames than are buffered, a client receives the complete state, and nothing twice.
#[tokio::test]
async fn a_client_that_lags_receives_the_complete_state() {
    let clock = Clock::start().await;
    let mut client = EventClient::of(&clock).await;
    client.frame().await;
    client.status().await;
    // From here on the client does not read.
    pause();
    // Frames that fill the socket buffers, before the one with the panel.
    let filler = "x".repeat(300_000);
    for round in 0..FRAMES {
        clock.change(|view| view.notes = vec![format!("{round} {filler}")]);
        if round == 45 {
            clock.glass.send_modify(|glass| {
                let glass = Arc::make_mut(glass);
                glass.generation = 7;
                glass.panels[2].painted = 7;
            });
        }
        sleep(FRAME_GAP).await;
    }
    clock.change(|view| view.current_screen = 3);
    sleep(FRAME_GAP).await;
    // Reading the buffered bytes takes time. A client that reads nothing for 20 s is dropped; almost half of that is left.
    resume();
    let (mut frames, mut panels) = (0, None);
    loop {
        let (name, data) = client.frame().await;
        let data: Value = serde_json::from_str(&data).unwrap();
        if name == "panels" {
            panels = Some(data);
        } else {
            frames += 1;
            if data["currentScreen"] == 3 {
                break;
            }
        }
    }
    assert!(
        frames < 45,
        "{frames} of {FRAMES} frames: the client did not lag"
    );
    let panels = match panels {
        Some(panels) => panels,
        None => serde_json::from_str(&client.frame().await.1).unwrap(),
    };
    assert_eq!(panels["generation"], 7);
    assert_eq!(panels["panels"].as_array().unwrap().len(), 7, "{panels}");
}
