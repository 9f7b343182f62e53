//! Finds the operation of a request, checks access, and calls the handler.

use std::{
    collections::HashMap,
    net::SocketAddr,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, LazyLock},
    thread,
};

use device::{input::Input, view::View};
use futures_util::FutureExt;
use http::{
    HeaderValue, Method, Request, StatusCode, Uri,
    header::{ALLOW, ORIGIN, VARY, X_CONTENT_TYPE_OPTIONS},
};
use hyper::body::Incoming;

use api::{
    operation::{self, Guard, HttpEndpoint, Operation},
    operations,
};

use super::{
    auth::{self, LoginVerdict},
    call::Call,
    coding, commands, confirmation,
    handlers::{self, Handler},
    html,
    origin::{self, Sender},
    pages,
    parse::percent_decode,
    portal,
    proxy::RequestSource,
    response::{self, Response},
    state::ServerState,
    unread_body::UnreadBody,
};

/// An operation and one of its request endpoints.
#[derive(Clone, Copy)]
struct OperationRoute {
    operation: &'static Operation,
    endpoint: &'static HttpEndpoint,
    handler: Handler,
}

/// Routes by path; paths with a parameter are in a separate list.
struct RouteTable {
    fixed: HashMap<&'static str, Vec<OperationRoute>>,
    parameterised: Vec<(PathPattern, Vec<OperationRoute>)>,
}

/// A path with one parameter, such as `/api/panels/{i}.png`.
struct PathPattern {
    before: &'static str,
    after: &'static str,
}

impl PathPattern {
    fn parse(path: &'static str) -> Option<PathPattern> {
        let (before, rest) = path.split_once('{')?;
        let (_, after) = rest.split_once('}')?;
        Some(PathPattern { before, after })
    }

    /// The parameter in a path that matches this pattern.
    fn parameter<'a>(&self, path: &'a str) -> Option<&'a str> {
        let parameter = path.strip_prefix(self.before)?.strip_suffix(self.after)?;
        (!parameter.contains('/')).then_some(parameter)
    }
}

static ROUTES: LazyLock<RouteTable> = LazyLock::new(|| {
    let mut table = RouteTable {
        fixed: HashMap::new(),
        parameterised: Vec::new(),
    };
    let routes = operations::all().flat_map(|operation| {
        let handler = handlers::handler(operation);
        let endpoints = operation.endpoints.iter();
        endpoints.map(move |endpoint| OperationRoute {
            operation,
            endpoint,
            handler,
        })
    });
    for route in routes {
        let Some(pattern) = PathPattern::parse(route.endpoint.path) else {
            let routes = table.fixed.entry(route.endpoint.path).or_default();
            routes.push(route);
            continue;
        };
        match table
            .parameterised
            .iter_mut()
            .find(|(_, routes)| routes[0].endpoint.path == route.endpoint.path)
        {
            Some((_, routes)) => routes.push(route),
            None => table.parameterised.push((pattern, vec![route])),
        }
    }
    table
});

/// The result of routing a request.
struct RouteMatch {
    /// The routes of the path; empty if no operation has this path.
    routes: &'static [OperationRoute],
    /// The route of the path and the method.
    route: Option<OperationRoute>,
    /// The button of the confirmation page sent the request.
    confirmed: bool,
    /// The parameter in the path, still encoded.
    param: Option<String>,
    /// The clock is an access point and serves only the portal.
    portal: bool,
}

impl RouteMatch {
    fn of(uri: &Uri, method: &Method, portal: bool) -> RouteMatch {
        let served = |(routes, _): &(&[OperationRoute], Option<String>)| {
            let mut routes = routes.iter();
            routes.any(|route| route.operation.is_served(portal))
        };
        let (routes, param) = routes_of(uri.path()).filter(served).unwrap_or_default();
        let old = || {
            routes
                .iter()
                .copied()
                .find(|route| route.endpoint.deprecated)
        };
        let confirmed = confirmation::is_confirmed(method, uri).then(old).flatten();
        RouteMatch {
            routes,
            confirmed: confirmed.is_some(),
            route: confirmed.or_else(|| route_for(routes, method)),
            param,
            portal,
        }
    }
}

/// The routes of a path and the parameter in the path, still encoded.
fn routes_of(path: &str) -> Option<(&'static [OperationRoute], Option<String>)> {
    let table = &*ROUTES;
    if let Some(routes) = table.fixed.get(path) {
        return Some((routes, None));
    }
    let parameterised = table.parameterised.iter().find_map(|(pattern, routes)| {
        let param = match pattern.parameter(path)? {
            "" => routes
                .iter()
                .find_map(|route| route.endpoint.default_value)?
                .to_string(),
            param => param.to_string(),
        };
        Some((routes.as_slice(), Some(param)))
    });
    // Some displays put a slash at the end, and some of them do not follow redirects.
    let without_slash = || {
        let path = path.strip_suffix('/')?;
        let routes = table.fixed.get(path)?;
        let is_open = |route: &OperationRoute| route.operation.guard == Guard::Open;
        let is_for_displays = path.starts_with("/api/") && routes.iter().any(is_open);
        is_for_displays.then_some((routes.as_slice(), None))
    };
    parameterised.or_else(without_slash)
}

