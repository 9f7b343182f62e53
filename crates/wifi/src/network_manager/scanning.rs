//! Lists the networks in reach.

use std::time::Duration;

use board::ports::WifiNetwork;
use tokio::time::timeout;
use zbus::OwnedObjectPath;

use super::{NetworkManager, bus::Signal, heard};

/// Longest time a look around may take.
const SCAN_LIMIT: Duration = Duration::from_secs(5);

impl NetworkManager {
    pub(super) async fn networks(&mut self) -> Vec<WifiNetwork> {
        let Some((bus, device)) = self.held() else {
            return Vec::new();
        };
        let device = device.clone();
        match bus.look_around(&device).await {
            Ok(Some(before)) => {
                // Without an end the networks seen so far have to do.
                let _ = timeout(SCAN_LIMIT, self.scanned(&device, before)).await;
            }
            Ok(None) => {}
            // Many radios do not look around while they are an access point.
            Err(error) => tracing::debug!(%error, "the radio does not look around"),
        }
        let own = self.wanted.as_ref().map(|own| own.ssid.clone());
        let Some((bus, device)) = self.held() else {
            return Vec::new();
        };
        let networks = bus.in_reach(device).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "NetworkManager lists no networks");
            Vec::new()
        });
        networks
            .into_iter()
            .filter(|seen| Some(&seen.ssid) != own.as_ref())
            .map(WifiNetwork::from)
            .collect()
    }

    /// Waits until a radio has looked around.
    async fn scanned(&mut self, device: &OwnedObjectPath, before: i64) {
        loop {
            let Some(bus) = &self.bus else { return };
            match bus.last_scan(device).await {
                Ok(Some(last)) if last == before => {}
                Ok(_) | Err(_) => return,
            }
            let changed = Signal::Changed(device.clone());
            loop {
                let signal = heard(&mut self.bus).await;
                let is_it = signal.as_ref() == Some(&changed);
                let is_end = signal.is_none();
                self.hear(signal);
                if is_end {
                    return;
                }
                if is_it {
                    break;
                }
            }
        }
    }
}
