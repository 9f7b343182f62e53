//! Answers the questions of phones that join the access point, for as long as it is up.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use board::sim::Bench;
use device::view::View;
use net::dns::{Redirect, portal_address};
use tokio::{sync::watch, time::timeout};

/// Time between two attempts to listen.
const RETRY: Duration = Duration::from_secs(10);

/// What is needed to answer.
#[derive(Debug)]
pub struct Names {
    /// Tells whether there is a portal, and where.
    pub views: watch::Receiver<Arc<View>>,
    /// Port to listen on; 0 lets the system choose.
    pub port: u16,
    /// The table on which the place that was chosen is said.
    pub bench: Bench,
}

/// Answers until the device is gone.
pub async fn run(names: Names) {
    let Names {
        mut views,
        port,
        bench,
    } = names;
    let mut refused = None;
    loop {
        let waiting = views.wait_for(|view| view.link.portal.is_some()).await;
        let Ok(portal) = waiting.map(|view| view.link.portal.clone()) else {
            return;
        };
        let place = portal.as_deref().and_then(portal_address);
        let redirect = match place {
            Some(address) => Redirect::bind(SocketAddr::new(address.into(), port), address)
                .await
                .and_then(|redirect| Ok((redirect.place()?, redirect)))
                .map_err(|error| error.to_string()),
            None => Err("the portal has no IPv4 address".to_string()),
        };
        let ended = views.wait_for(|view| view.link.portal != portal);
        match redirect {
            Ok((place, redirect)) => {
                refused = None;
                bench.set_names(Some(place));
                tokio::select! {
                    () = redirect.run() => {}
                    // Gone is told by the next wait.
                    _ = ended => {}
                }
                bench.set_names(None);
            }
            Err(error) => {
                if refused.as_ref() != Some(&error) {
                    tracing::warn!("names are not answered on the access point: {error}");
                    refused = Some(error);
                }
                // Either way it is tried again, or there is no portal any more.
                let _ = timeout(RETRY, ended).await;
            }
        }
    }
}
