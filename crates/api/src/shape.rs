//! Shapes of bodies and answers, for the description of the interface.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use device::{
    lights::{StripEffect, frontlight::DUTY_MAX},
    screens::SCREENS,
    settings::{
        Key,
        kinds::{SettingKind, tx_power::TxPower},
        schema::{document_schema, json_schema},
    },
};
use market::source_id::SourceId;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

use crate::{
    limits::{CONFIRMATION, GLYPH_PX, LOG_LINES, PASSPHRASE_LEN, ZAP_MESSAGE_MAX},
    operations::device::BROKER,
    schema,
    status::{DndStatus, FrontlightDuties, Led, Status, SystemStatus, Widget},
};

/// Shape of a body or an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// Nothing.
    Empty,
    /// A whole number.
    Integer,
    /// A text.
    Text,
    /// A reason for a refusal.
    Error,
    /// A word to the user.
    Message,
    /// The status.
    Status,
    /// The system status.
    System,
    /// Four values for the page of a home server.
    Widget,
    /// The event stream.
    Events,
    /// A PNG picture.
    Png,
    /// Bytes.
    Bytes,
    /// A web page.
    Html,
    /// Metrics.
    Metrics,
    /// The settings.
    Settings,
    /// A change of settings.
    Change,
    /// What a change of settings came to.
    Patched,
    /// Whether a file of settings is to have secrets in it.
    ExportWish,
    /// A file of settings.
    SettingsFile,
    /// A file of settings, and how it is to be taken over.
    ImportWish,
    /// What taking over a file of settings came to.
    Imported,
    /// Why a file of settings was not taken over.
    NotImported,
    /// The last lines of the log.
    Log,
    /// The id of a screen, or its place.
    Screen,
    /// Which screen.
    ScreenChoice,
    /// Which currency.
    CurrencyChoice,
    /// A text for the panels.
    Words,
    /// A text per panel.
    Cells,
    /// A zap.
    Zap,
    /// Colours of the LEDs.
    Lights,
    /// One colour.
    Colour,
    /// The name of a colour.
    ColourName,
    /// A colour in hex.
    Hex,
    /// Pixels per pixel.
    Scale,
    /// A colour per LED, or one for all.
    Pixels,
    /// Which effect.
    EffectChoice,
    /// The effect that will be played.
    Queued,
    /// Duties of the frontlight.
    FrontlightStatus,
    /// Brightness of the frontlight.
    Brightness,
    /// A brightness.
    Duty,
    /// A duty per channel.
    Duties,
    /// Do Not Disturb.
    Dnd,
    /// Confirms a factory reset.
    Confirmation,
    /// Not everything was erased.
    NotErased,
    /// How many files were removed.
    Removed,
    /// Transmit power.
    TxPower,
    /// The transmit power was set.
    TxPowerSet,
    /// An image to install.
    Image,
    /// The digest of an image.
    Digest,
    /// An image was installed.
    Uploaded,
    /// An image is too large.
    Oversize,
    /// How many records to keep.
    TraceSize,
    /// A trace runs.
    TraceStarted,
    /// A trace.
    Trace,
    /// Memory by kind.
    Heap,
    /// Whether all is well.
    Health,
    /// Versions of the page.
    Manifest,
    /// Signals of the simulated board.
    Bench,
    /// Buttons to press.
    Press,
    /// Light in the room.
    Lux,
    /// The network comes or goes.
    LinkChange,
    /// Something that happens in the market of a demo.
    MarketEvent,
    /// The power goes and comes.
    PowerChange,
    /// What is wrong with a panel.
    Fault,
    /// Networks in reach.
    Networks,
    /// Name and password of a network.
    Credentials,
    /// A network was joined.
    Joined,
    /// A network was not joined.
    NotJoined,
    /// Which source.
    SourceChoice,
    /// Name of a source.
    SourceName,
    /// Any JSON.
    Json,
}

