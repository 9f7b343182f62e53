//! Requests of remote displays and of their owner.

use alloc::{boxed::Box, vec::Vec};
use core::time::Duration;

use market::now::Now;

use super::Device;
use crate::{
    displays::{
        self, Display, DisplayContact, DisplayContent, DisplayPicture, DisplayRequest, IdBytes,
        RotationStep, TokenDigest,
        schedule::{self, PowerSource},
    },
    frames::{Frame, FrameContent},
    glass::panels::style,
    output::Output,
    request::{Refusal, Reply},
    rotation::BLOCK_HEIGHT,
};

impl Device {
    /// Handles a request of a remote display or about one.
    pub(super) fn answer_display(
        &mut self,
        request: DisplayRequest,
        now: Now,
        output: &mut Output,
    ) -> Reply {
        let reply = self.act_on_display(request, now, output);
        self.displays.apply_settings(self.settings.active());
        reply.unwrap_or_else(Reply::Refused)
    }

    fn act_on_display(
        &mut self,
        request: DisplayRequest,
        now: Now,
        output: &mut Output,
    ) -> Result<Reply, Refusal> {
        match request {
            DisplayRequest::SetUp(token, id, contact) => {
                self.set_up_display(token, id, contact, now)
            }
            DisplayRequest::Poll {
                token,
                contact,
                step,
                page,
            } => self.poll(token, contact, step, &page, now),
            DisplayRequest::Log(token, lines) => {
                let settings = self.settings.active();
                let added = self.displays.add_log(token, lines, settings);
                added.map(|()| Reply::Done)
            }
            DisplayRequest::Add(token, id, change) => {
                let settings = self.settings.active();
                let added = self.displays.add(token, id, change, settings);
                added.and_then(|display| {
                    let id = display.id.clone();
                    self.change(|settings| settings.displays.push(display), now, output);
                    self.display_state(&id)
                })
            }
            DisplayRequest::Change(id, change) => {
                let settings = self.settings.active();
                let changed = self.displays.change(&id, change, settings);
                changed.and_then(|approved| {
                    self.change(|settings| settings.displays = approved, now, output);
                    self.display_state(&id)
                })
            }
            DisplayRequest::Remove(id) => {
                let is_it = |display: &Display| display.id == id;
                if self.settings.active().displays.iter().any(is_it) {
                    let remove = |display: &Display| !is_it(display);
                    self.change(|settings| settings.displays.retain(remove), now, output);
                    Ok(Reply::Done)
                } else if self.displays.remove_waiting(&id) {
                    Ok(Reply::Done)
                } else {
                    Err(Refusal::UnknownDisplay)
                }
            }
        }
    }

    fn set_up_display(
        &mut self,
        token: TokenDigest,
        id: IdBytes,
        contact: DisplayContact,
        now: Now,
    ) -> Result<Reply, Refusal> {
        let settings = self.settings.active();
        let id = self
            .displays
            .contact(token, id, contact, settings, now.uptime)?;
        self.display_state(&id)
    }

    fn display_state(&mut self, id: &str) -> Result<Reply, Refusal> {
        self.displays.apply_settings(self.settings.active());
        let state = self.displays.find(|display| display.id == id);
        let state = state.ok_or(Refusal::UnknownDisplay)?;
        Ok(Reply::Display(Box::new(state.clone())))
    }

    /// The picture for a display.
    fn poll(
        &mut self,
        token: TokenDigest,
        contact: Option<(IdBytes, DisplayContact)>,
        step: RotationStep,
        page: &str,
        now: Now,
    ) -> Result<Reply, Refusal> {
        let is_contact = contact.is_some();
        if let Some((id, contact)) = contact {
            let settings = self.settings.active();
            self.displays
                .contact(token, id, contact, settings, now.uptime)?;
            self.displays.apply_settings(settings);
        }
        let state = self.displays.find(|display| display.token == token);
        let state = state.ok_or(Refusal::UnknownDisplay)?;
        let (display, is_approved) = (state.display.clone(), state.is_approved);
        let power = state.report.contact.power();
        if !is_approved {
            let style = style(self.settings.active());
            return Ok(Reply::DisplayPicture(Box::new(DisplayPicture {
                frame: displays::waiting_frame(&display.id, page, self.board.panels, style),
                returns_in: displays::WAITING_RETURN,
                is_approved,
                display,
            })));
        }
        let frame = self.display_frame(&display, step, now)?;
        let returns_in = self.returns_in(&display, &frame, power);
        if is_contact {
            self.displays
                .record_return(&display.id, now.uptime + returns_in);
        }
        Ok(Reply::DisplayPicture(Box::new(DisplayPicture {
            frame,
            returns_in,
            is_approved,
            display,
        })))
    }

    /// The frame that an approved display shows: the block height if the feature of its screen is off.
    fn display_frame(
        &mut self,
        display: &Display,
        step: RotationStep,
        now: Now,
    ) -> Result<Frame, Refusal> {
        let settings = self.settings.active();
        let available = display.screens.iter().copied();
        let available = available.filter(|id| settings.is_screen_available(*id));
        let screens: Vec<u16> = available.collect();
        let place = match display.content {
            DisplayContent::Clock => None,
            DisplayContent::Screen => Some(0),
            DisplayContent::Rotation => Some(self.displays.turn(&display.id, screens.len(), step)),
        };
        let content = place.map_or(FrameContent::Follow, |place| {
            FrameContent::Screen(screens.get(place).copied().unwrap_or(BLOCK_HEIGHT))
        });
        self.frame_composer().frame(content, now)
    }

    /// The time after which a display returns for the frame after this one.
    fn returns_in(&self, display: &Display, frame: &Frame, power: PowerSource) -> Duration {
        let settings = self.settings.active();
        let turn_period = Duration::from_secs(settings.timer_seconds.into());
        let interval = Duration::from_secs(u64::from(display.interval_min) * 60);
        schedule::returns_in(&frame.changes, turn_period, interval, power)
    }
}
