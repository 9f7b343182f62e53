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
    answer::{self, Body, Response},
    call::Call,
    frames::Frame,
    sim,
    state::State,
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
pub async fn broadcast(state: Arc<State>) {
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
            _ = ping.tick() => send(&state, Frame::text(PING)),
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
                if state.told.all(&status.lasting) {
                    send(&state, Frame::status(&status));
                    next_status = Instant::now() + STATUS_GAP;
                }
            }
            Ok(()) = glass.changed() => {
                let glass = Arc::clone(&glass.borrow_and_update());
                if let Some(frame) = Frame::panels(&glass, painted) {
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
        Frame {
            last: true,
            ..Frame::text(CLOSING)
        },
    );
}

fn send(state: &State, frame: Frame) {
    // Fails only while nobody follows.
    let _ = state.frames.send(frame);
}

/// What one client still has to be told before it follows the others.
enum Stage {
    Welcome,
    Status,
    Follow,
    End,
}

/// What a client that follows is told next.
enum News {
    Frame(Result<Frame, RecvError>),
    Bench(Bytes),
}

struct Follower {
    state: Arc<State>,
    frames: Receiver<Frame>,
    bench: Option<Watched>,
    stage: Stage,
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
    async fn changed(&mut self, state: &State) -> Bytes {
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
        stage: Stage::Welcome,
    };
    let body = Body::Stream(Box::pin(stream::unfold(follower, Follower::next)));
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
fn refusal(state: &State) -> Response {
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
            Stage::Welcome => {
                self.stage = Stage::Status;
                WELCOME.into()
            }
            Stage::Status => {
                self.stage = Stage::Follow;
                self.status().bytes
            }
            Stage::Follow => match self.news().await {
                News::Bench(bytes) => bytes,
                News::Frame(Ok(frame)) => {
                    if frame.last {
                        self.stage = Stage::End;
                    }
                    frame.bytes
                }
                News::Frame(Err(RecvError::Lagged(_))) => {
                    self.frames = self.frames.resubscribe();
                    self.everything()
                }
                News::Frame(Err(RecvError::Closed)) => return None,
            },
            Stage::End => return None,
        };
        Some((bytes, self))
    }

    /// Waits for what all are told, and for what this client looks at besides.
    async fn news(&mut self) -> News {
        let Some(bench) = &mut self.bench else {
            return News::Frame(self.frames.recv().await);
        };
        tokio::select! {
            biased;
            frame = self.frames.recv() => News::Frame(frame),
            bytes = bench.changed(&self.state) => News::Bench(bytes),
        }
    }

    /// The status, for this client alone.
    fn status(&self) -> Frame {
        let status = self.state.status(&self.state.view());
        self.state.told.one(&status.lasting);
        Frame::status(&status)
    }

    /// What a client must know that has missed frames: the status, and that any panel may have changed.
    fn everything(&self) -> Bytes {
        let glass = self.state.glass();
        let mut bytes = self.status().bytes.to_vec();
        if let Some(panels) = Frame::panels(&glass, 0) {
            bytes.extend_from_slice(&panels.bytes);
        }
        bytes.into()
    }
}
