//! The table of all operations: router, guards and the API description are made of it.

use http::Method;

use super::{
    answer, control, diag, events, lights, metrics, openapi, pages, panels, portal, preview,
    route::{Group, Guard, Param, Route, change, get, later, old, post, read},
    settings,
    shape::Shape,
    show, sim, status, update,
};

const OK: (u16, Shape) = (200, Shape::Empty);
const BAD: (u16, Shape) = (400, Shape::Error);
const LACKING: (u16, Shape) = (503, Shape::Error);

const SCREEN: &[Param] = &[param(
    "s",
    Shape::Screen,
    "Id of the screen, or its place in the rotation.",
)];
const CURRENCY: &[Param] = &[param("c", Shape::Text, "ISO 4217 code.")];
const TEXT: &[Param] = &[param("t", Shape::Text, "The text.")];
const COLOUR: &[Param] = &[param(
    "c",
    Shape::ColourName,
    "`RRGGBB`, `#RRGGBB` or `off`.",
)];
const BRIGHTNESS: &[Param] = &[param("b", Shape::Duty, "PWM duty, 0 to 65535.")];
const TX_POWER: &[Param] = &[param(
    "txPower",
    Shape::Integer,
    "Quarter-dBm, -1 to 78; 80 clears it.",
)];
const SCALE: &[Param] = &[param("scale", Shape::Scale, "Pixels per pixel, 1 to 8.")];
const DIGEST: &[Param] = &[param(
    "sha256",
    Shape::Text,
    "SHA-256 of the image, 64 hex digits.",
)];

const SHOWN: &[(u16, Shape)] = &[OK, BAD, (409, Shape::Error)];
const PRICED: &[(u16, Shape)] = &[OK, (404, Shape::Error)];
const PATCHED: &[(u16, Shape)] = &[(200, Shape::Patched), BAD, (412, Shape::Error)];
const COLOURED: &[(u16, Shape)] = &[(200, Shape::Lights), BAD, LACKING];
const LIT: &[(u16, Shape)] = &[OK, LACKING];
const LIT_BY: &[(u16, Shape)] = &[OK, BAD, LACKING];
const PICTURE: &[(u16, Shape)] = &[(200, Shape::Png), (304, Shape::Empty), BAD];
const UPLOADED: &[(u16, Shape)] = &[
    (200, Shape::Uploaded),
    BAD,
    (403, Shape::Error),
    (411, Shape::Error),
    (413, Shape::Oversize),
    (500, Shape::Error),
    LACKING,
];
const UPDATED: &[(u16, Shape)] = &[
    (200, Shape::Message),
    (403, Shape::Error),
    (503, Shape::Message),
];

const UNSIMULATED: (u16, Shape) = (404, Shape::Error);
const BENCH_PICTURE: &[(u16, Shape)] = &[(200, Shape::Png), (304, Shape::Empty), BAD, UNSIMULATED];
const ACTED: &[(u16, Shape)] = &[OK, BAD, UNSIMULATED];

const JOINED: &[(u16, Shape)] = &[
    (200, Shape::Joined),
    (400, Shape::Error),
    (401, Shape::NotJoined),
    (422, Shape::NotJoined),
    (500, Shape::NotJoined),
    (503, Shape::NotJoined),
    LACKING,
];

const fn param(name: &'static str, shape: Shape, doc: &'static str) -> Param {
    Param { name, shape, doc }
}

/// All operations.
pub(crate) static ROUTES: &[Group] = &[
    Group {
        name: "State",
        routes: STATE,
    },
    Group {
        name: "Settings",
        routes: SETTINGS,
    },
    Group {
        name: "Screens",
        routes: SCREENS,
    },
    Group {
        name: "Lights",
        routes: LIGHTS,
    },
    Group {
        name: "Device",
        routes: DEVICE,
    },
    Group {
        name: "Updates",
        routes: UPDATES,
    },
    Group {
        name: "Diagnostics",
        routes: DIAGNOSTICS,
    },
    Group {
        name: "Bench",
        routes: BENCH,
    },
    Group {
        name: "Access point",
        routes: ACCESS_POINT,
    },
    Group {
        name: "Page",
        routes: PAGE,
    },
];

