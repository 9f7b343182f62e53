//! The examples of the manual, and the wirings of the known boards.

use std::{fs, path::Path, time::Duration};

use board::{
    parts::{
        epaper::{FullWaveform, PanelRotation, Setup, find},
        ws2812::{ColourOrder, LedChannels},
    },
    spec,
    wiring::{
        self, BASES, FrontlightWiring, LineLocation, Mistake, Sense, Side, StripWiring, WiringLine,
        read,
    },
};

/// Parses a text without mistakes.
pub fn good(text: &str) -> wiring::Wiring {
    match read(text) {
        Ok(file) => file.wiring,
        Err(mistakes) => panic!("{}", messages(&mistakes)),
    }
}

pub fn messages(mistakes: &[Mistake]) -> String {
    mistakes
        .iter()
        .map(|mistake| format!("{mistake}\n"))
        .collect()
}

#[test]
fn all_examples_are_valid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/wiring");
    let mut names = Vec::new();
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            let wiring = good(&fs::read_to_string(&path).unwrap());
            assert_eq!(wiring.id, path.file_stem().unwrap().to_str().unwrap());
            names.push(wiring.id);
        }
    }
    names.sort();
    assert_eq!(
        names,
        [
            "inky-what",
            "pi-one-panel",
            "pi-seven-panels",
            "rev-a",
            "rev-b",
            "v8",
            "waveshare-2.13-v4",
            "waveshare-4.2-v2",
            "waveshare-4.26",
            "waveshare-5.79",
            "waveshare-5.83-v2",
            "waveshare-7.3-e",
            "waveshare-7.3-f",
            "waveshare-7.5-v2"
        ]
    );
}

#[test]
fn the_known_boards_have_their_wirings() {
    let line = |name: &str, pin| LineLocation::Expander {
        name: name.into(),
        pin,
    };
    for (name, _) in BASES {
        assert_eq!(wiring::base(name).unwrap().id, *name);
    }
    let rev_a = wiring::base("rev-a").unwrap();
    let rev_b = wiring::base("rev-b").unwrap();
    assert_eq!(rev_a.panels[4].select, WiringLine::named("GPIO33"));
    assert_eq!(rev_b.panels[4].select, WiringLine::named("GPIO38"));
    assert_eq!(rev_b.panels[6].reset.place, line("exp1", 14));
    assert_eq!(rev_b.strip.as_ref().unwrap().begins, Side::Right);
    assert_eq!(rev_b.frontlight.as_ref().unwrap().first, 1);
    assert_eq!(rev_b.sensor.unwrap().addresses, [0x5C, 0x23]);
    assert!(rev_a.frontlight.is_none() && rev_a.sensor.is_none());
    let v8 = wiring::base("v8").unwrap();
    assert_eq!(v8.panels.len(), 8);
    assert_eq!(v8.panels[7].busy.place, line("exp1", 4));
    assert_eq!(v8.expanders[1].address, 0x21);
    assert!(wiring::base("rev-c").is_none());
}

#[test]
fn a_file_with_a_base_has_only_the_differences() {
    let wiring = good(
        r#"
base = "rev-b"
id = "mine"
spi.device = "/dev/spidev1.0"
strip = "none"
sensor = "none"

[every-panel]
rotation = 0
stagger-ms = 50

[[panel]]
[[panel]]
select = "!chip:pinctrl-rp1/27"
"#,
    );
    assert_eq!(wiring.id, "mine");
    assert_eq!(wiring.name, "Rev B");
    assert_eq!(wiring.spi.device, "/dev/spidev1.0");
    assert_eq!(wiring.spi.hz, 10_000_000);
    assert!(wiring.strip.is_none() && wiring.sensor.is_none());
    assert!(wiring.frontlight.is_some());
    assert_eq!(wiring.panels.len(), 7);
    assert_eq!(wiring.panels[0].select, WiringLine::named("GPIO2"));
    assert_eq!(
        wiring.panels[1].select,
        WiringLine {
            place: LineLocation::Numbered {
                chip: "pinctrl-rp1".into(),
                offset: 27
            },
            sense: Sense::Inverted,
        }
    );
    assert_eq!(wiring.panels[1].busy, WiringLine::named("GPIO5"));
    for panel in &wiring.panels {
        assert_eq!(panel.rotation, PanelRotation::Upright);
        assert_eq!(panel.stagger, Duration::from_millis(50));
    }
}

