//! Executes commands that arrive through the broker, like the HTTP server does.

use std::sync::Arc;

use api::{answer::Answer, asked::DeviceCall};
use device::{
    request::{Patch, Reply, Request},
    view::View,
};
use passwords::Hasher;
use runtime::inbox::Inbox;
use serde_json::{Map, Value};
use tokio::sync::watch;

/// Sends commands to the device.
#[derive(Debug, Clone)]
pub struct CommandExecutor {
    /// The way into the device.
    pub inbox: Inbox,
    /// State of the device.
    pub view: watch::Receiver<Arc<View>>,
    /// Hashes passwords.
    pub hasher: Hasher,
}

impl CommandExecutor {
    /// Sends requests to the device one after the other; the first refusal ends it.
    pub async fn perform(self, asked: Vec<DeviceCall>) -> Answer {
        let mut answer = Answer::done();
        for DeviceCall { request, told } in asked {
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

    /// Changes settings.
    ///
    /// # Errors
    /// They are refused; with the token that HTTP answers with.
    pub async fn patch(&self, body: Map<String, Value>) -> Result<(), String> {
        let patch = Patch {
            body,
            ..Patch::default()
        };
        let reply = self.ask(Request::Patch(patch)).await;
        match reply.map_err(|refusal| reason(&refusal))? {
            Reply::Done
            | Reply::Changed(_)
            | Reply::Lights(_)
            | Reply::Picture(_)
            | Reply::Headers(_) => Ok(()),
            Reply::Rejected(rejection) => Err(rejection.to_string()),
            Reply::Refused(refusal) => Err(reason(&api::asked::refused(refusal))),
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
        self.inbox.request(request).await.map_err(stopped)
    }
}

/// The word for why something was refused.
fn reason(answer: &Answer) -> String {
    let body = answer.body.as_ref();
    let words = body.and_then(|body| body.get("error").or_else(|| body.get("msg"))?.as_str());
    words.unwrap_or("refused").to_owned()
}
