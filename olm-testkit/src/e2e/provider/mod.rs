//! Clusters on which scenarios are played.

pub mod in_cluster;
pub mod local;
pub mod v0;

use std::path::PathBuf;

use anyhow::{Result, bail};
use async_trait::async_trait;
use kube::Client;

use super::Need;
use crate::browser;
use crate::builders::CatalogDir;
use crate::registry::Registry;
use crate::stand_in::{Server, StandIn};

/// A cluster in which OLM works.
#[async_trait]
pub trait Provider: Send + Sync {
    /// Asks the API server with the rights of an administrator.
    fn client(&self) -> Client;

    /// What is special about this cluster.
    fn facts(&self) -> &Facts;

    /// Serves a catalog so that OLM reaches it, until [`Provider::clear`] or the end of the provider.
    async fn serve(
        &self,
        namespace: &str,
        name: &str,
        content: CatalogDir,
    ) -> Result<Box<dyn ServedCatalog>>;

    /// Starts what answers in place of a Deployment's Pods, where no container runs.
    async fn stand_in(&self, _server: &Server) -> Result<Option<StandIn>> {
        Ok(None)
    }

    /// A kubeconfig with the rights of an administrator.
    async fn kubeconfig(&self) -> Result<PathBuf> {
        bail!("no kubeconfig of this cluster is known")
    }

    /// Fails when OLM has ended and is not started again.
    fn check(&self) -> Result<()>;

    /// What the programs of OLM have logged, by name.
    async fn logs(&self) -> Vec<(String, String)>;

    /// The other namespaces of a scenario, beside its own; none where catalogs are served by processes.
    fn beside(&self, _namespace: &str) -> Vec<String> {
        Vec::new()
    }

    /// Removes what was served for a namespace; processes end with their scenario.
    async fn clear(&self, _namespace: &str) -> Result<()> {
        Ok(())
    }
}

/// What is special about a cluster.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Why containers do not run, where they do not.
    pub no_containers: Option<&'static str>,
    /// What containers of test operators run. Without it they name an image that does not exist.
    pub workload: Option<Workload>,
    /// Where images are pushed (`HOST:PORT`, plain HTTP) that nodes then pull by their repository.
    pub registry: Option<String>,
    /// The namespace with the Pods of OLM; none where OLM runs outside of the cluster.
    pub olm_namespace: Option<String>,
    /// The image of those Pods, `REGISTRY/NAME:TAG`.
    pub olm_image: Option<String>,
    /// Whether there is a kubectl, and a kubeconfig for it.
    pub kubectl: bool,
    /// The log of the API server, from which is read who wrote what.
    pub audit_log: Option<PathBuf>,
    /// Whether OLM is v0.
    pub is_v0: bool,
    /// Whether the cluster stays when the scenarios are over, so that they leave nothing behind.
    pub stays: bool,
}

/// A container that runs until it is asked to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// A reference that the nodes can pull, or have.
    pub image: String,
    /// The command line after the image's entry point that only waits.
    pub waits: Vec<String>,
}

impl Facts {
    /// Why a need is not met; none when it is.
    pub fn lacks(&self, need: Need) -> Option<String> {
        let absent = |absent: bool, why: &str| absent.then(|| why.to_owned());
        match need {
            Need::Containers => self.no_containers.map(str::to_owned),
            Need::Workload => absent(
                self.workload.is_none(),
                "no image of a program that runs is known; --workload names one",
            ),
            Need::Registry => absent(
                self.registry.is_none(),
                "no registry of images is known from which the nodes pull",
            ),
            Need::OlmPods => absent(
                self.olm_namespace.is_none(),
                "the operators run outside of the cluster, so they have no Pods",
            ),
            Need::Kubectl => absent(!self.kubectl, "no kubeconfig of this cluster is known"),
            Need::Simulation => absent(
                self.no_containers.is_none(),
                "kubelets report themselves, and overwrite what a scenario reports",
            ),
            Need::Browser => browser::missing(),
            Need::Axe => browser::missing_axe(),
        }
    }
}

/// A catalog that is served, and changes.
#[async_trait]
pub trait ServedCatalog: Send {
    /// What a CatalogSource says in `address`. It stays the same.
    fn address(&self) -> String;

    /// Serves other content from now on, as a new Pod behind the same Service does.
    async fn publish(&mut self, content: CatalogDir) -> Result<()>;

    /// Ends the server at once; no process answers at the address.
    async fn die(&mut self) -> Result<()>;

    /// Serves again after [`Self::die`].
    async fn resume(&mut self) -> Result<()>;
}

/// A process beside the cluster.
#[async_trait]
impl ServedCatalog for Registry {
    fn address(&self) -> String {
        Self::address(self)
    }

    async fn publish(&mut self, content: CatalogDir) -> Result<()> {
        Self::publish(self, content)
    }

    async fn die(&mut self) -> Result<()> {
        Self::die(self);
        Ok(())
    }

    async fn resume(&mut self) -> Result<()> {
        Self::resume(self)
    }
}
