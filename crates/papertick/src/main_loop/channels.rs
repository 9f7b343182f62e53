//! The channels on which the main loop publishes.

use std::sync::Arc;

use device::{
    cells::Picture,
    device::Device,
    lights::Rgb,
    mqtt::MqttPlan,
    output::{Advert, Desired, Effect, WifiPlan},
    releases::ReleasePlan,
    sources::Plan,
    view::View,
};
use tokio::sync::{mpsc, watch};

use super::LivenessProbe;

/// Senders of what the main loop publishes. Receivers see the newest value.
#[derive(Debug)]
pub struct LoopSenders {
    pub(super) picture: watch::Sender<Picture>,
    pub(super) strip: watch::Sender<Vec<Rgb>>,
    pub(super) frontlight: watch::Sender<Vec<u16>>,
    pub(super) sources: watch::Sender<Arc<Plan>>,
    pub(super) advert: watch::Sender<Option<Advert>>,
    pub(super) wifi: watch::Sender<WifiPlan>,
    pub(super) mqtt: watch::Sender<MqttPlan>,
    pub(super) releases: watch::Sender<Option<ReleasePlan>>,
    pub(super) view: watch::Sender<Arc<View>>,
}

/// Receivers of what the main loop publishes.
#[derive(Debug)]
pub struct LoopReceivers {
    pub picture: watch::Receiver<Picture>,
    pub strip: watch::Receiver<Vec<Rgb>>,
    pub frontlight: watch::Receiver<Vec<u16>>,
    pub sources: watch::Receiver<Arc<Plan>>,
    /// For the announcements on the local network.
    pub advert: watch::Receiver<Option<Advert>>,
    pub wifi: watch::Receiver<WifiPlan>,
    pub mqtt: watch::Receiver<MqttPlan>,
    pub releases: watch::Receiver<Option<ReleasePlan>>,
    /// For all readers of the state.
    pub view: watch::Receiver<Arc<View>>,
    pub effects: mpsc::Receiver<Effect>,
    pub liveness: LivenessProbe,
}

impl LoopSenders {
    pub(super) fn new(device: &Device) -> LoopSenders {
        let Desired {
            picture,
            strip,
            frontlight,
            sources,
            advert,
            wifi,
            mqtt,
            releases,
        } = device.desired();
        LoopSenders {
            picture: watch::Sender::new(picture),
            strip: watch::Sender::new(strip),
            frontlight: watch::Sender::new(frontlight),
            sources: watch::Sender::new(sources),
            advert: watch::Sender::new(advert),
            wifi: watch::Sender::new(wifi),
            mqtt: watch::Sender::new(mqtt),
            releases: watch::Sender::new(releases),
            view: watch::Sender::new(Arc::new(device.view())),
        }
    }

    pub(super) fn publish(&self, device: &Device) {
        let Desired {
            picture,
            strip,
            frontlight,
            sources,
            advert,
            wifi,
            mqtt,
            releases,
        } = device.desired();
        set(&self.picture, picture);
        set(&self.strip, strip);
        set(&self.frontlight, frontlight);
        set(&self.sources, sources);
        set(&self.advert, advert);
        set(&self.wifi, wifi);
        set(&self.mqtt, mqtt);
        set(&self.releases, releases);
        set(&self.view, Arc::new(device.view()));
    }

    /// Publishes a frame of the lights. The view contains the frontlight, but of the strip only colours that last.
    pub(super) fn publish_lights(&self, device: &Device) {
        set(&self.strip, device.strip());
        if set(&self.frontlight, device.frontlight()) {
            set(&self.view, Arc::new(device.view()));
        }
    }
}

/// Publishes a value. Wakes the receivers only if it differs, and returns whether it does.
fn set<T: PartialEq>(sender: &watch::Sender<T>, value: T) -> bool {
    sender.send_if_modified(|current| {
        let differs = *current != value;
        if differs {
            *current = value;
        }
        differs
    })
}
