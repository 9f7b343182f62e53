//! Commands: what a client gives is read, the device is asked, and its reply told.

use api::{
    answer::Answer,
    asked::DeviceCall,
    given::{Parameters, RequestBody},
    operation::{Form, Operation, Takes},
};
use device::{request::Request, view::View};

use super::{
    answer::{self, Response},
    call::{Call, Received},
    parse::query_pairs,
    settings,
};

/// Parses the parameters of a request into a call to the device.
pub type CallParser = fn(Parameters, &View) -> Result<DeviceCall, Answer>;

/// Asks the device what an operation reads from a request.
pub async fn perform(
    mut call: Call,
    operation: &Operation,
    form: &Form,
    read: CallParser,
) -> Response {
    let given = given(&mut call, operation, form).await;
    let DeviceCall { request, told } = match read(given, &call.view) {
        Ok(asked) => asked,
        Err(refusal) => return answer::told(refusal),
    };
    let reply = if let Request::Patch(patch) = request {
        settings::change(&call, patch).await
    } else {
        call.state.ask(request).await
    };
    match reply {
        Ok(reply) => answer::told(told.answer(reply)),
        Err(response) => response,
    }
}

/// Takes what a request gives to its place: older clients write into the path what others have in the body.
async fn given(call: &mut Call, operation: &Operation, form: &Form) -> Parameters {
    let in_path = call.param.take();
    let takes_body = !form.old && operation.body != Takes::Nothing;
    let body = if takes_body {
        call.body(operation.body_max).await
    } else {
        Received::Nothing
    };
    let query = call.parts.uri.query().filter(|_| !form.query.is_empty());
    Parameters {
        body: match body {
            Received::Whole(bytes) => RequestBody::read(&bytes),
            Received::Nothing | Received::TooLarge | Received::Broken => RequestBody::Missing,
        },
        beside: query_pairs(query.unwrap_or_default()).collect(),
        in_path,
    }
}
