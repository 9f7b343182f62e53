//! Answers: a status as HTTP numbers them, and a document.

use alloc::string::{String, ToString};

use device::{request::Changed, settings::reject::Rejection};
use serde::Serialize;
use serde_json::Value;

use crate::documents::{ErrorBody, MessageBody, settings::RestartRequired};

/// What a client is told.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Status as HTTP numbers them.
    pub status: u16,
    /// The document; none if the status says it all.
    pub body: Option<Value>,
    /// A sentence for people, beside a document that is for programs. HTTP sends it as a header.
    pub reason: Option<String>,
}

impl Answer {
    /// It is done, and there is nothing else to say.
    pub fn done() -> Answer {
        Answer {
            status: 200,
            body: None,
            reason: None,
        }
    }

    /// It is done; tells this.
    pub fn json<T: Serialize>(document: &T) -> Answer {
        Answer::with(200, document)
    }

    /// A document and a status.
    pub fn with<T: Serialize>(status: u16, document: &T) -> Answer {
        Answer {
            status,
            body: Some(serde_json::to_value(document).unwrap_or_default()),
            reason: None,
        }
    }

    /// Refuses with `{"error": …}`.
    pub fn error(status: u16, reason: &str) -> Answer {
        Answer::with(status, &ErrorBody::of(reason))
    }

    /// Refuses what cannot be understood.
    pub fn bad_request(reason: &str) -> Answer {
        Answer::error(400, reason)
    }

    /// Tells `{"msg": …}`, as the operations of updates do.
    pub fn message(status: u16, text: &str) -> Answer {
        let message = MessageBody {
            msg: Some(text.into()),
            ..MessageBody::default()
        };
        Answer::with(status, &message)
    }

    /// Refuses a change of settings: exactly the token, and the reason where the token does not say all.
    pub fn rejected(rejection: &Rejection) -> Answer {
        Answer {
            reason: rejection.hint(),
            ..Answer::bad_request(&rejection.to_string())
        }
    }

    /// Accepts a change of settings.
    pub fn changed(changed: &Changed) -> Answer {
        let answer = match changed.reboot_required {
            true => Answer::json(&RestartRequired {
                reboot_required: true,
            }),
            false => Answer::done(),
        };
        Answer {
            reason: changed.reason(),
            ..answer
        }
    }
}