impl Shape {
    /// Content type; none for nothing.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a shape is JSON unless it says otherwise"
    )]
    pub fn content_type(self) -> Option<&'static str> {
        match self {
            Shape::Empty | Shape::Patched => None,
            Shape::Events => Some("text/event-stream"),
            Shape::Png => Some("image/png"),
            Shape::Bytes | Shape::Image => Some("application/octet-stream"),
            Shape::Html => Some("text/html"),
            Shape::Metrics => Some("application/openmetrics-text"),
            _ => Some("application/json"),
        }
    }

    /// JSON Schema that stands alone.
    pub fn schema(self) -> Value {
        let mut generator = schema::generator("/$defs");
        let mut schema = self.subschema(&mut generator);
        let definitions = generator.take_definitions(false);
        if !definitions.is_empty() {
            schema["$defs"] = definitions.into();
        }
        schema
    }

    /// JSON Schema, with the definitions that it refers to in a generator.
    pub fn subschema(self, generator: &mut SchemaGenerator) -> Value {
        let text = || json!({ "type": "string" });
        let flag = || json!({ "type": "boolean" });
        let integer = || json!({ "type": "integer" });
        match self {
            Shape::Empty | Shape::Patched | Shape::Json => json!({}),
            Shape::Integer => integer(),
            Shape::Text | Shape::Html | Shape::Metrics => text(),
            Shape::Status => document::<Status>(generator),
            Shape::System => document::<SystemStatus>(generator),
            Shape::Widget => document::<Widget>(generator),
            Shape::Lights => document::<Vec<Led>>(generator),
            Shape::Dnd => document::<DndStatus>(generator),
            Shape::FrontlightStatus => document::<FrontlightDuties>(generator),
            Shape::Events => event(),
            Shape::Digest => json!({ "type": "string", "pattern": "^[0-9A-Fa-f]{64}$" }),
            Shape::Image => json!({ "type": "string", "format": "binary", "minLength": 1 }),
            Shape::Png | Shape::Bytes => {
                json!({ "type": "string", "format": "binary" })
            }
            Shape::Error => refusal(),
            Shape::Message => message(),
            Shape::Settings => document_schema(),
            Shape::Change => change(),
            Shape::ExportWish => loose(&[("passphrase", passphrase())]),
            Shape::SettingsFile => settings_file(),
            Shape::ImportWish => import_wish(),
            Shape::Imported => imported(),
            Shape::NotImported => not_imported(),
            Shape::Log => log(),
            Shape::ScreenChoice => object(&[("s", screen(cut(0, 7)))]),
            Shape::Screen => screen(json!({ "type": "integer", "minimum": 0, "maximum": 7 })),
            Shape::CurrencyChoice => {
                object(&[("c", json!({ "type": "string", "pattern": "^[A-Za-z]{3}$" }))])
            }
            Shape::Words => object(&[("t", text())]),
            Shape::Cells => cells(),
            Shape::Zap => zap(),
            Shape::Colour => object(&[("c", colour())]),
            Shape::ColourName => colour(),
            Shape::Hex => json!({ "type": "string", "pattern": "^#?[0-9A-Fa-f]{6}$" }),
            Shape::Scale => json!({ "type": "integer", "minimum": 1, "maximum": 8 }),
            Shape::Duty => brightness().schema(),
            Shape::Pixels => pixels(None),
            Shape::EffectChoice => object(&[("name", json!({ "enum": effects() }))]),
            Shape::Queued => object(&[("queued", flag()), ("name", json!({ "enum": effects() }))]),
            Shape::Brightness => object(&[("b", cut(0, u16::MAX.into()))]),
            Shape::Duties => duties(None),
            Shape::Confirmation => object(&[("confirm", json!({ "const": CONFIRMATION }))]),
            Shape::NotErased => object(&[("error", json!({ "const": "not erased" }))]),
            Shape::Removed => object(&[("removed", integer())]),
            Shape::TxPower => object(&[("txPower", TxPower.schema())]),
            Shape::TxPowerSet => object(&[("setTxPower", json!({ "const": "ok" }))]),
            Shape::Uploaded => {
                object(&[("result", json!({ "const": "ok" })), ("bytes", integer())])
            }
            Shape::Oversize => object(&[("error", text()), ("max", integer())]),
            Shape::TraceSize => object(&[(
                "cap",
                json!({ "type": "integer", "minimum": 1, "maximum": 4096 }),
            )]),
            Shape::TraceStarted => object(&[
                ("started", flag()),
                ("capacity", integer()),
                ("depth", integer()),
            ]),
            Shape::Trace => trace(),
            Shape::Heap => object(&[
                ("espUptime", integer()),
                ("caps", json!({ "type": "object" })),
            ]),
            // Without a `type`: what is no object names no source.
            Shape::SourceChoice => json!({ "properties": { "source": source_name() } }),
            Shape::SourceName => source_name(),
            Shape::Health => object(&[("ok", flag())]),
            Shape::Bench => json!({ "type": "object" }),
            Shape::Press => press(),
            Shape::Lux => object(&[(
                "lux",
                json!({ "type": ["number", "null"], "minimum": 0, "maximum": 4_294_967 }),
            )]),
            Shape::MarketEvent => object(&[(
                "event",
                json!({ "enum": ["block", "price", "payment", "relay-gone", "relay-back"] }),
            )]),
            Shape::LinkChange => object(&[("link", json!({ "enum": ["up", "down"] }))]),
            Shape::PowerChange => power(),
            Shape::Fault => object(&[
                ("panel", integer()),
                ("fault", json!({ "enum": ["none", "busy-stuck"] })),
            ]),
            Shape::Networks => array(network()),
            Shape::Credentials => credentials(),
            Shape::Joined => object(&[("ok", json!({ "const": true }))]),
            Shape::NotJoined => object(&[
                ("ok", json!({ "const": false })),
                ("error", text()),
                ("code", text()),
                ("reason", integer()),
            ]),
            Shape::Manifest => object(&[
                ("commit", text()),
                ("buildTime", integer()),
                ("minFirmware", text()),
            ]),
        }
    }
}

