//! What a process can tell of itself: how it crashed, and what it does with its memory.
//!
//! `crash` is for the process that may crash: it tells another one where that happened, and waits.
//! `dump` is for the process that looks at it then and makes a minidump; `scrub` takes out of it what nobody needs who
//! looks for a defect, and what may hold secrets.
//! `heap_count` counts what is allocated.
//! `heap_trace` (feature of that name) keeps a list of what was allocated and not freed, and where.
//! `backtrace` (feature `read`) reads a dump down to the line, where the program is at hand.
//!
//! A signal handler and an allocator cannot be written without `unsafe`, so this crate has those few lines, and no other
//! crate has any.

#[cfg(feature = "read")]
pub mod backtrace;
pub mod crash;
pub mod dump;
pub mod heap_count;
#[cfg(feature = "heap-trace")]
pub mod heap_trace;
pub mod scrub;
