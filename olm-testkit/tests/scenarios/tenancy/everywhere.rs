//! An operator that watches all namespaces, on a cluster of its own: its copies would be in the
//! way of other scenarios.

use std::sync::Arc;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::{Event, Namespace};
use kube::Client;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use olm_testkit::builders::{self, csv};
use olm_testkit::e2e::TestContext;
use olm_testkit::operators::{Operator, StartOptions};
use olm_testkit::wait;
use olm_types::api::{ClusterServiceVersion, OLMConfig, OperatorGroup};
use serde_json::json;

use crate::environment;

const CSV: &str = "global.v1.0.0";

/// Every namespace has a copy, new ones too, until copying is switched off.
pub async fn everywhere(_: Arc<TestContext>) -> Result<()> {
    let fixture = environment::cluster("everywhere").await?;
    fixture.start_operator(Operator::Olm, StartOptions::default()).await?;
    let result = play(&fixture.client).await;
    fixture.check()?;
    result?;
    environment::end(&fixture).await
}

async fn play(client: &Client) -> Result<()> {
    install(client).await?;
    copy_in(client, "default").await?;
    let namespaces: Api<Namespace> = Api::all(client.clone());
    namespaces.create(&PostParams::default(), &builders::namespace("late")).await?;
    copy_in(client, "late").await?;
    configure(client, json!({"disableCopiedCSVs": true})).await?;
    wait::until_gone(&copies(client, "default"), CSV).await?;
    wait::until_gone(&copies(client, "late"), CSV).await?;
    says(client, "True", "CopiedCSVsDisabled").await?;
    let events: Api<Event> = Api::namespaced(client.clone(), "home");
    let reported = |event: &Event| event.reason.as_deref() == Some("DisabledCopiedCSVs");
    wait::until_some(&events, "", "say that nothing is copied", reported).await?;
    configure(client, json!({"disableCopiedCSVs": false})).await?;
    copy_in(client, "late").await?;
    says(client, "False", "CopiedCSVsEnabled").await?;
    let originals: Api<ClusterServiceVersion> = Api::namespaced(client.clone(), "home");
    originals.delete(CSV, &DeleteParams::default()).await.context("cannot delete the CSV")?;
    wait::until_gone(&copies(client, "default"), CSV).await?;
    wait::until_gone(&copies(client, "late"), CSV).await
}

async fn install(client: &Client) -> Result<()> {
    let once = PostParams::default();
    let namespaces: Api<Namespace> = Api::all(client.clone());
    namespaces.create(&once, &builders::namespace("home")).await?;
    let groups: Api<OperatorGroup> = Api::namespaced(client.clone(), "home");
    groups.create(&once, &builders::operator_group("home", "global", &[])).await?;
    let csvs: Api<ClusterServiceVersion> = Api::namespaced(client.clone(), "home");
    let prose = "What only the original's full text holds.".to_owned();
    let operator = csv(CSV, "1.0.0").deployment("global", "default").description(prose);
    csvs.create(&once, &operator.build()).await.context("the API server refuses the CSV")?;
    Ok(())
}

/// Waits for a copy that shows all of the original.
async fn copy_in(client: &Client, namespace: &str) -> Result<()> {
    let shows_all = |csv: &ClusterServiceVersion| {
        let status = csv.status.as_ref();
        status.is_some_and(|status| {
            status.reason.as_deref() == Some("Copied") && status.phase.to_string() == "Succeeded"
        }) && csv.spec.description.as_deref().is_some_and(|text| text.starts_with("What only"))
    };
    let what = "show the original";
    wait::until(&copies(client, namespace), CSV, what, shows_all).await.map(drop)
}

fn copies(client: &Client, namespace: &str) -> Api<ClusterServiceVersion> {
    Api::namespaced(client.clone(), namespace)
}

async fn configure(client: &Client, features: serde_json::Value) -> Result<()> {
    let configs: Api<OLMConfig> = Api::all(client.clone());
    let config = json!({
        "apiVersion": OLMConfig::API_VERSION, "kind": OLMConfig::KIND,
        "metadata": {"name": "cluster"}, "spec": {"features": features},
    });
    let params = PatchParams::apply("scenario").force();
    configs.patch("cluster", &params, &Patch::Apply(config)).await?;
    Ok(())
}

async fn says(client: &Client, status: &str, reason: &str) -> Result<()> {
    let configs: Api<OLMConfig> = Api::all(client.clone());
    let what = format!("say {status} for {reason}");
    let says = |config: &OLMConfig| {
        let conditions = config.status.iter().flat_map(|status| &status.conditions);
        conditions.into_iter().any(|found| {
            let complete = !found.message.contains("missing");
            found.status == status && found.reason == reason && complete
        })
    };
    wait::until(&configs, "cluster", &what, says).await.map(drop)
}
