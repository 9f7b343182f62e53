//! What a row of the table of operations says.
//!
//! What is done is the same at every door; a [`Form`] says how HTTP asks for it.

use alloc::{string::String, vec::Vec};

use device::view::View;

use crate::{
    answer::Answer,
    asked::DeviceCall,
    given::Parameters,
    limits::SMALL_BODY_MAX,
    shape::{Shape, received},
};

/// What the path of an operation of the control interface begins with; what is left is the operation's name.
const PREFIX: &str = "/api/";

/// Operations that belong together.
#[derive(Debug)]
pub struct OperationGroup {
    /// Heading under which people find them.
    pub name: &'static str,
    /// The operations.
    pub operations: &'static [Operation],
}

/// One operation.
#[derive(Debug)]
pub struct Operation {
    /// What it does.
    pub summary: &'static str,
    /// How HTTP asks for it: the best way first.
    pub forms: &'static [Form],
    /// Its words on a command line, where the path does not make good ones.
    pub words: Option<&'static str>,
    /// Who may use it.
    pub guard: Guard,
    /// It is there while the clock is an access point, too.
    pub always: bool,
    /// It only reads, but whoever is asked for it may be unable to.
    pub may_fail: bool,
    /// Body it takes.
    pub body: Takes,
    /// Largest body, bytes; only programs and pages are larger, and have limits of their own.
    pub body_max: usize,
    /// Answers besides those that every operation of its guard has.
    pub answers: &'static [(u16, Shape)],
    /// Who does it.
    pub act: OperationHandler,
}

/// A way to ask for an operation over HTTP.
#[derive(Debug)]
pub struct Form {
    /// Method.
    pub method: Method,
    /// Path; one part of it may be open, as in `{id}`.
    pub path: &'static str,
    /// Shape of the open part.
    pub open: Shape,
    /// Value of the open part where the path ends before it; none if such a path is another one.
    pub unsaid: Option<&'static str>,
    /// Values it takes from the query.
    pub query: &'static [Param],
    /// It is not for pages of other sites: it changes something, or they could read its answer.
    pub changes: bool,
    /// There is a better way to ask for the same.
    pub old: bool,
    /// It opens a web socket.
    pub upgrades: bool,
    /// Answers where they are not those of the operation.
    pub answers: Option<&'static [(u16, Shape)]>,
}

/// A method of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads, but in forms of older clients.
    Get,
    /// Acts.
    Post,
    /// Changes a part.
    Patch,
    /// Removes.
    Delete,
}

impl Method {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
        }
    }
}

/// A value in the query.
#[derive(Debug)]
pub struct Param {
    /// Name.
    pub name: &'static str,
    /// Shape.
    pub shape: Shape,
    /// What it is.
    pub doc: &'static str,
}

/// The body an operation takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// None; one that comes is not looked at.
    Nothing,
    /// One or none; a value in the query stands for a member of it.
    Maybe(Shape),
    /// One, or a value in the query in its place.
    OrQuery(Shape),
    /// One.
    Always(Shape),
}

/// Who may use an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// Everybody.
    Open,
    /// Who knows the credentials of the control interface.
    Control,
    /// The same, or everybody where the owner has left figures open.
    Monitoring,
    /// Who knows the password for uploads.
    Upload,
    /// Everybody, and only while the clock is an access point.
    Portal,
}

/// What performs an operation.
#[derive(Debug, Clone, Copy)]
pub enum OperationHandler {
    /// The device, which is asked what this function reads from what the client gave.
    Asks(fn(Parameters, &View) -> Result<DeviceCall, Answer>),
    /// Nobody: this function tells it from the view.
    Tells(fn(&View) -> Answer),
    /// The program.
    Serves(ProgramOperation),
}

/// An operation of the program instead of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramOperation {
    /// Tells the status.
    Status,
    /// Tells the state of the host.
    System,
    /// Streams what happens.
    Events,
    /// Draws all panels.
    Panels,
    /// Draws one panel.
    Panel,
    /// Streams the panels.
    Preview,
    /// Tells the settings.
    Settings,
    /// Hands out the settings as a file.
    ExportSettings,
    /// Takes over a file of settings.
    ImportSettings,
    /// Fetches and installs the newest release.
    AutoUpdate,
    /// Installs a firmware image.
    Firmware,
    /// Installs a web bundle.
    WebBundle,
    /// Tells the last lines of the log.
    Log,
    /// Hands out the last crash dump.
    Coredump,
    /// Removes the last crash dump.
    ForgetCoredump,
    /// Begins to trace allocations.
    StartTrace,
    /// Ends that.
    StopTrace,
    /// Tells memory by kind.
    Heap,
    /// Draws the panels as they would be after a change of settings.
    SettingsPicture,
    /// Draws the panels as they would be with a text.
    TextPicture,
    /// Tells the signals of the simulated board.
    BenchState,
    /// Draws the panels of the simulated board.
    BenchPanels,
    /// Presses its buttons.
    BenchButtons,
    /// Sets the light in its room.
    BenchLux,
    /// Plugs its network in or out.
    BenchLink,
    /// Cuts its power.
    BenchPower,
    /// Lets something happen in the market of a demo.
    BenchMarket,
    /// Breaks or mends one of its panels.
    BenchPanel,
    /// Lists the networks in reach.
    Scan,
    /// Joins a network.
    Join,
    /// Hands out a file of the page.
    Page,
    /// Tells the versions of the page.
    Manifest,
    /// Describes the interface to programs.
    OpenApi,
    /// Tells that the server answers.
    Health,
    /// Tells whether the clock runs.
    Ready,
    /// Tells figures for a monitoring system.
    Metrics,
}

