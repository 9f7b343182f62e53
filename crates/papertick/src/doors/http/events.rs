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
use serde_json::{Value, json};
use tokio::{
    sync::{
        broadcast::{Receiver, error::RecvError},
        watch,
    },
    time::{Instant, MissedTickBehavior, interval, sleep_until},
};

use super::{
    State,
    answer::{self, Body, Response},
    call::Call,
    status::StatusDocument,
};
use crate::glass::Glass;

/// Frames that a client may lag behind before it is brought up to date at once.
pub(crate) const FRAMES_KEPT: usize = 64;

/// Least time between two frames with the status.
const STATUS_GAP: Duration = Duration::from_millis(100);

/// Time between signs of life.
const PING_GAP: Duration = Duration::from_secs(5);

const WELCOME: &[u8] = b"event: welcome\ndata: {}\n\n";
const PING: &[u8] = b": ping\n\n";
const CLOSING: &[u8] = b"data: closing\n\n";

/// What followers know of the status, without what changes by the mere passing of time.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Known {
    /// Nobody follows.
    ByNobody,
    /// All were told this last.
    ByAll(Arc<str>),
    /// They may have been told different ones.
    Apart,
}

/// Remembers what followers were told, by whomever: frames for all, and the first one of each.
pub(crate) struct Told {
    known: watch::Sender<Known>,
}

impl Told {
    /// Nobody was told anything.
    pub(crate) fn new() -> Told {
        Told {
            known: watch::Sender::new(Known::ByNobody),
        }
    }

    /// One follower is told this; wakes the broadcaster if others may know something else.
    fn one(&self, status: &Arc<str>) {
        self.known.send_if_modified(|known| {
            let before = std::mem::replace(known, Known::Apart);
            match before {
                Known::ByNobody => *known = Known::ByAll(Arc::clone(status)),
                Known::ByAll(told) if told == *status => *known = Known::ByAll(told),
                Known::ByAll(_) => return true,
                Known::Apart => {}
            }
            false
        });
    }

    /// All followers are told this, unless they know it; tells which.
    fn all(&self, status: &Arc<str>) -> bool {
        self.replace(Known::ByAll(Arc::clone(status)))
    }

    /// Nobody follows any more.
    fn nobody(&self) {
        self.replace(Known::ByNobody);
    }

    /// Replaces what is known without waking the broadcaster, who does it; tells whether it was something else.
    fn replace(&self, new: Known) -> bool {
        let mut differs = false;
        self.known.send_if_modified(|known| {
            differs = *known != new;
            *known = new;
            false
        });
        differs
    }
}

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

    fn status(status: &StatusDocument) -> Frame {
        let mut bytes = b"event: status\ndata: ".to_vec();
        bytes.extend_from_slice(&status.text);
        bytes.extend_from_slice(b"\n\n");
        Frame::text(bytes)
    }

    fn panels(glass: &Glass, seen: u64) -> Option<Frame> {
        let repainted: Vec<Value> = (0..)
            .zip(&glass.panels)
            .filter(|(_, panel)| panel.painted > seen)
            .map(|(index, panel): (usize, _)| json!({ "panel": index, "refresh": panel.refresh.name() }))
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
    let mut told_apart = state.told.known.subscribe();
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
    if call.state.frames.receiver_count() >= call.state.places.followers() {
        return refusal(&call.state);
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

/// Names the limit that is reached; in the log once, for it may be reached many times a second.
fn refusal(state: &State) -> Response {
    let (most, files) = (state.places.followers(), state.places.open_files);
    if !state.followers_refused.swap(true, Ordering::Relaxed) {
        let files = files.map_or_else(
            || "which is the most there may be".to_string(),
            |files| format!("as many as a limit of {files} open files leaves room for"),
        );
        tracing::warn!("clients of /events are refused: {most} follow, {files}");
    }
    let mut body = json!({ "error": "max sse clients reached", "max": most });
    if let Some(files) = files {
        body["openFiles"] = files.into();
    }
    answer::json_with(StatusCode::SERVICE_UNAVAILABLE, &body)
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
                self.status().bytes
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Who was told what; whether somebody knows an older status and the broadcaster is woken for it.
    #[test]
    fn nobody_is_left_with_an_older_status() {
        enum Step {
            One(&'static str),
            All(&'static str),
            Nobody,
        }
        use Step::{All, Nobody, One};
        let rows: &[(&[Step], bool, bool)] = &[
            (&[All("old")], true, false),
            (&[All("new")], false, false),
            // The only one there is knows it already.
            (&[One("new")], false, false),
            (&[All("old"), Nobody, One("new")], false, false),
            (&[All("new"), Nobody, One("old")], true, false),
            // One who came while a newer status waited for its turn, which then was taken back.
            (&[All("new"), One("old")], true, true),
            (&[All("new"), One("old"), One("new")], true, true),
            (&[One("old"), One("new")], true, true),
            (&[One("new"), One("new")], false, false),
        ];
        for (place, (steps, told, woken)) in rows.iter().enumerate() {
            let state = Told::new();
            let broadcaster = state.known.subscribe();
            for step in *steps {
                match step {
                    One(status) => state.one(&Arc::from(*status)),
                    All(status) => drop(state.all(&Arc::from(*status))),
                    Nobody => state.nobody(),
                }
            }
            assert_eq!(broadcaster.has_changed().ok(), Some(*woken), "row {place}");
            assert_eq!(state.all(&Arc::from("new")), *told, "row {place}");
        }
    }
}
