//! A browser's GET that changes something: nothing says which site sends it, so a person has to press a button.
//!
//! A page of another site can make its visitors' browsers send a GET without a mark, with an image, a frame or a fetch.
//! Such a GET gets a page whose button sends the same as a POST, which browsers do mark.

use api::operation::Operation;
use http::{Method, StatusCode, uri::Uri};
use serde_json::Value;

use super::{
    answer::{Response, ResponseBody},
    html::{self, escaped, link_back},
    parse::query_value,
};

/// What the button adds to the query.
const PRESSED: &str = "pressed";

/// Whether a request was sent by the button.
pub fn is_pressed(method: &Method, uri: &Uri) -> bool {
    let query = uri.query().unwrap_or_default();
    *method == Method::POST && query_value(query, PRESSED).is_some()
}

/// The page with the button.
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

/// The page after the button was pressed, in place of the response for programs.
pub fn outcome(operation: &Operation, path: &str, response: &Response) -> Response {
    let (title, text) = match response.status().is_success() {
        true => ("Done", format!("{}.", operation.summary)),
        false => (
            "Not done",
            format!("{}: {}.", operation.summary, reason(response.body())),
        ),
    };
    let content = format!("<p>{}</p>\n{}", escaped(&text), link_back(path));
    html::notice(response.status(), title, &content)
}

/// Why something was refused, as the response for programs says it.
fn reason(body: &ResponseBody) -> String {
    let ResponseBody::Whole(Some(bytes)) = body else {
        return "refused".into();
    };
    let document: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let member = |name: &str| document[name].as_str().map(str::to_string);
    member("msg")
        .or_else(|| member("error"))
        .unwrap_or_else(|| "refused".into())
}
