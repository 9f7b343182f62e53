//! What the gate says, and how who is not admitted is told.

use std::time::Duration;

use http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode,
    header::{RETRY_AFTER, WWW_AUTHENTICATE},
};

use serde_json::json;

use crate::answer::{self, Response};

/// Time after which to come back when too many wait.
const BUSY_TIME: Duration = Duration::from_secs(1);

/// Result of checking the credentials of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginVerdict {
    /// Come in.
    Admitted,
    /// No credentials, or wrong ones.
    Unknown,
    /// Wrong ones from an address that guesses; the next answer will take at least so long.
    Slowed(Duration),
    /// Not looked at: too many wait, or the server stops.
    Busy,
}

impl LoginVerdict {
    /// The answer to who is not admitted.
    pub fn refusal(self) -> Option<Response> {
        let (mut response, wait) = match self {
            LoginVerdict::Admitted => return None,
            LoginVerdict::Unknown => (unauthorized(), None),
            LoginVerdict::Slowed(wait) => (unauthorized(), Some(wait)),
            LoginVerdict::Busy => (
                answer::error(StatusCode::SERVICE_UNAVAILABLE, "too many sign in"),
                Some(BUSY_TIME),
            ),
        };
        if let Some(wait) = wait {
            let seconds = wait.as_secs_f64().ceil() as u64;
            response
                .headers_mut()
                .insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        Some(response)
    }
}

const CHALLENGE: HeaderValue =
    HeaderValue::from_static("Basic realm=\"papertick\", charset=\"UTF-8\"");

/// What whoever has forgotten the password can do.
const FORGOTTEN: &str = "user name or password are missing or wrong; whoever has forgotten them sets others with `papertick passwd` on the machine of the clock";

/// What a page is challenged with that asks for user name and password in a form of its own.
///
/// A browser knows no such scheme, and leaves the asking to the page.
const CHALLENGE_OF_PAGE: HeaderValue = HeaderValue::from_static("Form realm=\"papertick\"");

/// Header of a request whose sender has such a form.
const OWN_FORM: HeaderName = HeaderName::from_static("x-sign-in");

/// Leaves the asking for credentials to a page that has a form for it.
pub fn leave_asking_to_page(headers: &HeaderMap, response: &mut Response) {
    if headers.contains_key(OWN_FORM)
        && let Some(challenge) = response.headers_mut().get_mut(WWW_AUTHENTICATE)
    {
        *challenge = CHALLENGE_OF_PAGE;
    }
}

fn unauthorized() -> Response {
    let refusal = json!({ "error": "unauthorized", "msg": FORGOTTEN });
    let mut response = answer::json_with(StatusCode::UNAUTHORIZED, &refusal);
    response.headers_mut().insert(WWW_AUTHENTICATE, CHALLENGE);
    response
}
