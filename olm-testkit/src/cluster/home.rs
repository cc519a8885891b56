//! The directory of one cluster on this machine, and the record of what runs in it.
//!
//! `<cache>/clusters/<name>/` holds everything; `cluster.json` in it is written before a process
//! starts and after each start, so whoever comes after a killed command knows what to end.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::slot::Slot;
use super::tools;
use crate::process::{Lifetime, Record};
use crate::progress::Progress;

/// Which backend a cluster belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// A control plane with a simulated node.
    #[default]
    Local,
    /// A control plane with a real node.
    Real,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Local => "simulated node",
            Self::Real => "real node",
        })
    }
}

/// What a directory says about its cluster.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// Who can end it.
    #[serde(default)]
    pub kind: Kind,
    /// Ports and addresses.
    pub slot: Slot,
    /// How long it is meant to live.
    pub lifetime: Lifetime,
    /// Whose command a [`Lifetime::Command`] cluster belongs to.
    pub owner: Record,
    /// Every part that was started.
    pub processes: Vec<Record>,
    /// Others that end with the cluster.
    #[serde(default)]
    pub adopted: Vec<Record>,
    /// Whether `up` came to its end.
    pub ready: bool,
}

impl Manifest {
    /// Whether no process uses this cluster any more.
    pub fn is_abandoned(&self) -> bool {
        self.lifetime == Lifetime::Command && !self.owner.is_alive()
    }

    /// Whether the cluster is complete and all its processes run.
    pub fn is_up(&self) -> bool {
        self.ready && !self.processes.is_empty() && self.processes.iter().all(Record::is_alive)
    }

    /// Ends every process, the last one started first.
    pub fn stop_processes(&self) {
        let all = self.processes.iter().chain(&self.adopted);
        all.rev().for_each(Record::stop);
    }
}

/// The directory of a cluster.
#[derive(Clone, Debug)]
pub struct ClusterDir {
    dir: PathBuf,
}

impl ClusterDir {
    /// The directory for a name; nothing is created.
    pub fn of(name: &str) -> Result<Self> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        ensure!(
            !name.is_empty() && name.len() <= 63 && name.chars().all(plain),
            "the cluster name {name:?} is not usable: letters, digits and dashes, at most 63"
        );
        Ok(Self { dir: Self::root()?.join(name) })
    }

    /// A directory of the caller's choice, for tests of what is written into one.
    pub fn at(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// The directory of all clusters.
    pub fn root() -> Result<PathBuf> {
        Ok(tools::cache_dir()?.join("clusters"))
    }

    /// Every cluster directory on this machine.
    pub fn all() -> Result<Vec<Self>> {
        let entries = match fs::read_dir(Self::root()?) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error).context("cannot list clusters"),
        };
        let dirs =
            entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir());
        Ok(dirs.map(|dir| Self { dir }).collect())
    }

    /// The name of the cluster.
    pub fn name(&self) -> String {
        self.dir.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The numbers that clusters of this machine hold.
    pub fn used_slots() -> Result<BTreeSet<Slot>> {
        let manifests = Self::all()?.into_iter().filter_map(|home| home.manifest());
        Ok(manifests.map(|manifest| manifest.slot).collect())
    }

    /// Holds off every other command that takes or gives back a slot, until dropped.
    pub fn lock(progress: &Progress) -> Result<File> {
        let root = Self::root()?;
        fs::create_dir_all(&root).with_context(|| format!("cannot create {}", root.display()))?;
        tools::lock(&root.join("lock"), progress)
    }

    /// Holds off other commands that start or end the cluster of this name, until dropped.
    pub fn lock_name(&self, progress: &Progress) -> Result<File> {
        let root = Self::root()?;
        fs::create_dir_all(&root).with_context(|| format!("cannot create {}", root.display()))?;
        tools::lock(&self.dir.with_extension("lock"), progress)
    }

    /// Removes the lock file of a name that is not used again.
    pub fn forget_name(&self) {
        let _ = fs::remove_file(self.dir.with_extension("lock"));
    }

    /// A file or directory of the cluster.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// The same, as an argument of a command line.
    pub fn arg(&self, name: &str) -> String {
        self.path(name).to_string_lossy().into_owned()
    }

    /// The directory itself.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The record, when there is a readable one.
    pub fn manifest(&self) -> Option<Manifest> {
        serde_json::from_slice(&fs::read(self.path("cluster.json")).ok()?).ok()
    }

    /// Writes the record; a reader sees the old or the new one.
    pub fn write_manifest(&self, manifest: &Manifest) -> Result<()> {
        let text = serde_json::to_vec_pretty(manifest).context("cannot encode the record")?;
        fs::create_dir_all(&self.dir).context("cannot create the cluster's directory")?;
        fs::write(self.path("cluster.json.new"), text).context("cannot write the record")?;
        fs::rename(self.path("cluster.json.new"), self.path("cluster.json"))
            .context("cannot write the record")
    }

    /// Ends what still runs and removes the directory.
    pub fn clear(&self) -> Result<()> {
        if let Some(manifest) = self.manifest() {
            manifest.stop_processes();
        }
        match fs::remove_dir_all(&self.dir) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(error).with_context(|| format!("cannot remove {}", self.dir.display()))
            }
            _ => Ok(()),
        }
    }
}
