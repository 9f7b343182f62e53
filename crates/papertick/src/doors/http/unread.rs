//! The body of a request, and what becomes of it when nobody reads it.
//!
//! Many clients send all of a body before they look for the answer. A connection that is closed meanwhile is all they
//! would see of a refusal, so what nobody wants is read and thrown away, with bounds.

use std::time::Duration;

use http::{HeaderMap, header::EXPECT};
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};
use tokio::{sync::mpsc, time::timeout};

use super::side_task::SideTask;

/// Bytes of an unwanted body that are thrown away; more than the largest image that a board takes.
const UNWANTED_MAX: u64 = 80 * 1024 * 1024;

/// Time in which an unwanted body must arrive.
const UNWANTED_TIME: Duration = Duration::from_secs(30);

/// A body that nobody has taken yet.
pub(crate) struct Unread {
    body: Option<Incoming>,
    asks_first: bool,
    // None without a body, as with most requests: a handle that all connections share is not free.
    tasks: Option<mpsc::Sender<SideTask>>,
}

impl Unread {
    /// Keeps the body of a request until somebody takes it.
    pub(crate) fn new(
        body: Incoming,
        headers: &HeaderMap,
        tasks: &mpsc::Sender<SideTask>,
    ) -> Unread {
        let body = Some(body).filter(|body| !body.is_end_stream());
        Unread {
            tasks: body.is_some().then(|| tasks.clone()),
            body,
            asks_first: headers.contains_key(EXPECT),
        }
    }

    /// Takes the body, once; none if it is empty.
    pub(crate) fn take(&mut self) -> Option<Incoming> {
        // Reading tells who asks first to send.
        self.asks_first = false;
        self.body.take()
    }

    /// Gives back what is left of a body that nobody wants any more.
    pub(crate) fn put_back(&mut self, body: Incoming) {
        self.body = Some(body);
    }
}

impl Drop for Unread {
    fn drop(&mut self) {
        let fits = |body: &Incoming| body.size_hint().lower() <= UNWANTED_MAX;
        // Who asks first sends nothing before being told to, and reading would tell.
        let body = self.body.take();
        let unwanted = body.filter(|body| !self.asks_first && fits(body));
        if let (Some(body), Some(tasks)) = (unwanted, &self.tasks) {
            // With too many of them, or at the end, the connection just closes.
            let _ = tasks.try_send(SideTask::new("unwanted body", throw_away(body)));
        }
    }
}

async fn throw_away(mut body: Incoming) {
    let all = async {
        let mut total = 0;
        while let Some(Ok(frame)) = body.frame().await {
            total += frame.data_ref().map_or(0, |data| data.len() as u64);
            if total > UNWANTED_MAX {
                return;
            }
        }
    };
    // Whether it came to its end makes no difference to anybody.
    let _ = timeout(UNWANTED_TIME, all).await;
}
