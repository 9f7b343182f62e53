//! The result of the last use of the owner's proxy.

use device::sources::Proxy;
use tokio::{sync::watch, time::Instant};

use crate::{
    dialer::{ConnectFailure, ConnectStage, DialError},
    proxy::ProxyFailure,
};

/// Result of the last connection through a proxy.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProxyUse {
    /// When it last responded as a proxy.
    pub last_success: Option<Instant>,
    /// Why it could not be used. `None` if it could.
    pub error: Option<String>,
}

/// The last use of the most recent proxy.
#[derive(Debug, Default)]
pub(crate) struct ProxyUses(watch::Sender<Option<(Proxy, ProxyUse)>>);

impl ProxyUses {
    /// The last use of this proxy. `None` if another or no proxy was used since.
    pub(crate) fn last(&self, proxy: &Proxy) -> Option<ProxyUse> {
        let last = self.0.borrow();
        let used = last.as_ref().filter(|(used, _)| used == proxy);
        used.map(|(_, state)| state.clone())
    }

    /// Records a connection through a proxy, with its error if it failed.
    pub(crate) fn record(&self, proxy: &Proxy, error: Option<&DialError>) {
        let blamed = error.map_or(Blame::Destination, blame);
        if blamed == Blame::Neither {
            return;
        }
        let responded = blamed == Blame::Destination;
        self.0.send_modify(|last| {
            let before = last.take().filter(|(used, _)| used == proxy);
            let mut state = before.map(|(_, state)| state).unwrap_or_default();
            if blamed == Blame::Unclear && state.last_success.is_some() {
                *last = Some((proxy.clone(), state));
                return;
            }
            if responded {
                state.last_success = Some(Instant::now());
            }
            state.error = error.filter(|_| !responded).map(DialError::to_string);
            *last = Some((proxy.clone(), state));
        });
    }
}

/// What caused the failure of a connection through a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Blame {
    Proxy,
    Destination,
    /// The proxy gave no reply: it cannot reach the destination, or it is of another kind if it has never replied.
    Unclear,
    Neither,
}

/// A proxy that refuses or does not find a destination still works.
fn blame(error: &DialError) -> Blame {
    match (&error.step, &error.failure) {
        (
            ConnectStage::ResolveProxy(_) | ConnectStage::ConnectProxy(_) | ConnectStage::Login,
            _,
        ) => Blame::Proxy,
        (ConnectStage::Request(_), ConnectFailure::Proxy(refusal)) => match refusal {
            ProxyFailure::Malformed
            | ProxyFailure::TooLong
            | ProxyFailure::LoginWanted
            | ProxyFailure::LoginRefused
            | ProxyFailure::NoMethod
            | ProxyFailure::LoginTooLong => Blame::Proxy,
            ProxyFailure::Status(_) | ProxyFailure::Code(_) | ProxyFailure::HostTooLong => {
                Blame::Destination
            }
            ProxyFailure::Io(_) => Blame::Unclear,
        },
        (ConnectStage::Request(_), _) => Blame::Unclear,
        (ConnectStage::Resolve(_) | ConnectStage::Connect(_) | ConnectStage::Tls(_), _) => {
            Blame::Neither
        }
    }
}
