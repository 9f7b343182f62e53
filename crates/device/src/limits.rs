//! Bounds of everything that the core accepts or keeps.

use core::time::Duration;

/// Largest body of a settings PATCH, bytes.
pub const PATCH_BODY_MAX: usize = 16 * 1024;

/// Longest text of a setting without a tighter cap, bytes.
pub const TEXT_MAX: usize = 256;

/// Longest rotation period, s.
pub const TIMER_SECONDS_MAX: u32 = 3600;

/// Peers that are remembered over restarts.
pub const PEERS_KEPT_MAX: usize = 32;

/// Longest text that says where a peer is, bytes: a name of the largest size and a port.
pub const PEER_TEXT_MAX: usize = 253 + 6;

/// Longest host of a node and longest name at it, bytes: the settings of a clock fit into one body.
pub const NODE_TEXT_MAX: usize = 128;

/// Most public peers that are asked at the same time.
pub const PEERS_MAX: u32 = 8;

/// Time between repaints of the debug view.
pub const DEBUG_PERIOD: Duration = Duration::from_secs(1);

/// Least time between repaints of the progress of an update.
pub const UPDATE_PERIOD: Duration = Duration::from_secs(1);

/// Longest time the splash waits for the first data.
pub const SPLASH_MAX: Duration = Duration::from_secs(10);

/// Time from the start after which the glass says that nothing was ever learned.
pub const NO_DATA_AFTER: Duration = Duration::from_secs(60);

/// Longest time a mandatory full refresh that is due waits for something to paint.
pub const FULL_REFRESH_GRACE: Duration = Duration::from_secs(60);

/// Notes about the start that are kept for the status.
pub const NOTES_MAX: usize = 16;

/// Longest time a flash waits for the panels; a refresh is given up after as long.
pub const PAINT_MAX: Duration = Duration::from_secs(10);

/// Time button 1 is held from power-on until the network is forgotten.
pub const WIFI_RESET_HOLD: Duration = Duration::from_secs(3);

/// Time the glass says that everything was wiped, before the device restarts.
pub const ERASED_SHOWN: Duration = Duration::from_secs(2);

/// Longest time an update waits until the panels say that there is one; then the sources end all the same.
pub const UPDATE_PAINT_MAX: Duration = Duration::from_secs(5);

/// Time from an update that is there to the restart into it, so that whoever sent it reads the answer.
pub const UPDATED_SHOWN: Duration = Duration::from_millis(1500);

/// Time from stored credentials to the restart, so that whoever sent them reads the answer.
pub const PROVISIONED_DELAY: Duration = Duration::from_secs(1);

/// Time between a network that is missing and the next attempt to join it.
pub const JOIN_RETRY: Duration = Duration::from_secs(5);

/// Longest time the radio may take to say how an attempt to join ended.
pub const JOIN_MAX: Duration = Duration::from_secs(30);

/// Time from the first attempt to join after which the access point comes up, if no attempt has worked.
pub const FALLBACK_GRACE: Duration = Duration::from_secs(20);

/// Longest time the portal's attempt may take before it counts as failed; the portal itself gives up sooner.
pub const PORTAL_TRY_MAX: Duration = Duration::from_secs(25);
