//! Operations on the settings.

use alloc::collections::BTreeMap;

use device::{
    limits::PATCH_BODY_MAX,
    request::{Patch, Request},
    view::View,
};

use super::words::{BAD, LACKING, param, scale};
use crate::{
    answer::Answer,
    asked::DeviceCall,
    given::Parameters,
    limits::IMPORT_BODY_MAX,
    operation::{Operation, Param, ProgramOperation, asks, get, patch, post, serves},
    shape::Shape,
};

/// How a preview is drawn, and of what.
const DRAWN: &[Param] = &[
    scale(),
    param(
        "s",
        Shape::Screen,
        "Screen to draw in place of what is shown: its id, or its place in the rotation.",
    ),
];

pub(super) const OPERATIONS: &[Operation] = &[
    serves("All settings", ProgramOperation::Settings, &[get("/api/settings")])
        .answers(&[(200, Shape::Settings)]),
    asks(
        "Change settings",
        change,
        &[
            patch("/api/settings"),
            post("/api/settings"),
            patch("/api/json/settings"),
            post("/api/json/settings"),
        ],
    )
    .called("set")
    .takes(Shape::Change)
    .up_to(PATCH_BODY_MAX)
    .answers(&[(200, Shape::Patched), BAD, (412, Shape::Error)]),
    serves(
        "The settings as a file; with a passphrase, its secrets sealed in it",
        ProgramOperation::ExportSettings,
        &[post("/api/settings/export"), get("/api/settings/export")],
    )
    .may_take(Shape::ExportWish)
    .answers(&[(200, Shape::SettingsFile), BAD, LACKING]),
    serves(
        "Take over the settings of a file, all of them or none; as a dry run, only tell what would change",
        ProgramOperation::ImportSettings,
        &[post("/api/settings/import")],
    )
    .takes(Shape::ImportWish)
    .up_to(IMPORT_BODY_MAX)
    .answers(&[
        (200, Shape::Imported),
        (400, Shape::NotImported),
        (412, Shape::Error),
    ]),
    serves(
        "The panels as they would be after a change of settings, which is not made",
        ProgramOperation::SettingsPicture,
        &[post("/api/preview.png").asks(DRAWN)],
    )
    .takes(Shape::Change)
    .up_to(PATCH_BODY_MAX)
    .answers(&[(200, Shape::Png), BAD, (409, Shape::Error), LACKING]),
];

/// Changes settings; whoever carries the change to the device hashes the passwords in it.
fn change(given: Parameters, _view: &View) -> Result<DeviceCall, Answer> {
    let body = given
        .change()
        .map_err(|rejection| Answer::rejected(&rejection))?;
    let hashes = BTreeMap::new();
    Ok(DeviceCall::of(Request::Patch(Patch { body, hashes })))
}
