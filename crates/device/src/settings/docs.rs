//! The reference page of the settings, for people.

use alloc::{format, string::String};
use core::fmt::Write as _;

use super::{
    SPECS, Settings, VIRTUAL,
    facts::FACTS,
    spec::{Access, Apply, SettingGroup, Spec},
};

/// The reference page of all settings, in Markdown.
pub fn markdown() -> String {
    let mut page = String::from(
        "# Settings\n\n\
         <!-- Made from the table of settings; do not edit. -->\n\n\
         All settings are one JSON object, which the [control interface](http-api.md) returns and changes in whole or in part.\n\
         A PATCH is applied as a whole or refused as a whole.\n\
         A text has at most 256 bytes and no control characters.\n\
         The password in a URL or host is not returned: GET has `***` in its place, and a PATCH that sends `***` back keeps it.\n\
         A setting that takes effect *at restart* is stored at once, and the answer says `rebootRequired`.\n\
         A key with a second name is read and written under both.\n",
    );
    for group in SettingGroup::ALL {
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
            let kind = virtual_row.kind.words();
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
    let access = access_note(spec.access);
    let default = spec.kind.shown(&Settings::default().get(spec.key));
    let default = spec.kind.describe_value(&default);
    let (kind, unit) = (spec.kind.words(), spec.unit);
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
