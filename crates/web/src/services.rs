//! What the server uses from the rest of the program.

use std::{path::PathBuf, sync::Arc};

use board::sim::Bench;
use device::{settings::emit::BuildIdentity, view::View};
use net::dialer::Dialer;
use runtime::{clock::Clock, inbox::Inbox, log_lines::LogLines, panels::PanelsSnapshot};
use sources::demo::DemoHand;
use tokio::sync::watch;
use updates::{installer::Installer, newest::NewestRelease};
use wifi::Radio;

use super::proxy::PublicAccess;

/// What the server uses from the rest of the program.
#[derive(Debug, Clone)]
pub struct Services {
    /// Queue of inputs to the device.
    pub inbox: Inbox,
    /// State of the device.
    pub view: watch::Receiver<Arc<View>>,
    /// What the panels show.
    pub glass: watch::Receiver<Arc<PanelsSnapshot>>,
    /// Versions of the program; `fs_rev` is replaced by the revision of the page that is served.
    pub identity: BuildIdentity,
    /// Origins of other sites that may control the clock, such as `http://localhost:5173`.
    pub allow_origins: Vec<String>,
    /// Trusted proxies and public URLs.
    pub access: PublicAccess,
    /// Port at which the server listens.
    pub port: u16,
    /// Clock for uptime and UTC.
    pub clock: Clock,
    /// Crashes of the device since its supervisor started.
    pub crashes: u64,
    /// Installs updates and reports what is installed.
    pub installer: Installer,
    /// Starts the update to the newest release.
    pub newest: NewestRelease,
    /// Data folder; the system status reports the disk it is on.
    pub data_dir: PathBuf,
    /// Controls of the simulated board. `None` on a real board.
    pub bench: Option<Bench>,
    /// Controls of the simulated market of a demo.
    pub demo: Option<DemoHand>,
    /// Dialer of outbound connections; the metrics report its counters.
    pub dialer: Dialer,
    /// The last lines of the log.
    pub log: LogLines,
    /// Wi-Fi radio, for the page of the access point.
    pub radio: Radio,
    /// The portal has a list of panels, because the start named none.
    pub offers_panels: bool,
    /// Most connections at the same time. `None`: as many as the limit on open files allows.
    pub connections: Option<usize>,
    /// Becomes true when the server must stop.
    pub shutdown: watch::Receiver<bool>,
}
