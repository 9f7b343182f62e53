//! A broker in memory, which speaks with one clock and keeps nothing.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "of all that the protocol has a test needs a part"
)]

use std::time::Duration;

use mqtt_protocol_core::mqtt::{
    Connection, Version,
    common::Cursor,
    connection::Event,
    packet::{
        CorrelationData, GenericPacketTrait, Packet, Property, Qos, ResponseTopic, v3_1_1, v5_0,
    },
    result_code::{
        ConnectReasonCode, ConnectReturnCode, PubackReasonCode, SubackReasonCode, SubackReturnCode,
    },
    role::Server,
};
use net::dialer::{Arrival, BoxedStream};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::mpsc,
    time::timeout,
};

use super::PATIENCE;

/// A message of the clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heard {
    pub(crate) topic: String,
    pub(crate) payload: Vec<u8>,
    pub(crate) is_retained: bool,
    pub(crate) is_acknowledged: bool,
    pub(crate) correlation: Option<Vec<u8>>,
}

/// The broker's end of a connection.
pub(crate) struct Peer {
    connection: Connection<Server>,
    stream: BoxedStream,
    version: Version,
    /// What the clock said that was not looked at.
    waiting: Vec<Packet>,
    /// The filters that it listens to.
    pub(crate) filters: Vec<String>,
    /// Those of them under which the clock sees what is retained while it listens.
    pub(crate) marked: Vec<String>,
    /// The clock has said good-bye, so that the broker does not say that it is lost.
    pub(crate) has_left: bool,
    /// It takes no message.
    denies: bool,
    /// Where the broker says that the clock is lost, and what.
    pub(crate) will: Option<(String, Vec<u8>)>,
}

impl Peer {
    /// A connection whose first words were read and not answered.
    pub(crate) async fn greeted(arrivals: &mut mpsc::Receiver<Arrival>) -> Peer {
        let arrival = timeout(PATIENCE, arrivals.recv()).await.unwrap().unwrap();
        Peer::over(Box::new(arrival.stream)).await
    }

    /// The same of one that was taken elsewhere.
    pub(crate) async fn over(stream: BoxedStream) -> Peer {
        let mut connection = Connection::<Server>::new(Version::Undetermined);
        connection.set_auto_pub_response(true);
        connection.set_auto_ping_response(true);
        let mut peer = Peer {
            connection,
            stream,
            version: Version::Undetermined,
            waiting: Vec::new(),
            filters: Vec::new(),
            marked: Vec::new(),
            has_left: false,
            denies: false,
            will: None,
        };
        let will = |topic: Option<&str>, payload: Option<&[u8]>| {
            Some((topic?.to_owned(), payload?.to_vec()))
        };
        match peer.packet().await.unwrap() {
            Packet::V5_0Connect(hello) => {
                peer.version = Version::V5_0;
                peer.will = will(hello.will_topic(), hello.will_payload());
            }
            Packet::V3_1_1Connect(hello) => {
                peer.version = Version::V3_1_1;
                peer.will = will(hello.will_topic(), hello.will_payload());
            }
            other => panic!("{other}"),
        }
        peer
    }

    /// A connection that is let in.
    pub(crate) async fn accept(arrivals: &mut mpsc::Receiver<Arrival>) -> Peer {
        let mut peer = Peer::greeted(arrivals).await;
        peer.let_in().await;
        peer
    }

    /// Lets the clock in, and lets it listen.
    pub(crate) async fn let_in(&mut self) {
        self.let_in_but(&[]).await;
    }

    /// The same, but for some of the filters, by their places.
    pub(crate) async fn let_in_but(&mut self, refused: &[usize]) {
        self.answer(ConnectReasonCode::Success, ConnectReturnCode::Accepted)
            .await;
        self.listen(refused).await;
    }

    /// Takes no message from now on, and says so.
    pub(crate) fn deny(&mut self) {
        self.denies = true;
        self.connection.set_auto_pub_response(false);
    }

    pub(crate) fn version(&self) -> Version {
        self.version
    }

    /// Lets the clock in, or not.
    pub(crate) async fn answer(&mut self, five: ConnectReasonCode, three: ConnectReturnCode) {
        let answer: Packet = match self.version {
            Version::V3_1_1 => v3_1_1::Connack::builder()
                .session_present(false)
                .return_code(three)
                .build()
                .unwrap()
                .into(),
            Version::V5_0 | Version::Undetermined => v5_0::Connack::builder()
                .session_present(false)
                .reason_code(five)
                .build()
                .unwrap()
                .into(),
        };
        self.send(answer).await;
    }

    /// Lets it listen, but not under the filters of these places.
    async fn listen(&mut self, refused: &[usize]) {
        let answer: Packet = match self.packet().await.unwrap() {
            Packet::V5_0Subscribe(wish) => {
                let marked = wish.entries().iter();
                let marked = marked.filter(|entry| entry.sub_opts().rap());
                self.marked = marked
                    .map(|entry| entry.topic_filter().to_owned())
                    .collect();
                self.filters = wish
                    .entries()
                    .iter()
                    .map(|entry| entry.topic_filter().to_owned())
                    .collect();
                v5_0::Suback::builder()
                    .packet_id(wish.packet_id())
                    .reason_codes(self.each(
                        refused,
                        SubackReasonCode::NotAuthorized,
                        SubackReasonCode::GrantedQos1,
                    ))
                    .build()
                    .unwrap()
                    .into()
            }
            Packet::V3_1_1Subscribe(wish) => {
                self.filters = wish
                    .entries()
                    .iter()
                    .map(|entry| entry.topic_filter().to_owned())
                    .collect();
                v3_1_1::Suback::builder()
                    .packet_id(wish.packet_id())
                    .return_codes(self.each(
                        refused,
                        SubackReturnCode::Failure,
                        SubackReturnCode::SuccessMaximumQos1,
                    ))
                    .build()
                    .unwrap()
                    .into()
            }
            other => panic!("{other}"),
        };
        self.send(answer).await;
    }

