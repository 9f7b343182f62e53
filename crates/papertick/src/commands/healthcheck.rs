//! `papertick healthcheck`: checks that a clock answers, for containers and monitors.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    time::Duration,
};

use clap::Args;
use http::StatusCode;
use net::dialer::Dialer;
use serde_json::Value;

use super::client::{ClientLogin, ClientRequest, ClockClient, Payload, target};
use crate::{
    config::{resolve::listen_address, roots},
    failure::Failure,
};

/// Timeout of the check. Docker allows 30 s by default.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The flags of `healthcheck`.
#[derive(Debug, Args)]
pub struct HealthcheckArgs {
    /// The clock [default: the one on this computer, at the port of --listen]
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// Address and port on which the clock on this computer listens [default: 127.0.0.1:8080]
    #[arg(long, env = "PAPERTICK_LISTEN", value_name = "ADDRESS:PORT")]
    listen: Option<String>,
}

/// Text of `--help` after the flags.
pub(crate) const EXAMPLES: &str = "\
Needs no password. The exit code is 0 if the clock answers within 5 s, 3 if it does not, 1 if it answers with an error.

Examples:
  papertick healthcheck
  papertick healthcheck --url https://clock.example
  HEALTHCHECK CMD [\"papertick\", \"healthcheck\"]    in a Containerfile, with PAPERTICK_LISTEN in the environment";

/// Checks that a clock answers.
///
/// # Errors
/// It does not answer in time, or answers with an error.
pub fn run(args: &HealthcheckArgs) -> Result<(), Failure> {
    let base = match &args.url {
        Some(url) => url.clone(),
        None => local_url(args.listen.as_deref())?,
    };
    let no_login = ClientLogin {
        user: String::new(),
        password: None,
    };
    let dialer = Dialer::for_uploads(roots(None)?);
    let client = ClockClient::new(target::address("--url", &base)?, no_login, dialer)?;
    let request = ClientRequest::new("GET", "/healthz", Payload::Nothing);
    let response = client.send_once(&request, TIMEOUT)?;
    let url = client.url();
    if response.status == StatusCode::OK {
        // A proxy may answer with a page of its own.
        let health = response.json().unwrap_or_default();
        return if health["ok"] == Value::Bool(true) {
            Ok(())
        } else {
            Err(Failure::failed(format!(
                "{url}/healthz answers, but not as a clock; does a proxy answer in its place?"
            )))
        };
    }
    let status = response.status.as_u16();
    Err(Failure::failed(format!(
        "{url}/healthz answers with status {status}"
    )))
}

/// URL of the clock on this computer that listens at an address.
fn local_url(listen: Option<&str>) -> Result<String, Failure> {
    let mut address = listen_address(listen)?;
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        IpAddr::V4(_) | IpAddr::V6(_) => {}
    }
    Ok(format!("http://{address}"))
}
