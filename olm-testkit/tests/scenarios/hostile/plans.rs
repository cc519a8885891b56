//! Small objects that stand for large ones: an InstallPlan whose steps refer to one bundle in two thousand
//! ways, and a CSV whose annotations go to thousands of Deployments.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::ResourceExt;
use kube::api::{Api, ObjectMeta, Patch, PatchParams, PostParams};
use olm_testkit::builders;
use olm_testkit::e2e::TestContext;
use olm_testkit::e2e::provider::local::Local;
use olm_testkit::operators::Operator;
use olm_testkit::wait;
use olm_types::api::{CatalogSource, ClusterServiceVersion, InstallPlan};
use serde_json::{Value, json};

use super::{healthy, within_memory};

/// How many ways there are to write the reference.
const WAYS: u32 = 2_000;

/// Bytes of the object in the bundle.
const LARGE: usize = 900_000;

/// Each way would have been a copy of all that the bundle holds.
pub async fn references(local: Arc<Local>, ctx: Arc<TestContext>) -> Result<()> {
    let (process, _) = local.process(Operator::Catalog)?;
    local.forget_peak(Operator::Catalog)?;
    ctx.operator_group().await?;
    bundle(&ctx).await?;
    plan(&ctx).await?;
    let says =
        |text: &Option<String>| text.as_deref().is_some_and(|text| text.contains("large.v1"));
    let refused = |plan: &InstallPlan| {
        let status = plan.status.iter();
        status.clone().any(|status| says(&status.message))
            || status.flat_map(|it| &it.conditions).any(|condition| says(&condition.message))
    };
    wait::until(&ctx.api(), "ways", "refuse its step", refused).await?;
    healthy(&local, "hostile::beside-references").await?.remove().await?;
    let (now, _) = local.process(Operator::Catalog)?;
    ensure!(now == process, "catalog-operator was process {process} and is {now}");
    within_memory(&local)
}

/// What looks like the ConfigMap of a bundle: a CatalogSource owns it.
async fn bundle(ctx: &TestContext) -> Result<()> {
    let csv = json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
        "metadata": {"name": "large.v1"}});
    let large = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "large"},
        "data": {"a": "a".repeat(LARGE)}});
    let catalog = builders::catalog_source(&ctx.namespace, "mine", "127.0.0.1:9");
    let catalog: CatalogSource = ctx.create(&catalog).await?;
    let owner = OwnerReference {
        api_version: "operators.coreos.com/v1alpha1".to_owned(),
        kind: "CatalogSource".to_owned(),
        name: catalog.name_any(),
        uid: catalog.uid().unwrap_or_default(),
        ..OwnerReference::default()
    };
    let metadata = ObjectMeta {
        name: Some("bundle".to_owned()),
        owner_references: Some(vec![owner]),
        ..ObjectMeta::default()
    };
    let data = [("csv.yaml", csv), ("large.yaml", large)];
    let data = data.map(|(key, object)| (key.to_owned(), object.to_string()));
    ctx.create(&ConfigMap { metadata, data: Some(BTreeMap::from(data)), ..ConfigMap::default() })
        .await?;
    Ok(())
}

async fn plan(ctx: &TestContext) -> Result<()> {
    let plans: Api<InstallPlan> = ctx.api();
    let plan = json!({
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "InstallPlan",
        "metadata": {"name": "ways", "namespace": ctx.namespace},
        "spec": {"approval": "Automatic", "approved": true, "clusterServiceVersionNames": []},
    });
    plans.create(&PostParams::default(), &serde_json::from_value(plan)?).await?;
    let steps: Vec<Value> = (0..WAYS).map(|way| step(&ctx.namespace, way)).collect();
    let status = json!({"status": {"phase": "Installing", "catalogSources": [], "plan": steps}});
    plans.patch_status("ways", &PatchParams::default(), &Patch::Merge(status)).await?;
    Ok(())
}

/// The bits of `way` are spaces or tabs between the parts of the reference.
fn step(namespace: &str, way: u32) -> Value {
    let gaps: String = (0..12).map(|bit| if way >> bit & 1 == 1 { '\t' } else { ' ' }).collect();
    let reference = format!(
        "{{{gaps}\"kind\":\"ConfigMap\",\"name\":\"bundle\",\"namespace\":\"{namespace}\",\
         \"catalogSourceName\":\"mine\",\"catalogSourceNamespace\":\"{namespace}\"}}"
    );
    let resource = json!({
        "group": "", "version": "v1", "kind": "ConfigMap", "name": "large", "manifest": reference,
        "sourceName": "mine", "sourceNamespace": namespace,
    });
    json!({"resolving": "large.v1", "resource": resource, "status": "Unknown"})
}

/// How many Deployments a CSV describes, and bytes of its annotation: together 1.3 GB.
const DEPLOYMENTS: usize = 5_000;
const ANNOTATION: usize = 250_000;

/// What olm-operator takes at most, in bytes.
const MEMORY: u64 = Operator::Olm.memory_limit();

/// The CSV is refused before any of its Deployments is made.
pub async fn deployments(local: Arc<Local>, ctx: Arc<TestContext>) -> Result<()> {
    let (process, _) = local.process(Operator::Olm)?;
    local.forget_peak(Operator::Olm)?;
    ctx.operator_group().await?;
    let csvs: Api<ClusterServiceVersion> = ctx.api();
    csvs.create(&PostParams::default(), &serde_json::from_value(csv(&ctx.namespace))?).await?;
    let refused = |csv: &ClusterServiceVersion| {
        let message = csv.status.as_ref().and_then(|status| status.message.as_deref());
        message.is_some_and(|message| message.contains("the Deployments take more than"))
    };
    wait::until(&csvs, "many.v1", "be refused", refused).await?;
    healthy(&local, "hostile::beside-deployments").await?.remove().await?;
    let (now, peak) = local.process(Operator::Olm)?;
    ensure!(now == process, "olm-operator was process {process} and is {now}");
    println!("olm-operator took {} MiB at most", peak >> 20);
    ensure!(peak < MEMORY, "olm-operator took {peak} bytes");
    Ok(())
}

fn csv(namespace: &str) -> Value {
    let deployment = |number: usize| {
        json!({"name": format!("d{number}"), "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c"}]}},
        }})
    };
    let deployments: Vec<Value> = (0..DEPLOYMENTS).map(deployment).collect();
    json!({
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {"name": "many.v1", "namespace": namespace,
            "annotations": {"note": "a".repeat(ANNOTATION)}},
        "spec": {
            "displayName": "many",
            "installModes": [{"type": "OwnNamespace", "supported": true}],
            "install": {"strategy": "deployment", "spec": {"deployments": deployments}},
        },
    })
}
