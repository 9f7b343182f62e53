//! A bounded queue in which addresses take turns.

use std::{
    collections::{BTreeMap, VecDeque},
    net::IpAddr,
};

/// A queue that is fair by address: the addresses take turns, and each is served in order of arrival.
pub(super) struct FairQueue<T> {
    by_address: BTreeMap<IpAddr, VecDeque<T>>,
    turns: VecDeque<IpAddr>,
    capacity: usize,
}

impl<T> FairQueue<T> {
    /// An empty queue.
    pub(super) fn new(capacity: usize) -> FairQueue<T> {
        FairQueue {
            by_address: BTreeMap::new(),
            turns: VecDeque::new(),
            capacity,
        }
    }

    /// Adds an item. If the queue is full, returns the rejected item: the last item of the address with the most
    /// queued items, or the new one.
    pub(super) fn push(&mut self, address: IpAddr, item: T) -> Option<T> {
        let mut rejected = None;
        if self.by_address.values().map(VecDeque::len).sum::<usize>() >= self.capacity {
            let own = self.by_address.get(&address).map_or(0, VecDeque::len);
            let longest = self.by_address.values_mut().max_by_key(|queue| queue.len());
            match longest.filter(|queue| queue.len() > own + 1) {
                Some(queue) => rejected = queue.pop_back(),
                None => return Some(item),
            }
        }
        let queue = self.by_address.entry(address).or_default();
        if queue.is_empty() {
            self.turns.push_back(address);
        }
        queue.push_back(item);
        rejected
    }

    /// Removes the next item: the first item of the address that is next in turn.
    pub(super) fn pop(&mut self) -> Option<T> {
        let address = self.turns.pop_front()?;
        let queue = self.by_address.get_mut(&address)?;
        let item = queue.pop_front();
        if queue.is_empty() {
            self.by_address.remove(&address);
        } else {
            self.turns.push_back(address);
        }
        item
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    /// Pushed items, as address and name; rejected items; order of the others.
    #[test]
    fn addresses_take_turns() {
        let rows: &[(&str, &str, &str)] = &[
            ("", "", ""),
            ("1a 1b 1c", "", "abc"),
            ("1a 1b 1c 2x", "", "axbc"),
            ("1a 2x 1b 2y", "", "axby"),
            ("1a 2x 3m 1b", "", "axmb"),
            // The capacity is four.
            ("1a 1b 1c 1d 1e 1f", "ef", "abcd"),
            ("1a 1b 1c 1d 2x", "d", "axbc"),
            ("1a 1b 1c 1d 2x 2y", "dc", "axby"),
            ("1a 1b 1c 1d 2x 2y 2z", "dcz", "axby"),
            ("1a 1b 2x 2y 1c 3m", "cy", "axmb"),
            ("1a 2b 3c 4d 5e", "e", "abcd"),
        ];
        for (pushed, expected, order) in rows {
            let mut queue = FairQueue::new(4);
            let mut rejected = String::new();
            for item in pushed.split_whitespace() {
                let (number, name) = item.split_at(1);
                let number = number.parse().unwrap_or_default();
                rejected.extend(queue.push(address(number), name));
            }
            assert_eq!(rejected, *expected, "{pushed}");
            let popped: String = std::iter::from_fn(|| queue.pop()).collect();
            assert_eq!(popped, *order, "{pushed}");
            assert!(queue.by_address.is_empty() && queue.turns.is_empty());
        }
    }
}
