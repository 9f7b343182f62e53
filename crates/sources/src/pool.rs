//! The mining pool: figures, polled, and its logo, fetched once.

use std::{convert::Infallible, future, iter, sync::Arc, time::Duration};

use device::{secret::Endpoint, sources::PoolConfig};
use feeds::pools::{self, PoolAccount, logo::LogoSpec};
use http::{HeaderName, StatusCode};
use market::{Observation, PoolStats};
use net::{
    http::{self as client, Get, HttpError, RequestLimits},
    url::Url,
};
use runtime::inbox::Stopped;
use tokio::time;

use super::{
    SourceContext,
    poll::{self, Poll, PollFailure},
};

pub const LIMITS: RequestLimits = RequestLimits {
    timeout: Duration::from_secs(10),
    body_max: pools::BODY_MAX,
};

/// Longest time for a logo.
pub const LOGO_TIMEOUT: Duration = Duration::from_secs(15);

/// Delays before a logo is requested again after a network failure; the last one repeats.
pub const LOGO_RETRIES: [Duration; 4] = [
    Duration::from_secs(5),
    Duration::from_secs(10),
    Duration::from_secs(60),
    Duration::from_secs(600),
];

/// Refusals after figures that may be a moment's failure of the pool.
const REFUSALS_IGNORED: u8 = 2;

/// A mining pool and the account to query.
struct PoolSource<'a> {
    config: &'a PoolConfig,
    /// How many refusals in a row to ignore, because a pool with figures for the user may fail for a moment.
    refusals_left: u8,
}

/// Polls a pool and fetches its logo.
///
/// # Errors
/// The device has stopped.
pub async fn run(context: &SourceContext, config: PoolConfig) -> Result<Infallible, Stopped> {
    let spec = pools::find(&config.pool).and_then(|spec| Some((spec.id, spec.logo?)));
    let picture = async {
        if let Some((id, spec)) = spec {
            show_logo(context, &config, id, spec).await?;
        }
        future::pending().await
    };
    let figures = PoolSource {
        config: &config,
        refusals_left: 0,
    };
    tokio::select! {
        ended = poll::run(context, config.poll_secs, figures) => ended,
        ended = picture => ended,
    }
}

impl Poll for PoolSource<'_> {
    async fn poll(&mut self, context: &SourceContext) -> Result<Vec<Observation>, PollFailure> {
        let SourceContext { route, shared, .. } = context;
        let config = self.config;
        let pool = pools::find(&config.pool)
            .ok_or_else(|| PollFailure::because("there is no such pool"))?;
        let account = PoolAccount {
            user: &config.user,
            worker: &config.worker,
            global: config.global,
            local_host: config.local_host.expose(),
            now: shared.clock.now().utc,
        };
        let pool_request = pool.request(account).map_err(PollFailure::because)?;
        let url = shared
            .upstreams
            .pool(pool.id, &pool_request.url)
            .map_err(PollFailure::because)?;
        let mut request = Get::new(url).accepting_json();
        for (name, value) in &pool_request.headers {
            let name = HeaderName::try_from(*name).map_err(|_| HttpError::BadHeader)?;
            request = request.with_secret(name, value.expose())?;
        }
        let answer = client::get(&shared.dialer, route, request, LIMITS).await?;
        let status = answer.status;
        let may_refuse = status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS;
        let stated = pool.refusal(&answer.body).filter(|_| may_refuse);
        let mut stats = match stated {
            Some(words) => PoolStats::refused(words),
            None if pool.refuses(account, status.as_u16()) => {
                PoolStats::refused(status.to_string())
            }
            None => pool.body(&poll::body(answer)?)?,
        };
        if let Some(words) = &mut stats.refusal {
            if self.refusals_left > 0 {
                self.refusals_left -= 1;
                tracing::debug!("the pool refuses the user for now");
                return Ok(Vec::new());
            }
            // Mask before the text is shortened, because a shortened text may end with a part of the secret.
            for (_, key) in &pool_request.headers {
                *words = key.hidden_in(words);
            }
            *words = pools::shortened(words);
        } else {
            self.refusals_left = REFUSALS_IGNORED;
        }
        Ok(vec![Observation::Pool(context.polled(stats))])
    }
}

async fn show_logo(
    context: &SourceContext,
    config: &PoolConfig,
    pool: &str,
    spec: LogoSpec,
) -> Result<(), Stopped> {
    let cache = &context.shared.logos;
    cache.cleared(config.logo_fetches).await;
    let cached = match config.logo_fetches {
        0 => cache.read(spec).await,
        // Ignore a cached logo that could not be deleted.
        _ => None,
    };
    let file = match cached {
        Some(file) => Some(file),
        None => fetch_logo(context, &config.logos_url, spec).await,
    };
    match file.and_then(|file| spec.read(pool, &file).ok()) {
        Some(logo) => {
            context
                .send(vec![Observation::PoolLogo(Arc::new(logo))])
                .await
        }
        None => Ok(()),
    }
}

async fn fetch_logo(context: &SourceContext, base: &Endpoint, spec: LogoSpec) -> Option<Vec<u8>> {
    let url = match Url::parse(&spec.url(base.expose())?) {
        Ok(url) => url,
        Err(error) => {
            tracing::info!(%error, "the pool has no logo");
            return None;
        }
    };
    let [.., last] = LOGO_RETRIES;
    for wait in LOGO_RETRIES.into_iter().chain(iter::repeat(last)) {
        match try_logo(context, &url, spec).await {
            Ok(file) => {
                if let Err(error) = context.shared.logos.write(spec, &file).await {
                    tracing::warn!(%error, file = spec.file, "the pool's logo was not cached");
                }
                return Some(file);
            }
            Err(Retry::Never(reason)) => {
                tracing::info!(reason, "the pool has no logo");
                return None;
            }
            Err(Retry::Later(error)) => {
                tracing::info!(%error, ?wait, "the pool's logo was not fetched");
                time::sleep(wait).await;
            }
        }
    }
    None
}

/// Whether a retry could help.
enum Retry {
    Later(HttpError),
    Never(String),
}

async fn try_logo(context: &SourceContext, url: &Url, spec: LogoSpec) -> Result<Vec<u8>, Retry> {
    let limits = RequestLimits {
        timeout: LOGO_TIMEOUT,
        body_max: spec.bytes(),
    };
    let request = Get::new(url.clone());
    let answer = client::get(&context.shared.dialer, &context.route, request, limits).await;
    let answer = answer.map_err(|error| match error {
        HttpError::Dial(_) | HttpError::Timeout | HttpError::Broken => Retry::Later(error),
        HttpError::BadUrl(_)
        | HttpError::TooLarge(_)
        | HttpError::Redirects
        | HttpError::Downgrade
        | HttpError::OtherOrigin(_)
        | HttpError::BadHeader => Retry::Never(error.to_string()),
    })?;
    if !answer.status.is_success() {
        return Err(Retry::Never(format!("status {}", answer.status.as_u16())));
    }
    if answer.body.len() != spec.bytes() {
        return Err(Retry::Never(format!(
            "{} bytes instead of {}",
            answer.body.len(),
            spec.bytes()
        )));
    }
    Ok(answer.body.into())
}
