//! What tools do that deliver from Git: apply, and compare.

use std::fmt::Debug;

use anyhow::{Context, Result, ensure};
use k8s_openapi::NamespaceResourceScope;
use kube::api::{Api, Patch, PatchParams};
use kube::{Resource, ResourceExt};
use olm_types::api::{Approval, CatalogSource, OperatorGroup, Subscription};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::builders;
use crate::dump::{Key, diff_object};
use crate::e2e::context::TestContext;

/// Names under which Argo CD and Flux apply.
pub(super) const TOOLS: [&str; 2] = ["argocd-controller", "kustomize-controller"];

/// What lies in Git.
pub(super) struct Manifests {
    group: Value,
    catalog: Value,
    subscription: Value,
}

impl Manifests {
    pub(super) fn new(ctx: &TestContext, address: &str) -> Result<Self> {
        let namespace = &ctx.namespace;
        let group = builders::operator_group(namespace, "group", &[namespace]);
        let catalog = builders::catalog_source(namespace, "kitchen", address);
        let mut subscription = builders::subscription(namespace, "kettle", "stable", "kitchen");
        subscription.spec.install_plan_approval = Some(Approval::Automatic);
        Ok(Self {
            group: tracked(&group)?,
            catalog: tracked(&catalog)?,
            subscription: tracked(&subscription)?,
        })
    }

    /// Applies all of them as a tool does, without force, so that a field of another manager is a conflict; their
    /// versions.
    pub(super) async fn sync(&self, ctx: &TestContext, tool: &str) -> Result<[String; 3]> {
        let params = PatchParams::apply(tool);
        Ok([
            apply::<OperatorGroup>(ctx, &params, &self.group).await?,
            apply::<CatalogSource>(ctx, &params, &self.catalog).await?,
            apply::<Subscription>(ctx, &params, &self.subscription).await?,
        ])
    }

    /// Applies the Subscription as a tool does that finds it changed: what others have set gives way.
    pub(super) async fn heal(&self, ctx: &TestContext, tool: &str) -> Result<()> {
        let params = PatchParams::apply(tool).force();
        apply::<Subscription>(ctx, &params, &self.subscription).await.map(drop)
    }

    /// To the comparison that tools make: what an apply would give is what there is.
    pub(super) async fn are_as_in_git(&self, ctx: &TestContext) -> Result<()> {
        for tool in TOOLS {
            is_as_in_git::<OperatorGroup>(ctx, tool, &self.group).await?;
            is_as_in_git::<CatalogSource>(ctx, tool, &self.catalog).await?;
            is_as_in_git::<Subscription>(ctx, tool, &self.subscription).await?;
        }
        Ok(())
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
    let mut marks = marks();
    metadata["labels"] = marks["labels"].take();
    metadata["annotations"] = marks["annotations"].take();
    Ok(value)
}

/// Labels and annotations by which tools know their objects.
pub(super) fn marks() -> Value {
    json!({
        "labels": {
            "app.kubernetes.io/instance": "shop",
            "kustomize.toolkit.fluxcd.io/name": "shop",
            "helm.sh/chart": "shop-1.0.0",
        },
        "annotations": {
            "argocd.argoproj.io/tracking-id": "shop:operators.coreos.com/Any:shop/any",
            "meta.helm.sh/release-name": "shop",
        },
    })
}

async fn apply<K>(ctx: &TestContext, params: &PatchParams, object: &Value) -> Result<String>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    K: Clone + Debug + DeserializeOwned,
{
    let api: Api<K> = ctx.api();
    let name = object["metadata"]["name"].as_str().context("an object without a name")?;
    let applied = api.patch(name, params, &Patch::Apply(object)).await;
    let applied =
        applied.with_context(|| format!("{:?} cannot apply {name}", params.field_manager))?;
    applied.resource_version().context("an object without a version")
}

/// A dry run of the apply, without force: a field that another manager has with another value is a conflict.
async fn is_as_in_git<K>(ctx: &TestContext, tool: &str, object: &Value) -> Result<()>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    K: Clone + Debug + DeserializeOwned + Serialize,
{
    let api: Api<K> = ctx.api();
    let name = object["metadata"]["name"].as_str().context("an object without a name")?;
    let plain = |mut object: K| {
        object.managed_fields_mut().clear();
        serde_json::to_value(&object)
    };
    let live = plain(api.get(name).await?)?;
    let params = PatchParams { dry_run: true, ..PatchParams::apply(tool) };
    let applied = api.patch(name, &params, &Patch::Apply(object)).await;
    let applied = plain(applied.with_context(|| format!("{tool} cannot apply {name}"))?)?;
    let differences: Vec<String> = diff_object(&Key::of(object), Some(&live), Some(&applied))
        .iter()
        .map(ToString::to_string)
        .collect();
    ensure!(differences.is_empty(), "{name} is not as {tool} has it: {}", differences.join("\n"));
    Ok(())
}
