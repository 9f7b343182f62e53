//! The main loop: the only place with a [`Device`].
//!
//! Each round takes all messages from the inbox, lets the device handle them, saves changed settings, publishes the new
//! outputs, sends the replies, and then starts the effects.
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
    displays::Display,
    history::History,
    input::{Finished, Input},
    memory::Memory,
    output::{Effect, Unsaved},
    request::{Refusal, Reply},
    settings::{Settings, store},
};
use market::{ChainSpec, HeadersReply, now::Now};
use runtime::{
    clock::{Clock, Wall},
    inbox::{INBOX_DEPTH, InboxMessage, ReplyChannel, Stopped},
    tasks::Stop,
};
use serde_json::{Map, Value};
use storage::{StoredFile, store_thread::StoreHandle};
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::{Instant, sleep_until},
};

use self::{
    channels::{LoopReceivers, LoopSenders},
    pending_save::{PendingSaves, SaveTrigger},
};
use crate::{chain_file, truth_log::TruthLog};

/// Most queued liveness probes.
const PROBES_MAX: usize = 1;

/// Most queued effects.
const EFFECTS_MAX: usize = 16;

/// Shortest time between two ticks, so that the loop never spins.
const TICK_MIN: Duration = Duration::from_millis(1);

/// Shortest time between two frames of the lights. A flash of the frontlight has a step every 2 ms, and each frame wakes
/// the process; 66 frames per second look the same.
const FRAME_MIN: Duration = Duration::from_millis(15);

/// The state that the device starts with.
#[derive(Debug)]
pub struct InitialState {
    pub board: BoardSpec,
    /// The stored settings.
    pub settings: Settings,
    /// The stored memory.
    pub memory: Memory,
    /// The stored values.
    pub history: History,
    /// Inputs to handle before the first request.
    pub inputs: Vec<Input>,
    /// Why the data folder is not writable, as a text for people. `None` if it is.
    pub storage_error: Option<String>,
    /// The chain of the heights. `None` in a demo, which invents them.
    pub chain: Option<ChainSpec>,
    /// The stored headers of the chain. `None` to start at the built-in anchor.
    pub headers: Option<Chain>,
}

impl InitialState {
    /// A device with these settings and an empty memory.
    pub fn with(board: BoardSpec, settings: Settings) -> InitialState {
        InitialState {
            board,
            settings,
            memory: Memory::default(),
            history: History::default(),
            inputs: Vec::new(),
            storage_error: None,
            chain: Some(ChainSpec::built_in(Network::default())),
            headers: None,
        }
    }
}

/// Checks that the main loop is running. Probes are no inputs of the device.
#[derive(Debug, Clone)]
pub struct LivenessProbe {
    probes: mpsc::Sender<oneshot::Sender<u64>>,
}

impl LivenessProbe {
    /// Waits until the loop answers; returns the number of rounds so far.
    ///
    /// # Errors
    /// The device has stopped.
    pub async fn rounds(&self) -> Result<u64, Stopped> {
        let (reply, rounds) = oneshot::channel();
        self.probes.send(reply).await.map_err(|_| Stopped)?;
        rounds.await.map_err(|_| Stopped)
    }
}

/// The loop, ready to run.
pub struct MainLoop {
    device: Device,
    clock: Clock,
    wall: watch::Receiver<Wall>,
    inputs: mpsc::Receiver<InboxMessage>,
    store: StoreHandle,
    senders: LoopSenders,
    effects: mpsc::Sender<Effect>,
    probes: mpsc::Receiver<oneshot::Sender<u64>>,
    /// Number of rounds so far.
    rounds: u64,
    saves: PendingSaves,
    truth_log: TruthLog,
    /// The chain of the stored headers.
    chain: Option<ChainSpec>,
    /// Newest block of the saved chain, or of the save in progress.
    saved_tip: Option<BlockHash>,
    /// Replies to send when the wipe has ended.
    wipe_replies: Vec<PendingReply>,
    /// The outputs for the initial inputs, until the loop runs.
    first_round: Option<Round>,
}

/// The outputs of the device in one round of the loop.
struct Round {
    /// The settings before the round.
    before: Arc<Settings>,
    unsaved: Unsaved,
    pending: Vec<PendingReply>,
}

/// A reply that is sent after the change is saved and published.
struct PendingReply {
    reply_to: ReplyChannel,
    reply: Option<Reply>,
    headers: Option<HeadersReply>,
    effects: Vec<Effect>,
    changed_settings: bool,
}

impl PendingReply {
    /// Replaces the reply by a refusal. The effects stay: they come from timers, because no request that changes settings
    /// has effects.
    fn refuse(&mut self, refusal: Refusal) {
        if self.reply.is_some() {
            self.reply = Some(Err(refusal));
        }
    }

    fn send(self) {
        self.reply_to.send(self.reply, self.headers);
    }
}

impl Round {
    fn new(device: &Device, inputs: usize) -> Round {
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
        self.unsaved.history |= output.unsaved.history;
        self.pending.push(PendingReply {
            reply_to: message.reply_to,
            reply: output.reply,
            headers: output.headers,
            effects: output.effects,
            changed_settings: output.unsaved.settings,
        });
    }
}

