//! Updates of the device: taking in what is uploaded, and saying why it is refused.

use std::time::Duration;

use bytes::Bytes;
use feeds::{
    image::ImageKind,
    multipart::{FormEvent, Multipart},
};
use hex::FromHex;
use http::{StatusCode, header::CONTENT_TYPE};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use serde_json::json;
use tokio::time::timeout;

use super::{
    answer::{self, Response},
    call::Call,
};
use updates::{
    answers,
    installer::{Announced, IncomingUpdate},
    judge::{ImageRefusal, Versions},
};

/// Longest time between two parts of an upload: a silent client must not block other updates.
const SILENCE: Duration = Duration::from_secs(10);

/// Bytes that a form may have around the image.
const FORM_MAX: u64 = 16 * 1024;

/// Names of the parts of a form that hold an image.
const FIELDS: [&str; 3] = ["file", "firmware", "webui"];

/// Installs a firmware image.
pub async fn firmware(call: Call) -> Response {
    upload(call, ImageKind::Firmware).await
}

/// Installs a web bundle.
pub async fn web_bundle(call: Call) -> Response {
    upload(call, ImageKind::Page).await
}

/// Has the newest release fetched and installed; the answer comes before that.
pub async fn automatic(call: Call) -> Response {
    answer::told(answers::newest(call.state.services.newest.ask(&call.view)))
}

fn disabled(call: &Call) -> Option<Response> {
    let enabled = call.view.active.ota_enabled;
    (!enabled).then(|| answer::error(StatusCode::FORBIDDEN, "ota_disabled"))
}

/// Why nothing was installed.
enum UploadError {
    /// It is not taken.
    Refused(ImageRefusal),
    /// It did not come whole.
    Broken,
    /// The form has no image in it, or is none.
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
    let around = form.as_ref().map_or(0, |_| FORM_MAX);
    if let Some(refusal) = refusal(&call, max, around) {
        return refusal;
    }
    let digest = call.query("sha256").map(<[u8; 32]>::from_hex).transpose();
    let Ok(digest) = digest else {
        return answer::told(answers::other_digest());
    };
    let announced = Announced {
        kind,
        versions: match call.query("downgrade").as_deref() {
            Some("true" | "1") => Versions::All,
            Some(_) | None => Versions::NotOlder,
        },
        bytes: call.content_length(),
        digest,
    };
    let installed = match call.state.services.installer.begin(announced) {
        Ok(update) => match call.unread() {
            Some(mut body) => {
                let installed = install(update, &mut body, form).await;
                if !matches!(installed, Err(UploadError::Broken)) {
                    // After a refusal the client is still sending.
                    call.put_back(body);
                }
                installed
            }
            None => Err(UploadError::Broken),
        },
        Err(refusal) => Err(refusal.into()),
    };
    match installed {
        Ok(bytes) => answer::json(&json!({ "result": "ok", "bytes": bytes })),
        Err(trouble) => answer_of(&trouble, kind, max),
    }
}

/// Installs the image in a body; tells how many bytes it had.
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
        Err(trouble) => {
            update.give_up().await;
            Err(trouble)
        }
    }
}

/// Takes all of an image out of a body; tells how many bytes it had.
async fn receive(
    update: &IncomingUpdate,
    body: &mut Incoming,
    mut form: Option<Multipart>,
) -> Result<u64, UploadError> {
    let mut reading = Reading::default();
    while let Some(bytes) = next(body).await? {
        let Some(form) = &mut form else {
            reading.bytes += bytes.len() as u64;
            update.append(bytes).await?;
            continue;
        };
        // What stands around the image takes of its time as well.
        update.in_time()?;
        form.push(&bytes);
        let piece = || UploadError::Form("the form cannot be read");
        while let Some(piece) = form.next_event().map_err(|_| piece())? {
            if let Some(data) = reading.of(piece) {
                reading.bytes += data.len() as u64;
                update.append(data).await?;
            }
        }
    }
    if form.is_some() && !reading.is_over {
        return Err(UploadError::Broken);
    }
    if form.is_some() && reading.bytes == 0 {
        return Err(UploadError::Form(
            "the form has no image in a part named file",
        ));
    }
    Ok(reading.bytes)
}

