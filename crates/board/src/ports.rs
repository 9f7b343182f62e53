//! Ports: the traits of the parts of a board, independent of the hardware.
//!
//! Each port is moved into the task that drives it; none is shared.

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

/// Result of a refresh: the kind of refresh that was done, or why there was none.
pub type Outcome = Result<Refresh, PanelFault>;

/// Time after which a busy panel is stuck. A full refresh in the cold takes half of it.
pub const BUSY_LIMIT: Duration = Duration::from_secs(10);

/// The panels, which refresh in parallel.
pub trait Panels: Send + 'static {
    fn count(&self) -> usize;

    /// Time after which a refresh that has not ended is stuck.
    fn refresh_limit(&self) -> Duration {
        BUSY_LIMIT
    }

    /// Sends a frame to an idle panel and starts its refresh. Returns before the refresh has ended.
    ///
    /// # Errors
    /// The frame could not be sent.
    fn start(
        &mut self,
        panel: usize,
        frame: &Arc<Bitmap>,
        refresh: Refresh,
    ) -> impl Future<Output = Result<(), PanelFault>> + Send;

    /// Waits for the end of a refresh; returns the results of all that have ended.
    ///
    /// Does not return while no panel refreshes. Dropping the future loses nothing.
    fn idle(&mut self) -> impl Future<Output = Vec<(usize, Outcome)>> + Send;
}

pub trait LedStrip: Send + 'static {
    /// Shows these colours, leftmost first.
    fn show(&mut self, colours: &[Rgb]) -> impl Future<Output = ()> + Send;
}

/// The white frontlight, one channel per panel.
pub trait Frontlight: Send + 'static {
    /// Sets the duty of each channel, 0..=4095.
    fn set(&mut self, duties: &[u16]) -> impl Future<Output = ()> + Send;
}

pub trait LightSensor: Send + 'static {
    fn read(&mut self) -> impl Future<Output = Sensed> + Send;
}

/// A change of the contacts of the buttons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ButtonEdge {
    /// Buttons that are down after it, one bit each.
    pub down: u8,
    /// When it happened, not when it was read.
    pub at: Instant,
}

/// The buttons: one stream of edges, in the order in which they happened.
pub trait Buttons: Send + 'static {
    /// Waits for the next edge; the first is the state at power-on.
    ///
    /// Edges are queued. If the queue is full, the oldest are dropped. Dropping the future loses nothing.
    fn edge(&mut self) -> impl Future<Output = ButtonEdge> + Send;
}

/// The radio, or the network of the host if there is no radio to manage.
pub trait Wifi: Send + 'static {
    /// Waits for the next event; dropping the future loses nothing.
    ///
    /// The first event is whether credentials are stored, or that there is no radio to manage.
    fn event(&mut self) -> impl Future<Output = LinkEvent> + Send;

    /// Applies the plan: tries the stored credentials again if `attempts` has grown, and starts or stops the access point.
    /// The results are events.
    fn follow(&mut self, plan: &WifiPlan) -> impl Future<Output = ()> + Send;

    /// Lists the networks in range.
    fn scan(&mut self) -> impl Future<Output = Vec<WifiNetwork>> + Send;

    /// Tries credentials for at most `limit`, and stores them if they are right.
    ///
    /// The access point stays up meanwhile if the radio can do that. If the credentials are wrong, it comes back.
    /// Returns the address of the clock in the network, if there is one yet.
    ///
    /// # Errors
    /// They are wrong, or could not be stored. The stored credentials are unchanged.
    fn provision(
        &mut self,
        ssid: &str,
        password: &Secret,
        limit: Duration,
    ) -> impl Future<Output = Result<Option<String>, ProvisionError>> + Send;

    /// Forgets the stored credentials.
    ///
    /// # Errors
    /// They may still be stored; why, as a text for people.
    fn forget(&mut self) -> impl Future<Output = Result<(), String>> + Send;
}

/// A Wi-Fi network in range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WifiNetwork {
    pub ssid: String,
    /// Strength of its signal, dBm.
    pub rssi: i32,
    /// It has a password.
    pub secured: bool,
}

/// Why credentials were not stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProvisionError {
    /// The network did not accept them.
    Failed(LinkFailure),
    /// They are right but could not be stored; why, as a text for people.
    NotStored(String),
}
