//! The main loop: the only place with a [`Device`].
//!
//! It takes what waits in the inbox, lets the device handle it, stores what changed, publishes the levels, answers,
//! and then starts the effects.
//!
//! **Invariant:** a change is durable and visible before it is acknowledged.

pub mod channels;
pub mod pending_save;

use std::{future::pending, io, sync::Arc, time::Duration};

use board::moments::until;
use chain::{BlockHash, chain::Chain, network::Network};
use device::{
    board::BoardSpec,
    device::Device,
    input::{Finished, Input},
    memory::Memory,
    output::{Effect, Unsaved},
    request::{Refusal, Reply},
    settings::{Settings, store},
};
use market::{ChainSpec, now::Now};
use runtime::{
    clock::{Clock, Wall},
    inbox::{INBOX_DEPTH, InboxMessage, Stopped},
    tasks::Stop,
};
use storage::keeper::StoreHandle;
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::{Instant, sleep_until},
};

use self::{
    channels::{LoopReceivers, LoopSenders},
    pending_save::{Due, PendingSave},
};
use crate::{chain_file, truth_log::TruthLog};

/// Questions after the loop that may wait.
const ASKS_DEPTH: usize = 1;

/// Most effects in the queue to their tasks.
const EFFECTS_DEPTH: usize = 16;

/// Least time between two ticks: whatever the device asks for, the loop does not spin.
const TICK_MIN: Duration = Duration::from_millis(1);

/// Least time between two frames of the lights. A flash of the frontlight has a step every 2 ms; each frame is a wake,
/// and 66 of them a second look the same.
const FRAME_MIN: Duration = Duration::from_millis(15);

/// The state that the device starts with.
#[derive(Debug)]
pub struct InitialState {
    /// The board.
    pub board: BoardSpec,
    /// The settings that were stored.
    pub settings: Settings,
    /// What it remembers.
    pub memory: Memory,
    /// Inputs that are handled before the first request.
    pub said: Vec<Input>,
    /// Why nothing can be stored, in words for people; none if something can.
    pub unstored: Option<String>,
    /// The chain of the heights. `None` in a demo, which invents them.
    pub chain: Option<ChainSpec>,
    /// Its headers that were stored; none if it begins with what is taken for granted.
    pub headers: Option<Chain>,
}

impl InitialState {
    /// A device with settings of which nothing else is known.
    pub fn with(board: BoardSpec, settings: Settings) -> InitialState {
        InitialState {
            board,
            settings,
            memory: Memory::default(),
            said: Vec::new(),
            unstored: None,
            chain: Some(ChainSpec::built_in(Network::default())),
            headers: None,
        }
    }
}

/// Asks the loop whether it still comes round; the device never hears of it.
#[derive(Debug, Clone)]
pub struct Rounds {
    asks: mpsc::Sender<oneshot::Sender<u64>>,
}

impl Rounds {
    /// Waits until the loop comes round; tells how often it had something to do so far.
    ///
    /// # Errors
    /// The device has stopped.
    pub async fn next(&self) -> Result<u64, Stopped> {
        let (answer, told) = oneshot::channel();
        self.asks.send(answer).await.map_err(|_| Stopped)?;
        told.await.map_err(|_| Stopped)
    }
}

/// The loop, ready to run.
pub struct MainLoop {
    device: Device,
    clock: Clock,
    wall: watch::Receiver<Wall>,
    inputs: mpsc::Receiver<InboxMessage>,
    keeper: StoreHandle,
    levels: LoopSenders,
    effects: mpsc::Sender<Effect>,
    asks: mpsc::Receiver<oneshot::Sender<u64>>,
    /// How often there was something to do.
    rounds: u64,
    memory: PendingSave,
    truth_log: TruthLog,
    /// The chain of the stored headers.
    chain: Option<ChainSpec>,
    headers: PendingSave,
    /// Newest block of the chain that is stored, or about to be.
    kept_tip: Option<BlockHash>,
    /// Whoever waits for the end of the wipe.
    wiping: Vec<PendingReply>,
    /// What came of the beginning.
    begun: Option<Round>,
}

/// What came of the inputs of one round.
struct Round {
    /// The settings before it.
    before: Arc<Settings>,
    unsaved: Unsaved,
    pending: Vec<PendingReply>,
}

