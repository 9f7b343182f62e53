//! The reference page of the settings, for people.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt::Write as _;
use serde_json::Value;

use super::{
    Key, SPECS, Settings, VIRTUAL,
    composite::{Composite, tx_power},
    facts::FACTS,
    spec::{Access, Apply, Group, Kind, Spec},
    table::TEXT_MAX,
};

/// The reference page of all settings, in Markdown.
pub fn markdown() -> String {
    let mut page = String::from(
        "# Settings\n\n\
         Generated from the table of settings; do not edit.\n\n\
         All settings are one JSON object: `GET /api/settings` reads it, `PATCH /api/settings` changes any part of it.\n\
         A PATCH is taken as a whole or refused as a whole.\n\
         A text has at most 256 bytes and no control characters.\n\
         The password in a URL or host is not told: GET has `***` in its place, and a PATCH that sends `***` back keeps it.\n\
         A setting that takes effect *at restart* is stored at once, and the answer says `rebootRequired`.\n\
         A key with a second name is read and written under both.\n",
    );
    for group in Group::ALL {
        let _ = write!(page, "\n## {}\n\n", group.heading());
        page.push_str(
            "| Key | Type | Default | Unit | Takes effect | What |\n|---|---|---|---|---|---|\n",
        );
        for spec in SPECS
            .iter()
            .filter(|spec| spec.group == *group && spec.access != Access::Internal)
        {
            page.push_str(&row(spec));
        }
        for virtual_row in VIRTUAL.iter().filter(|row| row.group == *group) {
            let unit = virtual_row.unit;
            let access = access_note(virtual_row.access);
            let kind = composite_type(virtual_row.composite);
            let what = virtual_row.doc;
            let _ = writeln!(
                page,
                "| `{}` | {kind} | | {unit} | at once | {what}{access} |",
                virtual_row.name
            );
        }
    }
    page.push_str("\n## Only in GET\n\n| Key | What |\n|---|---|\n");
    for fact in FACTS {
        let _ = writeln!(page, "| `{}` | {} |", fact.name, fact.doc);
    }
    for spec in SPECS.iter().filter(|spec| spec.access == Access::WriteOnly) {
        let _ = writeln!(
            page,
            "| `{0}Set` | Tells whether `{0}` is set. |",
            spec.name
        );
    }
    page
}

fn row(spec: &Spec) -> String {
    let name = match spec.alias {
        Some(alias) => format!("`{}`, `{alias}`", spec.name),
        None => format!("`{}`", spec.name),
    };
    let effect = match spec.apply {
        Apply::Live(_) => "at once",
        Apply::Reboot => "at restart",
    };
    let access = if spec.key == Key::mining_pool_user {
        " An API key is not in GET, which has `miningPoolUserSet` instead."
    } else {
        access_note(spec.access)
    };
    let (kind, default, unit) = (type_of(&spec.kind), default_of(spec), spec.unit);
    format!(
        "| {name} | {kind} | {default} | {unit} | {effect} | {}{access} |\n",
        spec.doc.trim()
    )
}

fn access_note(access: Access) -> &'static str {
    match access {
        Access::ReadWrite => "",
        Access::ReadOnly => " Only in GET.",
        Access::WriteOnly => " Only in PATCH.",
        Access::Internal => " Not shown.",
    }
}

/// What a setting takes, in words.
pub fn type_of(kind: &Kind) -> String {
    match kind {
        Kind::Bool => "true or false".into(),
        Kind::Uint(range) => format!("{} to {}", range.start(), range.end()),
        Kind::Numbered(names) => {
            let named = names
                .iter()
                .enumerate()
                .map(|(number, name)| format!("{number} {name}"));
            named.collect::<Vec<_>>().join(", ")
        }
        Kind::Rgb => "24-bit colour".into(),
        Kind::Text(TEXT_MAX) | Kind::UserName(TEXT_MAX) | Kind::Password(TEXT_MAX) => "text".into(),
        Kind::Host(_) => "host".into(),
        Kind::Text(cap) | Kind::UserName(cap) | Kind::Password(cap) => {
            format!("text of at most {cap} bytes")
        }
        Kind::Choice(choices) => format!("one of `{}`", choices.listed_as()),
        Kind::HexKey(_) => "hex key".into(),
        Kind::RelayUrl | Kind::HttpUrl | Kind::BaseUrl => "URL".into(),
        Kind::Zone => "IANA zone".into(),
        Kind::Screens => "text".into(),
        Kind::Composite(composite) => composite_type(*composite).into(),
    }
}

fn composite_type(composite: Composite) -> &'static str {
    match composite {
        Composite::Screens => "list of `{id, name, enabled, order}`",
        Composite::Dnd => "object",
        Composite::TimePerScreen => "number",
        Composite::InvertedColor => "true or false",
        Composite::TxPower => "-1 to 78, or 80",
        Composite::Currencies => "list of texts",
        Composite::Relays => "list of URLs",
        Composite::ZapKeys => "list of hex keys",
    }
}

fn default_of(spec: &Spec) -> String {
    let value = Settings::default().get(spec.key);
    match (&spec.kind, &value) {
        (_, Value::String(text)) if text.is_empty() => "empty".into(),
        (_, Value::String(text)) => format!("`{text}`"),
        (Kind::Rgb, Value::Number(number)) => {
            format!("{number} (`0x{:06X}`)", number.as_u64().unwrap_or_default())
        }
        (Kind::Composite(Composite::TxPower), Value::Null) => tx_power::CLEAR.to_string(),
        (_, Value::Array(entries)) if entries.is_empty() => "empty".into(),
        (_, other) => format!("`{other}`"),
    }
}
