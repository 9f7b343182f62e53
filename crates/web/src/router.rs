//! From a request to the operation that it asks for.

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
    operation::{self, Form, Guard, Operation, OperationHandler, ProgramOperation},
    operations,
};

use super::{
    answer::{self, Response},
    auth::{self, LoginVerdict},
    call::Call,
    coding, commands,
    handlers::{self, Handler},
    html,
    origin::{self, Sender},
    pages,
    parse::percent_decode,
    portal, press,
    proxy::RequestSource,
    state::ServerState,
    unread::Unread,
};

/// An operation and one of its request forms.
#[derive(Clone, Copy)]
struct OperationRoute {
    operation: &'static Operation,
    form: &'static Form,
}

/// Routes by path; those with an open part in a list of their own.
struct Paths {
    fixed: HashMap<&'static str, Vec<OperationRoute>>,
    open: Vec<(OpenPath, Vec<OperationRoute>)>,
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
        (!open.contains('/')).then_some(open)
    }
}

static PATHS: LazyLock<Paths> = LazyLock::new(|| {
    let mut paths = Paths {
        fixed: HashMap::new(),
        open: Vec::new(),
    };
    let routes = operations::all().flat_map(|operation| {
        let forms = operation.forms.iter();
        forms.map(move |form| OperationRoute { operation, form })
    });
    for route in routes {
        let Some(open) = OpenPath::of(route.form.path) else {
            let rows = paths.fixed.entry(route.form.path).or_default();
            rows.push(route);
            continue;
        };
        match paths
            .open
            .iter_mut()
            .find(|(_, routes)| routes[0].form.path == route.form.path)
        {
            Some((_, routes)) => routes.push(route),
            None => paths.open.push((open, vec![route])),
        }
    }
    paths
});

/// The result of routing a request.
struct RouteMatch {
    /// The routes of its path; none where no operation has that path.
    routes: &'static [OperationRoute],
    /// The one of its path and its method.
    route: Option<OperationRoute>,
    /// It was asked for by the button of a page of ours.
    pressed: bool,
    /// The open part of the path.
    param: Option<String>,
    /// The clock is an access point, and its page is all there is.
    portal: bool,
}

impl RouteMatch {
    fn of(uri: &Uri, method: &Method, portal: bool) -> RouteMatch {
        let visible = |(routes, _): &(&[OperationRoute], Option<String>)| {
            let mut routes = routes.iter();
            routes.any(|route| route.operation.is_served(portal))
        };
        let (routes, param) = rows(uri.path()).filter(visible).unwrap_or_default();
        let old = || routes.iter().copied().find(|route| route.form.old);
        let pressed = press::is_pressed(method, uri).then(old).flatten();
        RouteMatch {
            routes,
            pressed: pressed.is_some(),
            route: pressed.or_else(|| choose(routes, method)),
            param,
            portal,
        }
    }
}

/// The routes of a path, and the open part of it.
fn rows(path: &str) -> Option<(&'static [OperationRoute], Option<String>)> {
    let paths = &*PATHS;
    if let Some(routes) = paths.fixed.get(path) {
        return Some((routes, None));
    }
    paths.open.iter().find_map(|(open, routes)| {
        let part = match open.matched(path)? {
            "" => routes
                .iter()
                .find_map(|route| route.form.unsaid)?
                .to_string(),
            part => percent_decode(part, false)?,
        };
        Some((routes.as_slice(), Some(part)))
    })
}

