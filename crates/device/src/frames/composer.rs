//! Composes pictures from a snapshot of the device, which itself is not involved.

use alloc::{string::String, sync::Arc, vec::Vec};
use core::time::Duration;

use market::now::Now;

use super::{Frame, FrameContent};
use crate::{
    canvas::Layout,
    cells::Picture,
    displays::{self, DisplayContent, DisplayPicture, DisplayState, schedule},
    glass::{ComposeContext, panels::style, refresh::RefreshCause},
    lights::control::quiet_deadline,
    request::{Patch, Refusal},
    rotation::BLOCK_HEIGHT,
    screens::custom,
    settings::{
        Settings,
        patch::{self, Catalogue},
    },
    sources::Roster,
    view::View,
};

/// The screen that a preview shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PreviewedScreen {
    /// The same as the panels.
    Current,
    /// A screen: by id, else by position in the rotation order.
    Screen(i64),
    /// A text per panel, and the glyph height of single-line texts, px.
    Custom(Vec<String>, Option<u32>),
}

impl View {
    /// A picture for another screen.
    ///
    /// # Errors
    /// There is no such screen, or its feature is off.
    pub fn frame(&self, content: FrameContent, layout: Layout, now: Now) -> Result<Frame, Refusal> {
        let mut frame = self.glass.frame(content, layout, &self.context(now), now)?;
        let quiet_until = quiet_deadline(&self.settings, now).filter(|_| self.dnd_active);
        frame.changes.quiet_for = quiet_until.map(|at| at.saturating_sub(now.uptime));
        Ok(frame)
    }

    /// The picture of a remote display that `state` describes: the block height if the feature of its screen is off.
    /// `page` is the address of the page that approves displays.
    ///
    /// # Errors
    /// The screen does not exist.
    pub fn display_picture(
        &self,
        state: &DisplayState,
        page: &str,
        now: Now,
    ) -> Result<DisplayPicture, Refusal> {
        let settings = &self.settings.active;
        let (display, is_approved) = (state.display.clone(), state.is_approved);
        if !is_approved {
            let (panels, style) = (self.glass.panel_count(), style(settings));
            return Ok(DisplayPicture {
                frame: displays::waiting_frame(&display.id, page, panels, style),
                returns_in: displays::WAITING_RETURN,
                is_approved,
                display,
            });
        }
        let screens = display.available_screens(settings);
        let content = match display.content {
            DisplayContent::Clock => FrameContent::Follow,
            DisplayContent::Screen | DisplayContent::Rotation => {
                let place = state.place(screens.len());
                FrameContent::Screen(screens.get(place).copied().unwrap_or(BLOCK_HEIGHT))
            }
        };
        let frame = self.frame(content, display.canvas.layout, now)?;
        let turn_period = Duration::from_secs(settings.timer_seconds.into());
        let interval = Duration::from_secs(u64::from(display.interval_min) * 60);
        let power = state.report.contact.power();
        Ok(DisplayPicture {
            returns_in: schedule::returns_in(&frame.changes, turn_period, interval, power),
            frame,
            is_approved,
            display,
        })
    }

    /// What the panels would show after a change of settings.
    ///
    /// # Errors
    /// The change or the screen would be refused.
    pub fn preview(
        &self,
        patch: &Patch,
        screen: &PreviewedScreen,
        now: Now,
    ) -> Result<Picture, Refusal> {
        let (mut changed, mut cause) = self.patched(patch, now)?;
        let settings = &changed.settings.active;
        match screen {
            PreviewedScreen::Current => {}
            PreviewedScreen::Screen(number) => {
                let navigation = changed.glass.show_screen(*number, settings, now.uptime)?;
                cause = cause.max(navigation);
            }
            PreviewedScreen::Custom(texts, px) => {
                let cells = custom::cells(texts, *px, changed.glass.panel_count());
                changed.glass.show_text(cells, settings, now.uptime);
            }
        }
        let mut glass = changed.glass.clone();
        glass.present(cause, &changed.context(now), now);
        Ok(glass.picture().clone())
    }

    /// What a picture for another screen would be after a change of settings.
    ///
    /// # Errors
    /// The change or the screen would be refused.
    pub fn preview_frame(
        &self,
        patch: &Patch,
        content: FrameContent,
        layout: Layout,
        now: Now,
    ) -> Result<Frame, Refusal> {
        self.patched(patch, now)?.0.frame(content, layout, now)
    }

    /// The view after a change of settings, and how the panels would be refreshed.
    fn patched(&self, patch: &Patch, now: Now) -> Result<(View, RefreshCause), Refusal> {
        let catalogue = Catalogue {
            currencies: self.offer.currencies().to_vec(),
            screens: self.settings.stored.available_screens(),
        };
        let patched =
            patch::apply(&self.settings.stored, patch, &catalogue).map_err(Refusal::Rejected)?;
        let mut changed = self.clone();
        let before = changed.store(patched.settings);
        let settings = &changed.settings.active;
        let cause = changed.glass.apply_settings(&before, settings, now.uptime);
        Ok((changed, cause))
    }

    /// Stores settings; figures of another pool, miner or wallet are dropped. Returns the settings that were active
    /// before.
    fn store(&mut self, settings: Settings) -> Arc<Settings> {
        let currencies = self.offer.among(&settings.currencies());
        let before = self.settings.store(Arc::new(settings), currencies);
        let roster = Roster::new(&self.settings.active, None);
        Arc::make_mut(&mut self.market).retain_figures(|source| roster.identity(source));
        before
    }

    fn context(&self, now: Now) -> ComposeContext<'_> {
        ComposeContext {
            market: &self.market,
            mark_reasons: &self.mark_reasons,
            truth: self.truth.height_truth(now),
            history: Some(&self.history),
            running: &self.settings,
            host: &self.host,
            silence: self.silence.clone(),
            ip: &self.link.ip,
            ssid: &self.link.ssid,
        }
    }
}
