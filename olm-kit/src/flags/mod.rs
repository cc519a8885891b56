//! Command lines: the flags that every operator understands, and what becomes of others.
//!
//! Operators are started by manifests that were made for another version, or for OLM v0. A flag
//! that is not known here must not keep them from running: it is left out and told. Only what looks
//! like a known flag misspelt is an error, for what it was meant to say may matter.

mod common;
mod line;
#[cfg(test)]
mod tests;

pub use common::CommonFlags;
pub use line::{CommandLine, Flags};

/// A flag of OLM v0 that is accepted and does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle {
    /// Its name, with dashes.
    pub flag: &'static str,
    /// Why nothing is lost.
    pub why: &'static str,
}

/// Flags of the log library of v0, which no operator of ours has. They are told like unknown ones,
/// but say what to do instead.
pub const OF_KLOG: [&str; 15] = [
    "--add_dir_header",
    "--alsologtostderr",
    "--legacy_stderr_threshold_behavior",
    "--log_backtrace_at",
    "--log_dir",
    "--log_file",
    "--log_file_max_size",
    "--logtostderr",
    "--one_output",
    "--skip_headers",
    "--skip_log_headers",
    "--stderrthreshold",
    "--v",
    "-v",
    "--vmodule",
];