/// Answers a request.
///
/// What few requests do waits in boxes: the answer is moved about with room for the largest of its parts.
pub async fn answer(
    state: Arc<ServerState>,
    mut request: Request<Incoming>,
    peer: SocketAddr,
) -> Response {
    let view = state.view();
    // Checked before headers of a proxy replace the host.
    let ambiguous = origin::ambiguous_host(&request);
    let source = state.services.access.apply(&mut request, peer.ip());
    let target = RouteMatch::of(request.uri(), request.method(), view.link.portal.is_some());
    let (head, body) = request.into_parts();
    let body = Unread::new(body, &head.headers, &state.side_tasks);
    let request = Request::from_parts(head, body);
    let reader = state.sites.reader(request.headers());
    let packed = coding::is_gzip_accepted(request.headers());
    let asked = tracing::enabled!(tracing::Level::DEBUG)
        .then(|| (request.method().clone(), request.uri().path().to_string()));
    let pressed = target.route.filter(|_| target.pressed);
    let pressed = pressed.map(|route| (route, request.uri().path().to_string()));
    let refused = match ambiguous {
        Some(refusal) => Some(refusal),
        None => refusal(&state, &view, &request, &target, &source).await,
    };
    let mut response = match refused {
        Some(refusal) => refusal,
        None => {
            let response = serve(Arc::clone(&state), view, request, target).await;
            match pressed {
                Some((route, path)) => press::outcome(route.operation, &path, &response),
                None => response,
            }
        }
    };
    response = coding::pack(packed, response);
    if let Some((method, path)) = asked {
        tracing::debug!(client = %source.client, %method, path, status = response.status().as_u16(), "answered");
    }
    // What a client may have written into a document must not be taken for a page.
    let nosniff = HeaderValue::from_static("nosniff");
    response
        .headers_mut()
        .insert(X_CONTENT_TYPE_OPTIONS, nosniff);
    match reader {
        Some(origin) => origin::admit(&mut response, origin),
        None if state.sites.any_allowed() => {
            response
                .headers_mut()
                .append(VARY, HeaderValue::from_static("Origin"));
        }
        None => {}
    }
    response
}

