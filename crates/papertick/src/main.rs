//! Entry point: parses the command line and runs the command.

use std::{alloc::System, process::ExitCode};

use diagnostics::heap_count::Counted;
use papertick::{
    cli::{self, Command},
    clock_process,
    commands::{backup, ctl, discover, healthcheck, image, passwd, release, render, watch, wiring},
    device_process,
    failure::Failure,
    standard_output,
};
use runtime::standard_error::print_error;

/// The allocator of the C library, counted; the supervisor sets its options.
#[cfg(not(feature = "heap-trace"))]
#[global_allocator]
static ALLOCATOR: Counted<System> = Counted(System);

/// The same, and it can list allocations that were not freed.
#[cfg(feature = "heap-trace")]
#[global_allocator]
static ALLOCATOR: diagnostics::heap_trace::Traced<Counted<System>> =
    diagnostics::heap_trace::Traced(Counted(System));

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(failure) => {
            print_error(&failure.to_string());
            if std::env::args_os().any(|argument| argument == "--json") {
                standard_output::print_failure(&failure);
            }
            ExitCode::from(failure.code as u8)
        }
    }
}

fn run() -> Result<ExitCode, Failure> {
    match cli::parse(std::env::args_os())? {
        Command::Run(config) => clock_process::run(&config),
        Command::Device(config) => device_process::run(*config),
        Command::Render(args) => render::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Discover(args) => discover::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Ctl(args) => ctl::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Watch(args) => watch::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Backup(args) => backup::backup(&args).map(|()| ExitCode::SUCCESS),
        Command::Restore(args) => backup::restore(&args).map(|()| ExitCode::SUCCESS),
        Command::Passwd(args) => passwd::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Healthcheck(args) => healthcheck::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Image(args) => image::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Release(args) => release::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Wiring(command) => wiring::run(&command).map(|()| ExitCode::SUCCESS),
        Command::CrashDump { process, folder } => {
            clock_process::dump_crash(process, &folder).map(|()| ExitCode::SUCCESS)
        }
        Command::Man(folder) => cli::write_manual(&folder).map(|()| ExitCode::SUCCESS),
        Command::Print(text) => standard_output::write(text.as_bytes()).map(|()| ExitCode::SUCCESS),
    }
}
