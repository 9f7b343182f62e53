//! Inputs of the device: everything that can change it.

use alloc::{string::String, vec::Vec};
use core::time::Duration;

use chain::Header;

use crate::{
    host::HostFacts,
    releases::ReleaseCheck,
    request::Request,
    secret::{GeneratedPassword, Secret},
};
use market::{Connection, HeadersReach, Observation, ProofOrigin, source_id::SourceId};

/// An input; the device changes only by handling one.
#[derive(Debug, Clone)]
pub enum Input {
    /// A deadline of the device has come, or the wall clock stepped.
    Tick,
    /// Observations of a source that belong together.
    Observed(SourceId, Vec<Observation>),
    /// Headers that follow each other, oldest first; the reply carries the outcome. Without headers, the reply carries
    /// the stored chain.
    Headers(ProofOrigin, Vec<Header>, HeadersReach),
    /// A request of a client; the output carries the reply.
    Request(Request),
    /// The buttons at power-on.
    ButtonsAtPowerOn(Contacts),
    /// A button was pressed or released. May be delivered late, but in order.
    Pressed(Contacts),
    /// The state of the time server.
    TimeServer(Connection),
    /// The time server reports a time before the newest blocks; its state follows.
    TimeServerRejected,
    /// State of the connection to the owner's broker, or a message dropped there.
    Broker(BrokerEvent),
    /// A reading or an error of the light sensor.
    Sensed(Sensed),
    /// The network changed.
    Linked(LinkEvent),
    /// Progress of an update.
    Uploaded(UpdateEvent),
    /// A release check has ended.
    ReleaseCheck(ReleaseCheck),
    /// An effect or a paint has ended.
    Finished(Finished),
    /// Facts about the host.
    Host(HostFacts),
    /// The device crashed several times in a row and runs without its sources, for this reason (a text for people).
    SafeMode(String),
    /// The control interface is protected with a password generated for this run. The panels show it until a client has
    /// signed in.
    PasswordGenerated(GeneratedPassword),
    /// A client has signed in.
    SignedIn,
    /// A problem found at the start, as a text for people without secrets.
    StartupProblem(String),
}

/// State of the connection to the owner's broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrokerEvent {
    /// The connection.
    Connection(Connection),
    /// An error although the connection is up, as a text for people without secrets.
    Error(String),
    /// Incoming or outgoing messages were dropped: the reason and how many.
    Dropped(&'static str, u32),
}

/// State of the buttons since a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contacts {
    /// Pressed buttons, one bit per button in the order of the board's pins.
    pub down: u8,
    /// Uptime of the change.
    pub at: Duration,
}

/// Action of a button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ButtonAction {
    /// Stop the rotation timer, or start it.
    TogglePause,
    /// Show the screen after this one.
    Next,
    /// Show the screen before this one.
    Previous,
    /// Show or hide the debug view.
    ToggleDebug,
    /// Switch Do Not Disturb by hand.
    ToggleDnd,
    /// Wipe every setting.
    FactoryReset,
}

/// State of the light sensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sensed {
    /// A reading, thousandths of a lux.
    Millilux(u32),
    /// The sensor does not answer.
    Absent,
}

impl Sensed {
    /// The reading, thousandths of a lux. `None` without a sensor.
    pub fn millilux(self) -> Option<u32> {
        match self {
            Sensed::Millilux(reading) => Some(reading),
            Sensed::Absent => None,
        }
    }
}

/// Event of the radio or of the host's network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkEvent {
    /// An address was obtained.
    Up {
        /// Address of the device.
        ip: String,
        /// Name of the network. `None` on a wire.
        ssid: Option<String>,
    },
    /// The network was lost, or an attempt to join failed.
    Down(LinkFailure),
    /// Strength of the signal, dBm.
    Rssi(i32),
    /// The radio has, or has not, credentials of a network.
    Credentials(bool),
    /// The host manages the network; there is no radio to manage.
    Unmanaged,
    /// No real panels can show the password of the access point, so that it has none until a network is known.
    PasswordUnseen,
    /// Transmit power in effect, quarter-dBm.
    TxPower(i32),
    /// The access point is up.
    Portal {
        /// Address of the portal, with its port if that is not 80.
        address: String,
    },
    /// The portal tries credentials.
    Trying,
    /// Credentials that the portal tried were wrong; nothing was stored.
    Refused(LinkFailure),
    /// Credentials were tried, found right and stored by the portal.
    Provisioned,
    /// The device is announced on the local network, or no longer is.
    Announced {
        /// Host name that was to be announced, without a domain.
        asked: String,
        /// Host name in use; a different one if another device has that name. `None` if it is not announced.
        name: Option<String>,
    },
    /// Identity of the device on the network.
    Identity {
        /// Last three bytes of the hardware address, six lower-case hex digits.
        suffix: String,
        /// Password of its access point; empty for an open one.
        password: Secret,
    },
}

/// Why there is no network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkFailure {
    /// The connection was lost.
    Lost,
    /// No network of that name is in reach.
    NotFound,
    /// The password is wrong.
    Auth,
    /// The access point refused.
    Association,
    /// The handshake did not end.
    Handshake,
    /// The connection was lost.
    Connection,
    /// No answer in time.
    Timeout,
}

/// Progress of an update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpdateEvent {
    /// The upload has started.
    Started,
    /// Received so far, percent.
    Progress(u8),
    /// It was interrupted, or the image was refused.
    Failed(String),
    /// The image is complete and verified; the device restarts into it.
    Verified,
    /// A new page was installed; no restart is needed.
    Installed,
}

/// Result of an effect; errors are texts for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finished {
    /// The working panels show the picture with this serial number.
    Painted(u64),
    /// Everything was erased. On an error the settings are unchanged.
    Wiped(Result<(), String>),
    /// The credentials of the network were erased. On an error they may still be stored.
    Forgotten(Result<(), String>),
}
