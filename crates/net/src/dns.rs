//! The DNS server of the access point: every name resolves to the portal.
//!
//! A phone that joins the access point checks for internet access, finds the portal and opens its page.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
};

use simple_dns::{
    CLASS, OPCODE, Packet, PacketFlag, QCLASS, QTYPE, RCODE, ResourceRecord, TYPE,
    rdata::{A, RData},
};
use tokio::net::UdpSocket;

use crate::url::split_authority;

/// Longest query, bytes; the classic limit of DNS over UDP.
const QUESTION_MAX: usize = 512;

/// Questions per query that are answered; real resolvers send one.
const QUESTIONS_MAX: usize = 4;

/// Time to live of an answer, s: not cached, because the access point is temporary.
const TTL: u32 = 0;

/// A bound server that is not running yet.
#[derive(Debug)]
pub struct Redirect {
    socket: UdpSocket,
    portal: Ipv4Addr,
}

impl Redirect {
    /// Opens the socket.
    ///
    /// # Errors
    /// The address cannot be used.
    pub async fn bind(place: SocketAddr, portal: Ipv4Addr) -> io::Result<Redirect> {
        let socket = UdpSocket::bind(place).await?;
        Ok(Redirect { socket, portal })
    }

    /// Its address.
    ///
    /// # Errors
    /// The socket has failed.
    pub fn place(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Serves queries until it is dropped.
    pub async fn run(self) {
        let mut buffer = [0; QUESTION_MAX];
        loop {
            let (length, peer) = match self.socket.recv_from(&mut buffer).await {
                Ok(received) => received,
                Err(error) => {
                    // For example an ICMP error for an earlier answer.
                    tracing::trace!(%error, "receive failed");
                    tokio::task::yield_now().await;
                    continue;
                }
            };
            let Some(answer) = answer(&buffer[..length], self.portal) else {
                continue;
            };
            if let Err(error) = self.socket.send_to(&answer, peer).await {
                tracing::debug!(%error, "answer not sent");
            }
        }
    }
}

/// The answer to a query. `None` if it is not a query.
pub fn answer(question: &[u8], portal: Ipv4Addr) -> Option<Vec<u8>> {
    let question = Packet::parse(question).ok()?;
    if question.has_flags(PacketFlag::RESPONSE) {
        return None;
    }
    let mut answer = question.clone().into_reply();
    answer.set_flags(PacketFlag::AUTHORITATIVE_ANSWER | PacketFlag::RECURSION_AVAILABLE);
    if question.has_flags(PacketFlag::RECURSION_DESIRED) {
        answer.set_flags(PacketFlag::RECURSION_DESIRED);
    }
    answer.additional_records.clear();
    answer.answers.clear();
    answer.name_servers.clear();
    if question.opcode() != OPCODE::StandardQuery {
        *answer.rcode_mut() = RCODE::NotImplemented;
        return answer.build_bytes_vec().ok();
    }
    answer.questions.truncate(QUESTIONS_MAX);
    answer.answers = answer
        .questions
        .iter()
        .filter(|question| wants_address(question.qtype, question.qclass))
        .map(|question| {
            let address = RData::A(A::from(portal));
            ResourceRecord::new(question.qname.clone(), CLASS::IN, TTL, address)
        })
        .collect();
    answer.build_bytes_vec().ok()
}

/// Other record types get an empty answer, so that clients do not wait for an IPv6 address.
fn wants_address(kind: QTYPE, class: QCLASS) -> bool {
    let kind = matches!(kind, QTYPE::TYPE(TYPE::A) | QTYPE::ANY);
    kind && matches!(class, QCLASS::CLASS(CLASS::IN) | QCLASS::ANY)
}

/// The IPv4 address in a portal's `host:port`.
pub fn portal_address(place: &str) -> Option<Ipv4Addr> {
    let (host, _) = split_authority(place).ok()?;
    match host.parse().ok()? {
        IpAddr::V4(address) => Some(address),
        IpAddr::V6(_) => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use std::time::Duration;

    use simple_dns::{Name, Question};
    use tokio::time::timeout;

    use super::*;

    const PORTAL: Ipv4Addr = Ipv4Addr::new(192, 168, 4, 1);

    fn question(name: &str, kind: QTYPE) -> Vec<u8> {
        let mut packet = Packet::new_query(0x1234);
        packet.set_flags(PacketFlag::RECURSION_DESIRED);
        let name = Name::new(name).unwrap().into_owned();
        let class = QCLASS::CLASS(CLASS::IN);
        packet
            .questions
            .push(Question::new(name, kind, class, false));
        packet.build_bytes_vec().unwrap()
    }

    #[test]
    fn other_record_types_have_empty_answers() {
        for kind in [TYPE::AAAA, TYPE::HTTPS, TYPE::TXT, TYPE::MX, TYPE::SOA] {
            let bytes = answer(&question("example.org", QTYPE::TYPE(kind)), PORTAL).unwrap();
            let packet = Packet::parse(&bytes).unwrap();
            assert_eq!((packet.rcode(), packet.answers.len()), (RCODE::NoError, 0));
        }
        let bytes = answer(&question("example.org", QTYPE::ANY), PORTAL).unwrap();
        assert_eq!(Packet::parse(&bytes).unwrap().answers.len(), 1);
    }

    #[test]
    fn invalid_queries_have_no_answer() {
        let reply = answer(&question("example.org", QTYPE::TYPE(TYPE::A)), PORTAL).unwrap();
        let mut cut = question("example.org", QTYPE::TYPE(TYPE::A));
        cut.truncate(20);
        // A name with a pointer to itself.
        let mut endless = question("example.org", QTYPE::TYPE(TYPE::A));
        endless[12] = 0xC0;
        endless[13] = 12;
        for bytes in [&reply[..], &cut, &endless, b"", b"hello"] {
            assert_eq!(answer(bytes, PORTAL), None);
        }
    }

    #[tokio::test]
    async fn it_serves_over_the_network() {
        let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let server = Redirect::bind(anywhere, PORTAL).await.unwrap();
        let place = server.place().unwrap();
        let client = UdpSocket::bind(anywhere).await.unwrap();
        client.send_to(b"noise", place).await.unwrap();
        let query = question("example.org", QTYPE::TYPE(TYPE::A));
        client.send_to(&query, place).await.unwrap();
        let mut buffer = [0; QUESTION_MAX];
        let length = tokio::select! {
            () = server.run() => unreachable!(),
            received = timeout(Duration::from_secs(10), client.recv(&mut buffer)) => received.unwrap().unwrap(),
        };
        let packet = Packet::parse(&buffer[..length]).unwrap();
        assert_eq!(packet.answers[0].rdata, RData::A(A::from(PORTAL)));
    }
}