/// The shortest valid file.
const ONE_PANEL: &str = r#"
[spi]
device = "/dev/spidev0.0"
command = "gpio:DC"
[[panel]]
model = "gdey0213b74"
select = "gpio:CS"
busy = "gpio:BUSY"
reset = "gpio:RST"
"#;

#[test]
fn omitted_values_have_defaults() {
    let wiring = good(ONE_PANEL);
    assert_eq!(
        (wiring.id.as_str(), wiring.name.as_str()),
        ("custom", "Custom")
    );
    assert_eq!(wiring.spi.hz, 10_000_000);
    assert_eq!(wiring.panels[0].rotation, PanelRotation::UpsideDown);
    assert_eq!(wiring.care.partials_max, 200);
    assert_eq!(wiring.care.full_every, Duration::from_secs(24 * 60 * 60));
    assert!(wiring.i2c.is_none() && wiring.buttons.is_none());
    let wiring = good(&format!(
        "{ONE_PANEL}[i2c]\ndevice = \"/dev/i2c-1\"\n[strip]\ndevice = \"/dev/spidev1.0\"\n\
         [frontlight]\naddress = 0x42\n[sensor]\n"
    ));
    assert_eq!(wiring.i2c.unwrap().hz, 100_000);
    assert_eq!(
        wiring.strip,
        Some(StripWiring {
            device: "/dev/spidev1.0".into(),
            hz: 3_200_000,
            count: 4,
            order: ColourOrder::Grb,
            channels: LedChannels::Three,
            begins: Side::Left,
        })
    );
    assert_eq!(
        wiring.frontlight,
        Some(FrontlightWiring {
            address: 0x42,
            first: 0,
            hz: 1000,
            enable: None,
        })
    );
    assert_eq!(wiring.sensor.unwrap().addresses, [0x5C, 0x23]);
}

#[test]
fn values_of_a_file_override_the_defaults() {
    let wiring = good(
        r#"
base = "rev-b"
i2c.hz = 50_000
every-panel = { model = "gdey029t94", rotation = 0, x-offset = 1, full = "d7" }
strip = { device = "/dev/spidev2.0", hz = 3_000_000, count = 9, order = "rgb", white = true, begins = "left" }
frontlight = { address = 0x43, first-output = 2, hz = 500, enable = "gpio:OE" }
sensor.addresses = [0x23]
"#,
    );
    assert_eq!(wiring.i2c.unwrap().hz, 50_000);
    for panel in &wiring.panels {
        assert_eq!(
            panel.setup(),
            Setup {
                model: find("gdey029t94").unwrap(),
                rotation: PanelRotation::Upright,
                x_offset: 1,
                full: FullWaveform::Warm,
            }
        );
    }
    assert_eq!(
        wiring.strip,
        Some(StripWiring {
            device: "/dev/spidev2.0".into(),
            hz: 3_000_000,
            count: 9,
            order: ColourOrder::Rgb,
            channels: LedChannels::Four,
            begins: Side::Left,
        })
    );
    assert_eq!(
        wiring.frontlight,
        Some(FrontlightWiring {
            address: 0x43,
            first: 2,
            hz: 500,
            enable: Some(WiringLine::named("OE")),
        })
    );
    assert_eq!(wiring.sensor.unwrap().addresses, [0x23]);
}

