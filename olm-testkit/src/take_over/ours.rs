//! Our operators, where those of v0 were.

use std::net::IpAddr;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::api::Api;
use kube::{Client, ResourceExt};
use olm_types::api::ClusterServiceVersion;

use super::{Files, PACKAGE_SERVER};
use crate::fixture::Fixture;
use crate::kubectl::Kubectl;
use crate::operators::{Admin, Binaries, OLM_NAMESPACE, Operator, StartOptions};
use crate::packages::{self, CERTIFICATE};
use crate::process::Running;
use crate::wait;

/// A local cluster, and what is done to it.
pub struct TakeOverCluster {
    /// The client of an administrator.
    pub client: Client,
    /// kubectl with the same rights.
    pub kubectl: Kubectl,
    /// Their kubeconfig.
    pub kubeconfig: PathBuf,
    /// Our programs.
    pub binaries: Binaries,
    /// What is applied.
    pub files: Files,
}

impl TakeOverCluster {
    /// A cluster, and what is applied to it.
    ///
    /// # Errors
    /// There is no kubectl.
    pub fn of(fixture: &Fixture, files: Files) -> Result<Self> {
        Ok(Self {
            client: fixture.client.clone(),
            kubectl: Kubectl::of(&fixture.kubeconfig)?,
            kubeconfig: fixture.kubeconfig.clone(),
            binaries: fixture.binaries.clone(),
            files,
        })
    }
}

/// Both operators at work.
#[derive(Debug)]
pub struct Ours {
    operators: Vec<(Running, Admin)>,
}

impl Ours {
    /// Takes over as docs/take-over.md says, from operators that have ended. The Pods that kubectl
    /// deploys are simulated; the operators run beside the cluster, at the addresses of Services.
    ///
    /// # Errors
    /// kubectl's, or an operator is not ready in time.
    pub async fn take_over(cluster: &TakeOverCluster) -> Result<Self> {
        deploy(cluster)?;
        Self::start(cluster, &[]).await
    }

    /// The same with flags by which the catalog operator serves catalogs itself, at this address of the machine. That
    /// is where the simulated Pod of its Deployment is asked for them, too.
    ///
    /// # Errors
    /// As [`Self::take_over`].
    pub async fn take_over_serving(
        cluster: &TakeOverCluster,
        address: IpAddr,
        flags: &[String],
    ) -> Result<Self> {
        deploy(cluster)?;
        let pod = pod_address(&cluster.client).await?;
        let serving = [
            format!("--catalogs-address={address}"),
            format!("--catalogs-replica-addresses={pod}={address}"),
        ];
        Self::start(cluster, &[flags, &serving].concat()).await
    }

    async fn start(cluster: &TakeOverCluster, flags: &[String]) -> Result<Self> {
        let address = packages::address(&cluster.client).await?.to_string();
        let mut ours = Self { operators: Vec::new() };
        for operator in Operator::ALL {
            let serves = ["--packages-address".to_owned(), address.clone()];
            let args = match operator {
                Operator::Catalog => [&serves[..], flags].concat(),
                Operator::Olm => Vec::new(),
            };
            let special = StartOptions { args, ..StartOptions::default() };
            let started = cluster.binaries.operator(operator, &cluster.kubeconfig, special).await?;
            ours.operators.push(started);
        }
        for (_, admin) in &ours.operators {
            admin.until_ready().await?;
        }
        Ok(ours)
    }

    /// Waits until v0's package server is gone, and looks whether ours is at its address, with the
    /// certificate that it had.
    ///
    /// # Errors
    /// It stays, or no process shows its certificate.
    pub async fn retire_package_server(&mut self, cluster: &TakeOverCluster) -> Result<()> {
        self.operators.iter_mut().try_for_each(|(running, _)| running.check())?;
        let (client, name) = (&cluster.client, PACKAGE_SERVER);
        let csvs: Api<ClusterServiceVersion> = Api::namespaced(client.clone(), OLM_NAMESPACE);
        wait::until_gone(&csvs, name).await?;
        let deployments: Api<Deployment> = Api::namespaced(client.clone(), OLM_NAMESPACE);
        wait::until_gone(&deployments, name).await?;
        let secrets: Api<Secret> = Api::namespaced(client.clone(), OLM_NAMESPACE);
        let secret = secrets.get(CERTIFICATE).await.context("the certificate is gone")?;
        let authority = secret.data.as_ref().and_then(|data| data.get("olmCAKey"));
        let authority = authority.context("the certificate has no authority")?;
        let authority = String::from_utf8(authority.0.clone()).context("it is no PEM")?;
        let address = packages::address(client).await?;
        ensure!(packages::is_shown(address, &authority).await?, "no process shows the certificate");
        Ok(())
    }

    /// Waits until the API server has noticed, and asks it for packages.
    ///
    /// # Errors
    /// The packages API does not answer.
    pub async fn answer(&self, cluster: &TakeOverCluster) -> Result<()> {
        packages::until_available(&cluster.client).await?;
        let listed = cluster.kubectl.run(&["get", "packagemanifests", "-A", "-o", "name"]);
        let listed = listed.context("the packages API does not answer")?;
        ensure!(!listed.is_empty(), "the packages API knows no package");
        Ok(())
    }

    /// Ends both.
    pub fn stop(self) {
        self.operators.into_iter().for_each(|(running, _)| running.stop());
    }
}

/// Ends the operators that are there, and applies our files.
fn deploy(cluster: &TakeOverCluster) -> Result<()> {
    cluster.files.stop_operators(&cluster.kubectl)?;
    cluster.files.apply(&cluster.kubectl)
}

/// The address of the Pod that is simulated for the catalog operator: clients of catalogs are led there, once what is
/// behind it says that it serves them.
async fn pod_address(client: &Client) -> Result<String> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), OLM_NAMESPACE);
    let ip = |pod: &Pod| pod.status.as_ref()?.pod_ip.clone().filter(|ip| !ip.is_empty());
    let name = Operator::Catalog.name();
    let is_it = |pod: &Pod| {
        let is_of_operator = pod.labels().get("app").is_some_and(|app| app == name);
        is_of_operator && pod.metadata.deletion_timestamp.is_none() && ip(pod).is_some()
    };
    let pod = wait::until_some(&pods, "status.phase=Running", "be the operator's", is_it).await?;
    ip(&pod).context("the Pod lost its address")
}
