//! A cluster with a real node on this machine: containers run, Services and DNS work.
//!
//! The same control plane as [`olm_testkit::cluster::local`], and containerd, a kubelet, kube-proxy, CoreDNS in
//! a pod and an image registry. Everything runs in namespaces of its own (`namespaces`): the
//! machine sees processes, one network device, one cgroup and a directory, and two ports on its
//! loopback address that lead inside, to the API server and to the registry. Nothing inside has
//! a route beyond this machine, and every image name means its path in that registry.
//!
//! Needs root on Linux and some Debian packages (`requirements`).

mod borrowed;
mod cgroups;
mod command;
mod configuration;
pub mod debian;
mod dns;
mod identities;
mod images;
mod namespaces;
mod network;
mod parts;
mod programs;
mod requirements;
mod start;
mod teardown;
mod traces;

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use async_trait::async_trait;
use network::Addresses;
use olm_testkit::cluster::home::{ClusterDir, Kind, Manifest};
use olm_testkit::cluster::managed::Managed;
use olm_testkit::cluster::slot::Slot;
use olm_testkit::cluster::{ClusterBackend, Status};
use olm_testkit::process::{Lifetime, Record, Running};
use olm_testkit::progress::Progress;
use programs::Programs;
use requirements::Facts;
pub use traces::Traces;

/// The name of the node: the one that tools made for kind look for.
pub const NODE: &str = "kind-control-plane";

/// Where Debian puts network plugins.
const CNI_PLUGINS: &str = "/usr/lib/cni";

/// A named cluster with a real node.
#[derive(Debug)]
pub struct RealCluster {
    managed: Managed,
    may_install: bool,
}

impl RealCluster {
    /// A cluster that stays until [`ClusterBackend::down`].
    pub fn kept(name: &str, progress: Progress) -> Result<Self> {
        Ok(Self::new(Managed::kept(Kind::Real, name, progress)?))
    }

    /// A cluster for one command: its processes end with this one, however that ends; files
    /// that are left by a killed command go with the next `up` of any name.
    pub fn for_this_command(purpose: &str, progress: Progress) -> Result<Self> {
        Ok(Self::new(Managed::for_this_command(Kind::Real, purpose, progress)?))
    }

    fn new(managed: Managed) -> Self {
        Self { managed, may_install: debian::allowed() }
    }

    /// Whether missing Debian packages may be installed. `OLM_INSTALL_PACKAGES=1` says so, too.
    #[must_use]
    pub fn may_install(mut self, allowed: bool) -> Self {
        self.may_install |= allowed;
        self
    }

    /// Where images are pushed: `127.0.0.1:PORT`, plain HTTP. Pods pull them by any name whose
    /// path is the repository.
    pub fn registry(&self) -> Result<String> {
        let manifest = self.managed.home.manifest().context("the cluster is not up")?;
        Ok(registry(manifest.slot))
    }

    /// The name, unique on this machine.
    pub fn name(&self) -> String {
        self.managed.home.name()
    }

    /// The file with every write that the API server was asked for, one JSON object per line.
    pub fn audit_log(&self) -> PathBuf {
        self.managed.audit_log()
    }

    /// Lets `down` end a process that is of no use without the cluster.
    pub fn adopt(&self, process: &Running) -> Result<()> {
        self.managed.adopt(process)
    }

    /// A directory for files that should go with the cluster.
    pub fn scratch(&self) -> PathBuf {
        self.managed.scratch()
    }

    /// Kills every process on record at once, as a crash would, and removes nothing.
    pub fn kill(&self) -> Result<()> {
        let manifest = self.managed.home.manifest().context("the cluster is not up")?;
        manifest.processes.iter().for_each(Record::kill);
        Ok(())
    }

    /// Gets what the machine needs and may be got: packages, when that is allowed, and kernel
    /// modules. Nothing happens when everything is there.
    ///
    /// # Errors
    ///
    /// With everything that is missing after that, each with what helps.
    pub fn prepare_machine(&self) -> Result<()> {
        let home = &self.managed.home;
        let facts = Facts::gather(home)?;
        if facts.root && self.may_install && !facts.packages.is_empty() {
            debian::install(&facts.packages, &self.managed.progress)?;
        }
        if facts.root {
            requirements::load_modules(&facts);
        }
        requirements::check(&Facts::gather(home)?)
    }

    fn end(&self) -> Result<()> {
        let lock = ClusterDir::lock(&self.managed.progress)?;
        teardown::end(&self.managed.home)?;
        drop(lock);
        Ok(())
    }

    /// Removes what an earlier cluster left and takes a number.
    fn claim(&self) -> Result<Manifest> {
        let routes = fs::read_to_string("/proc/net/route").context("cannot read the routes")?;
        let clear = |home: &ClusterDir| {
            let found = teardown::end(home)?;
            if !found.is_empty() {
                let name = home.name();
                let what = found.join(", ");
                self.managed.progress.step(format!("removed what {name} had left: {what}"));
            }
            Ok(())
        };
        self.managed.claim(clear, |slot| network::is_free(slot, &routes))
    }
}

#[async_trait]
impl ClusterBackend for RealCluster {
    async fn up(&self) -> Result<()> {
        let managed = &self.managed;
        let Some(_lock) = managed.begin()? else { return Ok(()) };
        self.prepare_machine()?;
        let progress = managed.progress.clone();
        let build = move || Programs::ensure(&progress);
        let programs =
            tokio::task::spawn_blocking(build).await.context("the build was cancelled")??;
        let since = Instant::now();
        let mut manifest = self.claim()?;
        let started = start::run(managed, &programs, &mut manifest).await;
        let started = started.inspect_err(|_| manifest.processes.iter().for_each(Record::stop));
        let what = format!("real node, images at {}", registry(manifest.slot));
        managed.complete(manifest, started, since, programs.kubernetes.kubernetes(), &what)
    }

    async fn down(&self) -> Result<()> {
        if !self.managed.home.dir().exists() {
            return Ok(());
        }
        let _lock = self.managed.home.lock_name(&self.managed.progress)?;
        self.managed.check_kind()?;
        self.end()?;
        self.managed.keep_children(Vec::new());
        Ok(())
    }

    async fn status(&self) -> Result<Status> {
        Ok(self.managed.status(|slot| {
            let addresses = Addresses::of(slot);
            vec![
                format!("API server  {}", slot.api_server()),
                format!("registry    {}", registry(slot)),
                format!("node        {NODE} at {}", addresses.node()),
                format!("pods        {}", addresses.node_pods()),
                format!("Services    {}", addresses.services()),
                format!("cgroup      {}", configuration::cgroup(slot)),
            ]
        }))
    }

    async fn kubeconfig(&self) -> Result<PathBuf> {
        self.managed.kubeconfig()
    }

    fn simulates_pods(&self) -> bool {
        false
    }
}

impl Drop for RealCluster {
    /// A cluster for one command takes everything with it.
    fn drop(&mut self) {
        if self.managed.lifetime == Lifetime::Command {
            self.managed.keep_children(Vec::new());
            let ended = if self.managed.home.dir().exists() { self.end() } else { Ok(()) };
            if let Err(error) = ended {
                self.managed.progress.step(format!("not everything was removed: {error:#}"));
            }
            self.managed.home.forget_name();
        }
    }
}

/// Where the registry of a cluster is reached from the machine and from the node.
fn registry(slot: Slot) -> String {
    format!("127.0.0.1:{}", slot.registry_port())
}
