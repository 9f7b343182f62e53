//! Handshakes of the proxy protocols.
//!
//! Every function works on an open connection to the proxy and never reads beyond the proxy's reply: the next byte
//! belongs to the destination.

use std::{io, net::Ipv4Addr};

use base64::{Engine, prelude::BASE64_STANDARD};
use device::secret::Secret;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::url::bracketed;

/// Largest reply to an HTTP CONNECT, bytes.
pub const CONNECT_REPLY_MAX: usize = 8 * 1024;

/// Longest text with a length byte.
const FIELD_MAX: usize = 255;

/// Why the connection through the proxy failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProxyFailure {
    /// The connection failed.
    #[error("{0}")]
    Io(io::ErrorKind),
    /// The reply is not of this protocol.
    #[error("the proxy does not speak this protocol")]
    Malformed,
    /// The reply to an HTTP CONNECT is too long.
    #[error("the proxy's reply is too long")]
    TooLong,
    /// The proxy requires a user name and password.
    #[error("the proxy requires a user name and password")]
    LoginWanted,
    /// The proxy rejected the user name and password.
    #[error("the proxy rejected the user name and password")]
    LoginRefused,
    /// The proxy supports no known login method, or not the offered one.
    #[error("the proxy supports no known login method")]
    NoMethod,
    /// User name or password are too long for the protocol.
    #[error(
        "the user name or the password is longer than 255 bytes, the limit of this kind of proxy"
    )]
    LoginTooLong,
    /// The proxy answered an HTTP CONNECT with this status.
    #[error("the proxy answers with status {0}")]
    Status(u16),
    /// The proxy refused to connect, with its reason.
    #[error("the proxy refuses: {}", reason(*.0))]
    Code(u8),
    /// The host name is too long for the protocol.
    #[error("the host's name is too long for a proxy")]
    HostTooLong,
}

impl From<io::Error> for ProxyFailure {
    fn from(error: io::Error) -> ProxyFailure {
        ProxyFailure::Io(error.kind())
    }
}

/// Reasons of SOCKS5 (1 to 8) and SOCKS4 (0x5B to 0x5D).
fn reason(code: u8) -> String {
    let text = match code {
        1 => "general failure",
        2 => "not allowed by its rules",
        3 => "network unreachable",
        4 => "host unreachable",
        5 => "connection refused",
        6 => "time to live expired",
        7 => "command not supported",
        8 => "address type not supported",
        0x5B => "request rejected or failed",
        0x5C => "identification not reachable",
        0x5D => "identification mismatch",
        other => return format!("code {other}"),
    };
    text.to_owned()
}

/// Sends an HTTP CONNECT, with a login if there is a user name.
///
/// # Errors
/// The proxy refuses, or does not speak HTTP.
pub async fn http_connect<S>(
    stream: &mut S,
    host: &str,
    port: u16,
    user: &str,
    pass: &Secret,
) -> Result<(), ProxyFailure>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    stream
        .write_all(connect_request(host, port, user, pass).as_bytes())
        .await?;
    stream.flush().await?;
    match connect_status(&read_head(stream).await?)? {
        // RFC 9110, section 9.3.6: any of these opens the tunnel.
        200..=299 => Ok(()),
        407 if user.is_empty() => Err(ProxyFailure::LoginWanted),
        407 => Err(ProxyFailure::LoginRefused),
        status => Err(ProxyFailure::Status(status)),
    }
}

fn connect_request(host: &str, port: u16, user: &str, pass: &Secret) -> String {
    let host = bracketed(host);
    let mut request = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n");
    if !user.is_empty() {
        let login = BASE64_STANDARD.encode(format!("{user}:{}", pass.expose()));
        request.push_str(&format!("Proxy-Authorization: Basic {login}\r\n"));
    }
    request.push_str("\r\n");
    request
}

/// Reads to the blank line, one byte at a time, because the bytes after it belong to the destination.
async fn read_head<S: AsyncRead + Unpin>(stream: &mut S) -> Result<Vec<u8>, ProxyFailure> {
    let mut head = Vec::with_capacity(256);
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() == CONNECT_REPLY_MAX {
            return Err(ProxyFailure::TooLong);
        }
        head.push(stream.read_u8().await?);
    }
    Ok(head)
}

/// Parses the status of a reply.
///
/// # Errors
/// The reply is not HTTP/1.
pub fn connect_status(head: &[u8]) -> Result<u16, ProxyFailure> {
    let rest = head
        .strip_prefix(b"HTTP/1.")
        .ok_or(ProxyFailure::Malformed)?;
    match rest {
        [b'0' | b'1', b' ', code @ ..] => {
            let digits = code
                .get(..3)
                .filter(|digits| digits.iter().all(u8::is_ascii_digit));
            let ends = code.get(3).is_none_or(|byte| b" \r".contains(byte));
            let digits = digits.filter(|_| ends).ok_or(ProxyFailure::Malformed)?;
            Ok(digits
                .iter()
                .fold(0, |status, digit| status * 10 + u16::from(digit - b'0')))
        }
        _ => Err(ProxyFailure::Malformed),
    }
}

