//! State that all handlers share.

use std::{
    sync::{Arc, OnceLock, atomic::AtomicBool},
    time::Duration,
};

use bytes::Bytes;
use device::{
    request::{Reply, Request},
    settings::{Settings, emit::BuildIdentity},
    sources::Route,
    view::{SourceState, View},
};
use feeds::image::page::Page;
use http::{HeaderValue, StatusCode};
use market::units::Currency;
use passwords::Hasher;
use runtime::{
    host::{self, Least},
    inbox::Stopped,
    panels::PanelsSnapshot,
};
use tokio::sync::{Semaphore, broadcast, mpsc};

use super::{
    assets::Assets,
    auth::{self, Authenticator},
    broadcast::{MESSAGES_MAX, StreamMessage},
    cache::Cached,
    canvas::FrameTimes,
    connection_limits::ConnectionLimits,
    displays::ShownBoards,
    documents::{self, SettingsDocument, StatusDocument},
    drawings::{self, DrawJobs, Drawings},
    origin::{self, Sites},
    response::{self, Response},
    services::Services,
    side_task::SideTask,
    unsent::UnsentBytes,
};

/// Most clients of the panel stream over web sockets.
pub const PANEL_STREAMS_MAX: usize = 32;

/// Previews of panels that are rendered at the same time; others wait.
const PREVIEWS_AT_ONCE: usize = 1;

/// Pictures of displays that wait that are drawn at the same time; others wait.
const WAITING_DRAWINGS_AT_ONCE: usize = 1;

/// Settings files that are imported at the same time; each may be large.
const IMPORTS_MAX: usize = 8;

/// Changes of settings at the same time. A change with `If-Match` takes all permits, so it runs alone.
pub const CHANGES_MAX: u32 = 64;

/// Channels to the tasks of the server.
pub struct TaskQueues {
    pub attempts: auth::Attempts,
    /// Pictures to draw.
    pub drawings: DrawJobs,
    pub passwords: passwords::Jobs,
    /// Work that continues after the response.
    pub side_tasks: mpsc::Receiver<SideTask>,
}

/// State that all handlers share.
pub struct ServerState {
    /// What the server uses from the rest of the program.
    pub services: Services,
    /// Checks credentials.
    pub authenticator: Authenticator,
    /// Host names of the clock and allowed origins.
    pub sites: Sites,
    /// Content security policy of the page.
    pub policy: HeaderValue,
    status: Cached<View, (u64, u64), StatusDocument>,
    /// Minimum of free memory since the start.
    pub least_memory: Least,
    settings: Cached<View, String, SettingsDocument>,
    page: Cached<Page, (), Arc<Assets>>,
    settings_tag: Cached<Settings, Vec<Currency>, HeaderValue>,
    /// Secret of this process, for digests that clients see.
    pub secret: [u8; 16],
    /// Permits to change settings.
    pub changes: Semaphore,
    /// Draws pictures for other screens.
    pub drawings: Drawings,
    /// Times in the captions of pictures for other screens.
    pub frame_times: FrameTimes,
    /// What displays with a board show.
    pub shown_boards: ShownBoards,
    /// Permits to draw for waiting displays. Any client can add one, and they must not delay the others.
    pub waiting_drawings: Semaphore,
    /// Counts the bytes of unsent responses.
    pub unsent: UnsentBytes,
    /// Permits to render previews of the panels.
    pub previews_rendering: Semaphore,
    /// Permits to import settings files.
    pub imports: Semaphore,
    /// Hashes passwords.
    pub hasher: Hasher,
    pub openapi: OnceLock<Bytes>,
    pub panels_image: Cached<PanelsSnapshot, u64, Bytes>,
    /// Frames for all clients of the event stream.
    pub messages: broadcast::Sender<StreamMessage>,
    /// Permits for clients of the panel stream.
    pub panel_streams: Arc<Semaphore>,
    /// Work that continues after the response.
    pub side_tasks: mpsc::Sender<SideTask>,
    pub limits: ConnectionLimits,
    /// An event client was refused; it is logged only once.
    pub event_client_refused: AtomicBool,
}

