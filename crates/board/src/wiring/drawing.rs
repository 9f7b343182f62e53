//! Draws a wiring as text and as a picture.

use std::fmt::Write;

use super::{Wiring, WiringFile};

#[derive(Debug, Clone, PartialEq, Eq)]
struct Wire {
    role: String,
    /// The line or bus of the host.
    from: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct DrawnPart {
    title: String,
    wires: Vec<Wire>,
}

/// The wiring as text: a paragraph for each part.
pub fn text(file: &WiringFile) -> String {
    let wiring = &file.wiring;
    let mut text = format!("{} ({})\n", wiring.name, wiring.id);
    for part in parts(wiring) {
        let _ = write!(text, "\n{}\n", part.title);
        for wire in part.wires {
            let _ = writeln!(text, "  {:<14} {}", wire.role, wire.from);
        }
    }
    text
}

/// Height of a line of the picture, px.
const ROW: usize = 20;

/// Start and end of a wire in the picture, px.
const WIRE: (usize, usize) = (250, 420);

/// Width of the picture, px.
const WIDTH: usize = 720;

/// The wiring as an SVG picture: the host on the left, the parts on the right, a wire for each line.
pub fn svg(file: &WiringFile) -> String {
    let wiring = &file.wiring;
    let mut body = String::new();
    let mut y = 2 * ROW;
    label(&mut body, 20, y, "start", &wiring.name, "title");
    y += ROW;
    for part in parts(wiring) {
        let height = (part.wires.len() + 1) * ROW + ROW / 2;
        let _ = writeln!(
            body,
            r#"<rect x="{}" y="{y}" width="{}" height="{height}" rx="4"/>"#,
            WIRE.1,
            WIDTH - WIRE.1 - 20
        );
        label(
            &mut body,
            WIRE.1 + 10,
            y + ROW - 4,
            "start",
            &part.title,
            "part",
        );
        for (index, wire) in part.wires.iter().enumerate() {
            let row = y + (index + 2) * ROW - 6;
            let middle = row - 4;
            label(&mut body, WIRE.0 - 10, row, "end", &wire.from, "place");
            label(&mut body, WIRE.1 + 20, row, "start", &wire.role, "role");
            let _ = writeln!(body, r#"<path d="M{} {middle}H{}"/>"#, WIRE.0, WIRE.1 + 12);
        }
        y += height + ROW / 2;
    }
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{0}" viewBox="0 0 {WIDTH} {0}">
<style>text{{font:13px sans-serif;fill:#222}}.title{{font-size:18px}}.part{{font-weight:bold}}.place{{font-family:monospace}}
rect{{fill:#f4f4f0;stroke:#888}}path{{stroke:#06c;stroke-width:1.5}}</style>
<rect x="0" y="0" width="{WIDTH}" height="{0}" style="fill:#fff;stroke:none"/>
{body}</svg>
"##,
        y + ROW
    )
}

fn label(body: &mut String, x: usize, y: usize, anchor: &str, text: &str, class: &str) {
    let text = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let _ = writeln!(
        body,
        r#"<text x="{x}" y="{y}" text-anchor="{anchor}" class="{class}">{text}</text>"#
    );
}

fn wire(role: &str, from: impl ToString) -> Wire {
    Wire {
        role: role.to_owned(),
        from: from.to_string(),
    }
}

/// All parts, the buses first.
fn parts(wiring: &Wiring) -> Vec<DrawnPart> {
    let mut parts = Vec::new();
    let mut part = |title: String, wires: Vec<Wire>| parts.push(DrawnPart { title, wires });
    let mut bus = vec![
        wire("clock, data", &wiring.spi.device),
        wire("data/command", &wiring.spi.command),
    ];
    bus.extend(wiring.spi.power.iter().map(|line| wire("power", line)));
    part(format!("All panels, {} kHz", wiring.spi.hz / 1000), bus);
    for (index, panel) in wiring.panels.iter().enumerate() {
        let title = format!("Panel {}, {}", index + 1, panel.model.id);
        part(
            title,
            vec![
                wire("select", &panel.select),
                wire("busy", &panel.busy),
                wire("reset", &panel.reset),
            ],
        );
    }
    let i2c = wiring.i2c.as_ref().map_or("", |i2c| &i2c.device);
    for expander in &wiring.expanders {
        let mut wires = vec![wire("clock, data", i2c)];
        wires.extend(expander.reset.iter().map(|line| wire("reset", line)));
        wires.extend(
            expander
                .interrupt
                .iter()
                .map(|line| wire("interrupt", line)),
        );
        let (name, address) = (&expander.name, expander.address);
        part(
            format!("Expander {name}, MCP23017 at {address:#04X}"),
            wires,
        );
    }
    if let Some(strip) = &wiring.strip {
        let title = format!("Strip of {} LEDs, {} kHz", strip.count, strip.hz / 1000);
        part(title, vec![wire("data", &strip.device)]);
    }
    if let Some(frontlight) = &wiring.frontlight {
        let mut wires = vec![wire("clock, data", i2c)];
        wires.extend(frontlight.enable.iter().map(|line| wire("enable", line)));
        let address = frontlight.address;
        part(format!("Frontlight, PCA9685 at {address:#04X}"), wires);
    }
    if let Some(sensor) = &wiring.sensor {
        let at: Vec<String> = sensor
            .addresses
            .iter()
            .map(|address| format!("{address:#04X}"))
            .collect();
        let title = format!("Light sensor, BH1750 at {}", at.join(" or "));
        part(title, vec![wire("clock, data", i2c)]);
    }
    if let Some(buttons) = &wiring.buttons {
        let wires = buttons.lines.iter().enumerate();
        let wires = wires.map(|(index, line)| wire(&format!("button {}", index + 1), line));
        part("Buttons".into(), wires.collect());
    }
    parts
}
