//! `papertick wiring detect`: names the connected panel, and what the host lacks for panels.

use std::{fmt::Write as _, path::Path};

use board::{
    assembly::Hardware,
    linux::{self, Linux},
    parts::inky::{self, Inky},
    wiring::{self, BusKind, DeviceFile, HostParts},
};
use clap::Args;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{failure::Failure, standard_output::print};

/// The flags of `wiring detect`.
#[derive(Debug, Args)]
pub struct DetectArgs {
    /// Print a JSON document
    #[arg(long)]
    json: bool,
}

pub(super) const EXAMPLES: &str = "\
Examples:
  papertick wiring detect
  papertick wiring detect --json

Only Inky boards say what they are. The exit code is 0 if a panel is recognised and papertick can drive it, else 1.";

const NO_GPIO: &str = "this computer has no GPIO (there is no /dev/gpiochip0): use this command on the computer of the panel";

/// A board with the wiring of most HATs, to check a host with an unknown one.
const COMMON_BOARD: &str = "waveshare-2.13-v4";

/// What was found.
#[derive(Debug)]
struct Detection {
    parts: HostParts,
    /// The board that says what it is; why none does.
    inky: Result<Inky, String>,
    /// What is to be done before panels can be used.
    tasks: Vec<String>,
}

/// Prints what this host has for panels, and which panel is connected.
///
/// # Errors
/// No panel is recognised, or papertick cannot drive it.
pub(super) fn run(args: &DetectArgs) -> Result<(), Failure> {
    let parts = HostParts::find(Path::new("/"));
    if parts.gpio.is_empty() {
        return Err(Failure::failed(NO_GPIO));
    }
    let inky = find_inky(&parts);
    let wiring = format!("base = {:?}", preset(&inky).unwrap_or(COMMON_BOARD));
    let mistakes = wiring::read_for_host(&wiring).err().unwrap_or_default();
    let found = Detection {
        parts,
        inky,
        tasks: mistakes.into_iter().map(|mistake| mistake.what).collect(),
    };
    if args.json {
        print(&format!("{:#}\n", document(&found)))?;
    } else {
        print(&summary(&found))?;
    }
    preset(&found.inky).map(|_| ()).map_err(Failure::failed)
}

/// Reads the description of an Inky board.
///
/// # Errors
/// There is none, or it cannot be read; why, as a sentence.
fn find_inky(parts: &HostParts) -> Result<Inky, String> {
    if !parts.is_raspberry_pi() {
        return Err("Inky boards are looked for on a Raspberry Pi only".into());
    }
    let device = DeviceFile {
        path: inky::BUS.into(),
        kind: BusKind::I2c,
        line: None,
    };
    if let Some(mistake) = wiring::devices(&[device], Path::new("/")).pop() {
        return Err(format!("no Inky board can be looked for: {mistake}"));
    }
    let mut bus = Linux(Instant::now()).i2c(inky::BUS)?;
    inky::read(&mut bus).map_err(|error| error.to_string())
}

/// The preset that serves the panel.
///
/// # Errors
/// None does; why and what to do, as a sentence.
fn preset(inky: &Result<Inky, String>) -> Result<&'static str, String> {
    let inky = inky.as_ref().map_err(|why| {
        let names: Vec<&str> = wiring::displays().collect();
        format!(
            "no panel is recognised: {why}. Other panels do not say what they are: if yours is one of {}, \
             use `papertick wiring test NAME`, then `papertick run --display NAME`",
            names.join(", ")
        )
    })?;
    let cannot = |why: &str| format!("papertick cannot drive the {}: {why}", inky.name);
    let preset = inky.preset.map_err(cannot)?;
    let size = wiring::base(preset).map(|wiring| wiring.panels[0].size());
    if size != Some((inky.width, inky.height)) {
        return Err(cannot("its EEPROM names another size"));
    }
    Ok(preset)
}

