//! A real control plane on this machine, with a simulated node.
//!
//! etcd, kube-apiserver, kube-controller-manager and kube-scheduler are the real ones. The node
//! is played by kwok: pods become Ready without a container. No root, no container engine; all
//! files lie in one directory and every listener is on a loopback address. Any number of
//! clusters can run side by side, told apart by name.

mod certificates;
mod components;
mod home;
mod readiness;
mod slot;

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use async_trait::async_trait;

use super::tools::{KUBERNETES, Tools};
use super::{ClusterBackend, Status, client};
use crate::process::{Launch, Lifetime, Record, Running};
use crate::progress::Progress;
use components::Components;
use home::{Home, Manifest};
use slot::Slot;

/// A named local cluster.
#[derive(Debug)]
pub struct LocalCluster {
    home: Home,
    lifetime: Lifetime,
    progress: Progress,
    /// Children of this process; they hold the pipes that keep a test's cluster alive.
    children: Mutex<Vec<Running>>,
}

impl LocalCluster {
    /// A cluster that stays until [`ClusterBackend::down`].
    pub fn kept(name: &str, progress: Progress) -> Result<Self> {
        Self::new(name, Lifetime::Kept, progress)
    }

    /// A cluster for one command: it ends with this process, however that ends.
    pub fn for_this_command(purpose: &str, progress: Progress) -> Result<Self> {
        let name = format!("{purpose}-{}", std::process::id());
        Self::new(&name, Lifetime::Command, progress)
    }

    /// Every cluster on this machine with its state, by name.
    pub fn list() -> Result<Vec<(String, bool)>> {
        let mut all: Vec<_> = Home::all()?
            .into_iter()
            .filter_map(|home| {
                let name = home.dir().file_name()?.to_string_lossy().into_owned();
                Some((name, home.manifest().is_some_and(|manifest| manifest.is_up())))
            })
            .collect();
        all.sort();
        Ok(all)
    }

    /// The name, unique on this machine.
    pub fn name(&self) -> String {
        self.home.dir().file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The file with every write that the API server was asked for, one JSON object per line.
    pub fn audit_log(&self) -> PathBuf {
        self.home.path("audit.log")
    }

    /// Lets `down` end a process that is of no use without the cluster.
    pub fn adopt(&self, guest: &Running) -> Result<()> {
        let _turn = self.home.lock_name(&self.progress)?;
        let mut manifest = self.home.manifest().context("the cluster is not up")?;
        manifest.guests.push(guest.record().clone());
        self.home.write_manifest(&manifest)
    }

    /// A directory for files that should go with the cluster.
    pub fn scratch(&self) -> PathBuf {
        self.home.path("logs")
    }

    fn new(name: &str, lifetime: Lifetime, progress: Progress) -> Result<Self> {
        let home = Home::of(name)?;
        Ok(Self { home, lifetime, progress, children: Mutex::default() })
    }

    /// Takes a slot under the lock, so that two commands never take the same.
    fn claim(&self) -> Result<Manifest> {
        let lock = Home::lock(&self.progress)?;
        let homes = Home::all()?;
        for home in &homes {
            if home.manifest().is_some_and(|manifest| manifest.is_abandoned()) {
                home.clear()?;
                home.forget_name();
            }
        }
        self.home.clear()?;
        let used = homes.iter().filter_map(Home::manifest).map(|manifest| manifest.slot).collect();
        let manifest = Manifest {
            slot: Slot::choose(&used)?,
            lifetime: self.lifetime,
            owner: Record::of_this_process(),
            processes: Vec::new(),
            guests: Vec::new(),
            ready: false,
        };
        self.home.write_manifest(&manifest)?;
        drop(lock);
        Ok(manifest)
    }

    /// Starts everything in the order of need.
    async fn start(&self, tools: &Tools, manifest: &mut Manifest) -> Result<Vec<Running>> {
        let (home, slot) = (&self.home, manifest.slot);
        components::write_configuration(home)?;
        certificates::write(home, slot)?;
        let parts = Components { home, slot, tools, lifetime: self.lifetime };
        let mut children = Vec::new();
        self.launch(&mut children, manifest, &[parts.etcd(), parts.api_server()])?;
        let client = client(&home.path("kubeconfig")).await?;
        readiness::api_server(&client, &mut children).await?;
        readiness::create_node(&client).await?;
        let rest = [parts.controller_manager(), parts.scheduler(), parts.kwok()];
        self.launch(&mut children, manifest, &rest)?;
        readiness::workloads(&client, &mut children).await?;
        Ok(children)
    }

    fn launch(
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

    fn keep_children(&self, children: Vec<Running>) {
        if let Ok(mut kept) = self.children.lock() {
            *kept = children;
        }
    }
}

#[async_trait]
impl ClusterBackend for LocalCluster {
    async fn up(&self) -> Result<()> {
        let _turn = self.home.lock_name(&self.progress)?;
        if self.home.manifest().is_some_and(|manifest| manifest.is_up()) {
            self.progress.step("the cluster is up already");
            return Ok(());
        }
        let progress = self.progress.clone();
        let tools = tokio::task::spawn_blocking(move || Tools::ensure(&progress))
            .await
            .context("the build of the tools was cancelled")??;
        let started = Instant::now();
        let mut manifest = self.claim()?;
        match self.start(&tools, &mut manifest).await {
            Ok(children) => self.keep_children(children),
            Err(error) => {
                manifest.stop_processes();
                return Err(error.context(format!("logs: {}", self.home.arg("logs"))));
            }
        }
        manifest.ready = true;
        self.home.write_manifest(&manifest)?;
        self.progress.step(format!(
            "Kubernetes {KUBERNETES} at {} is up after {:.1} s (real API server, simulated node)",
            manifest.slot.api_server(),
            started.elapsed().as_secs_f32()
        ));
        Ok(())
    }

    async fn down(&self) -> Result<()> {
        let _turn = self.home.lock_name(&self.progress)?;
        self.home.clear()?;
        self.keep_children(Vec::new());
        Ok(())
    }

    async fn status(&self) -> Result<Status> {
        let Some(manifest) = self.home.manifest() else {
            return Ok(Status { up: false, details: Vec::new() });
        };
        let mut details = vec![
            format!("API server  {}", manifest.slot.api_server()),
            format!("Services    {}", manifest.slot.service_range()),
            format!("directory   {}", self.home.dir().display()),
        ];
        details.extend(manifest.processes.iter().chain(&manifest.guests).map(|process| {
            let state = if process.is_alive() { "runs" } else { "does not run" };
            format!("{} (pid {}) {state}", process.name, process.pid)
        }));
        Ok(Status { up: manifest.is_up(), details })
    }

    async fn kubeconfig(&self) -> Result<PathBuf> {
        let path = self.home.path("kubeconfig");
        if !path.is_file() {
            bail!("the cluster is not up: `cargo xtask cluster up` starts it");
        }
        Ok(path)
    }

    fn simulates_pods(&self) -> bool {
        true
    }
}

impl Drop for LocalCluster {
    /// A cluster for one command takes its files with it.
    fn drop(&mut self) {
        if self.lifetime == Lifetime::Command {
            self.keep_children(Vec::new());
            let _ = self.home.clear();
            self.home.forget_name();
        }
    }
}
