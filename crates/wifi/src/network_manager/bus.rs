//! NetworkManager on the bus: calls with a limit of time, and its signals in few words.

use std::{
    collections::BTreeMap,
    io::{self, ErrorKind},
    num::NonZeroUsize,
    time::Duration,
};

use futures_util::{
    FutureExt, StreamExt,
    stream::{self, Select},
};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use zbus::{
    Connection, DynamicType, Error, MatchRule, Message, MessageStream, ObjectPath, OwnedObjectPath,
    OwnedVariant, Type, connection, fdo, message,
};

/// Name of NetworkManager on the bus, and of its main interface.
pub(super) const MANAGER: &str = "org.freedesktop.NetworkManager";

/// Path of its main object; all others are below.
pub(super) const MANAGER_PATH: &str = "/org/freedesktop/NetworkManager";

/// Path that means no object.
pub(super) const NO_OBJECT: &str = "/";

/// Interface of devices.
pub(super) const DEVICE: &str = "org.freedesktop.NetworkManager.Device";

const PROPERTIES: &str = "org.freedesktop.DBus.Properties";
const BUS: &str = "org.freedesktop.DBus";
const BUS_PATH: &str = "/org/freedesktop/DBus";

/// Longest time a call may take.
const CALL_LIMIT: Duration = Duration::from_secs(5);

/// Signals that may wait; a full queue would hold up the answers to calls.
const QUEUE: NonZeroUsize = NonZeroUsize::new(1024).expect("not zero");

/// Properties of an object.
pub(super) type Properties = BTreeMap<String, OwnedVariant>;

/// A connection to D-Bus; dropping it closes it.
#[derive(Debug)]
pub(super) struct DBusConnection {
    connection: Connection,
    signals: Select<MessageStream, MessageStream>,
}

/// What NetworkManager says unasked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Signal {
    /// It came, or went.
    Owner,
    /// A device entered another state.
    State {
        device: OwnedObjectPath,
        new: u32,
        old: u32,
        reason: u32,
    },
    /// An object changed.
    Changed(OwnedObjectPath),
    /// There are other devices, or other permissions.
    Devices,
    /// Nothing of interest.
    Noise,
}

impl DBusConnection {
    /// Connects to the bus at an address, or to the system's.
    pub(super) async fn connect(address: Option<&str>) -> zbus::Result<DBusConnection> {
        let builder = match address {
            Some(address) => connection::Builder::address(address),
            None => connection::Builder::system(),
        };
        let built = builder.method_timeout(CALL_LIMIT).build();
        let connection = timeout(CALL_LIMIT, built)
            .await
            .map_err(|_| Error::from(io::Error::from(ErrorKind::TimedOut)))??;
        let own = MatchRule::builder()
            .msg_type(message::Type::Signal)
            .sender(MANAGER)
            .path_namespace(MANAGER_PATH)
            .build()?;
        let owner = MatchRule::builder()
            .msg_type(message::Type::Signal)
            .sender(BUS)
            .interface(BUS)
            .member("NameOwnerChanged")
            .add_arg(MANAGER)
            .build()?;
        let own = MessageStream::for_match_rule(own, &connection, Some(QUEUE)).await?;
        let owner = MessageStream::for_match_rule(owner, &connection, Some(QUEUE)).await?;
        Ok(DBusConnection {
            connection,
            signals: stream::select(own, owner),
        })
    }

    /// Tells whether NetworkManager is there.
    pub(super) async fn has_manager(&self) -> zbus::Result<bool> {
        let place = (BUS, BUS_PATH, BUS);
        self.call_at(place, "NameHasOwner", &MANAGER).await
    }

    /// Calls a method of one of NetworkManager's objects.
    pub(super) async fn call<B, R>(
        &self,
        path: &str,
        interface: &str,
        method: &str,
        body: &B,
    ) -> zbus::Result<R>
    where
        B: Serialize + DynamicType,
        R: for<'d> Deserialize<'d> + Type,
    {
        self.call_at((MANAGER, path, interface), method, body).await
    }

    async fn call_at<B, R>(
        &self,
        (destination, path, interface): (&str, &str, &str),
        method: &str,
        body: &B,
    ) -> zbus::Result<R>
    where
        B: Serialize + DynamicType,
        R: for<'d> Deserialize<'d> + Type,
    {
        let answer = self
            .connection
            .call_method(Some(destination), path, Some(interface), method, body)
            .await?;
        answer.body().deserialize()
    }

    /// Reads a property; none if there is none, or its object has gone.
    pub(super) async fn property<T>(
        &self,
        path: &str,
        interface: &str,
        name: &str,
    ) -> zbus::Result<Option<T>>
    where
        T: TryFrom<OwnedVariant>,
    {
        let body = (interface, name);
        let value: Option<OwnedVariant> = there(self.call(path, PROPERTIES, "Get", &body).await)?;
        Ok(value.and_then(|value| T::try_from(value).ok()))
    }

    /// Reads all properties of an object that an interface has; none if the object has gone.
    pub(super) async fn properties(
        &self,
        path: &str,
        interface: &str,
    ) -> zbus::Result<Option<Properties>> {
        there(self.call(path, PROPERTIES, "GetAll", &interface).await)
    }

    /// Waits for a signal; none when the bus is gone. Dropping the future loses nothing.
    pub(super) async fn signal(&mut self) -> Option<Signal> {
        match self.signals.next().await {
            Some(Ok(message)) => Some(Signal::read(&message)),
            Some(Err(_)) | None => None,
        }
    }

    /// A signal that waits already.
    pub(super) fn waiting(&mut self) -> Option<Signal> {
        self.signal().now_or_never().flatten()
    }
}

impl Signal {
    fn read(message: &Message) -> Signal {
        let header = message.header();
        let (Some(path), Some(interface), Some(member)) =
            (header.path(), header.interface(), header.member())
        else {
            return Signal::Noise;
        };
        match (interface.as_str(), member.as_str()) {
            (BUS, "NameOwnerChanged") => Signal::Owner,
            (MANAGER, "DeviceAdded" | "DeviceRemoved" | "CheckPermissions") => Signal::Devices,
            (DEVICE, "StateChanged") => Signal::state(path, message),
            (PROPERTIES, "PropertiesChanged") => Signal::Changed(path.to_owned().into()),
            _ => Signal::Noise,
        }
    }

    fn state(path: &ObjectPath<'_>, message: &Message) -> Signal {
        match message.body().deserialize() {
            Ok((new, old, reason)) => Signal::State {
                device: path.to_owned().into(),
                new,
                old,
                reason,
            },
            Err(_) => Signal::Noise,
        }
    }
}

/// Tells whether an error means that the bus or NetworkManager does not answer, rather than answering no.
pub(super) fn is_silence(error: &Error) -> bool {
    if let Error::FDO(answer) = error {
        return matches!(
            **answer,
            fdo::Error::ServiceUnknown(_)
                | fdo::Error::NameHasNoOwner(_)
                | fdo::Error::NoReply(_)
                | fdo::Error::Disconnected(_)
        );
    }
    matches!(error, Error::InputOutput(_) | Error::Connection(..))
}

/// An answer, or none where NetworkManager says that there is no such thing.
pub(super) fn there<T>(answer: zbus::Result<T>) -> zbus::Result<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if is_silence(&error) => Err(error),
        Err(error) => {
            tracing::debug!(%error, "NetworkManager has no answer");
            Ok(None)
        }
    }
}
