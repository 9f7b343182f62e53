//! A heap trace lists allocations that were not freed, with their lines.
#![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

use std::{alloc::System, env, hint::black_box, thread};

use addr2line::Loader;
use diagnostics::heap_trace::{self, CAPACITY_MAX, DEPTH, Traced};

#[global_allocator]
static ALLOCATOR: Traced<System> = Traced(System);

/// A size that no other allocation has.
const SIZE: usize = 12_345;

/// The line in which `take` allocates.
const LINE: u32 = line!() + 5;

#[inline(never)]
fn take() -> Vec<u8> {
    let mut taken = Vec::new();
    taken.reserve_exact(SIZE);
    black_box(taken)
}

/// One test, because there is one trace.
#[test]
fn a_trace_lists_allocations_that_were_not_freed_with_their_lines() {
    assert_eq!(heap_trace::stop(), None);
    assert_eq!(heap_trace::start(0), 1);
    assert_eq!(heap_trace::start(100_000), CAPACITY_MAX);
    let leaked = take();
    drop(take());
    let mut grown = take();
    grown.reserve_exact(2 * SIZE);
    let leaked_by_thread = thread::spawn(take).join().unwrap();
    let trace = heap_trace::stop().unwrap();
    assert_eq!(heap_trace::stop(), None);

    let of = |size: usize| trace.leaks.iter().filter(move |leak| leak.size == size);
    let addresses: Vec<usize> = of(SIZE).map(|leak| leak.address).collect();
    let expected = [leaked.as_ptr() as usize, leaked_by_thread.as_ptr() as usize];
    assert!(
        addresses.len() == 2 && expected.iter().all(|address| addresses.contains(address)),
        "{addresses:?}, {expected:?}"
    );
    assert_eq!(
        of(2 * SIZE).count(),
        1,
        "the block before the reallocation is freed"
    );
    let lines = Loader::new(env::current_exe().unwrap()).unwrap();
    for leak in of(SIZE) {
        assert!((1..=DEPTH).contains(&leak.places.len()), "{leak:?}");
        let symbols: Vec<&str> = leak
            .places
            .iter()
            .filter_map(|place| lines.find_symbol(*place as u64))
            .collect();
        // The line in the outermost of the inlined functions.
        let place = leak.places.iter().find_map(|place| {
            let mut frames = lines.find_frames(*place as u64).ok()?;
            let mut last = None;
            while let Some(frame) = frames.next().ok()? {
                last = frame.location.or(last);
            }
            let last = last?;
            let is_here = last.file?.ends_with("tests/heap_trace.rs");
            (is_here && last.line == Some(LINE)).then_some(())
        });
        assert_eq!(place, Some(()), "{symbols:?}");
    }
    let mut times: Vec<u64> = trace.leaks.iter().map(|leak| leak.at).collect();
    times.dedup();
    assert!(times.len() > 1, "{times:?}");

    assert_eq!(heap_trace::start(2), 2);
    let many: Vec<Vec<u8>> = (0..10).map(|_| take()).collect();
    let trace = heap_trace::stop().unwrap();
    assert_eq!((trace.capacity, trace.leaks.len()), (2, 2));
    drop(many);
}
