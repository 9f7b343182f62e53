//! A generated password, shown because none is stored.

use alloc::{format, vec, vec::Vec};

use super::{prose, row};
use crate::{
    cells::Cell,
    secret::{GeneratedPassword, GenerationReason},
    tile::{Figure, Tile},
};

/// Height of the explanations, px.
const PX: u32 = 22;

/// Height of texts to type, px.
const DETAILS_PX: u32 = 26;

/// Why there is a password, what to type, and what to do then.
///
/// All of it is in blocks, which the status does not contain.
pub fn cells(user: &str, generated: &GeneratedPassword, panels: usize) -> Vec<Cell> {
    let why = match generated.reason {
        GenerationReason::SettingsLost => "The settings could not be read, so the page is locked.",
        GenerationReason::NoneStored => "The page is locked, and no password was stored for it.",
    };
    let cells = vec![
        Cell::label("SIGN", "IN"),
        prose::block([prose::wrapped(why)], PX),
        prose::block(
            [prose::wrapped(
                "Open the page and sign in with this name and this password.",
            )],
            PX,
        ),
        prose::block([prose::entry("Name", user)], DETAILS_PX),
        prose::block(
            [prose::entry("Password", generated.password.expose())],
            DETAILS_PX,
        ),
        prose::block(
            [prose::wrapped(
                "Then store a password of your own. This one ends with the next restart.",
            )],
            PX,
        ),
    ];
    row::left(cells, panels)
}

/// The password, and what to do with it.
pub fn tile(user: &str, generated: &GeneratedPassword) -> Tile {
    let password = Figure::text(generated.password.expose());
    Tile::new(["Sign-in"], Vec::from([password]))
        .line([
            format!("Open the page and sign in as {user} with this password"),
            format!("Sign in as {user}"),
        ])
        .line(["Then store a password of your own", "Then store your own"])
}
