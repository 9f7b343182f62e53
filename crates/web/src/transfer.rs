//! Settings as a file: handing them out, and taking them over.

use std::sync::Arc;

use api::{
    answer::Answer,
    asked::refused,
    limits::{IMPORT_BODY_MAX, SMALL_BODY_MAX},
};
use device::{
    request::{Imported, Reply, Request},
    secret::Secret,
    settings::transfer,
};
use http::{HeaderValue, StatusCode, header::CONTENT_DISPOSITION};
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::{
    answer::{self, Response},
    call::{Call, Received},
    settings,
    state::CHANGES_MAX,
};
use crate::{
    settings_file,
    settings_file::{SettingsContent, SettingsFile, SettingsOrigin, Unusable},
};
use updates::build;

/// Secrets leave only a clock that knows who asks for them.
const UNGUARDED: &str = "secrets leave only a clock that asks for a password: switch that on, or use `papertick backup` on the machine itself";

/// The settings as a file.
pub async fn export(mut call: Call) -> Response {
    let passphrase = match call.body(SMALL_BODY_MAX).await {
        Received::Nothing => None,
        Received::Whole(bytes) => match serde_json::from_slice::<Value>(&bytes) {
            Ok(Value::Object(wish)) => match passphrase(wish.get("passphrase")) {
                Ok(passphrase) => passphrase,
                Err(unusable) => return unusable_file(unusable),
            },
            Ok(_) | Err(_) => return answer::bad_request("json"),
        },
        Received::TooLarge | Received::Broken => return answer::bad_request("bad body"),
    };
    if passphrase.is_some() && !call.view.active.http_auth_enabled {
        let refusal = json!({ "error": "password required", "msg": UNGUARDED });
        return answer::json_with(StatusCode::FORBIDDEN, &refusal);
    }
    let origin = SettingsOrigin {
        clock: call.view.hostname.clone(),
        board: call.view.board.id.to_string(),
        firmware: build::revision(),
        time: call.state.services.clock.rfc3339(),
    };
    let name = format!("attachment; filename=\"{}-settings.json\"", origin.clock);
    let view = call.view.clone();
    let made = sealing(&call, move || {
        let left_out = transfer::unguarded(&view.settings);
        SettingsFile::without(&view.settings, origin, passphrase.as_ref(), left_out)
    });
    match made.await {
        Ok(Ok(file)) => {
            let text = format!("{:#}\n", file.to_json());
            let mut response = answer::json_bytes(text.into());
            if let Ok(name) = HeaderValue::from_str(&name) {
                response.headers_mut().insert(CONTENT_DISPOSITION, name);
            }
            response
        }
        Ok(Err(unusable)) => unusable_file(unusable),
        Err(response) => response,
    }
}

/// Takes over the settings of a file, or tells what that would change.
pub async fn import(mut call: Call) -> Response {
    let state = Arc::clone(&call.state);
    // Before the body is read.
    let Ok(_place) = state.transfers.try_acquire() else {
        return answer::error(StatusCode::SERVICE_UNAVAILABLE, "busy");
    };
    let wish = match call.json(IMPORT_BODY_MAX).await {
        Some(Value::Object(wish)) => wish,
        Some(_) => return answer::bad_request("not_object"),
        None => return answer::bad_request("json"),
    };
    let passphrase = match passphrase(wish.get("passphrase")) {
        Ok(passphrase) => passphrase,
        Err(unusable) => return unusable_file(unusable),
    };
    let Some(is_dry) = flag(wish.get("dryRun")) else {
        return answer::bad_request("dryRun:bad_type");
    };
    let Some(except) = names(wish.get("except")) else {
        return answer::bad_request("except:bad_type");
    };
    let file = wish.get("file").unwrap_or(&Value::Null);
    let file = match SettingsFile::read(file) {
        Ok(file) => file,
        Err(unusable) => return unusable_file(unusable),
    };
    let opened = sealing(&call, move || {
        let said = file.said(passphrase.as_ref());
        said.map(|said| (file, said))
    });
    let (file, mut said) = match opened.await {
        Ok(Ok(opened)) => opened,
        Ok(Err(unusable)) => return unusable_file(unusable),
        Err(response) => return response,
    };
    if let Err(name) = said.leave_out(except.iter().map(String::as_str)) {
        let words = format!("the file says nothing of {name}");
        let refusal = json!({ "error": "except:unknown", "msg": words });
        return answer::json_with(StatusCode::BAD_REQUEST, &refusal);
    }
    // What is told is what is done: nobody else changes anything between the two.
    let _turn = match settings::turn(&call, CHANGES_MAX).await {
        Ok(turn) => turn,
        Err(response) => return response,
    };
    take_over(&call, &file, said, is_dry).await
}

async fn take_over(
    call: &Call,
    file: &SettingsFile,
    said: SettingsContent,
    is_dry: bool,
) -> Response {
    let import = said.import(&call.state.view().settings);
    let mut told = settings_file::told(file, said.secrets, &import);
    told["applied"] = (!is_dry).into();
    if is_dry {
        return answer::json(&told);
    }
    if let Some(first) = import.refused.first() {
        told["applied"] = false.into();
        told["error"] = first.to_string().into();
        if let Some(hint) = settings_file::hint(first, said.secrets) {
            told["msg"] = hint.into();
        }
        return answer::json_with(StatusCode::BAD_REQUEST, &told);
    }
    let names: Vec<&str> = import.changes.iter().map(|change| change.name).collect();
    match call.state.ask(Request::Import(Imported(said.body))).await {
        Ok(Reply::Done | Reply::Changed(_)) => {
            tracing::info!(from = file.origin.clock, changed = ?names, "settings of a file were taken over");
            answer::json(&told)
        }
        Ok(Reply::Rejected(rejection)) => answer::told(Answer::rejected(&rejection)),
        Ok(Reply::Refused(refusal)) => answer::told(refused(refusal)),
        Ok(Reply::Lights(_) | Reply::Picture(_) | Reply::Judged(_)) => answer::not_found(),
        Err(response) => response,
    }
}

/// Does what takes memory and time when it is its turn.
async fn sealing<T: Send + 'static>(
    call: &Call,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Response> {
    let stopping = || answer::error(StatusCode::SERVICE_UNAVAILABLE, "stopping");
    let turn = Arc::clone(&call.state.sealing).acquire_owned().await;
    let turn = turn.map_err(|_| stopping())?;
    // The turn lasts as long as the work, also for a client that has gone.
    let work = move || {
        let done = work();
        drop(turn);
        done
    };
    spawn_blocking(work).await.map_err(|_| stopping())
}

/// The passphrase, if there is one.
fn passphrase(value: Option<&Value>) -> Result<Option<Secret>, Unusable> {
    let text = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => text,
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            return Err(Unusable::Passphrase);
        }
    };
    let passphrase = Secret::new(text.as_str());
    settings_file::fits(&passphrase)?;
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

fn unusable_file(unusable: Unusable) -> Response {
    let status = match unusable {
        Unusable::NotSealed => StatusCode::SERVICE_UNAVAILABLE,
        Unusable::NoFile | Unusable::Newer | Unusable::Passphrase | Unusable::Locked => {
            StatusCode::BAD_REQUEST
        }
    };
    let refusal = json!({ "error": unusable.to_string(), "msg": unusable.words() });
    answer::json_with(status, &refusal)
}
