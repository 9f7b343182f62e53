//! An HTTP client of the control interface, for commands that act on a running clock.
//!
//! `target` has the flags for address and credentials, `upload` sends a file, `half_closed` reads the response although
//! the clock no longer reads the request.

mod half_closed;
pub(crate) mod target;
mod upload;

use std::{ops::ControlFlow, path::PathBuf, time::Duration};

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::{Bytes, BytesMut};
use device::{secret::Secret, sources::Route};
use half_closed::HalfClosed;
use http::{
    HeaderMap, HeaderValue, Request, Response, StatusCode,
    header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, RETRY_AFTER, USER_AGENT},
};
use http_body_util::{BodyExt, Either, Full};
use hyper::{body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use net::{
    dialer::{BoxedStream, Dialer},
    url::Url,
};
use runtime::printable::one_line;
use serde_json::Value;
use tokio::{
    runtime::Runtime,
    time::{Instant, sleep, timeout},
};
use updates::build;
use upload::{FileUpload, UploadProgress};
use web::{parse::percent_decode, response::REASON};

use crate::failure::Failure;

/// Timeout of a request. Simulated buttons can be held for a minute.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(90);

/// Timeout to upload or download an update and install it.
const UPDATE_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// How long to retry while a clock restarts.
const RESTART_TIMEOUT: Duration = Duration::from_secs(30);

/// Longest pause between retries, even if `Retry-After` is longer.
const RETRY_PAUSE_MAX: Duration = Duration::from_secs(10);

/// Largest response, bytes. A crash dump is the largest one.
const RESPONSE_MAX: usize = 256 * 1024 * 1024;

/// Body of a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Payload {
    /// No body.
    Nothing,
    Json(Value),
    /// A file, sent in chunks.
    File(PathBuf),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClientRequest {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) payload: Payload,
    /// It installs an update, which takes longer.
    pub(crate) is_update: bool,
}

impl ClientRequest {
    pub(crate) fn new(
        method: &'static str,
        path: impl Into<String>,
        payload: Payload,
    ) -> ClientRequest {
        ClientRequest {
            method,
            path: path.into(),
            is_update: matches!(payload, Payload::File(_)),
            payload,
        }
    }

    fn timeout(&self) -> Duration {
        if self.is_update { UPDATE_TIMEOUT } else { REQUEST_TIMEOUT }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClientResponse {
    pub(crate) status: StatusCode,
    /// Content type; empty if it is missing.
    pub(crate) content_type: String,
    /// When to retry the request.
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: Bytes,
    /// A sentence for people from the headers.
    pub(crate) reason: Option<String>,
}

impl ClientResponse {
    /// The body as JSON. `None` if it is not JSON.
    pub(crate) fn json(&self) -> Option<Value> {
        let is_json = self.content_type.starts_with("application/json");
        is_json.then(|| serde_json::from_slice(&self.body).ok())?
    }

    /// Checks that the status is a success.
    ///
    /// # Errors
    /// The clock has refused the request.
    pub(crate) fn accepted(self) -> Result<ClientResponse, Failure> {
        if self.status.is_success() {
            return Ok(self);
        }
        Err(self.refusal())
    }

    fn refusal(&self) -> Failure {
        refusal(self.status, self.json().as_ref(), self.reason.as_deref())
    }
}

pub(crate) struct ClientLogin {
    pub(crate) user: String,
    /// The password. `None` if none was entered yet.
    pub(crate) password: Option<Secret>,
}

/// A request with a document or with a file as its body.
type OutgoingRequest = Request<Either<Full<Bytes>, FileUpload>>;

pub(crate) struct ClockClient {
    base: Url,
    account: ClientLogin,
    dialer: Dialer,
    runtime: Runtime,
}

impl ClockClient {
    /// A client of the clock at an address.
    ///
    /// # Errors
    /// There is no terminal for a prompt.
    pub(crate) fn new(
        base: Url,
        account: ClientLogin,
        dialer: Dialer,
    ) -> Result<ClockClient, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::failed(format!("cannot contact a clock: {error}")))?;
        Ok(ClockClient {
            base,
            account,
            dialer,
            runtime,
        })
    }

    /// URL of the clock, without a slash at its end.
    pub(crate) fn url(&self) -> String {
        format!("{}{}", self.base.origin(), self.prefix())
    }

    /// Path prefix of the clock behind a proxy; empty without one.
    pub(crate) fn prefix(&self) -> &str {
        self.base.path.trim_end_matches('/')
    }

