//! Sets commit, build time and target of the program at compile time. The manifest of the built-in page has the same values.

use std::{
    process::Command,
    time::{SystemTime, UNIX_EPOCH},
};

fn main() {
    println!("cargo::rerun-if-env-changed=PAPERTICK_COMMIT");
    println!("cargo::rerun-if-env-changed=SOURCE_DATE_EPOCH");
    println!("cargo::rerun-if-changed=build.rs");
    // A commit on a branch changes only the log of HEAD. Debug builds ignore it, to avoid a rebuild after each commit.
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
