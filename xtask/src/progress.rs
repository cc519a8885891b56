//! What takes long says what it does, how far it is, and how long it took last time: in a terminal
//! in one line that moves, elsewhere in a line every ten seconds.

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use olm_tools::times;

/// Before the first line, and between two looks at what is under way, where nothing moves.
const FIRST: Duration = Duration::from_secs(1);

/// Between two lines where nothing moves.
const LINE: Duration = Duration::from_secs(10);

/// Between two pictures of a line that moves.
const PICTURE: Duration = Duration::from_millis(500);

/// The end of what was shorter needs no line.
const SHORT: Duration = Duration::from_secs(2);

/// The longest line that moves, in characters.
const WIDTH: usize = 110;

/// What is under way, one thing inside of the other: lines are about the innermost. Lines go to standard
/// error.
#[derive(Clone)]
pub struct Progress {
    running: Arc<Mutex<Vec<Running>>>,
    moves: bool,
    /// Whether only errors are printed.
    quiet: bool,
}

/// Something that is under way, until it is dropped.
pub struct Task {
    progress: Progress,
    name: String,
    begun: Instant,
}

struct Running {
    name: String,
    /// How far it is.
    far: String,
    begun: Instant,
    /// When a line about it was printed.
    printed: Option<Instant>,
    last: Option<Duration>,
}

impl Progress {
    /// Nothing is under way yet.
    pub fn new() -> Self {
        let moves = std::io::stderr().is_terminal();
        let progress = Self { running: Arc::default(), moves, quiet: false };
        let shown = progress.clone();
        // It ends with the process.
        thread::spawn(move || shown.show());
        progress
    }

    /// Prints only errors: for a command inside of another, whose output is compared.
    pub fn quiet() -> Self {
        Self { running: Arc::default(), moves: false, quiet: true }
    }

    /// Begins something; the name is what its duration is remembered by.
    pub fn begin(&self, name: &str) -> Task {
        let (name, begun, last) = (name.to_owned(), Instant::now(), times::last(name));
        let (far, printed) = (String::new(), None);
        self.running().push(Running { name: name.clone(), far, begun, printed, last });
        Task { progress: self.clone(), name, begun }
    }

    /// Prints a line for good.
    pub fn line(&self, line: &str) {
        let clear = if self.moves { "\r\x1b[2K" } else { "" };
        eprintln!("{clear}  {line}");
    }

    fn show(&self) {
        loop {
            thread::sleep(if self.moves { PICTURE } else { FIRST });
            let now = Instant::now();
            let mut running = self.running();
            let Some(innermost) = running.last_mut() else { continue };
            if self.moves {
                let picture: String = innermost.line().chars().take(WIDTH).collect();
                eprint!("\r\x1b[2K{picture}");
                let _ = std::io::stderr().flush();
            } else if innermost.is_due(now) {
                innermost.printed = Some(now);
                eprintln!("  … {}", innermost.line());
            }
        }
    }

    fn running(&self) -> MutexGuard<'_, Vec<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}

impl Task {
    /// How far it is.
    pub fn far(&self, far: impl Into<String>) {
        let far = far.into();
        let mut running = self.progress.running();
        if let Some(it) = running.iter_mut().find(|it| it.name == self.name) {
            it.far = far;
        }
    }

    /// It has succeeded; whether the time that it took is remembered, is up to the caller.
    pub fn succeeded(self, is_typical: bool) {
        let took = self.begun.elapsed();
        if is_typical {
            times::remember(&self.name, took);
        }
        if took > SHORT && !self.progress.quiet {
            self.progress.line(&format!("{}: done after {} s", self.name, took.as_secs()));
        }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.progress.running().retain(|it| it.name != self.name);
        if self.progress.moves {
            eprint!("\r\x1b[2K");
        }
    }
}

impl Running {
    fn line(&self) -> String {
        let so_far = format!("{}{} s so far", self.far, self.begun.elapsed().as_secs());
        let last = self.last.map(|last| format!(" (last time {} s)", last.as_secs()));
        format!("{}: {so_far}{}", self.name, last.unwrap_or_default())
    }

    /// Whether it is time for a line: a second after the beginning, and from then on now and then.
    fn is_due(&self, now: Instant) -> bool {
        let (since, pause) = self.printed.map_or((self.begun, FIRST), |printed| (printed, LINE));
        now.duration_since(since) >= pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_comes_after_a_second_and_then_every_ten() {
        let begun = Instant::now();
        let printed_at = |printed: Option<u64>| Running {
            name: "a build".to_owned(),
            far: "3 of 9 parts, ".to_owned(),
            begun,
            printed: printed.map(|seconds| begun + Duration::from_secs(seconds)),
            last: Some(Duration::from_secs(70)),
        };
        let due = |printed, now| printed_at(printed).is_due(begun + Duration::from_millis(now));
        assert!(!due(None, 900) && due(None, 1_000));
        assert!(!due(Some(1), 10_900) && due(Some(1), 11_000));
        assert_eq!(printed_at(None).line(), "a build: 3 of 9 parts, 0 s so far (last time 70 s)");
    }
}
