//! The amount of a Lightning invoice.
//!
//! Only the *human-readable part*, which holds the amount, and the checksum over the whole invoice
//! are read: a zap needs no more, and the rest belongs to those who pay.

use market::units::Msats;

use crate::malformed::Malformed;

/// Longest invoice that is read, bytes.
pub const INVOICE_MAX: usize = 16 * 1024;

/// Symbols of the checksum.
const CHECKSUM_LEN: usize = 6;

const ALPHABET: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

/// Reads the amount of an invoice for the Bitcoin main chain; none if the payer may choose it.
///
/// # Errors
/// The text is no such invoice, its checksum is wrong, or its amount is.
pub fn amount(invoice: &str) -> Result<Option<Msats>, Malformed> {
    if invoice.len() > INVOICE_MAX {
        return Err(Malformed("too-long"));
    }
    let has = |wanted: fn(&u8) -> bool| invoice.as_bytes().iter().any(wanted);
    if has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) {
        return Err(Malformed("mixed-case"));
    }
    let invoice = invoice.to_ascii_lowercase();
    let (readable, data) = invoice
        .rsplit_once('1')
        .ok_or(Malformed("not-an-invoice"))?;
    if !has_checksum(readable, data) {
        return Err(Malformed("checksum"));
    }
    let amount = readable
        .strip_prefix("lnbc")
        .ok_or(Malformed("not-an-invoice"))?;
    if amount.is_empty() {
        return Ok(None);
    }
    millisats(amount).map(Some).ok_or(Malformed("amount"))
}

/// Reads digits with an optional multiplier; they count bitcoins.
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
        // A tenth of a millisat cannot be paid.
        b'p' if number.is_multiple_of(10) => number / 10,
        b'p' => return None,
        _ => number.checked_mul(100_000_000_000)?,
    };
    Some(Msats(millisats))
}

fn has_checksum(readable: &str, data: &str) -> bool {
    if data.len() < CHECKSUM_LEN || readable.is_empty() || !readable.is_ascii() {
        return false;
    }
    let high = readable.bytes().map(|byte| byte >> 5);
    let low = readable.bytes().map(|byte| byte & 31);
    let mut state = high.chain([0]).chain(low).fold(1, step);
    for byte in data.bytes() {
        let Some(symbol) = ALPHABET.iter().position(|symbol| *symbol == byte) else {
            return false;
        };
        state = step(state, u8::try_from(symbol).expect("there are 32 symbols"));
    }
    state == 1
}

/// One step of the checksum of BIP-173.
fn step(state: u32, symbol: u8) -> u32 {
    const GENERATOR: [u32; 5] = [
        0x3b6a_57b2,
        0x2650_8e6d,
        0x1ea1_19fa,
        0x3d42_33dd,
        0x2a14_62b3,
    ];
    let top = state >> 25;
    let shifted = (state & 0x01ff_ffff) << 5 ^ u32::from(symbol);
    GENERATOR
        .iter()
        .enumerate()
        .filter(|(bit, _)| top >> bit & 1 == 1)
        .fold(shifted, |state, (_, generator)| state ^ generator)
}
