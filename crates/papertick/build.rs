//! Tells the program which commit it was built from, where that can be known.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=PAPERTICK_COMMIT");
    println!("cargo::rerun-if-env-changed=SOURCE_DATE_EPOCH");
    println!("cargo::rerun-if-changed=build.rs");
    if let Some(head) = git(&["rev-parse", "--git-path", "HEAD"]) {
        println!("cargo::rerun-if-changed={head}");
    }
    let commit = std::env::var("PAPERTICK_COMMIT").ok();
    if let Some(commit) = commit.or_else(|| git(&["rev-parse", "--short=7", "HEAD"])) {
        println!("cargo::rustc-env=PAPERTICK_COMMIT={commit}");
    }
    let time = std::env::var("SOURCE_DATE_EPOCH").ok();
    if let Some(time) = time.or_else(|| git(&["log", "-1", "--format=%ct"])) {
        println!("cargo::rustc-env=PAPERTICK_COMMIT_TIME={time}");
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim();
    (output.status.success() && !text.is_empty()).then(|| text.to_string())
}
