//! Takes out of a minidump what may hold secrets and tells nothing of where a program failed: its environment, its
//! command line, and the registers that copies of texts pass through.

use std::env::consts::ARCH;

/// Bytes of the head of a minidump, and of an entry of its directory.
const HEAD: usize = 32;
const ENTRY: usize = 12;

/// Where the head has the number of streams and the place of the directory.
const COUNT_AT: usize = 8;
const DIRECTORY_AT: usize = 12;

/// Kinds of streams.
const UNUSED: u32 = 0;
const THREADS: u32 = 3;
const COMMAND_LINE: u32 = 0x4767_0006;
const ENVIRONMENT: u32 = 0x4767_0007;

/// Bytes of a thread in the list of threads, and where it has the size and the place of its registers.
const THREAD: usize = 48;
const REGISTERS_AT: usize = 40;

/// Where the registers that are needed to walk a stack end, by architecture: what follows are those for numbers with a
/// fraction, and the wide ones by which memory is copied.
const NEEDED: &[(&str, usize)] = &[
    ("x86_64", 256),
    ("aarch64", 8 + 33 * 8 + 4),
    ("arm", 4 + 16 * 4 + 4),
];

/// Why something is no minidump.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Disorder {
    /// It does not begin as one.
    #[error("it does not begin as a minidump does")]
    Head,
    /// It points to somewhere outside of itself.
    #[error("it ends before {0} bytes")]
    End(usize),
}

/// Takes out what may hold secrets; the rest stays where it is.
///
/// # Errors
/// It is no minidump.
pub fn scrub(dump: &mut [u8]) -> Result<(), Disorder> {
    if dump.len() < HEAD || !dump.starts_with(b"MDMP") {
        return Err(Disorder::Head);
    }
    let streams = number(dump, COUNT_AT)?;
    let directory = number(dump, DIRECTORY_AT)?;
    for entry in (0..streams).map(|at| directory.saturating_add(at.saturating_mul(ENTRY))) {
        let (size, place) = (number(dump, entry + 4)?, number(dump, entry + 8)?);
        match u32::try_from(number(dump, entry)?).unwrap_or(UNUSED) {
            COMMAND_LINE | ENVIRONMENT => {
                part(dump, place, size)?.fill(0);
                // Nobody looks for what an unused entry points to.
                part(dump, entry, ENTRY)?.fill(0);
            }
            THREADS => clear_registers(dump, place)?,
            _ => {}
        }
    }
    Ok(())
}

/// Bytes of registers that stay; none of an architecture that is not known: rather a stack that cannot be walked than a
/// secret.
fn needed(architecture: &str) -> usize {
    let known = NEEDED.iter().find(|(name, _)| *name == architecture);
    known.map_or(0, |(_, bytes)| *bytes)
}

fn clear_registers(dump: &mut [u8], list: usize) -> Result<(), Disorder> {
    let needed = needed(ARCH);
    for thread in 0..number(dump, list)? {
        let at = list + 4 + thread.saturating_mul(THREAD) + REGISTERS_AT;
        let (size, place) = (number(dump, at)?, number(dump, at + 4)?);
        if size > needed {
            part(dump, place.saturating_add(needed), size - needed)?.fill(0);
        }
    }
    Ok(())
}

fn number(dump: &[u8], at: usize) -> Result<usize, Disorder> {
    let end = at.saturating_add(4);
    let bytes = dump.get(at..end).ok_or(Disorder::End(end))?;
    Ok(bytes
        .iter()
        .rev()
        .fold(0, |number, byte| (number << 8) | usize::from(*byte)))
}

fn part(dump: &mut [u8], at: usize, size: usize) -> Result<&mut [u8], Disorder> {
    let end = at.saturating_add(size);
    dump.get_mut(at..end).ok_or(Disorder::End(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of the registers of a thread.
    const REGISTERS: usize = 1232;

    /// A dump with an environment, a command line, two threads, and 100 bytes of something else; everything is 7 that is
    /// no number.
    fn dump() -> Vec<u8> {
        let threads = HEAD + 4 * ENTRY;
        let registers = threads + 4 + 2 * THREAD;
        let rest = registers + 2 * REGISTERS;
        let mut dump = vec![7; rest + 300];
        dump[..4].copy_from_slice(b"MDMP");
        let mut put = |at: usize, number: usize| {
            dump[at..at + 4].copy_from_slice(&u32::try_from(number).unwrap_or(0).to_le_bytes());
        };
        put(COUNT_AT, 4);
        put(DIRECTORY_AT, HEAD);
        for (entry, kind, size, place) in [
            (0, THREADS, 4 + 2 * THREAD, threads),
            (1, ENVIRONMENT, 100, rest),
            (2, 0x4767_0008, 100, rest + 100),
            (3, COMMAND_LINE, 100, rest + 200),
        ] {
            let at = HEAD + entry * ENTRY;
            put(at, kind as usize);
            put(at + 4, size);
            put(at + 8, place);
        }
        put(threads, 2);
        for thread in 0..2 {
            let at = threads + 4 + thread * THREAD + REGISTERS_AT;
            put(at, REGISTERS);
            put(at + 4, registers + thread * REGISTERS);
        }
        dump
    }

    #[test]
    fn what_may_hold_secrets_is_taken_out_and_nothing_else() {
        let (before, mut after) = (dump(), dump());
        assert_eq!(scrub(&mut after), Ok(()));
        let end = before.len();
        let registers = end - 300 - 2 * REGISTERS;
        let needed = needed(ARCH);
        let taken = [
            HEAD + ENTRY..HEAD + 2 * ENTRY,
            HEAD + 3 * ENTRY..HEAD + 4 * ENTRY,
            registers + needed..registers + REGISTERS,
            registers + REGISTERS + needed..registers + 2 * REGISTERS,
            end - 300..end - 200,
            end - 100..end,
        ];
        for at in 0..end {
            let is_taken = taken.iter().any(|range| range.contains(&at));
            let expected = if is_taken { 0 } else { before[at] };
            assert_eq!(after[at], expected, "byte {at}");
        }
    }

    #[test]
    fn the_registers_that_a_stack_is_walked_with_stay() {
        for (architecture, bytes) in [
            ("x86_64", 256),
            ("aarch64", 276),
            ("arm", 72),
            ("riscv64", 0),
        ] {
            assert_eq!(needed(architecture), bytes, "{architecture}");
        }
    }

    #[test]
    fn what_is_no_dump_is_said_to_be_none() {
        assert_eq!(scrub(&mut []), Err(Disorder::Head));
        assert_eq!(scrub(&mut [7; 100]), Err(Disorder::Head));
        let dump = dump();
        for length in 0..dump.len() {
            let mut cut = dump[..length].to_vec();
            assert!(scrub(&mut cut).is_err(), "{length} bytes");
        }
    }
}
