//! An allocator that counts its allocations, and a function that returns freed memory to the host.

use std::{
    alloc::{GlobalAlloc, Layout},
    sync::atomic::{AtomicU64, Ordering},
};

static BLOCKS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);
static PEAK: AtomicU64 = AtomicU64::new(0);

/// Counts the allocations of the allocator inside. Use it as the global allocator.
#[derive(Debug)]
pub struct Counted<A>(pub A);

/// Allocations at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HeapCount {
    /// Number of allocations.
    pub blocks: u64,
    /// Their bytes, as requested.
    pub bytes: u64,
}

/// Returns the current allocations. Zeros if the global allocator is another one.
pub fn heap_count() -> HeapCount {
    HeapCount {
        blocks: BLOCKS.load(Ordering::Relaxed),
        bytes: BYTES.load(Ordering::Relaxed),
    }
}

/// Returns the most bytes that were allocated since the last call.
pub fn take_peak_bytes() -> u64 {
    PEAK.swap(BYTES.load(Ordering::Relaxed), Ordering::Relaxed)
}

/// Returns freed memory to the host, which the C library otherwise keeps between blocks that are in use.
///
/// It looks at the whole heap, some milliseconds for tens of MiB.
#[cfg(target_env = "gnu")]
pub fn return_freed_memory() {
    #[expect(unsafe_code, reason = "the C library has no safe interface")]
    {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> std::ffi::c_int;
        }
        // SAFETY: it takes any number and may be called at any time from any thread.
        unsafe { malloc_trim(0) };
    }
}

/// Does nothing: other C libraries return freed memory by themselves.
#[cfg(not(target_env = "gnu"))]
pub fn return_freed_memory() {}

fn grow(bytes: usize) {
    let before = BYTES.fetch_add(bytes as u64, Ordering::Relaxed);
    PEAK.fetch_max(before + bytes as u64, Ordering::Relaxed);
}

#[expect(
    unsafe_code,
    reason = "no type can express the contract of an allocator; every call is passed on unchanged"
)]
// SAFETY: every call goes to the inner allocator with the same arguments, and its result is returned unchanged.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Counted<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let place = unsafe { self.0.alloc(layout) };
        if !place.is_null() {
            BLOCKS.fetch_add(1, Ordering::Relaxed);
            grow(layout.size());
        }
        place
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let place = unsafe { self.0.alloc_zeroed(layout) };
        if !place.is_null() {
            BLOCKS.fetch_add(1, Ordering::Relaxed);
            grow(layout.size());
        }
        place
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        BLOCKS.fetch_sub(1, Ordering::Relaxed);
        BYTES.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        unsafe { self.0.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let other = unsafe { self.0.realloc(place, layout, size) };
        if !other.is_null() {
            grow(size);
            BYTES.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        }
        other
    }
}
