//! Medians, the load of the machine, and the memory of the process.

use std::time::Instant;

/// The time of some runs, and what the last one gave.
pub struct Median<T> {
    /// Median by the clock.
    pub milliseconds: f64,
    /// Mean of the time on a processor, which says more on a busy machine; 0 where the system does
    /// not say.
    pub processor: f64,
    pub last: Option<T>,
}

impl<T> Median<T> {
    /// Runs it once to warm up, then so many times.
    pub fn of(runs: usize, mut work: impl FnMut() -> T) -> Self {
        let mut times = Vec::with_capacity(runs);
        let mut last = (runs > 1).then(&mut work);
        let before = processor_time();
        for _ in 0..runs {
            drop(last.take());
            let start = Instant::now();
            last = Some(work());
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        let processor = (processor_time() - before) / runs.max(1) as f64;
        times.sort_by(f64::total_cmp);
        let milliseconds = times.get(runs / 2).copied().unwrap_or_default();
        Self { milliseconds, processor, last }
    }
}

/// Milliseconds that this thread was on a processor.
fn processor_time() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split_whitespace().next().and_then(|field| field.parse::<f64>().ok());
    nanoseconds.unwrap_or_default() / 1e6
}

/// Load of the machine in the last minutes, as the system says it.
pub fn load() -> String {
    std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim().to_owned()
}

/// Resident memory of the process and its peak so far, in KiB; 0 where the system does not say.
pub fn resident_kib() -> (u64, u64) {
    (status("VmRSS:"), status("VmHWM:"))
}

/// Makes the peak start from now; does nothing where the system does not know it.
pub fn forget_peak() -> std::io::Result<()> {
    let switch = std::path::Path::new("/proc/self/clear_refs");
    if switch.exists() { std::fs::write(switch, "5") } else { Ok(()) }
}

fn status(field: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or_default()
}