#[test]
fn the_size_of_a_clock_follows_from_its_panels() {
    for (model, size, hardware) in [
        ("gdem0213b74", (122, 250), "Rev B, 7 x 2.13 in"),
        ("gdey029t94", (128, 296), "Rev B, 7 x 2.9 in"),
    ] {
        let wiring = good(&format!(
            "base = \"rev-b\"\nevery-panel.model = {model:?}\n"
        ));
        let spec = spec::wired(&wiring).unwrap();
        assert_eq!((spec.panel_width, spec.panel_height), size, "{model}");
        assert_eq!(spec.hardware, hardware);
    }
}

#[test]
fn limits_of_partial_refreshes_are_parsed() {
    let care_of = |care: &str| good(&format!("{ONE_PANEL}[care]\n{care}\n")).care;
    let care = care_of("full-after-partials = 30\nfull-every-hours = 3");
    assert_eq!(care.partials_max, 30);
    assert_eq!(care.full_every, Duration::from_secs(10_800));
    assert!(care_of("full-every-hours = 0").full_every.is_zero());
}

#[test]
fn a_drawing_has_every_wire() {
    for (name, text) in BASES {
        let file = read(text).unwrap();
        let text = wiring::drawing::text(&file);
        let picture = wiring::drawing::svg(&file);
        for used in &file.lines {
            let line = used.line.to_string();
            assert!(text.contains(&line), "{name}: {line}\n{text}");
            assert!(picture.contains(&line), "{name}: {line}");
        }
        for device in file.wiring.devices() {
            assert!(text.contains(device) && picture.contains(device));
        }
        assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
    }
    let file = read(BASES[1].1).unwrap();
    let text = wiring::drawing::text(&file);
    assert!(text.contains(
        "\nPanel 2, gdey0213b74\n  select         gpio:GPIO4\n  busy           gpio:GPIO5\n"
    ));
    // The first button is 1, as on the page and in the settings.
    assert!(text.contains(
        "\nButtons\n  button 1       exp1:0\n  button 2       exp1:1\n  \
         button 3       exp1:2\n  button 4       exp1:3\n"
    ));
    let file = read("base = \"rev-a\"\nname = \"<b>&\"\n").unwrap();
    assert!(wiring::drawing::svg(&file).contains("&lt;b&gt;&amp;"));
}

#[test]
fn entries_for_every_panel_replace_those_of_the_base_for_each() {
    let wiring = good(
        "base = \"rev-a\"\nexpander = \"none\"\ni2c = \"none\"\nbuttons = \"none\"\n\
        [every-panel]\nreset = \"gpio:RST\"\n[[panel]]\n[[panel]]\nrotation = 0\n",
    );
    assert!(wiring.expanders.is_empty());
    for panel in &wiring.panels {
        assert_eq!(panel.reset, WiringLine::named("RST"));
    }
    assert_eq!(wiring.panels[1].rotation, PanelRotation::Upright);
    assert_eq!(wiring.panels[6].select, WiringLine::named("GPIO17"));
    let wiring = good(
        "base = \"rev-a\"\nexpander.exp1 = \"none\"\nbuttons = \"none\"\nevery-panel.reset = \"gpio:RST\"\n",
    );
    assert!(wiring.expanders.is_empty());
}

#[test]
fn a_clock_has_the_lights_and_the_sensor_of_its_wiring() {
    for (without, expected) in [
        ("", (9, true, true)),
        ("strip = \"none\"", (0, true, true)),
        ("frontlight = \"none\"", (9, false, true)),
        ("sensor = \"none\"", (9, true, false)),
    ] {
        let strip = if without.starts_with("strip") { "" } else { "strip.count = 9" };
        let wiring = good(&format!("base = \"rev-b\"\n{without}\n{strip}\n"));
        let spec = spec::wired(&wiring).unwrap();
        let has = (spec.leds, spec.frontlight, spec.light_sensor);
        assert_eq!(has, expected, "{without}");
        assert_eq!((spec.id, spec.name, spec.panels), ("rev-b", "Rev B", 7));
    }
}
