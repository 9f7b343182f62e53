//! Operations that return the state of the clock.

use alloc::string::String;

use device::{history::Span, limits::PATCH_BODY_MAX};

use super::{
    params::{SCALE, param},
    responses::{BAD_REQUEST, UNAVAILABLE},
};
use crate::{
    answer::Answer,
    documents::{
        ErrorBody,
        history::{RecordedSeries, ValueHistory},
        screens::{FrameDepth, FrameHeight, FrameLayout, FrameRotation, FrameWidth, ScreenId},
        settings::SettingsChange,
    },
    operation::{Guard, Operation, Param, by_program, from_view, get, post, web_socket},
    schema::Word,
    shape::{Shape, received, sent},
    status::{Status, SystemStatus, Widget},
};

const WATCHED: &[Param] = &[param(
    "bench",
    received::<String>(),
    "If present, with any value, the stream also has the signals of a simulated board, as `event: bench`.",
)];

const HISTORY: &[Param] = &[
    param(
        "series",
        received::<Word<RecordedSeries>>(),
        "What to return; `price` if omitted.",
    ),
    param(
        "currency",
        received::<String>(),
        "ISO 4217 code of an active currency, for `price`; the first one if omitted.",
    ),
    param(
        "span",
        received::<Word<Span>>(),
        "How far back; `day` if omitted. Only prices have a `year`.",
    ),
];

/// Form of a picture of any size.
pub(super) const FRAME: &[Param] = &[
    param(
        "width",
        received::<FrameWidth>(),
        "Width, px, 200 to 3840; 800 if omitted.",
    ),
    param(
        "height",
        received::<FrameHeight>(),
        "Height, px, 100 to 2160; 480 if omitted.",
    ),
    param(
        "rotate",
        received::<FrameRotation>(),
        "Clockwise rotation, degrees: 0, 90, 180 or 270.",
    ),
    param(
        "depth",
        received::<FrameDepth>(),
        "Bits per pixel: 1, 2, 4 or 8; 4 if omitted.",
    ),
    param(
        "layout",
        received::<FrameLayout>(),
        "`figure` for one screen as a large figure, also `auto` or omitted; `board` for several, those of `boardScreens`; `cells` for the panels, also as `row`, `two-rows` or `column`.",
    ),
    param(
        "dark",
        received::<bool>(),
        "White on black; as the panels if omitted.",
    ),
    param(
        "screen",
        received::<ScreenId>(),
        "Id of a screen to draw instead of what the panels show.",
    ),
];

pub(super) const OPERATIONS: &[Operation] = &[
    by_program("Get the state of the clock", &[get("/api/status")])
        .answers(&[(200, sent::<Status>())]),
    by_program(
        "Get the state of the hardware",
        &[get("/api/system/status"), get("/api/system_status")],
    )
    .command_words("system")
    .answers(&[(200, sent::<SystemStatus>())]),
    // Open: the home server reads it without a password, and its values are public.
    from_view(
        "Get four values for the page of a home server",
        |view| Answer::json(&Widget::of(view)),
        &[get("/api/widget")],
    )
    .guard(Guard::Open)
    .answers(&[(200, sent::<Widget>())]),
    by_program(
        "Get how a value has moved",
        &[get("/api/history").query(HISTORY)],
    )
    .answers(&[
        (200, sent::<ValueHistory>()),
        (304, Shape::Empty),
        BAD_REQUEST,
    ]),
    by_program(
        "Stream events of the clock",
        &[get("/events").query(WATCHED)],
    )
    .answers(&[(200, Shape::Events), UNAVAILABLE]),
    by_program(
        "Draw all panels as one picture",
        &[get("/api/panels.png").query(SCALE)],
    )
    .answers(&[(200, Shape::Png), (304, Shape::Empty), BAD_REQUEST]),
    by_program(
        "Draw one panel, pixel by pixel",
        &[get("/api/panels/{i}.png").path_parameter(received::<u64>())],
    )
    .command_words("panel")
    .answers(&[
        (200, Shape::Png),
        (304, Shape::Empty),
        (404, sent::<ErrorBody>()),
    ]),
    by_program(
        "Draw the clock as a picture of any size",
        &[get("/api/frame.png").query(FRAME)],
    )
    .command_words("frame")
    .answers(&[
        (200, Shape::Png),
        (304, Shape::Empty),
        BAD_REQUEST,
        (409, sent::<ErrorBody>()),
        UNAVAILABLE,
    ]),
    by_program(
        "Draw the clock as a BMP picture of any size",
        &[get("/api/frame.bmp").query(FRAME)],
    )
    .command_words("frame bmp")
    .answers(&[
        (200, Shape::Bmp),
        (304, Shape::Empty),
        BAD_REQUEST,
        (409, sent::<ErrorBody>()),
        UNAVAILABLE,
    ]),
    by_program(
        "Draw the clock as a picture of any size as it would be after a change of settings, without the change",
        &[post("/api/frame.png").query(FRAME)],
    )
    .command_words("frame preview")
    .body(received::<SettingsChange>())
    .body_max(PATCH_BODY_MAX)
    .answers(&[
        (200, Shape::Png),
        (304, Shape::Empty),
        BAD_REQUEST,
        (409, sent::<ErrorBody>()),
        UNAVAILABLE,
    ]),
    by_program(
        "Stream the panels over a WebSocket",
        &[web_socket("/api/preview/ws")],
    )
    .command_words("watch")
    .answers(&[(101, Shape::Empty), (426, sent::<ErrorBody>()), UNAVAILABLE]),
];
