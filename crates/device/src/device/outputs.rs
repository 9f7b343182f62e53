//! What the hardware should do, and what clients can read.

use alloc::{string::String, sync::Arc};

use market::{SourceState, mark::Mark};

use super::Device;
use crate::{
    cells::{self, Picture},
    glass::Layer,
    mqtt::{self, MqttPlan},
    output::Desired,
    releases::{self, ReleasePlan, Releases},
    sources::Plan,
    spoken::{self, Sentence},
    view::View,
};

impl Device {
    /// What the world should look like.
    pub fn desired(&self) -> Desired {
        let settings = &self.settings.active;
        Desired {
            picture: Picture {
                is_quiet: self.lights.is_quiet() || self.lights.is_dark(),
                ..self.glass.picture().clone()
            },
            strip: self.strip(),
            frontlight: self.frontlight(),
            sources: self.plan(),
            advert: self.network.link().advert(settings),
            wifi: self.network.link().plan(settings),
            mqtt: self.broker_plan(),
            releases: self.release_plan(),
        }
    }

    /// One snapshot of the device.
    pub fn view(&self) -> View {
        let (active, link, slot) = (
            &self.settings.active,
            self.network.link(),
            self.glass.slot(),
        );
        let mut host = self.host.clone();
        // Only the debug view shows the memory, which changes all the time; each change would wake all readers of the view.
        if !self.glass.has(Layer::Debug) {
            (host.heap_free, host.swap_free) = (None, None);
        }
        View {
            board: self.board,
            glass: self.glass.without_passwords(),
            host,
            settings: self.settings.clone(),
            hostname: link.hostname(active),
            current_screen: slot.screen,
            currency: slot.currency,
            data: cells::mirror(&self.glass.picture().cells),
            sentence: self.sentence(),
            stale: self.glass.marks().has(Mark::Stale),
            disputed: self.glass.marks().has(Mark::Disputed),
            mode: self.glass.mode(),
            releases: self.known_releases(),
            offer: self.upstream.offer().clone(),
            market: self.upstream.market().clone(),
            mark_reasons: self.upstream.mark_reasons().clone(),
            silence: self.upstream.silence(link.is_usable()),
            truth: self.upstream.truth(self.now),
            sources: self.upstream.states(&self.plan()),
            time_server: self.upstream.time_server().cloned(),
            mqtt: self.broker_state(),
            event_log: self.event_log.clone(),
            dnd_active: self.lights.is_quiet(),
            lights: self.lights.resting_colours().to_vec(),
            strip_mute: self.lights.mute_reason(active),
            strip_drops: self.lights.dropped_animations(),
            frontlight: self.lights.frontlight(self.now.uptime),
            millilux: self.lights.millilux(),
            link: link.state(),
            notes: self.notes.all(),
            safe_mode: self.glass.safe_mode().map(String::from),
            history: Arc::clone(&self.history),
            displays: Arc::clone(self.displays.states()),
            former_displays: self.displays.former().to_vec(),
            shows_password: self.glass.has(Layer::SignIn),
        }
    }

    /// What the newest picture shows, with its marks, as a sentence.
    fn sentence(&self) -> Sentence {
        let sentence = self.glass.sentence().clone();
        let marks = self.glass.marks().worst_first();
        marks.fold(sentence, |sentence, mark| {
            spoken::MARKED
                .with("sentence", sentence)
                .with("mark", spoken::of_mark(mark))
        })
    }

    /// The sources that should run now.
    pub(super) fn plan(&self) -> Arc<Plan> {
        let may_run = self.network.link().is_usable()
            && !self.glass.has(Layer::SafeMode)
            // An update needs the machine for itself.
            && !self.glass.rests_for_update()
            && !self.is_erasing();
        if may_run { self.upstream.plan() } else { Arc::default() }
    }

    /// What to publish to the owner's broker.
    pub(super) fn broker_plan(&self) -> MqttPlan {
        // A factory reset removes the clock from the broker.
        if self.is_erasing() {
            return MqttPlan::Off;
        }
        let (settings, link) = (&self.settings.active, self.network.link());
        let wanted = match link.own_hostname(settings) {
            Some(hostname) => mqtt::plan(settings, &hostname, self.broker_restarts),
            None => MqttPlan::Paused,
        };
        let may_run = link.is_usable() && !self.glass.has(Layer::SafeMode);
        match wanted {
            MqttPlan::On(_) if !may_run => MqttPlan::Paused,
            MqttPlan::On(_) | MqttPlan::Off | MqttPlan::Paused => wanted,
        }
    }

    /// Where to look for releases.
    pub(super) fn release_plan(&self) -> Option<ReleasePlan> {
        if self.is_erasing() {
            return None;
        }
        let (settings, link) = (&self.settings.active, self.network.link());
        let hostname = link.own_hostname(settings)?;
        let may_act = link.is_usable() && !self.glass.has(Layer::SafeMode);
        releases::plan(settings, &hostname, may_act)
    }

    /// What is known of releases; empty if the release check is off.
    fn known_releases(&self) -> Releases {
        match self.release_plan() {
            Some(_) => self.releases.clone(),
            None => Releases::default(),
        }
    }

    /// The connection to the owner's broker. `None` if it is switched off.
    fn broker_state(&self) -> Option<SourceState> {
        match self.broker_plan() {
            MqttPlan::Off => None,
            MqttPlan::Paused if !self.settings.active.mqtt_enabled => None,
            // A paused source is not connected, even if its last report was that it is.
            MqttPlan::Paused => {
                let mut broker = self.broker.clone();
                (broker.up, broker.next_try) = (false, None);
                if !self.network.link().is_usable() {
                    broker.lose_network();
                }
                Some(broker)
            }
            MqttPlan::On(_) => Some(self.broker.clone()),
        }
    }
}
