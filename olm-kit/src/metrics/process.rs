//! Memory, time and open files of this process, from `/proc/self`.
//!
//! Outside of Linux, or without `/proc`, the family is empty. Names are those of all Prometheus
//! clients.

use std::fs;

use prometheus::core::{Collector, Desc};
use prometheus::{Opts, proto};

/// Ticks per second in `/proc/self/stat`; the same on every architecture that Kubernetes runs on.
const TICKS: f64 = 100.0;

const RESIDENT: (&str, &str) = ("process_resident_memory_bytes", "Resident memory in bytes");
const VIRTUAL: (&str, &str) = ("process_virtual_memory_bytes", "Virtual memory in bytes");
const CPU: (&str, &str) = ("process_cpu_seconds_total", "User and system time in seconds");
const FILES: (&str, &str) = ("process_open_fds", "Open file descriptors");
const THREADS: (&str, &str) = ("process_threads", "Threads");

/// Reads `/proc/self` at every scrape.
#[derive(Debug)]
pub(super) struct ProcessCollector {
    descs: Vec<Desc>,
}

impl ProcessCollector {
    pub(super) fn new() -> Self {
        let names = [RESIDENT, VIRTUAL, CPU, FILES, THREADS];
        let descs = names.iter().filter_map(|(name, help)| {
            use prometheus::core::Describer;
            Opts::new(*name, *help).describe().ok()
        });
        Self { descs: descs.collect() }
    }
}

impl Collector for ProcessCollector {
    fn desc(&self) -> Vec<&Desc> {
        self.descs.iter().collect()
    }

    fn collect(&self) -> Vec<proto::MetricFamily> {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
        let files = fs::read_dir("/proc/self/fd").ok().map(|entries| entries.count());
        let gauges = [
            (RESIDENT, kilobytes(&status, "VmRSS:")),
            (VIRTUAL, kilobytes(&status, "VmSize:")),
            (THREADS, number(&status, "Threads:")),
            (FILES, files.and_then(|count| u32::try_from(count).ok()).map(f64::from)),
        ];
        let gauges = gauges.into_iter().filter_map(|(name, value)| Some(gauge(name, value?)));
        gauges.chain(cpu_seconds(&stat).map(|value| counter(CPU, value))).collect()
    }
}

fn kilobytes(status: &str, field: &str) -> Option<f64> {
    number(status, field).map(|kilobytes| kilobytes * 1024.0)
}

/// The first number on the line that starts with `field`.
fn number(status: &str, field: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.split_whitespace().next()?.parse().ok()
}

/// User and system time; the program's name before them may contain spaces and parentheses.
fn cpu_seconds(stat: &str) -> Option<f64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let (user, system): (f64, f64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some((user + system) / TICKS)
}

fn gauge(name: (&str, &str), value: f64) -> proto::MetricFamily {
    let mut gauge = proto::Gauge::default();
    gauge.set_value(value);
    let mut metric = proto::Metric::default();
    metric.set_gauge(gauge);
    family(name, proto::MetricType::GAUGE, metric)
}

fn counter(name: (&str, &str), value: f64) -> proto::MetricFamily {
    let mut counter = proto::Counter::default();
    counter.set_value(value);
    let mut metric = proto::Metric::default();
    metric.set_counter(counter);
    family(name, proto::MetricType::COUNTER, metric)
}

fn family(
    (name, help): (&str, &str),
    kind: proto::MetricType,
    metric: proto::Metric,
) -> proto::MetricFamily {
    let mut family = proto::MetricFamily::default();
    family.set_name(name.to_owned());
    family.set_help(help.to_owned());
    family.set_field_type(kind);
    family.set_metric(vec![metric]);
    family
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
        let stat = "7 (a) b (c)) S 1 7 7 0 -1 4194560 100 0 0 0 150 50 0 0 20 0 3 0 100";
        assert_eq!(cpu_seconds(stat), Some(2.0));
        assert_eq!(cpu_seconds("7 (a) S 1"), None);
    }
}
