//! Limits of everything that the device accepts or stores.

use core::time::Duration;

/// Largest body of a settings PATCH, bytes.
pub const PATCH_BODY_MAX: usize = 16 * 1024;

/// Longest text of a setting without a tighter cap, bytes.
pub const TEXT_MAX: usize = 256;

/// Longest rotation period, s.
pub const TIMER_SECONDS_MAX: u32 = 3600;

/// Most peers that are stored for the next start.
pub const PEERS_KEPT_MAX: usize = 32;

/// Longest address of a peer, bytes: a host name of the greatest length and a port.
pub const PEER_TEXT_MAX: usize = 253 + 6;

/// Longest host of a node and longest name at it, bytes: the settings of a clock fit into one body.
pub const NODE_TEXT_MAX: usize = 128;

/// Most connections to public peers.
pub const PEERS_MAX: u32 = 8;

/// Time between repaints of the debug view.
pub const DEBUG_PERIOD: Duration = Duration::from_secs(1);

/// Least time between repaints of the progress of an update.
pub const UPDATE_PERIOD: Duration = Duration::from_secs(1);

/// Longest time that the splash is shown before the first data.
pub const SPLASH_MAX: Duration = Duration::from_secs(10);

/// Time from the start after which the panels report that there is no data.
pub const NO_DATA_AFTER: Duration = Duration::from_secs(60);

/// Longest time that a due full refresh waits for the next repaint.
pub const FULL_REFRESH_GRACE: Duration = Duration::from_secs(60);

/// Most notes about the start in the status.
pub const NOTES_MAX: usize = 16;

/// Longest time that a flash waits for the panels, and timeout of a refresh.
pub const PAINT_MAX: Duration = Duration::from_secs(10);

/// Time button 1 is held from power-on until the network is forgotten.
pub const WIFI_RESET_HOLD: Duration = Duration::from_secs(3);

/// Time for which the panels show that everything was wiped, before the restart.
pub const ERASED_SHOWN: Duration = Duration::from_secs(2);

/// Longest time that the sources run on until the panels show an update.
pub const UPDATE_PAINT_MAX: Duration = Duration::from_secs(5);

/// Time from an installed update to the restart, so that the client receives the response.
pub const UPDATED_SHOWN: Duration = Duration::from_millis(1500);

/// Time from stored credentials to the restart, so that the client receives the response.
pub const PROVISIONED_DELAY: Duration = Duration::from_secs(1);

/// Pause after a failed attempt to join the network.
pub const JOIN_RETRY: Duration = Duration::from_secs(5);

/// Timeout for the radio to report the result of an attempt to join.
pub const JOIN_MAX: Duration = Duration::from_secs(30);

/// Time from the first attempt to join after which the access point opens, if no attempt has succeeded.
pub const FALLBACK_GRACE: Duration = Duration::from_secs(20);

/// Time after which an attempt of the portal counts as failed; the portal has a shorter timeout.
pub const PORTAL_TRY_MAX: Duration = Duration::from_secs(25);
