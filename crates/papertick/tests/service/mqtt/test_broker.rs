//! A broker in memory for one client. It stores no messages.

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

/// A message that the clock published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Published {
    pub(crate) topic: String,
    pub(crate) payload: Vec<u8>,
    pub(crate) retain: bool,
    pub(crate) qos1: bool,
    pub(crate) correlation: Option<Vec<u8>>,
}

/// The broker's side of a connection.
pub(crate) struct TestBroker {
    connection: Connection<Server>,
    stream: BoxedStream,
    version: Version,
    /// Packets that no test has read yet.
    received: Vec<Packet>,
    pub(crate) filters: Vec<String>,
    /// Filters with the option Retain As Published.
    pub(crate) retain_as_published: Vec<String>,
    /// DISCONNECT was received, so the will is not published.
    pub(crate) is_disconnected: bool,
    /// It refuses every message.
    refuses_publishes: bool,
    /// Topic and payload of the will.
    pub(crate) will: Option<(String, Vec<u8>)>,
}

impl TestBroker {
    /// The next connection. CONNECT is received and not answered.
    pub(crate) async fn receive_connect(arrivals: &mut mpsc::Receiver<Arrival>) -> TestBroker {
        let arrival = timeout(PATIENCE, arrivals.recv()).await.unwrap().unwrap();
        TestBroker::on_stream(Box::new(arrival.stream)).await
    }

    pub(crate) async fn on_stream(stream: BoxedStream) -> TestBroker {
        let mut connection = Connection::<Server>::new(Version::Undetermined);
        connection.set_auto_pub_response(true);
        connection.set_auto_ping_response(true);
        let mut broker = TestBroker {
            connection,
            stream,
            version: Version::Undetermined,
            received: Vec::new(),
            filters: Vec::new(),
            retain_as_published: Vec::new(),
            is_disconnected: false,
            refuses_publishes: false,
            will: None,
        };
        let will = |topic: Option<&str>, payload: Option<&[u8]>| {
            Some((topic?.to_owned(), payload?.to_vec()))
        };
        match broker.packet().await.unwrap() {
            Packet::V5_0Connect(connect) => {
                broker.version = Version::V5_0;
                broker.will = will(connect.will_topic(), connect.will_payload());
            }
            Packet::V3_1_1Connect(connect) => {
                broker.version = Version::V3_1_1;
                broker.will = will(connect.will_topic(), connect.will_payload());
            }
            other => panic!("{other}"),
        }
        broker
    }

    /// The next connection, accepted and subscribed.
    pub(crate) async fn accept(arrivals: &mut mpsc::Receiver<Arrival>) -> TestBroker {
        let mut broker = TestBroker::receive_connect(arrivals).await;
        broker.accept_session().await;
        broker
    }

    /// Accepts the connection and the subscription.
    pub(crate) async fn accept_session(&mut self) {
        self.accept_except(&[]).await;
    }

    /// The same, but refuses some of the filters, by their positions.
    pub(crate) async fn accept_except(&mut self, refused: &[usize]) {
        self.connack(ConnectReasonCode::Success, ConnectReturnCode::Accepted)
            .await;
        self.suback(refused).await;
    }

    /// Refuses all messages from now on.
    pub(crate) fn refuse_publishes(&mut self) {
        self.refuses_publishes = true;
        self.connection.set_auto_pub_response(false);
    }

    pub(crate) fn version(&self) -> Version {
        self.version
    }

