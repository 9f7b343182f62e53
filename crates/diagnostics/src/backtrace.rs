//! Makes a backtrace from a crash dump: the stack of the crashed thread, with functions, files and lines.
//!
//! The dump has the addresses. The unstripped program has the functions and lines.

use std::{
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
};

use addr2line::Loader;
use minidump::{
    CodeView, Minidump, MinidumpException, MinidumpModule, MinidumpModuleList, MinidumpSystemInfo,
    MinidumpThreadList, MinidumpThreadNames, Module,
};
use minidump_unwind::{
    CallStack, SystemInfo, symbols::debuginfo::DebugInfoSymbolProvider, walk_stack,
};
use object::Object;

const FRAMES_MAX: usize = 200;

/// Why there is no backtrace.
#[derive(Debug, thiserror::Error)]
pub enum BacktraceError {
    /// The file is not a dump, or a stream is missing.
    #[error("the dump cannot be read: {0}")]
    Dump(#[from] minidump::Error),
    #[error("the dump has no {0}")]
    Missing(&'static str),
    /// The dump is of another program or build.
    #[error("{} is not the program that crashed", .0.display())]
    OtherProgram(PathBuf),
    /// The program has no debug information.
    #[error("the program has no line information: {0}")]
    NoLines(String),
    /// The runtime could not be started.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// The backtrace of the crashed thread as text, innermost frame first.
///
/// # Errors
/// The dump or the program cannot be read, or they do not match.
pub fn of(dump: &Path, program: &Path) -> Result<String, BacktraceError> {
    let dump = Minidump::read_path(dump)?;
    let system = dump.get_stream::<MinidumpSystemInfo>()?;
    let names = dump.get_stream::<MinidumpThreadNames>().unwrap_or_default();
    let threads = dump.get_stream::<MinidumpThreadList>()?;
    let exception = dump.get_stream::<MinidumpException>()?;
    let found = dump.get_stream::<MinidumpModuleList>()?;
    let own = found
        .main_module()
        .ok_or(BacktraceError::Missing("program"))?;
    let own_base = own.base_address();
    if build_id(own) != build_id_of(program) {
        return Err(BacktraceError::OtherProgram(program.to_path_buf()));
    }
    let modules = local_modules(&found, own_base, program);

    let id = exception.get_crashing_thread_id();
    let thread = threads
        .get_thread(id)
        .ok_or(BacktraceError::Missing("thread"))?;
    let context = exception
        .context(&system, None)
        .ok_or(BacktraceError::Missing("registers"))?
        .into_owned();
    let memory = dump.get_memory().unwrap_or_default();
    let stack_memory = thread.stack_memory(&memory);
    let mut stack = CallStack::with_context(context);
    stack.thread_id = id;
    let lines = Loader::new(program).map_err(no_lines)?;
    tokio::runtime::Builder::new_current_thread()
        .build()?
        .block_on(async {
            let provider = DebugInfoSymbolProvider::new(&system, &modules).await;
            let facts = SystemInfo {
                os: system.os,
                os_version: None,
                os_build: None,
                cpu: system.cpu,
                cpu_info: None,
                cpu_microcode_version: None,
                cpu_count: 1,
            };
            walk_stack(0, (), &mut stack, stack_memory, &modules, &facts, &provider).await;
        });

    let mut text = String::new();
    let reason = exception.get_crash_reason(system.os, system.cpu);
    let name = names.get_name(id).unwrap_or_default();
    line(&mut text, format_args!("{reason} in thread {id} ({name})"));
    for (at, frame) in stack.frames.iter().take(FRAMES_MAX).enumerate() {
        let address = frame.instruction;
        match &frame.module {
            Some(module) if module.base_address() == own_base => {
                for place in places(&lines, address - own_base)? {
                    line(&mut text, format_args!("{at:3} {place}"));
                }
            }
            Some(module) => {
                let within = address - module.base_address();
                let file = module.code_file();
                line(&mut text, format_args!("{at:3} {file}+{within:#x}"));
            }
            None => line(&mut text, format_args!("{at:3} {address:#x}")),
        }
    }
    Ok(text)
}

/// Functions and lines at an address; several if functions were inlined.
fn places(lines: &Loader, address: u64) -> Result<Vec<String>, BacktraceError> {
    let mut places = Vec::new();
    let mut frames = lines.find_frames(address).map_err(no_lines)?;
    while let Some(frame) = frames.next().map_err(no_lines)? {
        let name = match &frame.function {
            Some(function) => Some(function.demangle().map_err(no_lines)?.into_owned()),
            None => None,
        };
        let file = frame.location.as_ref().and_then(|place| place.file);
        let line = frame.location.as_ref().and_then(|place| place.line);
        places.push((
            name,
            file.unwrap_or("?").to_string(),
            line.unwrap_or_default(),
        ));
    }
    if places.is_empty() {
        places.push((None, "?".to_string(), 0));
    }
    // The symbol table has the full name of the outermost function, even if there is only line information.
    let symbol = lines.find_symbol(address);
    if let (Some(symbol), Some((name, _, _))) = (symbol, places.last_mut()) {
        *name = Some(addr2line::demangle_auto(symbol.into(), None).into_owned());
    }
    let texts = places.into_iter().map(|(name, file, line)| {
        let name = name.unwrap_or_else(|| "?".to_string());
        format!("{name} at {file}:{line}")
    });
    Ok(texts.collect())
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{line}");
}

fn no_lines(error: impl std::fmt::Display) -> BacktraceError {
    BacktraceError::NoLines(error.to_string())
}

/// The modules of the crashed process, with the local program. Libraries that differ from the local files only keep their
/// names.
fn local_modules(found: &MinidumpModuleList, own_base: u64, program: &Path) -> MinidumpModuleList {
    let module = |module: &MinidumpModule| {
        let mut module = module.clone();
        if module.base_address() == own_base {
            module.name = program.to_string_lossy().into_owned();
        } else if build_id(&module) != build_id_of(Path::new(&module.name)) {
            module.name = format!("(another) {}", module.name);
        }
        module.codeview_info = None;
        module
    };
    MinidumpModuleList::from_modules(found.iter().map(module).collect())
}

fn build_id(module: &MinidumpModule) -> Option<Vec<u8>> {
    match &module.codeview_info {
        Some(CodeView::Elf(elf)) => Some(elf.build_id.clone()),
        _ => None,
    }
}

fn build_id_of(file: &Path) -> Option<Vec<u8>> {
    let bytes = fs::read(file).ok()?;
    let object = object::File::parse(bytes.as_slice()).ok()?;
    Some(object.build_id().ok()??.to_vec())
}
