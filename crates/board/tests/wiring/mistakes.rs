//! Table of all mistakes in wiring files and their messages.

use board::{
    parts::epaper::MODELS,
    wiring::{FILE_MAX, read},
};

use crate::examples::messages;

/// A valid file, in which the rows replace parts.
const GOOD: &str = r#"id = "mine"
[spi]
device = "/dev/spidev0.0"
hz = 4_000_000
command = "gpio:GPIO25"
[i2c]
device = "/dev/i2c-1"
hz = 400_000
[expander.exp1]
address = 0x20
interrupt = "gpio:GPIO4"
[care]
full-after-partials = 100
[[panel]]
model = "gdey0213b74"
select = "gpio:GPIO8"
busy = "gpio:GPIO24"
reset = "gpio:GPIO17"
rotation = 180
[[panel]]
select = "exp1:8"
busy = "exp1:9"
reset = "gpio:GPIO17"
model = "gdem0213b74"
[strip]
device = "/dev/spidev1.0"
count = 4
[frontlight]
address = 0x42
enable = "exp1:12"
[sensor]
addresses = [0x5C, 0x23]
[buttons]
lines = ["exp1:0", "exp1:1", "exp1:2", "exp1:3"]
"#;

/// A part of the valid file, its replacement, and the start of each expected message.
#[rustfmt::skip]
const ROWS: &[(&str, &str, &[&str])] = &[
    // The form of the file.
    ("[spi]", "[spi", &["line 2: invalid TOML"]),
    ("id = \"mine\"", "base = \"rev-c\"", &["line 1: there is no such base; write base = one of rev-a, rev-b, v8"]),
    ("id = \"mine\"", "base = 7", &["line 1: there is no such base"]),
    ("id = \"mine\"", "idea = 1", &["line 1: the file has no `idea`: it has base, id, name, spi"]),
    ("id = \"mine\"", "id = \"\"", &["line 1: the file: `id`: invalid value: string \"\", expected 1 to 128 bytes without control characters"]),
    ("id = \"mine\"", "spy = 1\nname = 3", &["line 1: the file has no `spy`: it has base, id, name, spi, i2c, expander, every-panel, panel, care, strip, frontlight, sensor, buttons", "line 2: the file: `name`: invalid type: integer `3`, expected a string"]),
    ("[care]\n", "[care]\nfoo = 1\n", &["line 13: [care]: unknown field `foo`, expected one of `full-after-partials`, `full-every-hours`, `clear-at-stop`"]),
    ("full-after-partials = 100", "full-after-partials = -1", &["line 13: [care]: `full-after-partials`: invalid value: integer `-1`, expected u32"]),
    (
        "full-after-partials = 100",
        "full-after-partials = 1.5",
        &["line 13: [care]: `full-after-partials`: invalid type: floating point `1.5`, expected u32"],
    ),
    // The bus of the panels.
    ("device = \"/dev/spidev0.0\"\n", "", &["line 2: [spi]: missing field `device`"]),
    ("\"/dev/spidev0.0\"", "\"spidev0.0\"", &["line 3: [spi]: `device`: invalid value: string \"spidev0.0\", expected a file in /dev"]),
    ("hz = 4_000_000", "hz = 40_000_000", &["line 4: [spi]: `hz` is 40000000 where 100000 to 20000000 may be"]),
    ("hz = 4_000_000", "hz = 99999999999999999999", &["line 4: "]),
    ("hz = 4_000_000", "hz = \"fast\"", &["line 4: [spi]: `hz`: invalid type: string \"fast\", expected u32"]),
    ("command = \"gpio:GPIO25\"\n", "", &["line 2: [spi]: missing field `command`"]),
    ("id = \"mine\"\n[spi]", "[spy]", &["line 1: the file has no `spy`: it has base, id, name, spi, i2c, expander, every-panel, panel, care, strip, frontlight, sensor, buttons"]),
    // Lines.
    (
        "\"gpio:GPIO25\"",
        "\"GPIO25\"",
        &["line 5: [spi]: `command`: \"GPIO25\" is not gpio:NAME, chip:LABEL/OFFSET or EXPANDER:PIN"],
    ),
    ("\"gpio:GPIO25\"", "\"chip:pinctrl\"", &["line 5: [spi]: `command`: \"chip:pinctrl\" is not gpio:NAME, chip:LABEL/OFFSET or EXPANDER:PIN"]),
    ("\"gpio:GPIO25\"", "\"chip:/3\"", &["line 5: [spi]: `command`: \"chip:/3\" is not gpio:NAME, chip:LABEL/OFFSET or EXPANDER:PIN"]),
    ("\"gpio:GPIO25\"", "\"gpio:\"", &["line 5: [spi]: `command`: \"gpio:\" is not gpio:NAME, chip:LABEL/OFFSET or EXPANDER:PIN"]),
    ("\"gpio:GPIO25\"", "25", &["line 5: [spi]: `command`: invalid type: integer `25`, expected a string"]),
    ("\"exp1:8\"", "\"exp2:8\"", &["line 21: panel 2: `select` is on the expander `exp2`, and there is only exp1"]),
    ("\"exp1:8\"", "\"exp1:16\"", &["line 21: panel 2: `select`: \"exp1:16\": an expander has pins 0 to 15"]),
    ("\"exp1:9\"", "\"exp1:7\"", &["line 22: panel 2: `busy` is exp1:7: pins 7 and 15 of an expander can only be outputs"]),
    ("\"exp1:3\"]", "\"exp1:15\"]", &["line 34: [buttons]: `lines` is exp1:15: pins 7 and 15 of an expander can only be outputs"]),
    (
        "\"gpio:GPIO24\"",
        "\"gpio:GPIO25\"",
        &["line 17: panel 1: `busy` is gpio:GPIO25, already the data/command line (line 5); write a line that nothing else is on"],
    ),
    ("\"exp1:0\"", "\"!exp1:8\"", &["line 34: [buttons]: `lines` is exp1:8, already the select line of panel 2 (line 21)"]),
    (
        "\"gpio:GPIO4\"",
        "\"gpio:GPIO17\"",
        &[
            "line 18: panel 1: `reset` is gpio:GPIO17, already the interrupt line of [expander.exp1] (line 11)",
            "line 23: panel 2: `reset` is gpio:GPIO17, already the interrupt line",
        ],
    ),
    (
        "reset = \"gpio:GPIO17\"\nrotation",
        "reset = \"!gpio:GPIO17\"\nrotation",
        &[
            "line 23: panel 2: `reset` is gpio:GPIO17, and !gpio:GPIO17 as the reset line of panel 1 (line 18); write both with `!` or both without",
        ],
    ),
    // Chips.
    ("address = 0x20", "address = 0x28", &["line 10: [expander.exp1]: `address` must be 0x20 to 0x27"]),
    ("address = 0x20\n", "", &["line 9: [expander.exp1]: missing field `address`"]),
    (
        "[i2c]\ndevice = \"/dev/i2c-1\"\nhz = 400_000\n",
        "",
        &[
            "line 6: [expander.exp1] needs an I2C bus; write a section [i2c]",
            "line 25: [frontlight] needs an I2C bus",
            "line 28: [sensor] needs an I2C bus",
        ],
    ),
    (
        "[care]",
        "[expander.exp2]\naddress = 0x20\n[care]",
        &[
            "line 13: [expander.exp2]: `address` 0x20 is that of [expander.exp1]; write one that nothing else has",
        ],
    ),
    ("\"gpio:GPIO4\"", "\"exp1:4\"", &["line 11: [expander.exp1]: `interrupt` must be a line of the host"]),
    ("[expander.exp1]", "[expander.gpio]", &["line 9: [expander.gpio]: an expander cannot have this name", "", "", "", ""]),
    ("address = 0x42", "address = 0x20", &["line 29: [frontlight]: `address` must be 0x40 to 0x77"]),
    ("address = 0x42", "address = 0x5C", &["line 32: [sensor]: `addresses` 0x5C is that of [frontlight]"]),
    ("address = 0x42", "address = 0x42\nhz = 9000", &["line 30: [frontlight]: `hz` is 9000 where 24 to 1526 may be"]),
    ("address = 0x42", "address = 0x42\nfirst-output = 16", &["line 30: [frontlight]: `first-output` is 16 where 0 to 14 may be"]),
    ("[0x5C, 0x23]", "[0x5C, 0x24]", &["line 32: [sensor]: `addresses` must be one or both of 0x5C and 0x23"]),
    ("[0x5C, 0x23]", "[]", &["line 32: [sensor]: `addresses` must be one or both of 0x5C and 0x23"]),
    ("[0x5C, 0x23]", "0x23", &["line 32: [sensor]: `addresses`: invalid type: integer `35`, expected a sequence"]),
    (
        "address = 0x42",
        "address = 0x42\nfirst-output = 15",
        &["line 30: [frontlight]: `first-output` is 15 where 0 to 14 may be"],
    ),
    (
        "/dev/i2c-1",
        "/dev/spidev0.0",
        &[
            "line 3: [spi]: `device` is \"/dev/spidev0.0\", already a bus of another kind; write one of its own for each",
        ],
    ),
    ("id = \"mine\"", "id = \"a\\u001Bb\"", &["line 1: the file: `id`: invalid value: string \"a\\u{1b}b\", expected 1 to 128 bytes without control characters"]),
    ("id = \"mine\"", "\"a\\nb\" = 1", &["line 1: the file has no `a\\nb`"]),
    // Panels.
    (
        "\"gdey0213b74\"",
        "\"gdey0000\"",
        &["line 15: panel 1: `model`: \"gdey0000\" is not supported; write a name from docs/wiring.md, and only that of your own panel: the waveforms of another can damage it"],
    ),
    (
        "\"gdey0213b74\"",
        "\"depg0213bn\"",
        &["line 15: panel 1: `model`: \"depg0213bn\" cannot be used: it has no built-in waveform for partial refreshes"],
    ),
    (
        "\"gdey0213b74\"",
        "\"gdew0213i5f\"",
        &["line 15: panel 1: `model`: \"gdew0213i5f\" cannot be used: its controller, the UC8151, is not supported"],
    ),
    ("\"gdey0213b74\"", "\"gdey029t94\"", &["line 14: the panels are of different sizes; use panels of one size"]),
    (
        "\"gdey0213b74\"",
        "\"gdem0213b74\"\nfull = \"d7\"",
        &["line 16: panel 1: `full` is \"fast\", which was never tested on gdem0213b74; write \"normal\""],
    ),
    ("model = \"gdem0213b74\"\n", "", &["line 20: panel 2: missing field `model`"]),
    ("rotation = 180", "rotation = 45", &["line 19: panel 1: `rotation`: 45 is not 0, 90, 180 or 270"]),
    ("rotation = 180", "full = \"c7\"", &["line 19: panel 1: `full`: unknown variant `c7`, expected one of `f7`, `normal`, `d7`, `fast`"]),
    ("rotation = 180", "x-offset = 6", &["line 19: panel 1: `x-offset` is 6 where 0 to 5 may be"]),
    ("rotation = 180", "stagger-ms = 5000", &["line 19: panel 1: `stagger-ms` is 5000 where 0 to 1000 may be"]),
    ("busy = \"gpio:GPIO24\"\n", "", &["line 14: panel 1: missing field `busy`"]),
    ("[care]\n", "panel = 3\n[care]\n", &["line 12: [expander.exp1]: unknown field `panel`, expected one of `address`, `reset`, `interrupt`"]),
    // Strip and buttons.
    (
        "/dev/spidev1.0",
        "/dev/spidev0.1",
        &["line 26: [strip]: the strip is on the bus of the panels, whose data it would show as colours; write a `device` of another bus"],
    ),
    ("count = 4", "count = 0", &["line 27: [strip]: `count` is 0 where 1 to 64 may be"]),
    ("count = 4", "hz = 8_000_000", &["line 27: [strip]: `hz` is 8000000 where 2400000 to 3800000 may be"]),
    ("count = 4", "order = \"bgr\"", &["line 27: [strip]: `order`: unknown variant `bgr`, expected `grb` or `rgb`"]),
    ("count = 4", "white = 1", &["line 27: [strip]: `white`: invalid type: integer `1`, expected a boolean"]),
    ("count = 4", "begins = \"top\"", &["line 27: [strip]: `begins`: unknown variant `top`, expected `left` or `right`"]),
    (
        "[strip]\ndevice = \"/dev/spidev1.0\"\ncount = 4\n",
        "[[strip]]\n",
        &["line 25: [strip] is not a section"],
    ),
    (", \"exp1:3\"]", "]", &["line 34: [buttons]: `lines` has 3 lines where 4 must be"]),
    ("\"exp1:3\"]", "4]", &["line 34: [buttons]: `lines`: invalid type: integer `4`, expected a string"]),
    ("lines = [\"exp1:0\", \"exp1:1\", \"exp1:2\", \"exp1:3\"]\n", "", &["line 33: [buttons]: missing field `lines`"]),
];