/// How far the reading of a form is.
#[derive(Default)]
struct Reading {
    bytes: u64,
    /// The part that comes is the image.
    is_image: bool,
    /// All of the form has come.
    is_over: bool,
}

impl Reading {
    /// The bytes of the image in a piece of a form: those of the first part that may be one.
    fn of(&mut self, piece: FormEvent) -> Option<Bytes> {
        match piece {
            FormEvent::Part(name) => {
                self.is_image = self.bytes == 0 && FIELDS.contains(&name.as_str());
                None
            }
            FormEvent::Data(data) => self.is_image.then(|| data.into()),
            FormEvent::End => {
                self.is_over = true;
                None
            }
        }
    }
}

/// The next bytes of a body; none at its end.
async fn next(body: &mut (impl Body<Data = Bytes> + Unpin)) -> Result<Option<Bytes>, UploadError> {
    loop {
        match timeout(SILENCE, body.frame()).await {
            Ok(None) => return Ok(None),
            Ok(Some(Ok(frame))) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
            Ok(Some(Err(_))) | Err(_) => return Err(UploadError::Broken),
        }
    }
}

/// Tells a client why nothing was installed.
fn answer_of(trouble: &UploadError, kind: ImageKind, max: u64) -> Response {
    answer::told(match trouble {
        UploadError::Broken => answers::broken(kind),
        UploadError::Form(why) => answers::failed(answers::INVALID, why),
        UploadError::Refused(refusal) => answers::refused(refusal, kind, max),
    })
}

/// Tells whether an image of this size, bytes, has a place; there is no image of nothing.
fn fits(size: u64, place: u64) -> bool {
    (1..=place).contains(&size)
}

/// Why an upload is refused before a byte of it is taken; `around` is what may come around the image, bytes.
fn refusal(call: &Call, max: u64, around: u64) -> Option<Response> {
    disabled(call).or_else(|| match call.content_length() {
        None | Some(0) => Some(answer::error(
            StatusCode::LENGTH_REQUIRED,
            "content-length required",
        )),
        Some(length) if !fits(length, max + around) => Some(answer::told(answers::oversize(max))),
        Some(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::stream::{self, StreamExt};
    use http_body_util::StreamBody;
    use hyper::body::Frame;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_goes_silent_in_the_middle_of_an_upload_is_given_up() {
        let begun = tokio::time::Instant::now();
        let parts = stream::iter([Ok::<_, Infallible>(Frame::data(Bytes::from("half")))]);
        let mut body = StreamBody::new(parts.chain(stream::pending()));
        assert_eq!(next(&mut body).await.ok(), Some(Some(Bytes::from("half"))));
        assert!(matches!(next(&mut body).await, Err(UploadError::Broken)));
        assert_eq!(begun.elapsed(), SILENCE);
    }

    #[test]
    fn an_image_has_to_fit_its_place() {
        for (size, place, expected) in [
            (0, 0x1B_0000, false),
            (0, 0, false),
            (1, 0, false),
            (1, 0x1B_0000, true),
            (1500 * 1024, 0x1B_0000, true),
            (0x60_0000, 0x1B_0000, false),
            (1024, 0x6_7000, true),
            (0xC_D000, 0x6_7000, false),
        ] {
            assert_eq!(fits(size, place), expected, "{size} in {place}");
        }
        for place in [
            0x1B_0000, 0x37_0000, 0x60_0000, 0x6_7000, 0xC_D000, 0x20_0000,
        ] {
            assert!(fits(place, place) && !fits(place + 1, place), "{place}");
        }
    }
}
