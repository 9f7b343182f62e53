//! Tells the program which commit it was built from, where that can be known, when that was made, and for which
//! machines.
//!
//! The page is part of the program and has no version of its own: its manifest is told from the same.

use std::{
    process::Command,
    time::{SystemTime, UNIX_EPOCH},
};

fn main() {
    println!("cargo::rerun-if-env-changed=PAPERTICK_COMMIT");
    println!("cargo::rerun-if-env-changed=SOURCE_DATE_EPOCH");
    println!("cargo::rerun-if-changed=build.rs");
    // A new commit on a branch leaves HEAD as it is and is seen in its log alone; a build for daily work need not
    // name the newest commit, and is spared the work.
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let seen_in = if is_release { "logs/HEAD" } else { "HEAD" };
    if let Some(path) = git(&["rev-parse", "--git-path", seen_in]) {
        println!("cargo::rerun-if-changed={path}");
    }
    let commit = std::env::var("PAPERTICK_COMMIT").ok();
    let commit = commit.or_else(|| git(&["rev-parse", "--short=7", "HEAD"]));
    let time = std::env::var("SOURCE_DATE_EPOCH").ok();
    let time = time.or_else(|| git(&["log", "-1", "--format=%ct"]));
    for (name, value) in [
        ("PAPERTICK_COMMIT", commit.unwrap_or_default()),
        ("PAPERTICK_BUILD_TIME", time.unwrap_or_else(now)),
        (
            "PAPERTICK_TARGET",
            std::env::var("TARGET").unwrap_or_default(),
        ),
    ] {
        println!("cargo::rustc-env={name}={value}");
    }
}

/// The time of the build, where the time of what is built is not known.
fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs().to_string()
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim();
    (output.status.success() && !text.is_empty()).then(|| text.to_string())
}
