//! How large a terminal is, and what of that a picture may take.

/// Size of a letter of a terminal that does not say it, px.
const LETTER: (usize, usize) = (8, 16);

/// How large the terminal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    /// Letters in a row.
    pub(super) columns: usize,
    /// Rows.
    pub(super) rows: usize,
    /// Width and height, px; none if it does not say.
    pub(super) pixels: Option<(usize, usize)>,
}

impl Size {
    /// Rows that a picture may take, so that one is left for words.
    pub(super) fn picture_rows(self) -> usize {
        self.rows.saturating_sub(1).max(1)
    }

    /// What a picture may take, px.
    pub(super) fn pixels(self) -> (usize, usize) {
        let (width, height) = self
            .pixels
            .unwrap_or((self.columns * LETTER.0, self.rows * LETTER.1));
        (width, height * self.picture_rows() / self.rows.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_left_for_words() {
        let size = Size {
            columns: 100,
            rows: 25,
            pixels: Some((1000, 500)),
        };
        assert_eq!((size.picture_rows(), size.pixels()), (24, (1000, 480)));
        let unknown = Size {
            pixels: None,
            rows: 1,
            ..size
        };
        assert_eq!((unknown.picture_rows(), unknown.pixels()), (1, (800, 16)));
    }
}
