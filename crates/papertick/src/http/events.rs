//! Clients that follow the clock: one broadcaster makes the frames, every client shares their bytes.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::stream;
use http::{
    HeaderName, HeaderValue, StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE},
};
use serde_json::{Value, json};
use tokio::{
    sync::broadcast::{Receiver, error::RecvError},
    time::{Instant, MissedTickBehavior, interval, sleep_until},
};

use super::{
    State,
    answer::{self, Body, Response},
    call::Call,
};
use crate::glass::{Glass, Refresh};

/// Frames that a client may lag behind before it is brought up to date at once.
pub(crate) const FRAMES_KEPT: usize = 64;

/// Least time between two frames with the status.
const STATUS_GAP: Duration = Duration::from_millis(100);

/// Time between signs of life.
const PING_GAP: Duration = Duration::from_secs(5);

const WELCOME: &[u8] = b"event: welcome\ndata: {}\n\n";
const PING: &[u8] = b": ping\n\n";
const CLOSING: &[u8] = b"data: closing\n\n";

/// One frame of the stream, as bytes.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    bytes: Bytes,
    last: bool,
}

impl Frame {
    fn text(bytes: impl Into<Bytes>) -> Frame {
        Frame {
            bytes: bytes.into(),
            last: false,
        }
    }

    fn status(state: &State) -> Frame {
        let mut bytes = b"event: status\ndata: ".to_vec();
        bytes.extend_from_slice(&state.status(&state.view()).text);
        bytes.extend_from_slice(b"\n\n");
        Frame::text(bytes)
    }

    fn panels(glass: &Glass, seen: u64) -> Option<Frame> {
        let word = |refresh| match refresh {
            Refresh::Full => "full",
            Refresh::Partial => "partial",
        };
        let repainted: Vec<Value> = (0..)
            .zip(&glass.panels)
            .filter(|(_, panel)| panel.painted > seen)
            .map(|(index, panel): (usize, _)| json!({ "panel": index, "refresh": word(panel.refresh) }))
            .collect();
        if repainted.is_empty() {
            return None;
        }
        let data = json!({ "generation": glass.generation, "panels": repainted });
        Some(Frame::text(format!("event: panels\ndata: {data}\n\n")))
    }
}

/// Makes the frames until the server stops.
pub(crate) async fn broadcast(state: Arc<State>) {
    let mut view = state.services.view.clone();
    let mut glass = state.services.glass.clone();
    let mut stop = state.services.shutdown.clone();
    let mut ping = interval(PING_GAP);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut painted = glass.borrow_and_update().generation;
    let mut faults = glass.borrow().faults();
    let mut told = state.status(&state.view()).lasting;
    let mut next_status = Instant::now();
    let mut changed = false;
    loop {
        tokio::select! {
            _ = stop.wait_for(|stop| *stop) => break,
            _ = ping.tick() => send(&state, Frame::text(PING)),
            Ok(()) = view.changed(), if !changed => changed = true,
            () = sleep_until(next_status), if changed => {
                changed = false;
                view.borrow_and_update();
                // Whoever comes later is told everything at the start.
                if state.frames.receiver_count() == 0 {
                    continue;
                }
                let status = state.status(&state.view()).lasting;
                if status != told {
                    told = status;
                    send(&state, Frame::status(&state));
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
            bytes: CLOSING.into(),
            last: true,
        },
    );
}

fn send(state: &State, frame: Frame) {
    // Fails only while nobody follows.
    let _ = state.frames.send(frame);
}

/// What one client still has to be told before it follows the others.
enum Step {
    Welcome,
    Status,
    Follow,
    End,
}

struct Follower {
    state: Arc<State>,
    frames: Receiver<Frame>,
    step: Step,
}

/// Lets a client follow the clock.
pub(crate) fn follow(call: &Call) -> Response {
    // The rest of the places is kept for those who want to act.
    if call.state.frames.receiver_count() >= call.state.places / 4 * 3 {
        return answer::error(StatusCode::SERVICE_UNAVAILABLE, "max sse clients reached");
    }
    let follower = Follower {
        state: Arc::clone(&call.state),
        frames: call.state.frames.subscribe(),
        step: Step::Welcome,
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

impl Follower {
    async fn next(mut self) -> Option<(Bytes, Follower)> {
        let bytes = match self.step {
            Step::Welcome => {
                self.step = Step::Status;
                WELCOME.into()
            }
            Step::Status => {
                self.step = Step::Follow;
                Frame::status(&self.state).bytes
            }
            Step::Follow => match self.frames.recv().await {
                Ok(frame) => {
                    if frame.last {
                        self.step = Step::End;
                    }
                    frame.bytes
                }
                Err(RecvError::Lagged(_)) => {
                    self.frames = self.frames.resubscribe();
                    self.everything()
                }
                Err(RecvError::Closed) => return None,
            },
            Step::End => return None,
        };
        Some((bytes, self))
    }

    /// What a client must know that has missed frames: the status, and that any panel may have changed.
    fn everything(&self) -> Bytes {
        let glass = self.state.glass();
        let mut bytes = Frame::status(&self.state).bytes.to_vec();
        if let Some(panels) = Frame::panels(&glass, 0) {
            bytes.extend_from_slice(&panels.bytes);
        }
        bytes.into()
    }
}