/// Schema of a document type.
fn document<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    generator.subschema_for::<T>().into()
}

/// An object with these members, all of which are always there.
pub fn object(members: &[(&str, Value)]) -> Value {
    let properties: serde_json::Map<String, Value> = members
        .iter()
        .map(|(name, schema)| ((*name).to_string(), schema.clone()))
        .collect();
    let required: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

/// An object whose members may all be missing.
fn loose(members: &[(&str, Value)]) -> Value {
    let mut schema = object(members);
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("required");
    }
    schema
}

/// A token, and words for people where it does not tell all.
fn refusal() -> Value {
    let mut schema = object(&[("error", json!({ "type": "string" }))]);
    schema["properties"]["msg"] = json!({ "type": "string" });
    schema
}

/// What a brightness of the frontlight can be: what the setting can be.
pub(crate) fn brightness() -> &'static dyn SettingKind {
    Key::fl_max_brightness.spec().kind
}

fn array(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

/// Operations of updates say `msg`; one that is switched off says `error`.
fn message() -> Value {
    loose(&[
        ("msg", json!({ "type": "string" })),
        ("error", json!({ "type": "string" })),
    ])
}

fn colour() -> Value {
    json!({ "type": "string", "pattern": "^(#?[0-9A-Fa-f]{6}|off)$" })
}

/// One event of the stream.
fn event() -> Value {
    let mut schema = object(&[("data", json!({ "type": "string" }))]);
    schema["properties"]["event"] = json!({ "enum": ["welcome", "status", "panels", "bench"] });
    schema
}

/// A list with an entry for each of so many, or none at all; of any length if that is not known.
fn one_each(items: Value, count: Option<usize>) -> Value {
    let list = array(items);
    let Some(count) = count else {
        return list;
    };
    let (mut none, mut all) = (list.clone(), list);
    none["maxItems"] = 0.into();
    all["minItems"] = count.into();
    all["maxItems"] = count.into();
    json!({ "anyOf": [none, all] })
}

/// A duty per panel; of any number of panels if that is not known.
pub(crate) fn duties(panels: Option<usize>) -> Value {
    one_each(cut(0, DUTY_MAX.into()), panels)
}

/// A colour per LED, or one for all; of any number of LEDs if that is not known.
pub(crate) fn pixels(leds: Option<usize>) -> Value {
    let number = || json!({ "type": "number", "description": "The low eight bits count." });
    let hex = json!({ "type": "string", "pattern": "^#?[0-9A-Fa-f]{6}$" });
    let by_hex = object(&[("hex", hex)]);
    let mut by_channels = object(&[("red", number()), ("green", number()), ("blue", number())]);
    by_channels["not"] = json!({ "required": ["hex"] });
    let colour = || json!({ "anyOf": [by_hex, by_channels] });
    let mut one = array(colour());
    one["minItems"] = 1.into();
    one["maxItems"] = 1.into();
    json!({ "anyOf": [one_each(colour(), leds), one, by_hex, by_channels] })
}

fn effects() -> Vec<&'static str> {
    StripEffect::NAMED.iter().map(|(name, _)| *name).collect()
}

