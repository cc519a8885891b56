//! What takes long says what it does, how far it is, and how long it took last time: in a terminal
//! in one line that moves, elsewhere in a line every ten seconds.

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::times;

/// Between two lines where nothing moves.
const LINE: Duration = Duration::from_secs(10);

/// Between two pictures of a line that moves.
const PICTURE: Duration = Duration::from_millis(500);

/// The end of what was shorter needs no line.
const SHORT: Duration = Duration::from_secs(2);

/// The longest line that moves, in characters.
const WIDTH: usize = 110;

/// Everything that is under way. Lines go to standard error.
#[derive(Clone)]
pub struct Progress {
    running: Arc<Mutex<Vec<Running>>>,
    moves: bool,
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
    last: Option<Duration>,
}

impl Progress {
    /// Nothing is under way yet.
    pub fn new() -> Self {
        let moves = std::io::stderr().is_terminal();
        let progress = Self { running: Arc::default(), moves };
        let shown = progress.clone();
        // It ends with the process.
        thread::spawn(move || shown.show());
        progress
    }

    /// Begins something; the name is what its duration is remembered by.
    pub fn begin(&self, name: &str) -> Task {
        let (name, begun, last) = (name.to_owned(), Instant::now(), times::last(name));
        let running = Running { name: name.clone(), far: String::new(), begun, last };
        self.line(&format!("{name}{}", expected(last)));
        self.running().push(running);
        Task { progress: self.clone(), name, begun }
    }

    /// Prints a line for good.
    pub fn line(&self, line: &str) {
        let clear = if self.moves { "\r\x1b[2K" } else { "" };
        eprintln!("{clear}  {line}");
    }

    fn show(&self) {
        loop {
            thread::sleep(if self.moves { PICTURE } else { LINE });
            let lines: Vec<String> = self.running().iter().map(Running::line).collect();
            if self.moves {
                let picture: String = lines.join(" | ").chars().take(WIDTH).collect();
                eprint!("\r\x1b[2K{picture}");
                let _ = std::io::stderr().flush();
            } else {
                lines.iter().for_each(|line| eprintln!("  … {line}"));
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
        if took > SHORT {
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
        format!("{}: {so_far}{}", self.name, expected(self.last))
    }
}

fn expected(last: Option<Duration>) -> String {
    last.map(|last| format!(" (last time {} s)", last.as_secs())).unwrap_or_default()
}
