//! Tools that keep Subscriptions in Git: what they apply stays as they applied it, and what OLM makes of it
//! does not look like theirs.

#[cfg(test)]
mod page;
mod planned;
mod policy;
mod tools;

use std::sync::Arc;

use anyhow::{Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service, ServiceAccount};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use kube::ResourceExt;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, ListParams, ObjectMeta};
use olm_types::api::{
    CatalogSource, ClusterServiceVersion, InstallPlan, OperatorCondition, OperatorGroup,
    Subscription,
};
use olm_types::labels;
use olm_types::tracking::is_tracking;
use serde_json::json;

use super::upgrades::{kettle, kettles, stable};
use crate::e2e::context::TestContext;
use crate::e2e::{Need, Scenario, scenario};
use tools::{Manifests, TOOLS, marks};

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    vec![
        scenario(
            "gitops::applied_again",
            "tools apply group, catalog and Subscription again and again, and nothing changes",
            applied_again,
        ),
        scenario(
            "gitops::planned",
            "kubectl olm plan apply shows what a manifest and its change do, with what they approve, and that comes true \
             when they are applied",
            planned::before_it_is_applied,
        )
        .needs(&[Need::Kubectl]),
        scenario(
            "gitops::policy",
            "a policy approves the versions that it names for its own Subscription, and nothing of a sibling",
            policy::approves_its_own,
        ),
    ]
}

/// The version that is installed in the end.
const CSV: &str = "kettle.v1.1.0";

/// What is in Git in the end.
const IN_GIT: [&str; 4] = [
    "OperatorGroup group",
    "CatalogSource kitchen",
    "Subscription kettle",
    "ClusterServiceVersion kettle.v1.1.0",
];

/// What selects the objects of a tool.
const TRACKED: &str = "app.kubernetes.io/instance=shop";

/// Syncs of each tool, before and after an upgrade.
const SYNCS: usize = 25;

/// The first sync of a tool changes the objects, no other one does, and none conflicts with what OLM wrote.
/// What OLM made carries none of the labels and annotations by which the tools know their objects, so that they
/// prune none of it; and in the end they find nothing that is not as in Git.
async fn applied_again(ctx: Arc<TestContext>) -> Result<()> {
    let kind = kettles(&ctx);
    let old = kettle("1.0.0", &kind);
    let content = ctx.content(&stable(std::slice::from_ref(&old)))?;
    let address = ctx.registry("kitchen", content).await?;
    let manifests = Manifests::new(&ctx, &address)?;
    manifests.sync(&ctx, TOOLS[0]).await?;
    ctx.succeeded("kettle.v1.0.0").await?;
    ctx.at_latest("kettle", "kettle.v1.0.0").await?;
    ctx.until_idle().await?;
    all_syncs(&ctx, &manifests).await?;

    let new = kettle("1.1.0", &kind).replaces("kettle.v1.0.0");
    ctx.publish("kitchen", &stable(&[old, new])).await?;
    ctx.succeeded(CSV).await?;
    ctx.at_latest("kettle", CSV).await?;
    ctx.until_idle().await?;
    all_syncs(&ctx, &manifests).await?;
    ctx.until_idle().await?;
    adopt_csv(&ctx).await?;
    nothing_is_inherited(&ctx).await?;
    prune(&ctx).await?;
    manifests.are_as_in_git(&ctx).await?;
    heal(&ctx, &manifests).await
}

/// Someone changes by hand what is in Git: each tool sets it back, and OLM leaves it so.
async fn heal(ctx: &TestContext, manifests: &Manifests) -> Result<()> {
    for tool in TOOLS {
        let by_hand = json!({"spec": {"installPlanApproval": "Manual"}});
        ctx.edit::<Subscription>("kettle", by_hand).await?;
        ctx.until_idle().await?;
        let found = manifests.are_as_in_git(ctx).await;
        ensure!(found.is_err(), "{tool} does not see what was changed by hand");
        manifests.heal(ctx, tool).await?;
        ctx.until_idle().await?;
        manifests.are_as_in_git(ctx).await?;
    }
    ctx.at_latest("kettle", CSV).await.map(drop)
}

async fn all_syncs(ctx: &TestContext, manifests: &Manifests) -> Result<()> {
    for tool in TOOLS {
        let first = manifests.sync(ctx, tool).await?;
        for number in 2..=SYNCS {
            let now = manifests.sync(ctx, tool).await?;
            ensure!(now == first, "sync {number} of {tool} changed {first:?} to {now:?}");
        }
    }
    Ok(())
}

