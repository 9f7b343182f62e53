//! The body of a request that no handler has read yet.
//!
//! Many clients send the whole body before they read the response. If the connection were closed before that, they
//! would get a write error instead of the response, so the rest of a body is read and discarded for a while.

use std::time::Duration;

use http::{HeaderMap, header::EXPECT};
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};
use tokio::{sync::mpsc, time::timeout};

use super::side_task::SideTask;

/// Longest time for which a body is discarded.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(10);

/// A body that no handler has read yet.
pub struct UnreadBody {
    body: Option<Incoming>,
    /// The client waits for `100 Continue` before it sends the body.
    expects_continue: bool,
    // `None` without a body, because cloning a sender that all connections share is not free.
    tasks: Option<mpsc::Sender<SideTask>>,
}

impl UnreadBody {
    pub fn new(body: Incoming, headers: &HeaderMap, tasks: &mpsc::Sender<SideTask>) -> UnreadBody {
        let body = Some(body).filter(|body| !body.is_end_stream());
        UnreadBody {
            tasks: body.is_some().then(|| tasks.clone()),
            body,
            expects_continue: headers.contains_key(EXPECT),
        }
    }

    /// Takes the body once; `None` if it is empty.
    pub fn take(&mut self) -> Option<Incoming> {
        // Reading the body sends `100 Continue`.
        self.expects_continue = false;
        self.body.take()
    }

    /// Takes the rest of a body, which is discarded on drop.
    pub fn discard(&mut self, body: Incoming) {
        self.body = Some(body);
    }
}

impl Drop for UnreadBody {
    fn drop(&mut self) {
        // A client that waits for `100 Continue` has sent nothing, and reading would make it send the body.
        let unread = self.body.take().filter(|_| !self.expects_continue);
        if let (Some(body), Some(tasks)) = (unread, &self.tasks) {
            // If the queue is full or closed, the connection is closed at once.
            let _ = tasks.try_send(SideTask::new("discard body", read_and_discard(body)));
        }
    }
}

async fn read_and_discard(mut body: Incoming) {
    let all = async { while let Some(Ok(_)) = body.frame().await {} };
    // After the timeout the connection is closed.
    let _ = timeout(DISCARD_TIMEOUT, all).await;
}
