//! The tree of topics: where the clock tells something, and where it listens.
//!
//! Names that other programs have to know are those of the operations; the rest stands in the table of levels here.

use alloc::{format, string::String, vec::Vec};

use device::{happenings::Happening, mqtt::Broker};

/// Level below which groups are, beside the clocks.
const GROUP: &str = "group";

/// Longest topic that is answered on, bytes.
pub const RESPONSE_TOPIC_MAX: usize = 256;

/// A retained topic. A new connection publishes them in this order, so that subscribers get the discovery of an entity
/// before its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RetainedTopic {
    /// What Home Assistant is told of the clock.
    Discovery,
    /// Start of the quiet hours, told to Home Assistant apart: versions that do not know such an entity would refuse
    /// the whole clock.
    QuietFrom,
    /// End of the quiet hours, likewise.
    QuietUntil,
    /// Whether the clock is there; the broker says so itself when the clock is lost.
    Status,
    /// What the clock is.
    Info,
    /// How it is.
    State,
    /// What program runs, and which one it could be.
    Update,
    /// How its host is.
    Host,
    /// The settings.
    Settings,
    /// What became of the wishes that stand at the broker.
    Reported,
    /// The strip as one lamp.
    Strip,
    /// One LED of it, counted from 0.
    Led(usize),
    /// The frontlight as one lamp.
    Frontlight,
    /// The newest values.
    Market,
    /// A picture of the panels.
    Panels,
}

impl RetainedTopic {
    /// All of a clock with so many LEDs.
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
        ];
        first.into_iter().chain(leds).chain(last).collect()
    }

    /// Its topic; none where nobody is told.
    pub fn topic(self, broker: &Broker) -> Option<String> {
        let own = |leaf: &str| Some(own(broker, leaf));
        let single = |edge: QuietHoursBound| {
            let prefix = &broker.home_assistant.as_ref()?.prefix;
            Some(format!("{prefix}/time/{}/{}/config", broker.id, key(edge)))
        };
        match self {
            RetainedTopic::Discovery => {
                let prefix = &broker.home_assistant.as_ref()?.prefix;
                Some(format!("{prefix}/device/{}/config", broker.id))
            }
            RetainedTopic::QuietFrom => single(QuietHoursBound::From),
            RetainedTopic::QuietUntil => single(QuietHoursBound::Until),
            RetainedTopic::Status => own("status"),
            RetainedTopic::Info => own("info"),
            RetainedTopic::State => own("state"),
            RetainedTopic::Update => own("update"),
            RetainedTopic::Host => own("host"),
            RetainedTopic::Settings => own("settings"),
            RetainedTopic::Reported => own("reported"),
            RetainedTopic::Strip => own(&lamp(Lamp::Strip)),
            RetainedTopic::Led(index) => own(&lamp(Lamp::Led(index))),
            RetainedTopic::Frontlight => own(&lamp(Lamp::Frontlight)),
            RetainedTopic::Market => own("market"),
            RetainedTopic::Panels => broker.panels.then(|| self::own(broker, "panels")),
        }
    }

    /// It must arrive: the next one may be long in coming.
    pub fn must_arrive(self) -> bool {
        match self {
            RetainedTopic::Discovery
            | RetainedTopic::QuietFrom
            | RetainedTopic::QuietUntil
            | RetainedTopic::Status
            | RetainedTopic::Info
            | RetainedTopic::Update
            | RetainedTopic::Settings
            | RetainedTopic::Reported => true,
            RetainedTopic::State
            | RetainedTopic::Host
            | RetainedTopic::Strip
            | RetainedTopic::Led(_)
            | RetainedTopic::Frontlight
            | RetainedTopic::Market
            | RetainedTopic::Panels => false,
        }
    }
}

/// Name among entities of a time at which the quiet hours begin or end.
pub(super) fn key(edge: QuietHoursBound) -> &'static str {
    match edge {
        QuietHoursBound::From => "quiet_from",
        QuietHoursBound::Until => "quiet_until",
    }
}

/// Levels of the topic of such a time.
pub(super) fn quiet(edge: QuietHoursBound) -> &'static str {
    match edge {
        QuietHoursBound::From => "quiet/from",
        QuietHoursBound::Until => "quiet/until",
    }
}

/// A lamp of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lamp {
    /// The strip as one.
    Strip,
    /// One LED, counted from 0.
    Led(usize),
    /// The frontlight as one.
    Frontlight,
}

/// What a message is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Incoming<'a> {
    /// A command, by the name of its operation.
    Command(Scope<'a>, &'a str),
    /// A change of settings.
    Set(Scope<'a>),
    /// What the settings are to be, as it stands at the broker.
    Desired(Scope<'a>),
    /// A command to a lamp.
    Lamp(Lamp),
    /// A time at which the quiet hours begin or end.
    Quiet(QuietHoursBound),
    /// Home Assistant says how it is.
    HomeAssistant,
}

/// Where the quiet hours begin or end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuietHoursBound {
    /// They begin.
    From,
    /// They end.
    Until,
}

impl QuietHoursBound {
    /// What it is called, and the member of the state that tells it.
    pub(super) fn told(self) -> (&'static str, &'static str) {
        match self {
            QuietHoursBound::From => ("Do not disturb from", "startTime"),
            QuietHoursBound::Until => ("Do not disturb until", "endTime"),
        }
    }
}

