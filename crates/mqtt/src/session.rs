//! One connection to the broker: tells what is new, listens, and does what it is told.
//!
//! Everything that waits is bounded: levels are made when they are sent, what happens is kept thirty-two deep, and what
//! is asked for sixteen.

use std::{
    collections::{BTreeMap, VecDeque, hash_map::DefaultHasher},
    hash::{Hash, Hasher as _},
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use api::{
    answer::Answer,
    mqtt::{
        commands::{self, CommandAction, InvalidSettings, MESSAGE_MAX, MqttCommand},
        discovery,
        documents::{self, OFFLINE, ONLINE, Report},
        topics::{self, Incoming, Lamp, RetainedTopic},
    },
};
use device::{
    happenings::{HAPPENINGS_MAX, Happening},
    input::{Brokered, Input},
    mqtt::{Broker, MqttPlan},
    secret::Secret,
    settings::kinds::pem,
    view::View,
};
use market::Connection;
use mqtt_protocol_core::mqtt::Version;
use net::{
    chance::Chance,
    dialer::{BoxedStream, Destination, TransportSecurity},
    route::ProxyPassword,
    tls::Own,
    url::split_authority,
};
use render::png;
use runtime::{
    inbox::Stopped,
    outage::Outage,
    route::route,
    tasks::Stop,
    waits::{over, until},
};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, ReadHalf, split},
    time::{Instant, sleep_until, timeout},
};

use super::{
    context::MqttContext,
    executor::CommandExecutor,
    levels::RetainedTopics,
    outlet::{Outlet, WRITE_TIMEOUT},
    protocol::{
        IncomingMessage, NotSent, OutgoingMessage, ProtocolEnd, ProtocolSession, SessionEvent,
    },
    retained::{self, RetainedDocuments},
};

/// Wishes that may wait for the one that is being fulfilled.
const COMMANDS_MAX: usize = 16;

/// Answers that may wait to be sent.
const ANSWERS_MAX: usize = 32;

/// Bytes that wait to be sent from which on nothing more is made for them.
const OUT_FULL: usize = 16 * 1024;

/// Longest time for the last words of a connection.
const FAREWELL: Duration = Duration::from_secs(2);

/// Part of it in which what is being done is waited for.
const LAST_ANSWER: Duration = Duration::from_millis(1500);

/// Time over which a group of clocks spreads what all of them are told.
const SPREAD: Duration = Duration::from_secs(30);

/// Time within which Home Assistant is told everything again after it has started, so that not all clocks do at once.
const REBIRTH: Duration = Duration::from_secs(5);

/// Least time between two reports of what was dropped.
const REPORT_EVERY: Duration = Duration::from_secs(1);

/// Time between two looks at whether anything can be installed, which a key in the data folder changes.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// A minute, ms.
const MINUTE_MS: i64 = 60_000;

/// Why a message larger than [`MESSAGE_MAX`] is refused.
const TOO_LARGE: &str = "too large";

/// Why a connection ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectionEnd {
    /// The clock stops.
    Stopped,
    /// Something else is wanted.
    Changed,
    /// The broker does not know this version of the protocol.
    OtherVersion,
    /// The broker closed the connection without a CONNACK, as some do that do not know this version; why, in words.
    Unanswered(String),
    /// Something failed, after it was up or not.
    Failed {
        /// Why, in words fit for people.
        reason: String,
        /// Since when the clock was listening; none if it never was.
        up_since: Option<Instant>,
    },
}

/// A message that asks for something. It is read when its turn comes: what it means may depend on the one before it.
pub struct Waiting {
    message: IncomingMessage,
    moment: Moment,
}

/// When what a message asks for is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// As soon as its turn comes, unless it is one that a group spreads.
    Any,
    /// Now: it has waited for its moment.
    Now,
}

/// Commands that wait for their moments, by their names.
pub type Spread = BTreeMap<String, (Instant, Waiting)>;

