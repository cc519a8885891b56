//! How tasks are started, and what becomes of one that panics or ends although it should go on.
//!
//! | a task that | starts with | and when it panics |
//! |---|---|---|
//! | handles one tenant's input for as long as there is some | [`restarted`] | that is reported, and it starts again after a growing pause |
//! | handles one piece of such input in the background | [`concluded`] | that is its result |
//! | computes what is awaited | [`isolated`], [`blocking`]; [`caught`] without a task | that is its result |
//! | reads a large text at once, beside other tasks | [`in_place::read`] | that of the task that reads |
//! | serves one caller | [`contained`] | that is logged, and the caller's connection ends |
//!
//! What the whole process shares (an accept loop, a watch, a controller) is a critical task of
//! `olm_kit::tasks::Tasks`: the process ends with the cause. Nothing else starts tasks; `cargo xtask
//! tidy` checks that. All of them run on the few threads of a [`runtime()`].

pub mod in_place;
mod restarted;
mod runtime;

use std::any::Any;
use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use tokio::task::{AbortHandle, JoinError};

pub use restarted::{Cause, Pauses, Restart, restarted};
pub use runtime::runtime;

/// Characters of a panic's message that are kept.
pub const MESSAGE: usize = 500;

/// A panic, with its message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("panicked: {0}")]
pub struct Panicked(pub String);

/// A task that ends when this is dropped.
#[derive(Debug)]
#[must_use = "the task ends when this is dropped"]
pub struct Task(AbortHandle);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Starts work in a task of its own; what is returned waits for its result. The work goes on when that
/// is dropped.
pub fn isolated<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> impl Future<Output = Result<T, Panicked>> + Send {
    let running = tokio::spawn(work);
    async move { running.await.map_err(Panicked::from) }
}

/// Starts work that takes a processor on a thread of its own; what is returned waits for its result.
pub fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = Result<T, Panicked>> + Send {
    let running = tokio::task::spawn_blocking(work);
    async move { running.await.map_err(Panicked::from) }
}

/// Starts work in the background; `conclude` gets its result, or how it panicked.
pub fn concluded<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
    conclude: impl FnOnce(Result<T, Panicked>) + Send + 'static,
) {
    tokio::spawn(async move { conclude(caught(work).await) });
}

/// Starts work that concerns one caller; a panic is logged under this name.
pub fn contained(name: &'static str, work: impl Future<Output = ()> + Send + 'static) {
    concluded(work, move |ended| {
        if let Err(error) = ended {
            tracing::error!(task = name, %error, "a task ended early");
        }
    });
}

/// The text of a panic's payload, cut after [`MESSAGE`] characters: it stands in statuses.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").chars().take(MESSAGE).collect()
}

/// Does work in the task that asks for it; a panic is its result.
///
/// # Errors
/// The panic.
pub async fn caught<T>(work: impl Future<Output = T>) -> Result<T, Panicked> {
    let ended = AssertUnwindSafe(work).catch_unwind().await;
    ended.map_err(|panic| Panicked(panic_message(&*panic)))
}

impl From<JoinError> for Panicked {
    fn from(error: JoinError) -> Self {
        match error.try_into_panic() {
            Ok(panic) => Self(panic_message(&*panic)),
            Err(error) => Self(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn a_panic_is_the_result_of_what_is_awaited() {
        let panicked = Err(Panicked("no entry 7".to_owned()));
        assert_eq!(isolated(async { 1 }).await, Ok(1));
        assert_eq!(isolated::<()>(async { panic!("no entry {}", 7) }).await, panicked);
        assert_eq!(blocking(|| 1).await, Ok(1));
        assert_eq!(blocking::<()>(|| panic!("no entry 7")).await, panicked);
    }

    #[tokio::test]
    async fn work_in_the_background_is_concluded_when_it_panics_too() {
        for (fails, expected) in [(false, Ok(7)), (true, Err(Panicked("broken".to_owned())))] {
            let (sender, ended) = oneshot::channel();
            let work = async move { if fails { panic!("broken") } else { 7 } };
            concluded(work, move |result| sender.send(result).unwrap());
            assert_eq!(ended.await.unwrap(), expected);
        }
    }

    #[tokio::test]
    async fn a_contained_panic_ends_one_task_only() {
        let (sender, ended) = oneshot::channel::<()>();
        contained("connection", async move {
            let _open = sender;
            panic!("broken");
        });
        assert!(ended.await.is_err(), "the task ended");
        assert_eq!(isolated(async { 1 }).await, Ok(1));
    }
}
