//! What should be on the panels, and when it may get there.

use alloc::vec::Vec;
use core::time::Duration;

use crate::{
    cells::{self, Cell},
    device::Device,
    limits::{STALE_BLOCK, STALE_FEE, STALE_POLL_MIN, STALE_PRICE},
    market::{Datum, Fee, Market},
    now::Now,
    overlays::{Layer, Overlay},
    panels::{Composition, Visible, style},
    refresh::Cause,
    screens::{
        Scene,
        catalog::{self, Fact},
        debug, erasing, mining_pool, payment, provisioning, safe_mode, sign_in, splash, update,
        zap,
    },
};

/// Missed polls after which a polled value is old.
const POLLS_MISSED: u32 = 4;

impl Device {
    /// Makes what should be on the panels the newest picture, unless it is a price that must wait.
    pub(crate) fn present(&mut self, cause: Cause, now: Now) {
        let composition = self.compose(&self.market, now);
        let restyled = self.panels.picture().style != style(&self.active);
        if cause == Cause::Data && !restyled {
            if !self.panels.differs(&composition) {
                self.shown_prices.clone_from(&self.market.prices);
                return;
            }
            if self.is_only_price(&composition, now) {
                if self.price_must_wait(now) {
                    return;
                }
                self.lights.flash_for_price(&self.active, now.uptime);
            }
        }
        if self.shows_price() {
            self.price_painted = Some(now.uptime);
        }
        self.shown_prices.clone_from(&self.market.prices);
        self.panels
            .present(composition, cause, &self.active, now.uptime);
    }

    /// Repaints the debug view as a whole.
    pub(crate) fn repaint_debug(&mut self) -> Cause {
        self.panels.repaint();
        Cause::Data
    }

    /// Uptime at which a price that waits may be painted.
    pub(crate) fn price_deadline(&self, now: Now) -> Option<Duration> {
        let waits = self.shown_prices != self.market.prices && self.shows_price();
        let period = self.price_period();
        let deadline = self.price_painted? + period;
        (waits && deadline > now.uptime).then_some(deadline)
    }

    /// Uptime of the next minute, while the local time is visible.
    pub(crate) fn minute_deadline(&self, now: Now) -> Option<Duration> {
        const MINUTE_MS: i64 = 60_000;
        let Visible::Slot(slot) = self.panels.visible() else {
            return None;
        };
        let shows_time = catalog::find(slot.screen)?.facts.contains(&Fact::Time);
        let into_minute = now.utc?.unix_ms.rem_euclid(MINUTE_MS);
        let left = Duration::from_millis((MINUTE_MS - into_minute).unsigned_abs());
        shows_time.then(|| now.uptime + left)
    }

    /// Uptime at which the first value on the glass will be older than its limit.
    pub(crate) fn stale_deadline(&self, now: Now) -> Option<Duration> {
        let moments = self.grow_old(&self.market, now).into_iter().flatten();
        moments.filter(|from| *from > now.uptime).min()
    }

    /// Tells whether a screen of the mining pool is visible.
    pub(crate) fn shows_pool(&self) -> bool {
        self.visible_needs(|fact| matches!(fact, Fact::Pool))
    }

    fn shows_price(&self) -> bool {
        self.visible_needs(|fact| matches!(fact, Fact::Price))
    }

    fn visible_needs(&self, wanted: impl Fn(&Fact) -> bool) -> bool {
        let Visible::Slot(slot) = self.visible() else {
            return false;
        };
        catalog::find(slot.screen).is_some_and(|screen| screen.facts.iter().any(wanted))
    }

    /// The highest layer that is there.
    pub(crate) fn top(&self) -> Layer {
        let is_there = |layer: &Layer| match layer {
            Layer::Rotation => true,
            Layer::Splash => self.splash,
            Layer::SafeMode => self.power.safe_mode.is_some(),
            Layer::SignIn => self.made_password.is_some(),
            Layer::Custom | Layer::Notice | Layer::Debug | Layer::Update => {
                self.overlays.has(*layer)
            }
            Layer::Portal => self.link.is_portal(),
            Layer::Erasing => self.is_erasing(),
        };
        let mut layers = Layer::FROM_THE_TOP.into_iter();
        layers.find(is_there).unwrap_or(Layer::Rotation)
    }

    /// The overlay that is visible, with its serial number; none if another layer is.
    pub(crate) fn overlay_on_glass(&self) -> Option<(&Overlay, u64)> {
        self.overlays.on(self.top())
    }

    /// What is visible; any difference is a change of screen.
    pub(crate) fn visible(&self) -> Visible {
        match (self.top(), self.overlay_on_glass()) {
            (_, Some((_, serial))) => Visible::Overlay(serial),
            (Layer::Rotation, None) => Visible::Slot(self.rotation.slot()),
            (layer, None) => Visible::Layer(layer),
        }
    }

    fn compose(&self, market: &Market, now: Now) -> Composition {
        let scene = self.scene(market, now);
        let is_old = |from: &Option<Duration>| from.is_none_or(|from| from <= now.uptime);
        Composition {
            visible: self.visible(),
            cells: self.cells(&scene),
            stale: self.grow_old(market, now).iter().any(is_old),
        }
    }

