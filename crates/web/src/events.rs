//! Clients that follow the clock: one broadcaster makes the frames, every client shares their bytes.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use bytes::Bytes;
use futures_util::stream;
use http::{
    HeaderName, HeaderValue, StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE},
};
use serde_json::json;
use tokio::{
    sync::broadcast::{Receiver, error::RecvError},
    time::{Instant, Interval, MissedTickBehavior, interval, sleep_until},
};

use super::{
    answer::{self, Response, ResponseBody},
    call::Call,
    frames::EventFrame,
    sim,
    state::ServerState,
};

/// Least time between two frames with the status.
const STATUS_GAP: Duration = Duration::from_millis(100);

/// Least time between two frames with the signals of a simulated board.
const BENCH_GAP: Duration = Duration::from_millis(100);

/// Time between signs of life.
const PING_GAP: Duration = Duration::from_secs(5);

const WELCOME: &[u8] = b"event: welcome\ndata: {}\n\n";
const PING: &[u8] = b": ping\n\n";
const CLOSING: &[u8] = b"data: closing\n\n";

/// Makes the frames until the server stops.
pub async fn broadcast(state: Arc<ServerState>) {
    let mut view = state.services.view.clone();
    let mut glass = state.services.glass.clone();
    let mut stop = state.services.shutdown.clone();
    let mut ping = interval(PING_GAP);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut painted = glass.borrow_and_update().generation;
    let mut faults = glass.borrow().faults();
    let mut told_apart = state.told.apart();
    let mut next_status = Instant::now();
    let mut changed = false;
    loop {
        tokio::select! {
            _ = stop.wait_for(|stop| *stop) => break,
            _ = ping.tick() => send(&state, EventFrame::text(PING)),
            Ok(()) = view.changed(), if !changed => changed = true,
            Ok(()) = told_apart.changed(), if !changed => changed = true,
            () = sleep_until(next_status), if changed => {
                changed = false;
                view.borrow_and_update();
                // Whoever comes later is told everything at the start.
                if state.frames.receiver_count() == 0 {
                    state.told.nobody();
                    continue;
                }
                let status = state.status(&state.view());
                if state.told.all(&status.news) {
                    send(&state, EventFrame::status(&status));
                    next_status = Instant::now() + STATUS_GAP;
                }
            }
            Ok(()) = glass.changed() => {
                let glass = Arc::clone(&glass.borrow_and_update());
                if let Some(frame) = EventFrame::panels(&glass, painted) {
                    send(&state, frame);
                }
                painted = glass.generation;
                let faulty = glass.faults();
                changed |= faulty != faults;
                faults = faulty;
            }
        }
    }
    send(
        &state,
        EventFrame {
            last: true,
            ..EventFrame::text(CLOSING)
        },
    );
}

fn send(state: &ServerState, frame: EventFrame) {
    // Fails only while nobody follows.
    let _ = state.frames.send(frame);
}

/// What a client of the event stream gets next.
enum StreamStage {
    Welcome,
    Status,
    Follow,
    End,
}

/// The next item for a client of the event stream.
enum StreamItem {
    Frame(Result<EventFrame, RecvError>),
    Bench(Bytes),
}

struct Follower {
    state: Arc<ServerState>,
    frames: Receiver<EventFrame>,
    bench: Option<Watched>,
    stage: StreamStage,
}

/// A simulated board that a client looks at.
struct Watched {
    told: String,
    look: Interval,
}

impl Watched {
    fn new() -> Watched {
        let mut look = interval(BENCH_GAP);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Watched {
            told: String::new(),
            look,
        }
    }

    /// Waits until its signals are others than those that were told; its ink and its chips move without telling.
    async fn changed(&mut self, state: &ServerState) -> Bytes {
        loop {
            self.look.tick().await;
            let signals = sim::signals(&state.services).unwrap_or_default();
            if signals != self.told {
                let frame = format!("event: bench\ndata: {signals}\n\n");
                self.told = signals;
                return frame.into();
            }
        }
    }
}

/// Lets a client follow the clock.
pub fn follow(call: &Call) -> Response {
    if call.state.frames.receiver_count() >= call.state.places.followers() {
        return refusal(&call.state);
    }
    let bench = call.query("bench").and(call.state.services.bench.as_ref());
    let follower = Follower {
        state: Arc::clone(&call.state),
        frames: call.state.frames.subscribe(),
        bench: bench.map(|_| Watched::new()),
        stage: StreamStage::Welcome,
    };
    let body = ResponseBody::Stream(Box::pin(stream::unfold(follower, Follower::next)));
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(
        HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    );
    response
}

/// Names the limit that is reached; in the log once, for it may be reached many times a second.
fn refusal(state: &ServerState) -> Response {
    let (most, files) = (state.places.followers(), state.places.open_files);
    if !state.followers_refused.swap(true, Ordering::Relaxed) {
        let files = files.map_or_else(
            || "which is the most there may be".to_string(),
            |files| format!("as many as a limit of {files} open files leaves room for"),
        );
        tracing::warn!("clients who want to follow are refused: {most} do, {files}");
    }
    let mut body = json!({ "error": "max sse clients reached", "max": most });
    if let Some(files) = files {
        body["openFiles"] = files.into();
    }
    answer::json_with(StatusCode::SERVICE_UNAVAILABLE, &body)
}

impl Follower {
    async fn next(mut self) -> Option<(Bytes, Follower)> {
        let bytes = match self.stage {
            StreamStage::Welcome => {
                self.stage = StreamStage::Status;
                WELCOME.into()
            }
            StreamStage::Status => {
                self.stage = StreamStage::Follow;
                self.status().bytes
            }
            StreamStage::Follow => match self.news().await {
                StreamItem::Bench(bytes) => bytes,
                StreamItem::Frame(Ok(frame)) => {
                    if frame.last {
                        self.stage = StreamStage::End;
                    }
                    frame.bytes
                }
                StreamItem::Frame(Err(RecvError::Lagged(_))) => {
                    self.frames = self.frames.resubscribe();
                    self.everything()
                }
                StreamItem::Frame(Err(RecvError::Closed)) => return None,
            },
            StreamStage::End => return None,
        };
        Some((bytes, self))
    }

    /// Waits for what all are told, and for what this client looks at besides.
    async fn news(&mut self) -> StreamItem {
        let Some(bench) = &mut self.bench else {
            return StreamItem::Frame(self.frames.recv().await);
        };
        tokio::select! {
            biased;
            frame = self.frames.recv() => StreamItem::Frame(frame),
            bytes = bench.changed(&self.state) => StreamItem::Bench(bytes),
        }
    }

    /// The status, for this client alone.
    fn status(&self) -> EventFrame {
        let status = self.state.status(&self.state.view());
        self.state.told.one(&status.news);
        EventFrame::status(&status)
    }

    /// What a client must know that has missed frames: the status, and that any panel may have changed.
    fn everything(&self) -> Bytes {
        let glass = self.state.glass();
        let mut bytes = self.status().bytes.to_vec();
        if let Some(panels) = EventFrame::panels(&glass, 0) {
            bytes.extend_from_slice(&panels.bytes);
        }
        bytes.into()
    }
}
