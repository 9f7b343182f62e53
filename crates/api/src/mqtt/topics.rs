//! Topics that the clock publishes to and subscribes to.
//!
//! Topics of commands end with the names of operations.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use device::{event_log::DeviceEvent, mqtt::Broker};

/// Topic level of the groups, beside the host names of the clocks.
const GROUP: &str = "group";

/// Longest response topic, bytes.
pub const RESPONSE_TOPIC_MAX: usize = 256;

/// A retained topic. A new connection publishes them in this order, so that subscribers get the discovery of an entity
/// before its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RetainedTopic {
    /// Discovery of the clock for Home Assistant.
    Discovery,
    /// Discovery of the start of the quiet hours. It is separate, because versions of Home Assistant without `time`
    /// entities reject a device that has one.
    QuietFrom,
    /// Discovery of the end of the quiet hours.
    QuietUntil,
    /// Whether the clock is online; also the topic of the will.
    Status,
    /// Static facts about the clock.
    Info,
    /// State of the clock.
    State,
    /// The running version and the offered release.
    Update,
    /// Figures of the host.
    Host,
    /// The settings.
    Settings,
    /// Results of retained settings.
    Reported,
    /// The LED strip as one lamp.
    Strip,
    /// One LED, counted from 0.
    Led(usize),
    /// The frontlight.
    Frontlight,
    /// Height, fee rate and prices.
    Market,
    /// A picture of the panels.
    Panels,
    /// What the remote displays report.
    Displays,
}

impl RetainedTopic {
    /// All topics of a clock with so many LEDs.
    pub fn all(leds: usize) -> Vec<RetainedTopic> {
        let first = [
            RetainedTopic::Discovery,
            RetainedTopic::QuietFrom,
            RetainedTopic::QuietUntil,
            RetainedTopic::Status,
            RetainedTopic::Info,
            RetainedTopic::State,
            RetainedTopic::Update,
            RetainedTopic::Host,
            RetainedTopic::Settings,
            RetainedTopic::Reported,
            RetainedTopic::Strip,
        ];
        let leds = (0..leds).map(RetainedTopic::Led);
        let last = [
            RetainedTopic::Frontlight,
            RetainedTopic::Market,
            RetainedTopic::Panels,
            RetainedTopic::Displays,
        ];
        first.into_iter().chain(leds).chain(last).collect()
    }

    /// Its topic name. `None` if the settings switch it off.
    pub fn name(self, broker: &Broker) -> Option<String> {
        let own = |leaf: &str| Some(own_topic(broker, leaf));
        let quiet_discovery = |bound: QuietHoursBound| {
            let prefix = &broker.home_assistant.as_ref()?.prefix;
            let key = bound.entity_key();
            Some(format!("{prefix}/time/{}/{key}/config", broker.id))
        };
        match self {
            RetainedTopic::Discovery => {
                let prefix = &broker.home_assistant.as_ref()?.prefix;
                Some(format!("{prefix}/device/{}/config", broker.id))
            }
            RetainedTopic::QuietFrom => quiet_discovery(QuietHoursBound::From),
            RetainedTopic::QuietUntil => quiet_discovery(QuietHoursBound::Until),
            RetainedTopic::Status => own("status"),
            RetainedTopic::Info => own("info"),
            RetainedTopic::State => own("state"),
            RetainedTopic::Update => own("update"),
            RetainedTopic::Host => own("host"),
            RetainedTopic::Settings => own("settings"),
            RetainedTopic::Reported => own("reported"),
            RetainedTopic::Strip => own(&Lamp::Strip.topic()),
            RetainedTopic::Led(index) => own(&Lamp::Led(index).topic()),
            RetainedTopic::Frontlight => own(&Lamp::Frontlight.topic()),
            RetainedTopic::Market => own("market"),
            RetainedTopic::Panels => own("panels").filter(|_| broker.panels),
            RetainedTopic::Displays => own("displays"),
        }
    }

