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
    device_call::DeviceCall,
    documents::{
        ErrorBody,
        screens::ScreenOrPlace,
        settings::{Settings, SettingsChange},
        settings_file::{ExportRequest, ImportRefusal, ImportReport, ImportRequest, SettingsFile},
    },
    limits::IMPORT_BODY_MAX,
    operation::{Operation, Param, ProgramOperation, by_device, by_program, get, patch, post},
    parameters::Parameters,
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
    by_program("All settings", ProgramOperation::Settings, &[get("/api/settings")])
        .answers(&[(200, sent::<Settings>())]),
    by_device(
        "Change settings",
        change,
        &[
            patch("/api/settings"),
            post("/api/settings"),
            patch("/api/json/settings"),
            post("/api/json/settings"),
        ],
    )
    .command_words("set")
    .body(received::<SettingsChange>())
    .body_max(PATCH_BODY_MAX)
    .answers(&[(200, Shape::Changed), BAD, (412, sent::<ErrorBody>())]),
    by_program(
        "The settings as a file; with a passphrase, its secrets sealed in it",
        ProgramOperation::ExportSettings,
        &[post("/api/settings/export"), get("/api/settings/export")],
    )
    .optional_body(received::<ExportRequest>())
    .answers(&[(200, sent::<SettingsFile>()), BAD, LACKING]),
    by_program(
        "Take over the settings of a file, all of them or none; as a dry run, only tell what would change",
        ProgramOperation::ImportSettings,
        &[post("/api/settings/import")],
    )
    .body(received::<ImportRequest>())
    .body_max(IMPORT_BODY_MAX)
    .answers(&[
        (200, sent::<ImportReport>()),
        (400, sent::<ImportRefusal>()),
        (412, sent::<ErrorBody>()),
    ]),
    by_program(
        "The panels as they would be after a change of settings, which is not made",
        ProgramOperation::SettingsPicture,
        &[post("/api/preview.png").query(DRAWN)],
    )
    .body(received::<SettingsChange>())
    .body_max(PATCH_BODY_MAX)
    .answers(&[(200, Shape::Png), BAD, (409, sent::<ErrorBody>()), LACKING]),
];

/// Changes settings; whoever carries the change to the device hashes the passwords in it.
fn change(parameters: Parameters, _view: &View) -> Result<DeviceCall, Answer> {
    let body = parameters
        .settings_patch()
        .map_err(|rejection| Answer::rejected(&rejection))?;
    let hashes = BTreeMap::new();
    Ok(DeviceCall::new(Request::Patch(Patch { body, hashes })))
}
