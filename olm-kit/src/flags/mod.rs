//! Command lines: the flags that every operator understands.
//!
//! They are read as pflag reads them (`olm-flags`), so that what manifests of OLM v0 say means the same
//! here. A flag that is not known ends the process, as there; those of v0's log library are known.

mod common;
mod klog;
mod line;
#[cfg(test)]
mod tests;

pub use common::{CommonFlags, FlagError};
pub use klog::KlogFlags;
pub use line::{CommandLine, Flags};

/// A flag of OLM v0 that is accepted and does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle {
    /// Its name, with dashes.
    pub flag: &'static str,
    /// Why nothing is lost.
    pub why: &'static str,
}
