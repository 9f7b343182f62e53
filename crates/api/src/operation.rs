//! The type of a row in the table of operations, and functions that build rows.
//!
//! HTTP, MQTT and `papertick ctl` share the operations; an [`HttpEndpoint`] adds the method and the path of HTTP.

use alloc::{string::String, vec::Vec};

use device::view::View;

use crate::{
    answer::Answer,
    device_call::DeviceCall,
    limits::SMALL_BODY_MAX,
    parameters::Parameters,
    shape::{Shape, received},
};

/// Prefix of the paths of the control interface. The rest of a path is the name of the operation.
const PREFIX: &str = "/api/";

/// Operations that belong together.
#[derive(Debug)]
pub struct OperationGroup {
    /// Heading in the documentation.
    pub name: &'static str,
    pub operations: &'static [Operation],
}

#[derive(Debug)]
pub struct Operation {
    /// What it does.
    pub summary: &'static str,
    /// Its HTTP endpoints: the preferred one first.
    pub endpoints: &'static [HttpEndpoint],
    /// The words of `papertick ctl`. `None` if they follow from the path.
    pub command_words: Option<&'static str>,
    /// Which clients may use it.
    pub guard: Guard,
    /// It also exists while the clock is an access point.
    pub also_in_portal: bool,
    /// It only reads, but can fail; then it answers 500 or 503.
    pub may_fail: bool,
    pub body: BodyRule,
    /// Largest body, bytes. Images and web bundles are larger and have their own limits.
    pub body_max: usize,
    /// Answers in addition to those that every operation of its guard has.
    pub answers: &'static [(u16, Shape)],
    /// What performs it.
    pub handler: OperationHandler,
}

#[derive(Debug)]
pub struct HttpEndpoint {
    pub method: Method,
    /// Path; may have one parameter, such as `{id}`.
    pub path: &'static str,
    /// Shape of the parameter in the path.
    pub path_parameter: Shape,
    /// Value of the path parameter if the path ends before it, as in `/api/show/screen/`. `None` if it is required.
    pub default_value: Option<&'static str>,
    pub query: &'static [Param],
    /// Refuses requests from pages of other sites: it changes something, or they could read its answer.
    pub checks_origin: bool,
    /// Another endpoint of the operation is preferred.
    pub deprecated: bool,
    /// Opens a web socket.
    pub upgrades: bool,
    /// Its answers, if they differ from those of the operation.
    pub answers: Option<&'static [(u16, Shape)]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads; the endpoints of older clients also act.
    Get,
    Post,
    /// Changes a part.
    Patch,
    Delete,
}

impl Method {
    /// The method as in a request line.
    pub fn name(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
        }
    }
}

/// A parameter in the query.
#[derive(Debug)]
pub struct Param {
    pub name: &'static str,
    pub shape: Shape,
    pub doc: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyRule {
    /// No body; a received one is ignored.
    None,
    /// An optional body; a query parameter can replace one of its members.
    Optional(Shape),
    /// A body, or a query parameter instead.
    BodyOrQuery(Shape),
    Required(Shape),
}

/// Which clients may use an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    Open,
    /// Clients with the credentials of the control interface.
    Control,
    /// As `Control`, but all clients if the setting `metricsOpen` is on.
    Monitoring,
    /// Clients with the password for uploads.
    Upload,
    /// All clients, and only while the clock is an access point.
    Portal,
}

/// What performs an operation.
#[derive(Debug, Clone, Copy)]
pub enum OperationHandler {
    /// The device. The function makes the request to it from the parameters of the client.
    Device(fn(Parameters, &View) -> Result<DeviceCall, Answer>),
    /// The function, which answers from the view alone.
    View(fn(&View) -> Answer),
    /// The program, by the function that the HTTP server has for the first endpoint.
    Program,
}

pub const fn by_device(
    summary: &'static str,
    parse: fn(Parameters, &View) -> Result<DeviceCall, Answer>,
    endpoints: &'static [HttpEndpoint],
) -> Operation {
    operation(summary, OperationHandler::Device(parse), endpoints)
}

pub const fn from_view(
    summary: &'static str,
    answer: fn(&View) -> Answer,
    endpoints: &'static [HttpEndpoint],
) -> Operation {
    operation(summary, OperationHandler::View(answer), endpoints)
}

pub const fn by_program(summary: &'static str, endpoints: &'static [HttpEndpoint]) -> Operation {
    operation(summary, OperationHandler::Program, endpoints)
}

const fn operation(
    summary: &'static str,
    handler: OperationHandler,
    endpoints: &'static [HttpEndpoint],
) -> Operation {
    Operation {
        summary,
        endpoints,
        command_words: None,
        guard: Guard::Control,
        also_in_portal: false,
        may_fail: false,
        body: BodyRule::None,
        body_max: SMALL_BODY_MAX,
        answers: &[(200, Shape::Empty)],
        handler,
    }
}

