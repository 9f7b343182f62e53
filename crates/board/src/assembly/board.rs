//! Opens all parts of a wiring and returns a port for each.

use std::{fmt, future::Future, pin::Pin};

use super::{
    AssembledButtons, AssembledFrontlight, AssembledPanels, AssembledSensor, AssembledStrip,
    ExpanderBus, Hardware, PanelWorker, i2c_bus::I2cBus, panels, strip,
};
use crate::wiring::Wiring;

/// A board of real parts: one port per task.
#[derive(Debug)]
pub struct AssembledBoard {
    pub panels: AssembledPanels,
    /// Its LED strip, if it has one.
    pub strip: Option<AssembledStrip>,
    /// Its frontlight, if it has one.
    pub frontlight: Option<AssembledFrontlight>,
    /// Its light sensor, if it has one.
    pub sensor: Option<AssembledSensor>,
    /// Its buttons, if it has any.
    pub buttons: Option<AssembledButtons>,
    /// The tasks of its buses. Each of them must run.
    pub buses: Vec<BusTask>,
}

/// The task of a bus. It must run until the ports of its parts are dropped.
pub struct BusTask {
    pub name: &'static str,
    work: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl fmt::Debug for BusTask {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("BusTask")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl BusTask {
    fn new(name: &'static str, work: impl Future<Output = ()> + Send + 'static) -> BusTask {
        BusTask {
            name,
            work: Box::pin(work),
        }
    }

    /// Runs in the calling task, for hardware that does not block.
    pub async fn serve(self) {
        self.work.await;
    }

    /// Runs on its own thread, for hardware that blocks.
    ///
    /// # Errors
    /// The thread cannot be started, or it panicked.
    pub async fn serve_on_thread(self) -> std::io::Result<()> {
        let runtime = tokio::runtime::Handle::current();
        let (done, ended) = tokio::sync::oneshot::channel();
        let name = format!("{} bus", self.name);
        std::thread::Builder::new().name(name).spawn(move || {
            runtime.block_on(self.work);
            let _ = done.send(());
        })?;
        ended
            .await
            .map_err(|_| std::io::Error::other("its thread panicked"))
    }
}

/// Opens all parts of a wiring.
///
/// # Errors
/// A part cannot be opened; which and why, as a text for people.
pub fn assemble<H: Hardware>(hardware: &H, wiring: &Wiring) -> Result<AssembledBoard, String> {
    let claims = claim_all(hardware, wiring)?;
    let wire = ExpanderBus::open(hardware, wiring)?;
    let mut buses = Vec::new();
    let i2c_bus = I2cBus::open(hardware, wire.as_ref(), wiring)?;
    let worker = PanelWorker::open(hardware.clone(), wire, wiring)?;
    let (panels, channels) = panels::panels(wiring);
    let last_refresh = panels::last_refresh_limit(wiring);
    buses.push(BusTask::new("panel", async move {
        panels::serve(worker, channels, last_refresh).await;
        // Holds the locks until the panel task ends.
        drop(claims);
    }));
    let ports = match i2c_bus {
        Some((mut bus, ports)) => {
            // Read now, so that the state is that at power-on even if the task starts later.
            bus.read_buttons();
            buses.push(BusTask::new("i2c", bus.serve()));
            ports
        }
        None => Default::default(),
    };
    let strip = match &wiring.strip {
        Some(wired) => {
            let bus = hardware
                .spi(&wired.device, wired.hz)
                .map_err(|error| format!("{}: {error}", wired.device))?;
            let (port, requests) = strip::strip();
            let work = strip::serve(hardware.clone(), bus, wired.clone(), requests);
            buses.push(BusTask::new("strip", work));
            Some(port)
        }
        None => None,
    };
    Ok(AssembledBoard {
        panels,
        strip,
        frontlight: ports.frontlight,
        sensor: ports.sensor,
        buttons: ports.buttons,
        buses,
    })
}

/// Locks all buses, so that no other program uses them.
fn claim_all<H: Hardware>(hardware: &H, wiring: &Wiring) -> Result<Vec<H::Claim>, String> {
    wiring
        .devices()
        .map(|device| {
            hardware
                .claim(device)
                .map_err(|error| format!("{device}: {error}"))
        })
        .collect()
}
