//! A ConfigMap of a megabyte that would be 30 GB: 150,000 scalars, a text, and 100,000 aliases of it. The
//! scalars keep the rule content by which v0 counts values.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DeleteParams, ObjectMeta, Patch, PatchParams, PostParams};
use olm_testkit::e2e::TestContext;
use olm_testkit::e2e::provider::local::Local;
use olm_testkit::operators::Operator;
use olm_testkit::wait;
use olm_types::api::{CatalogSource, InstallPlan};
use olm_types::hash::unpack_name;
use serde_json::json;

use super::{healthy, within_memory};
use crate::unpack::{IMAGE, job, kubelet, reported, subscribe};

/// What is said of it.
const SAID: &str = "the values take more than";

/// As a bundle that was unpacked, as the manifest of a step, and as a catalog: each is refused where it
/// is, catalog-operator goes on as the same process, and an operator of another namespace is installed.
pub async fn multiplying_aliases(local: Arc<Local>, ctx: Arc<TestContext>) -> Result<()> {
    let (process, _) = local.process(Operator::Catalog)?;
    let kubelet = kubelet(&ctx).await?;
    subscribe(&ctx, "kettle.v1.0.0", IMAGE).await?;
    let job = job(&ctx, IMAGE).await?;
    ctx.conclude_refused_plans().await?;
    fill(&ctx, &unpack_name(IMAGE)).await?;
    kubelet.complete(&job).await?;
    step(&ctx).await?;
    catalog(&ctx).await?;
    reported(&ctx, "BundleUnpackFailed", |text| text.contains(SAID) && text.contains("bomb.yaml"))
        .await?;
    refused_step(&ctx).await?;
    healthy(&local, "hostile::neighbour").await?.remove().await?;
    let (now, _) = local.process(Operator::Catalog)?;
    ensure!(now == process, "catalog-operator was process {process} and is {now}");
    within_memory(&local)?;
    kubelet.end().await
}

/// A bit less than the MiB that an API server takes.
fn bomb() -> String {
    format!(
        "kind: ConfigMap\napiVersion: v1\nmetadata: {{name: bomb}}\ntext: &a {}\nothers: [{}]\ncopies: [{}]\n",
        "x".repeat(300_000),
        vec!["0"; 150_000].join(","),
        vec!["*a"; 100_000].join(",")
    )
}

/// What the Pod of the Job could have written.
async fn fill(ctx: &TestContext, name: &str) -> Result<()> {
    let patch = Patch::Merge(json!({"data": {"bomb.yaml": bomb()}}));
    ctx.api::<ConfigMap>().patch(name, &PatchParams::default(), &patch).await?;
    Ok(())
}

/// An approved plan of a user, whose step may be YAML.
async fn step(ctx: &TestContext) -> Result<()> {
    let plans: Api<InstallPlan> = ctx.api();
    let plan = json!({
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "InstallPlan",
        "metadata": {"name": "bomb", "namespace": ctx.namespace},
        "spec": {"approval": "Automatic", "approved": true, "clusterServiceVersionNames": []},
    });
    plans.create(&PostParams::default(), &serde_json::from_value(plan)?).await?;
    let resource = json!({
        "group": "apiextensions.k8s.io", "version": "v1", "kind": "CustomResourceDefinition", "name": "bomb",
        "manifest": bomb(),
        "sourceName": "", "sourceNamespace": "",
    });
    let step = json!({"resolving": "bomb", "resource": resource, "status": "Unknown"});
    let status = json!({"status": {"phase": "Installing", "catalogSources": [], "plan": [step]}});
    plans.patch_status("bomb", &PatchParams::default(), &Patch::Merge(status)).await?;
    Ok(())
}

/// It is tried again for a minute before it fails; what is wrong with it is said at once.
async fn refused_step(ctx: &TestContext) -> Result<()> {
    let says = |text: &Option<String>| text.as_deref().is_some_and(|text| text.contains(SAID));
    let refused = |plan: &InstallPlan| {
        let status = plan.status.iter();
        status.clone().any(|status| says(&status.message))
            || status.flat_map(|it| &it.conditions).any(|condition| says(&condition.message))
    };
    wait::until(&ctx.api(), "bomb", "refuse its step", refused).await.map(drop)
}

/// A catalog whose ConfigMap the operator looks at before it has a server.
async fn catalog(ctx: &TestContext) -> Result<()> {
    let lists = ["customResourceDefinitions", "clusterServiceVersions", "packages"];
    ctx.create(&ConfigMap {
        metadata: ObjectMeta { name: Some("lists".to_owned()), ..ObjectMeta::default() },
        data: Some(BTreeMap::from([(lists[1].to_owned(), bomb())])),
        ..ConfigMap::default()
    })
    .await?;
    let object = json!({
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "CatalogSource",
        "metadata": {"name": "bomb"},
        "spec": {"sourceType": "configmap", "configMap": "lists"},
    });
    let catalog: CatalogSource = serde_json::from_value(object)?;
    ctx.create(&catalog).await?;
    // It has come as far as the Pod of the server, which the namespace of the test does not admit.
    let seen = |catalog: &CatalogSource| {
        catalog.status.as_ref().is_some_and(|status| status.message.is_some())
    };
    let catalogs: Api<CatalogSource> = ctx.api();
    wait::until(&catalogs, "bomb", "be looked at", seen).await?;
    // Its Pod would be tried again and again.
    catalogs.delete("bomb", &DeleteParams::default()).await?;
    Ok(())
}
