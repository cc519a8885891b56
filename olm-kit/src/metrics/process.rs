//! Memory, time, files and traffic of this process, from `/proc`.
//!
//! What cannot be read, as outside of Linux, is left out. Names are those that Prometheus' client
//! for Go has, so v0's too.

use std::fs;

use super::MetricsError;
use super::at_scrape::Sample;
use super::catalogue::Catalogue;
use super::family::{Family, Type};

/// Ticks per second in `/proc/self/stat`; the same on every architecture that Kubernetes runs on.
const TICKS: f64 = 100.0;

const RESIDENT: Family =
    Family::v0("process_resident_memory_bytes", "Resident memory in bytes", &[]);
const VIRTUAL: Family = Family::v0("process_virtual_memory_bytes", "Virtual memory in bytes", &[]);
const VIRTUAL_MAX: Family = Family::v0(
    "process_virtual_memory_max_bytes",
    "Virtual memory that the process may have, in bytes; -1 without a limit",
    &[],
);
const FILES: Family = Family::v0("process_open_fds", "Open file descriptors", &[]);
const FILES_MAX: Family =
    Family::v0("process_max_fds", "File descriptors that the process may have open", &[]);
const START: Family = Family::v0(
    "process_start_time_seconds",
    "When the process started, in seconds since 1970",
    &[],
);
const THREADS: Family = Family::ours("process_threads", "Threads", &[]);
const CPU: Family = Family::v0("process_cpu_seconds_total", "User and system time in seconds", &[]);
const RECEIVED: Family = Family::v0(
    "process_network_receive_bytes_total",
    "Bytes that the process's network received",
    &[],
);
const SENT: Family = Family::v0(
    "process_network_transmit_bytes_total",
    "Bytes that the process's network sent",
    &[],
);

const GAUGES: [Family; 7] = [RESIDENT, VIRTUAL, VIRTUAL_MAX, FILES, FILES_MAX, START, THREADS];
const COUNTERS: [Family; 3] = [CPU, RECEIVED, SENT];

/// Reads `/proc` at every scrape.
pub(super) fn register(catalogue: &Catalogue) -> Result<(), MetricsError> {
    let gauges = GAUGES.map(|family| family.described(Type::Gauge));
    let counters = COUNTERS.map(|family| family.described(Type::Counter));
    catalogue.at_scrape(&[&gauges[..], &counters].concat(), samples)
}

fn samples() -> Vec<Sample> {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let (status, limits) = (read("/proc/self/status"), read("/proc/self/limits"));
    let (stat, traffic) = (read("/proc/self/stat"), read("/proc/self/net/netstat"));
    let files = fs::read_dir("/proc/self/fd").ok().map(|entries| entries.count());
    let found = [
        (RESIDENT, kilobytes(&status, "VmRSS:")),
        (VIRTUAL, kilobytes(&status, "VmSize:")),
        (VIRTUAL_MAX, limit(&limits, "Max address space")),
        (FILES, files.and_then(|count| u32::try_from(count).ok()).map(f64::from)),
        (FILES_MAX, limit(&limits, "Max open files")),
        (START, start(&stat, &read("/proc/stat"))),
        (THREADS, number(&status, "Threads:")),
        (CPU, cpu_seconds(&stat)),
        (RECEIVED, octets(&traffic, "InOctets")),
        (SENT, octets(&traffic, "OutOctets")),
    ];
    found.into_iter().filter_map(|(family, value)| Some(Sample::new(family, &[], value?))).collect()
}

fn kilobytes(status: &str, field: &str) -> Option<f64> {
    number(status, field).map(|kilobytes| kilobytes * 1024.0)
}

/// The first number on the line that starts with `field`.
fn number(text: &str, field: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The soft limit of that name.
fn limit(limits: &str, name: &str) -> Option<f64> {
    let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
    match line.split_whitespace().next()? {
        "unlimited" => Some(-1.0),
        number => number.parse().ok(),
    }
}

/// User and system time.
fn cpu_seconds(stat: &str) -> Option<f64> {
    Some((field(stat, 11)? + field(stat, 12)?) / TICKS)
}

/// When the machine started, and how long after that the process did.
fn start(stat: &str, machine: &str) -> Option<f64> {
    Some(number(machine, "btime")? + field(stat, 19)? / TICKS)
}

/// A field of `/proc/self/stat`, counted from the one behind the program's name, which may contain
/// spaces and parentheses.
fn field(stat: &str, index: usize) -> Option<f64> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(index)?.parse().ok()
}

/// A value of the table `IpExt`, which has its names on one line and its values on the next.
fn octets(traffic: &str, name: &str) -> Option<f64> {
    let mut lines = traffic.lines().filter_map(|line| line.strip_prefix("IpExt:"));
    let (names, values) = (lines.next()?.split_whitespace(), lines.next()?.split_whitespace());
    names.zip(values).find(|(known, _)| *known == name)?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_files_are_read() {
        let status = "Name:\tolm\nVmSize:\t  2000 kB\nVmRSS:\t    1000 kB\nThreads:\t3\n";
        assert_eq!(kilobytes(status, "VmRSS:"), Some(1_024_000.0));
        assert_eq!(number(status, "Threads:"), Some(3.0));
        assert_eq!(number("VmRSS:\n", "VmRSS:"), None);
        let stat = "7 (a) b (c)) S 1 7 7 0 -1 4194560 100 0 0 0 150 50 0 0 20 0 3 0 900";
        assert_eq!(cpu_seconds(stat), Some(2.0));
        assert_eq!(cpu_seconds("7 (a) S 1"), None);
        assert_eq!(start(stat, "cpu 1\nbtime 1000\n"), Some(1009.0));
    }

    #[test]
    fn limits_and_traffic_are_read() {
        let limits = "Limit  Soft Limit  Hard Limit  Units\n\
            Max open files            1024                 4096                 files\n\
            Max address space         unlimited            unlimited            bytes\n";
        assert_eq!(limit(limits, "Max open files"), Some(1024.0));
        assert_eq!(limit(limits, "Max address space"), Some(-1.0));
        let traffic = "TcpExt: A\nTcpExt: 1\nIpExt: InOctets OutOctets\nIpExt: 7 8\n";
        assert_eq!((octets(traffic, "OutOctets"), octets(traffic, "Other")), (Some(8.0), None));
    }
}
