//! Compiled dependencies, kept outside of the checkout: a fresh clone on the same machine compiles
//! only what is ours.
//!
//! A folder of the user's cache for each combination of toolchain, lock file and flags holds the
//! parts of cargo's target folder that come from packages of a registry, under the names that cargo
//! gives them. Cargo itself judges whether such a part is fresh. What was not used for a while goes,
//! and so does what is over the limit.

mod key;
mod sweep;
mod unit;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::PathBuf;

use anyhow::{Context, Result};
use olm_tools::cache_dir;

use crate::progress::Progress;
use crate::workspace::target;

/// What is kept for this workspace.
#[derive(Debug)]
pub struct CompiledCache {
    /// All that is kept, for every key.
    root: PathBuf,
    folder: PathBuf,
    target: PathBuf,
    packages: BTreeSet<String>,
}

impl CompiledCache {
    /// Finds the folder; it need not exist.
    ///
    /// # Errors
    /// There is no place for a cache, no toolchain, or no lock file.
    pub fn of_this_workspace() -> Result<Self> {
        let root = cache_dir()?.join("compiled");
        let folder = root.join(key::of_this_workspace()?);
        Ok(Self { root, folder, target: target().join("debug"), packages: unit::packages()? })
    }

    /// Copies what the target folder lacks, or has compiled later, into it.
    ///
    /// # Errors
    /// A file cannot be copied.
    pub fn bring(&self, progress: &Progress) -> Result<()> {
        let lacking = unit::units_to_copy(&self.folder, &self.target, &self.packages);
        if lacking.is_empty() {
            return Ok(());
        }
        let _lock = self.lock()?;
        let task = progress.begin("taking compiled dependencies from the cache");
        unit::copy(&self.folder, &self.target, &lacking)?;
        sweep::used(&self.folder)?;
        task.far(format!("{} parts, ", lacking.len()));
        task.succeeded(true);
        Ok(())
    }

    /// Copies those of these parts that are not kept yet; `hashes` are those in the names that cargo
    /// gives to files. Then removes what is over the limits.
    ///
    /// # Errors
    /// A file cannot be copied or removed.
    pub fn keep(&self, hashes: &BTreeSet<String>, progress: &Progress) -> Result<()> {
        let built = unit::units(&self.target, &self.packages);
        let used = built.into_iter().filter(|unit| hashes.contains(unit::hash(unit))).collect();
        let fresh = &used - &unit::units(&self.folder, &self.packages);
        if fresh.is_empty() {
            return Ok(());
        }
        let _lock = self.lock()?;
        let task = progress.begin("keeping compiled dependencies for the next checkout");
        unit::copy(&self.target, &self.folder, &fresh)?;
        sweep::used(&self.folder)?;
        sweep::sweep(&self.root, &self.folder)?;
        task.succeeded(true);
        Ok(())
    }

    /// Only one process copies at a time.
    fn lock(&self) -> Result<File> {
        fs::create_dir_all(&self.root).context("cannot create the cache of dependencies")?;
        let lock = File::create(self.root.join("lock")).context("cannot create a lock")?;
        lock.lock().context("cannot lock the cache of dependencies")?;
        Ok(lock)
    }
}
