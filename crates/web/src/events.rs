//! The event stream (SSE): one broadcaster makes the messages, and all clients share their bytes.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use api::documents::state::TooManyFollowers;
use bytes::Bytes;
use futures_util::stream;
use http::{
    HeaderName, HeaderValue, StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE},
};
use tokio::{
    sync::broadcast::{Receiver, error::RecvError},
    time::{Instant, Interval, MissedTickBehavior, interval, sleep_until},
};

use super::{
    broadcast::StreamMessage,
    call::Call,
    response::{self, Response, ResponseBody},
    sim,
    state::ServerState,
};

/// Shortest time between two messages with the status.
const STATUS_GAP: Duration = Duration::from_millis(100);

/// Shortest time between two messages with the signals of a simulated board.
const BENCH_GAP: Duration = Duration::from_millis(100);

/// Time between two keep-alive comments.
const PING_GAP: Duration = Duration::from_secs(5);

const WELCOME: &[u8] = b"event: welcome\ndata: {}\n\n";
const PING: &[u8] = b": ping\n\n";
const CLOSING: &[u8] = b"data: closing\n\n";

/// Makes the messages until the server stops.
pub async fn broadcast(state: Arc<ServerState>) {
    let mut view = state.services.view.clone();
    let mut glass = state.services.glass.clone();
    let mut stop = state.services.shutdown.clone();
    let mut ping = interval(PING_GAP);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut painted = glass.borrow_and_update().generation;
    let mut faults = glass.borrow().faults();
    let mut next_status = Instant::now();
    let mut changed = false;
    loop {
        tokio::select! {
            _ = stop.wait_for(|stop| *stop) => break,
            _ = ping.tick() => send(&state, StreamMessage::new(PING)),
            Ok(()) = view.changed(), if !changed => changed = true,
            () = sleep_until(next_status), if changed => {
                changed = false;
                view.borrow_and_update();
                // Later clients get the status when they connect.
                if state.messages.receiver_count() > 0 {
                    send(&state, StreamMessage::status(&state.status(&state.view())));
                    next_status = Instant::now() + STATUS_GAP;
                }
            }
            Ok(()) = glass.changed() => {
                let glass = Arc::clone(&glass.borrow_and_update());
                if let Some(message) = StreamMessage::panels(&glass, painted) {
                    send(&state, message);
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
        StreamMessage {
            last: true,
            ..StreamMessage::new(CLOSING)
        },
    );
}

fn send(state: &ServerState, message: StreamMessage) {
    // Fails only if there are no clients.
    let _ = state.messages.send(message);
}

/// The next part of the event stream of a client.
enum StreamStage {
    Welcome,
    Status,
    Messages,
    End,
}

/// The next item for a client of the event stream.
enum StreamItem {
    Message(Result<StreamMessage, RecvError>),
    Bench(Bytes),
}

struct EventClient {
    state: Arc<ServerState>,
    messages: Receiver<StreamMessage>,
    bench: Option<BenchWatcher>,
    stage: StreamStage,
}

/// Polls the signals of a simulated board for one client.
struct BenchWatcher {
    sent: String,
    poll: Interval,
}

impl BenchWatcher {
    fn new() -> BenchWatcher {
        let mut poll = interval(BENCH_GAP);
        poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
        BenchWatcher {
            sent: String::new(),
            poll,
        }
    }

    /// Waits until the signals differ from those that were sent. The simulated board does not notify, so this polls.
    async fn changed(&mut self, state: &ServerState) -> Bytes {
        loop {
            self.poll.tick().await;
            let signals = sim::signals(&state.services).unwrap_or_default();
            if signals != self.sent {
                let message = format!("event: bench\ndata: {signals}\n\n");
                self.sent = signals;
                return message.into();
            }
        }
    }
}

/// Opens the event stream for a client.
pub fn subscribe(call: &Call) -> Response {
    if call.state.messages.receiver_count() >= call.state.limits.event_clients() {
        return refusal(&call.state);
    }
    let bench = call.query("bench").and(call.state.services.bench.as_ref());
    let client = EventClient {
        state: Arc::clone(&call.state),
        messages: call.state.messages.subscribe(),
        bench: bench.map(|_| BenchWatcher::new()),
        stage: StreamStage::Welcome,
    };
    let body = ResponseBody::Stream(Box::pin(stream::unfold(client, EventClient::next)));
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

/// The response when the limit on event clients is reached. Logs it only once, because it may happen many times a
/// second.
fn refusal(state: &ServerState) -> Response {
    let (most, files) = (state.limits.event_clients(), state.limits.open_files);
    if !state.event_client_refused.swap(true, Ordering::Relaxed) {
        let cause = files.map_or_else(String::new, |files| {
            format!(" (because of the limit of {files} open files)")
        });
        tracing::warn!("event client refused: the limit of {most} clients is reached{cause}");
    }
    let body = TooManyFollowers {
        error: "max sse clients reached",
        max: most,
        open_files: files,
    };
    response::json_with(StatusCode::SERVICE_UNAVAILABLE, &body)
}

impl EventClient {
    async fn next(mut self) -> Option<(Bytes, EventClient)> {
        let bytes = match self.stage {
            StreamStage::Welcome => {
                self.stage = StreamStage::Status;
                WELCOME.into()
            }
            // The last message may have been sent before this client came.
            StreamStage::Status if *self.state.services.shutdown.borrow() => {
                self.stage = StreamStage::End;
                CLOSING.into()
            }
            StreamStage::Status => {
                self.stage = StreamStage::Messages;
                self.status().bytes
            }
            StreamStage::Messages => match self.next_item().await {
                StreamItem::Bench(bytes) => bytes,
                StreamItem::Message(Ok(message)) => {
                    if message.last {
                        self.stage = StreamStage::End;
                    }
                    message.bytes
                }
                StreamItem::Message(Err(RecvError::Lagged(_))) => {
                    self.messages = self.messages.resubscribe();
                    self.full_state()
                }
                StreamItem::Message(Err(RecvError::Closed)) => return None,
            },
            StreamStage::End => return None,
        };
        Some((bytes, self))
    }

    /// Waits for the next message for all clients, or for new signals if this client watches the simulated board.
    async fn next_item(&mut self) -> StreamItem {
        let Some(bench) = &mut self.bench else {
            return StreamItem::Message(self.messages.recv().await);
        };
        tokio::select! {
            biased;
            message = self.messages.recv() => StreamItem::Message(message),
            bytes = bench.changed(&self.state) => StreamItem::Bench(bytes),
        }
    }

    /// The status, sent only to this client.
    fn status(&self) -> StreamMessage {
        StreamMessage::status(&self.state.status(&self.state.view()))
    }

    /// The state for a client that has missed messages: the status and all painted panels.
    fn full_state(&self) -> Bytes {
        let glass = self.state.glass();
        let mut bytes = self.status().bytes.to_vec();
        if let Some(panels) = StreamMessage::panels(&glass, 0) {
            bytes.extend_from_slice(&panels.bytes);
        }
        bytes.into()
    }
}
