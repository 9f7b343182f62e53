//! Reads a crash dump down to the line:
//! `cargo run -p diagnostics --features read --example backtrace -- coredump.dmp path/to/papertick`,
//! where the program is the one that crashed, or the same build before its symbols were taken away.

use std::{env, path::Path, process::ExitCode};

use diagnostics::backtrace;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [dump, program] = arguments.as_slice() else {
        eprintln!("usage: backtrace DUMP PROGRAM");
        return ExitCode::from(2);
    };
    match backtrace::of(Path::new(dump), Path::new(program)) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("backtrace: {error}");
            ExitCode::FAILURE
        }
    }
}
