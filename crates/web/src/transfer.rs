//! Export and import of the settings as a file.

use std::sync::Arc;

use api::{
    device_call::refusal_answer,
    documents::settings_file::{ImportRefusal, SettingsFile, SettingsOrigin},
    limits::IMPORT_BODY_MAX,
};
use device::{
    request::{Imported, Request},
    settings::transfer,
};
use http::{HeaderValue, StatusCode, header::CONTENT_DISPOSITION};
use serde_json::Value;
use updates::build;

use super::{
    call::Call,
    response::{self, Response},
    settings,
    state::CHANGES_MAX,
};
use crate::settings_file;

/// Exports the settings as a file, without secrets.
pub fn export(call: &Call) -> Response {
    let origin = SettingsOrigin {
        clock: call.view.hostname.clone(),
        board: call.view.board.id.to_string(),
        firmware: build::revision(),
        time: call.state.services.clock.rfc3339(),
    };
    let name = format!("attachment; filename=\"{}-settings.json\"", origin.clock);
    let settings = transfer::without_secrets(&call.view.settings.stored);
    let mut response = response::json_bytes(settings_file::to_text(settings, origin).into());
    if let Ok(name) = HeaderValue::from_str(&name) {
        response.headers_mut().insert(CONTENT_DISPOSITION, name);
    }
    response
}

/// Imports the settings of a file, or reports what the import would change.
pub async fn import(mut call: Call) -> Response {
    let state = Arc::clone(&call.state);
    // Taken before the body is read, because bodies are large.
    let Ok(_permit) = state.imports.try_acquire() else {
        return response::error(StatusCode::SERVICE_UNAVAILABLE, "busy");
    };
    let options = match call.json(IMPORT_BODY_MAX).await {
        Some(Value::Object(options)) => options,
        Some(_) => return response::bad_request("not_object"),
        None => return response::bad_request("json"),
    };
    let Some(is_dry_run) = flag(options.get("dryRun")) else {
        return response::bad_request("dryRun:bad_type");
    };
    let Some(except) = names(options.get("except")) else {
        return response::bad_request("except:bad_type");
    };
    let file = options.get("file").unwrap_or(&Value::Null);
    let mut file = match settings_file::parse(file) {
        Ok(file) => file,
        Err(error) => {
            let token = error.to_string();
            return response::error_with_reason(StatusCode::BAD_REQUEST, &token, error.message());
        }
    };
    if let Err(name) = settings_file::remove(&mut file, except.iter().map(String::as_str)) {
        let message = format!("the file has no setting {name}");
        return response::error_with_reason(StatusCode::BAD_REQUEST, "except:unknown", &message);
    }
    // Excludes other changes, so that the report describes exactly what the import does.
    let _permit = match settings::change_permit(&call, CHANGES_MAX).await {
        Ok(permit) => permit,
        Err(response) => return response,
    };
    apply(&call, file, is_dry_run).await
}

async fn apply(call: &Call, file: SettingsFile, is_dry_run: bool) -> Response {
    let import = settings_file::import(&file, &call.state.view().settings.stored);
    let applied = !is_dry_run && import.refused.is_empty();
    let report = settings_file::import_report(&file, &import, applied);
    if is_dry_run {
        return response::json(&report);
    }
    if let Some(error) = report.refused.first().cloned() {
        let report = Some(report);
        let refusal = ImportRefusal { report, error };
        return response::json_with(StatusCode::BAD_REQUEST, &refusal);
    }
    let names: Vec<&str> = import.changes.iter().map(|change| change.name).collect();
    let request = Request::Import(Imported(file.settings));
    match call.state.request(request).await {
        Ok(Ok(_)) => {
            tracing::info!(from = file.origin.clock, changed = ?names, "settings imported from a file");
            response::json(&report)
        }
        Ok(Err(refusal)) => response::from_answer(refusal_answer(refusal)),
        Err(response) => response,
    }
}

fn flag(value: Option<&Value>) -> Option<bool> {
    match value {
        None => Some(false),
        Some(value) => value.as_bool(),
    }
}

fn names(value: Option<&Value>) -> Option<Vec<String>> {
    let Some(value) = value else {
        return Some(Vec::new());
    };
    let text = |name: &Value| name.as_str().map(str::to_string);
    value.as_array()?.iter().map(text).collect()
}
