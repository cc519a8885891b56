//! Commands that take long: their output goes to a file, and a line now and then says how it goes.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::progress::Progress;

/// The longest silence of something slow.
const REMINDER: Duration = Duration::from_secs(8);

/// How often a child is looked at.
const POLL: Duration = Duration::from_millis(100);

/// Says when it is time for another line.
#[derive(Debug)]
pub(crate) struct Reminder {
    began: Instant,
    last: Instant,
}

impl Reminder {
    /// Begins to count.
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        Self { began: now, last: now }
    }

    /// The seconds since the beginning, when it is time to say something.
    pub(crate) fn due(&mut self) -> Option<u64> {
        (self.last.elapsed() >= REMINDER).then(|| {
            self.last = Instant::now();
            self.began.elapsed().as_secs()
        })
    }
}

/// Runs a command to its end. `line` makes what is said now and then, from the number of lines that
/// the command has written to standard error and the seconds since `reminder` began. A failure shows
/// the end of the log.
pub(crate) fn run(
    mut command: Command,
    log: &Path,
    progress: &Progress,
    reminder: &mut Reminder,
    line: impl Fn(usize, u64) -> String,
) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let file = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    let output = file.try_clone().context("cannot share the log")?;
    command.stdin(Stdio::null()).stdout(output).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("cannot run {name}"))?;
    let lines = Arc::new(AtomicUsize::new(0));
    let reader = read(&mut child, file, Arc::clone(&lines));
    let status = loop {
        if let Some(status) = child.try_wait().context("cannot wait for a child")? {
            break status;
        }
        std::thread::sleep(POLL);
        if let Some(seconds) = reminder.due() {
            progress.step(line(lines.load(Ordering::Relaxed), seconds));
        }
    };
    // Ends with the child: nothing else holds the pipe.
    let _ = reader.map(JoinHandle::join);
    if !status.success() {
        bail!("{name} failed with {status}:\n{}", tail(log, 20));
    }
    Ok(())
}

/// Writes what a child says to the log, and counts its lines.
fn read(child: &mut Child, mut log: File, lines: Arc<AtomicUsize>) -> Option<JoinHandle<()>> {
    let stderr = child.stderr.take()?;
    Some(std::thread::spawn(move || {
        for line in BufReader::new(stderr).split(b'\n').map_while(Result::ok) {
            let _ = log.write_all(&line).and_then(|()| log.write_all(b"\n"));
            lines.fetch_add(1, Ordering::Relaxed);
        }
    }))
}

/// The end of a log, for messages.
pub fn tail(log: &Path, lines: usize) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

#[cfg(test)]
pub(crate) mod tests {
    use std::ops::Deref;
    use std::path::PathBuf;

    use super::*;

    /// A directory of one test.
    pub(crate) struct Scratch(PathBuf);

    impl Scratch {
        pub(crate) fn new(name: &str) -> Self {
            let name = format!("olm-tools-{name}-{}", std::process::id());
            let dir = std::env::temp_dir().join(name);
            let _ = std::fs::remove_dir_all(&dir);
            std::fs::create_dir_all(&dir).unwrap();
            Self(dir)
        }

        pub(crate) fn path(&self) -> &Path {
            &self.0
        }
    }

    impl Deref for Scratch {
        type Target = PathBuf;

        fn deref(&self) -> &PathBuf {
            &self.0
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_failure_shows_the_end_of_what_was_said() {
        let dir = Scratch::new("run");
        let silent = Progress::new(|_| {});
        let command = shell("echo out; echo the reason >&2; exit 3");
        let failed =
            run(command, &dir.join("log"), &silent, &mut Reminder::new(), |_, _| String::new());
        let message = failed.unwrap_err().to_string();
        assert!(message.contains("exit status: 3") && message.contains("the reason"), "{message}");
    }

    #[test]
    fn something_slow_is_never_silent_for_long() {
        let dir = Scratch::new("slow");
        let (sender, said) = std::sync::mpsc::channel();
        let progress = Progress::new(move |line| sender.send(line.to_owned()).unwrap());
        // As if it ran for longer than this test shall take.
        let long_ago = Instant::now().checked_sub(REMINDER).unwrap();
        let mut reminder = Reminder { began: long_ago, last: long_ago };
        let command = shell("echo one >&2; echo two >&2; sleep 1");
        run(command, &dir.join("log"), &progress, &mut reminder, |lines, seconds| {
            format!("{lines} lines, {seconds} s")
        })
        .unwrap();
        let lines: Vec<String> = said.try_iter().collect();
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].ends_with(" s") && lines[0].contains("lines"), "{lines:?}");
    }
}
