//! Export and import of the settings as a file.

use std::sync::Arc;

use api::{
    answer::Answer,
    device_call::refusal_answer,
    documents::{
        object,
        settings_file::{ExportRequest, ImportRefusal, SettingsOrigin},
    },
    limits::{IMPORT_BODY_MAX, SMALL_BODY_MAX},
};
use device::{
    request::{Imported, Reply, Request},
    secret::Secret,
    settings::transfer,
};
use http::{HeaderValue, StatusCode, header::CONTENT_DISPOSITION};
use serde_json::Value;
use tokio::task::spawn_blocking;

use super::{
    call::{Call, ReceivedBody},
    response::{self, Response},
    settings,
    state::CHANGES_MAX,
};
use crate::{
    settings_file,
    settings_file::{Backup, SettingsContent, SettingsFileError},
};
use updates::build;

/// Secrets are exported only if the control interface needs a password.
const NO_PASSWORD_SET: &str = "secrets are exported only if sign-in is on: switch it on, or run `papertick backup` on the machine of the clock";

/// Exports the settings as a file.
pub async fn export(mut call: Call) -> Response {
    let passphrase = match call.body(SMALL_BODY_MAX).await {
        ReceivedBody::Empty => None,
        ReceivedBody::Complete(bytes) => match serde_json::from_slice::<Value>(&bytes) {
            Ok(body @ Value::Object(_)) => match export_passphrase(&body) {
                Ok(passphrase) => passphrase,
                Err(error) => return error_response(error),
            },
            Ok(_) | Err(_) => return response::bad_request("json"),
        },
        ReceivedBody::TooLarge | ReceivedBody::Incomplete => {
            return response::bad_request("bad body");
        }
    };
    if passphrase.is_some() && !call.view.active.http_auth_enabled {
        return response::error_with_reason(
            StatusCode::FORBIDDEN,
            "password required",
            NO_PASSWORD_SET,
        );
    }
    let origin = SettingsOrigin {
        clock: call.view.hostname.clone(),
        board: call.view.board.id.to_string(),
        firmware: build::revision(),
        time: call.state.services.clock.rfc3339(),
    };
    let name = format!("attachment; filename=\"{}-settings.json\"", origin.clock);
    let view = call.view.clone();
    let made = with_encryption_permit(&call, move || {
        let left_out = transfer::unguarded(&view.settings);
        Backup::without(&view.settings, origin, passphrase.as_ref(), left_out)
    });
    match made.await {
        Ok(Ok(backup)) => {
            let mut response = response::json_bytes(backup.to_text().into());
            if let Ok(name) = HeaderValue::from_str(&name) {
                response.headers_mut().insert(CONTENT_DISPOSITION, name);
            }
            response
        }
        Ok(Err(error)) => error_response(error),
        Err(response) => response,
    }
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
    let passphrase = match passphrase(options.get("passphrase")) {
        Ok(passphrase) => passphrase,
        Err(error) => return error_response(error),
    };
    let Some(is_dry_run) = flag(options.get("dryRun")) else {
        return response::bad_request("dryRun:bad_type");
    };
    let Some(except) = names(options.get("except")) else {
        return response::bad_request("except:bad_type");
    };
    let file = options.get("file").unwrap_or(&Value::Null);
    let file = match Backup::parse(file) {
        Ok(file) => file,
        Err(error) => return error_response(error),
    };
    let decrypted = with_encryption_permit(&call, move || {
        let content = file.content(passphrase.as_ref());
        content.map(|content| (file, content))
    });
    let (file, mut content) = match decrypted.await {
        Ok(Ok(decrypted)) => decrypted,
        Ok(Err(error)) => return error_response(error),
        Err(response) => return response,
    };
    if let Err(name) = content.remove(except.iter().map(String::as_str)) {
        let message = format!("the file has no setting {name}");
        return response::error_with_reason(StatusCode::BAD_REQUEST, "except:unknown", &message);
    }
    // Excludes other changes, so that the report describes exactly what the import does.
    let _permit = match settings::change_permit(&call, CHANGES_MAX).await {
        Ok(permit) => permit,
        Err(response) => return response,
    };
    apply(&call, &file, content, is_dry_run).await
}

async fn apply(
    call: &Call,
    backup: &Backup,
    content: SettingsContent,
    is_dry_run: bool,
) -> Response {
    let import = content.import(&call.state.view().settings);
    let applied = !is_dry_run && import.refused.is_empty();
    let report = settings_file::import_report(backup, content.secrets, &import, applied);
    if is_dry_run {
        return response::json(&report);
    }
    if let Some(error) = report.refused.first().cloned() {
        let report = Some(report);
        let refusal = ImportRefusal { report, error };
        return response::json_with(StatusCode::BAD_REQUEST, &refusal);
    }
    let names: Vec<&str> = import.changes.iter().map(|change| change.name).collect();
    let request = Request::Import(Imported(content.body));
    match call.state.request(request).await {
        Ok(Reply::Done | Reply::Changed(_)) => {
            tracing::info!(from = backup.file.origin.clock, changed = ?names, "settings imported from a file");
            response::json(&report)
        }
        Ok(Reply::Rejected(rejection)) => response::from_answer(Answer::rejected(&rejection)),
        Ok(Reply::Refused(refusal)) => response::from_answer(refusal_answer(refusal)),
        Ok(Reply::Lights(_) | Reply::Display(_) | Reply::DisplayPicture(_) | Reply::Headers(_)) => {
            response::not_found()
        }
        Err(response) => response,
    }
}

/// Runs work that encrypts or decrypts, which takes much memory and time, when there is a permit.
async fn with_encryption_permit<T: Send + 'static>(
    call: &Call,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Response> {
    let stopping = || response::error(StatusCode::SERVICE_UNAVAILABLE, "stopping");
    let permit = Arc::clone(&call.state.encryption).acquire_owned().await;
    let permit = permit.map_err(|_| stopping())?;
    // Held until the work is done, even if the client disconnects.
    let work = move || {
        let result = work();
        drop(permit);
        result
    };
    spawn_blocking(work).await.map_err(|_| stopping())
}

/// The passphrase of an export, if there is one.
fn export_passphrase(body: &Value) -> Result<Option<Secret>, SettingsFileError> {
    let request: ExportRequest = object(body).ok_or(SettingsFileError::PassphraseLength)?;
    let passphrase = request.passphrase.map(Secret::new);
    if let Some(passphrase) = &passphrase {
        settings_file::check_passphrase(passphrase)?;
    }
    Ok(passphrase)
}

/// The passphrase of an import, if there is one.
fn passphrase(value: Option<&Value>) -> Result<Option<Secret>, SettingsFileError> {
    let text = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => text,
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            return Err(SettingsFileError::PassphraseLength);
        }
    };
    let passphrase = Secret::new(text.as_str());
    settings_file::check_passphrase(&passphrase)?;
    Ok(Some(passphrase))
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

fn error_response(error: SettingsFileError) -> Response {
    let status = match error {
        SettingsFileError::CannotEncrypt => StatusCode::SERVICE_UNAVAILABLE,
        SettingsFileError::NotSettings
        | SettingsFileError::NewerVersion
        | SettingsFileError::PassphraseLength
        | SettingsFileError::CannotDecrypt => StatusCode::BAD_REQUEST,
    };
    response::error_with_reason(status, &error.to_string(), &error.message())
}
