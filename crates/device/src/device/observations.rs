//! Observations and headers of sources.

use alloc::vec::Vec;
use core::time::Duration;

use chain::Header;
use market::{Direction, HeadersReach, Observation, ProofOrigin, now::Now, source_id::SourceId};

use super::Device;
use crate::{
    event_log::DeviceEvent,
    glass::{LayerContent, RefreshCause},
    output::Output,
    sources::MarketChange,
};

impl Device {
    /// Adds headers to the chain and puts the outcome into the reply.
    pub(super) fn add_headers(
        &mut self,
        origin: ProofOrigin,
        headers: &[Header],
        reach: HeadersReach,
        now: Now,
        output: &mut Output,
    ) -> RefreshCause {
        let (reply, news) = self.upstream.add_headers(origin, headers, reach, now);
        let is_useful = reply.refused.is_none() && !headers.is_empty();
        output.headers = Some(reply);
        if is_useful && reach == HeadersReach::Newest {
            self.glass.end_splash();
        }
        self.apply_market_change(news, now, output)
    }

    pub(super) fn observe(
        &mut self,
        source: SourceId,
        observations: Vec<Observation>,
        now: Now,
        output: &mut Output,
    ) -> RefreshCause {
        let mut cause = RefreshCause::Data;
        for observation in observations {
            let is_useful = observation.is_data();
            let news = self
                .upstream
                .observe(source, observation, &self.settings, now);
            cause = cause.max(self.apply_market_change(news, now, output));
            if is_useful {
                self.glass.end_splash();
            }
        }
        cause
    }

    /// Updates the parts after a change of the market.
    fn apply_market_change(
        &mut self,
        news: MarketChange,
        now: Now,
        output: &mut Output,
    ) -> RefreshCause {
        let (settings, uptime) = (&self.settings.active, now.uptime);
        match news {
            MarketChange::Nothing => {}
            MarketChange::Value => output.unsaved.memory = true,
            MarketChange::PoolLogo => {
                output.unsaved.memory = true;
                return self.cause_of_logo();
            }
            MarketChange::Block => {
                if let Some(height) = self.upstream.height() {
                    self.event_log.add(DeviceEvent::Block { height });
                }
                let picture = self.glass.next_picture();
                self.lights.flash_for_block(picture, settings, uptime);
                self.glass.steal_focus(settings, uptime);
            }
            MarketChange::Zap(zap) => {
                if settings.nostr_zap_notify {
                    self.show_zap(zap, uptime);
                }
            }
            MarketChange::Payment(payment) => {
                if settings.nwc_show_notify {
                    self.event_log.add(payment_event(&payment));
                    let picture = self.glass.next_picture();
                    self.lights.flash_for_payment(picture, settings, uptime);
                    self.glass.notify(LayerContent::Payment(payment), uptime);
                }
            }
            MarketChange::Currencies => {
                output.unsaved.memory = true;
                let stored = self.settings.stored.clone();
                return self.adopt(stored, now);
            }
        }
        RefreshCause::Data
    }

    /// Shows a zap and flashes for it; also used by the test button.
    pub(super) fn show_zap(&mut self, zap: market::Zap, uptime: Duration) {
        self.event_log.add(DeviceEvent::Zap {
            sats: zap.amount.0,
            message: zap.message.clone(),
        });
        let (settings, picture) = (&self.settings.active, self.glass.next_picture());
        self.lights.flash_for_zap(picture, settings, uptime);
        self.glass.notify(LayerContent::Zap(zap), uptime);
    }

    /// A logo leaves ghosts when it appears or disappears.
    pub(super) fn cause_of_logo(&self) -> RefreshCause {
        if self.glass.shows_pool(&self.settings.active) {
            RefreshCause::Forced
        } else {
            RefreshCause::Data
        }
    }
}

/// The event of a payment.
fn payment_event(payment: &market::Payment) -> DeviceEvent {
    DeviceEvent::Payment {
        sats: payment.amount.sats().0,
        direction: payment.direction.map(|direction| match direction {
            Direction::Received => "received",
            Direction::Sent => "sent",
        }),
    }
}
