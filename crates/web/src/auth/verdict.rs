//! The result of a login and the response to a refused one.

use std::time::Duration;

use http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode,
    header::{RETRY_AFTER, WWW_AUTHENTICATE},
};

use crate::response::{self, Response};

/// `Retry-After` when too many attempts are queued.
const BUSY_RETRY: Duration = Duration::from_secs(1);

/// Result of checking the credentials of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginVerdict {
    /// The credentials are right, or none are needed.
    Accepted,
    /// The credentials are missing or wrong.
    Unauthorized,
    /// The credentials are wrong and the address has failed often; the response is delayed by this time.
    Delayed(Duration),
    /// Not verified: too many attempts are queued, or the server stops.
    Busy,
}

impl LoginVerdict {
    /// The response to a refused login; `None` if the login was accepted.
    pub fn refusal(self) -> Option<Response> {
        let (mut response, wait) = match self {
            LoginVerdict::Accepted => return None,
            LoginVerdict::Unauthorized => (unauthorized(), None),
            LoginVerdict::Delayed(wait) => (unauthorized(), Some(wait)),
            LoginVerdict::Busy => (
                response::error(StatusCode::SERVICE_UNAVAILABLE, "too many sign in"),
                Some(BUSY_RETRY),
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

/// Explanation for people, with the way out if the password is lost.
const UNAUTHORIZED: &str = "User name or password is missing or wrong. To set new ones, run `papertick passwd` on the machine of the clock.";

/// Challenge for a page with its own sign-in form. Browsers do not know this scheme, so they show no dialog.
const FORM_CHALLENGE: HeaderValue = HeaderValue::from_static("Form realm=\"papertick\"");

/// Request header of a page with its own sign-in form.
const HAS_FORM: HeaderName = HeaderName::from_static("x-sign-in");

/// Replaces the challenge if the page has its own sign-in form, so that the browser shows no dialog.
pub fn use_sign_in_form(headers: &HeaderMap, response: &mut Response) {
    if headers.contains_key(HAS_FORM)
        && let Some(challenge) = response.headers_mut().get_mut(WWW_AUTHENTICATE)
    {
        *challenge = FORM_CHALLENGE;
    }
}

fn unauthorized() -> Response {
    let mut response =
        response::error_with_reason(StatusCode::UNAUTHORIZED, "unauthorized", UNAUTHORIZED);
    response.headers_mut().insert(WWW_AUTHENTICATE, CHALLENGE);
    response
}