impl ServerState {
    /// Makes the state and the channels to the server's tasks.
    pub fn new(services: Services) -> (ServerState, TaskQueues) {
        let (side_tasks_sender, side_tasks) = mpsc::channel(PANEL_STREAMS_MAX);
        let limits = services.connections;
        let limits = limits.map_or_else(ConnectionLimits::of_host, ConnectionLimits::configured);
        let shutdown = services.shutdown.clone();
        let (authenticator, attempts) =
            Authenticator::new(&services.view.borrow().settings.active, shutdown);
        let (hasher, passwords) = passwords::hasher();
        let (drawings, draw_jobs) = drawings::queue();
        let state = ServerState {
            authenticator,
            sites: Sites::new(&services.allow_origins, &services.access),
            policy: origin::page_policy(&services.allow_origins),
            services,
            status: Cached::new(),
            least_memory: Least::default(),
            settings: Cached::new(),
            page: Cached::new(),
            settings_tag: Cached::new(),
            secret: passwords::random().unwrap_or_default(),
            changes: Semaphore::new(CHANGES_MAX as usize),
            drawings,
            frame_times: FrameTimes::default(),
            shown_boards: ShownBoards::default(),
            waiting_drawings: Semaphore::new(WAITING_DRAWINGS_AT_ONCE),
            unsent: UnsentBytes::new(),
            previews_rendering: Semaphore::new(PREVIEWS_AT_ONCE),
            imports: Semaphore::new(IMPORTS_MAX),
            hasher,
            openapi: OnceLock::new(),
            panels_image: Cached::new(),
            messages: broadcast::Sender::new(MESSAGES_MAX),
            panel_streams: Arc::new(Semaphore::new(PANEL_STREAMS_MAX)),
            side_tasks: side_tasks_sender,
            limits,
            event_client_refused: AtomicBool::new(false),
        };
        let queues = TaskQueues {
            attempts,
            drawings: draw_jobs,
            passwords,
            side_tasks,
        };
        (state, queues)
    }

    pub fn view(&self) -> Arc<View> {
        Arc::clone(&self.services.view.borrow())
    }

    /// The content of the panels.
    pub fn glass(&self) -> Arc<PanelsSnapshot> {
        Arc::clone(&self.services.glass.borrow())
    }

    /// Time since the device started.
    pub fn uptime(&self) -> Duration {
        self.services.clock.uptime()
    }

    pub fn status(&self, view: &Arc<View>) -> StatusDocument {
        let now = self.services.clock.now();
        let glass = self.glass();
        let variant = (now.uptime.as_secs(), glass.generation);
        self.status.get(view, variant, || {
            let memory = host::memory(&self.least_memory);
            let proxy = self.proxy(view, now.uptime);
            StatusDocument::of(view, &glass, &self.settings_tag(view), now, memory, proxy)
        })
    }

    /// State of the owner's proxy; `None` if no proxy is in use.
    fn proxy(&self, view: &View, uptime: Duration) -> Option<SourceState> {
        let proxy = Route::of(&view.settings.active).proxy?;
        let Some(used) = self.services.dialer.proxy_use(&proxy) else {
            return Some(SourceState::default());
        };
        Some(SourceState {
            up: used.error.is_none(),
            last_success: used
                .last_success
                .map(|at| uptime.saturating_sub(at.elapsed())),
            last_error: used.error,
            ..SourceState::default()
        })
    }

    /// The entity tag of the settings in a view.
    fn settings_tag(&self, view: &View) -> HeaderValue {
        let offered = view.offer.currencies().to_vec();
        let make = || documents::tag(view, &self.secret);
        self.settings_tag.get(&view.settings.stored, offered, make)
    }

    pub fn settings(&self, view: &Arc<View>) -> SettingsDocument {
        let tag = self.settings_tag(view);
        let make = || SettingsDocument::of(view, &self.identity(), tag);
        self.settings.get(view, self.page_revision(), make)
    }

    /// Versions of the program, with the revision of the page that is served.
    pub fn identity(&self) -> BuildIdentity {
        BuildIdentity {
            fs_rev: self.page_revision(),
            ..self.services.identity.clone()
        }
    }

    /// Revision of the page that is served. A page of the same build has the revision of the program.
    fn page_revision(&self) -> String {
        let own = &self.services.identity.git_rev;
        let page = self.services.installer.page();
        let commit = page.as_ref().map(|page| page.manifest.commit.as_str());
        let other = commit.filter(|commit| !is_of_build(commit, own));
        other.map_or_else(|| own.clone(), str::to_string)
    }

    /// The files of the installed page; `None` if the built-in page is served.
    pub fn assets(&self) -> Option<Arc<Assets>> {
        let page = self.services.installer.page()?;
        Some(
            self.page
                .get(&page, (), || Arc::new(Assets::of_page(&page))),
        )
    }

    /// Sends a request to the device and waits for its reply.
    ///
    /// # Errors
    /// A 503 response if the device has stopped.
    pub async fn request(&self, request: Request) -> Result<Reply, Response> {
        let stopped = |stopped: Stopped| {
            response::error(StatusCode::SERVICE_UNAVAILABLE, &stopped.to_string())
        };
        self.services.inbox.request(request).await.map_err(stopped)
    }
}

/// Whether a page with this commit is from the same build as the program with this revision.
fn is_of_build(commit: &str, revision: &str) -> bool {
    commit == revision || revision.ends_with(&format!("-{commit}"))
}