/// A reply that waits until the change behind it is stored and visible.
struct PendingReply {
    answer: Option<oneshot::Sender<Reply>>,
    reply: Option<Reply>,
    effects: Vec<Effect>,
    changed_settings: bool,
}

impl PendingReply {
    /// Refuses what was asked for. Its effects are those of what was due meanwhile: no request that changes settings has
    /// any of its own.
    fn refuse(&mut self, refusal: Refusal) {
        if self.reply.is_some() {
            self.reply = Some(Reply::Refused(refusal));
        }
    }

    fn answer(&mut self) {
        if let (Some(answer), Some(reply)) = (self.answer.take(), self.reply.take()) {
            // Whoever asked may have gone away.
            let _ = answer.send(reply);
        }
    }
}

impl Round {
    fn of(device: &Device, inputs: usize) -> Round {
        Round {
            before: Arc::clone(device.settings()),
            unsaved: Unsaved::default(),
            pending: Vec::with_capacity(inputs),
        }
    }

    fn handle(&mut self, device: &mut Device, message: InboxMessage, now: Now) {
        let output = device.handle(message.input, now);
        self.unsaved.settings |= output.unsaved.settings;
        self.unsaved.memory |= output.unsaved.memory;
        self.pending.push(PendingReply {
            answer: message.answer,
            reply: output.reply,
            effects: output.effects,
            changed_settings: output.unsaved.settings,
        });
    }
}

impl MainLoop {
    /// Makes the device and its loop; the levels hold what it wants from the start.
    pub fn new(
        beginning: InitialState,
        clock: Clock,
        inputs: mpsc::Receiver<InboxMessage>,
        keeper: StoreHandle,
    ) -> (MainLoop, LoopReceivers) {
        let InitialState {
            board,
            settings,
            memory,
            said,
            unstored,
            chain,
            headers,
        } = beginning;
        let device = Device::on_chain(chain, board, settings, memory, clock.now());
        let mut device = device.with_headers(headers);
        device.stored(unstored.map_or(Ok(()), Err));
        let mut begun = Round::of(&device, said.len());
        for input in said {
            begun.handle(&mut device, InboxMessage::of(input), clock.now());
        }
        let levels = LoopSenders::of(&device);
        let (effects, performed) = mpsc::channel(EFFECTS_DEPTH);
        let (asking, asks) = mpsc::channel(ASKS_DEPTH);
        let followed = LoopReceivers {
            picture: levels.picture.subscribe(),
            strip: levels.strip.subscribe(),
            frontlight: levels.frontlight.subscribe(),
            sources: levels.sources.subscribe(),
            advert: levels.advert.subscribe(),
            wifi: levels.wifi.subscribe(),
            mqtt: levels.mqtt.subscribe(),
            releases: levels.releases.subscribe(),
            view: levels.view.subscribe(),
            effects: performed,
            rounds: Rounds { asks: asking },
        };
        let main_loop = MainLoop {
            wall: clock.steps(),
            kept_tip: tip(&device),
            device,
            clock,
            inputs,
            keeper,
            levels,
            effects,
            asks,
            rounds: 0,
            memory: PendingSave::default(),
            truth_log: TruthLog::default(),
            chain,
            headers: PendingSave::default(),
            wiping: Vec::new(),
            begun: Some(begun),
        };
        (main_loop, followed)
    }

    /// Runs until it is stopped or all senders of inputs are gone; saves the memory at the end.
    pub async fn run(mut self, mut stop: Stop) {
        let mut batch = Vec::new();
        if let Some(begun) = self.begun.take() {
            self.conclude(begun).await;
        }
        loop {
            let save_at = self.save_at();
            tokio::select! {
                biased;
                () = stop.stopped() => break,
                Some(asked) = self.asks.recv() => {
                    // Whoever asked may have gone away.
                    let _ = asked.send(self.rounds);
                    continue;
                }
                more = Self::fill(&mut batch, &mut self.inputs) => if !more {
                    break;
                },
                _ = self.wall.changed() => batch.push(tick()),
                outcome = self.memory.saved() => self.memory_saved(outcome),
                outcome = self.headers.saved() => self.headers_saved(outcome),
                () = play_until_due(&mut self.device, &self.clock, &self.levels) => batch.push(tick()),
                () = until(save_at) => {}
            }
            self.round(&mut batch).await;
        }
        self.save_memory(Due::AtTheEnd).await;
        self.save_headers(Due::AtTheEnd).await;
        if self.memory.saving.is_some() {
            let outcome = self.memory.saved().await;
            self.memory_saved(outcome);
        }
        if self.headers.saving.is_some() {
            let outcome = self.headers.saved().await;
            self.headers_saved(outcome);
        }
    }

