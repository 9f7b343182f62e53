//! Limits of what clients send.

use core::ops::RangeInclusive;

/// Largest body of an operation without its own limit, bytes.
pub const SMALL_BODY_MAX: usize = 1024;

/// Largest body with a file of settings, bytes.
pub const IMPORT_BODY_MAX: usize = 160 * 1024;

/// Lines of the log that are kept.
pub const LOG_LINES: usize = 100;

/// Largest body with log lines of a remote display, bytes.
pub const DISPLAY_LOG_BODY_MAX: usize = 16 * 1024;

/// Largest body with a text per panel, bytes.
pub const CUSTOM_BODY_MAX: usize = 8192;

/// Longest message of a simulated zap, bytes.
pub const ZAP_MESSAGE_MAX: usize = 256;

/// Heights of glyphs that a text per panel can have, px.
pub const GLYPH_PX: RangeInclusive<u32> = 20..=220;

/// The word that confirms a factory reset.
pub const CONFIRMATION: &str = "factory_reset";

/// Largest body of a text for all panels, bytes. Home Assistant sends up to 255 characters, and escapes each one outside of
/// ASCII with 6 bytes, or 12 for a surrogate pair.
pub const TEXT_BODY_MAX: usize = 4 * 1024;
