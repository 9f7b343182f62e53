//! What every handler can reach.

use std::{
    sync::{Arc, OnceLock, atomic::AtomicBool},
    time::Duration,
};

use api::status::StatusNews;
use bytes::Bytes;
use device::{
    request::{Reply, Request},
    settings::{Settings, emit::BuildIdentity},
    sources as wanted,
    view::{SourceState, View},
};
use feeds::image::page::Page;
use http::{HeaderValue, StatusCode};
use passwords::Hasher;
use runtime::{
    glass::DisplaySnapshot,
    host::{self, Least},
    inbox::Stopped,
};
use tokio::sync::{Semaphore, broadcast, mpsc};

use super::{
    answer::{self, Response},
    assets::Assets,
    auth::{self, Gate},
    cache::Cached,
    documents::{self, SettingsDocument, StatusDocument},
    frames::{BroadcastState, EventFrame, FRAMES_KEPT},
    origin::{self, Sites},
    places::ConnectionLimits,
    services::Services,
    side_task::SideTask,
};

/// Clients that watch the panels over web sockets at the same time.
pub const PREVIEWS_MAX: usize = 32;

/// Pictures of panels as they might be that are drawn at the same time; others wait.
const DRAWN_AT_ONCE: usize = 1;

/// Files whose secrets are sealed or opened at the same time; others wait.
const SEALED_AT_ONCE: usize = 1;

/// Files that are in hand at the same time; each may be large.
const TRANSFERS_MAX: usize = 8;

/// Changes that may be under way at the same time; one that insists on a version waits for all others.
pub const CHANGES_MAX: u32 = 64;

/// What the tasks of the server work off.
pub struct Queues {
    /// Attempts to sign in.
    pub attempts: auth::Attempts,
    /// Passwords to hash.
    pub passwords: passwords::Jobs,
    /// Work that goes on after its request was answered.
    pub tasks: mpsc::Receiver<SideTask>,
}

/// State that all handlers share.
pub struct ServerState {
    /// What the server was given.
    pub services: Services,
    /// Who may come in.
    pub gate: Gate,
    /// Whose pages may act.
    pub sites: Sites,
    /// What the page may load.
    pub policy: HeaderValue,
    status: Cached<View, (u64, u64), StatusDocument>,
    /// The least memory that was seen.
    pub least_memory: Least,
    settings: Cached<View, String, SettingsDocument>,
    page: Cached<Page, (), Arc<Assets>>,
    settings_tag: Cached<Settings, (), HeaderValue>,
    settings_key: [u8; 16],
    /// Changes of settings that are under way.
    pub changes: Semaphore,
    /// Turns to draw what is not on the panels.
    pub drawing: Semaphore,
    /// Turns to seal and open the secrets of files, which takes memory.
    pub sealing: Arc<Semaphore>,
    /// Places for files of settings that are in hand.
    pub transfers: Semaphore,
    /// Hashes passwords.
    pub hasher: Hasher,
    /// The description of the interface.
    pub description: OnceLock<Bytes>,
    /// The newest picture of all panels.
    pub pictures: Cached<DisplaySnapshot, u64, Bytes>,
    /// What all followers are sent.
    pub frames: broadcast::Sender<EventFrame>,
    /// What followers know.
    pub told: BroadcastState<StatusNews>,
    /// Places for those who watch the panels.
    pub previews: Arc<Semaphore>,
    /// Work that goes on after its request was answered.
    pub side_tasks: mpsc::Sender<SideTask>,
    /// How many may connect.
    pub places: ConnectionLimits,
    /// Somebody was refused who wanted to follow.
    pub followers_refused: AtomicBool,
}

