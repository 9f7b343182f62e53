//! Requirements of tests in addition to Rust: a program, multicast.
//!
//! If one is missing, the test fails if `CI` is `true`. Otherwise it is skipped. The message is printed at once, not
//! captured, and listed again by `what_was_skipped` at the end of the run.

use std::{
    env, fs,
    io::{self, Write},
    os::unix::process::parent_id,
    path::PathBuf,
    thread,
};

/// Whether a test can run. Reports a missing requirement.
pub(crate) fn met(need: &str, is_there: bool) -> bool {
    if is_there {
        return true;
    }
    let thread = thread::current();
    // With a single test thread the name of the test is unknown.
    let test = thread.name().filter(|name| *name != "main");
    let test = test.unwrap_or("a test");
    assert!(
        env::var_os("CI").is_none_or(|value| value != "true"),
        "{test} needs {need}"
    );
    let line = format!("skipped: {test} needs {need}\n");
    // Written in one call and not by a macro, whose output would be captured.
    io::stderr().write_all(line.as_bytes()).unwrap();
    let list = list();
    fs::create_dir_all(list.parent().unwrap()).unwrap();
    let file = fs::OpenOptions::new().append(true).create(true).open(list);
    file.unwrap().write_all(line.as_bytes()).unwrap();
    false
}

/// File in which the tests of a run record what they skipped.
pub(crate) fn list() -> PathBuf {
    let run = parent_id().to_string();
    [env!("CARGO_TARGET_TMPDIR"), "skipped", &run]
        .iter()
        .collect()
}

/// Path of a program, as a shell would find it.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let found = env::split_paths(&env::var_os("PATH")?)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file());
    met(name, found.is_some()).then_some(found).flatten()
}
