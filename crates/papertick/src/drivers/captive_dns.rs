//! The DNS server of the simulated access point: it answers all names with the address of the portal.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use board::sim::Bench;
use device::view::View;
use net::dns::{Redirect, portal_address};
use tokio::{sync::watch, time::timeout};

/// Time between two attempts to listen.
const RETRY: Duration = Duration::from_secs(10);

/// Configuration of the DNS server.
#[derive(Debug)]
pub struct CaptiveDns {
    /// Has the address of the portal while the clock is an access point.
    pub views: watch::Receiver<Arc<View>>,
    /// Port to listen on; 0 for any free port.
    pub port: u16,
    /// Controls of the simulated board, which publish the address of the server.
    pub bench: Bench,
}

/// Runs while the clock is an access point, until the device is gone.
pub async fn run(config: CaptiveDns) {
    let CaptiveDns {
        mut views,
        port,
        bench,
    } = config;
    let mut logged_error = None;
    loop {
        let view = views.wait_for(|view| view.link.portal.is_some()).await;
        let Ok(portal) = view.map(|view| view.link.portal.clone()) else {
            return;
        };
        let redirect = match portal.as_deref().and_then(portal_address) {
            Some(address) => Redirect::bind(SocketAddr::new(address.into(), port), address)
                .await
                .and_then(|redirect| Ok((redirect.place()?, redirect)))
                .map_err(|error| error.to_string()),
            None => Err("the portal has no IPv4 address".to_string()),
        };
        let ended = views.wait_for(|view| view.link.portal != portal);
        match redirect {
            Ok((place, redirect)) => {
                logged_error = None;
                bench.set_names(Some(place));
                tokio::select! {
                    () = redirect.run() => {}
                    // If the device is gone, the next wait fails.
                    _ = ended => {}
                }
                bench.set_names(None);
            }
            Err(error) => {
                if logged_error.as_ref() != Some(&error) {
                    tracing::warn!("the DNS server of the access point cannot start: {error}");
                    logged_error = Some(error);
                }
                // Retries after the timeout, or when the portal has changed.
                let _ = timeout(RETRY, ended).await;
            }
        }
    }
}
