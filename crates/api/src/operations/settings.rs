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
    documents::{
        ErrorBody,
        screens::ScreenOrPlace,
        settings::{Settings, SettingsChange},
        settings_file::{ExportRequest, ImportRefusal, ImportReport, ImportRequest, SettingsFile},
    },
    given::Parameters,
    limits::IMPORT_BODY_MAX,
    operation::{Operation, Param, ProgramOperation, asks, get, patch, post, serves},
    shape::{Shape, received, sent},
};

/// How a preview is drawn, and of what.
const DRAWN: &[Param] = &[
    scale(),
    param(
        "s",
        received::<ScreenOrPlace>(),
        "Screen to draw in place of what is shown: its id, or its place in the rotation.",
    ),
];

pub(super) const OPERATIONS: &[Operation] = &[
    serves("All settings", ProgramOperation::Settings, &[get("/api/settings")])
        .answers(&[(200, sent::<Settings>())]),
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
    .takes(received::<SettingsChange>())
    .up_to(PATCH_BODY_MAX)
    .answers(&[(200, Shape::Changed), BAD, (412, sent::<ErrorBody>())]),
    serves(
        "The settings as a file; with a passphrase, its secrets sealed in it",
        ProgramOperation::ExportSettings,
        &[post("/api/settings/export"), get("/api/settings/export")],
    )
    .may_take(received::<ExportRequest>())
    .answers(&[(200, sent::<SettingsFile>()), BAD, LACKING]),
    serves(
        "Take over the settings of a file, all of them or none; as a dry run, only tell what would change",
        ProgramOperation::ImportSettings,
        &[post("/api/settings/import")],
    )
    .takes(received::<ImportRequest>())
    .up_to(IMPORT_BODY_MAX)
    .answers(&[
        (200, sent::<ImportReport>()),
        (400, sent::<ImportRefusal>()),
        (412, sent::<ErrorBody>()),
    ]),
    serves(
        "The panels as they would be after a change of settings, which is not made",
        ProgramOperation::SettingsPicture,
        &[post("/api/preview.png").asks(DRAWN)],
    )
    .takes(received::<SettingsChange>())
    .up_to(PATCH_BODY_MAX)
    .answers(&[(200, Shape::Png), BAD, (409, sent::<ErrorBody>()), LACKING]),
];

/// Changes settings; whoever carries the change to the device hashes the passwords in it.
fn change(given: Parameters, _view: &View) -> Result<DeviceCall, Answer> {
    let body = given
        .change()
        .map_err(|rejection| Answer::rejected(&rejection))?;
    let hashes = BTreeMap::new();
    Ok(DeviceCall::of(Request::Patch(Patch { body, hashes })))
}