/// To whom something is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope<'a> {
    /// To this clock.
    Own,
    /// To a group of clocks.
    Group(&'a str),
}

/// A topic of the clock's own.
pub fn own(broker: &Broker, leaf: &str) -> String {
    format!("{}/{}/{leaf}", broker.base, broker.id)
}

/// Where something that happened is told: buttons apart, for each is an entity of its own kind.
pub fn event(happening: &Happening, broker: &Broker) -> String {
    match happening {
        Happening::Block { .. }
        | Happening::Zap { .. }
        | Happening::Payment { .. }
        | Happening::Refresh
        | Happening::Warning { .. } => own(broker, "event"),
        Happening::Button { .. } => own(broker, "event/button"),
    }
}

/// Where answers go for which no other place was named.
pub fn result(broker: &Broker) -> String {
    own(broker, "result")
}

/// Below its own level.
const OWN_FILTERS: [&str; 5] = ["cmd/#", "set", "desired", "light/+/set", "quiet/+/set"];

/// What the clock listens to.
pub fn filters(broker: &Broker) -> Vec<String> {
    let Broker { base, .. } = broker;
    let mut filters = Vec::from(OWN_FILTERS.map(|leaf| own(broker, leaf)));
    for group in &broker.groups {
        let leaves = ["cmd/#", "set", "desired"];
        filters.extend(leaves.map(|leaf| format!("{base}/{GROUP}/{group}/{leaf}")));
    }
    let home_assistant = broker.home_assistant.as_ref();
    filters.extend(home_assistant.map(|it| it.status_topic.clone()));
    filters
}

/// Tells whether what stands at the broker under a filter counts: a command that stands there would be done again at
/// every connection.
pub fn stands(filter: &str) -> bool {
    filter.ends_with("/desired")
}

/// Tells whether somebody asks the clock for something under a filter: what is retained there is no such thing, and its
/// mark must be seen. Home Assistant may retain that it has started, which counts all the same.
pub fn is_asked(filter: &str, broker: &Broker) -> bool {
    let home_assistant = broker.home_assistant.as_ref();
    let is_birth = home_assistant.is_some_and(|it| it.status_topic == filter);
    !is_birth && !stands(filter)
}

/// What a message on this topic is about; none if it is about nothing that the clock listens to.
pub fn read<'a>(topic: &'a str, broker: &'a Broker) -> Option<Incoming<'a>> {
    let home_assistant = broker.home_assistant.as_ref();
    if home_assistant.is_some_and(|it| it.status_topic == topic) {
        return Some(Incoming::HomeAssistant);
    }
    let below = topic
        .strip_prefix(broker.base.as_str())?
        .strip_prefix('/')?;
    let in_group = below
        .strip_prefix(GROUP)
        .and_then(|rest| rest.strip_prefix('/'));
    if let Some((group, leaf)) = in_group.and_then(|rest| rest.split_once('/')) {
        let is_member = broker.groups.iter().any(|own| own == group);
        return said(Scope::Group(group), leaf).filter(|_| is_member);
    }
    let leaf = below.strip_prefix(broker.id.as_str())?.strip_prefix('/')?;
    let lamp = leaf
        .strip_prefix("light/")
        .and_then(|rest| named(rest.strip_suffix("/set")?));
    let edges = [QuietHoursBound::From, QuietHoursBound::Until].into_iter();
    let edge = edges
        .clone()
        .find(|edge| leaf.strip_suffix("/set") == Some(quiet(*edge)));
    lamp.map(Incoming::Lamp)
        .or(edge.map(Incoming::Quiet))
        .or_else(|| said(Scope::Own, leaf))
}

/// Tells whether an answer may go to a topic that somebody named: not into the tree of the clocks or of Home Assistant,
/// where it would be taken for something else.
pub fn may_answer_on(topic: &str, broker: &Broker) -> bool {
    let is_below = |root: &str| {
        let rest = topic.strip_prefix(root);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let home_assistant = broker.home_assistant.as_ref();
    let is_taken = is_below(&broker.base)
        || home_assistant.is_some_and(|it| is_below(&it.prefix) || it.status_topic == topic);
    let is_topic = !topic.is_empty()
        && topic.len() <= RESPONSE_TOPIC_MAX
        && !topic.starts_with('$')
        && !topic.contains(['+', '#', '\0']);
    is_topic && !is_taken
}

fn said<'a>(scope: Scope<'a>, leaf: &'a str) -> Option<Incoming<'a>> {
    match leaf {
        "set" => Some(Incoming::Set(scope)),
        "desired" => Some(Incoming::Desired(scope)),
        leaf => Some(Incoming::Command(scope, leaf.strip_prefix("cmd/")?)),
    }
}

/// Levels of a lamp's topic.
pub(super) fn lamp(lamp: Lamp) -> String {
    match lamp {
        Lamp::Strip => "light/strip".into(),
        Lamp::Led(index) => format!("light/{}", index + 1),
        Lamp::Frontlight => "light/front".into(),
    }
}

fn named(word: &str) -> Option<Lamp> {
    match word {
        "strip" => Some(Lamp::Strip),
        "front" => Some(Lamp::Frontlight),
        number => {
            let place: usize = number.parse().ok()?;
            Some(Lamp::Led(place.checked_sub(1)?))
        }
    }
}
