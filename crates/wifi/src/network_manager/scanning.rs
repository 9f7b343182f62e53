//! Lists the networks in range.

use std::time::Duration;

use board::ports::WifiNetwork;
use tokio::time::timeout;
use zbus::OwnedObjectPath;

use super::{NetworkManager, bus::Signal, next_signal};

const SCAN_TIMEOUT: Duration = Duration::from_secs(5);

impl NetworkManager {
    pub(super) async fn networks(&mut self) -> Vec<WifiNetwork> {
        let Some((bus, device)) = self.connected() else {
            return Vec::new();
        };
        let device = device.clone();
        match bus.request_scan(&device).await {
            Ok(Some(before)) => {
                // After a timeout the networks found so far are listed.
                let _ = timeout(SCAN_TIMEOUT, self.scan_finished(&device, before)).await;
            }
            Ok(None) => {}
            // Many radios cannot scan while they are an access point.
            Err(error) => tracing::debug!(%error, "the radio cannot scan"),
        }
        let own = self.wanted.as_ref().map(|own| own.ssid.clone());
        let Some((bus, device)) = self.connected() else {
            return Vec::new();
        };
        let networks = bus.scanned_networks(device).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "cannot list the networks");
            Vec::new()
        });
        networks
            .into_iter()
            .filter(|seen| Some(&seen.ssid) != own.as_ref())
            .map(WifiNetwork::from)
            .collect()
    }

    /// Waits until the time of the last scan differs from `before`.
    async fn scan_finished(&mut self, device: &OwnedObjectPath, before: i64) {
        loop {
            let Some(bus) = &self.bus else { return };
            match bus.last_scan(device).await {
                Ok(Some(last)) if last == before => {}
                Ok(_) | Err(_) => return,
            }
            let changed = Signal::Changed(device.clone());
            loop {
                let signal = next_signal(&mut self.bus).await;
                let is_changed = signal.as_ref() == Some(&changed);
                let is_closed = signal.is_none();
                self.handle_signal(signal);
                if is_closed {
                    return;
                }
                if is_changed {
                    break;
                }
            }
        }
    }
}
