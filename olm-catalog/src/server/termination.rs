//! The file in which Kubernetes looks for the reason why a container ended.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

/// Where it is by default. It exists in containers, and is not made elsewhere.
pub(crate) const DEFAULT: &str = "/dev/termination-log";

/// Longest text that Kubernetes takes, in bytes.
const LONGEST: usize = 4096;

/// Writes the reason. That it cannot be written is logged and no more.
pub(crate) fn write(log: &Path, reason: &str) {
    let end = (0..=reason.len().min(LONGEST)).rev().find(|end| reason.is_char_boundary(*end));
    let reason = reason.get(..end.unwrap_or_default()).unwrap_or_default();
    let mut options = OpenOptions::new();
    options.write(true).truncate(true).create(log != Path::new(DEFAULT));
    let written = options.open(log).and_then(|mut file| file.write_all(reason.as_bytes()));
    if let Err(error) = written {
        tracing::debug!(log = %log.display(), %error, "no termination log is written");
    }
}