const STATE: &[Route] = &[
    get("/api/status", "State of the clock", |call| {
        answer::json_bytes(call.state.status(&call.view).text)
    })
    .answers(&[(200, Shape::Status)]),
    get(
        "/api/system/status",
        "State of the hardware",
        status::system_status,
    )
    .answers(&[(200, Shape::System)]),
    get(
        "/api/system_status",
        "State of the hardware",
        status::system_status,
    )
    .answers(&[(200, Shape::System)]),
    get("/events", "Follow the clock", events::follow).answers(&[(200, Shape::Events), LACKING]),
    get("/api/panels.png", "All panels as one picture", panels::all)
        .asks(SCALE)
        .answers(PICTURE),
    get(
        "/api/panels/{i}.png",
        "One panel as a picture, pixel by pixel",
        panels::one,
    )
    .open(Shape::Integer)
    .answers(&[(200, Shape::Png), (304, Shape::Empty), (404, Shape::Error)]),
    change(
        Method::GET,
        "/api/preview/ws",
        "Watch the panels over a web socket",
        later!(preview::open),
    )
    .answers(&[(101, Shape::Empty), (426, Shape::Error), LACKING]),
];

const SETTINGS: &[Route] = &[
    get("/api/settings", "All settings", settings::read).answers(&[(200, Shape::Settings)]),
    change(
        Method::PATCH,
        "/api/settings",
        "Change settings",
        later!(settings::patch),
    )
    .takes(Shape::Change)
    .answers(PATCHED),
    post("/api/settings", "Change settings", later!(settings::patch))
        .takes(Shape::Change)
        .answers(PATCHED),
    change(
        Method::PATCH,
        "/api/json/settings",
        "Change settings",
        later!(settings::patch),
    )
    .takes(Shape::Change)
    .answers(PATCHED),
    post(
        "/api/json/settings",
        "Change settings",
        later!(settings::patch),
    )
    .takes(Shape::Change)
    .answers(PATCHED),
];

const SCREENS: &[Route] = &[
    post("/api/show/screen", "Show a screen", later!(show::screen))
        .takes_or_asks(Shape::ScreenChoice, SCREEN)
        .answers(SHOWN),
    old(
        "/api/show/screen/{id}",
        "Show a screen",
        later!(show::screen_in_path),
    )
    .open(Shape::Screen)
    .or("1")
    .answers(SHOWN),
    post(
        "/api/show/currency",
        "Show prices in a currency",
        later!(show::currency),
    )
    .takes_or_asks(Shape::CurrencyChoice, CURRENCY)
    .answers(PRICED),
    old(
        "/api/show/currency/{code}",
        "Show prices in a currency",
        later!(show::currency_in_path),
    )
    .answers(PRICED),
    post(
        "/api/show/text",
        "Show a text, one character per panel",
        later!(show::text),
    )
    .takes_or_asks(Shape::Words, TEXT)
    .answers(&[OK, BAD]),
    old(
        "/api/show/text/{text}",
        "Show a text, one character per panel",
        later!(show::text_in_path),
    ),
    post(
        "/api/show/custom",
        "Show a text per panel",
        later!(show::custom),
    )
    .takes(Shape::Cells)
    .answers(&[OK, BAD]),
    post(
        "/api/screen/next",
        "Show the next screen",
        later!(control::next),
    ),
    post(
        "/api/screen/previous",
        "Show the previous screen",
        later!(control::previous),
    ),
    post(
        "/api/action/pause",
        "Stop the rotation",
        later!(control::pause),
    ),
    old(
        "/api/action/pause",
        "Stop or start the rotation",
        later!(control::toggle_pause),
    ),
    post(
        "/api/action/timer_restart",
        "Start the rotation anew",
        later!(control::timer_restart),
    ),
    old(
        "/api/action/timer_restart",
        "Start the rotation anew",
        later!(control::timer_restart),
    ),
    post(
        "/api/full_refresh",
        "Refresh all panels fully",
        later!(control::full_refresh),
    ),
    old(
        "/api/full_refresh",
        "Refresh all panels fully",
        later!(control::full_refresh),
    ),
    post(
        "/api/action/simulate_zap",
        "Act as if a zap had come in",
        later!(show::simulate_zap),
    )
    .takes_or_asks(Shape::Zap, &[]),
];

