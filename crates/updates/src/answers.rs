//! Answers to clients: why an image is not installed, in the words that clients know and in a sentence.

use api::answer::Answer;
use feeds::image::{ImageFault, ImageKind};
use serde_json::json;

use super::{judge::ImageRefusal, newest::NotAsked};

/// Error of an image that is refused.
pub const INVALID: &str = "ESP_ERR_OTA_VALIDATE_FAILED";

/// The answer to a request for the newest release: that it is fetched, or why not.
pub fn newest(asked: Result<(), NotAsked>) -> Answer {
    let trouble = match asked {
        Ok(()) => return Answer::message(200, "Firmware update triggered"),
        Err(trouble) => trouble,
    };
    let why = trouble.to_string();
    match &trouble {
        NotAsked::Disabled => Answer::error(403, "ota_disabled"),
        NotAsked::Refused(refusal) => refused(refusal, ImageKind::Firmware, u64::MAX),
        NotAsked::NoFeed | NotAsked::BadFeed => failed("ESP_ERR_INVALID_ARG", &why),
        NotAsked::NotReady => unavailable("ESP_ERR_INVALID_STATE", &why),
        NotAsked::Busy => failed("ESP_ERR_NO_MEM", &why),
    }
}

/// Why an image is not installed.
pub fn refused(refusal: &ImageRefusal, kind: ImageKind, max: u64) -> Answer {
    let why = refusal.to_string();
    match refusal {
        ImageRefusal::Busy => Answer::message(503, "Update already in progress"),
        ImageRefusal::Oversize(_) => oversize(max),
        ImageRefusal::Digest => other_digest(),
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

/// The upload ended early.
pub fn broken(kind: ImageKind) -> Answer {
    let word = match kind {
        ImageKind::Firmware => "ESP_FAIL",
        ImageKind::Page => "truncated upload",
    };
    failed(word, "the upload broke off")
}

/// Error 500.
pub fn failed(word: &str, why: &str) -> Answer {
    Answer::with(500, json!({ "error": word, "msg": why }))
}

fn unavailable(word: &str, why: &str) -> Answer {
    Answer::with(503, json!({ "error": word, "msg": why }))
}

/// The image is larger than `max` bytes.
pub fn oversize(max: u64) -> Answer {
    Answer::with(413, json!({ "error": "oversize", "max": max }))
}

/// The digest is another one than announced.
pub fn other_digest() -> Answer {
    Answer::bad_request("sha256 mismatch")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_release_has_a_reason() {
        for (trouble, status, word) in [
            (NotAsked::Disabled, 403, "ota_disabled"),
            (NotAsked::NoFeed, 500, "ESP_ERR_INVALID_ARG"),
            (NotAsked::BadFeed, 500, "ESP_ERR_INVALID_ARG"),
            (NotAsked::NotReady, 503, "ESP_ERR_INVALID_STATE"),
            (NotAsked::Busy, 500, "ESP_ERR_NO_MEM"),
        ] {
            let told = trouble.to_string();
            let answer = newest(Err(trouble));
            let error = answer.body.map(|body| body["error"].clone());
            assert_eq!(
                (answer.status, error),
                (status, Some(word.into())),
                "{told}"
            );
        }
    }
}