fn network() -> Value {
    object(&[
        ("ssid", json!({ "type": "string" })),
        ("rssi", json!({ "type": "integer" })),
        ("secured", json!({ "type": "boolean" })),
        ("secure", json!({ "type": "boolean" })),
    ])
}

fn buttons() -> Value {
    array(json!({ "type": "integer", "minimum": 1, "maximum": 4 }))
}

fn held() -> Value {
    json!({ "type": "integer", "minimum": 0, "maximum": 60_000 })
}

fn press() -> Value {
    let mut schema = object(&[("press", buttons())]);
    schema["properties"]["ms"] = held();
    schema
}

fn power() -> Value {
    let mut schema = object(&[("action", json!({ "const": "cycle" }))]);
    schema["properties"]["hold"] = buttons();
    schema["properties"]["ms"] = held();
    schema
}

fn screen(mut place: Value) -> Value {
    let ids: Vec<u16> = SCREENS.iter().map(|screen| screen.id).collect();
    place["description"] = "Place in the rotation, from 0.".into();
    json!({ "anyOf": [{ "description": "Id of a screen.", "enum": ids }, place] })
}

/// A number in a body whose fraction is cut off.
fn cut(min: i32, max: i32) -> Value {
    json!({ "type": "number", "exclusiveMinimum": min - 1, "exclusiveMaximum": max + 1 })
}

fn cells() -> Value {
    let texts = array(json!({ "type": "string" }));
    let mut with_height = object(&[("cells", texts.clone())]);
    with_height["properties"]["digitPx"] = json!({ "description": format!("Glyph height, px: an integer from {} to {}; anything else is ignored.", GLYPH_PX.start(), GLYPH_PX.end()) });
    json!({ "anyOf": [texts, with_height] })
}

fn credentials() -> Value {
    let mut schema = object(&[("ssid", json!({ "type": "string", "minLength": 1 }))]);
    schema["properties"]["pw"] =
        json!({ "type": "string", "description": "Missing or empty for an open network." });
    schema
}

/// What cannot be read has its default, so that nothing is refused.
fn zap() -> Value {
    let message = format!("A string, which is cut after {ZAP_MESSAGE_MAX} bytes.");
    json!({
        "properties": {
            "amount_sats": { "description": "An integer of at least 0." },
            "message": { "description": message },
        },
        "example": { "amount_sats": 21, "message": "hello" },
    })
}

fn passphrase() -> Value {
    json!({ "type": ["string", "null"], "minLength": PASSPHRASE_LEN.start(), "maxLength": PASSPHRASE_LEN.end() })
}

