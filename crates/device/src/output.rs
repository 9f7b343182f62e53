//! Outputs of the device: levels that replace each other, and effects that happen exactly once.

use alloc::{string::String, sync::Arc, vec::Vec};

use market::HeadersReply;

use crate::sources::Plan;
use crate::{
    cells::Picture, lights::Rgb, mqtt::MqttPlan, releases::ReleasePlan, request::Reply,
    secret::Secret,
};

/// Result of handling one input, besides the levels.
#[derive(Debug, Clone, Default)]
pub struct Output {
    /// What must be on disk before the reply is sent.
    pub unsaved: Unsaved,
    /// Answer to the request, if the input was one.
    pub reply: Option<Reply>,
    /// Outcome of the headers, if the input had some.
    pub headers: Option<HeadersReply>,
    /// What must happen exactly once, in this order, after the reply. A wipe happens before the reply.
    pub effects: Vec<Effect>,
}

/// What must be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Unsaved {
    /// Settings differ from those on disk.
    pub settings: bool,
    /// The memory differs from the stored one. It may be saved later.
    pub memory: bool,
    /// The history differs from the stored one. It may be saved later.
    pub history: bool,
}

/// Something that must happen exactly once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Restart the device.
    Reboot(RebootReason),
    /// Wipe every setting, secret and cache, including the credentials of the network. The reply is sent when it has
    /// ended.
    Wipe,
    /// Forget the credentials of the network. The device restarts if that succeeds.
    ForgetWifi,
    /// Delete the cached pool logos.
    ClearLogos,
}

/// Why the device restarts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RebootReason {
    /// A client has requested it.
    Requested,
    /// The network was away for too long.
    NoNetwork,
    /// The clock was not provisioned in time.
    PortalTimeout,
    /// Credentials were stored.
    Provisioned,
    /// Credentials were wiped with a button.
    WifiReset,
    /// Everything was wiped.
    FactoryReset,
    /// An update was installed.
    Updated,
}

/// What the hardware and the connections should do; the newest value wins.
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
    /// What to announce on the local network. `None` if nothing.
    pub advert: Option<Advert>,
    /// What the radio should do.
    pub wifi: WifiPlan,
    /// What to publish to the owner's broker.
    pub mqtt: MqttPlan,
    /// Where to look for releases. `None` if nowhere.
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
    /// Transmit power, quarter-dBm. `None` keeps the default of the radio.
    pub tx_power: Option<i32>,
}

/// The access point of the clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessPoint {
    /// Its name.
    pub ssid: String,
    /// Its password; empty for an open one.
    pub password: Secret,
}
