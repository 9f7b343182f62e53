//! Ports: what the program asks of a board, whatever hardware is behind it.
//!
//! Each port is moved into the one task that drives it; none is shared.

use std::{future::Future, sync::Arc, time::Duration};

use device::{
    board::PanelFault,
    input::{LinkEvent, LinkFailure, Sensed},
    lights::Rgb,
    output::WifiPlan,
    refresh::Refresh,
    secret::Secret,
};
use render::Bitmap;
use tokio::time::Instant;

/// What became of a refresh: how the panel was refreshed in the end, or why it was not.
pub type Outcome = Result<Refresh, PanelFault>;

/// Time after which a busy panel is taken for stuck; a full refresh in the cold takes half of it.
pub const BUSY_LIMIT: Duration = Duration::from_secs(10);

/// The panels; each refreshes on its own, in parallel with the others.
pub trait Panels: Send + 'static {
    /// Number of panels.
    fn count(&self) -> usize;

    /// Time after which a refresh that was started and has not ended is taken for stuck.
    fn patience(&self) -> Duration {
        BUSY_LIMIT
    }

    /// Hands a frame to a panel that is idle and starts its refresh; the ink moves afterwards.
    ///
    /// # Errors
    /// The panel did not take the frame.
    fn start(
        &mut self,
        panel: usize,
        frame: &Arc<Bitmap>,
        refresh: Refresh,
    ) -> impl Future<Output = Result<(), PanelFault>> + Send;

    /// Waits until a refreshing panel is idle again; returns what became of all that have become so.
    ///
    /// Never returns while no panel refreshes. Dropping the future loses nothing.
    fn idle(&mut self) -> impl Future<Output = Vec<(usize, Outcome)>> + Send;
}

/// The LED strip.
pub trait LedStrip: Send + 'static {
    /// Shows these colours, leftmost first.
    fn show(&mut self, colours: &[Rgb]) -> impl Future<Output = ()> + Send;
}

/// The white frontlight, one channel per panel.
pub trait Frontlight: Send + 'static {
    /// Sets the duty of each channel, 0..=4095.
    fn set(&mut self, duties: &[u16]) -> impl Future<Output = ()> + Send;
}

/// The ambient light sensor.
pub trait LightSensor: Send + 'static {
    /// Measures.
    fn read(&mut self) -> impl Future<Output = Sensed> + Send;
}

/// Contacts of the buttons that opened or closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ButtonEdge {
    /// Buttons that are down since then, a bit per pin.
    pub down: u8,
    /// When it happened, not when somebody looked.
    pub at: Instant,
}

/// The buttons: one stream of edges, in the order in which they happened.
pub trait Buttons: Send + 'static {
    /// Waits for the next edge; the first is the state as the power came on.
    ///
    /// However late it is asked for, none that waits is left out unless there are very many; then the oldest are.
    /// Dropping the future loses nothing.
    fn edge(&mut self) -> impl Future<Output = ButtonEdge> + Send;
}

/// The radio, or the host's network where there is no radio to manage.
pub trait Wifi: Send + 'static {
    /// Waits for the next event; dropping the future loses nothing.
    ///
    /// The first says whether credentials are stored, or that there is no radio to manage.
    fn event(&mut self) -> impl Future<Output = LinkEvent> + Send;

    /// Does as the plan says: tries the stored credentials once more where `attempts` has grown, and is an access
    /// point or is none. What comes of it are events.
    fn follow(&mut self, plan: &WifiPlan) -> impl Future<Output = ()> + Send;

    /// Lists the networks in reach.
    fn scan(&mut self) -> impl Future<Output = Vec<WifiNetwork>> + Send;

    /// Tries credentials for so long at most, and stores them if they are right.
    ///
    /// The access point stays up meanwhile where the radio can do that, and comes back if they are wrong.
    ///
    /// # Errors
    /// They are wrong, or could not be stored; what was stored before is as it was.
    fn provision(
        &mut self,
        ssid: &str,
        password: &Secret,
        limit: Duration,
    ) -> impl Future<Output = Result<(), Unprovisioned>> + Send;

    /// Forgets the stored credentials.
    ///
    /// # Errors
    /// They may still be there; why, in words for people.
    fn forget(&mut self) -> impl Future<Output = Result<(), String>> + Send;
}

/// A Wi-Fi network in range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WifiNetwork {
    /// Its name.
    pub ssid: String,
    /// Strength of its signal, dBm.
    pub rssi: i32,
    /// It asks for a password.
    pub secured: bool,
}

/// Why credentials were not stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unprovisioned {
    /// The network did not take them.
    Failed(LinkFailure),
    /// They are right but could not be stored; why, in words for people.
    NotStored(String),
}
