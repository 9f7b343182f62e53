//! Helpers for the tests of painting.

#![allow(dead_code, unreachable_pub, reason = "each test uses a part")]

use std::time::Duration;

use device::{
    cells::{Cell, Picture, Style},
    screens::{debug::DebugFacts, provisioning::ProvisioningFacts},
    secret::{GeneratedPassword, GenerationReason, PasswordHash, Secret},
    settings::fonts::FontId,
};
use render::Bitmap;

/// Size of a panel, px.
pub const WIDTH: u16 = 122;
pub const HEIGHT: u16 = 250;

pub const STYLE: Style = Style {
    font: FontId::DEFAULT,
    digit_px: 180,
    label_fit_pct: 100,
    vertical_labels: true,
    inverted: false,
    sats_variant: 7,
};

/// A picture in the style of a new device.
pub fn picture(cells: Vec<Cell>) -> Picture {
    Picture::new(cells, STYLE)
}

pub const SAFE_MODE_REASON: &str =
    "The settings could not be read and were set aside; the clock runs on defaults.";

pub fn debug_facts() -> DebugFacts<'static> {
    DebugFacts {
        ip: "192.168.178.123",
        ssid: "FRITZ!Box 7590 XY",
        heap_free: Some(143_000),
        psram_free: Some(6_010_000),
        hardware: "Rev B",
        version: "4.0.0",
        build_date: "2026-11-20",
        uptime: Duration::from_secs(97_329),
    }
}

pub fn portal_facts() -> ProvisioningFacts<'static> {
    ProvisioningFacts {
        ssid: "papertick-1a2b3c",
        password: "kite-lamp-42",
        hostname: "papertick-1a2b3c",
        hardware: "Rev B",
        version: "4.0.0",
        build_date: "2026-11-20",
        portal: "192.168.4.1",
    }
}

pub fn generated_password() -> GeneratedPassword {
    GeneratedPassword {
        password: Secret::new("kmW4tQ7xdZ"),
        hash: PasswordHash::default(),
        reason: GenerationReason::SettingsLost,
    }
}

/// A rectangle of pixels, the last ones included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ink {
    pub left: u16,
    pub right: u16,
    pub top: u16,
    pub bottom: u16,
}

/// The smallest rectangle around all ink.
pub fn ink(bitmap: &Bitmap) -> Option<Ink> {
    let pixels = || {
        (0..bitmap.height())
            .flat_map(|y| (0..bitmap.width()).map(move |x| (x, y)))
            .filter(|&(x, y)| bitmap.is_ink(x, y))
    };
    Some(Ink {
        left: pixels().map(|(x, _)| x).min()?,
        right: pixels().map(|(x, _)| x).max()?,
        top: pixels().map(|(_, y)| y).min()?,
        bottom: pixels().map(|(_, y)| y).max()?,
    })
}