impl ServerState {
    /// Makes it, and the queues of the server's tasks.
    pub fn new(services: Services) -> (ServerState, Queues) {
        let (side_tasks, tasks) = mpsc::channel(PREVIEWS_MAX);
        let places = services.connections;
        let places = places.map_or_else(ConnectionLimits::of_host, ConnectionLimits::of);
        let shutdown = services.shutdown.clone();
        let (gate, attempts) = Gate::new(&services.view.borrow().active, shutdown);
        let (hasher, passwords) = passwords::hasher();
        let state = ServerState {
            gate,
            sites: Sites::new(&services.allow_origins, &services.access),
            policy: origin::page_policy(&services.allow_origins),
            services,
            status: Cached::new(),
            least_memory: Least::default(),
            settings: Cached::new(),
            page: Cached::new(),
            settings_tag: Cached::new(),
            settings_key: passwords::random().unwrap_or_default(),
            changes: Semaphore::new(CHANGES_MAX as usize),
            drawing: Semaphore::new(DRAWN_AT_ONCE),
            sealing: Arc::new(Semaphore::new(SEALED_AT_ONCE)),
            transfers: Semaphore::new(TRANSFERS_MAX),
            hasher,
            description: OnceLock::new(),
            pictures: Cached::new(),
            frames: broadcast::Sender::new(FRAMES_KEPT),
            told: BroadcastState::new(),
            previews: Arc::new(Semaphore::new(PREVIEWS_MAX)),
            side_tasks,
            places,
            followers_refused: AtomicBool::new(false),
        };
        let queues = Queues {
            attempts,
            passwords,
            tasks,
        };
        (state, queues)
    }

    /// The newest view.
    pub fn view(&self) -> Arc<View> {
        Arc::clone(&self.services.view.borrow())
    }

    /// What the panels show.
    pub fn glass(&self) -> Arc<DisplaySnapshot> {
        Arc::clone(&self.services.glass.borrow())
    }

    /// Time since the device started.
    pub fn uptime(&self) -> Duration {
        self.services.clock.uptime()
    }

    /// The status of a view.
    pub fn status(&self, view: &Arc<View>) -> StatusDocument {
        let now = self.services.clock.now();
        let glass = self.glass();
        let variant = (now.uptime.as_secs(), glass.generation);
        self.status.get(view, variant, |_| {
            let memory = host::memory(&self.least_memory);
            let proxy = self.proxy(view, now.uptime);
            StatusDocument::of(view, &glass, &self.settings_tag(view), now, memory, proxy)
        })
    }

    /// State of the owner's proxy; `None` if no proxy is in use.
    fn proxy(&self, view: &View, uptime: Duration) -> Option<SourceState> {
        let proxy = runtime::route::route(&wanted::route(&view.active)).proxy?;
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

    /// The name of the version of the settings in a view.
    fn settings_tag(&self, view: &View) -> HeaderValue {
        let make = |_| documents::tag(&view.settings, &self.settings_key);
        self.settings_tag.get(&view.settings, (), make)
    }

    /// The settings document of a view.
    pub fn settings(&self, view: &Arc<View>) -> SettingsDocument {
        let tag = self.settings_tag(view);
        let make = |_| SettingsDocument::of(view, &self.identity(), tag);
        self.settings.get(view, self.page_revision(), make)
    }

    /// What the build and its parts are, with the page that is served.
    pub fn identity(&self) -> BuildIdentity {
        BuildIdentity {
            fs_rev: self.page_revision(),
            ..self.services.identity.clone()
        }
    }

    /// What tells the page that is served from others; that of the same build has the name of the program's.
    fn page_revision(&self) -> String {
        let own = &self.services.identity.git_rev;
        let page = self.services.installer.page();
        let commit = page.as_ref().map(|page| page.manifest.commit.as_str());
        let other = commit.filter(|commit| !is_of_build(commit, own));
        other.map_or_else(|| own.clone(), str::to_string)
    }

    /// The files of the page that was installed; none while the one inside the program is served.
    pub fn assets(&self) -> Option<Arc<Assets>> {
        let page = self.services.installer.page()?;
        Some(self.page.get(&page, (), |_| Arc::new(Assets::of(&page))))
    }

    /// Asks the device.
    ///
    /// # Errors
    /// The device has stopped; the answer says so.
    pub async fn ask(&self, request: Request) -> Result<Reply, Response> {
        let stopped =
            |stopped: Stopped| answer::error(StatusCode::SERVICE_UNAVAILABLE, &stopped.to_string());
        self.services.inbox.request(request).await.map_err(stopped)
    }
}

/// Whether a page is of the build of a program, by the commit of the one and the revision of the other.
fn is_of_build(commit: &str, revision: &str) -> bool {
    commit == revision || revision.ends_with(&format!("-{commit}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_belongs_to_the_program_that_was_built_with_it() {
        for (commit, is_own) in [
            ("abc1234", true),
            ("4.0.0-abc1234", true),
            ("1234", false),
            ("def5678", false),
        ] {
            assert_eq!(is_of_build(commit, "4.0.0-abc1234"), is_own, "{commit}");
        }
    }
}
