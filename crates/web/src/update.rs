//! Uploads of firmware images and web bundles, and the update to the newest release.

use std::time::Duration;

use api::documents::updates::Uploaded;
use bytes::Bytes;
use feeds::{
    image::ImageKind,
    multipart::{FormEvent, Multipart},
};
use hex::FromHex;
use http::{StatusCode, header::CONTENT_TYPE};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tokio::time::timeout;

use super::{
    call::Call,
    response::{self, Response},
};
use updates::{
    answers,
    installer::{Announced, IncomingUpdate},
    policy::{AcceptedVersions, ImageRefusal},
};

/// Longest time between two parts of an upload, because a stalled upload blocks other updates.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// Most bytes of a form in addition to the image.
const FORM_OVERHEAD_MAX: u64 = 16 * 1024;

/// Names of form parts that may contain the image.
const FIELDS: [&str; 3] = ["file", "firmware", "webui"];

/// Installs a firmware image.
pub async fn firmware(call: Call) -> Response {
    upload(call, ImageKind::Firmware).await
}

pub async fn web_bundle(call: Call) -> Response {
    upload(call, ImageKind::Page).await
}

/// Starts the update to the newest release. The response does not wait for it.
pub async fn automatic(call: Call) -> Response {
    response::from_answer(answers::newest(
        call.state.services.newest.request(&call.view),
    ))
}

fn disabled(call: &Call) -> Option<Response> {
    let enabled = call.view.settings.active.ota_enabled;
    (!enabled).then(|| response::error(StatusCode::FORBIDDEN, answers::DISABLED))
}

/// Why nothing was installed.
enum UploadError {
    /// The image was refused.
    Refused(ImageRefusal),
    Incomplete,
    /// The form is malformed or has no image.
    Form(&'static str),
}

impl From<ImageRefusal> for UploadError {
    fn from(refusal: ImageRefusal) -> UploadError {
        UploadError::Refused(refusal)
    }
}

async fn upload(mut call: Call, kind: ImageKind) -> Response {
    let max = call.state.services.installer.bytes_max(kind);
    let form = call.header(CONTENT_TYPE).and_then(Multipart::new);
    let overhead = form.as_ref().map_or(0, |_| FORM_OVERHEAD_MAX);
    if let Some(refusal) = refusal(&call, max, overhead) {
        return refusal;
    }
    let digest = call.query("sha256").map(<[u8; 32]>::from_hex).transpose();
    let Ok(digest) = digest else {
        return response::from_answer(answers::digest_mismatch());
    };
    let announced = Announced {
        kind,
        versions: match call.query("downgrade").as_deref() {
            Some("true" | "1") => AcceptedVersions::All,
            Some(_) | None => AcceptedVersions::NotOlder,
        },
        bytes: call.content_length(),
        digest,
    };
    let installed = match call.state.services.installer.begin(announced) {
        Ok(update) => match call.take_body() {
            Some(mut body) => {
                let installed = install(update, &mut body, form).await;
                if !matches!(installed, Err(UploadError::Incomplete)) {
                    // After a refusal the client may still be sending.
                    call.discard_body(body);
                }
                installed
            }
            None => Err(UploadError::Incomplete),
        },
        Err(refusal) => Err(refusal.into()),
    };
    match installed {
        Ok(bytes) => response::json(&Uploaded {
            result: "ok",
            bytes,
        }),
        Err(error) => error_response(&error, kind, max),
    }
}

/// Installs the image in a body. Returns its size in bytes.
async fn install(
    update: IncomingUpdate,
    body: &mut Incoming,
    form: Option<Multipart>,
) -> Result<u64, UploadError> {
    match receive(&update, body, form).await {
        Ok(bytes) => {
            update.finish().await?;
            Ok(bytes)
        }
        Err(error) => {
            update.abort().await;
            Err(error)
        }
    }
}

/// Receives the image in a body. Returns its size in bytes.
async fn receive(
    update: &IncomingUpdate,
    body: &mut Incoming,
    mut form: Option<Multipart>,
) -> Result<u64, UploadError> {
    let mut parser = FormImage::default();
    while let Some(bytes) = next(body).await? {
        let Some(form) = &mut form else {
            parser.bytes += bytes.len() as u64;
            update.append(bytes).await?;
            continue;
        };
        // The rest of the form counts towards the time limit, too.
        update.check_deadline()?;
        form.push(&bytes);
        let malformed = |_| UploadError::Form("the form is malformed");
        while let Some(event) = form.next_event().map_err(malformed)? {
            if let Some(data) = parser.image_bytes(event) {
                parser.bytes += data.len() as u64;
                update.append(data).await?;
            }
        }
    }
    if form.is_some() && !parser.is_complete {
        return Err(UploadError::Incomplete);
    }
    if form.is_some() && parser.bytes == 0 {
        return Err(UploadError::Form(
            "the form has no image in a part named file",
        ));
    }
    Ok(parser.bytes)
}

#[derive(Default)]
struct FormImage {
    /// Bytes of the image so far.
    bytes: u64,
    /// The current part is the image.
    is_image: bool,
    /// The end of the form was reached.
    is_complete: bool,
}

impl FormImage {
    /// The bytes of the image in an event. The image is the first non-empty part with one of the names.
    fn image_bytes(&mut self, event: FormEvent) -> Option<Bytes> {
        match event {
            FormEvent::Part(name) => {
                self.is_image = self.bytes == 0 && FIELDS.contains(&name.as_str());
                None
            }
            FormEvent::Data(data) => self.is_image.then(|| data.into()),
            FormEvent::End => {
                self.is_complete = true;
                None
            }
        }
    }
}

/// The next bytes of a body; `None` at its end.
async fn next(body: &mut (impl Body<Data = Bytes> + Unpin)) -> Result<Option<Bytes>, UploadError> {
    loop {
        match timeout(READ_TIMEOUT, body.frame()).await {
            Ok(None) => return Ok(None),
            Ok(Some(Ok(frame))) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
            Ok(Some(Err(_))) | Err(_) => return Err(UploadError::Incomplete),
        }
    }
}

/// The response if nothing was installed.
fn error_response(error: &UploadError, kind: ImageKind, max: u64) -> Response {
    response::from_answer(match error {
        UploadError::Incomplete => answers::incomplete(kind),
        UploadError::Form(why) => answers::failed(answers::INVALID, why),
        UploadError::Refused(refusal) => answers::refused(refusal, kind, max),
    })
}

/// Refuses an upload before its body is read. `overhead` is the size of a form without its image, bytes.
fn refusal(call: &Call, max: u64, overhead: u64) -> Option<Response> {
    disabled(call).or_else(|| match call.content_length() {
        None | Some(0) => Some(response::error(
            StatusCode::LENGTH_REQUIRED,
            "content-length required",
        )),
        Some(length) if length > max + overhead => {
            Some(response::from_answer(answers::oversize(max)))
        }
        Some(_) => None,
    })
}
