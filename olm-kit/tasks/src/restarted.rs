//! Tasks that start again.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::{Panicked, Task, caught, panic_message};

/// Pauses before a task starts again: each is twice as long as the one before. A task that ran for
/// longer than the longest pause begins with the first again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pauses {
    /// The first pause.
    pub first: Duration,
    /// The longest.
    pub longest: Duration,
}

impl Default for Pauses {
    /// From a second to a minute.
    fn default() -> Self {
        Self { first: Duration::from_secs(1), longest: Duration::from_secs(60) }
    }
}

/// Why a task does not run any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It panicked.
    Panicked(Panicked),
    /// It ended although nothing asked it to.
    Ended,
}

/// A task that starts again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restart {
    /// Why.
    pub cause: Cause,
    /// After this pause.
    pub after: Duration,
}

impl fmt::Display for Restart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Cause::Panicked(panicked) => write!(f, "{panicked}")?,
            Cause::Ended => f.write_str("ended unexpectedly")?,
        }
        write!(f, "; it starts again after {} s", self.after.as_secs_f64())
    }
}

/// Starts a task that handles the input of one tenant, again and again: when it panics or ends, that
/// is logged under `name` and given to `report`, which says it on the tenant's object and must be
/// quick; then the task starts again after a pause.
pub fn restarted<W>(
    name: &str,
    pauses: Pauses,
    mut start: impl FnMut() -> W + Send + 'static,
    report: impl Fn(&Restart) + Send + 'static,
) -> Task
where
    W: Future<Output = ()> + Send + 'static,
{
    let name = name.to_owned();
    let task = async move {
        let mut after = pauses.first;
        loop {
            let since = Instant::now();
            let cause = match caught(async { start().await }).await {
                Ok(()) => Cause::Ended,
                Err(panicked) => Cause::Panicked(panicked),
            };
            if since.elapsed() > pauses.longest {
                after = pauses.first;
            }
            say(&name, &Restart { cause, after }, &report);
            sleep(after).await;
            after = (after * 2).min(pauses.longest);
        }
    };
    Task(tokio::spawn(task).abort_handle())
}

/// Even a report that panics does not end the task.
fn say(name: &str, restart: &Restart, report: &impl Fn(&Restart)) {
    tracing::error!(task = name, %restart, "a task has to start again");
    let reported = std::panic::catch_unwind(AssertUnwindSafe(|| report(restart)));
    if let Err(panic) = reported {
        tracing::error!(task = name, error = panic_message(&*panic), "that cannot be reported");
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    fn pauses() -> Pauses {
        Pauses { first: Duration::from_secs(1), longest: Duration::from_secs(4) }
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_starts_again_after_pauses_that_grow_up_to_the_longest() {
        let (sender, mut reports) = mpsc::unbounded_channel();
        let mut starts = 0;
        let start = move || {
            starts += 1;
            let ends = starts == 2;
            async move { assert!(ends, "entry {starts}") }
        };
        let report = move |restart: &Restart| sender.send(restart.to_string()).unwrap();
        let _task = restarted("catalog a/b", pauses(), start, report);
        for expected in [
            "panicked: entry 1; it starts again after 1 s",
            "ended unexpectedly; it starts again after 2 s",
            "panicked: entry 3; it starts again after 4 s",
            "panicked: entry 4; it starts again after 4 s",
        ] {
            assert_eq!(reports.recv().await.unwrap(), expected);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_ran_for_long_begins_with_the_first_pause() {
        let (sender, mut reports) = mpsc::unbounded_channel();
        let start = || async {
            sleep(Duration::from_secs(5)).await;
            panic!("late");
        };
        let report = move |restart: &Restart| sender.send(restart.after).unwrap();
        let _task = restarted("catalog a/b", pauses(), start, report);
        for _ in 0..3 {
            assert_eq!(reports.recv().await.unwrap(), Duration::from_secs(1));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn it_ends_when_it_is_dropped_and_survives_a_report_that_panics() {
        let (sender, mut starts) = mpsc::unbounded_channel();
        let start = move || {
            let sent = sender.send(());
            async move { sent.unwrap() }
        };
        let task = restarted("catalog a/b", pauses(), start, |_| panic!("no object"));
        for _ in 0..3 {
            starts.recv().await.unwrap();
        }
        drop(task);
        while starts.recv().await.is_some() {}
    }
}
