//! Requests of remote displays and of their owner.

use market::now::Now;

use super::Device;
use crate::{
    displays::{
        Display, DisplayContact, DisplayContent, DisplayRequest, IdBytes, RotationStep, TokenDigest,
    },
    output::Output,
    request::{Changed, Refusal, Reply},
};

impl Device {
    /// Handles a request of a remote display or about one.
    pub(super) fn answer_display(
        &mut self,
        request: DisplayRequest,
        now: Now,
        output: &mut Output,
    ) -> Reply {
        let handled = self.act_on_display(request, now, output);
        self.displays.apply_settings(&self.settings.active);
        handled.map(|()| Changed::default())
    }

    fn act_on_display(
        &mut self,
        request: DisplayRequest,
        now: Now,
        output: &mut Output,
    ) -> Result<(), Refusal> {
        match request {
            DisplayRequest::Contact {
                token,
                id,
                contact,
                step,
            } => self.record_contact(token, id, contact, step, now),
            DisplayRequest::Log(token, lines) => {
                self.displays.add_log(token, lines, &self.settings.active)
            }
            DisplayRequest::Add(token, id, change) => {
                let display = self
                    .displays
                    .add(token, id, change, &self.settings.active)?;
                self.change(|settings| settings.displays.push(display), now, output);
                Ok(())
            }
            DisplayRequest::Change(id, change) => {
                let approved = self.displays.change(&id, change, &self.settings.active)?;
                self.change(|settings| settings.displays = approved, now, output);
                Ok(())
            }
            DisplayRequest::Remove(id) => {
                let is_it = |display: &Display| display.id == id;
                if self.settings.active.displays.iter().any(is_it) {
                    let remove = |display: &Display| !is_it(display);
                    self.change(|settings| settings.displays.retain(remove), now, output);
                    Ok(())
                } else if self.displays.remove_waiting(&id) {
                    Ok(())
                } else {
                    Err(Refusal::UnknownDisplay)
                }
            }
        }
    }

    /// Records the contact of a display, and when it will return.
    fn record_contact(
        &mut self,
        token: TokenDigest,
        id: IdBytes,
        contact: DisplayContact,
        step: RotationStep,
        now: Now,
    ) -> Result<(), Refusal> {
        let settings = &self.settings.active;
        let id = self
            .displays
            .contact(token, id, contact, settings, now.uptime)?;
        self.displays.apply_settings(settings);
        let Some(state) = self.displays.find(|display| display.id == id) else {
            return Err(Refusal::UnknownDisplay);
        };
        if !state.is_approved {
            return Ok(());
        }
        if state.display.content == DisplayContent::Rotation {
            self.displays.turn(&id, step, settings);
            self.displays.apply_settings(settings);
        }
        if let Some(state) = self.displays.find(|display| display.id == id) {
            let picture = self.view().display_picture(state, "", now)?;
            self.displays
                .record_return(&id, now.uptime + picture.returns_in);
        }
        Ok(())
    }
}
