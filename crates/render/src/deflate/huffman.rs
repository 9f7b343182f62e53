//! Huffman codes of bounded length.

/// Length of the code of each symbol, at most `max` bits; 0 for symbols that do not occur. At least one symbol occurs.
pub(super) fn code_lengths(counts: &[u32], max: u8) -> Vec<u8> {
    let mut counts = counts.to_vec();
    loop {
        let lengths = unbounded(&counts);
        if lengths.iter().all(|length| *length <= max) {
            return lengths;
        }
        // Flatter counts have shorter codes; those that occur stay above 0.
        for count in &mut counts {
            *count = count.div_ceil(2);
        }
    }
}

fn unbounded(counts: &[u32]) -> Vec<u8> {
    let mut lengths = vec![0; counts.len()];
    let occurring = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    // Trees with their counts, the rarest last.
    let mut trees: Vec<(u32, Vec<usize>)> = occurring
        .map(|(symbol, count)| (*count, vec![symbol]))
        .collect();
    if let [(_, only)] = &trees[..] {
        lengths[only[0]] = 1;
    }
    trees.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    while let (Some((rarest, mut symbols)), Some((rare, others))) = (trees.pop(), trees.pop()) {
        symbols.extend(others);
        for symbol in &symbols {
            lengths[*symbol] += 1;
        }
        let count = rarest + rare;
        let place = trees.partition_point(|(other, _)| *other > count);
        trees.insert(place, (count, symbols));
    }
    lengths
}

/// Code of each symbol in the order in which its bits are written, and its length.
pub(super) fn codes(lengths: &[u8]) -> Vec<(u32, u32)> {
    let mut codes = vec![(0, 0); lengths.len()];
    let mut next: u32 = 0;
    let longest = lengths.iter().copied().max().unwrap_or_default();
    for bits in 1..=u32::from(longest) {
        next <<= 1;
        for (code, length) in codes.iter_mut().zip(lengths) {
            if u32::from(*length) == bits {
                *code = (next.reverse_bits() >> (u32::BITS - bits), bits);
                next += 1;
            }
        }
    }
    codes
}