/// Where a command came from and where its response goes.
struct CommandCaller {
    /// What it is called in the answer.
    name: String,
    /// The caller's own id for it.
    caller: Option<Value>,
    /// Where the answer goes.
    place: Option<(String, Option<Vec<u8>>)>,
}

/// Result of a finished task.
enum TaskResult {
    Wish(Box<CommandCaller>, Answer),
    Applied(Vec<Report>),
}

type Doing = Pin<Box<dyn Future<Output = TaskResult> + Send>>;

/// One connection.
pub struct MqttSession<'a> {
    context: &'a MqttContext,
    executor: &'a CommandExecutor,
    broker: Arc<Broker>,
    protocol: ProtocolSession,
    chance: Chance,
    view: Arc<View>,
    levels: RetainedTopics,
    /// The version that runs, where another one can be installed.
    updatable: Option<String>,
    look_at: Instant,
    up_since: Option<Instant>,
    /// How much of what happened was looked at.
    seen: u64,
    events: VecDeque<Happening>,
    answers: VecDeque<OutgoingMessage>,
    commands: VecDeque<Waiting>,
    doing: Option<Doing>,
    /// Commands of a group that are done at these moments, by their names; those of the connection before too.
    spread: &'a mut Spread,
    /// When Home Assistant is told everything again.
    rebirth: Option<Instant>,
    retained: RetainedDocuments,
    /// Results of the retained settings. `None` before they are applied on this connection.
    reports: Option<Vec<Report>>,
    dropped: BTreeMap<&'static str, u32>,
    report_at: Option<Instant>,
    /// What the log says of this connection.
    complaints: Outage,
}

/// Connects, and tells and listens until there is a reason to end.
pub async fn run(
    context: &MqttContext,
    executor: &CommandExecutor,
    broker: Arc<Broker>,
    version: Version,
    spread: &mut Spread,
    stop: &mut Stop,
) -> ConnectionEnd {
    let opened = tokio::select! {
        biased;
        () = stop.stopped() => return ConnectionEnd::Stopped,
        () = differs(context, &broker) => return ConnectionEnd::Changed,
        opened = open(context, &broker) => opened,
    };
    let stream = match opened {
        Ok(stream) => stream,
        Err(reason) => {
            return ConnectionEnd::Failed {
                reason,
                up_since: None,
            };
        }
    };
    let mut session = match MqttSession::new(context, executor, broker, version, spread) {
        Ok(session) => session,
        Err(ProtocolEnd::OtherVersion) => return ConnectionEnd::OtherVersion,
        Err(ProtocolEnd::Because(reason) | ProtocolEnd::Unanswered(reason)) => {
            return ConnectionEnd::Failed {
                reason,
                up_since: None,
            };
        }
    };
    let (mut reader, writer) = split(stream);
    let mut outlet = Outlet::new(writer);
    let broker = Arc::clone(&session.broker);
    let ended = tokio::select! {
        biased;
        () = stop.stopped() => ConnectionEnd::Stopped,
        () = differs(context, &broker) => ConnectionEnd::Changed,
        ended = session.live(&mut reader, &mut outlet) => ended,
    };
    if matches!(ended, ConnectionEnd::Stopped | ConnectionEnd::Changed)
        && session.up_since.is_some()
    {
        let next = context.plans.borrow().clone();
        let leaving = session.leave(&next, &mut reader, &mut outlet);
        // A broker that does not listen says by itself that the clock is gone.
        let _ = timeout(FAREWELL, leaving).await;
    }
    ended
}

/// Waits until another broker is wanted, or none.
async fn differs(context: &MqttContext, broker: &Arc<Broker>) {
    let mut plans = context.plans.clone();
    let is_other = |plan: &MqttPlan| *plan != MqttPlan::On(Arc::clone(broker));
    // Without anybody to plan the clock is ending, which is told elsewhere.
    if plans.wait_for(is_other).await.is_err() {
        std::future::pending().await
    }
}

