//! Operations on the settings.

use alloc::collections::BTreeMap;

use device::{
    limits::PATCH_BODY_MAX,
    request::{Patch, Request},
    view::View,
};

use super::{
    params::{param, scale},
    responses::{BAD_REQUEST, UNAVAILABLE},
};
use crate::{
    answer::Answer,
    device_call::DeviceCall,
    documents::{
        ErrorBody,
        screens::ScreenOrPlace,
        settings::{Settings, SettingsChange},
        settings_file::{ImportRefusal, ImportReport, ImportRequest, SettingsFile},
    },
    limits::IMPORT_BODY_MAX,
    operation::{Operation, Param, by_device, by_program, get, patch, post},
    parameters::Parameters,
    shape::{Shape, received, sent},
};

/// Parameters of a preview.
const DRAWN: &[Param] = &[
    scale(),
    param(
        "s",
        received::<ScreenOrPlace>(),
        "Screen to draw instead of the current one: its id, or its place in the rotation.",
    ),
];

pub(super) const OPERATIONS: &[Operation] = &[
    by_program("Get all settings", &[get("/api/settings")])
        .answers(&[(200, sent::<Settings>()), (304, Shape::Empty)]),
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
    .answers(&[
        (200, Shape::Changed),
        BAD_REQUEST,
        (412, sent::<ErrorBody>()),
    ]),
    by_program(
        "Export the settings as a file, without secrets",
        &[get("/api/settings/export")],
    )
    .answers(&[(200, sent::<SettingsFile>())]),
    by_program(
        "Import the settings of a file, all or none; a dry run only reports the changes",
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
        "Draw the panels as they would be after a change of settings, without the change",
        &[post("/api/preview.png").query(DRAWN)],
    )
    .body(received::<SettingsChange>())
    .body_max(PATCH_BODY_MAX)
    .answers(&[
        (200, Shape::Png),
        BAD_REQUEST,
        (409, sent::<ErrorBody>()),
        UNAVAILABLE,
    ]),
];

/// Changes settings. The caller hashes the passwords before it sends the request to the device.
fn change(parameters: Parameters, _view: &View) -> Result<DeviceCall, Answer> {
    let body = parameters
        .settings_patch()
        .map_err(|rejection| Answer::rejected(&rejection))?;
    let hashes = BTreeMap::new();
    Ok(DeviceCall::new(Request::Patch(Patch { body, hashes })))
}
