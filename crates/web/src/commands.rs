//! Operations of the device: parses the parameters, sends the request to the device, and returns its reply.

use api::{
    answer::Answer,
    device_call::DeviceCall,
    operation::{BodyRule, HttpEndpoint, Operation},
    parameters::{Parameters, RequestBody},
};
use device::{request::Request, view::View};

use super::{
    call::{Call, ReceivedBody},
    parse::query_pairs,
    response::{self, Response},
    settings,
};

/// Parses the parameters of a request into a call to the device.
pub type CallParser = fn(Parameters, &View) -> Result<DeviceCall, Answer>;

/// Performs an operation of the device.
pub async fn perform(
    mut call: Call,
    operation: &Operation,
    endpoint: &HttpEndpoint,
    parse: CallParser,
) -> Response {
    let parameters = parameters(&mut call, operation, endpoint).await;
    let DeviceCall {
        request,
        reply_format,
    } = match parse(parameters, &call.view) {
        Ok(device_call) => device_call,
        Err(refusal) => return response::from_answer(refusal),
    };
    let reply = if let Request::Patch(patch) = request {
        settings::change(&call, patch).await
    } else {
        call.state.request(request).await
    };
    match reply {
        Ok(reply) => response::from_answer(reply_format.answer(reply, &call.state.view())),
        Err(response) => response,
    }
}

/// Reads the parameters of a request. Older clients put into the path what newer clients put into the body.
async fn parameters(call: &mut Call, operation: &Operation, endpoint: &HttpEndpoint) -> Parameters {
    let path_value = call.param.take();
    let takes_body = !endpoint.deprecated && operation.body != BodyRule::None;
    let body = if takes_body {
        call.body(operation.body_max).await
    } else {
        ReceivedBody::Empty
    };
    let query = call
        .parts
        .uri
        .query()
        .filter(|_| !endpoint.query.is_empty());
    Parameters {
        body: match body {
            ReceivedBody::Complete(bytes) => RequestBody::parse(&bytes),
            ReceivedBody::Empty | ReceivedBody::TooLarge | ReceivedBody::Incomplete => {
                RequestBody::Missing
            }
        },
        query: query_pairs(query.unwrap_or_default()).collect(),
        path_value,
    }
}
