//! Whether the processors of this machine rest, as Linux counts it.

use std::fs;
use std::io;
use std::thread;
use std::time::Duration;

/// How often that is looked at.
const ASK: Duration = Duration::from_millis(500);

/// Of 100 parts of the time of all processors, how many rest when there is work to begin.
const REST: u64 = 8;

/// The counters of `/proc/stat` for time at rest, or of programs with a nice value: `nice`, `idle` and
/// `iowait`, by their place among all.
const AT_REST: [usize; 3] = [1, 3, 4];

/// Has `report` learn, again and again, whether processors rest. Where nothing counts that, it learns nothing.
///
/// # Errors
/// There can be no thread for it.
pub(super) fn watch(report: impl Fn(bool) + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name("processors".to_owned()).spawn(move || {
        let mut before = counted();
        while let Some((rest, all)) = before {
            thread::sleep(ASK);
            before = counted();
            if let Some((rest_now, all_now)) = before {
                // Linux may take back what it counted as waiting for a disk.
                let (rest, all) = (rest_now.saturating_sub(rest), all_now.saturating_sub(all));
                report(rest * 100 > all * REST);
            }
        }
    })?;
    Ok(())
}

/// Since the machine started: time at rest, and all.
fn counted() -> Option<(u64, u64)> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let counters = text.lines().next()?.strip_prefix("cpu ")?.split_whitespace();
    let counters: Vec<u64> = counters.map(str::parse).collect::<Result<_, _>>().ok()?;
    let rest = AT_REST.iter().filter_map(|place| counters.get(*place)).sum();
    Some((rest, counters.iter().sum()))
}
