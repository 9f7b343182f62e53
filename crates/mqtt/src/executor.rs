//! Executes commands and changes of settings received by MQTT, like the HTTP server does.

use std::sync::Arc;

use api::{
    answer::Answer,
    device_call::{DeviceCall, refusal_answer},
};
use device::{
    request::{Patch, Reply, Request},
    view::View,
};
use passwords::Hasher;
use runtime::inbox::{Inbox, Stopped};
use serde_json::{Map, Value};
use tokio::sync::watch;

/// Sends requests to the device.
#[derive(Debug, Clone)]
pub struct CommandExecutor {
    /// Queue into the device.
    pub inbox: Inbox,
    /// State of the device.
    pub view: watch::Receiver<Arc<View>>,
    /// Hashes passwords.
    pub hasher: Hasher,
}

impl CommandExecutor {
    /// Executes requests in order until the first one that fails. Returns the answer of the last one.
    pub async fn execute(self, calls: Vec<DeviceCall>) -> Answer {
        let mut answer = Answer::done();
        for DeviceCall {
            request,
            reply_format,
        } in calls
        {
            let reply = match self.request(request).await {
                Ok(reply) => reply,
                Err(answer) => return answer,
            };
            answer = reply_format.answer(reply, &self.view.borrow());
            if answer.status != 200 {
                break;
            }
        }
        answer
    }

    /// Changes settings.
    ///
    /// # Errors
    /// The change is refused. Has the token of the HTTP error.
    pub async fn patch(&self, body: Map<String, Value>) -> Result<(), String> {
        let patch = Patch {
            body,
            ..Patch::default()
        };
        let reply = self.request(Request::Patch(patch)).await;
        match reply.map_err(|answer| error_of(&answer))? {
            Ok(_) => Ok(()),
            Err(refusal) => Err(error_of(&refusal_answer(refusal))),
        }
    }

    async fn request(&self, request: Request) -> Result<Reply, Answer> {
        let request = if let Request::Patch(Patch { body, .. }) = request {
            let settings = Arc::clone(&self.view.borrow().settings.stored);
            let hashes = passwords::hashes(&self.hasher, &settings, &body).await;
            let hashes = hashes.ok_or_else(|| Answer::error(500, "password not hashed"))?;
            Request::Patch(Patch { body, hashes })
        } else {
            request
        };
        let stopped = |stopped: Stopped| Answer::error(503, &stopped.to_string());
        self.inbox.request(request).await.map_err(stopped)
    }
}

fn error_of(answer: &Answer) -> String {
    let body = answer.body.as_ref();
    let error = body.and_then(|body| body.get("error").or_else(|| body.get("msg"))?.as_str());
    error.unwrap_or("refused").to_owned()
}
