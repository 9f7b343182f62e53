//! HTTP client over the dialer, with limits of time, size and redirects.

use std::{pin::Pin, time::Duration};

use bytes::{Bytes, BytesMut};
use device::sources::Route;
use http::{
    HeaderMap, HeaderName, HeaderValue, Request, StatusCode,
    header::{ACCEPT, DATE, HOST, LOCATION, RETRY_AFTER, USER_AGENT},
};
use http_body_util::{BodyExt, Empty};
use hyper::{body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use tokio::time;

use crate::{
    AGENT,
    dialer::{DialError, Dialer},
    url::{BadUrl, Url},
};

/// Redirects that are followed.
pub const REDIRECTS_MAX: usize = 5;

/// Largest response head, bytes.
pub const HEAD_MAX: usize = 16 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestLimits {
    /// Longest time until the whole response has arrived.
    pub timeout: Duration,
    /// Largest body, bytes.
    pub body_max: usize,
}

#[derive(Debug, Clone)]
pub struct Get {
    pub url: Url,
    /// Additional headers; a sensitive one is only sent to its origin.
    pub headers: HeaderMap,
}

#[derive(Debug, Clone)]
pub struct HttpResponse {
    pub status: StatusCode,
    /// Delay that the server requests.
    pub retry_after: Option<Duration>,
    pub body: Bytes,
}

/// A failed request. Contains no secret.
#[derive(Debug, Clone, thiserror::Error)]
pub enum HttpError {
    #[error("{0}")]
    BadUrl(#[from] BadUrl),
    /// No connection was made.
    #[error("{0}")]
    Dial(#[from] DialError),
    /// The response did not arrive in time.
    #[error("no answer in time")]
    Timeout,
    /// The body is larger than the limit.
    #[error("the answer is larger than {0} bytes")]
    TooLarge(usize),
    /// Too many redirects.
    #[error("too many redirects")]
    Redirects,
    /// A redirect from TLS to a plain connection.
    #[error("the server redirects from https to http, which is refused")]
    Downgrade,
    /// A redirect from a plain connection to another origin, which is named.
    #[error("a redirect to another address ({0}) is followed only from https")]
    OtherOrigin(String),
    /// The response is not HTTP, or was cut off.
    #[error("the answer is incomplete or not HTTP")]
    Broken,
    /// A header value is invalid.
    #[error("a header cannot be sent")]
    BadHeader,
}

impl Get {
    /// A request without additional headers.
    pub fn new(url: Url) -> Get {
        Get {
            url,
            headers: HeaderMap::new(),
        }
    }

    #[must_use]
    pub fn accepting_json(mut self) -> Get {
        self.headers
            .insert(ACCEPT, HeaderValue::from_static("application/json"));
        self
    }

    /// Adds a secret header.
    ///
    /// # Errors
    /// The value contains bytes that are not allowed in a header.
    pub fn with_secret(mut self, name: HeaderName, value: &str) -> Result<Get, HttpError> {
        let mut value = HeaderValue::from_str(value).map_err(|_| HttpError::BadHeader)?;
        value.set_sensitive(true);
        self.headers.insert(name, value);
        Ok(self)
    }
}

/// Sends a GET request and reads the whole response.
///
/// # Errors
/// The request failed, or the response exceeds a limit.
pub async fn get(
    dialer: &Dialer,
    route: &Route,
    request: Get,
    limits: RequestLimits,
) -> Result<HttpResponse, HttpError> {
    let exchange = async {
        let download = open(dialer, route, request, limits.timeout).await?;
        read_body(download, limits).await
    };
    time::timeout(limits.timeout, exchange)
        .await
        .unwrap_or(Err(HttpError::Timeout))
}

async fn read_body(
    mut download: Download,
    limits: RequestLimits,
) -> Result<HttpResponse, HttpError> {
    let mut body = BytesMut::new();
    while let Some(chunk) = download.chunk().await? {
        if body.len() + chunk.len() > limits.body_max {
            return Err(HttpError::TooLarge(limits.body_max));
        }
        body.extend_from_slice(&chunk);
    }
    let retry_after = retry_after(&download.headers);
    Ok(HttpResponse {
        status: download.status,
        retry_after,
        body: body.freeze(),
    })
}

/// Sends a request, follows redirects, and returns the response once its head has arrived.
///
/// A redirect to another origin is followed only from TLS to TLS. Over a plain connection, any device on the local network
/// can send one, and could use it to have this program call addresses that only this program can reach.
///
/// `idle_timeout` is the longest time until the head arrives, and then the longest pause in the body.
///
/// # Errors
/// The request failed.
pub async fn open(
    dialer: &Dialer,
    route: &Route,
    mut request: Get,
    idle_timeout: Duration,
) -> Result<Download, HttpError> {
    for _ in 0..=REDIRECTS_MAX {
        let once = open_once(dialer, route, &request, idle_timeout);
        let download = time::timeout(idle_timeout, once)
            .await
            .unwrap_or(Err(HttpError::Timeout))?;
        match redirect(&download, &request.url)? {
            None => return Ok(download),
            Some(target) => {
                let is_secure = request.url.scheme.is_secure();
                if is_secure && !target.scheme.is_secure() {
                    return Err(HttpError::Downgrade);
                }
                if !request.url.same_origin(&target) {
                    if !is_secure {
                        return Err(HttpError::OtherOrigin(target.origin()));
                    }
                    request.headers = without_secrets(request.headers);
                }
                request.url = target;
            }
        }
    }
    Err(HttpError::Redirects)
}

/// A response whose body is still arriving.
pub struct Download {
    pub status: StatusCode,
    pub headers: HeaderMap,
    body: Incoming,
    connection: Pin<Box<dyn Future<Output = ()> + Send + Sync>>,
    idle_timeout: Duration,
}

impl std::fmt::Debug for Download {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Download")
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

impl Download {
    /// The next piece of the body. `None` at its end.
    ///
    /// # Errors
    /// The body was cut off or paused for too long.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, HttpError> {
        loop {
            let frame = drive(&mut self.connection, self.body.frame());
            match time::timeout(self.idle_timeout, frame).await {
                Err(_) => return Err(HttpError::Timeout),
                Ok(None) => return Ok(None),
                Ok(Some(Err(_))) => return Err(HttpError::Broken),
                Ok(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
            }
        }
    }
}

async fn open_once(
    dialer: &Dialer,
    route: &Route,
    request: &Get,
    idle_timeout: Duration,
) -> Result<Download, HttpError> {
    let stream = dialer.connect(route, (&request.url).into()).await?;
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(HEAD_MAX)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|_| HttpError::Broken)?;
    // Errors of the connection are reported by the response. A finished connection stays pending.
    let mut connection: Pin<Box<dyn Future<Output = ()> + Send + Sync>> = Box::pin(async {
        drop(connection.await);
        std::future::pending().await
    });
    let response = drive(&mut connection, sender.send_request(head(request)?)).await;
    let (parts, body) = response.map_err(|_| HttpError::Broken)?.into_parts();
    Ok(Download {
        status: parts.status,
        headers: parts.headers,
        body,
        connection,
        idle_timeout,
    })
}

/// Awaits a future while driving the connection it depends on.
async fn drive<T>(
    connection: &mut Pin<Box<dyn Future<Output = ()> + Send + Sync>>,
    work: impl Future<Output = T>,
) -> T {
    let mut work = std::pin::pin!(work);
    tokio::select! {
        biased;
        done = &mut work => done,
        () = connection => work.await,
    }
}

fn head(request: &Get) -> Result<Request<Empty<Bytes>>, HttpError> {
    let mut head = Request::builder()
        .uri(request.url.path.as_str())
        .header(HOST, request.url.authority())
        .header(USER_AGENT, AGENT)
        .body(Empty::new())
        .map_err(|_| HttpError::BadUrl(BadUrl::Path))?;
    head.headers_mut().extend(request.headers.clone());
    Ok(head)
}

fn redirect(download: &Download, from: &Url) -> Result<Option<Url>, HttpError> {
    let is_redirect = matches!(
        download.status,
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    );
    let location = download
        .headers
        .get(LOCATION)
        .and_then(|value| value.to_str().ok());
    match location {
        Some(location) if is_redirect => Ok(Some(from.join(location)?)),
        Some(_) | None => Ok(None),
    }
}

fn without_secrets(headers: HeaderMap) -> HeaderMap {
    let public = headers.iter().filter(|(_, value)| !value.is_sensitive());
    public
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// The delay requested by a server, in seconds or as a time. A time is compared with the server's own `Date`.
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(secs) = text.parse::<u32>() {
        return Some(Duration::from_secs(secs.into()));
    }
    let until = http_date(text)?;
    let server_time = http_date(headers.get(DATE)?.to_str().ok()?)?;
    let secs = until.as_second().saturating_sub(server_time.as_second());
    let secs = u64::try_from(secs).unwrap_or(0);
    Some(Duration::from_secs(secs))
}

fn http_date(text: &str) -> Option<jiff::Timestamp> {
    jiff::fmt::rfc2822::DateTimeParser::new()
        .parse_timestamp(text.trim())
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_parsed_in_both_forms() {
        let date = "Sun, 06 Nov 2033 08:49:37 GMT";
        let rows = [
            ("120", "", Some(120)),
            (" 7 ", "", Some(7)),
            ("Sun, 06 Nov 2033 08:50:37 GMT", date, Some(60)),
            ("Sun, 06 Nov 2033 08:48:37 GMT", date, Some(0)),
            ("Sun, 06 Nov 2033 08:50:37 GMT", "", None),
            ("-5", date, None),
            ("soon", date, None),
        ];
        for (value, date, expected) in rows {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, value.parse().unwrap());
            headers.insert(DATE, date.parse().unwrap());
            assert_eq!(
                retry_after(&headers),
                expected.map(Duration::from_secs),
                "{value}"
            );
        }
    }
}
