//! The end of a run: which tests did not run for want of a program, and that on a machine that checks everything
//! such a test fails. Cargo runs test targets in the order of their names.

#![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

#[allow(dead_code, reason = "the other tests use the rest")]
mod needs;

use std::{
    env, fs,
    io::{self, Write},
    process::{Command, Output},
};

/// Set for a run of this file's own, in which one test lacks its program.
const LACKING: &str = "PAPERTICK_TEST_LACKS";

#[test]
fn the_tests_that_did_not_run_are_listed() {
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
fn a_program_that_is_missing_is_missed() {
    if env::var_os(LACKING).is_some() {
        needs::program("a-program-that-nobody-has");
        return;
    }
    let local = lacking("");
    let _ = fs::remove_file(needs::list().with_file_name(std::process::id().to_string()));
    let said = String::from_utf8_lossy(&local.stderr);
    assert!(local.status.success(), "{local:?}");
    assert_eq!(
        said.trim(),
        "skipped: a_program_that_is_missing_is_missed needs a-program-that-nobody-has"
    );
    let ci = lacking("true");
    let said = String::from_utf8_lossy(&ci.stdout);
    assert!(!ci.status.success(), "{ci:?}");
    assert!(said.contains("needs a-program-that-nobody-has"), "{said}");
}

/// Runs the test above once more, as a test that lacks its program.
fn lacking(ci: &str) -> Output {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "a_program_that_is_missing_is_missed"])
        .env(LACKING, "1")
        .env("CI", ci)
        .output()
        .unwrap()
}
