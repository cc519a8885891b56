//! The cluster of the suite: a real node, our operators, and the catalog that the suite waits for.

use std::path::Path;

use anyhow::{Context, Result};
use kube::api::{Api, DynamicObject};
use olm_rig::RealCluster;
use olm_testkit::cluster::{self, ClusterBackend};
use olm_testkit::deploy::{self, Options, With};
use olm_testkit::operators::OLM_NAMESPACE;
use olm_testkit::peer::AcceptanceSuite;
use olm_testkit::wait;
use olm_types::api::CatalogSource;
use serde_json::json;

use super::images::Images;
use super::report::Report;

/// The catalog that the suite waits for before its first spec, as OLM v0 deploys it.
const CATALOG: &str = "operatorhubio-catalog";

/// Its image.
const IMAGE: &str = "quay.io/operatorhubio/catalog:latest";

/// Starts the cluster, plays, and ends it whatever has happened.
///
/// # Errors
///
/// It does not start, or the specs cannot be played.
pub(super) async fn with_olm(
    cluster: RealCluster,
    images: &Images,
    suite: &AcceptanceSuite,
    play: impl FnOnce(&Path) -> Result<Report>,
) -> Result<Report> {
    cluster.up().await?;
    let played = async {
        let kubeconfig = cluster.kubeconfig().await?;
        prepare(&cluster, &kubeconfig, images, suite).await?;
        // Nothing else waits for this thread while the suite is played.
        play(&kubeconfig)
    };
    let played = played.await;
    let ended = cluster.down().await.context("the cluster did not end");
    let report = played?;
    ended.map(|()| report)
}

async fn prepare(
    cluster: &RealCluster,
    kubeconfig: &Path,
    images: &Images,
    suite: &AcceptanceSuite,
) -> Result<()> {
    let image = images.push(&cluster.registry()?, suite).await?;
    let client = cluster::client(kubeconfig).await?;
    let options = Options { image, ..Options::default() };
    deploy::apply(&client, &options, With::Deployments).await?;
    deploy::wait_ready(&client).await.context("OLM does not start")?;
    deploy::apply_object(&client, &catalog()?).await?;
    let catalogs: Api<CatalogSource> = Api::namespaced(client, OLM_NAMESPACE);
    wait::until_connected(&catalogs, CATALOG).await.map(drop)
}

fn catalog() -> Result<DynamicObject> {
    let object = json!({
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "CatalogSource",
        "metadata": {"name": CATALOG, "namespace": OLM_NAMESPACE},
        "spec": {
            "sourceType": "grpc",
            "image": IMAGE,
            "displayName": "Community Operators",
            "publisher": "OperatorHub.io",
            "grpcPodConfig": {"securityContextConfig": "restricted"},
        },
    });
    serde_json::from_value(object).context("the catalog is no object")
}