/// Requests an IPv4 address with SOCKS4.
///
/// # Errors
/// The proxy refuses, or does not speak SOCKS4.
pub async fn socks4<S>(stream: &mut S, address: Ipv4Addr, port: u16) -> Result<(), ProxyFailure>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut request = vec![4, 1];
    request.extend(port.to_be_bytes());
    request.extend(address.octets());
    request.push(0);
    socks4_exchange(stream, &request).await
}

/// Requests a name with SOCKS4a; the proxy resolves it.
///
/// # Errors
/// The proxy refuses, or does not speak SOCKS4.
pub async fn socks4a<S>(stream: &mut S, host: &str, port: u16) -> Result<(), ProxyFailure>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    if host.len() > FIELD_MAX {
        return Err(ProxyFailure::HostTooLong);
    }
    let mut request = vec![4, 1];
    request.extend(port.to_be_bytes());
    request.extend([0, 0, 0, 1, 0]);
    request.extend(host.as_bytes());
    request.push(0);
    socks4_exchange(stream, &request).await
}

async fn socks4_exchange<S>(stream: &mut S, request: &[u8]) -> Result<(), ProxyFailure>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    stream.write_all(request).await?;
    stream.flush().await?;
    let mut reply = [0; 8];
    stream.read_exact(&mut reply).await?;
    match reply {
        [0, 0x5A, ..] => Ok(()),
        [0, code, ..] => Err(ProxyFailure::Code(code)),
        _ => Err(ProxyFailure::Malformed),
    }
}

/// Negotiates the login of SOCKS5, and logs in.
///
/// Without a user name no login is offered; with one nothing else, because a proxy that separates its users, such as
/// Tor, must not treat this one as anonymous.
///
/// # Errors
/// The proxy refuses, or does not speak SOCKS5.
pub async fn socks5_login<S>(stream: &mut S, user: &str, pass: &Secret) -> Result<(), ProxyFailure>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let login = (!user.is_empty()).then(|| login(user, pass)).transpose()?;
    let method = if login.is_some() { 2 } else { 0 };
    stream.write_all(&[5, 1, method]).await?;
    stream.flush().await?;
    let mut choice = [0; 2];
    stream.read_exact(&mut choice).await?;
    let login = match (choice, login) {
        ([5, 0], None) => return Ok(()),
        ([5, 2], Some(login)) => login,
        ([5, 2], None) => return Err(ProxyFailure::LoginWanted),
        ([5, _], _) => return Err(ProxyFailure::NoMethod),
        _ => return Err(ProxyFailure::Malformed),
    };
    stream.write_all(&login).await?;
    stream.flush().await?;
    let mut reply = [0; 2];
    stream.read_exact(&mut reply).await?;
    if reply == [1, 0] { Ok(()) } else { Err(ProxyFailure::LoginRefused) }
}

/// Encodes user name and password for SOCKS5 (RFC 1929).
fn login(user: &str, pass: &Secret) -> Result<Vec<u8>, ProxyFailure> {
    let mut login = vec![1];
    for text in [user, pass.expose()] {
        login.push(u8::try_from(text.len()).map_err(|_| ProxyFailure::LoginTooLong)?);
        login.extend(text.as_bytes());
    }
    Ok(login)
}

/// Requests a name from a SOCKS5 proxy, which resolves it.
///
/// # Errors
/// The proxy refuses, or does not speak SOCKS5.
pub async fn socks5_connect<S>(stream: &mut S, host: &str, port: u16) -> Result<(), ProxyFailure>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let length = u8::try_from(host.len()).map_err(|_| ProxyFailure::HostTooLong)?;
    let mut request = vec![5, 1, 0, 3, length];
    request.extend(host.as_bytes());
    request.extend(port.to_be_bytes());
    stream.write_all(&request).await?;
    stream.flush().await?;
    let mut head = [0; 4];
    stream.read_exact(&mut head).await?;
    let [version, code, _, kind] = head;
    if version != 5 {
        return Err(ProxyFailure::Malformed);
    }
    // A refusal may have no address after it.
    if code != 0 {
        return Err(ProxyFailure::Code(code));
    }
    let address = match kind {
        1 => 4,
        3 => usize::from(stream.read_u8().await?),
        4 => 16,
        _ => return Err(ProxyFailure::Malformed),
    };
    let mut bound = vec![0; address + 2];
    stream.read_exact(&mut bound).await?;
    Ok(())
}