/// Refuses what a page of another site sends, and who does not know the credentials.
async fn refusal(
    state: &ServerState,
    view: &View,
    request: &Request<Unread>,
    target: &RouteMatch,
    source: &RequestSource,
) -> Option<Response> {
    let headers = request.headers();
    if let Some(to) = &source.redirect {
        return Some(answer::redirect(to));
    }
    // Who looks for the internet at the access point is shown its page, under whatever name; but what the clock knows
    // of it and of the networks around is told under its own names alone.
    let looks = target.portal && target.route.is_none();
    if !looks
        && !source.is_ingress
        && let Some(refusal) = state.sites.rebound(headers, &view.hostname)
    {
        return Some(refusal);
    }
    if request.method() == Method::OPTIONS && headers.contains_key(ORIGIN) {
        return Some(origin::preflight(state.sites.reader(headers)));
    }
    if let Some(route) = target.route.filter(|route| route.form.changes) {
        match state.sites.sender(headers, request.method()) {
            Sender::Ours => {}
            Sender::Foreign => return Some(origin::cross_site()),
            Sender::Unsaid => {
                let unasked = *request.method() == Method::GET && route.form.old;
                if unasked && origin::is_browser(headers) {
                    return Some(press::page(route.operation, request.uri()));
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
        Guard::Monitoring if view.active.metrics_open => return None,
        Guard::Control if shows_sign_in(state, view, target) => return None,
        Guard::Control | Guard::Monitoring => state.gate.control(headers, source.client).await,
        Guard::Upload => state.gate.upload(headers, source.client).await,
    };
    if view.shows_password && guard == Guard::Control && verdict == LoginVerdict::Admitted {
        // It has been read; the loss of the device is noticed by whoever asks it something.
        let _ = Box::pin(state.services.inbox.send(Input::SignedIn)).await;
    }
    let mut refused = verdict.refusal()?;
    auth::leave_asking_to_page(headers, &mut refused);
    Some(refused)
}

/// Whether a request is for the picture of a simulated clock's panels while a password that the clock made is on them.
///
/// The panels of a simulated clock are seen only through its page, so its owner could not read the password otherwise.
fn shows_sign_in(state: &ServerState, view: &View, target: &RouteMatch) -> bool {
    let draws = |route: OperationRoute| match route.operation.act {
        OperationHandler::Serves(service) => {
            matches!(service, ProgramOperation::Panels | ProgramOperation::Panel)
        }
        OperationHandler::Asks(_) | OperationHandler::Tells(_) => false,
    };
    view.shows_password && state.services.bench.is_some() && target.route.is_some_and(draws)
}

async fn serve(
    state: Arc<ServerState>,
    view: Arc<View>,
    request: Request<Unread>,
    target: RouteMatch,
) -> Response {
    let Some(OperationRoute { operation, form }) = target.route else {
        return Box::pin(unserved(&state, &request, &target)).await;
    };
    let call = Call::new(state, view, request, target.param);
    let answered = match operation.act {
        OperationHandler::Tells(tell) => now(|| answer::told(tell(&call.view))),
        OperationHandler::Asks(read) => {
            later(Box::pin(commands::perform(call, operation, form, read))).await
        }
        OperationHandler::Serves(service) => match handlers::of(service) {
            Handler::Now(handler) => now(|| handler(&call)),
            Handler::Later(handler) => later(handler(call)).await,
        },
    };
    answered.unwrap_or_else(|_| {
        tracing::error!(path = form.path, "handler panicked");
        answer::error(StatusCode::INTERNAL_SERVER_ERROR, "internal")
    })
}

/// Answers from what is known; an error if that panics.
fn now(answer: impl FnOnce() -> Response) -> thread::Result<Response> {
    catch_unwind(AssertUnwindSafe(answer))
}

/// Waits for an answer; an error if that panics.
async fn later(answer: impl Future<Output = Response>) -> thread::Result<Response> {
    AssertUnwindSafe(answer).catch_unwind().await
}

/// Answers a request for which there is no route: with a file of the page, perhaps.
async fn unserved(state: &ServerState, request: &Request<Unread>, target: &RouteMatch) -> Response {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    if !target.routes.is_empty() {
        return not_allowed(target.routes);
    }
    // A path that is served by the access point alone still has no other methods.
    if !target.portal
        && let Some((routes, _)) = rows(request.uri().path())
        && choose(routes, request.method()).is_none()
    {
        return not_allowed(routes);
    }
    if target.portal && reads {
        return portal::look(state, request).await;
    }
    let file = (reads && !target.portal)
        .then(|| pages::file(state, request.uri().path(), request.headers()))
        .flatten();
    let missing = || match html::is_wanted(request.headers()) {
        true => {
            let link = html::link_back(request.uri().path());
            html::notice(StatusCode::NOT_FOUND, "Page not found", &link)
        }
        false => answer::not_found(),
    };
    file.unwrap_or_else(missing)
}

/// The route for a method; HEAD is served by the one for GET where that one only reads.
fn choose(routes: &[OperationRoute], method: &Method) -> Option<OperationRoute> {
    let exact = routes
        .iter()
        .find(|route| route.form.method.name() == method);
    exact
        .or_else(|| {
            let head = *method == Method::HEAD;
            routes.iter().find(|route| head && route.only_reads())
        })
        .copied()
}

impl OperationRoute {
    fn only_reads(&self) -> bool {
        self.form.method == operation::Method::Get && !self.form.changes
    }
}

fn not_allowed(routes: &[OperationRoute]) -> Response {
    let mut response = answer::error(StatusCode::METHOD_NOT_ALLOWED, "method not allowed");
    if let Ok(allowed) = HeaderValue::from_str(&allowed(routes)) {
        response.headers_mut().insert(ALLOW, allowed);
    }
    response
}

/// The methods of a path, as `Allow` lists them.
fn allowed(routes: &[OperationRoute]) -> String {
    let mut methods: Vec<&str> = routes
        .iter()
        .map(|route| route.form.method.name())
        .collect();
    if routes.iter().any(OperationRoute::only_reads) {
        methods.push("HEAD");
    }
    methods.join(", ")
}
