//! olm-operator does its part without catalogs and Subscriptions.

use std::process::Stdio;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::{Pod, ServiceAccount};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use kube::api::{Api, PostParams};
use olm_testkit::builders::{self, Crd, csv};
use olm_testkit::e2e::TestContext;
use olm_testkit::fixture::{self, Fixture};
use olm_testkit::operators::{Operator, StartOptions};
use olm_testkit::wait;
use olm_types::annotations::{CATALOG_DIGEST, CATALOG_IMAGE};
use olm_types::api::{CatalogSource, ClusterServiceVersion, CsvPhase};
use olm_types::labels::{ENDPOINTS_MANAGED_BY, ENDPOINTS_MANAGER, SERVICE_NAME};
use serde_json::json;
use tokio::process::Command;

use crate::environment;

/// A person applies CRD, rights and CSV; no Subscription is anywhere near.
pub async fn csv_by_hand(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    apply_by_hand(&ctx.client, &ctx.namespace).await?;
    let pending = ctx.csv_phase("hand.v1.0.0", CsvPhase::Pending, "RequirementsNotMet").await?;
    let unmet = pending.status.unwrap_or_default().requirement_status;
    let unmet =
        unmet.iter().any(|one| one.name == "hands.alone.example.com" && one.status == "NotPresent");
    ensure!(unmet, "the missing CustomResourceDefinition is not named");
    create_crd(&ctx.client).await?;
    ctx.succeeded("hand.v1.0.0").await.map(drop)
}

/// The same in a cluster in which the catalog operator never ran. Whoever says there that it serves a catalog leads
/// no reader to his Pod.
pub async fn no_catalog_operator(_: Arc<TestContext>) -> Result<()> {
    let fixture = environment::cluster("alone").await?;
    fixture.start_operator(Operator::Olm, StartOptions::default()).await?;
    let client = &fixture.client;
    fixture::namespace(client, "alone").await?;
    create_crd(client).await?;
    apply_by_hand(client, "alone").await?;
    let csvs: Api<ClusterServiceVersion> = Api::namespaced(client.clone(), "alone");
    let succeeded = wait::until(&csvs, "hand.v1.0.0", "succeed", |csv: &ClusterServiceVersion| {
        csv.status.as_ref().is_some_and(|status| status.phase == CsvPhase::Succeeded)
    })
    .await;
    fixture.check()?;
    succeeded?;
    forged_endpoint(&fixture).await?;
    environment::end(&fixture).await
}

/// An EndpointSlice says that catalog-operator serves a catalog, in a Pod that is none of its: `kubectl olm` does not
/// connect to that.
async fn forged_endpoint(fixture: &Fixture) -> Result<()> {
    let (client, once) = (&fixture.client, PostParams::default());
    let source = json!({
        "metadata": {"name": "shelf"},
        "spec": {"sourceType": "grpc", "image": "shelf.example.com/shelf:v1"},
    });
    let catalogs: Api<CatalogSource> = Api::namespaced(client.clone(), "alone");
    catalogs.create(&once, &serde_json::from_value(source)?).await.context("no catalog")?;
    let pod = json!({
        "metadata": {"name": "decoy", "labels": {"app": "decoy"}},
        "spec": {"containers": [{"name": "decoy", "image": "decoy.example.com/decoy:v1"}]},
    });
    let pods: Api<Pod> = Api::namespaced(client.clone(), "alone");
    pods.create(&once, &serde_json::from_value(pod)?).await.context("no Pod")?;
    let slices: Api<EndpointSlice> = Api::namespaced(client.clone(), "alone");
    slices.create(&once, &forged_slice()?).await.context("no EndpointSlice")?;
    let mut program = Command::new(fixture.binaries.program("kubectl-olm"));
    program.arg("--kubeconfig").arg(&fixture.kubeconfig);
    program.args(["-n", "alone", "permissions", "kettle"]).stdin(Stdio::null());
    let output = program.output().await.context("cannot run kubectl-olm")?;
    let said = String::from_utf8_lossy(&output.stderr);
    let refused = "Pod alone/decoy, which its EndpointSlice names, is none of catalog-operator";
    ensure!(said.contains(refused), "kubectl olm says {said}");
    Ok(())
}

/// What catalog-operator would write for the catalog, with another Pod.
fn forged_slice() -> Result<EndpointSlice> {
    let slice = json!({
        "metadata": {
            "name": "shelf-olm-rs",
            "labels": {ENDPOINTS_MANAGED_BY: ENDPOINTS_MANAGER, SERVICE_NAME: "shelf"},
            "annotations": {CATALOG_IMAGE: "shelf.example.com/shelf:v1", CATALOG_DIGEST: "forged"},
        },
        "addressType": "IPv4",
        "endpoints": [{
            "addresses": ["10.0.0.7"], "conditions": {"ready": true},
            "targetRef": {"kind": "Pod", "namespace": "alone", "name": "decoy"},
        }],
        "ports": [{"name": "grpc", "port": 50_107}],
    });
    serde_json::from_value(slice).context("a malformed EndpointSlice")
}

fn hands() -> Crd {
    Crd::new("alone.example.com", "v1", "Hand")
}

async fn create_crd(client: &Client) -> Result<()> {
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    let crd = serde_json::from_value(hands().manifest()).context("a malformed CRD")?;
    crds.create(&PostParams::default(), &crd).await.context("cannot create the CRD")?;
    Ok(())
}

/// ServiceAccount, its rights, and a CSV that wants exactly those.
async fn apply_by_hand(client: &Client, namespace: &str) -> Result<()> {
    let once = PostParams::default();
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), namespace);
    accounts.create(&once, &builders::service_account(namespace, "hand")).await?;
    let rule = PolicyRule {
        api_groups: Some(vec![String::new()]),
        resources: Some(vec!["nodes".to_owned()]),
        verbs: vec!["get".to_owned(), "list".to_owned()],
        ..PolicyRule::default()
    };
    let name = format!("hand-{namespace}");
    let (role, binding) = builders::cluster_role(&name, namespace, "hand", vec![rule]);
    Api::<ClusterRole>::all(client.clone()).create(&once, &role).await?;
    Api::<ClusterRoleBinding>::all(client.clone()).create(&once, &binding).await?;
    let wanted = json!([{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list"]}]);
    let csv = csv("hand.v1.0.0", "1.0.0")
        .owns(&hands())
        .deployment("hand", "hand")
        .cluster_permission("hand", wanted);
    let csvs: Api<ClusterServiceVersion> = Api::namespaced(client.clone(), namespace);
    csvs.create(&once, &csv.build()).await.context("the API server refuses the CSV")?;
    Ok(())
}
