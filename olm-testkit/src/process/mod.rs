//! Child processes that never outlive their purpose.
//!
//! Every child leads its own process group, and everything is ended by group. A child of a
//! [`Lifetime::Command`] also dies when the process that started it ends in any way, SIGKILL
//! included: a shell beside it waits on a pipe that only the starter holds open.

mod memory;
mod record;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::Signal;
use serde::{Deserialize, Serialize};

pub use memory::{Peak, peaks};
pub use olm_tools::tail;
pub use record::Record;
use record::signal;

use crate::wait::TIMEOUT;

/// How long a process may take to end after SIGTERM before it is killed.
const GRACE: Duration = Duration::from_secs(5);

/// How often it is tried whether a process listens. Tests start servers by the hundred.
const ASK: Duration = Duration::from_millis(2);

/// How often a process that should end is looked at.
const POLL: Duration = Duration::from_millis(20);

/// Replaces the shell by "$@" and leaves a guard in the same process group that kills the group
/// at the end of standard input. A background list would read /dev/null, hence descriptor 3.
const GUARDED: &str =
    r#"exec 3<&0; (read -r _ <&3; kill -s KILL -- -$$) & exec 3<&-; exec "$@" </dev/null"#;

/// Linux counts times of processes in hundredths of a second for whoever reads `/proc` (`USER_HZ`).
const TICKS_PER_SECOND: u32 = 100;

/// Ticks in user mode and in the kernel, of `/proc/PID/stat` (proc_pid_stat(5)). The name of the program
/// before them may hold anything.
fn ticks(stat: &str) -> Option<u32> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut times = fields.split(' ').skip(11).take(2).map(str::parse::<u32>);
    times.next()?.ok()?.checked_add(times.next()?.ok()?)
}

/// When a child ends at the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Lifetime {
    /// With the process that started it.
    Command,
    /// When another process ends it.
    Kept,
}

/// What to start.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The name used in messages and records.
    pub name: String,
    /// The executable.
    pub program: PathBuf,
    /// Its command line.
    pub args: Vec<String>,
    /// Variables added to the environment.
    pub env: Vec<(String, String)>,
    /// The file that receives standard output and standard error.
    pub log: PathBuf,
    /// When it ends at the latest.
    pub lifetime: Lifetime,
}

impl Launch {
    /// Starts the process.
    pub fn start(&self) -> Result<Running> {
        // A shell starts it: that there is no such file would stand in the log only.
        let in_folder = self.program.components().nth(1).is_some();
        ensure!(!in_folder || self.program.is_file(), "there is no {}", self.program.display());
        let log = File::create(&self.log)
            .with_context(|| format!("cannot write {}", self.log.display()))?;
        let child = self
            .command()
            .stdout(log.try_clone().context("cannot share the log file")?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot start {}", self.program.display()))?;
        let record = Record::of(&self.name, child.id());
        Ok(Running { record, log: self.log.clone(), child, limited: None })
    }

    fn command(&self) -> Command {
        let mut command = match self.lifetime {
            Lifetime::Kept => Command::new(&self.program),
            Lifetime::Command => {
                let mut shell = Command::new("sh");
                shell.args(["-c", GUARDED, "sh"]).arg(&self.program);
                shell
            }
        };
        command.args(&self.args).envs(self.env.iter().cloned());
        command.stdin(match self.lifetime {
            Lifetime::Kept => Stdio::null(),
            Lifetime::Command => Stdio::piped(),
        });
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
    }
}

/// A child of this process.
#[derive(Debug)]
pub struct Running {
    record: Record,
    log: PathBuf,
    child: Child,
    limited: Option<Limited>,
}

/// A program that may not take more than some memory.
#[derive(Debug)]
struct Limited {
    program: &'static str,
    /// Bytes.
    limit: u64,
}

impl Running {
    /// It may take no more resident memory than `limit` bytes. What it takes is noted whenever it is looked at, and
    /// before it is ended.
    #[must_use]
    pub fn limited(mut self, program: &'static str, limit: u64) -> Self {
        self.limited = Some(Limited { program, limit });
        self
    }

    /// What identifies the process after this one has ended.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The file with its output.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// Fails when the process took more memory than it may, and, with the end of the log, when it has ended.
    pub fn check(&mut self) -> Result<()> {
        if let Some(peak) = self.note_memory() {
            let (name, Peak { bytes, limit, .. }) = (&self.record.name, peak);
            ensure!(bytes <= limit, "{name} took {bytes} bytes of memory, and may take {limit}");
        }
        match self.child.try_wait().context("cannot ask for the state of a child")? {
            None => Ok(()),
            Some(status) => bail!(
                "{} ended with {status}; the end of {}:\n{}",
                self.record.name,
                self.log.display(),
                tail(&self.log, 15)
            ),
        }
    }

