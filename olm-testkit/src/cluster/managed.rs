//! What clusters have in common whose processes this project starts and ends.
//!
//! A directory, a lock for whoever starts or ends the cluster, a record of its processes, and
//! the children that hold a test's cluster alive.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use super::Status;
use super::home::{ClusterDir, Kind, Manifest};
use super::slot::Slot;
use crate::process::{Launch, Lifetime, Record, Running};
use crate::progress::Progress;

/// A named cluster on this machine.
#[derive(Debug)]
pub struct Managed {
    /// Which backend it belongs to.
    pub kind: Kind,
    /// Its directory.
    pub home: ClusterDir,
    /// When its processes end at the latest.
    pub lifetime: Lifetime,
    /// Where it reports how far it is.
    pub progress: Progress,
    /// Children of this process; they hold the pipes that keep a test's cluster alive.
    children: Mutex<Vec<Running>>,
}

impl Managed {
    /// A cluster that stays until it is ended.
    pub fn kept(kind: Kind, name: &str, progress: Progress) -> Result<Self> {
        Self::new(kind, name, Lifetime::Kept, progress)
    }

    /// A cluster for one command: it ends with this process, however that ends.
    pub fn for_this_command(kind: Kind, purpose: &str, progress: Progress) -> Result<Self> {
        let name = format!("{purpose}-{}", std::process::id());
        Self::new(kind, &name, Lifetime::Command, progress)
    }

    fn new(kind: Kind, name: &str, lifetime: Lifetime, progress: Progress) -> Result<Self> {
        let home = ClusterDir::of(name)?;
        Ok(Self { kind, home, lifetime, progress, children: Mutex::default() })
    }

    /// The file with every write that the API server was asked for.
    pub fn audit_log(&self) -> PathBuf {
        self.home.path("audit.log")
    }

    /// A directory for files that should go with the cluster.
    pub fn scratch(&self) -> PathBuf {
        self.home.path("logs")
    }

    /// Lets the end of the cluster end another process. It takes the place of one that had its name
    /// and has ended.
    pub fn adopt(&self, process: &Running) -> Result<()> {
        let _lock = self.home.lock_name(&self.progress)?;
        let mut manifest = self.home.manifest().context("the cluster is not up")?;
        let record = process.record();
        let stays = |other: &Record| other.name != record.name || other.is_alive();
        manifest.adopted.retain(|other| other != record && stays(other));
        manifest.adopted.push(record.clone());
        self.home.write_manifest(&manifest)
    }

    /// Fails when the name belongs to a cluster of another backend, which cannot end it.
    pub fn check_kind(&self) -> Result<()> {
        let other = self.home.manifest().map(|manifest| manifest.kind);
        let name = self.home.name();
        ensure!(
            other.is_none_or(|other| other == self.kind),
            "the cluster {name} is one with a {}: {}, or take another name with `--name`",
            other.unwrap_or_default(),
            match other.unwrap_or_default() {
                Kind::Local => "leave out `--real`",
                Kind::Real => "add `--real`",
            }
        );
        Ok(())
    }

    /// Takes a slot under the lock, so that two commands never take the same. `clear` ends what
    /// is left of an earlier cluster of this name, or of one that no process uses any more.
    pub fn claim(
        &self,
        clear: impl Fn(&ClusterDir) -> Result<()>,
        suits: impl Fn(Slot) -> bool,
    ) -> Result<Manifest> {
        let lock = ClusterDir::lock(&self.progress)?;
        for home in ClusterDir::all()? {
            let manifest = home.manifest().filter(|manifest| manifest.kind == self.kind);
            if manifest.is_some_and(|manifest| manifest.is_abandoned()) {
                clear(&home)?;
                home.forget_name();
            }
        }
        clear(&self.home)?;
        let manifest = Manifest {
            kind: self.kind,
            slot: Slot::choose(&ClusterDir::used_slots()?, suits)?,
            lifetime: self.lifetime,
            owner: Record::of_this_process(),
            processes: Vec::new(),
            adopted: Vec::new(),
            ready: false,
        };
        self.home.write_manifest(&manifest)?;
        drop(lock);
        Ok(manifest)
    }