#[test]
fn each_mistake_has_its_line_and_what_may_be_there() {
    assert!(read(GOOD).is_ok(), "{}", messages(&read(GOOD).unwrap_err()));
    let mut wrong = String::new();
    for (from, to, expected) in ROWS {
        assert!(GOOD.contains(from), "{from}");
        let all = match read(&GOOD.replacen(from, to, 1)) {
            Ok(_) => String::new(),
            Err(mistakes) => messages(&mistakes),
        };
        let is_expected = all
            .lines()
            .zip(*expected)
            .all(|(message, start)| message.starts_with(start));
        if !is_expected || all.lines().count() != expected.len() {
            wrong += &format!("{to:?}:\n{all}and not:\n{expected:#?}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn the_mistakes_of_all_sections_are_reported_in_the_order_of_their_lines() {
    let text = GOOD
        .replace("hz = 4_000_000", "hz = 1")
        .replace("\"gdey0213b74\"", "\"x\"")
        .replace("\"exp1:9\"", "\"exp1:15\"")
        .replace("count = 4", "count = 99");
    let mistakes = read(&text).unwrap_err();
    let lines: Vec<_> = mistakes.iter().map(|mistake| mistake.line).collect();
    assert_eq!(lines, [Some(4), Some(15), Some(22), Some(27)]);
}

#[test]
fn the_number_of_panels_is_checked() {
    let panel = "[[panel]]\nselect = \"gpio:A\"\nbusy = \"gpio:B\"\nreset = \"gpio:C\"\n";
    let on_base = format!("base = \"rev-b\"\n{}", "[[panel]]\n".repeat(7));
    assert!(read(&on_base).is_ok());
    let mistakes = read(&format!("{on_base}{panel}")).unwrap_err();
    assert_eq!(
        messages(&mistakes),
        "line 9: 8 sections [[panel]] where 1 to 7 may be\n"
    );
    let none = "[spi]\ndevice = \"/dev/spidev0.0\"\ncommand = \"gpio:DC\"\n";
    assert_eq!(
        messages(&read(none).unwrap_err()),
        "0 sections [[panel]] where 1 to 8 may be\n"
    );
    let mistakes = read(&format!("panel = []\n{none}")).unwrap_err();
    assert_eq!(
        messages(&mistakes),
        "line 1: 0 sections [[panel]] where 1 to 8 may be\n"
    );
}

#[test]
fn the_address_to_which_every_frontlight_driver_responds_is_taken() {
    let text = GOOD.replace("address = 0x42", "address = 0x70");
    let mistakes = read(&text);
    assert!(
        mistakes.is_ok(),
        "the frontlight itself may have this address"
    );
    let text = "base = \"rev-a\"\n[frontlight]\naddress = 0x40\n[sensor]\naddresses = [0x23]\n";
    assert!(read(text).is_ok(), "{}", messages(&read(text).unwrap_err()));
}

#[test]
fn a_file_that_is_too_large_is_refused() {
    let text = "#".repeat(FILE_MAX + 1);
    let mistakes = read(&text).unwrap_err();
    assert_eq!(
        messages(&mistakes),
        "the file has 65537 bytes, 65536 at most\n"
    );
}

#[test]
fn a_conflict_with_the_base_is_reported_at_the_line_of_the_file() {
    #[rustfmt::skip]
    let rows = [
        (
            "base = \"rev-b\"\nspi.command = \"gpio:GPIO2\"\n",
            "line 2: panel 1: `select` is gpio:GPIO2, already the data/command line (line 2)",
        ),
        (
            "base = \"rev-b\"\n\nspi.device = \"/dev/spidev1.0\"\n",
            "line 3: [strip]: the strip is on the bus of the panels, whose data it would show as colours; write a `device` of another bus",
        ),
        ("base = \"rev-a\"\ni2c = \"none\"\n", "line 2: [expander.exp1] needs an I2C bus"),
        (
            "base = \"rev-a\"\nexpander.exp1 = \"none\"\nbuttons = \"none\"\n[every-panel]\nreset = \"gpio:RST\"\n\
             [[panel]]\nreset = \"exp1:0\"\n",
            "line 7: panel 1: `reset` is on the expander `exp1`, and there is none",
        ),
        ("base = \"rev-b\"\nspi = \"none\"\n", "line 2: the file has no section [spi]"),
        ("base = \"rev-b\"\npanel = \"none\"\n", "line 2: `panel` is not a section [[panel]] for each panel"),
        (
            "base = \"rev-b\"\nexpander.exp2.address = 0x23\n",
            "line 2: [sensor]: `addresses` 0x23 is that of [expander.exp2]; write one that nothing else has",
        ),
    ];
    for (text, expected) in rows {
        let mistakes = read(text).unwrap_err();
        let messages = messages(&mistakes);
        assert!(
            messages.starts_with(expected) && messages.lines().count() == 1,
            "{messages}"
        );
    }
}

#[test]
fn lines_on_a_removed_expander_are_reported_at_its_removal() {
    let mistakes = read("base = \"rev-b\"\nexpander.exp1 = \"none\"\n").unwrap_err();
    assert_eq!(
        messages(&mistakes),
        "line 2: [buttons]: `lines` is on the expander `exp1`, and there is none\n"
    );
}

#[test]
fn a_mistake_in_an_entry_for_every_panel_is_reported_once_and_names_no_other_model() {
    for (entry, expected) in [
        (
            "model = \"gdew029t5d\"",
            "`model`: \"gdew029t5d\" cannot be used: its controller",
        ),
        (
            "model = \"gdey0213\"",
            "`model`: \"gdey0213\" is not supported",
        ),
        ("model = 7", "`model`: invalid type"),
        ("model = \"\"", "`model`: invalid value"),
        (
            "model = \"gdem0213b74\"\nfull = \"d7\"",
            "`full` is \"fast\", which was never tested",
        ),
        ("rotation = 45", "`rotation`: 45 is not"),
        ("rotations = 90", "unknown field `rotations`"),
        (
            "busy = \"gpio:GPIO14\"",
            "`busy` is gpio:GPIO14, already the data/command line",
        ),
    ] {
        let mistakes = read(&format!("base = \"rev-b\"\n[every-panel]\n{entry}\n")).unwrap_err();
        let messages = messages(&mistakes);
        let is_one = messages.contains(expected) && messages.lines().count() == 1;
        assert!(is_one, "{messages}");
        let suggested = find_model(&messages);
        assert!(
            suggested.is_none_or(|model| entry.contains(model)),
            "{messages}"
        );
    }
}

/// The supported model that a text names.
fn find_model(text: &str) -> Option<&'static str> {
    let mut names = MODELS.iter().map(|model| model.id);
    names.find(|name| text.contains(name))
}
