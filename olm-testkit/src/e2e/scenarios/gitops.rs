//! Tools that keep Subscriptions in Git: what they apply stays as they applied it, and what OLM makes of it
//! does not look like theirs.

use std::fmt::Debug;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service, ServiceAccount};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::api::{Api, ListParams, Patch, PatchParams};
use kube::{Resource, ResourceExt};
use olm_types::api::{
    CatalogSource, ClusterServiceVersion, InstallPlan, OperatorCondition, OperatorGroup,
    Subscription,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::upgrades::{kettle, kettles, stable};
use crate::builders;
use crate::e2e::context::TestContext;
use crate::e2e::{Scenario, scenario};

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    vec![scenario(
        "gitops::applied_again",
        "tools apply group, catalog and Subscription again and again, and nothing changes",
        applied_again,
    )]
}

/// Names under which Argo CD and Flux apply.
const TOOLS: [&str; 2] = ["argocd-controller", "kustomize-controller"];

/// Syncs of each tool, before and after an upgrade.
const SYNCS: usize = 25;

/// The first sync of a tool changes the objects, no other one does, and none conflicts with what OLM wrote.
/// What OLM made carries none of the labels and annotations by which the tools know their objects.
async fn applied_again(ctx: Arc<TestContext>) -> Result<()> {
    let kind = kettles(&ctx);
    let old = kettle("1.0.0", &kind);
    let content = ctx.content(&stable(std::slice::from_ref(&old)))?;
    let address = ctx.registry("kitchen", content).await?;
    let manifests = Manifests::new(&ctx, &address)?;
    manifests.sync(&ctx, TOOLS[0]).await?;
    ctx.succeeded("kettle.v1.0.0").await?;
    ctx.at_latest("kettle", "kettle.v1.0.0").await?;
    ctx.at_rest().await?;
    all_syncs(&ctx, &manifests).await?;

    let new = kettle("1.1.0", &kind).replaces("kettle.v1.0.0");
    ctx.publish("kitchen", &stable(&[old, new])).await?;
    ctx.succeeded("kettle.v1.1.0").await?;
    ctx.at_latest("kettle", "kettle.v1.1.0").await?;
    ctx.at_rest().await?;
    all_syncs(&ctx, &manifests).await?;
    ctx.at_rest().await?;
    nothing_is_inherited(&ctx).await
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

/// What lies in Git.
struct Manifests {
    group: Value,
    catalog: Value,
    subscription: Value,
}

impl Manifests {
    fn new(ctx: &TestContext, address: &str) -> Result<Self> {
        let namespace = &ctx.namespace;
        let group = builders::operator_group(namespace, "group", &[namespace]);
        let catalog = builders::catalog_source(namespace, "kitchen", address);
        let subscription = builders::subscription(namespace, "kettle", "stable", "kitchen");
        Ok(Self {
            group: tracked(&group)?,
            catalog: tracked(&catalog)?,
            subscription: tracked(&subscription)?,
        })
    }

    /// Applies all of them as a tool does; their versions.
    async fn sync(&self, ctx: &TestContext, tool: &str) -> Result<[String; 3]> {
        Ok([
            apply::<OperatorGroup>(ctx, tool, &self.group).await?,
            apply::<CatalogSource>(ctx, tool, &self.catalog).await?,
            apply::<Subscription>(ctx, tool, &self.subscription).await?,
        ])
    }
}

/// As a tool would apply it: no status, and its marks.
fn tracked<K: Resource<DynamicType = ()> + Serialize>(object: &K) -> Result<Value> {
    let mut value = serde_json::to_value(object).context("a malformed object")?;
    let fields = value.as_object_mut().context("an object is no object")?;
    fields.remove("status");
    fields.insert("apiVersion".to_owned(), json!(K::api_version(&())));
    fields.insert("kind".to_owned(), json!(K::kind(&())));
    let metadata = &mut value["metadata"];
    metadata["labels"] = json!({
        "app.kubernetes.io/instance": "shop",
        "kustomize.toolkit.fluxcd.io/name": "shop",
        "helm.sh/chart": "shop-1.0.0",
    });
    metadata["annotations"] = json!({
        "argocd.argoproj.io/tracking-id": "shop:operators.coreos.com/Any:shop/any",
        "meta.helm.sh/release-name": "shop",
    });
    Ok(value)
}

/// Applies without force, so that a field of another manager is a conflict.
async fn apply<K>(ctx: &TestContext, tool: &str, object: &Value) -> Result<String>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    K: Clone + Debug + DeserializeOwned,
{
    let api: Api<K> = ctx.api();
    let name = object["metadata"]["name"].as_str().context("an object without a name")?;
    let applied = api.patch(name, &PatchParams::apply(tool), &Patch::Apply(object)).await;
    let applied = applied.with_context(|| format!("{tool} cannot apply {name}"))?;
    applied.resource_version().context("an object without a version")
}

async fn nothing_is_inherited(ctx: &TestContext) -> Result<()> {
    let mut tracked = Vec::new();
    tracked.extend(of_kind::<OperatorGroup>(ctx).await?);
    tracked.extend(of_kind::<CatalogSource>(ctx).await?);
    tracked.extend(of_kind::<Subscription>(ctx).await?);
    let theirs = ["OperatorGroup group", "CatalogSource kitchen", "Subscription kettle"];
    ensure!(tracked == theirs, "the tools know {tracked:?}");
    let mut made = Vec::new();
    made.extend(of_kind::<ClusterServiceVersion>(ctx).await?);
    made.extend(of_kind::<InstallPlan>(ctx).await?);
    made.extend(of_kind::<OperatorCondition>(ctx).await?);
    made.extend(of_kind::<Deployment>(ctx).await?);
    made.extend(of_kind::<Service>(ctx).await?);
    made.extend(of_kind::<ServiceAccount>(ctx).await?);
    made.extend(of_kind::<ConfigMap>(ctx).await?);
    made.extend(of_kind::<Secret>(ctx).await?);
    made.extend(of_kind::<Role>(ctx).await?);
    made.extend(of_kind::<RoleBinding>(ctx).await?);
    ensure!(made.is_empty(), "the tools would prune {made:?}");
    Ok(())
}

/// Objects of a kind that look like a tool's own, by label or annotation.
async fn of_kind<K>(ctx: &TestContext) -> Result<Vec<String>>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    K: Clone + Debug + DeserializeOwned,
{
    let all = ctx.api::<K>().list(&ListParams::default()).await?.items;
    let carries = |object: &&K| {
        let keys = object.labels().keys().chain(object.annotations().keys());
        keys.into_iter().any(|key| olm_types::tracking::is_tracking(key))
    };
    let name = |object: &K| format!("{} {}", K::kind(&()), object.name_any());
    Ok(all.iter().filter(carries).map(name).collect())
}
