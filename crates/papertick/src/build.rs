//! What this program was built from.

use device::now::{UtcTime, Zone};

/// Version of the program; its major number is the generation of the interface.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Short names of the months.
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Version and commit of the program, such as `4.0.0-1a2b3c4`.
pub fn revision() -> String {
    match option_env!("PAPERTICK_COMMIT") {
        Some(commit) => format!("{VERSION}-{commit}"),
        None => VERSION.to_string(),
    }
}

/// The same with the commit first, such as `1a2b3c4-4.0.0`: for the announcement on the network, of which programs
/// show seven characters.
pub fn commit_first() -> String {
    match option_env!("PAPERTICK_COMMIT") {
        Some(commit) => format!("{commit}-{VERSION}"),
        None => VERSION.to_string(),
    }
}

/// When what it was built from was made, or else when it was built, s since 1970-01-01 UTC.
pub fn time() -> Option<i64> {
    env!("PAPERTICK_BUILD_TIME").parse().ok()
}

/// Its day, such as `Jan 02 2026`; empty if unknown.
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
    use super::*;

    #[test]
    fn the_revision_starts_with_the_version() {
        assert!(revision().starts_with(VERSION));
        let commit = option_env!("PAPERTICK_COMMIT").unwrap_or(VERSION);
        assert!(commit_first().starts_with(commit));
        assert!(date().is_empty() || date().len() == 11, "{}", date());
    }
}
