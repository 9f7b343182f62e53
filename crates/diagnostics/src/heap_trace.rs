//! An allocator that can record the allocations since a moment that were not freed, with their callers.
//!
//! Without a trace, it only reads a flag.

use std::{
    alloc::{GlobalAlloc, Layout},
    cell::Cell,
    fs,
    ops::Range,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

/// Most recorded allocations.
pub const CAPACITY_MAX: usize = 4096;

/// Most recorded return addresses per allocation.
pub const DEPTH: usize = 4;

/// An allocator whose allocations can be traced. Use it as the global allocator.
#[derive(Debug)]
pub struct Traced<A>(pub A);

/// The allocations that were not freed during a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// Greatest number of recorded allocations.
    pub capacity: usize,
    /// The allocations, in no order.
    pub leaks: Vec<Leak>,
}

/// An allocation that was not freed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leak {
    /// Size, bytes.
    pub size: usize,
    pub address: usize,
    /// Time of the allocation, ns since the start of the trace.
    pub at: u64,
    /// Callers, innermost first: offsets in the file of the program, as for `addr2line`, or addresses outside of the program.
    pub places: Vec<usize>,
}

/// A heap trace in progress.
struct ActiveTrace {
    began: Instant,
    capacity: usize,
    addresses: Vec<usize>,
    allocations: Vec<AllocationRecord>,
}

/// Record of an allocation, without its address.
struct AllocationRecord {
    size: usize,
    at: u64,
    returns: [usize; DEPTH],
}

static IS_RUNNING: AtomicBool = AtomicBool::new(false);
static RUNNING: Mutex<Option<ActiveTrace>> = Mutex::new(None);

thread_local! {
    /// Whether this thread uses the trace, which may itself allocate.
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Starts a trace; a running trace is discarded. Returns its capacity, which is 1 to [`CAPACITY_MAX`].
pub fn start(capacity: usize) -> usize {
    let capacity = capacity.clamp(1, CAPACITY_MAX);
    let new = ActiveTrace {
        began: Instant::now(),
        capacity,
        addresses: Vec::with_capacity(capacity),
        allocations: Vec::with_capacity(capacity),
    };
    let before = with_guard(|| {
        let before = running().replace(new);
        IS_RUNNING.store(true, Ordering::Release);
        before
    });
    drop(before);
    capacity
}

/// Ends the trace. `None` if there is none.
pub fn stop() -> Option<Trace> {
    IS_RUNNING.store(false, Ordering::Release);
    let ended = with_guard(|| running().take())??;
    let program = program();
    let place = |address: usize| match &program {
        // A return address is after the call.
        Some(program) if program.contains(&address) => address - program.start - 1,
        Some(_) | None => address,
    };
    let leak = |(address, record): (&usize, &AllocationRecord)| Leak {
        size: record.size,
        address: *address,
        at: record.at,
        places: record
            .returns
            .iter()
            .take_while(|address| **address != 0)
            .map(|address| place(*address))
            .collect(),
    };
    Some(Trace {
        capacity: ended.capacity,
        leaks: ended
            .addresses
            .iter()
            .zip(&ended.allocations)
            .map(leak)
            .collect(),
    })
}

/// Runs a function that uses the trace. `None` if this thread already uses the trace.
fn with_guard<T>(work: impl FnOnce() -> T) -> Option<T> {
    let is_inside = IS_INSIDE.try_with(|inside| inside.replace(true));
    if is_inside.unwrap_or(true) {
        return None;
    }
    let outcome = work();
    let _ = IS_INSIDE.try_with(|inside| inside.set(false));
    Some(outcome)
}

fn running() -> MutexGuard<'static, Option<ActiveTrace>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Addresses of the program in memory.
fn program() -> Option<Range<usize>> {
    let own = fs::read_link("/proc/self/exe").ok()?;
    let own = own.to_str()?;
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let mut ranges = maps
        .lines()
        .filter(|line| line.ends_with(own))
        .filter_map(|line| {
            let (start, rest) = line.split_once('-')?;
            let (end, _) = rest.split_once(' ')?;
            let number = |digits| usize::from_str_radix(digits, 16).ok();
            Some(number(start)?..number(end)?)
        });
    let first = ranges.next()?;
    let end = ranges.next_back().map_or(first.end, |last| last.end);
    Some(first.start..end)
}

/// Records an allocation; `by` is the calling function of the allocator.
#[inline(never)]
fn record(address: usize, size: usize, by: usize) {
    let own = record as *const () as usize;
    with_guard(|| {
        let mut returns = [0; DEPTH];
        let (mut found, mut is_ours) = (0, true);
        backtrace::trace(|frame| {
            let function = frame.symbol_address() as usize;
            if is_ours {
                // Skip the frames of the trace itself and of the allocator.
                is_ours = function != own;
            } else if function != by {
                returns[found] = frame.ip() as usize;
                found += 1;
            }
            found < DEPTH
        });
        if let Some(running) = running().as_mut()
            && running.addresses.len() < running.capacity
        {
            let at = running.began.elapsed().as_nanos();
            running.addresses.push(address);
            running.allocations.push(AllocationRecord {
                size,
                at: u64::try_from(at).unwrap_or(u64::MAX),
                returns,
            });
        }
    });
}

fn remove(address: usize) {
    with_guard(|| {
        if let Some(running) = running().as_mut()
            && let Some(at) = running.addresses.iter().position(|kept| *kept == address)
        {
            running.addresses.swap_remove(at);
            running.allocations.swap_remove(at);
        }
    });
}

fn is_running() -> bool {
    IS_RUNNING.load(Ordering::Acquire)
}

#[allow(
    unsafe_code,
    reason = "no type can express the contract of an allocator; every call is passed on unchanged"
)]
// SAFETY: every call goes to the inner allocator with the same arguments, and its result is returned unchanged.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Traced<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let block = unsafe { self.0.alloc(layout) };
        if is_running() && !block.is_null() {
            record(
                block as usize,
                layout.size(),
                Self::alloc as *const () as usize,
            );
        }
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let block = unsafe { self.0.alloc_zeroed(layout) };
        if is_running() && !block.is_null() {
            let own = Self::alloc_zeroed as *const () as usize;
            record(block as usize, layout.size(), own);
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if is_running() {
            remove(block as usize);
        }
        // SAFETY: as above.
        unsafe { self.0.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Before another thread can get the address.
        if is_running() {
            remove(block as usize);
        }
        // SAFETY: as above.
        let block = unsafe { self.0.realloc(block, layout, size) };
        if is_running() && !block.is_null() {
            record(block as usize, size, Self::realloc as *const () as usize);
        }
        block
    }
}