    fn cells(&self, scene: &Scene<'_>) -> Vec<Cell> {
        let panels = scene.panels;
        if let Some((overlay, _)) = self.overlay_on_glass() {
            return self.overlay_cells(overlay, scene);
        }
        let screen = || catalog::find(self.rotation.slot().screen);
        let cells = match self.top() {
            Layer::Erasing => Some(erasing::cells(panels)),
            Layer::Portal => Some(self.portal_cells()),
            Layer::SignIn => self
                .made_password
                .as_ref()
                .map(|made| sign_in::cells(&self.active.sign_in_user(), made, panels)),
            Layer::SafeMode => self
                .power
                .safe_mode
                .as_ref()
                .map(|reason| safe_mode::cells(reason, panels)),
            Layer::Splash => Some(splash::cells(panels)),
            Layer::Rotation => screen().map(|screen| (screen.cells)(scene)),
            Layer::Custom | Layer::Notice | Layer::Debug | Layer::Update => None,
        };
        cells.unwrap_or_else(|| cells::blank(panels))
    }

    fn overlay_cells(&self, overlay: &Overlay, scene: &Scene<'_>) -> Vec<Cell> {
        let (settings, panels) = (scene.settings, scene.panels);
        match overlay {
            Overlay::Custom(cells) => cells.clone(),
            Overlay::Zap(shown) => zap::cells(shown, settings, panels),
            Overlay::Payment(shown) => payment::cells(shown, settings, panels),
            Overlay::Debug => debug::cells(&self.debug_facts(), panels),
            Overlay::Update(percent) => update::cells(*percent, panels),
        }
    }

    fn scene<'a>(&'a self, market: &'a Market, now: Now) -> Scene<'a> {
        let slot = self.rotation.slot();
        Scene {
            market,
            settings: &self.active,
            local: now.utc.map(|utc| self.zone.local(utc)),
            currency: slot.currency.unwrap_or_else(|| self.rotation.currency()),
            panels: self.board.panels,
        }
    }

    fn portal_cells(&self) -> Vec<Cell> {
        let plan = self.link.plan(&self.active);
        let (ssid, password) = match &plan.access_point {
            Some(access_point) => (&*access_point.ssid, access_point.password.expose()),
            None => ("", ""),
        };
        let facts = provisioning::Facts {
            ssid,
            password,
            hostname: &self.link.hostname(&self.active),
            hardware: self.board.name,
            version: &self.host.version,
            build_date: &self.host.built,
            portal: self.link.portal_address(),
        };
        provisioning::cells(&facts, self.board.panels)
    }

    fn debug_facts(&self) -> debug::Facts<'_> {
        debug::Facts {
            ip: self.link.ip(),
            ssid: self.link.ssid(),
            heap_free: self.host.heap_free,
            psram_free: self.host.swap_free,
            hardware: self.board.name,
            version: &self.host.version,
            build_date: &self.host.built,
            // It runs with the repaints, not with whatever else happens.
            uptime: self.debug_painted,
        }
    }

    /// Uptimes from which on the values on the glass are old; none for one whose age cannot be known.
    fn grow_old(&self, market: &Market, now: Now) -> Vec<Option<Duration>> {
        let Visible::Slot(slot) = self.visible() else {
            return Vec::new();
        };
        let Some(screen) = catalog::find(slot.screen) else {
            return Vec::new();
        };
        let (scene, settings) = (self.scene(market, now), &self.active);
        let polled = |seconds: u32| {
            (Duration::from_secs(u64::from(seconds)) * POLLS_MISSED).max(STALE_POLL_MIN)
        };
        let moments = screen.facts.iter().filter_map(|fact| match fact {
            Fact::Time => None,
            Fact::Height => old_from(market.height.as_ref(), STALE_BLOCK, now),
            Fact::Price => old_from(market.prices.get(&slot.currency?), STALE_PRICE, now),
            Fact::Fee => old_from(scene.fee().map(Fee::datum), STALE_FEE, now),
            Fact::Pool => {
                let stats = mining_pool::figures(&scene).and(market.pool.as_ref());
                old_from(stats, polled(settings.pool_poll_sec), now)
            }
            Fact::Miner => old_from(market.miner.as_ref(), polled(settings.miner_poll_sec), now),
            Fact::Balance => {
                let limit = polled(settings.nwc_refresh_secs);
                old_from(market.balance.as_ref(), limit, now)
            }
        });
        moments.collect()
    }

    /// Tells whether only prices make the difference between the glass and a composition.
    fn is_only_price(&self, composition: &Composition, now: Now) -> bool {
        if !self.shows_price() {
            return false;
        }
        let with_shown_prices = Market {
            prices: self.shown_prices.clone(),
            ..self.market.clone()
        };
        let mut old = self.compose(&with_shown_prices, now);
        old.stale = composition.stale;
        !self.panels.differs(&old)
    }

    fn price_must_wait(&self, now: Now) -> bool {
        self.price_painted
            .is_some_and(|painted| now.uptime.saturating_sub(painted) < self.price_period())
    }

    fn price_period(&self) -> Duration {
        Duration::from_secs(u64::from(self.active.min_sec_price_upd))
    }
}

/// Uptime from which on a value that is there is old; unknown for a value of an earlier run without a clock.
fn old_from<T>(datum: Option<&Datum<T>>, limit: Duration, now: Now) -> Option<Option<Duration>> {
    datum.map(|datum| datum.old_from(limit, now))
}
