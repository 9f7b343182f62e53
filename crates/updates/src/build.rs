//! Version, commit, time and target of this program, and of another program's file.
//!
//! They are one text in the file of the program, so that they can be read even if the program is for other machines and
//! cannot be started here.

use std::hint::black_box;

use market::now::{UtcTime, Zone};

/// Version of the program. The major version is the generation of the control interface.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Short names of the months.
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Start of the note in the file of a program.
const MARK: &str = "\u{1}papertick was built from\u{1}";

const END: u8 = 2;

static NOTE: &str = concat!(
    "\u{1}papertick was built from\u{1}",
    env!("CARGO_PKG_VERSION"),
    "\u{1}",
    env!("PAPERTICK_COMMIT"),
    "\u{1}",
    env!("PAPERTICK_BUILD_TIME"),
    "\u{1}",
    env!("PAPERTICK_TARGET"),
    "\u{2}"
);

/// Longest note, bytes.
const NOTE_MAX: usize = 256;

/// Version, commit, time and target of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildFacts {
    pub version: String,
    /// Its commit; empty if unknown.
    pub commit: String,
    /// Time of the commit, or else of the build, s since 1970-01-01 UTC.
    pub time: Option<u64>,
    /// Target triple, such as `aarch64-unknown-linux-gnu`.
    pub target: String,
}

impl BuildFacts {
    pub fn own() -> BuildFacts {
        // Parsed at run time, so that the optimiser cannot remove the note from the file.
        BuildFacts::of(black_box(NOTE).as_bytes()).unwrap_or(BuildFacts {
            version: VERSION.to_string(),
            commit: String::new(),
            time: None,
            target: String::new(),
        })
    }

    /// The facts in the file of a program; `None` if it has no note, or notes that differ.
    pub fn of(program: &[u8]) -> Option<BuildFacts> {
        let mut rest = program;
        let mut found = None;
        while let Some(at) = rest.iter().position(|byte| *byte == MARK.as_bytes()[0]) {
            rest = &rest[at..];
            if let Some(behind) = rest.strip_prefix(MARK.as_bytes())
                && let Some(facts) = BuildFacts::parse(&behind[..behind.len().min(NOTE_MAX)])
            {
                if found.as_ref().is_some_and(|found| *found != facts) {
                    return None;
                }
                found = Some(facts);
            }
            rest = &rest[1..];
        }
        found
    }

    fn parse(note: &[u8]) -> Option<BuildFacts> {
        let end = note.iter().position(|byte| *byte == END)?;
        let note = std::str::from_utf8(&note[..end]).ok()?;
        let mut parts = note.split(char::from(MARK.as_bytes()[0]));
        let facts = BuildFacts {
            version: parts.next()?.to_string(),
            commit: parts.next()?.to_string(),
            time: parts.next()?.parse().ok(),
            target: parts.next()?.to_string(),
        };
        (parts.next().is_none() && !facts.version.is_empty()).then_some(facts)
    }
}

/// Version and commit of the program, such as `4.0.0-1a2b3c4`.
pub fn revision() -> String {
    match BuildFacts::own().commit.as_str() {
        "" => VERSION.to_string(),
        commit => format!("{VERSION}-{commit}"),
    }
}

/// Version, commit and day of the program, for people: `4.0.0 (1a2b3c4, Jan 02 2026)`.
pub fn described() -> String {
    let facts = [BuildFacts::own().commit, date()];
    let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
    if facts.is_empty() {
        VERSION.to_string()
    } else {
        format!("{VERSION} ({})", facts.join(", "))
    }
}

/// Commit and version, such as `1a2b3c4-4.0.0`, for mDNS: some programs show only the first seven characters.
pub fn commit_first() -> String {
    match BuildFacts::own().commit.as_str() {
        "" => VERSION.to_string(),
        commit => format!("{commit}-{VERSION}"),
    }
}

/// Time of the commit, or else of the build, s since 1970-01-01 UTC.
pub fn time() -> Option<i64> {
    i64::try_from(BuildFacts::own().time?).ok()
}

/// The day of [`time`], such as `Jan 02 2026`; empty if unknown.
pub fn date() -> String {
    let Some(seconds) = time() else {
        return String::new();
    };
    let local = Zone::utc().local(UtcTime {
        unix_ms: seconds.saturating_mul(1000),
    });
    let month = usize::from(local.month)
        .checked_sub(1)
        .and_then(|month| MONTHS.get(month));
    format!(
        "{} {:02} {}",
        month.unwrap_or(&"Jan"),
        local.day,
        local.year
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use super::*;

    #[test]
    fn the_facts_of_a_program_are_found_in_its_file() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(BuildFacts::of(&own), Some(BuildFacts::own()));
        assert!(BuildFacts::own().target.contains(std::env::consts::ARCH));
        let note = |version: &str, time: &str| {
            format!("{MARK}{version}\u{1}abc\u{1}{time}\u{1}riscv64gc-unknown-linux-gnu\u{2}")
        };
        let facts = BuildFacts {
            version: "9.1.0".into(),
            commit: "abc".into(),
            time: Some(7),
            target: "riscv64gc-unknown-linux-gnu".into(),
        };
        for (program, expected) in [
            (String::new(), None),
            (MARK.to_string(), None),
            (format!("{MARK}{MARK}{MARK}"), None),
            (note("", "7"), None),
            (note("9.1.0", "7")[..40].to_string(), None),
            (note("9.1.0", "7"), Some(&facts)),
            (
                format!("x{MARK}y{}z{MARK}", note("9.1.0", "7")),
                Some(&facts),
            ),
            (note("9.1.0", "7").repeat(2), Some(&facts)),
            (note("9.1.0", "7") + &note("9.1.1", "7"), None),
        ] {
            assert_eq!(
                BuildFacts::of(program.as_bytes()).as_ref(),
                expected,
                "{program:?}"
            );
        }
        assert_eq!(
            BuildFacts::of(note("9.1.0", "").as_bytes()).unwrap().time,
            None
        );
    }
}
