//! Bounds of everything that the core accepts or keeps.

use core::time::Duration;

/// Largest body of a settings PATCH, bytes.
pub const PATCH_BODY_MAX: usize = 16 * 1024;

/// Longest text of a setting without a tighter cap, bytes.
pub const TEXT_MAX: usize = 256;

/// Longest rotation period, s.
pub const TIMER_SECONDS_MAX: u32 = 3600;

/// Most currencies that a source can offer and an owner choose; what a relay's list can hold.
pub const CURRENCIES_MAX: usize = 170;

/// Blocks that may be missed before a new height is catching up: no flash, no stolen focus.
pub const CATCH_UP_BLOCKS: u32 = 100;

/// Age from which a block height is marked; the relay's probe confirms it every hour at the latest.
pub const STALE_BLOCK: Duration = Duration::from_secs(90 * 60);

/// Age from which a price is marked.
pub const STALE_PRICE: Duration = Duration::from_secs(15 * 60);

/// Age from which a fee rate is marked.
pub const STALE_FEE: Duration = Duration::from_secs(60 * 60);

/// Blocks that a claim may be ahead of what is proven.
pub const LEAD_BLOCKS: u32 = 2;

/// Time after which who says something else about the height makes it disputed, and a claim leads no longer.
pub const CONTEST_TIME: Duration = Duration::from_secs(2 * 60);

/// Time after which two proven blocks of one height make it disputed.
pub const RIVAL_TIME: Duration = Duration::from_secs(10 * 60);

/// Time for which a value may be less than good before the glass says so: proof and second voices come later than
/// the number.
pub const DOUBT_TIME: Duration = Duration::from_secs(2 * 60);

/// Age of its newest trade up to which a quote counts among others.
pub const QUOTE_FRESH: Duration = Duration::from_secs(5 * 60);

/// How far the time of a trade may be ahead of the clock's: some venues tell the end of a minute that is not over.
pub const AHEAD_MOST: Duration = Duration::from_secs(2 * 60);

/// Time for which the price that was agreed last is shown while sources contradict each other.
pub const AGREED_KEPT: Duration = Duration::from_secs(5 * 60);

/// Time for which a lone quote is held back that has jumped, and in which it must have done so.
pub const JUMP_HELD: Duration = Duration::from_secs(60);

/// Distance from which on that is a jump, thousandths.
pub const JUMP_PERMILLE: u64 = 100;

/// Distance from the middle from which on a quote is not counted, thousandths.
pub const OUTLIER_PERMILLE: u64 = 100;

/// Distance below which it is counted again, thousandths.
pub const OUTLIER_BACK_PERMILLE: u64 = 50;

/// Fee rate above which a source is taken to be wrong, sat/vB: half a block would pay fifty bitcoin.
pub const FEE_MOST_SAT_VB: u64 = 10_000;

/// Change of the wall clock above which it was set, and what is said of the time is judged anew: less is how clocks are
/// kept right.
pub const CLOCK_STEP_MIN: Duration = Duration::from_secs(1);

/// Age of the newest block from which on it is stale: of ten thousand blocks one comes later.
pub const TIP_AGE_MAX: Duration = Duration::from_secs(90 * 60);

/// Peers that are remembered over restarts.
pub const PEERS_KEPT_MAX: usize = 32;

/// Longest text that says where a peer is, bytes: a name of the largest size and a port.
pub const PEER_TEXT_MAX: usize = 253 + 6;

/// Longest host of a node and longest name at it, bytes: the settings of a clock fit into one body.
pub const NODE_TEXT_MAX: usize = 128;

/// Most public peers that are asked at the same time.
pub const PEERS_MAX: u32 = 8;

/// Ever growing heights below the known one after which the known one is taken to be wrong.
pub const REGRESSIONS_BELIEVED: u32 = 3;

/// Growing heights of one source ahead of what time allows after which they are believed.
pub const CLAIMS_BELIEVED: u32 = 3;

/// Least time between two of them that count.
pub const CLAIM_STEP_MIN: Duration = Duration::from_secs(60);

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
