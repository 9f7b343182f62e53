//! From a request to the row of the table that serves it.

use std::sync::Arc;
use std::{collections::HashMap, net::SocketAddr, panic::AssertUnwindSafe, sync::LazyLock};

use futures_util::FutureExt;
use http::{HeaderValue, Method, Request, StatusCode, header::ALLOW};
use hyper::body::Incoming;

use super::{
    State,
    answer::{self, Response},
    call::{Call, percent_decode},
    routes::{Handler, ROUTES, Route},
};

/// Rows by path; those with an open part in a list of their own.
struct Paths {
    fixed: HashMap<&'static str, Vec<&'static Route>>,
    open: Vec<(OpenPath, Vec<&'static Route>)>,
}

/// A path with one open part, such as `/api/panels/{i}.png`.
struct OpenPath {
    before: &'static str,
    after: &'static str,
}

impl OpenPath {
    fn of(path: &'static str) -> Option<OpenPath> {
        let (before, rest) = path.split_once('{')?;
        let (_, after) = rest.split_once('}')?;
        Some(OpenPath { before, after })
    }

    fn matched<'a>(&self, path: &'a str) -> Option<&'a str> {
        let open = path.strip_prefix(self.before)?.strip_suffix(self.after)?;
        (!open.is_empty() && !open.contains('/')).then_some(open)
    }
}

static PATHS: LazyLock<Paths> = LazyLock::new(|| {
    let mut paths = Paths {
        fixed: HashMap::new(),
        open: Vec::new(),
    };
    for route in ROUTES {
        let Some(open) = OpenPath::of(route.path) else {
            paths.fixed.entry(route.path).or_default().push(route);
            continue;
        };
        match paths
            .open
            .iter_mut()
            .find(|(_, routes)| routes[0].path == route.path)
        {
            Some((_, routes)) => routes.push(route),
            None => paths.open.push((open, vec![route])),
        }
    }
    paths
});

/// The rows of a path, and the open part of it.
fn rows(path: &str) -> Option<(&'static [&'static Route], Option<String>)> {
    let paths = &*PATHS;
    if let Some(routes) = paths.fixed.get(path) {
        return Some((routes, None));
    }
    paths.open.iter().find_map(|(open, routes)| {
        let part = percent_decode(open.matched(path)?, false)?;
        Some((routes.as_slice(), Some(part)))
    })
}

/// Answers a request.
pub(crate) async fn answer(
    state: Arc<State>,
    request: Request<Incoming>,
    peer: SocketAddr,
) -> Response {
    let path = request.uri().path();
    let Some((routes, param)) = rows(path) else {
        return answer::not_found();
    };
    let Some(route) = choose(routes, request.method()) else {
        return not_allowed(routes);
    };
    let call = Call::new(state, request, peer, param);
    let answered = match route.handler {
        Handler::Now(handler) => std::panic::catch_unwind(AssertUnwindSafe(|| handler(&call))),
        Handler::Later(handler) => AssertUnwindSafe(handler(call)).catch_unwind().await,
    };
    answered.unwrap_or_else(|_| {
        tracing::error!(path = route.path, "handler panicked");
        answer::error(StatusCode::INTERNAL_SERVER_ERROR, "internal")
    })
}

/// The row for a method; HEAD is served by the row for GET where that one only reads.
fn choose(routes: &[&'static Route], method: &Method) -> Option<&'static Route> {
    let exact = routes.iter().find(|route| route.method == *method);
    exact
        .or_else(|| {
            let head = *method == Method::HEAD;
            routes
                .iter()
                .find(|route| head && route.method == Method::GET && !route.changes)
        })
        .copied()
}

fn not_allowed(routes: &[&'static Route]) -> Response {
    let mut response = answer::error(StatusCode::METHOD_NOT_ALLOWED, "method not allowed");
    if let Ok(allowed) = HeaderValue::from_str(&allowed(routes)) {
        response.headers_mut().insert(ALLOW, allowed);
    }
    response
}

/// The methods of a path, as `Allow` lists them.
fn allowed(routes: &[&'static Route]) -> String {
    let mut methods: Vec<&str> = routes.iter().map(|route| route.method.as_str()).collect();
    if routes
        .iter()
        .any(|route| route.method == Method::GET && !route.changes)
    {
        methods.push("HEAD");
    }
    methods.join(", ")
}