const LIGHTS: &[Route] = &[
    get("/api/lights", "Colours of the LED strip", lights::read)
        .answers(&[(200, Shape::Lights), LACKING]),
    post(
        "/api/lights/color",
        "One colour for all LEDs",
        later!(lights::color),
    )
    .takes_or_asks(Shape::Colour, COLOUR)
    .answers(COLOURED),
    old(
        "/api/lights/color/{color}",
        "One colour for all LEDs",
        later!(lights::color_in_path),
    )
    .open(Shape::ColourName)
    .answers(COLOURED),
    old(
        "/api/lights/{color}",
        "One colour for all LEDs",
        later!(lights::color_in_path),
    )
    .open(Shape::Hex)
    .answers(COLOURED),
    post(
        "/api/lights/set",
        "A colour per LED, or one for all",
        later!(lights::set),
    )
    .takes(Shape::Pixels)
    .answers(LIT_BY),
    change(
        Method::PATCH,
        "/api/lights/set",
        "A colour per LED, or one for all",
        later!(lights::set),
    )
    .takes(Shape::Pixels)
    .answers(LIT_BY),
    post("/api/lights/off", "All LEDs off", later!(lights::off)).answers(LIT),
    old("/api/lights/off", "All LEDs off", later!(lights::off)).answers(LIT),
    post(
        "/api/lights/effect",
        "Play an effect on the LED strip",
        later!(lights::effect),
    )
    .takes(Shape::EffectChoice)
    .answers(&[(200, Shape::Queued), BAD, LACKING]),
    get(
        "/api/frontlight/status",
        "Duty of each frontlight channel",
        lights::frontlight_status,
    )
    .answers(&[(200, Shape::FrontlightStatus), LACKING]),
    post(
        "/api/frontlight/on",
        "Frontlight on",
        later!(lights::frontlight_on),
    )
    .answers(LIT),
    old(
        "/api/frontlight/on",
        "Frontlight on",
        later!(lights::frontlight_on),
    )
    .answers(LIT),
    post(
        "/api/frontlight/off",
        "Frontlight off",
        later!(lights::frontlight_off),
    )
    .answers(LIT),
    old(
        "/api/frontlight/off",
        "Frontlight off",
        later!(lights::frontlight_off),
    )
    .answers(LIT),
    post(
        "/api/frontlight/flash",
        "Flash the frontlight",
        later!(lights::frontlight_flash),
    )
    .answers(LIT),
    old(
        "/api/frontlight/flash",
        "Flash the frontlight",
        later!(lights::frontlight_flash),
    )
    .answers(LIT),
    post(
        "/api/frontlight/brightness",
        "Brightness of the frontlight",
        later!(lights::brightness),
    )
    .takes_or_asks(Shape::Brightness, BRIGHTNESS)
    .answers(LIT_BY),
    old(
        "/api/frontlight/brightness/{duty}",
        "Brightness of the frontlight",
        later!(lights::brightness_in_path),
    )
    .open(Shape::Duty)
    .answers(LIT_BY),
    post(
        "/api/frontlight/set",
        "A duty per frontlight channel",
        later!(lights::duties),
    )
    .takes(Shape::Duties)
    .answers(LIT_BY),
    get("/api/dnd/status", "Do Not Disturb", |call| {
        answer::json(&status::dnd(&call.view))
    })
    .answers(&[(200, Shape::Dnd)]),
    post(
        "/api/dnd/enable",
        "Do Not Disturb on, by hand",
        later!(control::dnd_on),
    ),
    old(
        "/api/dnd/enable",
        "Do Not Disturb on, by hand",
        later!(control::dnd_on),
    ),
    post(
        "/api/dnd/disable",
        "Do Not Disturb off, by hand",
        later!(control::dnd_off),
    ),
    old(
        "/api/dnd/disable",
        "Do Not Disturb off, by hand",
        later!(control::dnd_off),
    ),
];

const DEVICE: &[Route] = &[
    post(
        "/api/identify",
        "Make the clock recognisable",
        later!(control::identify),
    ),
    old(
        "/api/identify",
        "Make the clock recognisable",
        later!(control::identify),
    ),
    post(
        "/api/restart",
        "Restart the clock",
        later!(control::restart),
    ),
    old(
        "/api/restart",
        "Restart the clock",
        later!(control::restart),
    ),
    post(
        "/api/factory_reset",
        "Wipe every setting and restart",
        later!(control::factory_reset),
    )
    .takes(Shape::Confirmation)
    .answers(&[(200, Shape::Message), BAD, (500, Shape::NotErased)]),
    post(
        "/api/stop_datasources",
        "Stop all data sources",
        later!(control::stop_sources),
    ),
    post(
        "/api/restart_datasources",
        "Stop and start all data sources",
        later!(control::restart_sources),
    ),
    post(
        "/api/action/clear_pool_logos",
        "Forget the pool logos and fetch them again",
        later!(control::clear_logos),
    )
    .answers(&[(200, Shape::Removed)]),
    post(
        "/api/wifi_set_tx_power",
        "Transmit power of the radio",
        later!(control::tx_power),
    )
    .takes_or_asks(Shape::TxPower, TX_POWER)
    .answers(&[(200, Shape::TxPowerSet), BAD]),
];

const UPDATES: &[Route] = &[
    post(
        "/api/firmware/auto_update",
        "Fetch and install the newest release",
        later!(update::automatic),
    )
    .guarded(Guard::Control)
    .answers(UPDATED),
    old(
        "/api/firmware/auto_update",
        "Fetch and install the newest release",
        later!(update::automatic),
    )
    .answers(UPDATED),
    post(
        "/upload/firmware",
        "Install a firmware image",
        later!(update::firmware),
    )
    .guarded(Guard::Upload)
    .takes_or_asks(Shape::Image, DIGEST)
    .answers(UPLOADED),
    post(
        "/upload/webui",
        "Install a web bundle",
        later!(update::web_bundle),
    )
    .guarded(Guard::Upload)
    .takes(Shape::Image)
    .answers(UPLOADED),
];

