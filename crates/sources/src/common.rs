//! A value that several connections change, each in its turn and none while it waits.

use std::sync::Arc;

use tokio::sync::watch;

/// A value that clones share.
#[derive(Debug, Default)]
pub struct SharedValue<T>(Arc<watch::Sender<T>>);

impl<T> Clone for SharedValue<T> {
    fn clone(&self) -> SharedValue<T> {
        SharedValue(Arc::clone(&self.0))
    }
}

impl<T> SharedValue<T> {
    /// Puts a value in common.
    pub fn new(value: T) -> SharedValue<T> {
        SharedValue(Arc::new(watch::Sender::new(value)))
    }

    /// Looks at the value, and may change it.
    pub fn with<R>(&self, look: impl FnOnce(&mut T) -> R) -> R {
        let mut seen = None;
        // Nobody follows it: the channel is the one place that has the value.
        self.0.send_modify(|value| seen = Some(look(value)));
        seen.expect("the closure was called")
    }
}
