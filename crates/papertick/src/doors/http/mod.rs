//! The control interface: everything a client can read, ask for and follow over HTTP.
//!
//! `routes` is the table of all operations; `router` finds the row of a request and guards it.
//! `server` holds the connections, `events` the clients that follow.
//! Handlers only translate: they ask the device through the inbox, or show what its view says.

mod answer;
mod auth;
mod cache;
mod call;
mod control;
mod diag;
mod etag;
mod events;
mod html;
mod lights;
mod metrics;
pub mod openapi;
mod origin;
mod pages;
mod panels;
pub mod parse;
pub(crate) mod password;
mod portal;
mod press;
mod preview;
mod route;
mod router;
mod routes;
mod server;
mod settings;
mod shape;
mod show;
mod sim;
mod slow;
mod status;
mod unread;
mod update;
mod vitals;

use std::{
    path::PathBuf,
    pin::Pin,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use board::sim::Bench;
use bytes::Bytes;
use device::{settings::emit::Identity, view::View};
use http::HeaderValue;
use net::dialer::Dialer;
use tokio::{
    net::TcpListener,
    sync::{Semaphore, broadcast, mpsc, watch},
};

use crate::{
    clock::Clock, config::Firmware, drivers::wifi::Radio, glass::Glass, inbox::Inbox, tasks::Tasks,
};
use auth::Gate;
use cache::Cached;
use origin::Sites;
use password::Hasher;
use server::Places;
use settings::SettingsDocument;
use status::StatusDocument;
use vitals::Memory;

/// What the server is given.
#[derive(Debug, Clone)]
pub struct Services {
    /// The way into the device.
    pub inbox: Inbox,
    /// What the device says of itself.
    pub view: watch::Receiver<Arc<View>>,
    /// What the panels show.
    pub glass: watch::Receiver<Arc<Glass>>,
    /// What the build and its parts are; `fs_rev` is filled in, for the page is part of the program.
    pub identity: Identity,
    /// Origins of other sites whose pages may control the clock, such as `http://localhost:5173`.
    pub allow_origins: Vec<String>,
    /// What tells the uptime of the device.
    pub clock: Clock,
    /// How often the device broke off since its supervisor started.
    pub crashes: u64,
    /// Which program runs; none if the supervisor does not say.
    pub firmware: Option<Firmware>,
    /// Folder whose disk the system status tells of.
    pub data_dir: PathBuf,
    /// The table on which a simulated board lies.
    pub bench: Option<Bench>,
    /// The way out, whose connections are counted.
    pub dialer: Dialer,
    /// The way to the radio, for the page of the access point.
    pub radio: Radio,
    /// Connections at the same time; none for as many as the limit on open files allows.
    pub connections: Option<usize>,
    /// Turns true when the server is to stop.
    pub shutdown: watch::Receiver<bool>,
}

/// Work that goes on after its request was answered.
pub(crate) struct SideTask {
    name: &'static str,
    work: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl SideTask {
    /// Names the work.
    pub(crate) fn new(
        name: &'static str,
        work: impl Future<Output = ()> + Send + 'static,
    ) -> SideTask {
        SideTask {
            name,
            work: Box::pin(work),
        }
    }
}

/// What the tasks of the server work off.
struct Queues {
    attempts: auth::Attempts,
    passwords: password::Jobs,
    tasks: mpsc::Receiver<SideTask>,
}

/// What every handler can reach.
pub(crate) struct State {
    services: Services,
    gate: Gate,
    sites: Sites,
    policy: HeaderValue,
    status: Cached<View, (u64, u64), StatusDocument>,
    settings: Cached<View, (), SettingsDocument>,
    settings_key: [u8; 16],
    changes: Semaphore,
    hasher: Hasher,
    pictures: Cached<Glass, u64, Bytes>,
    frames: broadcast::Sender<events::Frame>,
    told: events::Told,
    previews: Arc<Semaphore>,
    side_tasks: mpsc::Sender<SideTask>,
    places: Places,
    followers_refused: AtomicBool,
}

impl State {
    fn new(mut services: Services) -> (State, Queues) {
        services.identity.fs_rev = services.identity.git_rev.clone();
        let (side_tasks, tasks) = mpsc::channel(preview::CLIENTS_MAX);
        let places = services.connections;
        let places = places.map_or_else(Places::of_host, Places::of);
        let shutdown = services.shutdown.clone();
        let (gate, attempts) = Gate::new(&services.view.borrow().active, shutdown);
        let (hasher, passwords) = password::hasher();
        let state = State {
            gate,
            sites: Sites::new(&services.allow_origins),
            policy: pages::policy(&services.allow_origins),
            services,
            status: Cached::new(),
            settings: Cached::new(),
            settings_key: password::random().unwrap_or_default(),
            changes: Semaphore::new(settings::CHANGES_MAX as usize),
            hasher,
            pictures: Cached::new(),
            frames: broadcast::Sender::new(events::FRAMES_KEPT),
            told: events::Told::new(),
            previews: Arc::new(Semaphore::new(preview::CLIENTS_MAX)),
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
    pub(crate) fn view(&self) -> Arc<View> {
        Arc::clone(&self.services.view.borrow())
    }

    /// What the panels show.
    pub(crate) fn glass(&self) -> Arc<Glass> {
        Arc::clone(&self.services.glass.borrow())
    }

    /// Time since the device started.
    pub(crate) fn uptime(&self) -> Duration {
        self.services.clock.uptime()
    }

    /// The status of a view.
    pub(crate) fn status(&self, view: &Arc<View>) -> StatusDocument {
        let uptime = self.uptime();
        let glass = self.glass();
        let variant = (uptime.as_secs(), glass.generation);
        self.status.get(view, variant, |before| {
            StatusDocument::of(
                view,
                &glass,
                uptime,
                Memory::now(before.map(|before| before.memory)),
            )
        })
    }

    /// The settings document of a view.
    pub(crate) fn settings(&self, view: &Arc<View>) -> SettingsDocument {
        let make = |_| SettingsDocument::of(view, &self.services.identity, &self.settings_key);
        self.settings.get(view, (), make)
    }
}

/// Serves the control interface until it is told to stop, then lets the requests under way end.
///
/// Ends before that only if a part of it breaks off.
/// The credentials that guard it are those in the view at this moment.
pub async fn serve(listener: TcpListener, services: Services) {
    let (state, queues) = State::new(services);
    let state = Arc::new(state);
    let mut parts = Tasks::new();
    parts.spawn("events", events::broadcast(Arc::clone(&state)));
    parts.spawn("passwords", password::run(queues.passwords));
    let (hasher, stop) = (state.hasher.clone(), state.services.shutdown.clone());
    parts.spawn("sign-in", auth::run(queues.attempts, hasher, stop));
    server::run(listener, state, queues.tasks, parts).await;
}
