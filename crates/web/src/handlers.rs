//! Handlers of the operations that the program performs itself.

use std::pin::Pin;

use api::{
    answer::Answer,
    operation::{Operation, OperationHandler},
};
use device::view::View;

use super::{
    call::Call,
    canvas,
    commands::CallParser,
    diag,
    displays::{self, trmnl},
    events, glass, history, metrics, openapi, pages, panels, portal, preview, qr,
    response::Response,
    settings, sim, status, transfer, update,
};

pub type ResponseFuture = Pin<Box<dyn Future<Output = Response> + Send>>;

#[derive(Clone, Copy)]
pub enum Handler {
    /// Makes a request to the device from the parameters.
    Device(CallParser),
    View(fn(&View) -> Answer),
    /// Responds at once.
    Sync(fn(&Call) -> Response),
    /// Reads a body or waits for other tasks.
    Async(fn(Call) -> ResponseFuture),
}

/// Makes a handler of an async function.
macro_rules! handler {
    (async $handler:path) => {
        Handler::Async(|call| Box::pin($handler(call)))
    };
}

/// The handlers of the operations, by method and path of the first endpoint.
static HANDLERS: &[(&str, Handler)] = &[
    ("GET /api/status", Handler::Sync(status::status)),
    ("GET /api/system/status", Handler::Sync(status::system)),
    ("GET /api/history", Handler::Sync(history::read)),
    ("GET /events", Handler::Sync(events::subscribe)),
    ("GET /api/panels.png", Handler::Sync(panels::all)),
    ("GET /api/panels/{i}.png", Handler::Sync(panels::one)),
    ("GET /api/frame.png", handler!(async canvas::png)),
    ("GET /api/frame.bmp", handler!(async canvas::bmp)),
    ("POST /api/frame.png", handler!(async canvas::preview)),
    ("GET /api/preview/ws", handler!(async preview::open)),
    ("GET /api/settings", Handler::Sync(settings::read)),
    ("GET /api/settings/export", Handler::Sync(transfer::export)),
    (
        "POST /api/settings/import",
        handler!(async transfer::import),
    ),
    (
        "POST /api/firmware/auto_update",
        handler!(async update::automatic),
    ),
    ("POST /upload/firmware", handler!(async update::firmware)),
    ("POST /upload/webui", handler!(async update::web_bundle)),
    ("GET /api/log", Handler::Sync(diag::log)),
    ("GET /api/coredump", handler!(async diag::coredump)),
    (
        "DELETE /api/coredump",
        handler!(async diag::delete_coredump),
    ),
    (
        "POST /api/diag/heap_trace/start",
        handler!(async diag::start_trace),
    ),
    (
        "POST /api/diag/heap_trace/stop",
        handler!(async diag::stop_trace),
    ),
    ("GET /api/diag/heap", Handler::Sync(diag::heap)),
    (
        "POST /api/preview.png",
        handler!(async panels::settings_preview),
    ),
    (
        "POST /api/show/preview.png",
        handler!(async panels::text_preview),
    ),
    ("GET /sim/state", Handler::Sync(sim::state)),
    ("GET /sim/panels.png", Handler::Sync(sim::panels)),
    ("POST /sim/buttons", handler!(async sim::buttons)),
    ("POST /sim/lux", handler!(async sim::lux)),
    ("POST /sim/wifi", handler!(async sim::wifi)),
    ("POST /sim/power", handler!(async sim::power)),
    ("POST /sim/market", handler!(async sim::market)),
    ("POST /sim/panel", handler!(async sim::panel)),
    ("GET /scan", handler!(async portal::scan)),
    ("POST /save", handler!(async portal::join)),
    ("GET /", Handler::Sync(pages::named)),
    ("GET /docs", Handler::Sync(pages::named)),
    ("GET /manifest.json", Handler::Sync(pages::manifest)),
    ("GET /glass", handler!(async glass::page)),
    ("GET /api/qr.png", Handler::Sync(qr::png)),
    ("GET /openapi.json", Handler::Sync(openapi::read)),
    ("GET /healthz", Handler::Sync(status::health)),
    ("GET /readyz", Handler::Sync(status::ready)),
    ("GET /metrics", Handler::Sync(metrics::read)),
    ("GET /api/displays", Handler::Sync(displays::list)),
    ("POST /api/displays", handler!(async displays::add)),
    ("PATCH /api/displays/{id}", handler!(async displays::change)),
    (
        "DELETE /api/displays/{id}",
        handler!(async displays::remove),
    ),
    (
        "GET /api/displays/{id}.png",
        handler!(async displays::preview),
    ),
    ("GET /api/setup", handler!(async trmnl::set_up)),
    ("GET /api/display", handler!(async trmnl::display)),
    (
        "GET /api/current_screen",
        handler!(async trmnl::current_screen),
    ),
    ("POST /api/log", handler!(async trmnl::log)),
    ("GET /display/{picture}.png", handler!(async trmnl::picture)),
];

pub fn handler(operation: &Operation) -> Handler {
    match operation.handler {
        OperationHandler::Device(parse) => Handler::Device(parse),
        OperationHandler::View(answer) => Handler::View(answer),
        OperationHandler::Program => {
            let name = name(operation);
            let found = HANDLERS.iter().find(|(of, _)| *of == name);
            found.expect("a test compares both tables").1
        }
    }
}

/// Method and path of the first endpoint.
fn name(operation: &Operation) -> String {
    let endpoint = &operation.endpoints[0];
    format!("{} {}", endpoint.method.name(), endpoint.path)
}

#[cfg(test)]
mod tests {
    use api::operations;

    use super::*;

    #[test]
    fn each_operation_of_the_program_has_a_handler() {
        let by_program = |it: &&Operation| matches!(it.handler, OperationHandler::Program);
        let mut rows: Vec<_> = operations::all().filter(by_program).map(name).collect();
        let mut handlers: Vec<_> = HANDLERS.iter().map(|(name, _)| *name).collect();
        rows.sort();
        handlers.sort();
        assert_eq!(handlers, rows);
    }
}
