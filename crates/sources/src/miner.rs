//! The miner on the local network, polled every few seconds.

use std::time::Duration;

use device::secret::Endpoint;
use feeds::miner;
use market::Observation;
use net::{
    http::{self, Get, RequestLimits},
    url::Url,
};

use super::{
    SourceContext,
    poll::{self, Poll, PollFailure},
};

pub const LIMITS: RequestLimits = RequestLimits {
    timeout: Duration::from_secs(5),
    body_max: miner::BODY_MAX,
};

#[derive(Debug)]
pub struct Miner {
    /// Host name or address.
    pub host: Endpoint,
}

impl Poll for Miner {
    async fn poll(&mut self, context: &SourceContext) -> Result<Vec<Observation>, PollFailure> {
        let url = Url::parse(&miner::url(self.host.expose())).map_err(PollFailure::because)?;
        let request = Get::new(url).accepting_json();
        let answer = http::get(&context.shared.dialer, &context.route, request, LIMITS).await?;
        let stats = miner::body(&poll::body(answer)?)?;
        Ok(vec![Observation::Miner(context.polled(stats))])
    }
}
