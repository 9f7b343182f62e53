//! What enters the device: everything that can change it.

use alloc::{string::String, vec::Vec};
use core::time::Duration;

use chain::Header;

use crate::{
    host::HostFacts,
    releases::ReleaseCheck,
    request::Request,
    secret::{MadePassword, Secret},
};
use market::{Connection, HeadersReach, Observation, ProofOrigin, source_id::SourceId};

/// Something that happened; the device changes only by handling one of these.
#[derive(Debug, Clone)]
pub enum Input {
    /// A deadline of the device has come, or the wall clock stepped.
    Tick,
    /// A source learned something, all of it at once.
    Observed(SourceId, Vec<Observation>),
    /// Somebody has headers that follow each other, oldest first; the output carries what came of them. None of them asks
    /// only what is kept.
    Headers(ProofOrigin, Vec<Header>, HeadersReach),
    /// A client asks for something; the output carries the reply.
    Asked(Request),
    /// The buttons as the power came on.
    Held(Contacts),
    /// A button was pressed or released; may come late, but in order.
    Pressed(Contacts),
    /// The state of the time server.
    Timed(Connection),
    /// What the time server says is before the newest blocks; its state follows.
    TimeRefused,
    /// The state of the connection to the owner's broker, and what of it was dropped.
    Brokered(Brokered),
    /// The light sensor measured.
    Sensed(Sensed),
    /// The radio or the host's network changed.
    Linked(LinkEvent),
    /// An update moved on.
    Uploaded(UpdateEvent),
    /// Somebody looked at the list of releases.
    Looked(ReleaseCheck),
    /// Work asked for by an effect has ended.
    Finished(Finished),
    /// The machine was measured.
    Measured(HostFacts),
    /// The device did not come up several times in a row: it runs without its sources, for this reason in words fit
    /// for people.
    SafeMode(String),
    /// The control interface is shut with a password that was made for this run; whoever stands before the glass reads
    /// it there until somebody has signed in.
    Locked(MadePassword),
    /// Somebody who knows the password has signed in.
    SignedIn,
    /// Something that people should know went wrong at the start; never with a secret.
    Noticed(String),
}

/// What is to be known of the owner's broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Brokered {
    /// The connection.
    Connection(Connection),
    /// What went wrong although the connection holds, in words fit for people; never with a secret.
    Complaint(String),
    /// What it sent, or was to be sent, was dropped for this reason, so many times.
    Dropped(&'static str, u32),
}

/// The contacts of the buttons from a moment on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contacts {
    /// Buttons that are down, a bit per button in the order of the board's pins.
    pub down: u8,
    /// Uptime at which it became so.
    pub at: Duration,
}

/// What a button is for.
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

/// What the light sensor says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sensed {
    /// A reading, thousandths of a lux.
    Millilux(u32),
    /// No sensor answers.
    Absent,
}

impl Sensed {
    /// The reading, thousandths of a lux; none without a sensor.
    pub fn millilux(self) -> Option<u32> {
        match self {
            Sensed::Millilux(reading) => Some(reading),
            Sensed::Absent => None,
        }
    }
}

/// What the radio or the host's network says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkEvent {
    /// An address was obtained.
    Up {
        /// Address of the device.
        ip: String,
        /// Name of the network; none on a wire.
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
    /// Transmit power the radio really uses, quarter-dBm.
    TxPower(i32),
    /// The access point is up.
    Portal {
        /// Address of the portal, with its port where that is not the usual one.
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
        /// The one under which it is found, another one where somebody had that already; none if it is not announced.
        name: Option<String>,
    },
    /// Who the device is on the network.
    Identity {
        /// Last three bytes of the hardware address, six lower-case hex digits.
        suffix: String,
        /// Password of its access point; empty for an open one.
        password: Secret,
    },
}

/// Why a network is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkFailure {
    /// It was there and is gone.
    Lost,
    /// No network of that name is in reach.
    NotFound,
    /// The password is wrong.
    Auth,
    /// The access point refused.
    Association,
    /// The handshake did not end.
    Handshake,
    /// The connection broke off.
    Connection,
    /// No answer in time.
    Timeout,
}

/// Progress of an update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpdateEvent {
    /// Bytes will come.
    Started,
    /// So much has come, percent.
    Progress(u8),
    /// It broke off, or the image was refused.
    Failed(String),
    /// The image is whole and verified; the device restarts into it.
    Verified,
    /// A page is installed, for which nothing has to be started again.
    Installed,
}

/// How work asked for by an effect has ended; what went wrong is in words for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finished {
    /// The panels show, as far as they work, the picture with this serial number.
    Painted(u64),
    /// Everything is gone; or not everything, and the settings are as they were.
    Wiped(Result<(), String>),
    /// The network's credentials are gone, or may still be there.
    Forgotten(Result<(), String>),
}
