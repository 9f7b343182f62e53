//! Size of a terminal.

/// Size of the terminal in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) columns: usize,
    pub(super) rows: usize,
}

impl Size {
    /// Rows for the picture; one row is left for a message.
    pub(super) fn picture_rows(self) -> usize {
        self.rows.saturating_sub(1).max(1)
    }
}
