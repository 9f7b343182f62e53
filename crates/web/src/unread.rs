//! The body of a request, and what becomes of the part that no handler reads.
//!
//! Many clients send the whole body before they read the response. If the connection were closed before that, they
//! would see a write error and not the reason of a refusal, so the rest of a body is read and discarded for a while.

use std::time::Duration;

use http::{HeaderMap, header::EXPECT};
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};
use tokio::{sync::mpsc, time::timeout};

use super::side_task::SideTask;

/// Longest time for which an unwanted body is read.
const UNWANTED_TIME: Duration = Duration::from_secs(10);

/// A body that nobody has taken yet.
pub struct Unread {
    body: Option<Incoming>,
    asks_first: bool,
    // None without a body, as with most requests: a handle that all connections share is not free.
    tasks: Option<mpsc::Sender<SideTask>>,
}

impl Unread {
    /// Keeps the body of a request until somebody takes it.
    pub fn new(body: Incoming, headers: &HeaderMap, tasks: &mpsc::Sender<SideTask>) -> Unread {
        let body = Some(body).filter(|body| !body.is_end_stream());
        Unread {
            tasks: body.is_some().then(|| tasks.clone()),
            body,
            asks_first: headers.contains_key(EXPECT),
        }
    }

    /// Takes the body, once; none if it is empty.
    pub fn take(&mut self) -> Option<Incoming> {
        // Reading tells who asks first to send.
        self.asks_first = false;
        self.body.take()
    }

    /// Gives back what is left of a body that nobody wants any more.
    pub fn put_back(&mut self, body: Incoming) {
        self.body = Some(body);
    }
}

impl Drop for Unread {
    fn drop(&mut self) {
        // A client that waits for `100 Continue` sends nothing, and reading would send that.
        let unwanted = self.body.take().filter(|_| !self.asks_first);
        if let (Some(body), Some(tasks)) = (unwanted, &self.tasks) {
            // With too many of them, or at the end, the connection just closes.
            let _ = tasks.try_send(SideTask::new("unwanted body", throw_away(body)));
        }
    }
}

async fn throw_away(mut body: Incoming) {
    let all = async { while let Some(Ok(_)) = body.frame().await {} };
    // The rest of a longer body is lost with its connection.
    let _ = timeout(UNWANTED_TIME, all).await;
}