/// Handles a request.
///
/// Futures that few requests need are boxed, because this future is as large as its largest part.
pub async fn handle(
    state: Arc<ServerState>,
    mut request: Request<Incoming>,
    peer: SocketAddr,
) -> Response {
    let view = state.view();
    // Checked before the headers of a proxy replace the host.
    let ambiguous = origin::ambiguous_host(&request);
    let source = state.services.access.apply(&mut request, peer.ip());
    request.extensions_mut().insert(source.clone());
    let target = RouteMatch::of(request.uri(), request.method(), view.link.portal.is_some());
    let (head, body) = request.into_parts();
    let body = UnreadBody::new(body, &head.headers, &state.side_tasks);
    let request = Request::from_parts(head, body);
    let allowed_origin = state.sites.allowed_origin(request.headers());
    let accepts_gzip = coding::is_gzip_accepted(request.headers());
    let logged = tracing::enabled!(tracing::Level::DEBUG)
        .then(|| (request.method().clone(), request.uri().path().to_string()));
    let confirmed = target.route.filter(|_| target.confirmed);
    let confirmed = confirmed.map(|route| (route, request.uri().path().to_string()));
    let refused = match ambiguous {
        Some(refusal) => Some(refusal),
        None => refusal(&state, &view, &request, &target, &source).await,
    };
    let mut response = match refused {
        Some(refusal) => refusal,
        None => {
            let response = serve(Arc::clone(&state), view, request, target).await;
            match confirmed {
                Some((route, path)) => confirmation::result_page(route.operation, &path, &response),
                None => response,
            }
        }
    };
    response = coding::compress(accepts_gzip, response);
    response = state.unsent.count(response);
    if let Some((method, path)) = logged {
        tracing::debug!(client = %source.client, %method, path, status = response.status().as_u16(), "answered");
    }
    // A document may contain text of a client, which a browser must not interpret as HTML.
    let nosniff = HeaderValue::from_static("nosniff");
    response
        .headers_mut()
        .insert(X_CONTENT_TYPE_OPTIONS, nosniff);
    match allowed_origin {
        Some(origin) => origin::allow_reading(&mut response, origin),
        None if state.sites.any_allowed() => {
            response
                .headers_mut()
                .append(VARY, HeaderValue::from_static("Origin"));
        }
        None => {}
    }
    response
}

/// The refusal of a request from another site's page or without valid credentials; `None` if it may be served.
async fn refusal(
    state: &ServerState,
    view: &View,
    request: &Request<UnreadBody>,
    target: &RouteMatch,
    source: &RequestSource,
) -> Option<Response> {
    let headers = request.headers();
    if let Some(to) = &source.redirect {
        return Some(response::redirect(to));
    }
    // A device that tests for internet access at the access point uses a foreign host name and must be redirected to
    // the portal. Operations, such as the list of networks, are served under the clock's own names only.
    let is_portal_redirect = target.portal && target.route.is_none();
    if !is_portal_redirect
        && !source.is_ingress
        && !state.sites.is_own_host(headers, &view.hostname)
    {
        return Some(origin::unknown_host(&source.base));
    }
    if request.method() == Method::OPTIONS && headers.contains_key(ORIGIN) {
        return Some(origin::preflight(state.sites.allowed_origin(headers)));
    }
    if let Some(route) = target.route.filter(|route| route.endpoint.checks_origin) {
        match state.sites.sender(headers, request.method()) {
            Sender::Allowed => {}
            Sender::Foreign => return Some(origin::cross_site()),
            Sender::Unknown => {
                let is_old_get = *request.method() == Method::GET && route.endpoint.deprecated;
                if is_old_get && origin::is_browser(headers) {
                    return Some(confirmation::page(route.operation, request.uri()));
                }
            }
        }
    }
    let path = request.uri().path();
    let guard = match target.route {
        Some(route) => route.operation.guard,
        None if target.portal => Guard::Portal,
        None if path.starts_with("/api/") => Guard::Control,
        None if path.starts_with("/upload/") => Guard::Upload,
        None => Guard::Open,
    };
    let verdict = match guard {
        Guard::Open | Guard::Portal => return None,
        Guard::Monitoring if view.settings.active.metrics_open => return None,
        Guard::Control if shows_sign_in(state, view, target) => return None,
        Guard::Control | Guard::Monitoring => {
            let authenticator = &state.authenticator;
            authenticator.control(headers, source.client).await
        }
        Guard::Upload => state.authenticator.upload(headers, source.client).await,
    };
    if view.shows_password && guard == Guard::Control && verdict == LoginVerdict::Accepted {
        // The owner has read the password. If the device has stopped, the next request to it fails.
        let _ = Box::pin(state.services.inbox.send(Input::SignedIn)).await;
    }
    let mut refused = verdict.refusal()?;
    auth::use_sign_in_form(headers, &mut refused);
    Some(refused)
}

