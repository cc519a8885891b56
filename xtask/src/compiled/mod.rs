//! What was compiled, kept outside of the checkout: a fresh clone on the same machine compiles only
//! what has changed.
//!
//! A folder of the user's cache for each combination of toolchain, lock file and flags holds parts of
//! cargo's target folder under the names that cargo gives them: those of packages of a registry after
//! every build, and those of the workspace after a run of all checks, with a record of the files that
//! they were made of. Cargo itself judges whether such a part is fresh. What was not used for a while
//! goes, and so does what is over the limit.

mod dep_info;
mod key;
mod own;
mod sources;
mod sweep;
mod unit;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

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

/// In the folder of a key: parts of the workspace's own packages.
const OWN: &str = "own";

/// The rendered documentation, in that folder and beside the target folder.
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
        let lacking = lacking(&self.folder, &self.target, &self.packages.registry);
        if !lacking.is_empty() {
            let _lock = self.lock()?;
            let task = progress.begin("taking compiled dependencies from the cache");
            unit::copy(&self.folder, &self.target, &lacking)?;
            sweep::used(&self.folder)?;
            task.far(format!("{} parts, ", lacking.len()));
            task.succeeded(true);
        }
        let mark = self.target.join(MARK);
        if !mark.exists() {
            if own::is_untouched(&self.target, &self.packages.own) {
                self.bring_own(progress)?;
            }
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
        if fresh.is_empty() {
            return Ok(());
        }
        let _lock = self.lock()?;
        let task = progress.begin("keeping compiled dependencies for the next checkout");
        unit::copy(&self.target, &self.folder, &fresh)?;
        self.sweep()?;
        task.succeeded(true);
        Ok(())
    }

    /// Keeps what these builds made of the workspace's own packages, and its documentation, for a checkout with the
    /// same sources. It takes the place of what was kept before as a whole: parts and the record of what they were made
    /// of must not be of different times.
    ///
    /// # Errors
    /// A file cannot be copied or removed.
    pub fn keep_own(&self, builds: &[&Built], progress: &Progress) -> Result<()> {
        let used = own::used(&self.target, &self.packages.own, builds);
        let own = self.own();
        if unit::units_that_differ(&self.target, &own, &used).is_empty() {
            return Ok(());
        }
        let _lock = self.lock()?;
        let task = progress.begin("keeping what was compiled for the next checkout");
        let new = own.with_extension("new");
        remove(&new)?;
        unit::copy(&self.target, &new, &used)?;
        let documentation = self.documentation();
        if documentation.is_dir() {
            unit::copy_tree(&documentation, &new.join(DOCUMENTATION))?;
        }
        sources::record(&root(), &paths()?, &new)?;
        remove(&own)?;
        fs::rename(&new, &own).context("cannot keep what was compiled")?;
        self.sweep()?;
        task.far(format!("{} parts, ", used.len()));
        task.succeeded(true);
        Ok(())
    }

    fn bring_own(&self, progress: &Progress) -> Result<()> {
        let own = self.own();
        if !own.is_dir() {
            return Ok(());
        }
        let _lock = self.lock()?;
        let task = progress.begin("taking what was compiled of the same sources from the cache");
        let Some(restored) = sources::restore(&root(), &own)? else { return Ok(()) };
        let lacking = lacking(&own, &self.target, &self.packages.own);
        unit::copy(&own, &self.target, &lacking)?;
        for unit in &lacking {
            self.move_unit(unit, &restored.root)?;
        }
        let (kept, here) = (own.join(DOCUMENTATION), self.documentation());
        if kept.is_dir() && !here.exists() {
            unit::copy_tree(&kept, &here)?;
        }
        task.far(format!("{} files are the same, ", restored.files));
        task.succeeded(true);
        Ok(())
    }

    /// Has what cargo notes of a part of another checkout name the files of this one. A part of which that cannot be
    /// is compiled.
    fn move_unit(&self, unit: &str, from: &Path) -> Result<()> {
        let folder = self.target.join(unit::FINGERPRINTS).join(unit);
        for name in unit::names(&folder).filter(|name| name.starts_with("dep-")) {
            if !dep_info::move_note(&folder.join(name), from, &root())? {
                return remove(&folder);
            }
        }
        Ok(())
    }

    fn used(&self, packages: &BTreeSet<String>, hashes: &BTreeSet<String>) -> BTreeSet<String> {
        let built = unit::units(&self.target, packages);
        built.into_iter().filter(|unit| hashes.contains(unit::hash(unit))).collect()
    }

    fn own(&self) -> PathBuf {
        self.folder.join(OWN)
    }

    fn documentation(&self) -> PathBuf {
        self.target.with_file_name(DOCUMENTATION)
    }

    fn sweep(&self) -> Result<()> {
        sweep::used(&self.folder)?;
        sweep::sweep(&self.root, &self.folder)
    }

    /// Only one process copies at a time.
    fn lock(&self) -> Result<File> {
        fs::create_dir_all(&self.root).context("cannot create the cache of dependencies")?;
        let lock = File::create(self.root.join("lock")).context("cannot create a lock")?;
        lock.lock().context("cannot lock the cache of dependencies")?;
        Ok(lock)
    }
}

fn lacking(kept: &Path, target: &Path, packages: &BTreeSet<String>) -> BTreeSet<String> {
    unit::units_to_copy(kept, target, packages)
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}
