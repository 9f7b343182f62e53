//! How large a terminal is, and what of that a picture may take.

/// How large the terminal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    /// Characters in a row.
    pub(super) columns: usize,
    /// Rows.
    pub(super) rows: usize,
}

impl Size {
    /// Rows that a picture may take, so that one is left for words.
    pub(super) fn picture_rows(self) -> usize {
        self.rows.saturating_sub(1).max(1)
    }
}
