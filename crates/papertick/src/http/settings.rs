//! Reading and changing the settings.

use std::collections::BTreeMap;

use device::{
    limits::PATCH_BODY_MAX,
    request::{Patch, Request},
    settings::{
        Key,
        emit::{self, Identity},
        reject::Rejection,
    },
    view::View,
};
use serde_json::{Map, Value};

use super::{
    answer::Response,
    call::{Call, Received},
    control::{ask, rejected},
};

/// The settings document.
pub(crate) fn document(view: &View, identity: &Identity) -> Value {
    Value::Object(emit::document(view, identity))
}

/// Changes settings.
pub(crate) async fn patch(mut call: Call) -> Response {
    let object = match call.body(PATCH_BODY_MAX).await {
        Received::Whole(body) => parse(&body),
        Received::Nothing | Received::TooLarge | Received::Broken => Err(Rejection::BadBody),
    };
    match object {
        Ok(body) => {
            let hashes = BTreeMap::<Key, _>::new();
            ask(&call.state, Request::Patch(Patch { body, hashes })).await
        }
        Err(rejection) => rejected(&rejection),
    }
}

/// Reads the body of a change.
fn parse(body: &[u8]) -> Result<Map<String, Value>, Rejection> {
    match serde_json::from_slice(body) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Rejection::NotObject),
        Err(_) => Err(Rejection::Json),
    }
}