    /// The lock of whoever starts this cluster, until dropped; none when the cluster is up already.
    pub fn begin(&self) -> Result<Option<File>> {
        let lock = self.home.lock_name(&self.progress)?;
        self.check_kind()?;
        if self.home.manifest().is_some_and(|manifest| manifest.is_up()) {
            self.progress.step("the cluster is up already");
            return Ok(None);
        }
        Ok(Some(lock))
    }

    /// Puts on record that everything was started, and reports what is up now. A failed start says
    /// where the logs are.
    pub fn complete(
        &self,
        mut manifest: Manifest,
        started: Result<Vec<Running>>,
        since: Instant,
        version: &str,
        what: &str,
    ) -> Result<()> {
        let logs = || format!("logs: {}", self.home.arg("logs"));
        self.keep_children(started.with_context(logs)?);
        manifest.ready = true;
        self.home.write_manifest(&manifest)?;
        self.progress.step(format!(
            "Kubernetes {version} at {} is up after {:.1} s ({what})",
            manifest.slot.api_server(),
            since.elapsed().as_secs_f32()
        ));
        Ok(())
    }

    /// Starts processes one after the other, each on record before the next.
    pub fn launch(
        &self,
        children: &mut Vec<Running>,
        manifest: &mut Manifest,
        launches: &[Launch],
    ) -> Result<()> {
        for launch in launches {
            let running = launch.start()?;
            manifest.processes.push(running.record().clone());
            children.push(running);
            self.home.write_manifest(manifest)?;
        }
        Ok(())
    }

    /// Starts a process that takes the place of one of its name, which has ended.
    pub fn replace(&self, launch: &Launch) -> Result<()> {
        let _lock = self.home.lock_name(&self.progress)?;
        let mut manifest = self.home.manifest().context("the cluster is not up")?;
        let running = launch.start()?;
        let name = &running.record().name;
        let place = manifest.processes.iter_mut().find(|process| process.name == *name);
        let place = place.with_context(|| format!("the cluster has no {name}"))?;
        *place = running.record().clone();
        if let Ok(mut kept) = self.children.lock() {
            kept.push(running);
        }
        self.home.write_manifest(&manifest)
    }

    /// Holds the children from now on, and lets go of those from before.
    pub fn keep_children(&self, children: Vec<Running>) {
        if let Ok(mut kept) = self.children.lock() {
            *kept = children;
        }
    }

    /// What runs, after some lines of the backend.
    pub fn status(&self, lines: impl FnOnce(Slot) -> Vec<String>) -> Status {
        let Some(manifest) = self.home.manifest() else {
            return Status { up: false, details: Vec::new() };
        };
        let mut details = lines(manifest.slot);
        details.push(format!("directory   {}", self.home.dir().display()));
        details.extend(manifest.processes.iter().chain(&manifest.adopted).map(|process| {
            let state = if process.is_alive() { "runs" } else { "does not run" };
            format!("{} (pid {}) {state}", process.name, process.pid)
        }));
        Status { up: manifest.is_up(), details }
    }

    /// The file that clients need.
    pub fn kubeconfig(&self) -> Result<PathBuf> {
        let path = self.home.path("kubeconfig");
        if !path.is_file() {
            bail!("the cluster is not up: `cargo xtask cluster up` starts it");
        }
        Ok(path)
    }
}

/// Every cluster on this machine by name: its kind, and whether it is up.
pub fn list() -> Result<Vec<(String, Kind, bool)>> {
    let manifests = ClusterDir::all()?.into_iter().map(|home| (home.name(), home.manifest()));
    let mut all: Vec<_> = manifests
        .map(|(name, manifest)| {
            let kind = manifest.as_ref().map(|manifest| manifest.kind).unwrap_or_default();
            (name, kind, manifest.is_some_and(|manifest| manifest.is_up()))
        })
        .collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(all)
}