impl MainLoop {
    /// Makes the device and its loop. The receivers hold the first outputs already.
    pub fn new(
        initial: InitialState,
        clock: Clock,
        inputs: mpsc::Receiver<InboxMessage>,
        store: StoreHandle,
    ) -> (MainLoop, LoopReceivers) {
        let InitialState {
            board,
            settings,
            memory,
            history,
            inputs: initial_inputs,
            storage_error,
            chain,
            headers,
        } = initial;
        let device = Device::on_chain(chain, board, settings, memory, clock.now());
        let mut device = device.with_headers(headers).with_history(history);
        device.stored(storage_error.map_or(Ok(()), Err));
        let mut first_round = Round::new(&device, initial_inputs.len());
        for input in initial_inputs {
            first_round.handle(&mut device, InboxMessage::of(input), clock.now());
        }
        let senders = LoopSenders::new(&device);
        let (effects, effects_receiver) = mpsc::channel(EFFECTS_MAX);
        let (probe_sender, probes) = mpsc::channel(PROBES_MAX);
        let receivers = LoopReceivers {
            picture: senders.picture.subscribe(),
            strip: senders.strip.subscribe(),
            frontlight: senders.frontlight.subscribe(),
            sources: senders.sources.subscribe(),
            advert: senders.advert.subscribe(),
            wifi: senders.wifi.subscribe(),
            mqtt: senders.mqtt.subscribe(),
            releases: senders.releases.subscribe(),
            view: senders.view.subscribe(),
            effects: effects_receiver,
            liveness: LivenessProbe {
                probes: probe_sender,
            },
        };
        let main_loop = MainLoop {
            wall: clock.steps(),
            saved_tip: tip(&device),
            device,
            clock,
            inputs,
            store,
            senders,
            effects,
            probes,
            rounds: 0,
            saves: PendingSaves::new(),
            truth_log: TruthLog::default(),
            chain,
            wipe_replies: Vec::new(),
            first_round: Some(first_round),
        };
        (main_loop, receivers)
    }

    /// Runs until it is stopped or all senders of inputs are dropped, then saves what is not saved yet.
    pub async fn run(mut self, mut stop: Stop) {
        let mut batch = Vec::new();
        if let Some(round) = self.first_round.take() {
            self.finish_round(round).await;
        }
        loop {
            let save_at = self.save_at();
            tokio::select! {
                biased;
                () = stop.stopped() => break,
                Some(reply) = self.probes.recv() => {
                    // Fails if the caller does not wait any more.
                    let _ = reply.send(self.rounds);
                    continue;
                }
                is_open = Self::receive(&mut batch, &mut self.inputs) => if !is_open {
                    break;
                },
                _ = self.wall.changed() => batch.push(tick()),
                (file, result) = self.saves.finished() => self.saved(file, &result),
                () = play_until_due(&mut self.device, &self.clock, &self.senders) => batch.push(tick()),
                () = until(save_at) => {}
            }
            self.round(&mut batch).await;
        }
        self.save(SaveTrigger::Shutdown).await;
        while self.saves.is_writing() {
            let (file, result) = self.saves.finished().await;
            self.saved(file, &result);
        }
    }

    /// Receives all queued messages, waiting for the first one. Returns false if the channel is closed.
    async fn receive(
        batch: &mut Vec<InboxMessage>,
        inputs: &mut mpsc::Receiver<InboxMessage>,
    ) -> bool {
        inputs.recv_many(batch, INBOX_DEPTH).await > 0
    }

    async fn round(&mut self, batch: &mut Vec<InboxMessage>) {
        let mut round = Round::new(&self.device, batch.len() + 1);
        // If the inbox was full, older messages may still be queued, such as a button press before the deadline.
        let is_drained = batch.len() < INBOX_DEPTH;
        for message in batch.drain(..) {
            if let Some(is_wiped) = wipe_result(&message.input) {
                round.pending.append(&mut self.wipe_ended(is_wiped).await);
            }
            round.handle(&mut self.device, message, self.clock.now());
        }
        if is_drained && self.is_due() {
            round.handle(&mut self.device, tick(), self.clock.now());
        }
        self.finish_round(round).await;
        self.rounds += 1;
    }

    /// Saves changes, publishes the outputs, sends the replies, and starts the effects.
    async fn finish_round(&mut self, round: Round) {
        let Round {
            before,
            unsaved,
            mut pending,
        } = round;
        if unsaved.settings {
            self.store_settings(before, &mut pending).await;
        }
        for (has_changed, file) in [
            (unsaved.memory, StoredFile::Memory),
            (unsaved.history, StoredFile::History),
            (tip(&self.device) != self.saved_tip, StoredFile::Chain),
        ] {
            if has_changed {
                self.saves.mark_changed(file);
            }
        }
        self.senders.publish(&self.device);
        self.truth_log.update(&self.senders.view.borrow().truth);
        self.save(SaveTrigger::Scheduled).await;
        for mut pending in pending {
            let effects = std::mem::take(&mut pending.effects);
            if effects.contains(&Effect::Wipe) {
                self.wipe_replies.push(pending);
            } else {
                pending.send();
            }
            for effect in effects {
                // An error means that the device is stopping and the effect is no longer needed.
                let _ = self.effects.send(effect).await;
            }
        }
    }

