//! Operations on the table on which a simulated board lies.

use super::words::{BAD, OK, SCALE};
use crate::{
    documents::{
        ErrorBody,
        bench::{
            AmbientLight, BenchState, ButtonPress, LinkChange, MarketEvent, PanelFaultChange,
            PowerChange,
        },
    },
    operation::{Operation, ProgramOperation, by_program, get, post},
    shape::{Shape, received, sent},
};

const UNSIMULATED: (u16, Shape) = (404, sent::<ErrorBody>());
const ACTED: &[(u16, Shape)] = &[OK, BAD, UNSIMULATED];

pub(super) const OPERATIONS: &[Operation] = &[
    by_program(
        "Signals of the simulated board",
        ProgramOperation::BenchState,
        &[get("/sim/state")],
    )
    .also_in_portal()
    .answers(&[(200, sent::<BenchState>()), UNSIMULATED]),
    by_program(
        "The panels of the simulated board, also while it is an access point",
        ProgramOperation::BenchPanels,
        &[get("/sim/panels.png").query(SCALE)],
    )
    .also_in_portal()
    .answers(&[(200, Shape::Png), (304, Shape::Empty), BAD, UNSIMULATED]),
    by_program(
        "Press buttons; answers after their release",
        ProgramOperation::BenchButtons,
        &[post("/sim/buttons")],
    )
    .body(received::<ButtonPress>())
    .also_in_portal()
    .answers(ACTED),
    by_program(
        "Light in the room; null takes the sensor away",
        ProgramOperation::BenchLux,
        &[post("/sim/lux")],
    )
    .body(received::<AmbientLight>())
    .also_in_portal()
    .answers(ACTED),
    by_program(
        "Plug the network in or pull it out",
        ProgramOperation::BenchLink,
        &[post("/sim/wifi")],
    )
    .body(received::<LinkChange>())
    .also_in_portal()
    .answers(ACTED),
    by_program(
        "Cut the power and give it back",
        ProgramOperation::BenchPower,
        &[post("/sim/power")],
    )
    .body(received::<PowerChange>())
    .also_in_portal()
    .answers(ACTED),
    by_program(
        "Let a block, a price jump or a payment happen, or take the relay of a demo away",
        ProgramOperation::BenchMarket,
        &[post("/sim/market")],
    )
    .body(received::<MarketEvent>())
    .also_in_portal()
    .answers(ACTED),
    by_program(
        "Break a panel or mend it",
        ProgramOperation::BenchPanel,
        &[post("/sim/panel")],
    )
    .body(received::<PanelFaultChange>())
    .also_in_portal()
    .answers(ACTED),
];
