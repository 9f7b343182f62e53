//! The D-Bus connection to NetworkManager: method calls with a timeout, and its signals.

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

/// Bus name of NetworkManager, and name of its main interface.
pub(super) const MANAGER: &str = "org.freedesktop.NetworkManager";

/// Path of its main object; all other objects are below it.
pub(super) const MANAGER_PATH: &str = "/org/freedesktop/NetworkManager";

pub(super) const NO_OBJECT: &str = "/";

pub(super) const DEVICE: &str = "org.freedesktop.NetworkManager.Device";

const PROPERTIES: &str = "org.freedesktop.DBus.Properties";
const BUS: &str = "org.freedesktop.DBus";
const BUS_PATH: &str = "/org/freedesktop/DBus";

const CALL_TIMEOUT: Duration = Duration::from_secs(5);

/// Most queued signals. A full queue would block the replies to method calls.
const QUEUE: NonZeroUsize = NonZeroUsize::new(1024).expect("not zero");

pub(super) type Properties = BTreeMap<String, OwnedVariant>;

#[derive(Debug)]
pub(super) struct DBusConnection {
    connection: Connection,
    signals: Select<MessageStream, MessageStream>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Signal {
    /// NetworkManager has started or stopped.
    Owner,
    /// A device entered another state.
    State {
        device: OwnedObjectPath,
        new: u32,
        old: u32,
        reason: u32,
    },
    /// Properties of an object changed.
    Changed(OwnedObjectPath),
    /// The devices or the permissions changed.
    Devices,
    /// Another signal, which is ignored.
    Other,
}

impl DBusConnection {
    /// Connects to the bus at an address, or to the system bus.
    pub(super) async fn connect(address: Option<&str>) -> zbus::Result<DBusConnection> {
        let builder = match address {
            Some(address) => connection::Builder::address(address),
            None => connection::Builder::system(),
        };
        let built = builder.method_timeout(CALL_TIMEOUT).build();
        let connection = timeout(CALL_TIMEOUT, built)
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

    /// Whether NetworkManager is running.
    pub(super) async fn has_manager(&self) -> zbus::Result<bool> {
        let object = (BUS, BUS_PATH, BUS);
        self.call_at(object, "NameHasOwner", &MANAGER).await
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
        let reply = self
            .connection
            .call_method(Some(destination), path, Some(interface), method, body)
            .await?;
        reply.body().deserialize()
    }

    /// Reads a property; `None` if the property or its object does not exist.
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
        let value: Option<OwnedVariant> =
            if_exists(self.call(path, PROPERTIES, "Get", &body).await)?;
        Ok(value.and_then(|value| T::try_from(value).ok()))
    }

    /// Reads all properties of an interface of an object; `None` if the object does not exist.
    pub(super) async fn properties(
        &self,
        path: &str,
        interface: &str,
    ) -> zbus::Result<Option<Properties>> {
        if_exists(self.call(path, PROPERTIES, "GetAll", &interface).await)
    }

    /// Waits for a signal; `None` if the connection is closed. Cancel safe.
    pub(super) async fn signal(&mut self) -> Option<Signal> {
        match self.signals.next().await {
            Some(Ok(message)) => Some(Signal::parse(&message)),
            Some(Err(_)) | None => None,
        }
    }

    pub(super) fn queued_signal(&mut self) -> Option<Signal> {
        self.signal().now_or_never().flatten()
    }
}

impl Signal {
    fn parse(message: &Message) -> Signal {
        let header = message.header();
        let (Some(path), Some(interface), Some(member)) =
            (header.path(), header.interface(), header.member())
        else {
            return Signal::Other;
        };
        match (interface.as_str(), member.as_str()) {
            (BUS, "NameOwnerChanged") => Signal::Owner,
            (MANAGER, "DeviceAdded" | "DeviceRemoved" | "CheckPermissions") => Signal::Devices,
            (DEVICE, "StateChanged") => Signal::parse_state(path, message),
            (PROPERTIES, "PropertiesChanged") => Signal::Changed(path.to_owned().into()),
            _ => Signal::Other,
        }
    }

    fn parse_state(path: &ObjectPath<'_>, message: &Message) -> Signal {
        match message.body().deserialize() {
            Ok((new, old, reason)) => Signal::State {
                device: path.to_owned().into(),
                new,
                old,
                reason,
            },
            Err(_) => Signal::Other,
        }
    }
}

/// Whether an error means that the bus or NetworkManager does not respond. Other errors are negative responses.
pub(super) fn is_unresponsive(error: &Error) -> bool {
    if let Error::FDO(error) = error {
        return matches!(
            **error,
            fdo::Error::ServiceUnknown(_)
                | fdo::Error::NameHasNoOwner(_)
                | fdo::Error::NoReply(_)
                | fdo::Error::Disconnected(_)
        );
    }
    matches!(error, Error::InputOutput(_) | Error::Connection(..))
}

/// `None` if NetworkManager responds with an error, for example because the object does not exist.
pub(super) fn if_exists<T>(result: zbus::Result<T>) -> zbus::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if is_unresponsive(&error) => Err(error),
        Err(error) => {
            tracing::debug!(%error, "NetworkManager responded with an error");
            Ok(None)
        }
    }
}