/// An operation that the device does.
pub const fn asks(
    summary: &'static str,
    read: fn(Parameters, &View) -> Result<DeviceCall, Answer>,
    forms: &'static [Form],
) -> Operation {
    operation(summary, OperationHandler::Asks(read), forms)
}

/// An operation that tells something from the view.
pub const fn tells(
    summary: &'static str,
    tell: fn(&View) -> Answer,
    forms: &'static [Form],
) -> Operation {
    operation(summary, OperationHandler::Tells(tell), forms)
}

/// An operation that the program does by itself.
pub const fn serves(
    summary: &'static str,
    service: ProgramOperation,
    forms: &'static [Form],
) -> Operation {
    operation(summary, OperationHandler::Serves(service), forms)
}

const fn operation(
    summary: &'static str,
    act: OperationHandler,
    forms: &'static [Form],
) -> Operation {
    Operation {
        summary,
        forms,
        words: None,
        guard: Guard::Control,
        always: false,
        may_fail: false,
        body: Takes::Nothing,
        body_max: SMALL_BODY_MAX,
        answers: &[(200, Shape::Empty)],
        act,
    }
}

impl Operation {
    /// With another guard.
    pub const fn guarded(mut self, guard: Guard) -> Operation {
        self.guard = guard;
        self
    }

    /// With other words on a command line than its path makes.
    pub const fn called(mut self, words: &'static str) -> Operation {
        self.words = Some(words);
        self
    }

    /// Also while the clock is an access point.
    pub const fn always(mut self) -> Operation {
        self.always = true;
        self
    }

    /// Although it only reads, whoever is asked for it may be unable to.
    pub const fn may_fail(mut self) -> Operation {
        self.may_fail = true;
        self
    }

    /// With a body that must be there.
    pub const fn takes(mut self, shape: Shape) -> Operation {
        self.body = Takes::Always(shape);
        self
    }

    /// With a body, or a value in the query in its place.
    pub const fn takes_or_query(mut self, shape: Shape) -> Operation {
        self.body = Takes::OrQuery(shape);
        self
    }

    /// With a body that may be missing.
    pub const fn may_take(mut self, shape: Shape) -> Operation {
        self.body = Takes::Maybe(shape);
        self
    }

    /// With another limit of the body, bytes.
    pub const fn up_to(mut self, body_max: usize) -> Operation {
        self.body_max = body_max;
        self
    }

    /// With these answers.
    pub const fn answers(mut self, answers: &'static [(u16, Shape)]) -> Operation {
        self.answers = answers;
        self
    }

    /// Whether it is there, on a clock that is an access point or that is none.
    pub fn is_served(&self, portal: bool) -> bool {
        self.always || (self.guard == Guard::Portal) == portal
    }

    /// Its name at doors that have no paths; none if only older clients ask for it.
    pub fn name(&self) -> Option<&'static str> {
        let form = self.forms.iter().find(|form| !form.old)?;
        form.path.strip_prefix(PREFIX)
    }

    /// Its words on a command line, such as `show screen`: no two operations have the same.
    pub fn command(&self) -> String {
        if let Some(words) = self.words {
            return words.into();
        }
        let path = self.forms.first().map_or("", |form| form.path);
        let path = path.strip_prefix(PREFIX).unwrap_or(path);
        let (path, _kind) = path.split_once('.').unwrap_or((path, ""));
        let words = path
            .split('/')
            .filter(|word| !word.is_empty() && *word != "action");
        words.collect::<Vec<_>>().join(" ").replace('_', "-")
    }
}

const fn form(method: Method, path: &'static str) -> Form {
    Form {
        method,
        path,
        open: received::<String>(),
        unsaid: None,
        query: &[],
        changes: true,
        old: false,
        upgrades: false,
        answers: None,
    }
}

/// A GET that only reads.
pub const fn get(path: &'static str) -> Form {
    let mut form = form(Method::Get, path);
    form.changes = false;
    form
}

/// A GET that opens a web socket, which pages of other sites could read.
pub const fn watch(path: &'static str) -> Form {
    let mut form = form(Method::Get, path);
    form.upgrades = true;
    form
}

/// A GET that changes something, as older clients send it.
pub const fn old(path: &'static str) -> Form {
    let mut form = form(Method::Get, path);
    form.old = true;
    form
}

/// A POST.
pub const fn post(path: &'static str) -> Form {
    form(Method::Post, path)
}

/// A PATCH.
pub const fn patch(path: &'static str) -> Form {
    form(Method::Patch, path)
}

/// A DELETE.
pub const fn delete(path: &'static str) -> Form {
    form(Method::Delete, path)
}

impl Form {
    /// With an open part that is no text.
    pub const fn open(mut self, shape: Shape) -> Form {
        self.open = shape;
        self
    }

    /// With an open part that may be missing, and then has this value.
    pub const fn or(mut self, unsaid: &'static str) -> Form {
        self.unsaid = Some(unsaid);
        self
    }

    /// With values in the query.
    pub const fn asks(mut self, query: &'static [Param]) -> Form {
        self.query = query;
        self
    }

    /// With answers of its own.
    pub const fn answers(mut self, answers: &'static [(u16, Shape)]) -> Form {
        self.answers = Some(answers);
        self
    }
}
