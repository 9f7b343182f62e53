//! An outage of a connection: each of its reasons is logged once.

/// Most reasons that are logged in one outage.
pub const REASONS_MAX: usize = 8;

/// The time from a failure until the connection works again.
#[derive(Debug, Default)]
pub struct Outage {
    /// Reasons that were logged.
    logged: Vec<String>,
}

impl Outage {
    /// Returns whether a reason is to be logged; each is logged once.
    pub fn is_new(&mut self, reason: &str) -> bool {
        // Reasons can contain text of an upstream, so their number is unbounded.
        let is_new =
            self.logged.len() < REASONS_MAX && self.logged.iter().all(|logged| logged != reason);
        if is_new {
            self.logged.push(reason.to_owned());
        }
        is_new
    }

    /// Ends the outage. Returns whether a reason was logged.
    pub fn end(&mut self) -> bool {
        let was_logged = !self.logged.is_empty();
        self.logged.clear();
        was_logged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_logged_once_up_to_a_limit() {
        let mut outage = Outage::default();
        for number in 0..2 * REASONS_MAX {
            let reason = format!("reason {number}");
            assert_eq!(outage.is_new(&reason), number < REASONS_MAX, "{reason}");
            assert!(!outage.is_new(&reason), "{reason}");
        }
        assert!(outage.end());
        assert!(!outage.end());
        assert!(outage.is_new("reason 0"));
    }
}
