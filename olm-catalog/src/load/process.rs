//! What the kernel knows about a process.

use std::fs;

use anyhow::{Context, Result};

/// How long the threads of a process have run so far, in seconds.
pub(super) fn computed(pid: u32) -> Result<f64> {
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
pub(super) fn memory(pid: u32) -> Result<(f64, f64)> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).context("read /proc")?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kib / 1024.0)
    };
    field("VmHWM:").zip(field("RssAnon:")).context("/proc does not tell about memory")
}
