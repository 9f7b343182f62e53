//! Operations of the simulation: signals and inputs of a simulated board.

use super::{
    params::SCALE,
    responses::{BAD_REQUEST, OK},
};
use crate::{
    documents::{
        ErrorBody,
        bench::{
            AmbientLight, BenchState, ButtonPress, LinkChange, MarketEvent, PanelFaultChange,
            PowerChange,
        },
    },
    operation::{Operation, by_program, get, post},
    shape::{Shape, received, sent},
};

const UNSIMULATED: (u16, Shape) = (404, sent::<ErrorBody>());
const ACTED: &[(u16, Shape)] = &[OK, BAD_REQUEST, UNSIMULATED];

pub(super) const OPERATIONS: &[Operation] = &[
    by_program(
        "Get the signals of the simulated board",
        &[get("/sim/state")],
    )
    .also_in_portal()
    .answers(&[(200, sent::<BenchState>()), UNSIMULATED]),
    by_program(
        "Draw the panels of the simulated board, also while it is an access point",
        &[get("/sim/panels.png").query(SCALE)],
    )
    .also_in_portal()
    .answers(&[
        (200, Shape::Png),
        (304, Shape::Empty),
        BAD_REQUEST,
        UNSIMULATED,
    ]),
    by_program(
        "Press buttons of the simulated board; answers after the release",
        &[post("/sim/buttons")],
    )
    .body(received::<ButtonPress>())
    .also_in_portal()
    .answers(ACTED),
    by_program(
        "Set the simulated ambient light; null removes the sensor",
        &[post("/sim/lux")],
    )
    .body(received::<AmbientLight>())
    .also_in_portal()
    .answers(ACTED),
    by_program(
        "Connect or disconnect the simulated network",
        &[post("/sim/wifi")],
    )
    .body(received::<LinkChange>())
    .also_in_portal()
    .answers(ACTED),
    by_program(
        "Cut the simulated power and restore it",
        &[post("/sim/power")],
    )
    .body(received::<PowerChange>())
    .also_in_portal()
    .answers(ACTED),
    by_program(
        "Simulate a block, a price jump or a payment, or disconnect the relay of a demo",
        &[post("/sim/market")],
    )
    .body(received::<MarketEvent>())
    .also_in_portal()
    .answers(ACTED),
    by_program("Break or repair a simulated panel", &[post("/sim/panel")])
        .body(received::<PanelFaultChange>())
        .also_in_portal()
        .answers(ACTED),
];