/// Whether a request is for the panels of a simulated clock while they show a generated password.
///
/// The panels of a simulated clock are visible only on its web page, so its owner could not read the password otherwise.
fn shows_sign_in(state: &ServerState, view: &View, target: &RouteMatch) -> bool {
    let images = ["/api/panels.png", "/api/panels/{i}.png"];
    let is_panel_image = |route: OperationRoute| images.contains(&route.endpoint.path);
    let is_simulated = state.services.bench.is_some();
    view.shows_password && is_simulated && target.route.is_some_and(is_panel_image)
}

async fn serve(
    state: Arc<ServerState>,
    view: Arc<View>,
    request: Request<UnreadBody>,
    target: RouteMatch,
) -> Response {
    let Some(OperationRoute {
        operation,
        endpoint,
        handler,
    }) = target.route
    else {
        return Box::pin(serve_without_route(&state, &request, &target)).await;
    };
    let decoded =
        |param: &String| percent_decode(param, false).filter(|param| !param.contains('\0'));
    let param = target.param.as_ref().map(decoded);
    if param == Some(None) {
        return response::bad_request("bad path");
    }
    let call = Call::new(state, view, request, param.flatten());
    let result = match handler {
        Handler::View(from_view) => call_sync(|| response::from_answer(from_view(&call.view))),
        Handler::Device(parse) => {
            call_async(Box::pin(commands::perform(
                call, operation, endpoint, parse,
            )))
            .await
        }
        Handler::Sync(handler) => call_sync(|| handler(&call)),
        Handler::Async(handler) => call_async(handler(call)).await,
    };
    result.unwrap_or_else(|_| {
        tracing::error!(path = endpoint.path, "handler panicked");
        response::error(StatusCode::INTERNAL_SERVER_ERROR, "internal")
    })
}

/// Calls a handler. Returns an error if the handler panics.
fn call_sync(handler: impl FnOnce() -> Response) -> thread::Result<Response> {
    catch_unwind(AssertUnwindSafe(handler))
}

/// Awaits a handler. Returns an error if the handler panics.
async fn call_async(handler: impl Future<Output = Response>) -> thread::Result<Response> {
    AssertUnwindSafe(handler).catch_unwind().await
}

/// Serves a request without a route: a file of the page, the portal, or an error.
async fn serve_without_route(
    state: &ServerState,
    request: &Request<UnreadBody>,
    target: &RouteMatch,
) -> Response {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    if !target.routes.is_empty() {
        return not_allowed(target.routes);
    }
    // A path that only the access point serves gets 405 for other methods here, too.
    if !target.portal
        && let Some((routes, _)) = routes_of(request.uri().path())
        && route_for(routes, request.method()).is_none()
    {
        return not_allowed(routes);
    }
    if target.portal && reads {
        return portal::page_or_redirect(state, request).await;
    }
    let file = (reads && !target.portal)
        .then(|| pages::file(state, request.uri(), request.headers()))
        .flatten();
    let missing = || {
        if html::is_wanted(request.headers()) {
            let link = html::link_back(request.uri().path());
            html::notice(StatusCode::NOT_FOUND, "Page not found", &link)
        } else {
            response::not_found()
        }
    };
    file.unwrap_or_else(missing)
}

/// The route for a method. A GET route that changes nothing also serves HEAD.
fn route_for(routes: &[OperationRoute], method: &Method) -> Option<OperationRoute> {
    let exact = routes
        .iter()
        .find(|route| route.endpoint.method.name() == method);
    exact
        .or_else(|| {
            let head = *method == Method::HEAD;
            routes.iter().find(|route| head && route.only_reads())
        })
        .copied()
}

impl OperationRoute {
    fn only_reads(&self) -> bool {
        self.endpoint.method == operation::Method::Get && !self.endpoint.checks_origin
    }
}

fn not_allowed(routes: &[OperationRoute]) -> Response {
    let mut response = response::error(StatusCode::METHOD_NOT_ALLOWED, "method not allowed");
    if let Ok(allowed) = HeaderValue::from_str(&allowed_methods(routes)) {
        response.headers_mut().insert(ALLOW, allowed);
    }
    response
}

/// The methods of a path, as a list for `Allow`.
fn allowed_methods(routes: &[OperationRoute]) -> String {
    let mut methods: Vec<&str> = routes
        .iter()
        .map(|route| route.endpoint.method.name())
        .collect();
    if routes.iter().any(OperationRoute::only_reads) {
        methods.push("HEAD");
    }
    methods.join(", ")
}
