//! Runs the program in a temporary folder.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use serde_json::Value;
use tempfile::TempDir;

use crate::clock::{folder, papertick};

/// A temporary folder in which the program runs.
pub(crate) struct CommandRig(TempDir);

impl CommandRig {
    pub(crate) fn new() -> CommandRig {
        CommandRig(folder())
    }

    /// Runs the program in the folder; returns exit code, standard output and standard error.
    pub(crate) fn try_to(&self, line: &str) -> (i32, String, String) {
        let arguments: Vec<&str> = line.split_whitespace().collect();
        let output = papertick(&arguments)
            .current_dir(self.0.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let code = output.status.code().unwrap();
        (code, text(output.stdout), text(output.stderr))
    }

    /// Runs the program in the folder; it must succeed.
    pub(crate) fn run(&self, line: &str) -> String {
        let (code, out, error) = self.try_to(line);
        assert_eq!((code, error.as_str()), (0, ""), "{line}");
        out
    }

    pub(crate) fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.run(line)).unwrap()
    }

    /// Runs the program in the folder; it must fail with a code and one line with these parts.
    pub(crate) fn fails(&self, line: &str, code: i32, parts: &[&str]) {
        let (got, out, error) = self.try_to(line);
        assert_eq!((got, out.as_str()), (code, ""), "{line}: {error}");
        assert_eq!(error.lines().count(), 1, "{line}: {error}");
        for part in parts {
            assert!(error.contains(part), "{line}: {error} lacks {part}");
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Writes a small program with build facts.
    pub(crate) fn program(&self, name: &str, machine: u8, note: &str) {
        let mut program = b"\x7fELF\x02\x01\x01".to_vec();
        program.resize(64, 0);
        program[18] = machine;
        let note = note.replace('|', "\u{1}");
        let note = format!("\u{1}papertick was built from\u{1}{note}\u{2}");
        program.extend_from_slice(note.as_bytes());
        fs::write(self.path(name), program).unwrap();
    }

    /// An unprotected key `k` and an image `i.img` for the default board.
    pub(crate) fn with_image(self) -> CommandRig {
        self.run("image keygen --no-password k");
        self.program("p", 183, "4.2.0|abc|1764547200|aarch64-unknown-linux-gnu");
        self.run("image pack --program p -o i.img");
        self
    }
}
