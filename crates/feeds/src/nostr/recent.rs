//! A bounded memory of what was seen: the oldest is forgotten first.

use std::collections::VecDeque;

/// The last `N` different ids.
#[derive(Debug, Clone, Default)]
pub struct Recent<T, const N: usize> {
    ids: VecDeque<T>,
}

impl<T: PartialEq, const N: usize> Recent<T, N> {
    /// Remembers an id; tells whether it was new.
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
