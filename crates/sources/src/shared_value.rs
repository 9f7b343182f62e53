//! A value shared by several connections, locked only during a synchronous change.

use std::sync::Arc;

use tokio::sync::watch;

/// A value shared by its clones.
#[derive(Debug, Default)]
pub struct SharedValue<T>(Arc<watch::Sender<T>>);

impl<T> Clone for SharedValue<T> {
    fn clone(&self) -> SharedValue<T> {
        SharedValue(Arc::clone(&self.0))
    }
}

impl<T> SharedValue<T> {
    /// Wraps a value.
    pub fn new(value: T) -> SharedValue<T> {
        SharedValue(Arc::new(watch::Sender::new(value)))
    }

    /// Reads or changes the value.
    pub fn with<R>(&self, look: impl FnOnce(&mut T) -> R) -> R {
        let mut seen = None;
        // There are no subscribers: the channel only stores the value.
        self.0.send_modify(|value| seen = Some(look(value)));
        seen.expect("the closure was called")
    }
}
