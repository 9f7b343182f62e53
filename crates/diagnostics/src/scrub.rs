//! Removes parts of a minidump that may contain secrets and do not help to find the fault: environment, command line, and
//! the vector registers, which contain copied texts.

use std::env::consts::ARCH;

/// Lengths of the header of a minidump and of a directory entry, bytes.
const HEAD: usize = 32;
const ENTRY: usize = 12;

/// Offsets of the number of streams and of the directory's offset in the header.
const COUNT_AT: usize = 8;
const DIRECTORY_AT: usize = 12;

/// Types of streams.
const UNUSED: u32 = 0;
const THREADS: u32 = 3;
const COMMAND_LINE: u32 = 0x4767_0006;
const ENVIRONMENT: u32 = 0x4767_0007;

/// Length of an entry of the thread list, and the offset of the size and location of its registers, bytes.
const THREAD: usize = 48;
const REGISTERS_AT: usize = 40;

/// End of the registers that are needed to unwind a stack, by architecture. Floating-point and vector registers follow.
const NEEDED: &[(&str, usize)] = &[
    ("x86_64", 256),
    ("aarch64", 8 + 33 * 8 + 4),
    ("arm", 4 + 16 * 4 + 4),
];

/// Why bytes are not a minidump.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MinidumpError {
    /// The signature is missing.
    #[error("it does not start with the signature of a minidump")]
    Head,
    /// An offset is beyond the end.
    #[error("it ends before {0} bytes")]
    End(usize),
}

/// Overwrites the parts that may contain secrets with zeros.
///
/// # Errors
/// The bytes are not a minidump.
pub fn scrub(dump: &mut [u8]) -> Result<(), MinidumpError> {
    if dump.len() < HEAD || !dump.starts_with(b"MDMP") {
        return Err(MinidumpError::Head);
    }
    let streams = number(dump, COUNT_AT)?;
    let directory = number(dump, DIRECTORY_AT)?;
    for entry in (0..streams).map(|at| directory.saturating_add(at.saturating_mul(ENTRY))) {
        let (size, place) = (number(dump, entry + 4)?, number(dump, entry + 8)?);
        match u32::try_from(number(dump, entry)?).unwrap_or(UNUSED) {
            COMMAND_LINE | ENVIRONMENT => {
                part(dump, place, size)?.fill(0);
                // An unused entry points nowhere.
                part(dump, entry, ENTRY)?.fill(0);
            }
            THREADS => clear_registers(dump, place)?,
            _ => {}
        }
    }
    Ok(())
}

/// Number of bytes of the registers to keep. 0 for an unknown architecture, because a secret in the dump is worse than a
/// missing backtrace.
fn needed(architecture: &str) -> usize {
    let known = NEEDED.iter().find(|(name, _)| *name == architecture);
    known.map_or(0, |(_, bytes)| *bytes)
}

fn clear_registers(dump: &mut [u8], list: usize) -> Result<(), MinidumpError> {
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

fn number(dump: &[u8], at: usize) -> Result<usize, MinidumpError> {
    let end = at.saturating_add(4);
    let bytes = dump.get(at..end).ok_or(MinidumpError::End(end))?;
    Ok(bytes
        .iter()
        .rev()
        .fold(0, |number, byte| (number << 8) | usize::from(*byte)))
}

fn part(dump: &mut [u8], at: usize, size: usize) -> Result<&mut [u8], MinidumpError> {
    let end = at.saturating_add(size);
    dump.get_mut(at..end).ok_or(MinidumpError::End(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Length of the registers of a thread, bytes.
    const REGISTERS: usize = 1232;

    /// A dump with an environment, a command line, two threads, and another stream of 100 bytes. All bytes without a meaning
    /// are 7.
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
    fn only_parts_that_may_contain_secrets_are_cleared() {
        let (before, mut after) = (dump(), dump());
        assert_eq!(scrub(&mut after), Ok(()));
        let end = before.len();
        let registers = end - 300 - 2 * REGISTERS;
        let needed = needed(ARCH);
        let cleared = [
            HEAD + ENTRY..HEAD + 2 * ENTRY,
            HEAD + 3 * ENTRY..HEAD + 4 * ENTRY,
            registers + needed..registers + REGISTERS,
            registers + REGISTERS + needed..registers + 2 * REGISTERS,
            end - 300..end - 200,
            end - 100..end,
        ];
        for at in 0..end {
            let is_cleared = cleared.iter().any(|range| range.contains(&at));
            let expected = if is_cleared { 0 } else { before[at] };
            assert_eq!(after[at], expected, "byte {at}");
        }
    }

    #[test]
    fn registers_for_unwinding_are_kept() {
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
    fn other_bytes_are_refused() {
        assert_eq!(scrub(&mut []), Err(MinidumpError::Head));
        assert_eq!(scrub(&mut [7; 100]), Err(MinidumpError::Head));
        let dump = dump();
        for length in 0..dump.len() {
            let mut cut = dump[..length].to_vec();
            assert!(scrub(&mut cut).is_err(), "{length} bytes");
        }
    }
}
