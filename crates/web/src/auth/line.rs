//! A line with room for so many, in which every address has its turn.

use std::{
    collections::{BTreeMap, VecDeque},
    net::IpAddr,
};

/// A queue that is fair by address: the addresses take turns, and each is served in order of arrival.
pub(super) struct FairQueue<T> {
    waiting: BTreeMap<IpAddr, VecDeque<T>>,
    turns: VecDeque<IpAddr>,
    room: usize,
}

impl<T> FairQueue<T> {
    /// Nobody waits yet.
    pub(super) fn new(room: usize) -> FairQueue<T> {
        FairQueue {
            waiting: BTreeMap::new(),
            turns: VecDeque::new(),
            room,
        }
    }

    /// Lines somebody up; without room the last one of the address with the most waiting comes back, which may be this.
    pub(super) fn push(&mut self, address: IpAddr, item: T) -> Option<T> {
        let mut without_room = None;
        if self.waiting.values().map(VecDeque::len).sum::<usize>() >= self.room {
            let own = self.waiting.get(&address).map_or(0, VecDeque::len);
            let longest = self.waiting.values_mut().max_by_key(|line| line.len());
            match longest.filter(|line| line.len() > own + 1) {
                Some(line) => without_room = line.pop_back(),
                None => return Some(item),
            }
        }
        let line = self.waiting.entry(address).or_default();
        if line.is_empty() {
            self.turns.push_back(address);
        }
        line.push_back(item);
        without_room
    }

    /// Takes the one whose turn it is.
    pub(super) fn next(&mut self) -> Option<T> {
        let address = self.turns.pop_front()?;
        let line = self.waiting.get_mut(&address)?;
        let item = line.pop_front();
        if line.is_empty() {
            self.waiting.remove(&address);
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

    /// Who came, as address and name; who had no room; in which order the others have their turn.
    #[test]
    fn every_address_has_its_turn() {
        let rows: &[(&str, &str, &str)] = &[
            ("", "", ""),
            ("1a 1b 1c", "", "abc"),
            ("1a 1b 1c 2x", "", "axbc"),
            ("1a 2x 1b 2y", "", "axby"),
            ("1a 2x 3m 1b", "", "axmb"),
            // Four have room.
            ("1a 1b 1c 1d 1e 1f", "ef", "abcd"),
            ("1a 1b 1c 1d 2x", "d", "axbc"),
            ("1a 1b 1c 1d 2x 2y", "dc", "axby"),
            ("1a 1b 1c 1d 2x 2y 2z", "dcz", "axby"),
            ("1a 1b 2x 2y 1c 3m", "cy", "axmb"),
            ("1a 2b 3c 4d 5e", "e", "abcd"),
        ];
        for (arrivals, refused, order) in rows {
            let mut line = FairQueue::new(4);
            let mut without_room = String::new();
            for arrival in arrivals.split_whitespace() {
                let (number, name) = arrival.split_at(1);
                let number = number.parse().unwrap_or_default();
                without_room.extend(line.push(address(number), name));
            }
            assert_eq!(without_room, *refused, "{arrivals}");
            let turns: String = std::iter::from_fn(|| line.next()).collect();
            assert_eq!(turns, *order, "{arrivals}");
            assert!(line.waiting.is_empty() && line.turns.is_empty());
        }
    }
}
