//! Puts a board together: opens everything that its wiring says, and gives out a port for each part.

use std::{fmt, future::Future, pin::Pin};

use super::{
    AssembledButtons, AssembledFrontlight, AssembledPanels, AssembledSensor, AssembledStrip,
    ExpanderBus, Hardware, PanelWorker, panels, strip, wire_bus::WireBus,
};
use crate::wiring::Wiring;

/// A board made from parts, taken apart: one port per task.
#[derive(Debug)]
pub struct AssembledBoard {
    /// Its panels.
    pub panels: AssembledPanels,
    /// Its LED strip, if it has one.
    pub strip: Option<AssembledStrip>,
    /// Its frontlight, if it has one.
    pub frontlight: Option<AssembledFrontlight>,
    /// Its light sensor, if it has one.
    pub sensor: Option<AssembledSensor>,
    /// Its buttons, if it has some.
    pub buttons: Option<AssembledButtons>,
    /// Its buses; nothing happens unless each of them is served.
    pub buses: Vec<BusTask>,
}

/// A bus task. It must be polled until the ports of its parts are dropped.
pub struct BusTask {
    /// Name for the task or the thread.
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

    /// Serves the bus in the calling task, for hardware that does not block.
    pub async fn serve(self) {
        self.work.await;
    }

    /// Serves the bus on a thread of its own, for hardware that blocks.
    ///
    /// # Errors
    /// There is no thread to be had, or it died.
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
            .map_err(|_| std::io::Error::other("its thread died"))
    }
}

/// Opens all parts of a wiring.
///
/// # Errors
/// Something is not to be had; what and why, in words for people.
pub fn assemble<H: Hardware>(hardware: &H, wiring: &Wiring) -> Result<AssembledBoard, String> {
    let claims = claim_all(hardware, wiring)?;
    let wire = ExpanderBus::open(hardware, wiring)?;
    let mut buses = Vec::new();
    let wire_bus = WireBus::open(hardware, wire.as_ref(), wiring)?;
    let worker = PanelWorker::open(hardware.clone(), wire, wiring)?;
    let (panels, ends) = panels::panels(worker.count());
    buses.push(BusTask::new("panel", async move {
        panels::serve(worker, ends).await;
        drop(claims);
    }));
    let ports = match wire_bus {
        Some((mut bus, ports)) => {
            // How the buttons are now is how they were as the power came on, however late the bus is served.
            bus.look();
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
            let (port, orders) = strip::strip();
            let work = strip::serve(hardware.clone(), bus, wired.clone(), orders);
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

/// Keeps other programs from using the buses.
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
