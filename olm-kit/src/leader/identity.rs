//! Who a replica is.

use std::fs;

use jiff::Timestamp;

/// The name of the host, which is that of the Pod, and the time of the start, so that a restarted
/// container does not take itself for its predecessor.
pub fn identity() -> String {
    let host = std::env::var("HOSTNAME").ok().filter(|name| !name.is_empty());
    let host = host.or_else(|| fs::read_to_string("/proc/sys/kernel/hostname").ok());
    let host = host.unwrap_or_default();
    let (process, start) = (std::process::id(), Timestamp::now().as_nanosecond());
    format!("{}_{process}_{start:x}", host.trim())
}