    /// Whether the device needs a tick now.
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
            let json = store::to_json(now);
            let result = if changes_credentials(&before, now) {
                self.store.replace_settings(json).await
            } else {
                self.store.save_settings(json).await
            };
            self.report_storage(&result);
            let Err(error) = result else { return };
            tracing::error!(%error, "settings were not saved, the change is reverted");
            Refusal::NotStored
        };
        self.device.restore(before, self.clock.now());
        for pending in pending
            .iter_mut()
            .filter(|pending| pending.changed_settings)
        {
            pending.refuse(refusal.clone());
        }
    }

    /// Handles the end of a wipe; returns the replies that waited for it. After a failed wipe everything is saved again.
    async fn wipe_ended(&mut self, is_wiped: bool) -> Vec<PendingReply> {
        let mut replies = std::mem::take(&mut self.wipe_replies);
        if !is_wiped {
            let settings = store::to_json(self.device.settings());
            let result = self.store.replace_settings(settings).await;
            self.report_storage(&result);
            self.saves.mark_changed(StoredFile::Memory);
            self.saves.mark_changed(StoredFile::History);
            self.saved_tip = None;
            for pending in &mut replies {
                pending.refuse(Refusal::NotErased);
            }
        }
        replies
    }

    /// Saves the files that are due.
    async fn save(&mut self, trigger: SaveTrigger) {
        while let Some(file) = self.saves.due(trigger)
            && !self.device.is_erasing()
        {
            let write = match self.content(file) {
                Some(content) => Some(self.store.begin_save(file, content).await),
                None => None,
            };
            self.saves.started(file, write);
            if file == StoredFile::Chain {
                self.saved_tip = tip(&self.device);
            }
        }
    }

    /// The content of a file to save. `None` if there is none.
    fn content(&self, file: StoredFile) -> Option<Map<String, Value>> {
        match file {
            StoredFile::Settings => Some(store::to_json(self.device.settings())),
            StoredFile::Memory => Some(self.device.memory().to_json(self.clock.now())),
            StoredFile::History => Some(self.device.history().to_json(self.chain.as_ref())),
            StoredFile::Chain => {
                let (spec, chain) = self.chain.as_ref().zip(self.device.chain())?;
                Some(chain_file::content(spec, chain))
            }
        }
    }

    /// Handles the result of a save.
    fn saved(&mut self, file: StoredFile, result: &io::Result<()>) {
        if let Err(error) = result {
            tracing::warn!(%error, file = file.kind(), "a file was not saved");
        }
        self.report_storage(result);
    }

    /// Reports the result of a write to the device, which shows storage errors to the owner.
    fn report_storage(&mut self, result: &io::Result<()>) {
        let result = result.as_ref().map_err(ToString::to_string);
        self.device.stored(result.copied());
    }

    /// Time of the next save. `None` without changes, and during a wipe.
    fn save_at(&self) -> Option<Instant> {
        self.saves.due_at().filter(|_| !self.device.is_erasing())
    }
}

/// Waits until the device needs a tick; never returns if it has no deadline. Meanwhile it publishes the frames of the
/// lights, which need no round because they change nothing else.
async fn play_until_due(device: &mut Device, clock: &Clock, senders: &LoopSenders) {
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
        senders.publish_lights(device);
        frame_at = Some(at);
    }
}

/// Newest block of the chain.
fn tip(device: &Device) -> Option<BlockHash> {
    device.chain().map(Chain::tip)
}

fn tick() -> InboxMessage {
    InboxMessage::of(Input::Tick)
}

/// Whether a wipe has succeeded. `None` if the input does not report a wipe.
fn wipe_result(input: &Input) -> Option<bool> {
    let Input::Finished(Finished::Wiped(result)) = input else {
        return None;
    };
    Some(result.is_ok())
}

/// Whether a change affects passwords or removes a remote display. Older generations of the settings must be replaced
/// then, because they would let clients in with the old password or the token of the display.
fn changes_credentials(before: &Settings, after: &Settings) -> bool {
    let credentials = |settings: &Settings| {
        (
            settings.http_auth_enabled,
            settings.http_auth_user.clone(),
            settings.http_auth_pass.clone(),
            settings.ota_pass.clone(),
        )
    };
    let is_removed = |display: &Display| {
        let mut tokens = after.displays.iter().map(|display| display.token);
        tokens.all(|token| token != display.token)
    };
    credentials(before) != credentials(after) || before.displays.iter().any(is_removed)
}

#[cfg(test)]
impl LivenessProbe {
    /// A probe without a loop, and the receiver that answers it.
    pub(crate) fn manual() -> (LivenessProbe, mpsc::Receiver<oneshot::Sender<u64>>) {
        let (probes, receiver) = mpsc::channel(1);
        (LivenessProbe { probes }, receiver)
    }
}
