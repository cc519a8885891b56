//! The long-running tasks of a process.
//!
//! Every task of [`Tasks`] is critical: a watch, a controller or an accept loop that ends on its own
//! would leave a process that looks alive and does nothing, so the whole process ends with an error
//! that names the task. On shutdown the tasks get the same token cancelled and a bounded time to finish.
//!
//! Tasks that handle one tenant's input must not end the process of all: they start with the functions
//! of `olm-tasks`, which are here, too.

mod readiness;
#[cfg(test)]
mod tests;

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use parking_lot::Mutex;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use olm_tasks::{
    Cause, Panicked, Pauses, Restart, Task, blocking, concluded, contained, in_place, isolated,
    panic_message, restarted, runtime,
};
pub use readiness::{Gate, Readiness};

/// How long tasks may take to finish after a shutdown request; a Deployment's default grace
/// period is 30 s.
pub const DRAIN_TIMEOUT: Duration = Duration::from_secs(20);

/// Why the tasks ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TaskError {
    /// A task ended although nothing asked it to.
    #[error("task {name} ended unexpectedly")]
    Ended {
        /// Name of the task.
        name: String,
    },
    /// A task failed.
    #[error("task {name} failed: {message}")]
    Failed {
        /// Name of the task.
        name: String,
        /// The error, with its causes.
        message: String,
    },
    /// A task panicked.
    #[error("task {name} panicked: {message}")]
    Panicked {
        /// Name of the task.
        name: String,
        /// The panic's message.
        message: String,
    },
    /// Tasks were still running when the time for draining was over.
    #[error("{count} tasks were still running {DRAIN_TIMEOUT:?} after shutdown began")]
    StillRunning {
        /// How many.
        count: usize,
    },
}

/// A set of critical tasks with one shutdown token and one readiness. Clones share the set.
#[derive(Clone, Debug)]
pub struct Tasks {
    token: CancellationToken,
    tracker: TaskTracker,
    readiness: Readiness,
    failure: Arc<Mutex<Option<TaskError>>>,
}

impl Tasks {
    /// An empty set whose tasks drain when `token` is cancelled.
    pub fn new(token: CancellationToken) -> Self {
        Self {
            token,
            tracker: TaskTracker::new(),
            readiness: Readiness::new(),
            failure: Arc::new(Mutex::new(None)),
        }
    }

    /// The token that is cancelled when the process shall end.
    pub fn token(&self) -> CancellationToken {
        self.token.clone()
    }

    /// What has to be in place before the process is ready.
    pub fn readiness(&self) -> &Readiness {
        &self.readiness
    }

    /// Starts a task that runs until the token is cancelled.
    pub fn spawn(&self, name: &str, task: impl Future<Output = ()> + Send + 'static) {
        self.spawn_fallible(name, task.map(Ok::<(), std::convert::Infallible>));
    }

    /// Starts a task that may fail before the token is cancelled.
    pub fn spawn_fallible<E>(
        &self,
        name: &str,
        task: impl Future<Output = Result<(), E>> + Send + 'static,
    ) where
        E: std::error::Error + 'static,
    {
        let (tasks, name) = (self.clone(), name.to_owned());
        self.tracker.spawn(async move {
            let ended = AssertUnwindSafe(task).catch_unwind().await;
            tasks.conclude(name, ended.map(|result| result.map_err(|error| chain(&error))));
        });
    }

    /// Waits until the token is cancelled or a task ends, then drains the others.
    ///
    /// # Errors
    /// The first task that ended on its own, or that some did not finish in time.
    pub async fn wait(self) -> Result<(), TaskError> {
        self.token.cancelled().await;
        self.tracker.close();
        let drained = timeout(DRAIN_TIMEOUT, self.tracker.wait()).await;
        if let Some(error) = self.failure.lock().clone() {
            return Err(error);
        }
        drained.map_err(|_| TaskError::StillRunning { count: self.tracker.len() })
    }

    fn conclude(&self, name: String, ended: Result<Result<(), String>, Box<dyn Any + Send>>) {
        let error = match ended {
            Ok(Ok(())) if self.token.is_cancelled() => return,
            Ok(Ok(())) => TaskError::Ended { name },
            Ok(Err(message)) => TaskError::Failed { name, message },
            Err(panic) => TaskError::Panicked { name, message: panic_message(&*panic) },
        };
        tracing::error!(%error, "shutting down");
        self.failure.lock().get_or_insert(error);
        self.token.cancel();
    }
}

/// An error and its causes on one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        // Some libraries repeat their source in their own text.
        if !text.contains(&message) {
            text = format!("{text}: {message}");
        }
        cause = error.source();
    }
    text
}
