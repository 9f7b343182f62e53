//! Handlers of the operations that the program performs itself.

use std::pin::Pin;

use api::operation::ProgramOperation;

use super::{
    call::Call,
    canvas, diag,
    displays::{self, trmnl},
    events, glass, metrics, openapi, pages, panels, portal, preview, qr,
    response::Response,
    settings, sim, status, transfer, update,
};

/// The future of an async handler.
pub type ResponseFuture = Pin<Box<dyn Future<Output = Response> + Send>>;

/// The handler of an operation.
pub enum Handler {
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

/// The handler of an operation.
pub fn handler(operation: ProgramOperation) -> Handler {
    match operation {
        ProgramOperation::Status => Handler::Sync(status::status),
        ProgramOperation::System => Handler::Sync(status::system),
        ProgramOperation::Events => Handler::Sync(events::subscribe),
        ProgramOperation::Panels => Handler::Sync(panels::all),
        ProgramOperation::Panel => Handler::Sync(panels::one),
        ProgramOperation::FramePng => handler!(async canvas::png),
        ProgramOperation::FrameBmp => handler!(async canvas::bmp),
        ProgramOperation::Preview => handler!(async preview::open),
        ProgramOperation::Settings => Handler::Sync(settings::read),
        ProgramOperation::ExportSettings => Handler::Sync(transfer::export),
        ProgramOperation::ImportSettings => handler!(async transfer::import),
        ProgramOperation::AutoUpdate => handler!(async update::automatic),
        ProgramOperation::Firmware => handler!(async update::firmware),
        ProgramOperation::WebBundle => handler!(async update::web_bundle),
        ProgramOperation::Log => Handler::Sync(diag::log),
        ProgramOperation::Coredump => handler!(async diag::coredump),
        ProgramOperation::ForgetCoredump => handler!(async diag::delete_coredump),
        ProgramOperation::StartTrace => handler!(async diag::start_trace),
        ProgramOperation::StopTrace => handler!(async diag::stop_trace),
        ProgramOperation::Heap => Handler::Sync(diag::heap),
        ProgramOperation::SettingsPicture => handler!(async panels::settings_preview),
        ProgramOperation::TextPicture => handler!(async panels::text_preview),
        ProgramOperation::BenchState => Handler::Sync(sim::state),
        ProgramOperation::BenchPanels => Handler::Sync(sim::panels),
        ProgramOperation::BenchButtons => handler!(async sim::buttons),
        ProgramOperation::BenchLux => handler!(async sim::lux),
        ProgramOperation::BenchLink => handler!(async sim::wifi),
        ProgramOperation::BenchPower => handler!(async sim::power),
        ProgramOperation::BenchMarket => handler!(async sim::market),
        ProgramOperation::BenchPanel => handler!(async sim::panel),
        ProgramOperation::Scan => handler!(async portal::scan),
        ProgramOperation::Join => handler!(async portal::join),
        ProgramOperation::Page => Handler::Sync(pages::named),
        ProgramOperation::Manifest => Handler::Sync(pages::manifest),
        ProgramOperation::Glass => handler!(async glass::page),
        ProgramOperation::Qr => Handler::Sync(qr::png),
        ProgramOperation::OpenApi => Handler::Sync(openapi::read),
        ProgramOperation::Health => Handler::Sync(status::health),
        ProgramOperation::Ready => Handler::Sync(status::ready),
        ProgramOperation::Metrics => Handler::Sync(metrics::read),
        ProgramOperation::Displays => Handler::Sync(displays::list),
        ProgramOperation::AddDisplay => handler!(async displays::add),
        ProgramOperation::ChangeDisplay => handler!(async displays::change),
        ProgramOperation::RemoveDisplay => handler!(async displays::remove),
        ProgramOperation::DisplayPreview => handler!(async displays::preview),
        ProgramOperation::TrmnlSetup => handler!(async trmnl::set_up),
        ProgramOperation::TrmnlDisplay => handler!(async trmnl::display),
        ProgramOperation::TrmnlCurrentScreen => handler!(async trmnl::current_screen),
        ProgramOperation::TrmnlLog => handler!(async trmnl::log),
        ProgramOperation::DisplayPicture => handler!(async trmnl::picture),
    }
}
