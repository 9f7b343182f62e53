//! Does what is asked for through the broker, as the door for HTTP does it.

use std::sync::Arc;

use device::{
    request::{Patch, Reply, Request, Standing},
    view::View,
};
use interface::{answer::Answer, asked::Asked};
use passwords::Hasher;
use runtime::inbox::Inbox;
use tokio::sync::watch;

/// What it takes to do something.
#[derive(Debug, Clone)]
pub(crate) struct Hands {
    /// The way into the device.
    pub(crate) inbox: Inbox,
    /// What the device says of itself.
    pub(crate) view: watch::Receiver<Arc<View>>,
    /// Hashes passwords.
    pub(crate) hasher: Hasher,
}

impl Hands {
    /// Asks the device one thing after the other; the first that is refused ends it.
    pub(crate) async fn perform(self, asked: Vec<Asked>) -> Answer {
        let mut answer = Answer::done();
        for Asked { request, told } in asked {
            let reply = match self.ask(request).await {
                Ok(reply) => reply,
                Err(refusal) => return refusal,
            };
            answer = told.answer(reply);
            if answer.status != 200 {
                break;
            }
        }
        answer
    }

    /// Fulfils wishes that stand at the broker; tells why not, where it does not.
    pub(crate) async fn fulfil(self, standing: Standing) -> Result<(), String> {
        let reply = self.ask(Request::Fulfil(standing)).await;
        match reply.map_err(|refusal| reason(&refusal))? {
            Reply::Done
            | Reply::Changed(_)
            | Reply::Lights(_)
            | Reply::Picture(_)
            | Reply::Judged(_) => Ok(()),
            Reply::Rejected(rejection) => Err(rejection.to_string()),
            Reply::Refused(refusal) => Err(reason(&interface::asked::refused(refusal))),
        }
    }

    async fn ask(&self, request: Request) -> Result<Reply, Answer> {
        let request = if let Request::Patch(Patch { body, .. }) = request {
            let settings = Arc::clone(&self.view.borrow().settings);
            let hashes = passwords::hashes(&self.hasher, &settings, &body).await;
            let hashes = hashes.ok_or_else(|| Answer::error(500, "password not hashed"))?;
            Request::Patch(Patch { body, hashes })
        } else {
            request
        };
        let stopped = |stopped: runtime::inbox::Stopped| Answer::error(503, &stopped.to_string());
        self.inbox.ask(request).await.map_err(stopped)
    }
}

/// The word for why something was refused.
fn reason(answer: &Answer) -> String {
    let body = answer.body.as_ref();
    let words = body.and_then(|body| body.get("error").or_else(|| body.get("msg"))?.as_str());
    words.unwrap_or("refused").to_owned()
}
