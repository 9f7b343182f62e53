//! Confirmation of a browser's GET that changes something.
//!
//! A page of another site can make a browser send such a GET without an `Origin`, with an image, a frame or a fetch.
//! The response is a page with a button that sends the same as a POST, for which browsers do send the `Origin`.

use api::operation::Operation;
use http::{Method, StatusCode, uri::Uri};
use serde_json::Value;

use super::{
    html::{self, escaped, link_back},
    parse::query_value,
    response::{Response, ResponseBody},
};

/// Query parameter of the button.
const PRESSED: &str = "pressed";

/// Whether the button sent a request.
pub fn is_confirmed(method: &Method, uri: &Uri) -> bool {
    let query = uri.query().unwrap_or_default();
    *method == Method::POST && query_value(query, PRESSED).is_some()
}

pub fn page(operation: &Operation, uri: &Uri) -> Response {
    let (summary, path) = (escaped(operation.summary), escaped(uri.path()));
    let content = format!(
        "<p>This address, a bookmark or another page asks the clock for <code>{path}</code>.</p>\n\
         <form method=\"post\" action=\"?{PRESSED}\"><button>{summary}</button></form>\n\
         {}",
        link_back(uri.path())
    );
    let title = format!("{}?", operation.summary);
    html::notice(StatusCode::FORBIDDEN, &title, &content)
}

/// The page with the result, instead of the JSON response.
pub fn result_page(operation: &Operation, path: &str, response: &Response) -> Response {
    let (title, text) = if response.status().is_success() {
        ("Done", format!("{}.", operation.summary))
    } else {
        (
            "Not done",
            format!("{}: {}.", operation.summary, error_text(response.body())),
        )
    };
    let content = format!("<p>{}</p>\n{}", escaped(&text), link_back(path));
    html::notice(response.status(), title, &content)
}

/// The error text in a JSON response.
pub fn error_text(body: &ResponseBody) -> String {
    let ResponseBody::Whole(Some(bytes)) = body else {
        return "refused".into();
    };
    let document: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let member = |name: &str| document[name].as_str().map(str::to_string);
    member("msg")
        .or_else(|| member("error"))
        .unwrap_or_else(|| "refused".into())
}
