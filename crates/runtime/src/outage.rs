//! A connection that fails: each reason of one outage is logged once.

/// Different reasons of one outage that stand in the log.
pub const REASONS_MAX: usize = 8;

/// The time from a failure until the connection works again.
#[derive(Debug, Default)]
pub struct Outage {
    /// Reasons that stand in the log.
    told: Vec<String>,
}

impl Outage {
    /// Returns whether a reason is to be logged; each is logged once.
    pub fn is_news(&mut self, reason: &str) -> bool {
        // Reasons can hold an upstream's own words, of which there is no end.
        let is_news = self.told.len() < REASONS_MAX && self.told.iter().all(|told| told != reason);
        if is_news {
            self.told.push(reason.to_owned());
        }
        is_news
    }

    /// Ends the outage. Returns whether a reason was logged.
    pub fn end(&mut self) -> bool {
        let was_told = !self.told.is_empty();
        self.told.clear();
        was_told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_news_once_and_not_without_end() {
        let mut outage = Outage::default();
        for number in 0..2 * REASONS_MAX {
            let reason = format!("reason {number}");
            assert_eq!(outage.is_news(&reason), number < REASONS_MAX, "{reason}");
            assert!(!outage.is_news(&reason), "{reason}");
        }
        assert!(outage.end());
        assert!(!outage.end());
        assert!(outage.is_news("reason 0"));
    }
}
