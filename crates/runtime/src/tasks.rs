//! Named tasks that are joined by their owner, and the signal to stop.

#![expect(
    clippy::disallowed_types,
    reason = "this is where tasks get their names"
)]

use std::{borrow::Cow, collections::BTreeMap, future::Future, pin::Pin, time::Duration};

use tokio::{
    sync::watch,
    task::{Id, JoinError, JoinSet},
    time::timeout,
};

/// The tasks of one owner; dropping it ends them all.
#[derive(Debug, Default)]
pub struct Tasks {
    set: JoinSet<()>,
    names: BTreeMap<Id, Cow<'static, str>>,
}

/// How a task ended.
#[derive(Debug, PartialEq, Eq)]
pub struct TaskExit {
    pub name: Cow<'static, str>,
    /// It panicked; otherwise it returned or was stopped.
    pub panicked: bool,
}

impl TaskExit {
    /// Logs a panic of the task, if there was one.
    pub fn log_panic(&self) {
        if self.panicked {
            tracing::error!(task = %self.name, "task panicked");
        }
    }
}

impl Tasks {
    /// No tasks yet.
    pub fn new() -> Tasks {
        Tasks::default()
    }

    pub fn spawn(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        task: impl Future<Output = ()> + Send + 'static,
    ) {
        // Boxed, because the runtime would be compiled again for each type of future.
        let task: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(task);
        let id = self.set.spawn(task).id();
        self.names.insert(id, name.into());
    }

    /// Number of tasks that were started and not yet joined.
    pub fn len(&self) -> usize {
        self.set.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// Waits until a task ends and joins it. `None` if there are no tasks.
    pub async fn ended(&mut self) -> Option<TaskExit> {
        let joined = self.set.join_next_with_id().await?;
        Some(self.note(joined))
    }

    /// Gives the tasks a grace period to end by themselves, then aborts the rest and joins all.
    ///
    /// Returns the names of the aborted tasks.
    pub async fn stop(mut self, grace: Duration) -> Vec<Cow<'static, str>> {
        let all = async {
            while let Some(ended) = self.ended().await {
                ended.log_panic();
            }
        };
        if timeout(grace, all).await.is_ok() {
            return Vec::new();
        }
        self.abort().await
    }

    /// Aborts and joins all tasks; returns their names.
    pub async fn abort(mut self) -> Vec<Cow<'static, str>> {
        self.set.abort_all();
        let mut stopped = Vec::new();
        while let Some(ended) = self.ended().await {
            ended.log_panic();
            stopped.push(ended.name);
        }
        stopped
    }

    fn note(&mut self, joined: Result<(Id, ()), JoinError>) -> TaskExit {
        let (id, panicked) = match joined {
            Ok((id, ())) => (id, false),
            Err(error) => (error.id(), error.is_panic()),
        };
        let name = self.names.remove(&id).unwrap_or_default();
        TaskExit { name, panicked }
    }
}

/// Sends the stop signal.
#[derive(Debug)]
pub struct Stopper {
    signal: watch::Sender<bool>,
}

/// Receives the stop signal; clones receive the same one.
#[derive(Debug, Clone)]
pub struct Stop {
    signal: watch::Receiver<bool>,
}

pub fn stop_signal() -> (Stopper, Stop) {
    let (sender, receiver) = watch::channel(false);
    (Stopper { signal: sender }, Stop { signal: receiver })
}

impl Stopper {
    /// Sends the signal.
    pub fn stop(&self) {
        self.signal.send_replace(true);
    }
}

impl Stop {
    /// Waits for the signal; a lost sender counts as one.
    pub async fn stopped(&mut self) {
        // An error means that the sender is gone; nothing could send the signal any more.
        let _ = self.signal.wait_for(|stop| *stop).await;
    }

    /// The raw receiver.
    pub fn signal(&self) -> watch::Receiver<bool> {
        self.signal.clone()
    }

    /// Returns whether the signal was sent.
    pub fn is_stopped(&self) -> bool {
        *self.signal.borrow()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn ended_tasks_are_reported_by_name() {
        let mut tasks = Tasks::new();
        tasks.spawn("fine", async {});
        assert_eq!(
            tasks.ended().await,
            Some(TaskExit {
                name: "fine".into(),
                panicked: false
            })
        );
        tasks.spawn("broken", async { panic!("on purpose") });
        assert_eq!(
            tasks.ended().await,
            Some(TaskExit {
                name: "broken".into(),
                panicked: true
            })
        );
        assert_eq!(tasks.ended().await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn tasks_that_do_not_stop_are_aborted() {
        let (stopper, stop) = stop_signal();
        let mut tasks = Tasks::new();
        let mut polite = stop.clone();
        tasks.spawn("polite", async move { polite.stopped().await });
        tasks.spawn("deaf", std::future::pending());
        stopper.stop();
        assert!(stop.is_stopped());
        assert_eq!(tasks.stop(Duration::from_secs(1)).await, ["deaf"]);
    }

    #[tokio::test(start_paused = true)]
    async fn aborted_tasks_are_joined_and_reported_by_name() {
        let (left, joined) = tokio::sync::oneshot::channel::<()>();
        let mut tasks = Tasks::new();
        tasks.spawn("busy", async move {
            std::future::pending::<()>().await;
            drop(left);
        });
        tokio::task::yield_now().await;
        assert_eq!(tasks.abort().await, ["busy"]);
        assert!(joined.now_or_never().is_some_and(|left| left.is_err()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_dropped_stopper_stops() {
        let (stopper, mut stop) = stop_signal();
        drop(stopper);
        stop.stopped().await;
    }
}
