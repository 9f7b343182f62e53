//! The owner's node through one of Bitcoin Core's two HTTP interfaces.

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use chain::Header;
use device::sources::NodeConfig;
use feeds::core_node::{self as format, BODY_MAX, ChainInfo, RpcRequest};
use http::header::AUTHORIZATION;
use market::{HeadersReach, Observation};
use net::{
    http::{self as client, Get, RequestLimits},
    url::{Scheme, Url},
};
use serde_json::Value;
use std::time::Duration;

use super::{
    SourceContext,
    by_height::{ByHeight, WrongHeaders, catch_up, is_settled},
    node,
    poll::{self, Poll, PollFailure},
};

/// Limits of a request.
pub const LIMITS: RequestLimits = RequestLimits {
    timeout: Duration::from_secs(20),
    body_max: BODY_MAX,
};

/// A node with the REST interface, which needs no password.
#[derive(Debug)]
pub struct Rest {
    /// Where it is.
    pub node: NodeConfig,
}

/// A node with the RPC interface, which needs a password.
#[derive(Debug)]
pub struct Rpc {
    /// Where it is.
    pub node: NodeConfig,
}

/// One round of RPC requests.
struct RpcPoll<'a> {
    context: &'a SourceContext,
    node: &'a NodeConfig,
}

impl Poll for Rest {
    async fn poll(&mut self, context: &SourceContext) -> Result<Vec<Observation>, PollFailure> {
        let body = self.get(context, format::INFO_PATH).await?;
        let info = format::info_body(&body)?;
        check_network(&self.node, info)?;
        let mut locator = context
            .submit_headers(0, Vec::new(), HeadersReach::More)
            .await?
            .locator;
        'more: loop {
            // Starting one block before the newest known one, the response shows whether the node has that one too.
            let start = locator.get(1..).filter(|start| !start.is_empty());
            for hash in start.unwrap_or(&locator) {
                let body = self.get(context, &format::headers_path(*hash)).await?;
                let headers = format::headers_body(&body)?;
                let Some((_, after)) = headers.split_first() else {
                    continue;
                };
                let reach = match headers.len() < format::HEADERS_MAX {
                    true => HeadersReach::Newest,
                    false => HeadersReach::More,
                };
                let reply = context.submit_headers(0, after.to_vec(), reach).await?;
                if !is_settled(&reply)? {
                    return Err(WrongHeaders::Elsewhere.into());
                }
                // A node with known headers only has no more.
                let has_more = reach == HeadersReach::More && reply.is_new;
                if !has_more || reply.refused.is_some() {
                    return Ok(Vec::new());
                }
                locator = reply.locator;
                continue 'more;
            }
            return Err(WrongHeaders::Elsewhere.into());
        }
    }
}

impl Rest {
    async fn get(&self, context: &SourceContext, path: &str) -> Result<Bytes, PollFailure> {
        let url = url(&self.node, path)?;
        let SourceContext { route, shared, .. } = context;
        let answer = client::get(&shared.dialer, route, Get::new(url), LIMITS).await?;
        poll::body(answer)
    }
}

impl Poll for Rpc {
    async fn poll(&mut self, context: &SourceContext) -> Result<Vec<Observation>, PollFailure> {
        let mut rpc = RpcPoll {
            context,
            node: &self.node,
        };
        let answers = rpc.request(&[RpcRequest::Chain]).await?;
        let info = format::info(&answers[0])?;
        check_network(&self.node, info)?;
        let answers = rpc.request(&[RpcRequest::Header(info.tip)]).await?;
        let newest = format::header_result(&answers[0])?;
        catch_up(context, (info.height, newest), &mut rpc).await?;
        // Missing fees do not make the headers invalid.
        let Ok(answers) = rpc.request(&[RpcRequest::Fee]).await else {
            return Ok(Vec::new());
        };
        Ok(format::fee(&answers[0], self.node.precise_fee)?)
    }
}

impl RpcPoll<'_> {
    /// Sends a batch of requests and returns the responses.
    async fn request(&mut self, requests: &[RpcRequest]) -> Result<Vec<Value>, PollFailure> {
        let SourceContext { route, shared, .. } = self.context;
        let login = format!("{}:{}", self.node.user, self.node.pass.expose());
        let login = format!("Basic {}", STANDARD.encode(login));
        let request = Get::new(url(self.node, "/")?).with_secret(AUTHORIZATION, &login)?;
        let body = format::encode_request(requests);
        let answer = client::post_json(&shared.dialer, route, request, body, LIMITS).await?;
        let answers = format::answers(&poll::body(answer)?, requests.len())?;
        answers.map_err(|words| PollFailure::because(format!("the node refuses: {words}")))
    }
}

impl ByHeight for RpcPoll<'_> {
    type Error = PollFailure;

    async fn headers(&mut self, from: u32) -> Result<Vec<Header>, PollFailure> {
        let info = self.request(&[RpcRequest::Chain]).await?;
        let height = format::info(&info[0])?.height;
        let last = height.min(from.saturating_add(format::BATCH_MAX - 1));
        let hashes: Vec<RpcRequest> = (from..=last).map(RpcRequest::Hash).collect();
        if hashes.is_empty() {
            return Ok(Vec::new());
        }
        let hashes = self.request(&hashes).await?;
        let headers = hashes
            .iter()
            .map(|hash| Ok(RpcRequest::Header(format::hash(hash)?)));
        let headers = headers.collect::<Result<Vec<RpcRequest>, PollFailure>>()?;
        let headers = self.request(&headers).await?;
        let headers = headers.iter().map(format::header_result);
        Ok(headers.collect::<Result<_, _>>()?)
    }
}

fn check_network(node: &NodeConfig, info: ChainInfo) -> Result<(), PollFailure> {
    if info.network == node.network {
        return Ok(());
    }
    Err(PollFailure::because(format!(
        "the node follows another chain ({} instead of {})",
        info.network.name(),
        node.network.name()
    )))
}

fn url(node: &NodeConfig, path: &str) -> Result<Url, PollFailure> {
    let usual = format::port(node.network);
    let (host, port) = node::place(&node.host, node.port, usual).map_err(PollFailure::because)?;
    Ok(Url {
        scheme: match node.tls {
            true => Scheme::Https,
            false => Scheme::Http,
        },
        host: host.to_owned(),
        port,
        path: path.to_owned(),
    })
}
