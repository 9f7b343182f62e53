//! What a test needs of the machine besides Rust: a program, multicast.
//!
//! Where it is missing, the test fails if `CI` is `true`, since a check that did not run holds nothing. On somebody's
//! own machine it is skipped, and said so: at once, past the capture of a test's output, and once more in the list
//! that `what_was_skipped` prints at the end of a run.

use std::{
    env, fs,
    io::{self, Write},
    os::unix::process::parent_id,
    path::PathBuf,
    thread,
};

/// Tells a test whether it can run, by what it needs and whether that is there.
pub(crate) fn met(need: &str, is_there: bool) -> bool {
    if is_there {
        return true;
    }
    let thread = thread::current();
    // With one thread for all tests their names are not known.
    let test = thread.name().filter(|name| *name != "main");
    let test = test.unwrap_or("a test");
    assert!(
        env::var_os("CI").is_none_or(|value| value != "true"),
        "{test} needs {need}"
    );
    let line = format!("skipped: {test} needs {need}\n");
    // Written as one piece, and not by a macro: those are captured.
    io::stderr().write_all(line.as_bytes()).unwrap();
    let list = list();
    fs::create_dir_all(list.parent().unwrap()).unwrap();
    let file = fs::OpenOptions::new().append(true).create(true).open(list);
    file.unwrap().write_all(line.as_bytes()).unwrap();
    false
}

/// Where the tests that one Cargo runs write down what they skipped.
pub(crate) fn list() -> PathBuf {
    let run = parent_id().to_string();
    [env!("CARGO_TARGET_TMPDIR"), "skipped", &run]
        .iter()
        .collect()
}

/// A program by its name alone, where the shell would find it.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let found = env::split_paths(&env::var_os("PATH")?)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file());
    met(name, found.is_some()).then_some(found).flatten()
}
