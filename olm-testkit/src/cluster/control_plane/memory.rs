//! How much memory the parts of a control plane may take before they collect their garbage.
//!
//! They are programs of Go, which by default collect it whenever the memory in use has doubled. All parts do
//! so three times as rarely. The API server has by far the most to go through, a third of its processor time
//! with that and a limit of 1 GiB: it waits twice as long again where the machine has the memory for some
//! API servers side by side.

use std::fs;

use crate::cluster::tools::Part;

const MIB: u64 = 1 << 20;

/// A machine that is sold with 16 GiB, as Linux counts its memory.
const LARGE: u64 = 15 * 1024 * MIB;

/// Where a container says how much memory it may take, as far as that is limited.
const CONTAINER: &str = "/sys/fs/cgroup/memory.max";

/// The variables of Go's runtime for a part. `GOMEMLIMIT` only has it collect more often from there on.
pub(super) fn variables(part: &str) -> Vec<(String, String)> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total(&text));
    let container = fs::read_to_string(CONTAINER).ok();
    let container: Option<u64> = container.and_then(|text| text.trim().parse().ok());
    let (growth, limit) = settings(part, machine.into_iter().chain(container).min());
    let variables = [("GOGC", growth.to_string()), ("GOMEMLIMIT", format!("{limit}MiB"))];
    variables.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

/// By how many percent memory grows until garbage is collected, and the limit in MiB, where there are so
/// many bytes of memory.
fn settings(part: &str, memory: Option<u64>) -> (u32, u64) {
    match memory {
        Some(bytes) if bytes >= LARGE && part == Part::KubeApiserver.name() => {
            (600, (bytes / MIB / 10).min(2560))
        }
        _ => (300, 1024),
    }
}

/// The memory of the machine in bytes, of `/proc/meminfo`.
fn total(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::unknown("kube-apiserver", None, (300, 1024))]
    #[case::small("kube-apiserver", Some(8), (300, 1024))]
    #[case::large("kube-apiserver", Some(20), (600, 2048))]
    #[case::at_most("kube-apiserver", Some(256), (600, 2560))]
    #[case::another_part("etcd", Some(256), (300, 1024))]
    fn an_api_server_takes_more_where_there_is_more(
        #[case] part: &str,
        #[case] gib: Option<u64>,
        #[case] expected: (u32, u64),
    ) {
        assert_eq!(settings(part, gib.map(|gib| gib << 30)), expected);
    }

    #[test]
    fn the_memory_of_the_machine_is_read() {
        let text = "MemTotal:       24619112 kB\nMemFree:         1234 kB\n";
        assert_eq!(total(text), Some(24_619_112 * 1024));
        assert_eq!(total("MemFree: 1 kB\n"), None);
    }
}
