//! Answers: an HTTP status code and a JSON document.

use alloc::string::{String, ToString};

use device::{request::Changed, settings::reject::Rejection};
use serde::Serialize;
use serde_json::Value;

use crate::documents::{ErrorBody, MessageBody, settings::RestartRequired};

#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// HTTP status code.
    pub status: u16,
    /// The document. `None` for an empty body.
    pub body: Option<Value>,
    /// A sentence for people, while the document is for programs. HTTP sends it as a header.
    pub reason: Option<String>,
}

impl Answer {
    /// 200 with an empty body.
    pub fn done() -> Answer {
        Answer {
            status: 200,
            body: None,
            reason: None,
        }
    }

    /// 200 with a document.
    pub fn json<T: Serialize>(document: &T) -> Answer {
        Answer::with(200, document)
    }

    pub fn with<T: Serialize>(status: u16, document: &T) -> Answer {
        Answer {
            status,
            body: Some(serde_json::to_value(document).unwrap_or_default()),
            reason: None,
        }
    }

    /// A status and `{"error": …}`.
    pub fn error(status: u16, reason: &str) -> Answer {
        Answer::with(status, &ErrorBody::of(reason))
    }

    /// 400 with `{"error": …}`, for a request that cannot be parsed.
    pub fn bad_request(reason: &str) -> Answer {
        Answer::error(400, reason)
    }

    /// A status and `{"msg": …}`, as the operations for updates answer.
    pub fn message(status: u16, text: &str) -> Answer {
        let message = MessageBody {
            msg: Some(text.into()),
            ..MessageBody::default()
        };
        Answer::with(status, &message)
    }

    /// 400 for a refused PATCH: exactly the token, and what is accepted instead as the reason.
    pub fn rejected(rejection: &Rejection) -> Answer {
        Answer {
            reason: Some(rejection.hint()),
            ..Answer::bad_request(&rejection.to_string())
        }
    }

    /// 200 for an accepted PATCH.
    pub fn changed(changed: &Changed) -> Answer {
        let answer = if changed.reboot_required {
            Answer::json(&RestartRequired {
                reboot_required: true,
            })
        } else {
            Answer::done()
        };
        Answer {
            reason: changed.reason(),
            ..answer
        }
    }
}
