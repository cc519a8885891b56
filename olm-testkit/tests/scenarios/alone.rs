//! olm-operator does its part without catalogs and Subscriptions.

use std::sync::Arc;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use kube::api::{Api, PostParams};
use olm_testkit::builders::{self, Crd, csv};
use olm_testkit::e2e::TestContext;
use olm_testkit::fixture;
use olm_testkit::operators::{Operator, StartOptions};
use olm_testkit::wait;
use olm_types::api::{ClusterServiceVersion, CsvPhase};
use serde_json::json;

use crate::environment;

/// A person applies CRD, rights and CSV; no Subscription is anywhere near.
pub async fn csv_by_hand(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    apply_by_hand(&ctx.client, &ctx.namespace).await?;
    let pending = ctx.csv_phase("hand.v1.0.0", CsvPhase::Pending, "RequirementsNotMet").await?;
    let unmet = pending.status.unwrap_or_default().requirement_status;
    let unmet =
        unmet.iter().any(|one| one.name == "hands.alone.example.com" && one.status == "NotPresent");
    anyhow::ensure!(unmet, "the missing CustomResourceDefinition is not named");
    create_crd(&ctx.client).await?;
    ctx.succeeded("hand.v1.0.0").await.map(drop)
}

/// The same in a cluster in which the catalog operator never ran.
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
    environment::end(&fixture).await
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
