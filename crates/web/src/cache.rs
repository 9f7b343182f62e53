//! A cache for a document that is derived from a value behind an `Arc`.

use std::sync::{Arc, Mutex, PoisonError};

/// The newest document `T`, derived from a source `S` in a variant `V`.
pub struct Cached<S, V, T> {
    slot: Mutex<Option<CacheEntry<S, V, T>>>,
}

struct CacheEntry<S, V, T> {
    // Kept alive so that no other source can get the same address.
    source: Arc<S>,
    variant: V,
    document: T,
}

impl<S, V: PartialEq, T: Clone> Cached<S, V, T> {
    /// An empty cache.
    pub fn new() -> Cached<S, V, T> {
        Cached {
            slot: Mutex::new(None),
        }
    }

    /// Returns the document of a source in a variant. Makes it if the cache has another one.
    pub fn get(&self, source: &Arc<S>, variant: V, make: impl FnOnce() -> T) -> T {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = &*slot
            && entry.variant == variant
            && Arc::ptr_eq(&entry.source, source)
        {
            return entry.document.clone();
        }
        let document = make();
        *slot = Some(CacheEntry {
            source: Arc::clone(source),
            variant,
            document: document.clone(),
        });
        document
    }
}
