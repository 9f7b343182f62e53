//! Limits of what is accepted from sources, and ages from which values are stale.

use core::time::Duration;

/// Largest number of currencies that a source can offer and an owner can choose, as in the list of a relay.
pub const CURRENCIES_MAX: usize = 170;

/// Largest step of the height that counts as new blocks. A larger one is catching up: no flash, no change of the screen.
pub const CATCH_UP_BLOCKS: u32 = 100;

/// Age from which a block height is marked; the relay's probe confirms it every hour at the latest.
pub const STALE_BLOCK: Duration = Duration::from_secs(90 * 60);

/// Age from which a price is marked.
pub const STALE_PRICE: Duration = Duration::from_secs(15 * 60);

/// Age from which a fee rate is marked.
pub const STALE_FEE: Duration = Duration::from_secs(60 * 60);

/// Number of blocks that a claim may be ahead of the proof.
pub const LEAD_BLOCKS: u32 = 2;

/// Time after which a claim that contradicts the height makes it disputed, and a claim ahead of the proof is not shown any
/// more.
pub const CONTEST_TIME: Duration = Duration::from_secs(2 * 60);

/// Time after which two proven blocks at one height make it disputed.
pub const RIVAL_TIME: Duration = Duration::from_secs(10 * 60);

/// Time for which a height may lack a proof before it is marked, because proofs arrive later than the number.
pub const DOUBT_TIME: Duration = Duration::from_secs(2 * 60);

/// Age of its newest trade up to which a quote counts.
pub const QUOTE_FRESH: Duration = Duration::from_secs(5 * 60);

/// Largest time that a trade may be in the future: some venues report the end of the current minute.
pub const QUOTE_AHEAD_MAX: Duration = Duration::from_secs(2 * 60);

/// Time for which the last agreed price is shown while sources contradict each other.
pub const AGREED_PRICE_HELD: Duration = Duration::from_secs(5 * 60);

/// Fee rate above which a source is wrong, sat/vB: half a block would pay 50 bitcoin.
pub const FEE_MAX_SAT_VB: u64 = 10_000;

/// Change of the wall clock above which ages are computed again. Smaller changes are normal adjustments.
pub const CLOCK_STEP_MIN: Duration = Duration::from_secs(1);

/// Age of the newest block from which it is stale: one of ten thousand blocks takes longer.
pub const TIP_AGE_MAX: Duration = Duration::from_secs(90 * 60);

/// Number of growing heights below the known one after which the known one is wrong.
pub const REGRESSIONS_ACCEPTED: u32 = 3;

/// Number of growing heights of one source ahead of what time allows after which they are accepted.
pub const CLAIMS_ACCEPTED: u32 = 3;

/// Shortest time between two of them.
pub const CLAIM_STEP_MIN: Duration = Duration::from_secs(60);