    /// What is said of each filter.
    fn each<C: Copy>(&self, refused: &[usize], no: C, yes: C) -> Vec<C> {
        (0..self.filters.len())
            .map(|place| if refused.contains(&place) { no } else { yes })
            .collect()
    }

    /// The next message of the clock; none if it is gone.
    pub(crate) async fn next(&mut self) -> Option<Heard> {
        loop {
            let heard = match self.packet().await? {
                Packet::V5_0Publish(told) => Heard {
                    topic: told.topic_name().to_owned(),
                    payload: told.payload().as_slice().to_vec(),
                    is_retained: told.retain(),
                    is_acknowledged: told.qos() == Qos::AtLeastOnce,
                    correlation: told.props().iter().find_map(|property| match property {
                        Property::CorrelationData(data) => Some(data.val().to_vec()),
                        _ => None,
                    }),
                },
                Packet::V3_1_1Publish(told) => Heard {
                    topic: told.topic_name().to_owned(),
                    payload: told.payload().as_slice().to_vec(),
                    is_retained: told.retain(),
                    is_acknowledged: told.qos() == Qos::AtLeastOnce,
                    correlation: None,
                },
                Packet::V5_0Disconnect(_) | Packet::V3_1_1Disconnect(_) => {
                    self.has_left = true;
                    continue;
                }
                _ => continue,
            };
            return Some(heard);
        }
    }

    /// The next message on a topic.
    pub(crate) async fn on(&mut self, topic: &str) -> Heard {
        let found = async {
            loop {
                let heard = self.next().await.expect("the clock is gone");
                if heard.topic == topic {
                    return heard;
                }
            }
        };
        let found = timeout(PATIENCE, found).await;
        found.unwrap_or_else(|_| panic!("nothing on {topic}"))
    }

    /// All that comes in some time.
    pub(crate) async fn all_in(&mut self, time: Duration) -> Vec<Heard> {
        let mut all = Vec::new();
        let _ = timeout(time, async {
            while let Some(heard) = self.next().await {
                all.push(heard);
            }
        })
        .await;
        all
    }

    /// Says something to the clock.
    pub(crate) async fn say(&mut self, topic: &str, payload: &str) {
        self.publish(topic, payload.as_bytes(), false, Vec::new())
            .await;
    }

    /// The same as if it stood there before.
    pub(crate) async fn keep(&mut self, topic: &str, payload: &str) {
        self.publish(topic, payload.as_bytes(), true, Vec::new())
            .await;
    }

    /// The same with a place for the answer.
    pub(crate) async fn ask(&mut self, topic: &str, payload: &str, place: &str, data: &[u8]) {
        let properties = vec![
            Property::ResponseTopic(ResponseTopic::new(place).unwrap()),
            Property::CorrelationData(CorrelationData::new(data.to_vec()).unwrap()),
        ];
        self.publish(topic, payload.as_bytes(), false, properties)
            .await;
    }

    async fn publish(&mut self, topic: &str, payload: &[u8], retain: bool, props: Vec<Property>) {
        let packet: Packet = match self.version {
            Version::V3_1_1 => v3_1_1::Publish::builder()
                .topic_name(topic)
                .unwrap()
                .retain(retain)
                .payload(payload)
                .build()
                .unwrap()
                .into(),
            Version::V5_0 | Version::Undetermined => v5_0::Publish::builder()
                .topic_name(topic)
                .unwrap()
                .retain(retain)
                .payload(payload)
                .props(props)
                .build()
                .unwrap()
                .into(),
        };
        self.send(packet).await;
    }

    /// Sends bytes that need not be of the protocol.
    pub(crate) async fn shout(&mut self, bytes: &[u8]) {
        // The clock may be gone by then.
        let _ = self.stream.write_all(bytes).await;
    }

    async fn send(&mut self, packet: Packet) {
        let events = self.connection.send(packet);
        self.follow(events).await;
    }

    /// The next packet of the clock; none if it is gone.
    async fn packet(&mut self) -> Option<Packet> {
        let mut bytes = [0; 1024];
        while self.waiting.is_empty() {
            let count = self.stream.read(&mut bytes).await.unwrap();
            if count == 0 {
                return None;
            }
            let mut cursor = Cursor::new(&bytes[..count]);
            while cursor.position() < count as u64 {
                let events = self.connection.recv(&mut cursor);
                self.follow(events).await;
            }
        }
        Some(self.waiting.remove(0))
    }

    /// Says that a message is not taken, if none is.
    async fn refuse(&mut self, packet: &Packet) {
        if let Packet::V5_0Publish(told) = packet
            && self.denies
            && let Some(id) = told.packet_id()
        {
            let answer = v5_0::Puback::builder()
                .packet_id(id)
                .reason_code(PubackReasonCode::NotAuthorized)
                .build()
                .unwrap();
            Box::pin(self.send(answer.into())).await;
        }
    }

    async fn follow(&mut self, events: Vec<Event>) {
        for event in events {
            match event {
                Event::RequestSendPacket { packet, .. } => {
                    // The clock may be gone by then.
                    let _ = self.stream.write_all(&packet.to_continuous_buffer()).await;
                }
                Event::NotifyPacketReceived(packet) => {
                    self.refuse(&packet).await;
                    self.waiting.push(packet);
                }
                Event::NotifyError(error) => panic!("{error:?}"),
                _ => {}
            }
        }
    }
}
