//! OLM in Pods: deployed from `deploy/`, or found in a cluster that has it.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use kube::api::Api;
use olm_testkit::cluster::{self, ClusterBackend};
use olm_testkit::deploy::{self, Options, With};
use olm_testkit::e2e::figures::{self, Figure};
use olm_testkit::e2e::provider::Facts;
use olm_testkit::e2e::provider::in_cluster::InCluster;
use olm_testkit::operators::{OLM_NAMESPACE, Operator};
use tokio::time::{Instant, sleep};

use super::images::Images;

/// A kind that every OLM has.
const DEFINITION: &str = "clusterserviceversions.operators.coreos.com";

/// How long a kubelet may take to know what its Pods need: it looks every 10 to 15 seconds.
const MEASURED: Duration = Duration::from_secs(60);

/// A cluster in which OLM was just started.
pub(super) struct Deployed {
    pub provider: InCluster,
    /// How long that took.
    pub start: Vec<Figure>,
}

/// Applies `deploy/` with our image and waits until both operators are ready.
pub(super) async fn deploy(
    cluster: &dyn ClusterBackend,
    images: &Images,
    audit_log: Option<PathBuf>,
) -> Result<Deployed> {
    let client = cluster::client(&cluster.kubeconfig().await?).await?;
    let olm = images.olm.clone().context("no image of OLM is known")?;
    let cold = tokio::spawn(figures::cold_start(client.clone(), OLM_NAMESPACE.to_owned()));
    let options = Options { image: olm.clone(), ..Options::default() };
    let started = async {
        deploy::apply(&client, &options, With::Deployments).await?;
        deploy::wait_ready(&client).await
    };
    if let Err(error) = started.await {
        cold.abort();
        return Err(error.context("OLM does not start"));
    }
    let start = cold.await.context("the start was not measured")??;
    let facts = Facts {
        workload: Some(images.waiting()),
        olm_namespace: Some(OLM_NAMESPACE.to_owned()),
        audit_log,
        stays: true,
        ..Facts::default()
    };
    Ok(Deployed { provider: InCluster::new(client, &olm, facts), start })
}

/// Finds OLM in a cluster that is not ours: this one, or v0.
pub(super) async fn find(
    cluster: &dyn ClusterBackend,
    namespace: &str,
    images: impl FnOnce() -> Result<Images>,
) -> Result<InCluster> {
    let client = cluster::client(&cluster.kubeconfig().await?).await?;
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    let definition = crds.get_opt(DEFINITION).await;
    if definition.context("cannot ask for the kinds of the cluster")?.is_none() {
        bail!(
            "the cluster of the current context has no OLM ({DEFINITION} is missing): write \
             deploy/ with `cargo xtask manifests` and apply it with `kubectl apply --server-side`, \
             or say `--cluster local`"
        );
    }
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), namespace);
    let mut found_image = None;
    for operator in Operator::ALL {
        let found = deployments.get_opt(operator.name()).await;
        let Some(found) = found.context("cannot read the Deployments of OLM")? else {
            bail!(
                "there is no Deployment {operator} in namespace {namespace}: say where OLM is with \
                 `--olm-namespace NAMESPACE`"
            );
        };
        found_image = found_image.or_else(|| image_of(&found));
    }
    let images = images()?;
    let image = images.olm.clone().or(found_image);
    let image = image.context("no image serves catalogs: name one with `--image`")?;
    let facts = Facts {
        workload: Some(images.waiting()),
        olm_namespace: Some(namespace.to_owned()),
        stays: true,
        ..Facts::default()
    };
    Ok(InCluster::new(client, &image, facts))
}

/// Resident memory of OLM's Pods once their nodes know it.
pub(super) async fn memory(client: &Client, namespace: &str) -> Vec<Figure> {
    let deadline = Instant::now() + MEASURED;
    loop {
        match figures::memory(client, namespace).await {
            Ok(all) if all.len() >= Operator::ALL.len() => return all,
            Ok(all) if Instant::now() > deadline => return all,
            Err(error) if Instant::now() > deadline => {
                return vec![Figure::new("resident memory", format!("not measured: {error:#}"))];
            }
            _ => sleep(Duration::from_secs(1)).await,
        }
    }
}

/// Our image has `opm` beside the operators.
fn image_of(deployment: &Deployment) -> Option<String> {
    let pod = deployment.spec.as_ref()?.template.spec.as_ref()?;
    pod.containers.first()?.image.clone()
}
