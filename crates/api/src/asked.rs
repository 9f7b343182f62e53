//! What the device is asked for a client, and how its reply is told.

use alloc::format;

use device::request::{Refusal, Reply, Request};

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
    /// What the device is asked.
    pub request: Request,
    /// How its reply is told.
    pub told: ReplyFormat,
}

/// How the reply of the device becomes the answer to the client.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplyFormat {
    done: SuccessAnswer,
    mismatch: &'static str,
}

/// The answer if the request succeeds.
#[derive(Debug, Clone, PartialEq)]
enum SuccessAnswer {
    /// This, whatever the device says of it.
    Says(Answer),
    /// What the LEDs show then.
    Lights,
}

impl DeviceCall {
    /// A request; when it is done there is nothing to say.
    pub fn of(request: Request) -> DeviceCall {
        DeviceCall::telling(request, Answer::done())
    }

    /// A request, and what is told when it is done.
    pub fn telling(request: Request, answer: Answer) -> DeviceCall {
        DeviceCall {
            request,
            told: ReplyFormat {
                done: SuccessAnswer::Says(answer),
                mismatch: "count mismatch",
            },
        }
    }

    /// A request after which the colours of the LEDs are told.
    pub fn telling_lights(request: Request) -> DeviceCall {
        let mut asked = DeviceCall::of(request);
        asked.told.done = SuccessAnswer::Lights;
        asked
    }

    /// With these words for a list that has not one entry per LED or channel.
    pub fn or_mismatch(mut self, words: &'static str) -> DeviceCall {
        self.told.mismatch = words;
        self
    }
}

impl ReplyFormat {
    /// Tells a reply.
    pub fn answer(self, reply: Reply) -> Answer {
        match reply {
            Reply::Done => match self.done {
                SuccessAnswer::Says(answer) => answer,
                SuccessAnswer::Lights => Answer::done(),
            },
            Reply::Lights(colours) => match self.done {
                SuccessAnswer::Says(answer) => answer,
                SuccessAnswer::Lights => Answer::json(&Lights(status::leds(&colours))),
            },
            // Only doors that can draw ask for one, and nobody asks by a door what came of headers.
            Reply::Picture(_) | Reply::Frame(_) | Reply::Headers(_) => Answer::done(),
            Reply::Changed(changed) => Answer::changed(&changed),
            Reply::Rejected(rejection) => Answer::rejected(&rejection),
            Reply::Refused(Refusal::WrongCount) => Answer::bad_request(self.mismatch),
            Reply::Refused(refusal) => refused(refusal),
        }
    }
}

/// Tells why the device refused.
pub fn refused(refusal: Refusal) -> Answer {
    match refusal {
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
        Refusal::NotErased => Answer::with(500, &NotErased { error: NOT_ERASED }),
    }
}