    /// Takes all messages that wait, at least one; tells whether there can be more.
    async fn fill(
        batch: &mut Vec<InboxMessage>,
        inputs: &mut mpsc::Receiver<InboxMessage>,
    ) -> bool {
        inputs.recv_many(batch, INBOX_DEPTH).await > 0
    }

    async fn round(&mut self, batch: &mut Vec<InboxMessage>) {
        let mut round = Round::of(&self.device, batch.len() + 1);
        // Behind a full inbox the edge of a button may wait that happened before what is due.
        let drained = batch.len() < INBOX_DEPTH;
        for message in batch.drain(..) {
            if let Some(is_wiped) = wipe_ended(&message.input) {
                round.pending.append(&mut self.after_wipe(is_wiped).await);
            }
            round.handle(&mut self.device, message, self.clock.now());
        }
        if drained && self.is_due() {
            round.handle(&mut self.device, tick(), self.clock.now());
        }
        self.conclude(round).await;
        self.rounds += 1;
    }

    /// Stores what has changed, publishes the levels, answers, and starts the effects.
    async fn conclude(&mut self, round: Round) {
        let Round {
            before,
            unsaved,
            mut pending,
        } = round;
        if unsaved.settings {
            self.store_settings(before, &mut pending).await;
        }
        if unsaved.memory {
            self.memory.since.get_or_insert_with(Instant::now);
        }
        if tip(&self.device) != self.kept_tip {
            self.headers.since.get_or_insert_with(Instant::now);
        }
        self.levels.publish(&self.device);
        self.truth_log.follow(&self.levels.view.borrow().truth);
        self.save_memory(Due::InTime).await;
        self.save_headers(Due::InTime).await;
        for mut pending in pending {
            let effects = std::mem::take(&mut pending.effects);
            if effects.contains(&Effect::Wipe) {
                self.wiping.push(pending);
            } else {
                pending.answer();
            }
            for effect in effects {
                // An error means that the device is stopping and the effect is no longer needed.
                let _ = self.effects.send(effect).await;
            }
        }
    }

    /// Tells whether the device waits for a tick.
    fn is_due(&self) -> bool {
        let now = self.clock.now();
        let deadline = self.device.next_deadline(now);
        deadline.is_some_and(|at| at <= now.uptime)
    }

    /// Saves changed settings. If that fails, reverts the change and reports the error to the client.
    async fn store_settings(&mut self, before: Arc<Settings>, pending: &mut [PendingReply]) {
        let refusal = if self.device.is_erasing() {
            Refusal::Erasing
        } else {
            let now = self.device.settings();
            let stored = store::to_json(now);
            let outcome = if is_safer(&before, now) {
                self.keeper.replace_settings(stored).await
            } else {
                self.keeper.save_settings(stored).await
            };
            self.tell_stored(&outcome);
            let Err(error) = outcome else { return };
            tracing::error!(%error, "settings were not saved, the change is taken back");
            Refusal::NotStored
        };
        self.device.restore(before, self.clock.now());
        for pending in pending
            .iter_mut()
            .filter(|pending| pending.changed_settings)
        {
            pending.refuse(refusal);
        }
    }

    /// Whoever asked for the wipe that has ended, with their answers; what is not gone is stored as it was.
    async fn after_wipe(&mut self, is_wiped: bool) -> Vec<PendingReply> {
        let mut waiting = std::mem::take(&mut self.wiping);
        if !is_wiped {
            let settings = store::to_json(self.device.settings());
            let outcome = self.keeper.replace_settings(settings).await;
            self.tell_stored(&outcome);
            self.memory.since.get_or_insert_with(Instant::now);
            self.kept_tip = None;
            for pending in &mut waiting {
                pending.refuse(Refusal::NotErased);
            }
        }
        waiting
    }

