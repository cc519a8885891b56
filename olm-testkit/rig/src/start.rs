//! Bringing the parts of a real cluster up, in the order of need.

use std::time::Instant;

use anyhow::Result;

use super::namespaces::{self, Namespaces};
use super::network::{self, Addresses};
use super::programs::Programs;
use super::{NODE, borrowed, cgroups::Hierarchies, configuration, dns, identities, parts};
use olm_testkit::cluster::client;
use olm_testkit::cluster::control_plane::{self, ControlPlane, certificates, readiness};
use olm_testkit::cluster::home::{ClusterDir, Manifest};
use olm_testkit::cluster::managed::Managed;
use olm_testkit::process::{Launch, Running};
use olm_testkit::progress::Progress;

/// A cluster that is coming up.
pub(super) struct Start<'a> {
    managed: &'a Managed,
    parts: ControlPlane<'a>,
    manifest: &'a mut Manifest,
    children: Vec<Running>,
    began: Instant,
}

/// Starts everything; returns the children that hold it.
pub(super) async fn run(
    managed: &Managed,
    programs: &Programs,
    manifest: &mut Manifest,
) -> Result<Vec<Running>> {
    let (home, slot) = (&managed.home, manifest.slot);
    let network = &network::control_plane(home, Addresses::of(slot));
    let (tools, lifetime) = (&programs.kubernetes, managed.lifetime);
    let parts = ControlPlane { home, slot, network, tools, lifetime };
    prepare(&parts, &managed.progress)?;
    let children = Vec::new();
    let mut start = Start { managed, parts, manifest, children, began: Instant::now() };
    let inside = start.namespaces().await?;
    start.control_plane(inside).await?;
    start.node(inside, programs).await?;
    Ok(start.children)
}

/// What is there before the first process.
fn prepare(parts: &ControlPlane<'_>, progress: &Progress) -> Result<()> {
    let (home, slot) = (parts.home, parts.slot);
    control_plane::write_configuration(home)?;
    configuration::write(home, slot)?;
    let authority = certificates::write(home, slot, parts.network)?;
    identities::write(home, slot, &authority)?;
    namespaces::write(home)?;
    borrowed::take(progress)?;
    Hierarchies::of_this_machine()?.create(&configuration::cgroup(slot))
}

impl Start<'_> {
    /// The namespaces, the cable to them, and the ports that lead there.
    async fn namespaces(&mut self) -> Result<Namespaces> {
        let home = self.home();
        self.launch(vec![namespaces::holder(home, self.parts.lifetime)])?;
        if let Some(holder) = self.children.first_mut() {
            namespaces::wait(home, holder).await?;
        }
        let inside = Namespaces::of(&self.manifest.processes)?;
        inside.connect(home, Addresses::of(self.parts.slot))?;
        let slot = self.parts.slot;
        let doors = [("door-api-server", slot.api_port()), ("door-registry", slot.registry_port())];
        let doors = doors.map(|(name, port)| parts::door(&self.parts, name, port));
        self.launch(doors.map(|door| namespaces::marked(home, door)).to_vec())?;
        Ok(inside)
    }

    /// What answers requests, and what needs nothing of it.
    async fn control_plane(&mut self, inside: Namespaces) -> Result<()> {
        let parts = &self.parts;
        let first =
            [parts.etcd(), parts.api_server(), parts::registry(parts), parts::containerd(parts)];
        self.launch_inside(inside, first.to_vec())?;
        let client = client(&self.home().path("kubeconfig")).await?;
        readiness::api_server(&client, &mut self.children).await?;
        let rest = [self.parts.controller_manager(), self.parts.scheduler()];
        self.launch_inside(inside, rest.to_vec())?;
        self.step("the API server answers");
        Ok(())
    }

    /// The node, and the first pod on it.
    async fn node(&mut self, inside: Namespaces, programs: &Programs) -> Result<()> {
        let (slot, node) = (self.parts.slot, &programs.node);
        programs.images.push(&super::registry(slot)).await?;
        parts::containerd_answers(&self.parts, &mut self.children).await?;
        let agents = vec![parts::kubelet(&self.parts, node), parts::kube_proxy(&self.parts, node)];
        self.launch_inside(inside, agents)?;
        let client = client(&self.home().path("kubeconfig")).await?;
        dns::apply(&client, Addresses::of(slot)).await?;
        readiness::workloads(&client, NODE, &mut self.children).await?;
        self.step("the node is Ready");
        dns::wait(&client, &mut self.children).await?;
        self.step("the cluster DNS answers");
        Ok(())
    }

    fn launch_inside(&mut self, inside: Namespaces, launches: Vec<Launch>) -> Result<()> {
        let home = self.home();
        self.launch(launches.into_iter().map(|launch| inside.inside(home, launch)).collect())
    }

    fn launch(&mut self, launches: Vec<Launch>) -> Result<()> {
        self.managed.launch(&mut self.children, self.manifest, &launches)
    }

    fn step(&self, what: &str) {
        let seconds = self.began.elapsed().as_secs_f32();
        self.managed.progress.step(format!("{what} after {seconds:.1} s"));
    }
}

impl<'a> Start<'a> {
    fn home(&self) -> &'a ClusterDir {
        &self.managed.home
    }
}
