//! Operations on the LED strip and the frontlight.

use http::StatusCode;

use super::{
    answer::{self, Response},
    call::Call,
    status,
};

/// Colours of the LED strip.
pub(crate) fn read(call: &Call) -> Response {
    let view = call.state.view();
    if view.board.leds == 0 {
        return answer::error(StatusCode::SERVICE_UNAVAILABLE, "leds not available");
    }
    answer::json(&status::lights(&view.lights))
}