fn summary(found: &Detection) -> String {
    let parts = &found.parts;
    let mut text = String::new();
    let panel = match &found.inky {
        Ok(inky) => vec![format!("{}, {} x {}", inky.name, inky.width, inky.height)],
        Err(_) => vec!["not recognised".into()],
    };
    for (name, values) in [
        ("Computer", parts.computer.clone().into_iter().collect()),
        ("SPI", with_users(&parts.spi)),
        ("I2C", with_users(&parts.i2c)),
        ("GPIO", parts.gpio.clone()),
        ("Panel", panel),
    ] {
        let values = if values.is_empty() { "none".into() } else { values.join(", ") };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:8}  {values}");
    }
    if !found.tasks.is_empty() {
        text.push_str("\nTo do:\n");
    }
    for task in &found.tasks {
        let _ = writeln!(text, "  {task}");
    }
    if let Ok(preset) = preset(&found.inky) {
        let _ = writeln!(text, "\nStart the clock: papertick run --display {preset}");
    }
    text
}

/// Device files, each with the programs that use it.
fn with_users(devices: &[String]) -> Vec<String> {
    let with_users =
        |device: &String| match linux::users(Path::new(device), Path::new("/")).as_slice() {
            [] => device.clone(),
            users => format!("{device} in use by {}", users.join(" and ")),
        };
    devices.iter().map(with_users).collect()
}

fn document(found: &Detection) -> Value {
    let parts = &found.parts;
    let inky = found.inky.as_ref().ok().map(|inky| {
        let Inky {
            code,
            name,
            width,
            height,
            ..
        } = inky;
        json!({ "code": code, "name": name, "width": width, "height": height })
    });
    let preset = preset(&found.inky);
    json!({
        "computer": parts.computer,
        "spi": parts.spi,
        "i2c": parts.i2c,
        "gpio": parts.gpio,
        "inky": inky,
        "preset": preset.as_ref().ok(),
        "why": preset.as_ref().err(),
        "toDo": found.tasks,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use expect_test::expect;

    use super::*;

    fn detection(inky: Result<Inky, String>) -> Detection {
        Detection {
            parts: HostParts {
                computer: Some("Raspberry Pi 4 Model B Rev 1.4".into()),
                spi: Vec::new(),
                i2c: vec!["/dev/i2c-1".into()],
                gpio: vec!["/dev/gpiochip0".into(), "/dev/gpiochip1".into()],
            },
            inky,
            tasks: vec!["there is no /dev/spidev0.0; enable the bus".into()],
        }
    }

    #[test]
    fn a_board_that_is_served_has_a_preset() {
        let inky = Inky {
            code: 17,
            name: "Inky wHAT, black (SSD1683)",
            width: 400,
            height: 300,
            preset: Ok("inky-what"),
        };
        let refused = Inky {
            preset: Err("it is slow"),
            ..inky
        };
        expect![[r"
            Computer  Raspberry Pi 4 Model B Rev 1.4
            SPI       none
            I2C       /dev/i2c-1
            GPIO      /dev/gpiochip0, /dev/gpiochip1
            Panel     Inky wHAT, black (SSD1683), 400 x 300

            To do:
              there is no /dev/spidev0.0; enable the bus

            Start the clock: papertick run --display inky-what
        "]]
        .assert_eq(&summary(&detection(Ok(inky))));
        let document = document(&detection(Ok(inky)));
        assert_eq!(document["preset"], "inky-what");
        assert_eq!(document["inky"]["code"], 17);
        let larger = Inky { width: 800, ..inky };
        let why = preset(&Ok(larger)).unwrap_err();
        assert!(why.ends_with("its EEPROM names another size"), "{why}");
        let why = preset(&Ok(refused)).unwrap_err();
        assert_eq!(
            why,
            "papertick cannot drive the Inky wHAT, black (SSD1683): it is slow"
        );
    }

    #[test]
    fn a_panel_that_is_not_recognised_is_to_be_named() {
        let found = detection(Err("no Inky board answers".into()));
        assert!(summary(&found).contains("\nPanel     not recognised\n"));
        let document = document(&found);
        assert_eq!(document["preset"], Value::Null);
        let why = document["why"].as_str().unwrap();
        assert!(why.contains("no Inky board answers. Other panels"), "{why}");
    }
}
