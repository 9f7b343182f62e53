//! Panels of six or seven colours, in black and white. Their commands resemble those of an UC8179.

use std::{collections::VecDeque, sync::Arc};

use super::{PanelStep, RESET_LIMIT, send, send_all, uc8179, uc8179::command};
use crate::parts::epaper::{PanelImage, PlaneForm, Registers, Setup};

/// Values of a pixel.
pub const BLACK: u8 = 0;
pub const WHITE: u8 = 1;

/// The parameter of the commands that switch the supply off and refresh.
const ZERO: &[u8] = &[0x00];

pub(super) fn full(
    registers: Registers,
    setup: &Setup,
    new: &Arc<PanelImage>,
) -> VecDeque<PanelStep> {
    let mut steps = VecDeque::from([PanelStep::Idle(RESET_LIMIT)]);
    steps.extend(send_all(registers));
    steps.push_back(uc8179::size(setup));
    let form = PlaneForm::Colours {
        black: BLACK,
        white: WHITE,
    };
    steps.push_back(PanelStep::Picture(
        command::WRITE_OLD,
        Arc::clone(new),
        form,
    ));
    steps.extend(uc8179::power(command::POWER_ON, &[]));
    steps.push_back(PanelStep::Activate(command::REFRESH, ZERO));
    steps.extend(uc8179::power(command::POWER_OFF, ZERO));
    steps
}

pub(super) fn sleep() -> VecDeque<PanelStep> {
    let mut steps = VecDeque::from([PanelStep::Idle(RESET_LIMIT)]);
    steps.extend(uc8179::power(command::POWER_OFF, ZERO));
    steps.push_back(send(command::DEEP_SLEEP, &[uc8179::DEEP_SLEEP_CHECK]));
    steps
}
