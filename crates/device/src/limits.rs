//! Bounds of everything that the core accepts or keeps.

use core::time::Duration;

/// Largest body of a settings PATCH, bytes.
pub const PATCH_BODY_MAX: usize = 16 * 1024;

/// Longest rotation period, s.
pub const TIMER_SECONDS_MAX: u32 = 3600;

/// Blocks that may be missed before a new height is catching up: no flash, no stolen focus.
pub const CATCH_UP_BLOCKS: u32 = 100;

/// Age from which a block height is marked; the relay's probe confirms it every hour at the latest.
pub const STALE_BLOCK: Duration = Duration::from_secs(90 * 60);

/// Age from which a price is marked.
pub const STALE_PRICE: Duration = Duration::from_secs(15 * 60);

/// Age from which a fee rate is marked.
pub const STALE_FEE: Duration = Duration::from_secs(60 * 60);

/// Least age from which a polled value is marked; four missed polls if that is longer.
pub const STALE_POLL_MIN: Duration = Duration::from_secs(10 * 60);

/// Time a zap or payment is shown when the rotation has no period.
pub const NOTICE_DEFAULT: Duration = Duration::from_secs(8);
