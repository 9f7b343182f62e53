//! A client of the control interface, for commands that act on a clock that runs.
//!
//! `target` reads the address of the clock and the credentials, `upload` sends a file, `half_closed` still reads where
//! the clock has stopped to.

mod half_closed;
pub(crate) mod target;
mod upload;

use std::{ops::ControlFlow, path::PathBuf, time::Duration};

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::{Bytes, BytesMut};
use device::secret::Secret;
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
    route::Route,
    url::{Scheme, Url},
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

use super::setting_words;
use crate::failure::Failure;

/// Longest time until a clock has answered; buttons of the bench can be held for a minute.
const ANSWER_TIME: Duration = Duration::from_secs(90);

/// Longest time until an update was sent and installed, or fetched and installed.
const UPDATE_TIME: Duration = Duration::from_secs(30 * 60);

/// Longest time for which a clock that restarts is asked again.
const RESTART_TIME: Duration = Duration::from_secs(30);

/// Longest pause before it is asked again, whatever it says.
const RETRY_PAUSE_MAX: Duration = Duration::from_secs(10);

/// Largest answer, bytes; a crash dump is the largest there is.
const ANSWER_MAX: usize = 256 * 1024 * 1024;

/// What is sent with a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Payload {
    /// Nothing.
    Nothing,
    /// A document.
    Json(Value),
    /// A file, which may be large.
    File(PathBuf),
}

/// A request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ask {
    /// Method.
    pub(crate) method: &'static str,
    /// Path with its query.
    pub(crate) path: String,
    /// What is sent with it.
    pub(crate) payload: Payload,
    /// It installs something, which takes its time.
    pub(crate) is_update: bool,
}

impl Ask {
    /// A request with a document, or with nothing.
    pub(crate) fn new(method: &'static str, path: impl Into<String>, payload: Payload) -> Ask {
        Ask {
            method,
            path: path.into(),
            is_update: matches!(payload, Payload::File(_)),
            payload,
        }
    }

    /// Time that the answer may take.
    fn limit(&self) -> Duration {
        match self.is_update {
            true => UPDATE_TIME,
            false => ANSWER_TIME,
        }
    }
}

/// A complete response.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClientResponse {
    /// Status.
    pub(crate) status: StatusCode,
    /// Content type; empty if there is none.
    pub(crate) content_type: String,
    /// Pause after which the same request is worth another try.
    pub(crate) retry_after: Option<Duration>,
    /// Body.
    pub(crate) body: Bytes,
    /// What the clock says to people beside the body.
    pub(crate) reason: Option<String>,
}

impl ClientResponse {
    /// The body as JSON; none if it is none.
    pub(crate) fn json(&self) -> Option<Value> {
        let is_json = self.content_type.starts_with("application/json");
        is_json.then(|| serde_json::from_slice(&self.body).ok())?
    }

