//! What the server is given.

use std::{path::PathBuf, sync::Arc};

use board::sim::Bench;
use device::{settings::emit::BuildIdentity, view::View};
use net::dialer::Dialer;
use runtime::{clock::Clock, glass::DisplaySnapshot, inbox::Inbox, log_lines::LogLines};
use sources::demo::DemoHand;
use tokio::sync::watch;
use updates::{installer::Installer, newest::Newest};
use wifi::Radio;

use super::proxy::PublicAccess;

/// What the server is given.
#[derive(Debug, Clone)]
pub struct Services {
    /// The way into the device.
    pub inbox: Inbox,
    /// What the device says of itself.
    pub view: watch::Receiver<Arc<View>>,
    /// What the panels show.
    pub glass: watch::Receiver<Arc<DisplaySnapshot>>,
    /// What the build and its parts are; `fs_rev` is that of the page that is served.
    pub identity: BuildIdentity,
    /// Origins of other sites whose pages may control the clock, such as `http://localhost:5173`.
    pub allow_origins: Vec<String>,
    /// How browsers reach the clock.
    pub access: PublicAccess,
    /// What tells the uptime of the device.
    pub clock: Clock,
    /// How often the device broke off since its supervisor started.
    pub crashes: u64,
    /// What installs updates, and what is installed.
    pub installer: Installer,
    /// Asks for the newest release.
    pub newest: Newest,
    /// Folder whose disk the system status tells of.
    pub data_dir: PathBuf,
    /// The table on which a simulated board lies.
    pub bench: Option<Bench>,
    /// The hand that moves the market of a demo.
    pub demo: Option<DemoHand>,
    /// The way out, whose connections are counted.
    pub dialer: Dialer,
    /// The last lines of the log.
    pub log: LogLines,
    /// The way to the radio, for the page of the access point.
    pub radio: Radio,
    /// Connections at the same time; none for as many as the limit on open files allows.
    pub connections: Option<usize>,
    /// Turns true when the server is to stop.
    pub shutdown: watch::Receiver<bool>,
}
