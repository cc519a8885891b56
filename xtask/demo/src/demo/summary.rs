//! The end of the demo: figures, and how to go on.

use std::fmt::Debug;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DeleteParams, ListParams};
use kube::{Client, ResourceExt};
use olm_testkit::cluster::ClusterBackend;
use olm_testkit::operators::OLM_NAMESPACE;
use olm_testkit::process::Running;
use olm_testkit::wait;
use olm_types::api::CatalogSource;
use serde::de::DeserializeOwned;

use super::install::{self, CATALOG};
use super::refused;
use super::setup::{CLUSTER, Setup};
use super::timeline::Timeline;

/// How the groups of the demo's kinds end.
const GROUPS: &str = ".demo.olm-rs.dev";

/// Prints what the processes take.
pub(super) fn memory(timeline: &Timeline, setup: &Setup) -> Result<()> {
    timeline.chapter("What it costs");
    let of = |process: &Running| (process.record().name.clone(), process.resident_memory());
    for (name, bytes) in setup.fixture.processes(of) {
        let name = name.trim_end_matches("-demo");
        let bytes = bytes.with_context(|| format!("{name} does not run any more"))?;
        let mib = bytes as f64 / f64::from(1 << 20);
        timeline.event("memory", format!("{name:<16} {mib:.1} MiB resident"));
    }
    Ok(())
}

/// Says how to use what still runs.
pub(super) fn how_to_go_on(timeline: &Timeline, setup: &Setup) {
    let kubeconfig = setup.fixture.kubeconfig.display();
    timeline.chapter("Cluster and operators keep running. Try:");
    let namespace = install::NAMESPACE;
    for line in [
        format!("export KUBECONFIG={kubeconfig}"),
        format!("kubectl -n {namespace} get subscriptions,installplans,csv,deployments"),
        format!("kubectl -n {} get subscription guestbook -o yaml", refused::NAMESPACE),
        format!("kubectl -n {namespace} get events"),
        format!("cargo xtask cluster status --name {CLUSTER}"),
        format!("cargo xtask cluster down --name {CLUSTER}   # ends everything"),
    ] {
        println!("    {line}");
    }
}

/// Removes what the demo made in a cluster that stays.
pub(super) async fn remove_objects(client: &Client, cluster: &dyn ClusterBackend) -> Result<()> {
    if cluster.simulates_pods() {
        return Ok(()); // the whole cluster goes
    }
    let catalogs: Api<CatalogSource> = Api::namespaced(client.clone(), OLM_NAMESPACE);
    delete(&catalogs, CATALOG).await?;
    let namespaces: Api<Namespace> = Api::all(client.clone());
    for name in [install::NAMESPACE, refused::NAMESPACE] {
        delete(&namespaces, name).await?;
    }
    // The operators must still run now: a CSV goes only after its finalizer was taken away.
    for name in [install::NAMESPACE, refused::NAMESPACE] {
        wait::until_gone(&namespaces, name).await?;
    }
    remove_kinds(client).await
}

/// Removes the kinds of the demo's operators. An older version of a kind, with which the next demo
/// begins, cannot take the place of a newer one.
async fn remove_kinds(client: &Client) -> Result<()> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let all = definitions.list(&ListParams::default()).await.context("cannot list the kinds")?;
    let ours = all.iter().filter(|definition| definition.spec.group.ends_with(GROUPS));
    for name in ours.map(ResourceExt::name_any) {
        delete(&definitions, &name).await?;
        wait::until_gone(&definitions, &name).await?;
    }
    Ok(())
}

/// Deletes what is there.
async fn delete<K>(api: &Api<K>, name: &str) -> Result<()>
where
    K: Clone + Debug + DeserializeOwned,
{
    match api.delete(name, &DeleteParams::default()).await {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        answer => answer.map(drop).with_context(|| format!("cannot remove {name}")),
    }
}