    /// Sends a request and reads the response. Prompts for the password if the clock requires one, and retries while the
    /// clock restarts.
    ///
    /// # Errors
    /// The clock does not answer, or requires other credentials.
    pub(crate) fn send(&mut self, request: &ClientRequest) -> Result<ClientResponse, Failure> {
        let started_at = Instant::now();
        loop {
            let response = self.send_once(request, request.timeout())?;
            let is_restarting = response.status == StatusCode::SERVICE_UNAVAILABLE;
            let pause = response.retry_after.filter(|_| is_restarting);
            if let Some(pause) = pause.filter(|_| started_at.elapsed() < RESTART_TIMEOUT) {
                let pause = pause.min(RETRY_PAUSE_MAX);
                self.runtime.block_on(async { sleep(pause).await });
                continue;
            }
            if response.status != StatusCode::UNAUTHORIZED {
                return Ok(response);
            }
            self.prompt_password()?;
        }
    }

    /// Sends a request and reads the response, within a timeout.
    ///
    /// # Errors
    /// The clock does not answer in time.
    pub(crate) fn send_once(
        &self,
        request: &ClientRequest,
        limit: Duration,
    ) -> Result<ClientResponse, Failure> {
        let exchange = self.exchange(request, async |response| read_response(response).await);
        self.runtime
            .block_on(async { timeout(limit, exchange).await })
            .unwrap_or_else(|_| Err(self.disconnected("no answer in time")))
    }

    /// Sends a request for a stream, and handles each chunk until `handle` breaks or the stream ends.
    ///
    /// # Errors
    /// The clock does not answer, or refuses the request.
    pub(crate) fn stream(
        &mut self,
        request: &ClientRequest,
        mut handle: impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), Failure> {
        loop {
            let exchange = self.exchange(request, async |response| {
                let status = response.status();
                if status == StatusCode::UNAUTHORIZED {
                    return Ok(false);
                }
                if !status.is_success() {
                    let response = read_response(response).await?;
                    return Err(response.refusal());
                }
                let mut body = response.into_body();
                while let Some(Ok(frame)) = body.frame().await {
                    if let Ok(data) = frame.into_data()
                        && handle(&data).is_break()
                    {
                        return Ok(true);
                    }
                }
                Ok(true)
            });
            if self.runtime.block_on(exchange)? {
                return Ok(());
            }
            self.prompt_password()?;
        }
    }

    /// Opens a connection to the clock.
    ///
    /// # Errors
    /// The clock cannot be reached.
    pub(crate) async fn connect(&self) -> Result<BoxedStream, Failure> {
        let route = Route::default();
        let connected = self.dialer.connect(&route, (&self.base).into());
        connected.await.map_err(|error| {
            Failure::unreachable(format!(
                "no clock answers at {} ({error}): is it running, and is the address right?",
                self.url()
            ))
        })
    }

    /// The address of a web socket of the clock.
    pub(crate) fn socket_url(&self, path: &str) -> String {
        // http becomes ws, and https wss.
        format!("{}{path}", self.url().replacen("http", "ws", 1))
    }

