//! How a value has moved.

use api::documents::history::ValueHistory;

use super::{
    call::Call,
    etag,
    response::{self, Response},
};

/// The values of a series, or 304 if the client has them.
pub fn read(call: &Call) -> Response {
    match ValueHistory::of(&call.view, |name| call.query(name)) {
        Ok(history) => {
            let text = serde_json::to_vec(&history).unwrap_or_default();
            etag::json(call.headers(), text.into())
        }
        Err(reason) => response::bad_request(&reason),
    }
}