    /// Saves the memory if it is due, or if it differs at all and this is the end.
    async fn save_memory(&mut self, due: Due) {
        if self.device.is_erasing() || !self.memory.is_due(due) {
            return;
        }
        self.memory.since = None;
        self.memory.saved = Some(Instant::now());
        let memory = self.device.memory().to_json(self.clock.now());
        self.memory.saving = Some(self.keeper.begin_memory(memory).await);
    }

    /// Takes note of how a save of the memory has ended.
    fn memory_saved(&mut self, outcome: io::Result<()>) {
        self.memory.ended(&outcome);
        if let Err(error) = &outcome {
            tracing::warn!(%error, "memory was not saved");
        }
        self.tell_stored(&outcome);
    }

    /// Saves the headers that are kept, as the memory is saved.
    async fn save_headers(&mut self, due: Due) {
        if self.device.is_erasing() || !self.headers.is_due(due) {
            return;
        }
        let Some((spec, chain)) = self.chain.as_ref().zip(self.device.chain()) else {
            return;
        };
        let (about, bytes) = (chain_file::about(spec, chain), chain_file::headers(chain));
        self.kept_tip = tip(&self.device);
        self.headers.since = None;
        self.headers.saved = Some(Instant::now());
        self.headers.saving = Some(self.keeper.begin_chain(about, bytes).await);
    }

    /// Handles the result of a save of headers; missing headers are fetched again.
    fn headers_saved(&mut self, outcome: io::Result<()>) {
        self.headers.ended(&outcome);
        if let Err(error) = &outcome {
            tracing::warn!(%error, "the headers of the chain were not saved");
        }
        self.tell_stored(&outcome);
    }

    fn tell_stored(&mut self, outcome: &io::Result<()>) {
        let outcome = outcome.as_ref().map_err(ToString::to_string);
        self.device.stored(outcome.copied());
    }

    /// When to save memory or headers; none if they are saved, or about to be wiped.
    fn save_at(&self) -> Option<Instant> {
        let due = [self.memory.due(), self.headers.due()];
        let first = due.into_iter().flatten().min();
        first.filter(|_| !self.device.is_erasing())
    }
}

/// Waits until the device needs a tick; never returns if only inputs can change it. Meanwhile the lights play: their
/// frames change nothing else, so they need no round.
async fn play_until_due(device: &mut Device, clock: &Clock, levels: &LoopSenders) {
    let mut frame_at = None;
    loop {
        let now = clock.now();
        let Some(deadline) = device.next_deadline(now) else {
            return pending().await;
        };
        if frame_at.is_some() && deadline <= now.uptime {
            return;
        }
        let due_at = clock.instant(deadline).max(Instant::now() + TICK_MIN);
        if device.next_frame(now) != Some(deadline) {
            return sleep_until(due_at).await;
        }
        let at = frame_at.map_or(due_at, |frame_at: Instant| due_at.max(frame_at + FRAME_MIN));
        sleep_until(at).await;
        device.show_frame(clock.now());
        levels.publish_lights(device);
        frame_at = Some(at);
    }
}

/// Newest block of the chain that is kept.
fn tip(device: &Device) -> Option<BlockHash> {
    device.chain().map(Chain::tip)
}

fn tick() -> InboxMessage {
    InboxMessage::of(Input::Tick)
}

/// Whether everything is gone; none if the input does not tell.
fn wipe_ended(input: &Input) -> Option<bool> {
    let Input::Finished(Finished::Wiped(outcome)) = input else {
        return None;
    };
    Some(outcome.is_ok())
}

/// Whether older generations of the settings would let a client in that the change keeps out.
fn is_safer(before: &Settings, after: &Settings) -> bool {
    let doors = |settings: &Settings| {
        (
            settings.http_auth_enabled,
            settings.http_auth_user.clone(),
            settings.http_auth_pass.clone(),
            settings.ota_pass.clone(),
        )
    };
    doors(before) != doors(after)
}

#[cfg(test)]
impl Rounds {
    /// Those of a loop that is made by hand, and what is asked of it.
    pub(crate) fn by_hand() -> (Rounds, mpsc::Receiver<oneshot::Sender<u64>>) {
        let (asks, asked) = mpsc::channel(1);
        (Rounds { asks }, asked)
    }
}
