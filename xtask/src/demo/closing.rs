//! The end of the demo: figures, and how to go on.

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::api::{Api, DeleteParams};
use olm_testkit::cluster::ClusterBackend;
use olm_testkit::operators::OLM_NAMESPACE;
use olm_testkit::wait;
use olm_types::api::CatalogSource;

use super::install::{self, CATALOG};
use super::stage::{CLUSTER, Stage};
use super::timeline::Timeline;
use super::trouble;

/// Prints what the operators take.
pub(super) fn memory(timeline: &Timeline, stage: &Stage) -> Result<()> {
    timeline.chapter("What it costs");
    for process in &stage.processes {
        let bytes = process.resident_memory().context("a process does not run any more")?;
        let mib = bytes as f64 / f64::from(1 << 20);
        timeline.event("memory", format!("{:<21} {mib:.1} MiB resident", process.record().name));
    }
    Ok(())
}

/// Says how to use what still runs.
pub(super) fn how_to_go_on(timeline: &Timeline, stage: &Stage) {
    let kubeconfig = stage.kubeconfig.display();
    timeline.chapter("Cluster and operators keep running. Try:");
    let namespace = install::NAMESPACE;
    for line in [
        format!("export KUBECONFIG={kubeconfig}"),
        format!("kubectl -n {namespace} get subscriptions,installplans,csv,deployments"),
        format!("kubectl -n {} get subscription guestbook -o yaml", trouble::NAMESPACE),
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
    let now = DeleteParams::default();
    let catalogs: Api<CatalogSource> = Api::namespaced(client.clone(), OLM_NAMESPACE);
    catalogs.delete(CATALOG, &now).await.context("cannot remove the catalog")?;
    let namespaces: Api<Namespace> = Api::all(client.clone());
    for name in [install::NAMESPACE, trouble::NAMESPACE] {
        namespaces.delete(name, &now).await.context("cannot remove a namespace")?;
    }
    // The operators must still run now: a CSV goes only after its finalizer was taken away.
    for name in [install::NAMESPACE, trouble::NAMESPACE] {
        wait::until_gone(&namespaces, name).await?;
    }
    Ok(())
}
