//! What was compiled, kept outside of the checkout: a fresh clone on the same machine compiles only
//! what has changed.
//!
//! A folder of the user's cache for each combination of toolchain, lock file and flags holds parts of
//! cargo's target folder under the names that cargo gives them: those of packages of a registry after
//! every build, and those of the workspace after a run of all checks, with a record of the files that
//! they were made of. Cargo itself judges whether such a part is fresh. What was not used for a while
//! goes, and so does what is over the limit.

mod key;
mod sources;
mod sweep;
mod unit;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::PathBuf;

use anyhow::{Context, Result};
use olm_tools::cache_dir;

use self::unit::Packages;
use crate::build::Built;
use crate::progress::Progress;
use crate::workspace::{paths, root, target};

/// What is kept for this workspace.
#[derive(Debug)]
pub struct CompiledCache {
    /// All that is kept, for every key.
    root: PathBuf,
    folder: PathBuf,
    target: PathBuf,
    packages: Packages,
}

/// In the target folder: what was compiled of the workspace for another checkout has been looked at.
const MARK: &str = "checkout";

/// The rendered documentation, in the folder of a key and beside the target folder.
const DOCUMENTATION: &str = "doc";

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

    /// Copies what the target folder lacks, or has compiled later, into it; of the workspace's own parts only into
    /// that of a new checkout.
    ///
    /// # Errors
    /// A file cannot be copied.
    pub fn bring(&self, progress: &Progress) -> Result<()> {
        let mark = self.target.join(MARK);
        let mut lacking = self.lacking(&self.packages.registry);
        let is_new = !mark.exists();
        if is_new && sources::restore(&root(), &self.folder)? > 0 {
            lacking.extend(self.lacking(&self.packages.own));
            self.bring_documentation()?;
        }
        if !lacking.is_empty() {
            let _lock = self.lock()?;
            let task = progress.begin("taking what is compiled from the cache");
            unit::copy(&self.folder, &self.target, &lacking)?;
            sweep::used(&self.folder)?;
            task.far(format!("{} parts, ", lacking.len()));
            task.succeeded(true);
        }
        if is_new {
            fs::create_dir_all(&self.target).context("cannot create the target folder")?;
            fs::write(mark, "").context("cannot mark the target folder")?;
        }
        Ok(())
    }

    /// Copies those of these parts that are not kept yet; `hashes` are those in the names that cargo
    /// gives to files. Then removes what is over the limits.
    ///
    /// # Errors
    /// A file cannot be copied or removed.
    pub fn keep(&self, hashes: &BTreeSet<String>, progress: &Progress) -> Result<()> {
        let used = self.used(&self.packages.registry, hashes);
        let fresh = &used - &unit::units(&self.folder, &self.packages.registry);
        self.copy_back(&fresh, progress)
    }

    /// Keeps what was built of the workspace's own packages, and its documentation, for a checkout with the same
    /// sources.
    ///
    /// # Errors
    /// A file cannot be copied or removed.
    pub fn keep_own(&self, built: &Built, progress: &Progress) -> Result<()> {
        let executables: Vec<_> = built.executables.iter().map(|one| &*one.path).collect();
        let hashes = &built.hashes | &unit::hashes_of(&self.target, &executables);
        let own = &self.packages.own;
        let used = &self.used(own, &hashes) | &unit::documented(&self.target, own);
        let fresh = unit::units_that_differ(&self.target, &self.folder, used);
        if fresh.is_empty() {
            return Ok(());
        }
        self.copy_back(&fresh, progress)?;
        let documentation = self.documentation();
        if documentation.is_dir() {
            unit::copy_tree(&documentation, &self.folder.join(DOCUMENTATION))?;
        }
        sources::record(&root(), &paths()?, &self.folder)
    }

    fn lacking(&self, packages: &BTreeSet<String>) -> BTreeSet<String> {
        unit::units_to_copy(&self.folder, &self.target, packages)
    }

    fn used(&self, packages: &BTreeSet<String>, hashes: &BTreeSet<String>) -> BTreeSet<String> {
        let built = unit::units(&self.target, packages);
        built.into_iter().filter(|unit| hashes.contains(unit::hash(unit))).collect()
    }

    fn copy_back(&self, fresh: &BTreeSet<String>, progress: &Progress) -> Result<()> {
        if fresh.is_empty() {
            return Ok(());
        }
        let _lock = self.lock()?;
        let task = progress.begin("keeping what is compiled for the next checkout");
        unit::copy(&self.target, &self.folder, fresh)?;
        sweep::used(&self.folder)?;
        sweep::sweep(&self.root, &self.folder)?;
        task.far(format!("{} parts, ", fresh.len()));
        task.succeeded(true);
        Ok(())
    }

    fn bring_documentation(&self) -> Result<()> {
        let (kept, here) = (self.folder.join(DOCUMENTATION), self.documentation());
        if kept.is_dir() && !here.exists() { unit::copy_tree(&kept, &here) } else { Ok(()) }
    }

    fn documentation(&self) -> PathBuf {
        self.target.with_file_name(DOCUMENTATION)
    }

    /// Only one process copies at a time.
    fn lock(&self) -> Result<File> {
        fs::create_dir_all(&self.root).context("cannot create the cache of dependencies")?;
        let lock = File::create(self.root.join("lock")).context("cannot create a lock")?;
        lock.lock().context("cannot lock the cache of dependencies")?;
        Ok(lock)
    }
}