const DIAGNOSTICS: &[Route] = &[
    read(
        "/api/coredump",
        "The last crash dump",
        later!(diag::coredump),
    )
    .answers(&[(200, Shape::Bytes), (404, Shape::Error)]),
    change(
        Method::DELETE,
        "/api/coredump",
        "Forget the last crash dump",
        later!(diag::forget_coredump),
    )
    .answers(&[(200, Shape::Empty), (500, Shape::Error)]),
    post(
        "/api/diag/heap_trace/start",
        "Start tracing allocations",
        later!(diag::start_trace),
    )
    .takes_or_asks(
        Shape::TraceSize,
        &[param("cap", Shape::Integer, "Records to keep, 1 to 4096.")],
    )
    .answers(&[(200, Shape::TraceStarted), LACKING]),
    post(
        "/api/diag/heap_trace/stop",
        "Stop tracing allocations",
        later!(diag::stop_trace),
    )
    .answers(&[(200, Shape::Trace), (409, Shape::Error)]),
    get("/api/diag/heap", "Memory by kind", diag::heap).answers(&[(200, Shape::Heap)]),
];

const BENCH: &[Route] = &[
    get("/sim/state", "Signals of the simulated board", sim::state)
        .always()
        .answers(&[(200, Shape::Bench), UNSIMULATED]),
    get(
        "/sim/panels.png",
        "The panels of the simulated board, also while it is an access point",
        sim::panels,
    )
    .asks(SCALE)
    .always()
    .answers(BENCH_PICTURE),
    post(
        "/sim/buttons",
        "Press buttons; answers after their release",
        later!(sim::buttons),
    )
    .takes(Shape::Press)
    .always()
    .answers(ACTED),
    post(
        "/sim/lux",
        "Light in the room; null takes the sensor away",
        later!(sim::lux),
    )
    .takes(Shape::Lux)
    .always()
    .answers(ACTED),
    post(
        "/sim/wifi",
        "Plug the network in or pull it out",
        later!(sim::wifi),
    )
    .takes(Shape::LinkChange)
    .always()
    .answers(ACTED),
    post(
        "/sim/power",
        "Cut the power and give it back",
        later!(sim::power),
    )
    .takes(Shape::PowerChange)
    .always()
    .answers(ACTED),
    post("/sim/panel", "Break a panel or mend it", later!(sim::panel))
        .takes(Shape::Fault)
        .always()
        .answers(ACTED),
];

const ACCESS_POINT: &[Route] = &[
    read("/scan", "Networks in reach", later!(portal::scan))
        .guarded(Guard::Portal)
        .answers(&[(200, Shape::Networks)]),
    read("/api/scan", "Networks in reach", later!(portal::scan))
        .guarded(Guard::Portal)
        .answers(&[(200, Shape::Networks)]),
    post("/save", "Join a network", later!(portal::save))
        .guarded(Guard::Portal)
        .takes(Shape::Credentials)
        .answers(JOINED),
    post("/api/wifi", "Join a network", later!(portal::save))
        .guarded(Guard::Portal)
        .takes(Shape::Credentials)
        .answers(JOINED),
];

const PAGE: &[Route] = &[
    get("/", "The page", pages::named)
        .guarded(Guard::Open)
        .answers(&[(200, Shape::Html), (304, Shape::Empty)]),
    get("/manifest.json", "Versions of the page", pages::manifest)
        .guarded(Guard::Open)
        .answers(&[(200, Shape::Manifest), (304, Shape::Empty)]),
    get("/docs", "This description, for people", pages::named)
        .guarded(Guard::Open)
        .answers(&[(200, Shape::Html), (304, Shape::Empty)]),
    get(
        "/openapi.json",
        "This description, for programs",
        openapi::read,
    )
    .guarded(Guard::Open)
    .answers(&[(200, Shape::Json), (304, Shape::Empty)]),
    get("/healthz", "The server answers", |_| {
        answer::json(&serde_json::json!({ "ok": true }))
    })
    .guarded(Guard::Open)
    .always()
    .answers(&[(200, Shape::Health)]),
    get("/readyz", "The clock runs", pages::ready)
        .guarded(Guard::Open)
        .always()
        .answers(&[(200, Shape::Health), (503, Shape::Health)]),
    get("/metrics", "Figures for a monitoring system", metrics::read)
        .answers(&[(200, Shape::Metrics)]),
];
