//! What leaves the device: levels that replace each other, and effects that happen exactly once.

use alloc::{string::String, sync::Arc, vec::Vec};

use crate::sources::Plan;
use crate::{
    cells::Picture, lights::Rgb, mqtt::MqttPlan, releases::ReleasePlan, request::Reply,
    secret::Secret,
};

/// What handling one input brought about, besides the levels.
#[derive(Debug, Clone, Default)]
pub struct Output {
    /// What must be on disk before anybody is told.
    pub unsaved: Unsaved,
    /// Answer to the request, if the input was one.
    pub reply: Option<Reply>,
    /// What must happen exactly once, in this order, after the answer; a wipe happens before it.
    pub effects: Vec<Effect>,
}

/// What must be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Unsaved {
    /// Settings differ from those on disk.
    pub settings: bool,
    /// What the device remembers differs from what is on disk; may wait a little.
    pub memory: bool,
}

/// Something that must happen exactly once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Restart the device.
    Reboot(RebootReason),
    /// Wipe every setting, secret and cache, the credentials of the network among them; whoever asked for it is answered
    /// when it has ended.
    Wipe,
    /// Forget the network's credentials; what comes of it decides about a restart.
    ForgetWifi,
    /// Delete the cached pool logos.
    ClearLogos,
}

/// Why the device restarts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RebootReason {
    /// A client asked for it.
    Asked,
    /// The network was away for too long.
    NoNetwork,
    /// Nobody provisioned the clock in time.
    PortalTimeout,
    /// Credentials were stored.
    Provisioned,
    /// Credentials were wiped with a button.
    WifiReset,
    /// Everything was wiped.
    FactoryReset,
    /// An update is to be started.
    Updated,
}

/// What the world should look like; newest wins.
#[derive(Debug, Clone, PartialEq)]
pub struct Desired {
    /// On the panels.
    pub picture: Picture,
    /// On the LED strip, leftmost first, brightness applied.
    pub strip: Vec<Rgb>,
    /// On the frontlight, one duty per panel, 0..=4095; empty on a board without one.
    pub frontlight: Vec<u16>,
    /// Sources that should run.
    pub sources: Arc<Plan>,
    /// What to announce on the local network; none for nothing.
    pub advert: Option<Advert>,
    /// What the radio should do.
    pub wifi: WifiPlan,
    /// What the owner's broker should know.
    pub mqtt: MqttPlan,
    /// Where to look for releases; none for nowhere.
    pub releases: Option<ReleasePlan>,
}

/// What to announce on the local network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advert {
    /// Host name, without a domain.
    pub hostname: String,
}

/// What the radio should do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WifiPlan {
    /// Grows with every attempt to join the stored network that is due.
    pub attempts: u64,
    /// Be an access point with the portal.
    pub access_point: Option<AccessPoint>,
    /// Transmit power, quarter-dBm; none leaves the radio's own.
    pub tx_power: Option<i32>,
}

/// The network that the radio makes of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessPoint {
    /// Its name.
    pub ssid: String,
    /// Its password; empty for an open one.
    pub password: Secret,
}
