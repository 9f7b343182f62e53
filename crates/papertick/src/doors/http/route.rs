//! What a row of the table of operations says.

use std::pin::Pin;

use http::Method;

use super::{answer::Response, call::Call, shape::Shape};

/// Operations that belong together.
pub(crate) struct Group {
    /// Heading under which people find them.
    pub(crate) name: &'static str,
    /// The operations.
    pub(crate) routes: &'static [Route],
}

/// One operation.
pub(crate) struct Route {
    /// Method.
    pub(crate) method: Method,
    /// Path; one part of it may be open, as in `{id}`.
    pub(crate) path: &'static str,
    /// Shape of the open part.
    pub(crate) open: Shape,
    /// Value of the open part where the path ends before it; none if such a path is another one.
    pub(crate) unsaid: Option<&'static str>,
    /// Who may use it.
    pub(crate) guard: Guard,
    /// It is not for pages of other sites: it changes something, or they could read its answer.
    pub(crate) changes: bool,
    /// It is there while the clock is an access point, too.
    pub(crate) always: bool,
    /// There is a better way to ask for the same.
    pub(crate) old: bool,
    /// What it does.
    pub(crate) summary: &'static str,
    /// Values it takes from the query.
    pub(crate) query: &'static [Param],
    /// Body it takes.
    pub(crate) body: Takes,
    /// Answers besides those that every operation of its guard has.
    pub(crate) answers: &'static [(u16, Shape)],
    /// Who does it.
    pub(crate) handler: Handler,
}

/// A value in the query.
pub(crate) struct Param {
    /// Name.
    pub(crate) name: &'static str,
    /// Shape.
    pub(crate) shape: Shape,
    /// What it is.
    pub(crate) doc: &'static str,
}

/// The body an operation takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// None; one that comes is not looked at.
    Nothing,
    /// One, or the query, or neither.
    Maybe(Shape),
    /// One.
    Always(Shape),
}

/// Who may use an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guard {
    /// Everybody.
    Open,
    /// Who knows the credentials of the control interface.
    Control,
    /// Who knows the password for uploads.
    Upload,
    /// Everybody, and only while the clock is an access point.
    Portal,
}

/// An answer that is on its way.
pub(crate) type Pending = Pin<Box<dyn Future<Output = Response> + Send>>;

/// Who answers.
pub(crate) enum Handler {
    /// Answers from what is known.
    Now(fn(&Call) -> Response),
    /// Reads a body or asks the device.
    Later(fn(Call) -> Pending),
}

/// Makes a handler of an async function.
macro_rules! later {
    ($handler:path) => {
        $crate::doors::http::route::Handler::Later(|call| Box::pin($handler(call)))
    };
}
pub(crate) use later;

/// An operation that only reads, from what is known.
pub(crate) const fn get(
    path: &'static str,
    summary: &'static str,
    handler: fn(&Call) -> Response,
) -> Route {
    read(path, summary, Handler::Now(handler))
}

/// An operation that only reads.
pub(crate) const fn read(path: &'static str, summary: &'static str, handler: Handler) -> Route {
    let mut route = change(Method::GET, path, summary, handler);
    route.changes = false;
    route
}

/// An operation that changes something.
pub(crate) const fn change(
    method: Method,
    path: &'static str,
    summary: &'static str,
    handler: Handler,
) -> Route {
    Route {
        method,
        path,
        open: Shape::Text,
        unsaid: None,
        guard: Guard::Control,
        changes: true,
        always: false,
        old: false,
        summary,
        query: &[],
        body: Takes::Nothing,
        answers: &[(200, Shape::Empty)],
        handler,
    }
}

/// A POST.
pub(crate) const fn post(path: &'static str, summary: &'static str, handler: Handler) -> Route {
    change(Method::POST, path, summary, handler)
}

/// A GET that changes something, as older clients send it.
pub(crate) const fn old(path: &'static str, summary: &'static str, handler: Handler) -> Route {
    let mut route = change(Method::GET, path, summary, handler);
    route.old = true;
    route
}

impl Route {
    /// With another guard.
    pub(crate) const fn guarded(mut self, guard: Guard) -> Route {
        self.guard = guard;
        self
    }

    /// Also while the clock is an access point.
    pub(crate) const fn always(mut self) -> Route {
        self.always = true;
        self
    }

    /// Whether it is there, on a clock that is an access point or that is none.
    pub(crate) fn is_served(&self, portal: bool) -> bool {
        self.always || (self.guard == Guard::Portal) == portal
    }

    /// With a body that must be there.
    pub(crate) const fn takes(mut self, shape: Shape) -> Route {
        self.body = Takes::Always(shape);
        self
    }

    /// With a body, and the same value in the query for clients that send none.
    pub(crate) const fn takes_or_asks(mut self, shape: Shape, query: &'static [Param]) -> Route {
        self.body = Takes::Maybe(shape);
        self.query = query;
        self
    }

    /// With values in the query.
    pub(crate) const fn asks(mut self, query: &'static [Param]) -> Route {
        self.query = query;
        self
    }

    /// With an open part that is no text.
    pub(crate) const fn open(mut self, shape: Shape) -> Route {
        self.open = shape;
        self
    }

    /// With an open part that may be missing, and then has this value.
    pub(crate) const fn or(mut self, unsaid: &'static str) -> Route {
        self.unsaid = Some(unsaid);
        self
    }

    /// With these answers.
    pub(crate) const fn answers(mut self, answers: &'static [(u16, Shape)]) -> Route {
        self.answers = answers;
        self
    }
}
