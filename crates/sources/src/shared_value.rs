//! A value shared by several connections, locked only during a synchronous change.

use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug, Default)]
pub struct SharedValue<T>(Arc<Mutex<T>>);

impl<T> Clone for SharedValue<T> {
    fn clone(&self) -> SharedValue<T> {
        SharedValue(Arc::clone(&self.0))
    }
}

impl<T> SharedValue<T> {
    pub fn new(value: T) -> SharedValue<T> {
        SharedValue(Arc::new(Mutex::new(value)))
    }

    /// Reads or changes the value.
    pub fn with<R>(&self, look: impl FnOnce(&mut T) -> R) -> R {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