fn settings_file() -> Value {
    let text = || json!({ "type": "string" });
    let mut schema = object(&[
        ("format", json!({ "const": "papertick settings" })),
        ("version", json!({ "const": 1 })),
        ("clock", text()),
        ("board", text()),
        ("firmware", text()),
        ("time", json!({ "type": ["string", "null"] })),
        ("settings", json!({ "type": "object" })),
    ]);
    schema["properties"]["secrets"] = object(&[
        ("kdf", text()),
        ("memoryKiB", json!({ "type": "integer" })),
        ("passes", json!({ "type": "integer" })),
        ("salt", text()),
        ("cipher", text()),
        ("sealed", text()),
    ]);
    schema
}

fn import_wish() -> Value {
    let mut schema = object(&[("file", settings_file())]);
    schema["properties"]["passphrase"] = passphrase();
    schema["properties"]["dryRun"] = json!({
        "type": "boolean",
        "description": "Only tells what would change.",
    });
    schema["properties"]["except"] = json!({
        "type": "array",
        "items": { "type": "string" },
        "description": "Settings of the file that are left as they are.",
    });
    schema
}

fn imported() -> Value {
    let text = || json!({ "type": "string" });
    let texts = || array(text());
    let mut change = object(&[("name", text())]);
    change["properties"]["old"] = json!({});
    change["properties"]["new"] = json!({});
    change["properties"]["secret"] = json!({ "const": true });
    object(&[
        ("applied", json!({ "type": "boolean" })),
        (
            "from",
            object(&[
                ("clock", text()),
                ("board", text()),
                ("firmware", text()),
                ("time", json!({ "type": ["string", "null"] })),
            ]),
        ),
        ("secrets", json!({ "enum": ["absent", "closed", "opened"] })),
        ("changes", array(change)),
        ("unknown", texts()),
        ("missing", texts()),
        ("notes", texts()),
        ("refused", array(refusal())),
        ("rebootRequired", json!({ "type": "boolean" })),
    ])
}

/// A refusal, with what was refused where the file could be read.
fn not_imported() -> Value {
    let mut schema = refusal();
    let mut members = imported();
    if let (Some(told), Some(properties)) = (
        members["properties"].as_object_mut(),
        schema["properties"].as_object_mut(),
    ) {
        properties.append(told);
    }
    schema
}

fn log() -> Value {
    let text = || json!({ "type": "string" });
    let levels = ["error", "warn", "info", "debug", "trace"];
    let line = object(&[
        ("time", text()),
        ("level", json!({ "enum": levels })),
        ("text", text()),
    ]);
    let mut lines = array(line);
    lines["maxItems"] = LOG_LINES.into();
    object(&[
        ("lines", lines),
        ("earlier", json!({ "type": "integer", "minimum": 0 })),
    ])
}

fn source_name() -> Value {
    let sources = SourceId::ALL.iter().map(|id| id.name());
    let names: Vec<&str> = sources.chain([BROKER]).collect();
    json!({ "enum": names })
}

/// A change of settings; the words of older clients are understood too.
fn change() -> Value {
    let mut schema = json_schema();
    let mut add = |name: &str, member: Value| schema["properties"][name] = member;
    add("fetchEurPrice", json!({ "type": "boolean" }));
    for place in 0..6 {
        add(&format!("screen[{place}]"), json!({ "type": "boolean" }));
    }
    let in_text = json!({ "type": "string", "pattern": "^((0x|#)[0-9A-Fa-f]{1,6}|[0-9]{1,8})$" });
    let colour = json!({
        "anyOf": [in_text, { "enum": [0, 0xFFFF] }],
        "description": "A text, 24 bits at most, sets `invertedColor`; a number, as GET has it, changes nothing.",
    });
    add("fgColor", colour.clone());
    add("bgColor", colour);
    add("tzOffset", json!({ "type": "integer" }));
    schema
}

fn trace() -> Value {
    let (integer, text) = (json!({ "type": "integer" }), json!({ "type": "string" }));
    let leak = object(&[
        ("sz", integer.clone()),
        ("addr", text.clone()),
        ("cc", integer.clone()),
        ("pcs", array(text)),
    ]);
    object(&[
        ("count", integer.clone()),
        ("capacity", integer),
        ("leaks", array(leak)),
    ])
}
