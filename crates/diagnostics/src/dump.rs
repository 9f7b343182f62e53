//! Makes a minidump of another process that has crashed.

use std::io::{self, Read, Write};

use minidump_writer::{
    CrashContextExt, crash_context::CrashContext, minidump_writer::MinidumpWriterConfig,
};

use crate::scrub;

/// Largest dump, bytes: the stacks of all threads, one of which may have overflowed.
pub const DUMP_MAX: usize = 16 * 1024 * 1024;

/// Size above which the stacks of all threads except the first ones are shortened, bytes.
const SIZE_LIMIT: u64 = 2 * 1024 * 1024;

/// Why there is no dump.
#[derive(Debug, thiserror::Error)]
pub enum DumpError {
    /// The report does not describe a thread of this process.
    #[error("the crash report is invalid")]
    Context,
    /// The process could not be read.
    #[error("the process cannot be read: {0}")]
    Process(String),
    /// The dump is too large.
    #[error("the dump has {0} bytes, the limit is {DUMP_MAX}")]
    Size(usize),
    /// The report could not be read, or the dump could not be written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The result is not a valid minidump.
    #[error("the dump is invalid: {0}")]
    Invalid(#[from] scrub::MinidumpError),
}

/// Reads the crash report of a process, makes a dump, removes secrets, and writes the dump.
///
/// # Errors
/// There is no dump, or it is incomplete.
pub fn take(
    process: u32,
    crash_report: &mut impl Read,
    to: &mut impl Write,
) -> Result<(), DumpError> {
    let mut bytes = vec![0; size_of::<CrashContext>()];
    crash_report.read_exact(&mut bytes)?;
    let context = CrashContext::from_bytes(&bytes).ok_or(DumpError::Context)?;
    let number = i32::try_from(process).map_err(|_| DumpError::Context)?;
    if context.pid != number {
        return Err(DumpError::Context);
    }
    let mut writer = MinidumpWriterConfig::new(number, context.tid);
    writer
        .set_crash_context(CrashContextExt { inner: context })
        .set_minidump_size_limit(SIZE_LIMIT)
        .sanitize_stack();
    let mut dump = writer
        .write(&mut io::empty())
        .map_err(|error| DumpError::Process(error.to_string()))?;
    if dump.len() > DUMP_MAX {
        return Err(DumpError::Size(dump.len()));
    }
    scrub::scrub(&mut dump)?;
    to.write_all(&dump)?;
    Ok(to.flush()?)
}
