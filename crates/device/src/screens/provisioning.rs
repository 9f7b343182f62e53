//! Shown while the access point is up: how to connect the clock to a network.

use alloc::{format, string::String, vec, vec::Vec};

use super::{prose, row};
use crate::{
    cells::Cell,
    spoken::{Sentence, SentenceTemplate},
    tile::{Figure, Graph, Tile},
};

const PROVISIONING: SentenceTemplate =
    SentenceTemplate::new("The clock waits to be brought into a network: join its Wi-Fi {ssid}.");

/// Height of instructions, px.
const PX: u32 = 22;

/// Height of texts to type or to read, px.
const DETAILS_PX: u32 = 18;

/// What the panels show while the access point is up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProvisioningFacts<'a> {
    /// Name of the access point.
    pub ssid: &'a str,
    /// Its password; empty for an open one.
    pub password: &'a str,
    /// Host name the clock will have.
    pub hostname: &'a str,
    /// Name of the board.
    pub hardware: &'a str,
    /// Version of the firmware.
    pub version: &'a str,
    /// Date of the build.
    pub build_date: &'a str,
    /// Address of the portal, such as `192.168.4.1`.
    pub portal: &'a str,
}

/// Instructions in two languages, the credentials, the device, and a QR code for joining.
///
/// On seven panels the portal's address shares a panel with the credentials.
pub fn cells(facts: &ProvisioningFacts<'_>, panels: usize) -> Vec<Cell> {
    let url = format!("http:// {}", facts.portal);
    let details = [
        prose::entry("Wi-Fi", facts.ssid),
        prose::entry("Password", facts.password),
        prose::entry("Page", facts.portal),
    ];
    let about = [
        prose::entry("Name", facts.hostname),
        prose::entry("Board", facts.hardware),
        prose::entry("Version", facts.version),
        prose::entry("Built", facts.build_date),
    ];
    let cells = vec![
        Cell::Title("Hello".into()),
        Cell::Title("Hola".into()),
        instructions(
            "Scan the code,",
            "or join this Wi-Fi by hand and open the page",
        ),
        instructions(
            "Lee el código,",
            "o entra a mano en esta Wi-Fi y abre la página",
        ),
        prose::block(details, DETAILS_PX),
        // Without empty lines, because one panel has to hold it.
        prose::block([about.concat()], DETAILS_PX),
        Cell::Qr(join(facts.ssid, facts.password)),
        prose::block([prose::entry("Page", &url)], PX),
    ];
    row::left(cells, panels)
}

/// The name of the Wi-Fi to join, its password, the address of the portal, and a QR code for joining.
pub fn tile(facts: &ProvisioningFacts<'_>) -> Tile {
    let how = match facts.password {
        "" => Vec::from([
            "Scan the code, or join this Wi-Fi".into(),
            "Join this Wi-Fi".into(),
        ]),
        password => Vec::from([
            format!("Scan the code, or join this Wi-Fi with the password {password}"),
            format!("Join this Wi-Fi, password {password}"),
            format!("Password {password}"),
        ]),
    };
    let portal = facts.portal;
    Tile {
        graph: Some(Graph::Qr(join(facts.ssid, facts.password))),
        ..Tile::new(["Set-up"], Vec::from([Figure::text(facts.ssid)]))
            .line(how)
            .line([
                format!("Then open the page http://{portal}"),
                format!("http://{portal}"),
                portal.into(),
            ])
    }
}

/// The instructions as a sentence, without the password.
pub fn sentence(ssid: &str) -> Sentence {
    PROVISIONING.with("ssid", ssid)
}

fn instructions(first: &str, then: &str) -> Cell {
    prose::block([prose::wrapped(first), prose::wrapped(then)], PX)
}

/// Content of the QR code with which phones join a network.
pub fn join(ssid: &str, password: &str) -> String {
    let ssid = escaped(ssid);
    match password {
        "" => format!("WIFI:T:nopass;S:{ssid};;"),
        _ => format!("WIFI:T:WPA;S:{ssid};P:{};;", escaped(password)),
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '\\' | ';' | ',' | ':' | '"') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}