    /// The `Authorization` header. `None` without a password.
    pub(crate) fn authorization(&self) -> Option<HeaderValue> {
        let password = self.account.password.as_ref()?;
        let pair = format!("{}:{}", self.account.user, password.expose());
        let basic = format!("Basic {}", BASE64_STANDARD.encode(pair));
        let mut value = HeaderValue::from_str(&basic).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// Runs a future to completion.
    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Prompts for the password on the terminal.
    ///
    /// # Errors
    /// There is no terminal, or a password was already entered and is wrong.
    pub(crate) fn prompt_password(&mut self) -> Result<(), Failure> {
        if self.account.password.is_some() {
            return Err(self.unauthorised("the user name or password is wrong"));
        }
        let prompt = format!("Password of {} at {}: ", self.account.user, self.url());
        let password = target::prompt_secret(&prompt)
            .ok_or_else(|| self.unauthorised("the clock requires a password"))?;
        self.account.password = Some(password);
        Ok(())
    }

    fn unauthorised(&self, what: &str) -> Failure {
        Failure::unauthorised(format!(
            "{what}: set it with PAPERTICK_PASSWORD or --password-file, and --user if the name is not {}; \
             `papertick passwd` on the machine of the clock sets a new one",
            self.account.user
        ))
    }

    /// Sends a request, and reads the response while driving the connection.
    async fn exchange<T>(
        &self,
        request: &ClientRequest,
        read: impl AsyncFnOnce(Response<Incoming>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let (request, progress) = self.http_request(request)?;
        let stream = HalfClosed::new(self.connect().await?);
        let disconnected = |error: hyper::Error| self.disconnected(&error.to_string());
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(disconnected)?;
        let work = async {
            let response = sender.send_request(request).await.map_err(disconnected)?;
            // A response before the end of the upload is final.
            progress.stop();
            read(response).await
        };
        let mut work = std::pin::pin!(work);
        tokio::select! {
            biased;
            done = &mut work => done,
            _ = connection => work.await,
        }
    }

    fn http_request(
        &self,
        request: &ClientRequest,
    ) -> Result<(OutgoingRequest, UploadProgress), Failure> {
        let progress = UploadProgress::default();
        let mut builder = Request::builder()
            .method(request.method)
            .uri(format!("{}{}", self.prefix(), request.path))
            .header(HOST, self.base.authority())
            .header(USER_AGENT, format!("papertick/{}", build::VERSION));
        if let Some(value) = self.authorization() {
            builder = builder.header(AUTHORIZATION, value);
        }
        let body = match &request.payload {
            Payload::Nothing => Either::Left(Full::default()),
            Payload::Json(value) => {
                builder = builder.header(CONTENT_TYPE, "application/json");
                Either::Left(Full::from(value.to_string()))
            }
            Payload::File(path) => {
                let upload = FileUpload::open(path, &progress)?;
                builder = builder
                    .header(EXPECT, "100-continue")
                    .header(CONTENT_TYPE, "application/octet-stream")
                    .header(CONTENT_LENGTH, upload.length());
                Either::Right(upload)
            }
        };
        let mut outgoing = builder
            .body(body)
            .map_err(|_| Failure::usage(format!("`{}` is no valid path", request.path)))?;
        let continued = progress.clone();
        hyper::ext::on_informational(&mut outgoing, move |response| {
            if response.status() == StatusCode::CONTINUE {
                continued.start();
            }
        });
        Ok((outgoing, progress))
    }

    fn disconnected(&self, what: &str) -> Failure {
        Failure::unreachable(format!("the connection to {} failed: {what}", self.url()))
    }
}

async fn read_response(response: Response<Incoming>) -> Result<ClientResponse, Failure> {
    let (head, mut body) = response.into_parts();
    let content_type = head.headers.get(CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let retry_after = head.headers.get(RETRY_AFTER);
    let retry_after = retry_after.and_then(|value| value.to_str().ok()?.parse().ok());
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            Failure::unreachable(format!("the response of the clock is incomplete: {error}"))
        })?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if bytes.len() + data.len() > RESPONSE_MAX {
            let message = format!("the response of the clock is larger than {RESPONSE_MAX} bytes");
            return Err(Failure::failed(message));
        }
        bytes.extend_from_slice(&data);
    }
    Ok(ClientResponse {
        status: head.status,
        content_type: content_type.unwrap_or_default().to_string(),
        retry_after: retry_after.map(Duration::from_secs),
        body: bytes.freeze(),
        reason: reason(&head.headers),
    })
}

/// The sentence for people in the headers of a response.
fn reason(headers: &HeaderMap) -> Option<String> {
    let encoded = headers.get(REASON)?.to_str().ok()?;
    percent_decode(encoded, false).map(|reason| one_line(&reason))
}

/// The failure for a refused request: one line and an exit code.
pub(crate) fn refusal(
    status: StatusCode,
    document: Option<&Value>,
    reason: Option<&str>,
) -> Failure {
    let text = |name: &str| Some(one_line(document?.get(name)?.as_str()?));
    let token = text("error");
    let mut words = token.clone().or_else(|| text("msg"));
    if let Some(token) = &token {
        let more = reason.map(String::from).or_else(|| text("msg"));
        if let Some(more) = more {
            words = Some(format!("{token}: {more}"));
        }
    }
    let words = words.unwrap_or_else(|| format!("status {}", status.as_u16()));
    let message = format!("the clock refuses: {words}");
    match status {
        StatusCode::UNAUTHORIZED => Failure::unauthorised(message),
        StatusCode::SERVICE_UNAVAILABLE => Failure::refused(message),
        status if status.is_client_error() => Failure::refused(message),
        _ => Failure::failed(format!("the clock failed: {words}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::failure::Code;

    #[test]
    fn uploads_have_a_longer_timeout() {
        let file = || Payload::File("image".into());
        for (payload, expected) in [
            (Payload::Nothing, REQUEST_TIMEOUT),
            (Payload::Json(json!({})), REQUEST_TIMEOUT),
            (file(), UPDATE_TIMEOUT),
        ] {
            assert_eq!(ClientRequest::new("POST", "/", payload).timeout(), expected);
        }
    }

    #[test]
    fn refusals_have_a_message_and_an_exit_code() {
        #[rustfmt::skip]
        let rows = [
            (400, json!({ "error": "a", "msg": "b" }), Code::Refused, "a: b"),
            (503, json!({ "msg": "Update already in progress" }), Code::Refused, "refuses: Update already in progress"),
            (401, json!({}), Code::Unauthorised, "status 401"),
            (404, json!(null), Code::Refused, "status 404"),
            (500, json!({ "error": "not stored" }), Code::Failed, "failed: not stored"),
        ];
        for (status, document, code, words) in rows {
            let status = StatusCode::from_u16(status).unwrap_or_default();
            let failure = refusal(status, Some(&document), None);
            assert_eq!(failure.code, code, "{document}");
            assert!(failure.message.contains(words), "{failure}");
        }
    }
}
