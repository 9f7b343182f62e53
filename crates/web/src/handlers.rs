//! Who does what the device does not.

use std::pin::Pin;

use api::operation::ProgramOperation;

use super::{
    answer::Response, call::Call, diag, events, metrics, openapi, pages, panels, portal, preview,
    settings, sim, status, transfer, update,
};

/// A response that is being produced.
pub type PendingResponse = Pin<Box<dyn Future<Output = Response> + Send>>;

/// Who answers.
pub enum Handler {
    /// Answers from what is known.
    Now(fn(&Call) -> Response),
    /// Reads a body or asks somebody.
    Later(fn(Call) -> PendingResponse),
}

/// Makes a handler of an async function.
macro_rules! later {
    ($handler:path) => {
        Handler::Later(|call| Box::pin($handler(call)))
    };
}

/// Who does what.
pub fn of(service: ProgramOperation) -> Handler {
    match service {
        ProgramOperation::Status => Handler::Now(status::status),
        ProgramOperation::System => Handler::Now(status::system),
        ProgramOperation::Events => Handler::Now(events::follow),
        ProgramOperation::Panels => Handler::Now(panels::all),
        ProgramOperation::Panel => Handler::Now(panels::one),
        ProgramOperation::Preview => later!(preview::open),
        ProgramOperation::Settings => Handler::Now(settings::read),
        ProgramOperation::ExportSettings => later!(transfer::export),
        ProgramOperation::ImportSettings => later!(transfer::import),
        ProgramOperation::AutoUpdate => later!(update::automatic),
        ProgramOperation::Firmware => later!(update::firmware),
        ProgramOperation::WebBundle => later!(update::web_bundle),
        ProgramOperation::Log => Handler::Now(diag::log),
        ProgramOperation::Coredump => later!(diag::coredump),
        ProgramOperation::ForgetCoredump => later!(diag::forget_coredump),
        ProgramOperation::StartTrace => later!(diag::start_trace),
        ProgramOperation::StopTrace => later!(diag::stop_trace),
        ProgramOperation::Heap => Handler::Now(diag::heap),
        ProgramOperation::SettingsPicture => later!(panels::changed),
        ProgramOperation::TextPicture => later!(panels::written),
        ProgramOperation::BenchState => Handler::Now(sim::state),
        ProgramOperation::BenchPanels => Handler::Now(sim::panels),
        ProgramOperation::BenchButtons => later!(sim::buttons),
        ProgramOperation::BenchLux => later!(sim::lux),
        ProgramOperation::BenchLink => later!(sim::wifi),
        ProgramOperation::BenchPower => later!(sim::power),
        ProgramOperation::BenchMarket => later!(sim::market),
        ProgramOperation::BenchPanel => later!(sim::panel),
        ProgramOperation::Scan => later!(portal::scan),
        ProgramOperation::Join => later!(portal::save),
        ProgramOperation::Page => Handler::Now(pages::named),
        ProgramOperation::Manifest => Handler::Now(pages::manifest),
        ProgramOperation::OpenApi => Handler::Now(openapi::read),
        ProgramOperation::Health => Handler::Now(status::health),
        ProgramOperation::Ready => Handler::Now(status::ready),
        ProgramOperation::Metrics => Handler::Now(metrics::read),
    }
}