    /// Tells what was refused.
    ///
    /// # Errors
    /// The answer is a refusal.
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

/// The credentials of the client.
pub(crate) struct ClientLogin {
    /// Name.
    pub(crate) user: String,
    /// The password. `None` if none was entered yet.
    pub(crate) password: Option<Secret>,
}

/// A request with a document or with a file as its body.
type OutgoingRequest = Request<Either<Full<Bytes>, FileUpload>>;

/// HTTP client of one clock.
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
            .map_err(|error| Failure::failed(format!("cannot ask a clock: {error}")))?;
        Ok(ClockClient {
            base,
            account,
            dialer,
            runtime,
        })
    }

    /// Where the clock is, for people.
    pub(crate) fn place(&self) -> String {
        format!("{}://{}", self.base.scheme.word(), self.base.authority())
    }

    /// Sends a request and reads the response; prompts for the password if the clock wants one, and waits for a clock
    /// that restarts.
    ///
    /// # Errors
    /// The clock does not answer, or wants other credentials.
    pub(crate) fn ask(&mut self, ask: &Ask) -> Result<ClientResponse, Failure> {
        let begin = Instant::now();
        loop {
            let reply = self.ask_once(ask, ask.limit())?;
            let restarts = reply.status == StatusCode::SERVICE_UNAVAILABLE;
            let pause = reply.retry_after.filter(|_| restarts);
            if let Some(pause) = pause.filter(|_| begin.elapsed() < RESTART_TIME) {
                let pause = pause.min(RETRY_PAUSE_MAX);
                self.runtime.block_on(async { sleep(pause).await });
                continue;
            }
            if reply.status != StatusCode::UNAUTHORIZED {
                return Ok(reply);
            }
            self.learn_password()?;
        }
    }

    /// Sends a request and reads the response, within a time.
    ///
    /// # Errors
    /// The clock does not answer in time.
    pub(crate) fn ask_once(&self, ask: &Ask, limit: Duration) -> Result<ClientResponse, Failure> {
        let asked = self.exchange(ask, async |response| whole(response).await);
        self.runtime
            .block_on(async { timeout(limit, asked).await })
            .unwrap_or_else(|_| Err(self.broke_off("no answer in time")))
    }

    /// Opens a stream that goes on, and hands each piece of it over until one breaks it off or it ends.
    ///
    /// # Errors
    /// The clock does not answer, or refuses.
    pub(crate) fn follow(
        &mut self,
        ask: &Ask,
        mut take: impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), Failure> {
        loop {
            let followed = self.exchange(ask, async |response| {
                let status = response.status();
                if status == StatusCode::UNAUTHORIZED {
                    return Ok(false);
                }
                if !status.is_success() {
                    let reply = whole(response).await?;
                    return Err(reply.refusal());
                }
                let mut body = response.into_body();
                while let Some(Ok(frame)) = body.frame().await {
                    if let Ok(data) = frame.into_data()
                        && take(&data).is_break()
                    {
                        return Ok(true);
                    }
                }
                Ok(true)
            });
            if self.runtime.block_on(followed)? {
                return Ok(());
            }
            self.learn_password()?;
        }
    }

    /// Opens a connection and prepares the head of a request that asks for something else than HTTP on it.
    ///
    /// # Errors
    /// The clock cannot be reached.
    pub(crate) async fn connect(&self) -> Result<BoxedStream, Failure> {
        let route = Route::default();
        let connected = self.dialer.connect(&route, (&self.base).into());
        connected.await.map_err(|error| {
            Failure::unreachable(format!(
                "no clock answers at {} ({error}): is it running, and is the address right?",
                self.place()
            ))
        })
    }

    /// The address of a web socket of the clock.
    pub(crate) fn socket_url(&self, path: &str) -> String {
        let scheme = match self.base.scheme {
            Scheme::Https | Scheme::Wss => Scheme::Wss,
            Scheme::Http | Scheme::Ws => Scheme::Ws,
        };
        format!("{}://{}{path}", scheme.word(), self.base.authority())
    }

    /// The header that signs in. `None` without a password.
    pub(crate) fn authorization(&self) -> Option<HeaderValue> {
        let password = self.account.password.as_ref()?;
        let pair = format!("{}:{}", self.account.user, password.expose());
        let basic = format!("Basic {}", BASE64_STANDARD.encode(pair));
        let mut value = HeaderValue::from_str(&basic).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// Runs something to its end.
    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Prompts for the password on the terminal.
    ///
    /// # Errors
    /// Nobody does, or it was said before and is wrong.
    pub(crate) fn learn_password(&mut self) -> Result<(), Failure> {
        if self.account.password.is_some() {
            return Err(self.unauthorised("the password is wrong"));
        }
        let asked = format!("Password of {} at {}: ", self.account.user, self.place());
        let typed =
            target::typed(&asked).ok_or_else(|| self.unauthorised("the clock wants a password"))?;
        self.account.password = Some(typed);
        Ok(())
    }

    fn unauthorised(&self, what: &str) -> Failure {
        Failure::unauthorised(format!(
            "{what}: say it with PAPERTICK_PASSWORD or --password-file, and --user if the name is not {}; \
             `papertick passwd` on the machine of the clock sets another one",
            self.account.user
        ))
    }

    /// Sends a request, and reads what is answered while the connection is driven.
    async fn exchange<T>(
        &self,
        ask: &Ask,
        read: impl AsyncFnOnce(Response<Incoming>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let (request, progress) = self.request(ask)?;
        let stream = HalfClosed::new(self.connect().await?);
        let broke_off = |error: hyper::Error| self.broke_off(&error.to_string());
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(broke_off)?;
        let work = async {
            let response = sender.send_request(request).await.map_err(broke_off)?;
            // What is answered before the whole file was sent is final.
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

    fn request(&self, ask: &Ask) -> Result<(OutgoingRequest, UploadProgress), Failure> {
        let progress = UploadProgress::default();
        let mut request = Request::builder()
            .method(ask.method)
            .uri(&ask.path)
            .header(HOST, self.base.authority())
            .header(USER_AGENT, format!("papertick/{}", build::VERSION));
        if let Some(value) = self.authorization() {
            request = request.header(AUTHORIZATION, value);
        }
        let body = match &ask.payload {
            Payload::Nothing => Either::Left(Full::default()),
            Payload::Json(value) => {
                request = request.header(CONTENT_TYPE, "application/json");
                Either::Left(Full::from(value.to_string()))
            }
            Payload::File(path) => {
                let upload = FileUpload::of(path, &progress)?;
                request = request
                    .header(EXPECT, "100-continue")
                    .header(CONTENT_TYPE, "application/octet-stream")
                    .header(CONTENT_LENGTH, upload.length());
                Either::Right(upload)
            }
        };
        let mut request = request
            .body(body)
            .map_err(|_| Failure::usage(format!("`{}` cannot be asked for", ask.path)))?;
        let continued = progress.clone();
        hyper::ext::on_informational(&mut request, move |response| {
            if response.status() == StatusCode::CONTINUE {
                continued.start();
            }
        });
        Ok((request, progress))
    }

    fn broke_off(&self, what: &str) -> Failure {
        Failure::unreachable(format!("the clock at {} broke off: {what}", self.place()))
    }
}

/// Reads the whole of an answer.
async fn whole(response: Response<Incoming>) -> Result<ClientResponse, Failure> {
    let (head, mut body) = response.into_parts();
    let content_type = head.headers.get(CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let retry_after = head.headers.get(RETRY_AFTER);
    let retry_after = retry_after.and_then(|value| value.to_str().ok()?.parse().ok());
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            Failure::unreachable(format!("the answer of the clock broke off: {error}"))
        })?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if bytes.len() + data.len() > ANSWER_MAX {
            let words = format!("the answer of the clock is larger than {ANSWER_MAX} bytes");
            return Err(Failure::failed(words));
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

/// The sentence for people in the headers of an answer.
fn reason(headers: &HeaderMap) -> Option<String> {
    let encoded = headers.get(REASON)?.to_str().ok()?;
    percent_decode(encoded, false).map(|reason| one_line(&reason))
}

/// What a refusal says, as one line and as the number that programs know it by.
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
        let more = more.or_else(|| hint(token));
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

/// What the setting takes that a token names.
fn hint(token: &str) -> Option<String> {
    let key = match token.strip_prefix("range:") {
        Some(key) => key,
        None => token.split_once(':')?.0,
    };
    setting_words::row(key).map(setting_words::takes)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::failure::Code;

    #[test]
    fn what_is_installed_may_take_as_long_as_a_clock_gives_it() {
        let file = || Payload::File("image".into());
        for (payload, expected) in [
            (Payload::Nothing, ANSWER_TIME),
            (Payload::Json(json!({})), ANSWER_TIME),
            (file(), UPDATE_TIME),
        ] {
            assert_eq!(Ask::new("POST", "/", payload).limit(), expected);
        }
    }

    #[test]
    fn refusals_are_a_line_and_a_number() {
        #[rustfmt::skip]
        let rows = [
            (400, json!({ "error": "range:ledBrightness" }), Code::Refused, "range:ledBrightness: it takes 0 to 255"),
            (400, json!({ "error": "fontName:unknown" }), Code::Refused, "there are `antonio`"),
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
