//! Documents made of a view, kept until the view is replaced.

use std::sync::Arc;

use device::view::View;
use tokio::sync::watch;

/// The newest document of one kind.
pub(crate) struct Cached<T> {
    slot: watch::Sender<Option<Entry<T>>>,
}

#[derive(Clone)]
struct Entry<T> {
    // Holding on to the view keeps its address from being used again for another one.
    view: Arc<View>,
    second: u64,
    document: T,
}

impl<T: Clone> Cached<T> {
    /// Nothing is kept yet.
    pub(crate) fn new() -> Cached<T> {
        Cached {
            slot: watch::Sender::new(None),
        }
    }

    /// Returns the document of a view in a second of uptime; makes it if the kept one is of another.
    pub(crate) fn get(
        &self,
        view: &Arc<View>,
        second: u64,
        make: impl FnOnce(Option<T>) -> T,
    ) -> T {
        let before = self.slot.borrow().clone();
        if let Some(entry) = &before
            && entry.second == second
            && Arc::ptr_eq(&entry.view, view)
        {
            return entry.document.clone();
        }
        let document = make(before.map(|entry| entry.document));
        self.slot.send_replace(Some(Entry {
            view: Arc::clone(view),
            second,
            document: document.clone(),
        }));
        document
    }
}
