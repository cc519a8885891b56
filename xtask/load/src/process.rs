//! What the kernel knows about a process, and where it lets it run.

use std::process::{Command, Stdio};
use std::{fs, thread};

use anyhow::{Context, Result};

/// How long the threads of a process have run so far, in seconds.
pub(crate) fn computed(pid: u32) -> Result<f64> {
    let mut nanoseconds = 0.0;
    for thread in fs::read_dir(format!("/proc/{pid}/task")).context("read /proc")? {
        let path = thread.context("read /proc")?.path().join("schedstat");
        // A thread may have ended since.
        let text = fs::read_to_string(path).unwrap_or_default();
        nanoseconds += text.split(' ').next().and_then(|time| time.parse().ok()).unwrap_or(0.0);
    }
    Ok(nanoseconds / 1e9)
}

/// Most memory of a process so far, and what of its memory now belongs to no file; in MiB.
pub(crate) fn memory(pid: u32) -> Result<(f64, f64)> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).context("read /proc")?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kib / 1024.0)
    };
    field("VmHWM:").zip(field("RssAnon:")).context("/proc says nothing about memory")
}

/// Gives the first processor to a process and the others to this one, so that the speed of the one
/// is not that of the other. With one processor, or without the program `taskset`, they share.
pub(crate) fn separate(pid: u32) {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    if processors > 1 {
        confine(pid, "0");
        confine(std::process::id(), &format!("1-{}", processors - 1));
    }
}

fn confine(pid: u32, processors: &str) {
    let mut command = Command::new("taskset");
    command.args(["--all-tasks", "--cpu-list", "--pid", processors, &pid.to_string()]);
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    if !status.is_ok_and(|status| status.success()) {
        eprintln!("taskset cannot be used: server and callers share all processors");
    }
}
