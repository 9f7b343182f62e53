//! For the process that looks at one which has crashed: makes a minidump of it.

use std::io::{self, Read, Write};

use minidump_writer::{
    CrashContextExt, crash_context::CrashContext, minidump_writer::MinidumpWriterConfig,
};

use crate::scrub;

/// Largest dump, bytes: the stacks of all threads, one of which may have overflowed.
pub const DUMP_MAX: usize = 16 * 1024 * 1024;

/// Size from which the stacks of all but the first threads are shortened, bytes.
const SHORTENED: u64 = 2 * 1024 * 1024;

/// Why there is no dump.
#[derive(Debug, thiserror::Error)]
pub enum DumpError {
    /// What was told is not where a thread of this process crashed.
    #[error("the process did not say where it crashed")]
    Context,
    /// The process could not be looked at.
    #[error("the process cannot be looked at: {0}")]
    Process(String),
    /// It is larger than anybody needs.
    #[error("the dump would take {0} bytes, more than the {DUMP_MAX} that it may")]
    Size(usize),
    /// It could not be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// What was made is no minidump.
    #[error("the dump is not in order: {0}")]
    Disorder(#[from] scrub::Disorder),
}

/// Reads where a process has crashed, makes a dump of it, and writes that: nothing of it is written before all of it has
/// been scrubbed.
///
/// # Errors
/// There is no dump; what was written of it is of no use.
pub fn take(process: u32, told: &mut impl Read, to: &mut impl Write) -> Result<(), DumpError> {
    let mut bytes = vec![0; size_of::<CrashContext>()];
    told.read_exact(&mut bytes)?;
    let context = CrashContext::from_bytes(&bytes).ok_or(DumpError::Context)?;
    let number = i32::try_from(process).map_err(|_| DumpError::Context)?;
    if context.pid != number {
        return Err(DumpError::Context);
    }
    let mut writer = MinidumpWriterConfig::new(number, context.tid);
    writer
        .set_crash_context(CrashContextExt { inner: context })
        .set_minidump_size_limit(SHORTENED)
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