    /// Sends CONNACK, with the code for the version of the connection.
    pub(crate) async fn connack(&mut self, five: ConnectReasonCode, three: ConnectReturnCode) {
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

    /// Answers SUBSCRIBE; refuses the filters at these positions.
    async fn suback(&mut self, refused: &[usize]) {
        let answer: Packet = match self.packet().await.unwrap() {
            Packet::V5_0Subscribe(subscribe) => {
                let retain_as_published = subscribe.entries().iter();
                let retain_as_published =
                    retain_as_published.filter(|entry| entry.sub_opts().rap());
                self.retain_as_published = retain_as_published
                    .map(|entry| entry.topic_filter().to_owned())
                    .collect();
                self.filters = subscribe
                    .entries()
                    .iter()
                    .map(|entry| entry.topic_filter().to_owned())
                    .collect();
                v5_0::Suback::builder()
                    .packet_id(subscribe.packet_id())
                    .reason_codes(self.codes(
                        refused,
                        SubackReasonCode::NotAuthorized,
                        SubackReasonCode::GrantedQos1,
                    ))
                    .build()
                    .unwrap()
                    .into()
            }
            Packet::V3_1_1Subscribe(subscribe) => {
                self.filters = subscribe
                    .entries()
                    .iter()
                    .map(|entry| entry.topic_filter().to_owned())
                    .collect();
                v3_1_1::Suback::builder()
                    .packet_id(subscribe.packet_id())
                    .return_codes(self.codes(
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

    fn codes<C: Copy>(&self, refused: &[usize], no: C, yes: C) -> Vec<C> {
        (0..self.filters.len())
            .map(|position| if refused.contains(&position) { no } else { yes })
            .collect()
    }

    /// The next message of the clock. `None` if the connection is closed.
    pub(crate) async fn next(&mut self) -> Option<Published> {
        loop {
            let published = match self.packet().await? {
                Packet::V5_0Publish(publish) => Published {
                    topic: publish.topic_name().to_owned(),
                    payload: publish.payload().as_slice().to_vec(),
                    retain: publish.retain(),
                    qos1: publish.qos() == Qos::AtLeastOnce,
                    correlation: publish.props().iter().find_map(|property| match property {
                        Property::CorrelationData(data) => Some(data.val().to_vec()),
                        _ => None,
                    }),
                },
                Packet::V3_1_1Publish(publish) => Published {
                    topic: publish.topic_name().to_owned(),
                    payload: publish.payload().as_slice().to_vec(),
                    retain: publish.retain(),
                    qos1: publish.qos() == Qos::AtLeastOnce,
                    correlation: None,
                },
                Packet::V5_0Disconnect(_) | Packet::V3_1_1Disconnect(_) => {
                    self.is_disconnected = true;
                    continue;
                }
                _ => continue,
            };
            return Some(published);
        }
    }

    /// The next message on a topic.
    pub(crate) async fn on(&mut self, topic: &str) -> Published {
        let found = async {
            loop {
                let published = self.next().await.expect("the connection is closed");
                if published.topic == topic {
                    return published;
                }
            }
        };
        let found = timeout(PATIENCE, found).await;
        found.unwrap_or_else(|_| panic!("nothing on {topic}"))
    }

    /// All messages within some time.
    pub(crate) async fn all_within(&mut self, time: Duration) -> Vec<Published> {
        let mut all = Vec::new();
        let _ = timeout(time, async {
            while let Some(published) = self.next().await {
                all.push(published);
            }
        })
        .await;
        all
    }

    /// Sends a message to the clock.
    pub(crate) async fn publish(&mut self, topic: &str, payload: &str) {
        self.send_publish(topic, payload.as_bytes(), false, Vec::new())
            .await;
    }

    /// Sends a retained message to the clock.
    pub(crate) async fn publish_retained(&mut self, topic: &str, payload: &str) {
        self.send_publish(topic, payload.as_bytes(), true, Vec::new())
            .await;
    }

    /// Sends a message with a response topic and correlation data to the clock.
    pub(crate) async fn request(
        &mut self,
        topic: &str,
        payload: &str,
        response_topic: &str,
        data: &[u8],
    ) {
        let properties = vec![
            Property::ResponseTopic(ResponseTopic::new(response_topic).unwrap()),
            Property::CorrelationData(CorrelationData::new(data.to_vec()).unwrap()),
        ];
        self.send_publish(topic, payload.as_bytes(), false, properties)
            .await;
    }

    async fn send_publish(
        &mut self,
        topic: &str,
        payload: &[u8],
        retain: bool,
        props: Vec<Property>,
    ) {
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

    /// Sends bytes, which need not be a packet.
    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) {
        // The clock may have closed the connection.
        let _ = self.stream.write_all(bytes).await;
    }

    async fn send(&mut self, packet: Packet) {
        let events = self.connection.send(packet);
        self.handle(events).await;
    }

    /// The next packet of the clock. `None` if the connection is closed.
    async fn packet(&mut self) -> Option<Packet> {
        let mut bytes = [0; 1024];
        while self.received.is_empty() {
            let count = self.stream.read(&mut bytes).await.unwrap();
            if count == 0 {
                return None;
            }
            let mut cursor = Cursor::new(&bytes[..count]);
            while cursor.position() < count as u64 {
                let events = self.connection.recv(&mut cursor);
                self.handle(events).await;
            }
        }
        Some(self.received.remove(0))
    }

    /// Refuses a message, if all are refused.
    async fn send_refusal(&mut self, packet: &Packet) {
        if let Packet::V5_0Publish(publish) = packet
            && self.refuses_publishes
            && let Some(id) = publish.packet_id()
        {
            let answer = v5_0::Puback::builder()
                .packet_id(id)
                .reason_code(PubackReasonCode::NotAuthorized)
                .build()
                .unwrap();
            Box::pin(self.send(answer.into())).await;
        }
    }

    async fn handle(&mut self, events: Vec<Event>) {
        for event in events {
            match event {
                Event::RequestSendPacket { packet, .. } => {
                    // The clock may have closed the connection.
                    let _ = self.stream.write_all(&packet.to_continuous_buffer()).await;
                }
                Event::NotifyPacketReceived(packet) => {
                    self.send_refusal(&packet).await;
                    self.received.push(packet);
                }
                Event::NotifyError(error) => panic!("{error:?}"),
                _ => {}
            }
        }
    }
}
