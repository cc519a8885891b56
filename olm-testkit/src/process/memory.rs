//! The most resident memory of each program that has a limit, over all its processes of this run.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What was seen so far, by program.
static PEAKS: Mutex<BTreeMap<String, Peak>> = Mutex::new(BTreeMap::new());

/// The process of a program that took the most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peak {
    /// What it took, in bytes.
    pub bytes: u64,
    /// What it may take, in bytes.
    pub limit: u64,
    /// Its log.
    pub log: PathBuf,
}

/// The programs that were looked at, in the order of their names.
#[must_use]
pub fn peaks() -> Vec<(String, Peak)> {
    all().iter().map(|(program, peak)| (program.clone(), peak.clone())).collect()
}

/// Notes what a process took, if no other of its program took more.
pub(super) fn note(program: &str, peak: Peak) {
    let mut all = all();
    let noted = all.entry(program.to_owned()).or_insert_with(|| peak.clone());
    if peak.bytes > noted.bytes {
        *noted = peak;
    }
}

fn all() -> MutexGuard<'static, BTreeMap<String, Peak>> {
    PEAKS.lock().unwrap_or_else(PoisonError::into_inner)
}
