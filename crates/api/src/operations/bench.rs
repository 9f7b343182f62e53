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
    operation::{Operation, ProgramOperation, get, post, serves},
    shape::{Shape, received, sent},
};

const UNSIMULATED: (u16, Shape) = (404, sent::<ErrorBody>());
const ACTED: &[(u16, Shape)] = &[OK, BAD, UNSIMULATED];

pub(super) const OPERATIONS: &[Operation] = &[
    serves(
        "Signals of the simulated board",
        ProgramOperation::BenchState,
        &[get("/sim/state")],
    )
    .always()
    .answers(&[(200, sent::<BenchState>()), UNSIMULATED]),
    serves(
        "The panels of the simulated board, also while it is an access point",
        ProgramOperation::BenchPanels,
        &[get("/sim/panels.png").asks(SCALE)],
    )
    .always()
    .answers(&[(200, Shape::Png), (304, Shape::Empty), BAD, UNSIMULATED]),
    serves(
        "Press buttons; answers after their release",
        ProgramOperation::BenchButtons,
        &[post("/sim/buttons")],
    )
    .takes(received::<ButtonPress>())
    .always()
    .answers(ACTED),
    serves(
        "Light in the room; null takes the sensor away",
        ProgramOperation::BenchLux,
        &[post("/sim/lux")],
    )
    .takes(received::<AmbientLight>())
    .always()
    .answers(ACTED),
    serves(
        "Plug the network in or pull it out",
        ProgramOperation::BenchLink,
        &[post("/sim/wifi")],
    )
    .takes(received::<LinkChange>())
    .always()
    .answers(ACTED),
    serves(
        "Cut the power and give it back",
        ProgramOperation::BenchPower,
        &[post("/sim/power")],
    )
    .takes(received::<PowerChange>())
    .always()
    .answers(ACTED),
    serves(
        "Let a block, a price jump or a payment happen, or take the relay of a demo away",
        ProgramOperation::BenchMarket,
        &[post("/sim/market")],
    )
    .takes(received::<MarketEvent>())
    .always()
    .answers(ACTED),
    serves(
        "Break a panel or mend it",
        ProgramOperation::BenchPanel,
        &[post("/sim/panel")],
    )
    .takes(received::<PanelFaultChange>())
    .always()
    .answers(ACTED),
];