impl Operation {
    pub const fn guard(mut self, guard: Guard) -> Operation {
        self.guard = guard;
        self
    }

    /// Sets the words of `papertick ctl`.
    pub const fn command_words(mut self, words: &'static str) -> Operation {
        self.command_words = Some(words);
        self
    }

    /// Makes it also exist while the clock is an access point.
    pub const fn also_in_portal(mut self) -> Operation {
        self.also_in_portal = true;
        self
    }

    /// Marks an operation that only reads but can fail.
    pub const fn may_fail(mut self) -> Operation {
        self.may_fail = true;
        self
    }

    pub const fn body(mut self, shape: Shape) -> Operation {
        self.body = BodyRule::Required(shape);
        self
    }

    /// Requires a body, or a query parameter instead.
    pub const fn body_or_query(mut self, shape: Shape) -> Operation {
        self.body = BodyRule::BodyOrQuery(shape);
        self
    }

    pub const fn optional_body(mut self, shape: Shape) -> Operation {
        self.body = BodyRule::Optional(shape);
        self
    }

    /// Sets the largest body, bytes.
    pub const fn body_max(mut self, body_max: usize) -> Operation {
        self.body_max = body_max;
        self
    }

    pub const fn answers(mut self, answers: &'static [(u16, Shape)]) -> Operation {
        self.answers = answers;
        self
    }

    /// Whether it exists. `portal`: the clock is an access point.
    pub fn is_served(&self, portal: bool) -> bool {
        self.also_in_portal || (self.guard == Guard::Portal) == portal
    }

    /// Name for interfaces without paths: the preferred path below `/api/`. `None` if all endpoints are deprecated, or the
    /// path is elsewhere.
    pub fn name(&self) -> Option<&'static str> {
        let mut endpoints = self.endpoints.iter();
        let preferred = endpoints.find(|endpoint| !endpoint.deprecated)?;
        preferred.path.strip_prefix(PREFIX)
    }

    /// Its words of `papertick ctl`, such as `show screen`. No two operations have the same.
    pub fn command(&self) -> String {
        if let Some(words) = self.command_words {
            return words.into();
        }
        let path = self.endpoints.first().map_or("", |endpoint| endpoint.path);
        let path = path.strip_prefix(PREFIX).unwrap_or(path);
        let (path, _extension) = path.split_once('.').unwrap_or((path, ""));
        let words = path
            .split('/')
            .filter(|word| !word.is_empty() && *word != "action");
        words.collect::<Vec<_>>().join(" ").replace('_', "-")
    }
}

const fn endpoint(method: Method, path: &'static str) -> HttpEndpoint {
    HttpEndpoint {
        method,
        path,
        path_parameter: received::<String>(),
        default_value: None,
        query: &[],
        checks_origin: true,
        deprecated: false,
        upgrades: false,
        answers: None,
    }
}

/// A GET that only reads.
pub const fn get(path: &'static str) -> HttpEndpoint {
    let mut endpoint = endpoint(Method::Get, path);
    endpoint.checks_origin = false;
    endpoint
}

/// A GET that opens a web socket. It checks the origin because pages of other sites could read the web socket.
pub const fn web_socket(path: &'static str) -> HttpEndpoint {
    let mut endpoint = endpoint(Method::Get, path);
    endpoint.upgrades = true;
    endpoint
}

/// A GET that changes something, because a protocol wants it. There is no HEAD for it.
pub const fn changing_get(path: &'static str) -> HttpEndpoint {
    endpoint(Method::Get, path)
}

/// A GET that changes something, as older clients send it.
pub const fn deprecated_get(path: &'static str) -> HttpEndpoint {
    let mut endpoint = changing_get(path);
    endpoint.deprecated = true;
    endpoint
}

pub const fn post(path: &'static str) -> HttpEndpoint {
    endpoint(Method::Post, path)
}

pub const fn patch(path: &'static str) -> HttpEndpoint {
    endpoint(Method::Patch, path)
}

pub const fn delete(path: &'static str) -> HttpEndpoint {
    endpoint(Method::Delete, path)
}

impl HttpEndpoint {
    /// Sets the shape of the parameter in the path, if it is no text.
    pub const fn path_parameter(mut self, shape: Shape) -> HttpEndpoint {
        self.path_parameter = shape;
        self
    }

    /// Makes the parameter in the path optional.
    pub const fn default_value(mut self, value: &'static str) -> HttpEndpoint {
        self.default_value = Some(value);
        self
    }

    /// Sets the parameters in the query.
    pub const fn query(mut self, query: &'static [Param]) -> HttpEndpoint {
        self.query = query;
        self
    }

    /// Sets answers that differ from those of the operation.
    pub const fn answers(mut self, answers: &'static [(u16, Shape)]) -> HttpEndpoint {
        self.answers = Some(answers);
        self
    }
}
