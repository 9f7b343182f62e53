//! Requests to the device on behalf of clients, and the answers made of its replies.

use alloc::format;

use device::{
    displays::{DISPLAYS_MAX, SCREENS_MAX},
    request::{Changed, Refusal, Reply, Request},
    view::View,
};

use crate::{
    answer::Answer,
    documents::{
        device::{NOT_ERASED, NotErased},
        lights::Lights,
    },
    status,
};

/// A request to the device on behalf of a client.
#[derive(Debug, Clone)]
pub struct DeviceCall {
    pub request: Request,
    /// How to make the answer from the reply of the device.
    pub reply_format: ReplyFormat,
}

/// How the reply of the device becomes the answer to the client.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplyFormat {
    success: SuccessAnswer,
    mismatch: &'static str,
}

/// The answer if the request succeeds.
#[derive(Debug, Clone, PartialEq)]
enum SuccessAnswer {
    Fixed(Answer),
    /// The colours of the LEDs after the request.
    Lights,
}

impl DeviceCall {
    /// A request that is answered with an empty body.
    pub fn new(request: Request) -> DeviceCall {
        DeviceCall::with_answer(request, Answer::done())
    }

    /// A request, and the answer if it succeeds.
    pub fn with_answer(request: Request, answer: Answer) -> DeviceCall {
        DeviceCall {
            request,
            reply_format: ReplyFormat {
                success: SuccessAnswer::Fixed(answer),
                mismatch: "count mismatch",
            },
        }
    }

    /// A request that is answered with the colours of the LEDs.
    pub fn with_lights(request: Request) -> DeviceCall {
        let mut call = DeviceCall::new(request);
        call.reply_format.success = SuccessAnswer::Lights;
        call
    }

    /// Sets the error text for a list that does not have one entry per LED or channel.
    pub fn mismatch_text(mut self, text: &'static str) -> DeviceCall {
        self.reply_format.mismatch = text;
        self
    }
}

impl ReplyFormat {
    /// Makes the answer from a reply and the view after it.
    pub fn answer(self, reply: Reply, view: &View) -> Answer {
        match reply {
            Ok(changed) if changed != Changed::default() => Answer::changed(&changed),
            Ok(_) => match self.success {
                SuccessAnswer::Fixed(answer) => answer,
                SuccessAnswer::Lights => Answer::json(&Lights(status::leds(&view.lights))),
            },
            Err(Refusal::WrongCount) => Answer::bad_request(self.mismatch),
            Err(refusal) => refusal_answer(refusal),
        }
    }
}

/// The answer for a request that the device has refused.
pub fn refusal_answer(refusal: Refusal) -> Answer {
    match refusal {
        Refusal::Rejected(rejection) => Answer::rejected(&rejection),
        Refusal::UnknownScreen => Answer::bad_request("unknown screen id"),
        Refusal::UnavailableScreen(id) => {
            Answer::error(409, &format!("screen {id} unavailable for active pool"))
        }
        Refusal::UnusedSource => Answer::error(409, "source not in use"),
        Refusal::CurrencyNotActive => Answer::error(404, "currency not active"),
        Refusal::NoLeds => Answer::error(503, "leds not available"),
        Refusal::NoFrontlight => Answer::error(503, "frontlight not present on this board"),
        Refusal::WrongCount => Answer::bad_request("count mismatch"),
        Refusal::OutOfRange => Answer::bad_request("out of range"),
        Refusal::UpdateRunning => Answer::message(503, "Update already in progress"),
        Refusal::NotStored => Answer::error(500, "not stored"),
        Refusal::Erasing => Answer::error(503, "everything is being erased"),
        Refusal::UnknownDisplay => Answer::error(404, "unknown display"),
        Refusal::TooManyDisplays => Answer::error(
            409,
            &format!("there are {DISPLAYS_MAX} displays, and there can be no more: remove one"),
        ),
        Refusal::NoScreens => Answer::bad_request(&format!(
            "screens must have 1 to {SCREENS_MAX} ids of screens for this content"
        )),
        Refusal::NotErased => Answer::with(500, &NotErased { error: NOT_ERASED }),
    }
}
