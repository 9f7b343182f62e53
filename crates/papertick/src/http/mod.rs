//! The control interface: everything a client can read, ask for and follow over HTTP.
//!
//! `routes` is the table of all operations; `router` finds the row of a request and guards it.
//! `server` holds the connections, `events` the clients that follow.
//! Handlers only translate: they ask the device through the inbox, or show what its view says.

#![allow(dead_code, reason = "guards and pictures come next")]

mod answer;
mod cache;
pub mod call;
mod control;
mod events;
mod lights;
mod panels;
mod router;
mod routes;
mod server;
mod settings;
mod show;
mod slow;
mod status;
mod vitals;

use std::{path::PathBuf, sync::Arc, time::Duration};

use device::{settings::emit::Identity, view::View};
use tokio::{
    net::TcpListener,
    sync::{broadcast, watch},
    time::Instant,
};

use crate::{glass::Glass, inbox::Inbox};
use bytes::Bytes;
use cache::Cached;
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
    /// What the build and its parts are; `fs_rev` is filled in from the page's own manifest.
    pub identity: Identity,
    /// Origins of other sites whose pages may control the clock, such as `http://localhost:5173`.
    pub allow_origins: Vec<String>,
    /// Moment at which the uptime of the device was zero.
    pub started: Instant,
    /// Folder whose disk the system status tells of.
    pub data_dir: PathBuf,
    /// Turns true when the server is to stop.
    pub shutdown: watch::Receiver<bool>,
}

/// What every handler can reach.
pub(crate) struct State {
    services: Services,
    status: Cached<StatusDocument>,
    settings: Cached<Bytes>,
    frames: broadcast::Sender<events::Frame>,
}

impl State {
    fn new(services: Services) -> State {
        State {
            services,
            status: Cached::new(),
            settings: Cached::new(),
            frames: broadcast::Sender::new(events::FRAMES_KEPT),
        }
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
        self.services.started.elapsed()
    }

    /// The newest status.
    pub(crate) fn status(&self) -> StatusDocument {
        let view = self.view();
        let uptime = self.uptime();
        self.status.get(&view, uptime.as_secs(), |before| {
            StatusDocument::of(
                &view,
                uptime,
                Memory::now(before.map(|before| before.memory)),
            )
        })
    }

    /// The newest settings document.
    pub(crate) fn settings(&self) -> Bytes {
        let view = self.view();
        self.settings.get(&view, 0, |_| {
            settings::document(&view, &self.services.identity)
                .to_string()
                .into()
        })
    }
}

/// Serves the control interface until it is told to stop, then lets the requests under way end.
pub async fn serve(listener: TcpListener, services: Services) {
    server::run(listener, Arc::new(State::new(services))).await;
}
