//! Diagnostics of a process: crash dumps and memory.
//!
//! `crash` runs in the process that may crash: it reports a crash to another process, and waits for the dump.
//! `dump` runs in that other process and makes a minidump; `scrub` removes secrets from it.
//! `heap_count` counts allocations.
//! `heap_trace` (feature of that name) lists allocations that were not freed, and their callers.
//! `backtrace` (feature `read`) turns a dump and its program into a backtrace with lines.
//!
//! A signal handler and an allocator need `unsafe`. Only this crate has `unsafe` code.

#[cfg(feature = "read")]
pub mod backtrace;
pub mod crash;
pub mod dump;
pub mod heap_count;
#[cfg(feature = "heap-trace")]
pub mod heap_trace;
pub mod scrub;
