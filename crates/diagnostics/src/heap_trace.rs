//! An allocator that can keep a list of what was taken since a moment and not given back, with where that was.
//!
//! While nothing is traced it costs one look at a flag.

#![expect(
    clippy::disallowed_types,
    reason = "every thread asks the allocator, and none can wait for a message"
)]

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

/// Most allocations that are kept.
pub const CAPACITY_MAX: usize = 4096;

/// Return addresses that are kept of each.
pub const DEPTH: usize = 4;

/// An allocator whose allocations can be traced; it is meant to be the global one.
#[derive(Debug)]
pub struct Traced<A>(pub A);

/// What was taken and not given back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// Most allocations that it would have kept.
    pub capacity: usize,
    /// The allocations, in no order.
    pub leaks: Vec<Leak>,
}

/// An allocation that was not given back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leak {
    /// Its size, bytes.
    pub size: usize,
    /// Its address.
    pub address: usize,
    /// When, ns since the start of the trace.
    pub at: u64,
    /// Where, innermost first: places in the program's file, as `addr2line` takes them, or addresses outside of it.
    pub places: Vec<usize>,
}

/// A heap trace in progress.
struct ActiveTrace {
    began: Instant,
    capacity: usize,
    addresses: Vec<usize>,
    taken: Vec<Taken>,
}

/// What is noted of an allocation, beside its address.
struct Taken {
    size: usize,
    at: u64,
    returns: [usize; DEPTH],
}

static IS_RUNNING: AtomicBool = AtomicBool::new(false);
static RUNNING: Mutex<Option<ActiveTrace>> = Mutex::new(None);

thread_local! {
    /// This thread is at the list, which may allocate, too.
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Starts a trace in the place of one that runs; tells its capacity, which is 1 to [`CAPACITY_MAX`].
pub fn start(capacity: usize) -> usize {
    let capacity = capacity.clamp(1, CAPACITY_MAX);
    let new = ActiveTrace {
        began: Instant::now(),
        capacity,
        addresses: Vec::with_capacity(capacity),
        taken: Vec::with_capacity(capacity),
    };
    let before = inside(|| {
        let before = running().replace(new);
        IS_RUNNING.store(true, Ordering::Release);
        before
    });
    drop(before);
    capacity
}

/// Ends the trace; none if none runs.
pub fn stop() -> Option<Trace> {
    IS_RUNNING.store(false, Ordering::Release);
    let ended = inside(|| running().take())??;
    let program = program();
    let place = |address: usize| match &program {
        // A return address is behind the call.
        Some(program) if program.contains(&address) => address - program.start - 1,
        Some(_) | None => address,
    };
    let leak = |(address, taken): (&usize, &Taken)| Leak {
        size: taken.size,
        address: *address,
        at: taken.at,
        places: taken
            .returns
            .iter()
            .take_while(|address| **address != 0)
            .map(|address| place(*address))
            .collect(),
    };
    Some(Trace {
        capacity: ended.capacity,
        leaks: ended.addresses.iter().zip(&ended.taken).map(leak).collect(),
    })
}

/// Does something at the list, unless this thread does so already.
fn inside<T>(work: impl FnOnce() -> T) -> Option<T> {
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

/// Where the program is in memory.
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

/// Notes an allocation; `by` is the function of the allocator that asks.
#[inline(never)]
fn note(address: usize, size: usize, by: usize) {
    let own = note as *const () as usize;
    inside(|| {
        let mut returns = [0; DEPTH];
        let (mut found, mut is_ours) = (0, true);
        backtrace::trace(|frame| {
            let function = frame.symbol_address() as usize;
            if is_ours {
                // Everything down to this function is ours, and the one that asked.
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
            running.taken.push(Taken {
                size,
                at: u64::try_from(at).unwrap_or(u64::MAX),
                returns,
            });
        }
    });
}

/// Forgets an allocation.
fn forget(address: usize) {
    inside(|| {
        if let Some(running) = running().as_mut()
            && let Some(at) = running.addresses.iter().position(|kept| *kept == address)
        {
            running.addresses.swap_remove(at);
            running.taken.swap_remove(at);
        }
    });
}

fn is_running() -> bool {
    IS_RUNNING.load(Ordering::Acquire)
}

#[allow(
    unsafe_code,
    reason = "an allocator is a contract that no type can state; this one passes every call on as it came"
)]
// SAFETY: every call goes to the inner allocator with the same arguments, and its answer is what is answered.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Traced<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let taken = unsafe { self.0.alloc(layout) };
        if is_running() && !taken.is_null() {
            note(
                taken as usize,
                layout.size(),
                Self::alloc as *const () as usize,
            );
        }
        taken
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let taken = unsafe { self.0.alloc_zeroed(layout) };
        if is_running() && !taken.is_null() {
            let own = Self::alloc_zeroed as *const () as usize;
            note(taken as usize, layout.size(), own);
        }
        taken
    }

    unsafe fn dealloc(&self, given: *mut u8, layout: Layout) {
        if is_running() {
            forget(given as usize);
        }
        // SAFETY: as above.
        unsafe { self.0.dealloc(given, layout) }
    }

    unsafe fn realloc(&self, given: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Before somebody else is given its address.
        if is_running() {
            forget(given as usize);
        }
        // SAFETY: as above.
        let taken = unsafe { self.0.realloc(given, layout, size) };
        if is_running() && !taken.is_null() {
            note(taken as usize, size, Self::realloc as *const () as usize);
        }
        taken
    }
}
