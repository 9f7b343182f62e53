//! Parses the numbers on the panels, as a viewer would read them.

use device::cells::Cell;

/// A number on the panels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reading {
    /// All digits, without the dot.
    digits: u128,
    /// Digits after the dot.
    decimals: u32,
    /// Value of the letter after it; 1 without a letter.
    pub(crate) unit: u128,
    /// Only a limit: the value is below it.
    is_limit: bool,
}

impl Reading {
    /// Reads the digits of panels. `None` if there are none.
    ///
    /// Skips signs before the number. Panics on a gap or any other cell.
    pub(crate) fn of(cells: &[Cell]) -> Option<Reading> {
        let shown: Vec<&Cell> = cells
            .iter()
            .skip_while(|cell| **cell == Cell::Blank)
            .collect();
        assert!(!shown.contains(&&Cell::Blank), "a gap in {cells:?}");
        let text: String = shown.into_iter().map(text).collect();
        (!text.is_empty())
            .then(|| Reading::parse(text.trim_start_matches(['$', '€', '£', '¥', '₿'])))
    }

    fn parse(text: &str) -> Reading {
        let (number, unit) = match text.char_indices().last().unwrap() {
            (end, 'K') => (&text[..end], 1000),
            (end, 'M') => (&text[..end], 1_000_000),
            (end, 'B') => (&text[..end], 1_000_000_000),
            (end, 'T') => (&text[..end], 1_000_000_000_000),
            (end, 'Q') => (&text[..end], 1_000_000_000_000_000),
            (end, '%') => (&text[..end], 1),
            _ => (text, 1),
        };
        let (number, is_limit) = match number.strip_prefix('<') {
            Some(limit) => (limit, true),
            None => (number, false),
        };
        let decimals = number
            .split_once('.')
            .map_or("", |(_, decimals)| decimals)
            .len();
        let digits = number
            .replacen('.', "", 1)
            .parse()
            .unwrap_or_else(|_| panic!("{text:?}?"));
        Reading {
            digits,
            decimals: decimals.try_into().unwrap(),
            unit,
            is_limit,
        }
    }

    /// Returns whether this is `value / unit` rounded, within half of the last digit.
    pub(crate) fn is_nearest(self, value: u128, unit: u128) -> bool {
        let (shown, exact, step) = self.scaled(value, unit);
        if self.is_limit { exact < shown } else { 2 * shown.abs_diff(exact) <= step }
    }

    /// Returns whether this is `value / unit` truncated, within one of the last digit.
    pub(crate) fn is_cut_off(self, value: u128, unit: u128) -> bool {
        let (shown, exact, step) = self.scaled(value, unit);
        shown <= exact && exact - shown < step
    }

    /// The shown value, the true value, and the weight of the last digit, in a common unit.
    fn scaled(self, value: u128, unit: u128) -> (u128, u128, u128) {
        let step = self.unit * unit;
        (self.digits * step, value * 10u128.pow(self.decimals), step)
    }
}

fn text(cell: &Cell) -> String {
    match cell {
        Cell::Digit(text) | Cell::Tail(text) => text.clone(),
        Cell::Code(_) | Cell::Sats => String::new(),
        Cell::Blank
        | Cell::Label { .. }
        | Cell::Word(_)
        | Cell::Unit { .. }
        | Cell::Text { .. }
        | Cell::Split { .. }
        | Cell::Icon(_)
        | Cell::NamedIcon { .. }
        | Cell::Logo(_)
        | Cell::Block { .. }
        | Cell::Title(_)
        | Cell::Letter(_)
        | Cell::Qr(_) => panic!("{cell:?} among digits"),
    }
}
