//! Where is said what is waited for and what could not be read, beside a result.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::clean::cell;

/// How long something may take before it is said what is waited for.
const SLOW: Duration = Duration::from_secs(1);

/// Takes lines that are no result: a program prints them, a page shows them.
#[derive(Clone)]
pub struct Notices {
    say: Arc<dyn Fn(&str) + Send + Sync>,
    says_progress: bool,
}

impl Notices {
    /// Lines go to this function, one at a time.
    pub fn new(say: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { say: Arc::new(say), says_progress: true }
    }

    /// The same without what is waited for.
    #[must_use]
    pub fn without_progress(self) -> Self {
        Self { says_progress: false, ..self }
    }

    /// Says one line.
    pub fn say(&self, line: &str) {
        (self.say)(&cell(line));
    }

    /// Waits, and says for what when that takes long.
    pub async fn slow<T>(&self, what: &str, awaited: impl Future<Output = T>) -> T {
        let mut awaited = std::pin::pin!(awaited);
        if !self.says_progress {
            return awaited.await;
        }
        if let Ok(done) = tokio::time::timeout(SLOW, &mut awaited).await {
            return done;
        }
        self.say(&format!("{what} …"));
        awaited.await
    }
}

impl fmt::Debug for Notices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Notices")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tokio::time::sleep;

    use super::*;

    /// What is said while something takes so long. No time passes.
    async fn said(takes: Duration, quiet: bool) -> Vec<String> {
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = Arc::clone(&lines);
        let notices = Notices::new(move |line| kept.lock().unwrap().push(line.to_owned()));
        let notices = if quiet { notices.without_progress() } else { notices };
        let done = notices.slow("reading\u{1b} a", async move {
            sleep(takes).await;
            "done"
        });
        assert_eq!(done.await, "done");
        std::mem::take(&mut *lines.lock().unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn what_takes_longer_than_a_second_is_named_once() {
        let nothing: [&str; 0] = [];
        assert_eq!(said(Duration::from_millis(900), false).await, nothing);
        let named = ["reading\u{fffd} a …"];
        assert_eq!(said(Duration::from_millis(1_100), false).await, named);
        assert_eq!(said(Duration::from_secs(600), false).await, named);
        assert_eq!(said(Duration::from_secs(600), true).await, nothing);
    }
}
