//! The DNS server of the access point: whatever name is asked for, the answer is the portal.
//!
//! With nowhere else to go, a phone that joins looks for the internet, finds the portal and opens its page.

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

/// Longest question that is looked at, bytes; the classic bound of DNS over UDP.
const QUESTION_MAX: usize = 512;

/// Questions in one packet that are answered; real resolvers ask one at a time.
const QUESTIONS_MAX: usize = 4;

/// Seconds for which an answer may be kept: not at all, for the access point does not last.
const TTL: u32 = 0;

/// A server that is not running yet.
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

    /// Where it listens.
    ///
    /// # Errors
    /// The socket is broken.
    pub fn place(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Answers until it is dropped.
    pub async fn run(self) {
        let mut buffer = [0; QUESTION_MAX];
        loop {
            let (length, peer) = match self.socket.recv_from(&mut buffer).await {
                Ok(received) => received,
                Err(error) => {
                    // Such as the news that an earlier answer found nobody.
                    tracing::trace!(%error, "no question");
                    tokio::task::yield_now().await;
                    continue;
                }
            };
            let Some(answer) = answer(&buffer[..length], self.portal) else {
                continue;
            };
            if let Err(error) = self.socket.send_to(&answer, peer).await {
                tracing::debug!(%error, "an answer did not get out");
            }
        }
    }
}

/// The answer to a question; none to what is no question.
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

/// Anything else exists but has no answer, so that nobody waits for an address of the other family.
fn wants_address(kind: QTYPE, class: QCLASS) -> bool {
    let kind = matches!(kind, QTYPE::TYPE(TYPE::A) | QTYPE::ANY);
    kind && matches!(class, QCLASS::CLASS(CLASS::IN) | QCLASS::ANY)
}

/// The address that a portal's place names, if it is one that answers can hold.
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
    fn every_name_leads_to_the_portal() {
        for name in [
            "captive.apple.com",
            "connectivitycheck.gstatic.com",
            "a.b.c.d.e",
        ] {
            let bytes = answer(&question(name, QTYPE::TYPE(TYPE::A)), PORTAL).unwrap();
            let packet = Packet::parse(&bytes).unwrap();
            assert_eq!(packet.id(), 0x1234);
            assert!(packet.has_flags(PacketFlag::RESPONSE));
            assert!(packet.has_flags(PacketFlag::RECURSION_DESIRED));
            assert_eq!(packet.rcode(), RCODE::NoError);
            assert_eq!(packet.questions.len(), 1);
            assert_eq!(packet.answers.len(), 1);
            let record = &packet.answers[0];
            assert_eq!(
                (record.name.to_string(), record.ttl),
                (name.to_string(), TTL)
            );
            assert_eq!(record.rdata, RData::A(A::from(PORTAL)));
        }
    }

    #[test]
    fn other_questions_have_empty_answers() {
        for kind in [TYPE::AAAA, TYPE::HTTPS, TYPE::TXT, TYPE::MX, TYPE::SOA] {
            let bytes = answer(&question("example.org", QTYPE::TYPE(kind)), PORTAL).unwrap();
            let packet = Packet::parse(&bytes).unwrap();
            assert_eq!((packet.rcode(), packet.answers.len()), (RCODE::NoError, 0));
        }
        let bytes = answer(&question("example.org", QTYPE::ANY), PORTAL).unwrap();
        assert_eq!(Packet::parse(&bytes).unwrap().answers.len(), 1);
    }

    #[test]
    fn what_is_no_question_has_no_answer() {
        let reply = answer(&question("example.org", QTYPE::TYPE(TYPE::A)), PORTAL).unwrap();
        let mut cut = question("example.org", QTYPE::TYPE(TYPE::A));
        cut.truncate(20);
        // A name that points at itself.
        let mut endless = question("example.org", QTYPE::TYPE(TYPE::A));
        endless[12] = 0xC0;
        endless[13] = 12;
        for bytes in [&reply[..], &cut, &endless, b"", b"hello"] {
            assert_eq!(answer(bytes, PORTAL), None);
        }
    }

    #[test]
    fn nothing_makes_it_panic_or_grow() {
        let seed = question("example.org", QTYPE::TYPE(TYPE::A));
        for at in 0..seed.len() {
            for value in [0, 1, 12, 0x3F, 0x40, 0xC0, 0xFF] {
                let mut bytes = seed.clone();
                bytes[at] = value;
                let answer = answer(&bytes, PORTAL);
                assert!(answer.is_none_or(|answer| answer.len() <= QUESTION_MAX));
            }
        }
    }

    #[test]
    fn other_operations_are_not_implemented() {
        let mut bytes = question("example.org", QTYPE::TYPE(TYPE::A));
        bytes[2] |= 2 << 3;
        let answer = answer(&bytes, PORTAL).unwrap();
        assert_eq!(
            Packet::parse(&answer).unwrap().rcode(),
            RCODE::NotImplemented
        );
    }

    #[test]
    fn places_name_addresses() {
        for (place, address) in [
            ("192.168.4.1", Some(PORTAL)),
            ("192.168.4.1:8080", Some(PORTAL)),
            ("[::1]:80", None),
            ("moon", None),
        ] {
            assert_eq!(portal_address(place), address, "{place}");
        }
    }

    #[tokio::test]
    async fn it_answers_over_the_network() {
        let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let server = Redirect::bind(anywhere, PORTAL).await.unwrap();
        let place = server.place().unwrap();
        let client = UdpSocket::bind(anywhere).await.unwrap();
        client.send_to(b"noise", place).await.unwrap();
        let asked = question("example.org", QTYPE::TYPE(TYPE::A));
        client.send_to(&asked, place).await.unwrap();
        let mut buffer = [0; QUESTION_MAX];
        let length = tokio::select! {
            () = server.run() => unreachable!(),
            received = timeout(Duration::from_secs(10), client.recv(&mut buffer)) => received.unwrap().unwrap(),
        };
        let packet = Packet::parse(&buffer[..length]).unwrap();
        assert_eq!(packet.answers[0].rdata, RData::A(A::from(PORTAL)));
    }
}