    /// Returns whether it is published with QoS 1, because the next message may be long in coming.
    pub fn uses_qos1(self) -> bool {
        matches!(
            self,
            RetainedTopic::Discovery
                | RetainedTopic::QuietFrom
                | RetainedTopic::QuietUntil
                | RetainedTopic::Status
                | RetainedTopic::Info
                | RetainedTopic::Update
                | RetainedTopic::Settings
                | RetainedTopic::Reported
        )
    }
}

/// A lamp of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lamp {
    /// The LED strip as one lamp.
    Strip,
    /// One LED, counted from 0.
    Led(usize),
    /// The frontlight.
    Frontlight,
}

impl Lamp {
    /// Its topic below the clock's level.
    pub(super) fn topic(self) -> String {
        match self {
            Lamp::Strip => "light/strip".into(),
            Lamp::Led(index) => format!("light/{}", index + 1),
            Lamp::Frontlight => "light/front".into(),
        }
    }

    fn parse(level: &str) -> Option<Lamp> {
        match level {
            "strip" => Some(Lamp::Strip),
            "front" => Some(Lamp::Frontlight),
            number => {
                let number: usize = number.parse().ok()?;
                Some(Lamp::Led(number.checked_sub(1)?))
            }
        }
    }
}

/// Start or end of the quiet hours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuietHoursBound {
    /// The start.
    From,
    /// The end.
    Until,
}

impl QuietHoursBound {
    /// Key of its entity.
    pub(super) fn entity_key(self) -> &'static str {
        match self {
            QuietHoursBound::From => "quiet_from",
            QuietHoursBound::Until => "quiet_until",
        }
    }

    /// Name of its entity.
    pub(super) fn entity_name(self) -> &'static str {
        match self {
            QuietHoursBound::From => "Do not disturb from",
            QuietHoursBound::Until => "Do not disturb until",
        }
    }

    /// Its member of `dnd` in the state.
    pub(super) fn state_member(self) -> &'static str {
        match self {
            QuietHoursBound::From => "startTime",
            QuietHoursBound::Until => "endTime",
        }
    }

    /// Its topic below the clock's level, without `/set`.
    pub(super) fn topic(self) -> &'static str {
        match self {
            QuietHoursBound::From => "quiet/from",
            QuietHoursBound::Until => "quiet/until",
        }
    }
}

