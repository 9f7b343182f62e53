//! Limits of what is accepted from sources, and ages from which values are stale.

use core::time::Duration;

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

/// Ever growing heights below the known one after which the known one is taken to be wrong.
pub const REGRESSIONS_BELIEVED: u32 = 3;

/// Growing heights of one source ahead of what time allows after which they are believed.
pub const CLAIMS_BELIEVED: u32 = 3;

/// Least time between two of them that count.
pub const CLAIM_STEP_MIN: Duration = Duration::from_secs(60);
