//! The amount of a Lightning invoice.
//!
//! Only the *human-readable part* with the amount, and the checksum over the whole invoice, are parsed; a zap needs no
//! more.

use bech32::{Bech32, Checksum, primitives::decode::CheckedHrpstring};
use market::units::Msats;

use crate::malformed::Malformed;

/// Longest invoice, bytes.
pub const INVOICE_MAX: usize = 16 * 1024;

/// The checksum of bech32 without its limit of 90 letters (BOLT 11).
enum InvoiceChecksum {}

impl Checksum for InvoiceChecksum {
    type MidstateRepr = u32;
    const CODE_LENGTH: usize = INVOICE_MAX;
    const CHECKSUM_LENGTH: usize = Bech32::CHECKSUM_LENGTH;
    const GENERATOR_SH: [u32; 5] = Bech32::GENERATOR_SH;
    const TARGET_RESIDUE: u32 = Bech32::TARGET_RESIDUE;
}

/// The amount of an invoice for the Bitcoin main chain. `None` if the payer may choose it.
///
/// # Errors
/// The text is not such an invoice, or its checksum or amount is invalid.
pub fn amount(invoice: &str) -> Result<Option<Msats>, Malformed> {
    if invoice.len() > INVOICE_MAX {
        return Err(Malformed("too-long"));
    }
    let parsed =
        CheckedHrpstring::new::<InvoiceChecksum>(invoice).map_err(|_| Malformed("not-bech32"))?;
    let readable = parsed.hrp().to_lowercase();
    let amount = readable
        .strip_prefix("lnbc")
        .ok_or(Malformed("not-an-invoice"))?;
    if amount.is_empty() {
        return Ok(None);
    }
    millisats(amount).map(Some).ok_or(Malformed("amount"))
}

/// Parses an amount in bitcoins with an optional multiplier.
fn millisats(amount: &str) -> Option<Msats> {
    let (digits, multiplier) = match amount.strip_suffix(['m', 'u', 'n', 'p']) {
        Some(digits) => (digits, amount.as_bytes().last()?),
        None => (amount, &b' '),
    };
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let number: u64 = digits.parse().ok()?;
    let millisats = match multiplier {
        b'm' => number.checked_mul(100_000_000)?,
        b'u' => number.checked_mul(100_000)?,
        b'n' => number.checked_mul(100)?,
        // Less than a millisat cannot be paid.
        b'p' if number.is_multiple_of(10) => number / 10,
        b'p' => return None,
        _ => number.checked_mul(100_000_000_000)?,
    };
    Some(Msats(millisats))
}
