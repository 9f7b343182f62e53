//! A bounded set that drops its oldest entry.

use std::collections::VecDeque;

/// The last `N` different ids.
#[derive(Debug, Clone, Default)]
pub struct Recent<T, const N: usize> {
    ids: VecDeque<T>,
}

impl<T: PartialEq, const N: usize> Recent<T, N> {
    /// Adds an id and returns whether it is new.
    pub fn insert(&mut self, id: T) -> bool {
        if self.ids.contains(&id) {
            return false;
        }
        if self.ids.len() == N {
            self.ids.pop_front();
        }
        self.ids.push_back(id);
        true
    }
}
