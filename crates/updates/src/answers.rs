//! Answers to clients: why an image is not installed, as an error token and as a sentence.

use api::{
    answer::Answer,
    documents::{ErrorBody, updates::Oversize},
};
use feeds::image::{ImageFault, ImageKind};

use super::{newest::UpdateNotStarted, policy::ImageRefusal};

/// Error token of a refused image.
pub const INVALID: &str = "ESP_ERR_OTA_VALIDATE_FAILED";

/// Error token of a clock that takes no updates.
pub const DISABLED: &str = "ota_disabled";

/// The answer to a request for the newest release.
pub fn newest(started: Result<(), UpdateNotStarted>) -> Answer {
    let error = match started {
        Ok(()) => return Answer::message(200, "Firmware update triggered"),
        Err(error) => error,
    };
    let why = error.to_string();
    match &error {
        UpdateNotStarted::Disabled => Answer::error(403, DISABLED),
        UpdateNotStarted::Refused(refusal) => refused(refusal, ImageKind::Firmware, u64::MAX),
        UpdateNotStarted::NoFeed | UpdateNotStarted::BadFeed => failed("ESP_ERR_INVALID_ARG", &why),
        UpdateNotStarted::NotReady => unavailable("ESP_ERR_INVALID_STATE", &why),
        UpdateNotStarted::Busy => failed("ESP_ERR_NO_MEM", &why),
    }
}

/// The answer if an image is refused. `max` is the size of its slot, bytes.
pub fn refused(refusal: &ImageRefusal, kind: ImageKind, max: u64) -> Answer {
    let why = refusal.to_string();
    match refusal {
        ImageRefusal::Busy => Answer::message(503, "Update already in progress"),
        ImageRefusal::Managed(_) => Answer::with(403, &ErrorBody::with_reason(DISABLED, why)),
        ImageRefusal::Oversize(_) => oversize(max),
        ImageRefusal::Digest => digest_mismatch(),
        ImageRefusal::Fault(ImageFault::CutOff { .. }) => match kind {
            ImageKind::Firmware => failed("ESP_ERR_INVALID_SIZE", &why),
            ImageKind::Page => failed("truncated upload", &why),
        },
        ImageRefusal::NoSlots | ImageRefusal::NoExec => failed("no ota partition", &why),
        ImageRefusal::Disk(_)
        | ImageRefusal::NotYet(_)
        | ImageRefusal::Slow(_)
        | ImageRefusal::Fault(ImageFault::Io(_)) => failed("ESP_FAIL", &why),
        ImageRefusal::OnTrial(_) => unavailable("ESP_ERR_INVALID_STATE", &why),
        ImageRefusal::NoKeys(_) => unavailable(INVALID, &why),
        ImageRefusal::Fault(_)
        | ImageRefusal::Kind { .. }
        | ImageRefusal::Board { .. }
        | ImageRefusal::Panel { .. }
        | ImageRefusal::Target { .. }
        | ImageRefusal::Older { .. }
        | ImageRefusal::Mislabelled { .. }
        | ImageRefusal::NeedsNewer { .. } => failed(INVALID, &why),
    }
}

/// The answer if an upload is incomplete.
pub fn incomplete(kind: ImageKind) -> Answer {
    let token = match kind {
        ImageKind::Firmware => "ESP_FAIL",
        ImageKind::Page => "truncated upload",
    };
    failed(token, "the upload was interrupted")
}

/// Error 500 with a token and a sentence.
pub fn failed(token: &str, why: &str) -> Answer {
    Answer::with(500, &ErrorBody::with_reason(token, why))
}

fn unavailable(token: &str, why: &str) -> Answer {
    Answer::with(503, &ErrorBody::with_reason(token, why))
}

/// The image is larger than `max` bytes.
pub fn oversize(max: u64) -> Answer {
    let oversize = Oversize {
        error: "oversize",
        max,
    };
    Answer::with(413, &oversize)
}

/// The digest differs from the announced one.
pub fn digest_mismatch() -> Answer {
    Answer::bad_request("sha256 mismatch")
}