/// Has the CSV in Git as well: the Deployment that it describes is not rolled out for that, and its Pods have none of
/// the marks.
async fn adopt_csv(ctx: &TestContext) -> Result<()> {
    let generations = || async {
        let all = ctx.api::<Deployment>().list(&ListParams::default()).await?.items;
        anyhow::Ok(all.iter().map(|one| one.metadata.generation).collect::<Vec<_>>())
    };
    let before = generations().await?;
    ensure!(!before.is_empty(), "there is no Deployment");
    ctx.edit::<ClusterServiceVersion>(CSV, json!({"metadata": marks()})).await?;
    ctx.until_idle().await?;
    let after = generations().await?;
    ensure!(before == after, "Deployments were rolled out: {before:?} became {after:?}");
    for deployment in ctx.api::<Deployment>().list(&ListParams::default()).await? {
        let template = deployment.spec.and_then(|spec| spec.template.metadata).unwrap_or_default();
        ensure!(!carries(&template), "Pods inherit what tracks their CSV: {template:?}");
    }
    Ok(())
}

/// Both tools delete what has the label of their objects and is not in Git: one such object goes, and nothing that
/// OLM made.
async fn prune(ctx: &TestContext) -> Result<()> {
    let left: ConfigMap = serde_json::from_value(json!({"metadata": {"name": "left",
        "namespace": ctx.namespace, "labels": marks()["labels"]}}))?;
    ctx.create(&left).await?;
    let mut pruned = Vec::new();
    for kind in kinds() {
        let api: Api<DynamicObject> =
            Api::namespaced_with(ctx.client.clone(), &ctx.namespace, &kind);
        for object in api.list(&ListParams::default().labels(TRACKED)).await? {
            let name = object.name_any();
            let full_name = format!("{} {name}", kind.kind);
            if !IN_GIT.contains(&full_name.as_str()) {
                api.delete(&name, &DeleteParams::background()).await?;
                pruned.push(full_name);
            }
        }
    }
    ensure!(pruned == ["ConfigMap left"], "the tools have pruned {pruned:?}");
    ctx.until_idle().await?;
    ctx.succeeded(CSV).await.map(drop)
}

/// The tools know what they have applied, and nothing else.
async fn nothing_is_inherited(ctx: &TestContext) -> Result<()> {
    let mut tracked = Vec::new();
    for kind in kinds() {
        let api: Api<DynamicObject> =
            Api::namespaced_with(ctx.client.clone(), &ctx.namespace, &kind);
        let all = api.list(&ListParams::default()).await?;
        let own = all.iter().filter(|object| carries(&object.metadata));
        tracked.extend(own.map(|object| format!("{} {}", kind.kind, object.name_any())));
    }
    ensure!(tracked == IN_GIT, "the tools know {tracked:?}");
    nothing_outside_is_inherited(ctx).await
}

/// So it is with what belongs to the CSV and lies in no namespace.
async fn nothing_outside_is_inherited(ctx: &TestContext) -> Result<()> {
    let roles = ApiResource::erase::<ClusterRole>(&());
    let kinds = [roles, ApiResource::erase::<ClusterRoleBinding>(&())];
    let own = format!("{}={}", labels::OWNER_NAMESPACE, ctx.namespace);
    let mut made = Vec::new();
    for kind in kinds {
        let api: Api<DynamicObject> = Api::all_with(ctx.client.clone(), &kind);
        made.extend(api.list(&ListParams::default().labels(&own)).await?.items);
    }
    ensure!(!made.is_empty(), "OLM has made no ClusterRoles");
    let tracked = made.iter().find(|object| carries(&object.metadata));
    ensure!(tracked.is_none(), "the tools know {tracked:?}");
    Ok(())
}

/// The kinds of what the tools apply, and of what OLM makes of it.
fn kinds() -> [ApiResource; 13] {
    [
        ApiResource::erase::<OperatorGroup>(&()),
        ApiResource::erase::<CatalogSource>(&()),
        ApiResource::erase::<Subscription>(&()),
        ApiResource::erase::<ClusterServiceVersion>(&()),
        ApiResource::erase::<InstallPlan>(&()),
        ApiResource::erase::<OperatorCondition>(&()),
        ApiResource::erase::<Deployment>(&()),
        ApiResource::erase::<Service>(&()),
        ApiResource::erase::<ServiceAccount>(&()),
        ApiResource::erase::<ConfigMap>(&()),
        ApiResource::erase::<Secret>(&()),
        ApiResource::erase::<Role>(&()),
        ApiResource::erase::<RoleBinding>(&()),
    ]
}

/// Whether an object looks like a tool's own, by label or annotation.
fn carries(metadata: &ObjectMeta) -> bool {
    let mut keys = [&metadata.labels, &metadata.annotations].into_iter().flatten().flatten();
    keys.any(|(key, _)| is_tracking(key))
}
