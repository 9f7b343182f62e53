//! Lists at the end of a run the tests that were skipped because a program is missing, and checks that such a test fails
//! in CI. Cargo runs test targets in the order of their names.

#![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

#[allow(dead_code, reason = "the other tests use the rest")]
mod needs;

use std::{
    env, fs,
    io::{self, Write},
    process::{Command, Output},
};

/// Set for a nested run of this file, in which the program of one test is missing.
const LACKING: &str = "PAPERTICK_TEST_LACKS";

#[test]
fn skipped_tests_are_listed() {
    let list = needs::list();
    let Ok(lines) = fs::read_to_string(&list) else {
        return;
    };
    let _ = fs::remove_file(&list);
    let mut lines: Vec<&str> = lines.lines().collect();
    lines.sort_unstable();
    lines.dedup();
    let text = format!(
        "\n{} tests did not run:\n  {}\n",
        lines.len(),
        lines.join("\n  ")
    );
    io::stderr().write_all(text.as_bytes()).unwrap();
}

#[test]
fn a_missing_program_is_reported() {
    if env::var_os(LACKING).is_some() {
        needs::program("a-program-that-does-not-exist");
        return;
    }
    let local = run_without_program("");
    let _ = fs::remove_file(needs::list().with_file_name(std::process::id().to_string()));
    let output = String::from_utf8_lossy(&local.stderr);
    assert!(local.status.success(), "{local:?}");
    assert_eq!(
        output.trim(),
        "skipped: a_missing_program_is_reported needs a-program-that-does-not-exist"
    );
    let ci = run_without_program("true");
    let output = String::from_utf8_lossy(&ci.stdout);
    assert!(!ci.status.success(), "{ci:?}");
    assert!(
        output.contains("needs a-program-that-does-not-exist"),
        "{output}"
    );
}

/// Runs the test above with a missing program.
fn run_without_program(ci: &str) -> Output {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "a_missing_program_is_reported"])
        .env(LACKING, "1")
        .env("CI", ci)
        .output()
        .unwrap()
}
