//! Documents made of something that is replaced as a whole, kept until it is replaced.

use std::sync::Arc;

use tokio::sync::watch;

/// The newest document of one kind, made of a `S` in a variant `V`.
pub struct Cached<S, V, T> {
    slot: watch::Sender<Option<CacheEntry<S, V, T>>>,
}

struct CacheEntry<S, V, T> {
    // Holding on to the source keeps its address from being used again for another one.
    source: Arc<S>,
    variant: V,
    document: T,
}

impl<S, V: PartialEq, T: Clone> Cached<S, V, T> {
    /// Nothing is kept yet.
    pub fn new() -> Cached<S, V, T> {
        Cached {
            slot: watch::Sender::new(None),
        }
    }

    /// Returns a variant of the document of a source; makes it, given the kept one, if that is another.
    pub fn get(&self, source: &Arc<S>, variant: V, make: impl FnOnce(Option<T>) -> T) -> T {
        let kept = {
            let slot = self.slot.borrow();
            match &*slot {
                Some(entry) if entry.variant == variant && Arc::ptr_eq(&entry.source, source) => {
                    return entry.document.clone();
                }
                other => other.as_ref().map(|entry| entry.document.clone()),
            }
        };
        let document = make(kept);
        self.slot.send_replace(Some(CacheEntry {
            source: Arc::clone(source),
            variant,
            document: document.clone(),
        }));
        document
    }
}
