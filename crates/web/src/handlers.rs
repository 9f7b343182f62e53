//! Who does what the device does not.

use std::pin::Pin;

use interface::operation::Service;

use super::{
    answer::Response, call::Call, diag, events, metrics, openapi, pages, panels, portal, preview,
    settings, sim, status, transfer, update,
};

/// An answer that is on its way.
pub type Pending = Pin<Box<dyn Future<Output = Response> + Send>>;

/// Who answers.
pub enum Handler {
    /// Answers from what is known.
    Now(fn(&Call) -> Response),
    /// Reads a body or asks somebody.
    Later(fn(Call) -> Pending),
}

/// Makes a handler of an async function.
macro_rules! later {
    ($handler:path) => {
        Handler::Later(|call| Box::pin($handler(call)))
    };
}

/// Who does what.
pub fn of(service: Service) -> Handler {
    match service {
        Service::Status => Handler::Now(status::status),
        Service::System => Handler::Now(status::system),
        Service::Events => Handler::Now(events::follow),
        Service::Panels => Handler::Now(panels::all),
        Service::Panel => Handler::Now(panels::one),
        Service::Preview => later!(preview::open),
        Service::Settings => Handler::Now(settings::read),
        Service::ExportSettings => later!(transfer::export),
        Service::ImportSettings => later!(transfer::import),
        Service::AutoUpdate => later!(update::automatic),
        Service::Firmware => later!(update::firmware),
        Service::WebBundle => later!(update::web_bundle),
        Service::Log => Handler::Now(diag::log),
        Service::Coredump => later!(diag::coredump),
        Service::ForgetCoredump => later!(diag::forget_coredump),
        Service::StartTrace => later!(diag::start_trace),
        Service::StopTrace => later!(diag::stop_trace),
        Service::Heap => Handler::Now(diag::heap),
        Service::SettingsPicture => later!(panels::changed),
        Service::TextPicture => later!(panels::written),
        Service::BenchState => Handler::Now(sim::state),
        Service::BenchPanels => Handler::Now(sim::panels),
        Service::BenchButtons => later!(sim::buttons),
        Service::BenchLux => later!(sim::lux),
        Service::BenchLink => later!(sim::wifi),
        Service::BenchPower => later!(sim::power),
        Service::BenchMarket => later!(sim::market),
        Service::BenchPanel => later!(sim::panel),
        Service::Scan => later!(portal::scan),
        Service::Join => later!(portal::save),
        Service::Page => Handler::Now(pages::named),
        Service::Manifest => Handler::Now(pages::manifest),
        Service::OpenApi => Handler::Now(openapi::read),
        Service::Health => Handler::Now(status::health),
        Service::Ready => Handler::Now(status::ready),
        Service::Metrics => Handler::Now(metrics::read),
    }
}