async fn open(context: &MqttContext, broker: &Broker) -> Result<BoxedStream, String> {
    let authority = split_authority(broker.host.expose());
    let (host, port) = authority.map_err(|error| error.to_string())?;
    let security = if broker.tls.is_some() {
        TransportSecurity::Tls
    } else {
        TransportSecurity::Plain
    };
    let destination = Destination {
        host,
        port: port.unwrap_or(broker.port),
        security,
    };
    let wanted = broker.tls.clone().unwrap_or_default();
    let file = |stored: &Secret| pem::file(stored.expose());
    let own = context.dialer.own_tls(Own {
        authorities: &file(&wanted.authorities),
        certificate: &file(&wanted.certificate),
        key: &ProxyPassword::new(file(&wanted.key)),
    });
    let own = own.map_err(|error| error.to_string())?;
    let route = route(&broker.route);
    let made = context.dialer.connect_by(&route, destination, &own);
    made.await.map_err(|error| error.to_string())
}

impl<'a> MqttSession<'a> {
    fn new(
        context: &'a MqttContext,
        executor: &'a CommandExecutor,
        broker: Arc<Broker>,
        version: Version,
        spread: &'a mut Spread,
    ) -> Result<MqttSession<'a>, ProtocolEnd> {
        let now = Instant::now();
        let view = Arc::clone(&context.view.borrow());
        // Nobody expects any more what should have been done long ago.
        spread.retain(|_, (at, _)| *at + SPREAD > now);
        Ok(MqttSession {
            context,
            executor,
            protocol: ProtocolSession::new(&broker, version, now)?,
            chance: Chance::new(),
            levels: RetainedTopics::new(view.board.leds, now),
            updatable: context.newest.installer().updatable(),
            look_at: now + LOOK_EVERY,
            up_since: None,
            seen: view.happenings.count(),
            view,
            events: VecDeque::new(),
            answers: VecDeque::new(),
            commands: VecDeque::new(),
            doing: None,
            spread,
            rebirth: None,
            retained: RetainedDocuments::default(),
            reports: None,
            dropped: BTreeMap::new(),
            report_at: None,
            complaints: Outage::default(),
            broker,
        })
    }

    async fn live(
        &mut self,
        reader: &mut ReadHalf<BoxedStream>,
        outlet: &mut Outlet,
    ) -> ConnectionEnd {
        match self.talk(reader, outlet).await {
            Ok(never) => match never {},
            Err(ProtocolEnd::OtherVersion) => ConnectionEnd::OtherVersion,
            Err(ProtocolEnd::Unanswered(reason)) => ConnectionEnd::Unanswered(reason),
            Err(ProtocolEnd::Because(reason)) => ConnectionEnd::Failed {
                reason,
                up_since: self.up_since,
            },
        }
    }

    async fn talk(
        &mut self,
        reader: &mut ReadHalf<BoxedStream>,
        outlet: &mut Outlet,
    ) -> Result<std::convert::Infallible, ProtocolEnd> {
        let mut views = self.context.view.clone();
        let mut glasses = self.context.glass.clone();
        let mut bytes = [0; 4096];
        loop {
            self.fill();
            self.begin();
            let has_out = outlet.is_busy(self.protocol.out());
            let stuck = outlet.due(self.protocol.out());
            let wake = [stuck, self.next_deadline()];
            let wake = wake.into_iter().flatten().min();
            tokio::select! {
                count = reader.read(&mut bytes), if self.protocol.out().len() < 2 * OUT_FULL => {
                    let count = count.map_err(|error| self.protocol.closed(lost(&error)))?;
                    if count == 0 {
                        let reason = "the broker closed the connection";
                        return Err(self.protocol.closed(reason.into()));
                    }
                    self.hear(&bytes[..count]).await?;
                }
                count = outlet.push(self.protocol.out()), if has_out => {
                    let count = count.map_err(|error| self.protocol.closed(lost(&error)))?;
                    self.protocol.sent_bytes(count, Instant::now());
                }
                done = over(&mut self.doing) => self.done(done),
                Ok(()) = views.changed() => {
                    let view = Arc::clone(&views.borrow_and_update());
                    self.follow(view);
                }
                Ok(()) = glasses.changed() => {
                    glasses.mark_unchanged();
                    self.levels.changed(|level| matches!(level, RetainedTopic::Panels | RetainedTopic::State));
                }
                () = until(wake) => {
                    if stuck.is_some_and(|stuck| stuck <= Instant::now()) {
                        return Err(ProtocolEnd::Because(format!(
                            "the broker took nothing for {} s", WRITE_TIMEOUT.as_secs()
                        )));
                    }
                    self.advance().await?;
                }
            }
        }
    }

    /// When something is to be done that nobody else brings about.
    fn next_deadline(&self) -> Option<Instant> {
        let levels = self.levels.next_deadline().filter(|_| self.may_tell());
        let spread = self.spread.values().map(|(at, _)| *at).min();
        [
            self.protocol.next_deadline(),
            levels,
            spread,
            Some(self.look_at),
            self.rebirth,
            self.retained
                .next_deadline()
                .filter(|_| self.doing.is_none()),
            self.report_at,
        ]
        .into_iter()
        .flatten()
        .min()
    }

    async fn advance(&mut self) -> Result<(), ProtocolEnd> {
        let now = Instant::now();
        self.protocol.advance(now)?;
        let is_due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if self.look_at <= now {
            self.look_at = now + LOOK_EVERY;
            let updatable = self.context.newest.installer().updatable();
            if updatable != self.updatable {
                self.updatable = updatable;
                self.levels.changed(|level| {
                    matches!(level, RetainedTopic::Discovery | RetainedTopic::Update)
                });
            }
        }
        if is_due(self.rebirth) {
            self.rebirth = None;
            self.levels.forgotten(now);
        }
        for (_, (_, waiting)) in self.spread.extract_if(.., |_, (at, _)| *at <= now) {
            self.commands.push_front(Waiting {
                moment: Moment::Now,
                ..waiting
            });
        }
        if is_due(self.report_at) {
            self.report_at = None;
            for (reason, count) in std::mem::take(&mut self.dropped) {
                self.tell_device(Brokered::Dropped(reason, count)).await?;
            }
        }
        Ok(())
    }

    /// Takes what the broker sent.
    async fn hear(&mut self, bytes: &[u8]) -> Result<(), ProtocolEnd> {
        for news in self.take_in(bytes)? {
            self.tell_device(news).await?;
        }
        Ok(())
    }

    /// Handles all events at once, because the connection may end while the device is notified. Returns the notifications
    /// for the device.
    fn take_in(&mut self, bytes: &[u8]) -> Result<Vec<Brokered>, ProtocolEnd> {
        let now = Instant::now();
        let mut news = Vec::new();
        for said in self.protocol.receive(bytes, now)? {
            match said {
                SessionEvent::Connected => self.protocol.subscribe(&self.broker, now)?,
                SessionEvent::Subscribed(refused) => {
                    self.up_since = Some(now);
                    news.push(Brokered::Connection(Connection::Up));
                    let filters = topics::filters(&self.broker);
                    let refused = refused.iter().filter_map(|place| filters.get(*place));
                    let refused: Vec<&str> = refused.map(String::as_str).collect();
                    if !refused.is_empty() {
                        let complaint = format!(
                            "the broker does not let the clock listen to {}",
                            refused.join(", ")
                        );
                        news.push(self.complaint(complaint));
                    }
                }
                SessionEvent::PublishRefused(reason) => {
                    self.drop_one("not-taken");
                    let complaint =
                        format!("the broker does not take all that the clock tells: {reason}");
                    news.push(self.complaint(complaint));
                }
                SessionEvent::Message(message) => self.take(message, now),
            }
        }
        Ok(news)
    }

    fn take(&mut self, message: IncomingMessage, now: Instant) {
        let broker = Arc::clone(&self.broker);
        let Some(incoming) = topics::read(&message.topic, &broker) else {
            self.drop_one("foreign-topic");
            return self.refuse(message, Answer::error(404, "foreign topic"));
        };
        let is_too_large = message.payload.len() > MESSAGE_MAX;
        match incoming {
            Incoming::HomeAssistant if message.is_retained => {}
            Incoming::HomeAssistant => {
                if message.payload == ONLINE.as_bytes() {
                    let soon = self.chance.between(Duration::ZERO, REBIRTH);
                    // Who starts again and again is told as soon as who starts once.
                    self.rebirth.get_or_insert(now + soon);
                }
            }
            Incoming::Desired(scope) if is_too_large => {
                self.drop_one("too-large");
                let parsed = Err(InvalidSettings::unread(TOO_LARGE));
                self.retained
                    .receive(scope, Some(parsed), &broker.groups, now);
            }
            Incoming::Desired(scope) => {
                let parsed = commands::retained_settings(&message.payload, &self.view).transpose();
                self.retained.receive(scope, parsed, &broker.groups, now);
            }
            // Somebody takes away what stood there.
            _ if message.is_retained && message.payload.is_empty() => {}
            // Left there by mistake it would be done again at every connection.
            _ if message.is_retained => {
                self.drop_one("retained");
                self.refuse(message, Answer::error(409, "retained"));
            }
            _ if is_too_large => {
                self.drop_one("too-large");
                self.refuse(message, Answer::error(413, TOO_LARGE));
            }
            _ if self.commands.len() >= COMMANDS_MAX => {
                self.drop_one("busy");
                self.refuse(message, Answer::error(503, "busy"));
            }
            Incoming::Command(..) | Incoming::Set(_) | Incoming::Lamp(_) | Incoming::Quiet(_) => {
                self.commands.push_back(Waiting {
                    message,
                    moment: Moment::Any,
                });
            }
        }
    }

    /// Answers a message that is not looked at any closer.
    fn refuse(&mut self, message: IncomingMessage, answer: Answer) {
        let incoming = topics::read(&message.topic, &self.broker);
        let name = incoming.and_then(commands::name);
        let caller = commands::caller(&message.payload);
        let name = name.unwrap_or(message.topic);
        let told = documents::result(&name, caller.as_ref(), &answer);
        self.answer(message.answer, &told);
    }

    /// Begins what waits, one thing at a time.
    fn begin(&mut self) {
        while self.doing.is_none() {
            if let Some(documents) = self.retained.take_due(Instant::now()) {
                let executor = self.executor.clone();
                self.doing = Some(Box::pin(async move {
                    TaskResult::Applied(retained::apply(executor, documents).await)
                }));
                return;
            }
            let Some(waiting) = self.commands.pop_front() else {
                return;
            };
            self.begin_wish(waiting);
        }
    }

    fn begin_wish(&mut self, waiting: Waiting) {
        let broker = Arc::clone(&self.broker);
        // The view that is followed may be older than the answer to the wish before.
        let view = Arc::clone(&self.context.view.borrow());
        let message = &waiting.message;
        let incoming = topics::read(&message.topic, &broker);
        let wish = incoming.and_then(|incoming| commands::read(incoming, &message.payload, &view));
        let Some(wish) = wish else {
            return;
        };
        let MqttCommand {
            name,
            caller,
            work,
            is_spread,
        } = wish;
        let is_spread = is_spread && waiting.moment == Moment::Any;
        if is_spread && work.is_ok() && !self.spread.contains_key(&name) {
            let at = Instant::now() + self.chance.between(Duration::ZERO, SPREAD);
            self.spread.insert(name, (at, waiting));
            return;
        }
        let asker = Box::new(CommandCaller {
            name,
            caller,
            place: waiting.message.answer,
        });
        match work {
            Ok(_) if is_spread => {
                self.done(TaskResult::Wish(
                    asker,
                    Answer::error(409, "already under way"),
                ));
            }
            Ok(CommandAction::NewestRelease) => {
                let asked = self.context.newest.request(&view);
                let answer = updates::answers::newest(asked);
                self.done(TaskResult::Wish(asker, answer));
            }
            Ok(CommandAction::Device(asked)) => {
                let executor = self.executor.clone();
                self.doing = Some(Box::pin(async move {
                    let answer = executor.perform(asked).await;
                    TaskResult::Wish(asker, answer)
                }));
            }
            Err(refusal) => self.done(TaskResult::Wish(asker, refusal)),
        }
    }

    fn done(&mut self, done: TaskResult) {
        self.doing = None;
        match done {
            TaskResult::Wish(asker, answer) => {
                let CommandCaller {
                    name,
                    caller,
                    place,
                } = *asker;
                if answer.status != 200 {
                    self.drop_one("refused");
                }
                let told = documents::result(&name, caller.as_ref(), &answer);
                self.answer(place, &told);
            }
            TaskResult::Applied(reports) => {
                self.reports = Some(reports);
                self.levels
                    .changed(|level| level == RetainedTopic::Reported);
            }
        }
    }

    fn answer(&mut self, place: Option<(String, Option<Vec<u8>>)>, told: &Value) {
        let named = place.filter(|(topic, _)| topics::may_answer_on(topic, &self.broker));
        let (topic, correlation) = named.unwrap_or_else(|| (topics::result(&self.broker), None));
        if self.answers.len() >= ANSWERS_MAX {
            self.answers.pop_front();
            self.drop_one("answers");
        }
        self.answers.push_back(OutgoingMessage {
            topic,
            payload: told.to_string().into_bytes(),
            is_level: false,
            must_arrive: false,
            correlation,
        });
    }

    /// Follows the device.
    fn follow(&mut self, view: Arc<View>) {
        let before = std::mem::replace(&mut self.view, view);
        let now = &self.view;
        let (news, missed) = now.happenings.since(self.seen);
        self.events.extend(news.cloned());
        self.seen = now.happenings.count();
        let too_many = self.events.len().saturating_sub(HAPPENINGS_MAX);
        self.events.drain(..too_many);
        let missed = missed.saturating_add(u64::try_from(too_many).unwrap_or(u64::MAX));
        let has_other_settings = !Arc::ptr_eq(&before.settings, &now.settings)
            || !Arc::ptr_eq(&before.active, &now.active)
            || before.link != now.link
            || before.hostname != now.hostname;
        let has_other_market = !Arc::ptr_eq(&before.market, &now.market);
        let has_other_lights = before.lights != now.lights
            || before.frontlight != now.frontlight
            || before.active.led_brightness != now.active.led_brightness;
        self.levels.changed(|level| match level {
            RetainedTopic::Discovery
            | RetainedTopic::QuietFrom
            | RetainedTopic::QuietUntil
            | RetainedTopic::Info
            | RetainedTopic::Settings => has_other_settings,
            RetainedTopic::Strip | RetainedTopic::Led(_) | RetainedTopic::Frontlight => {
                has_other_lights
            }
            // Which fee rate is told depends on them.
            RetainedTopic::Market => has_other_market || has_other_settings,
            RetainedTopic::State | RetainedTopic::Reported | RetainedTopic::Update => true,
            // It is told as time passes.
            RetainedTopic::Host | RetainedTopic::Status | RetainedTopic::Panels => false,
        });
        if missed > 0 {
            self.drop_many("events", missed);
        }
    }

    /// Tells whether anything may be told at all.
    fn may_tell(&self) -> bool {
        self.up_since.is_some() && self.protocol.out().len() < OUT_FULL && self.protocol.has_room()
    }

    /// Passes waiting messages to the protocol session as long as it has room.
    fn fill(&mut self) {
        let now = Instant::now();
        while self.may_tell() {
            if let Some(answer) = self.answers.pop_front() {
                self.say(answer, now);
            } else if let Some(happening) = self.events.pop_front() {
                let telling = OutgoingMessage {
                    topic: topics::event(&happening, &self.broker),
                    payload: documents::event(&happening).to_string().into_bytes(),
                    is_level: false,
                    must_arrive: false,
                    correlation: None,
                };
                self.say(telling, now);
            } else if let Some(level) = self.levels.next(now) {
                self.tell_level(level, now);
            } else {
                return;
            }
        }
    }

    fn tell_level(&mut self, level: RetainedTopic, now: Instant) {
        let (topic, payload) = match (level.topic(&self.broker), self.payload(level)) {
            (Some(topic), Some(payload)) => (topic, payload),
            (_, _) => {
                self.levels.is_news(level, 0, now);
                return;
            }
        };
        let mut hasher = DefaultHasher::new();
        payload.hash(&mut hasher);
        let name = hasher.finish();
        if !self.levels.is_news(level, name, now) {
            return;
        }
        self.levels.told(level, name, now);
        let telling = OutgoingMessage {
            topic,
            payload,
            is_level: true,
            must_arrive: level.must_arrive(),
            correlation: None,
        };
        self.say(telling, now);
    }

    fn say(&mut self, telling: OutgoingMessage, now: Instant) {
        match self.protocol.publish(telling, now) {
            Ok(()) => {}
            Err(NotSent::TooLarge) => self.drop_one("too-large"),
            Err(NotSent::Refused) => self.drop_one("not-sent"),
        }
    }

    /// What is to be said of a level now; none if there is nothing to say.
    fn payload(&self, level: RetainedTopic) -> Option<Vec<u8>> {
        let (view, broker) = (&self.view, &self.broker);
        let about = || self.context.about(view, self.updatable.clone());
        let glass = || Arc::clone(&self.context.glass.borrow());
        let document = match level {
            RetainedTopic::Discovery | RetainedTopic::QuietFrom | RetainedTopic::QuietUntil => {
                discovery::document(level, view, &about(), broker)
            }
            RetainedTopic::Status => return Some(ONLINE.into()),
            RetainedTopic::Info => Some(documents::info(view, &about(), broker)),
            RetainedTopic::State => Some(documents::state(view, &glass().panel_statuses())),
            RetainedTopic::Update => match documents::update(view, &about()) {
                Some(update) => Some(update),
                // What stood there before is no longer true.
                None => return Some(Vec::new()),
            },
            RetainedTopic::Host => {
                let free = runtime::host::memory(&runtime::host::Least::default()).free;
                Some(documents::host(view, self.started(), free))
            }
            RetainedTopic::Settings => Some(documents::settings(view, &about().identity)),
            RetainedTopic::Reported => match documents::reported(self.reports.as_ref()?, view) {
                Some(reported) => Some(reported),
                // The last document was removed.
                None => return Some(Vec::new()),
            },
            RetainedTopic::Strip => documents::lamp(Lamp::Strip, view),
            RetainedTopic::Led(index) => documents::lamp(Lamp::Led(index), view),
            RetainedTopic::Frontlight => documents::lamp(Lamp::Frontlight, view),
            RetainedTopic::Market => Some(documents::market(view, self.context.clock.now())),
            RetainedTopic::Panels => {
                let glass = glass();
                if glass.shows_password() {
                    // What stands there is read by many, and is taken away.
                    return Some(Vec::new());
                }
                let is_told = broker.panels && glass.is_painted();
                return is_told.then(|| {
                    let panels = glass.panels.iter();
                    let panels: Vec<_> = panels.map(|panel| (*panel.bitmap).clone()).collect();
                    png::side_by_side(&panels, 1)
                });
            }
        };
        document.map(|document| document.to_string().into_bytes())
    }

    /// When the clock was started, s since 1970-01-01 UTC, to the minute: its clock is set now and then by a little.
    fn started(&self) -> Option<i64> {
        let now = self.context.clock.now();
        let uptime = i64::try_from(now.uptime.as_millis()).ok()?;
        let started = now.utc?.unix_ms.saturating_sub(uptime);
        Some((started + MINUTE_MS / 2).div_euclid(MINUTE_MS) * (MINUTE_MS / 1000))
    }

    /// Answers what is being done or was to be done, says that the clock is gone, and takes away what somebody else or
    /// nobody is to find there.
    async fn leave(
        &mut self,
        next: &MqttPlan,
        reader: &mut ReadHalf<BoxedStream>,
        outlet: &mut Outlet,
    ) -> Result<(), ProtocolEnd> {
        let now = Instant::now();
        let last_answer = now + LAST_ANSWER;
        let mut tellings = VecDeque::new();
        let telling = |topic: String, payload: &str| OutgoingMessage {
            topic,
            payload: payload.into(),
            is_level: true,
            must_arrive: true,
            correlation: None,
        };
        for level in RetainedTopic::all(self.view.board.leds) {
            let Some(topic) = level.topic(&self.broker) else {
                continue;
            };
            let is_left = match next {
                MqttPlan::On(next) if is_elsewhere(next, &self.broker) => true,
                MqttPlan::On(next) => level.topic(next).as_ref() != Some(&topic),
                MqttPlan::Off => true,
                MqttPlan::Paused => false,
            };
            if is_left {
                tellings.push_back(telling(topic, ""));
            } else if level == RetainedTopic::Status {
                tellings.push_back(telling(topic, OFFLINE));
            }
        }
        let mut bytes = [0; 4096];
        let mut is_said = false;
        loop {
            for waiting in std::mem::take(&mut self.commands) {
                self.drop_one("busy");
                self.refuse(waiting.message, Answer::error(503, "busy"));
            }
            while self.protocol.has_room()
                && let Some(telling) = self.answers.pop_front().or_else(|| tellings.pop_front())
            {
                self.say(telling, now);
            }
            let is_all = self.answers.is_empty() && tellings.is_empty();
            // A change of the settings of the connection is answered by the connection before it.
            if self.doing.is_none() && is_all && self.protocol.is_settled() && !is_said {
                self.protocol.disconnect(now);
                is_said = true;
            }
            let has_out = outlet.is_busy(self.protocol.out());
            if is_said && !has_out {
                outlet.shut().await;
                return Ok(());
            }
            tokio::select! {
                done = over(&mut self.doing) => self.done(done),
                count = reader.read(&mut bytes) => {
                    let count = count.map_err(|error| self.protocol.closed(lost(&error)))?;
                    if count == 0 {
                        return Ok(());
                    }
                    if is_said {
                        // Nothing is acknowledged after that.
                        continue;
                    }
                    let now = Instant::now();
                    for said in self.protocol.receive(&bytes[..count], now)? {
                        match said {
                            SessionEvent::Message(message) => self.take(message, now),
                            SessionEvent::PublishRefused(_) => self.drop_one("not-taken"),
                            SessionEvent::Connected | SessionEvent::Subscribed(_) => {}
                        }
                    }
                }
                count = outlet.push(self.protocol.out()), if has_out => {
                    let count = count.map_err(|error| self.protocol.closed(lost(&error)))?;
                    self.protocol.sent_bytes(count, Instant::now());
                }
                () = sleep_until(last_answer), if self.doing.is_some() => self.doing = None,
            }
        }
    }

    fn drop_one(&mut self, reason: &'static str) {
        self.drop_many(reason, 1);
    }

    fn drop_many(&mut self, reason: &'static str, count: u64) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let dropped = self.dropped.entry(reason).or_default();
        *dropped = dropped.saturating_add(count);
        self.report_at
            .get_or_insert_with(|| Instant::now() + REPORT_EVERY);
    }

    fn complaint(&mut self, complaint: String) -> Brokered {
        // The same may be wrong with every message.
        if self.complaints.is_new(&complaint) {
            tracing::warn!(complaint, "MQTT");
        }
        Brokered::Complaint(complaint)
    }

    async fn tell_device(&mut self, news: Brokered) -> Result<(), ProtocolEnd> {
        let told = self.context.inbox.send(Input::Brokered(news)).await;
        told.map_err(|stopped: Stopped| ProtocolEnd::Because(stopped.to_string()))
    }
}

/// Tells whether a broker is another one than a broker that was spoken to.
fn is_elsewhere(next: &Broker, before: &Broker) -> bool {
    (&next.host, next.port) != (&before.host, before.port)
}

fn lost(error: &std::io::Error) -> String {
    format!("the connection was lost: {}", error.kind())
}