    /// Waits until the process listens at an address.
    ///
    /// # Errors
    /// It has ended, or does not listen within [`TIMEOUT`].
    pub fn until_listening(&mut self, address: SocketAddr) -> Result<()> {
        let deadline = Instant::now() + TIMEOUT;
        while TcpStream::connect(address).is_err() {
            self.check()?;
            if Instant::now() > deadline {
                let (name, time_limit) = (&self.record.name, TIMEOUT.as_secs());
                bail!("{name} does not listen at {address} after {time_limit} s");
            }
            std::thread::sleep(ASK);
        }
        Ok(())
    }

    /// The code with which the process has ended; none while it runs. A process that a signal ended
    /// has the code -1.
    pub fn exit_code(&mut self) -> Result<Option<i32>> {
        self.note_memory();
        let status = self.child.try_wait().context("cannot ask for the state of a child")?;
        Ok(status.map(|status| status.code().unwrap_or(-1)))
    }

    /// Resident memory in bytes, while the process runs.
    pub fn resident_memory(&self) -> Option<u64> {
        self.memory("VmRSS:")
    }

    /// Of the resident memory in bytes what is the process's own, and no page of a file such as its program.
    pub fn anonymous_memory(&self) -> Option<u64> {
        self.memory("RssAnon:")
    }

    /// The most resident memory so far in bytes, while the process runs.
    pub fn peak_memory(&self) -> Option<u64> {
        self.memory("VmHWM:")
    }

    /// Has the kernel count the most resident memory anew.
    ///
    /// # Errors
    /// The process has ended.
    pub fn forget_peak(&self) -> Result<()> {
        self.note_memory();
        let file = format!("/proc/{}/clear_refs", self.record.pid);
        std::fs::write(&file, "5").with_context(|| format!("cannot write {file}"))
    }

    /// Time that all its threads have spent on processors so far, while the process runs.
    pub fn processor_time(&self) -> Option<Duration> {
        let status = std::fs::read_to_string(format!("/proc/{}/stat", self.record.pid)).ok()?;
        let ticks = f64::from(ticks(&status)?);
        Some(Duration::from_secs_f64(ticks / f64::from(TICKS_PER_SECOND)))
    }

    /// The most memory so far, where it has a limit.
    fn note_memory(&self) -> Option<Peak> {
        let Limited { program, limit } = self.limited.as_ref()?;
        let peak = Peak { bytes: self.peak_memory()?, limit: *limit, log: self.log.clone() };
        memory::note(program, peak.clone());
        Some(peak)
    }

    fn memory(&self, field: &str) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.record.pid)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(field))?;
        let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kib * 1024)
    }

    /// Sends SIGTERM and waits; SIGKILL when that takes too long.
    pub fn stop(mut self) {
        self.ask_to_end();
        let deadline = Instant::now() + GRACE;
        while Instant::now() < deadline && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(POLL);
        }
        self.kill();
    }

    /// Sends SIGTERM.
    pub fn ask_to_end(&self) {
        self.note_memory();
        signal(self.record.pid, Signal::TERM);
    }

    /// Sends SIGTERM and waits; the code with which the process ended by itself.
    ///
    /// # Errors
    ///
    /// When it did not end in time; it is killed then.
    pub fn terminate(self) -> Result<i32> {
        self.ask_to_end();
        self.until_ended(GRACE)
    }

    /// Waits until the process has ended, which it was asked to; its code.
    ///
    /// # Errors
    /// It goes on for longer than `most`; it is killed then.
    pub fn until_ended(mut self, most: Duration) -> Result<i32> {
        let deadline = Instant::now() + most;
        while Instant::now() < deadline {
            if let Some(code) = self.exit_code()? {
                return Ok(code);
            }
            std::thread::sleep(POLL);
        }
        self.kill();
        bail!("{} did not end within {most:?} after SIGTERM", self.record.name)
    }

    /// Kills the process at once, as a crash would.
    pub fn kill(&mut self) {
        self.note_memory();
        // The guard is in the group, so this is right even when the child itself has ended.
        signal(self.record.pid, Signal::KILL);
        let _ = self.child.wait();
    }
}

impl Drop for Running {
    /// Children that must not outlive this process go now; kept ones stay.
    fn drop(&mut self) {
        if self.child.stdin.is_some() {
            self.kill();
        }
    }
}