/// The meaning of a received message, according to its topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IncomingTopic<'a> {
    /// A command, by the name of its operation.
    Command(Scope<'a>, &'a str),
    /// A change of settings.
    SettingsChange(Scope<'a>),
    /// Retained settings.
    RetainedSettings(Scope<'a>),
    /// A command to a lamp.
    Lamp(Lamp),
    /// A change of the quiet hours.
    QuietHours(QuietHoursBound),
    /// Start or end of Home Assistant.
    HomeAssistantStatus,
}

/// Which clocks a message is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope<'a> {
    /// This clock.
    Own,
    /// A group of clocks.
    Group(&'a str),
}

/// A topic below the clock's level.
pub fn own_topic(broker: &Broker, leaf: &str) -> String {
    format!("{}/{}/{leaf}", broker.base, broker.id)
}

/// The topic of an event. Buttons have their own, because they are an entity of their own.
pub fn event_topic(event: &DeviceEvent, broker: &Broker) -> String {
    match event {
        DeviceEvent::Block { .. }
        | DeviceEvent::Zap { .. }
        | DeviceEvent::Payment { .. }
        | DeviceEvent::Refresh
        | DeviceEvent::Warning { .. } => own_topic(broker, "event"),
        DeviceEvent::Button { .. } => own_topic(broker, "event/button"),
    }
}

/// The topic of results of commands without a response topic.
pub fn result_topic(broker: &Broker) -> String {
    own_topic(broker, "result")
}

/// Filters below the clock's level.
const OWN_FILTERS: [&str; 5] = ["cmd/#", "set", "desired", "light/+/set", "quiet/+/set"];

/// Filters below the level of a group.
const GROUP_FILTERS: [&str; 3] = ["cmd/#", "set", "desired"];

/// The filters that the clock subscribes to.
pub fn filters(broker: &Broker) -> Vec<String> {
    let Broker { base, .. } = broker;
    let mut filters = Vec::from(OWN_FILTERS.map(|leaf| own_topic(broker, leaf)));
    for group in &broker.groups {
        filters.extend(GROUP_FILTERS.map(|leaf| format!("{base}/{GROUP}/{group}/{leaf}")));
    }
    let home_assistant = broker.home_assistant.as_ref();
    filters.extend(home_assistant.map(|it| it.status_topic.clone()));
    filters
}

/// Returns whether retained messages are wanted at the subscription. Retained commands are not, because they would be
/// executed at every connection.
pub fn wants_retained(filter: &str) -> bool {
    filter.ends_with("/desired")
}

/// Returns whether a filter is for commands: a retained message on it is refused, so its retain flag must be visible. The
/// birth message of Home Assistant may be retained.
pub fn is_command_filter(filter: &str, broker: &Broker) -> bool {
    let home_assistant = broker.home_assistant.as_ref();
    let is_birth = home_assistant.is_some_and(|it| it.status_topic == filter);
    !is_birth && !wants_retained(filter)
}

/// Parses the topic of a received message. `None` if the clock does not subscribe to it.
pub fn parse<'a>(topic: &'a str, broker: &'a Broker) -> Option<IncomingTopic<'a>> {
    let home_assistant = broker.home_assistant.as_ref();
    if home_assistant.is_some_and(|it| it.status_topic == topic) {
        return Some(IncomingTopic::HomeAssistantStatus);
    }
    let below = topic
        .strip_prefix(broker.base.as_str())?
        .strip_prefix('/')?;
    let in_group = below
        .strip_prefix(GROUP)
        .and_then(|rest| rest.strip_prefix('/'));
    if let Some((group, leaf)) = in_group.and_then(|rest| rest.split_once('/')) {
        let is_member = broker.groups.iter().any(|own| own == group);
        return parse_leaf(Scope::Group(group), leaf).filter(|_| is_member);
    }
    let leaf = below.strip_prefix(broker.id.as_str())?.strip_prefix('/')?;
    let device = leaf.strip_suffix("/set");
    let lamp = device.and_then(|device| Lamp::parse(device.strip_prefix("light/")?));
    let mut bounds = [QuietHoursBound::From, QuietHoursBound::Until].into_iter();
    let bound = bounds.find(|bound| device == Some(bound.topic()));
    lamp.map(IncomingTopic::Lamp)
        .or(bound.map(IncomingTopic::QuietHours))
        .or_else(|| parse_leaf(Scope::Own, leaf))
}

fn parse_leaf<'a>(scope: Scope<'a>, leaf: &'a str) -> Option<IncomingTopic<'a>> {
    match leaf {
        "set" => Some(IncomingTopic::SettingsChange(scope)),
        "desired" => Some(IncomingTopic::RetainedSettings(scope)),
        leaf => Some(IncomingTopic::Command(scope, leaf.strip_prefix("cmd/")?)),
    }
}

/// Returns whether a response may be published on a topic: below the clock's level, because a client that may only send
/// commands must not publish elsewhere, and not where the clock receives or publishes other messages.
pub fn is_response_topic_allowed(topic: &str, broker: &Broker) -> bool {
    let own = own_topic(broker, "");
    let level = |topic: &str| Some(topic.strip_prefix(&own)?.split('/').next()?.to_string());
    let retained = RetainedTopic::all(0).into_iter();
    let mut used = retained
        .filter_map(|topic| topic.name(broker))
        .chain(filters(broker))
        .chain([own_topic(broker, "event")]);
    level(topic)
        .is_some_and(|own| !own.is_empty() && used.all(|used| level(&used).as_ref() != Some(&own)))
        && topic.len() <= RESPONSE_TOPIC_MAX
        && !topic.contains(['+', '#', '\0'])
}
