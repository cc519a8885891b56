//! Plans that bring objects which are being deleted.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use kube::discovery::ApiResource;
use olm_types::api::InstallPlan;
use serde_json::{Value, json};

use super::tool::{complete, step, write};
use super::{cluster, message};
use crate::builders::{Crd, csv};
use crate::e2e::context::TestContext;
use crate::wait;

const FINALIZER: &str = "example.com/held";

/// An object that is being deleted, and stays until it is released.
struct Held {
    api: Api<DynamicObject>,
    manifest: Value,
    uid: Option<String>,
}

impl Held {
    /// Creates the object with a finalizer, and deletes it.
    async fn new(ctx: &TestContext, plural: &str, manifest: Value) -> Result<Self> {
        let object: DynamicObject = serde_json::from_value(ctx.dressed(manifest.clone()))?;
        let types = object.types.clone().context("a manifest without a kind")?;
        let gvk = GroupVersionKind::try_from(&types)?;
        let resource = ApiResource::from_gvk_with_plural(&gvk, plural);
        let api: Api<DynamicObject> = match object.metadata.namespace {
            Some(_) => Api::namespaced_with(ctx.client.clone(), &ctx.namespace, &resource),
            None => Api::all_with(ctx.client.clone(), &resource),
        };
        let mut first = object;
        first.metadata.finalizers = Some(vec![FINALIZER.to_owned()]);
        let made = api.create(&PostParams::default(), &first).await;
        let made = made.with_context(|| format!("cannot create the {plural}"))?;
        api.delete(&made.name_any(), &DeleteParams::background()).await?;
        Ok(Self { api, manifest, uid: made.uid() })
    }

    fn name(&self) -> &str {
        self.manifest["metadata"]["name"].as_str().unwrap_or_default()
    }

    fn kind(&self) -> &str {
        self.manifest["kind"].as_str().unwrap_or_default()
    }

    fn plan(&self) -> String {
        format!("brings-{}", self.kind().to_lowercase())
    }

    fn step(&self, resolving: &str) -> Value {
        step(self.kind(), self.name(), &self.manifest.to_string(), resolving)
    }

    /// Waits until a plan says what it waits for.
    async fn is_awaited_by(&self, ctx: &TestContext, plan: &str) -> Result<()> {
        let start = format!(
            "retrying execution due to error: {} {} is being deleted and has to be gone before it can be \
             created; finalizers hold it: ",
            self.kind(),
            self.name()
        );
        let says = |plan: &InstallPlan| {
            let text = message(plan);
            text.starts_with(&start) && text.contains(FINALIZER)
        };
        wait::until(&ctx.api(), plan, "name the finalizer", says).await.map(drop)
    }

    async fn release(&self) -> Result<()> {
        let patch = Patch::Merge(json!({"metadata": {"finalizers": null}}));
        let released = self.api.patch(self.name(), &PatchParams::default(), &patch).await;
        released.map(drop).with_context(|| format!("cannot release {}", self.name()))
    }

    async fn is_made_anew(&self) -> Result<()> {
        let live = self.api.get(self.name()).await?;
        let kept = live.metadata.deletion_timestamp.is_none();
        ensure!(kept && live.uid() != self.uid, "{:?}", live.metadata);
        Ok(())
    }
}

fn object(ctx: &TestContext, kind: &str, more: Value) -> Value {
    let mut object = json!({"apiVersion": "v1", "kind": kind,
        "metadata": {"name": "thing", "namespace": ctx.namespace}});
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
    object
}

/// As many as there are plans that a namespace keeps; the other kinds are looked at without a server.
async fn all_kinds(ctx: &TestContext) -> Result<Vec<Held>> {
    let port = json!({"spec": {"ports": [{"port": 80}]}});
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": format!("{}-thing", ctx.namespace)}, "rules": []});
    let mut operator = csv("thing.v1.0.0", "1.0.0").deployment("thing", "default").manifest();
    operator["metadata"]["namespace"] = json!(ctx.namespace);
    let objects = [
        ("customresourcedefinitions", ctx.kind("Thing").manifest()),
        ("clusterserviceversions", operator),
        ("configmaps", object(ctx, "ConfigMap", json!({"data": {"a": "1"}}))),
        ("services", object(ctx, "Service", port)),
        ("clusterroles", role),
    ];
    let mut all = Vec::new();
    for (plural, manifest) in objects {
        all.push(Held::new(ctx, plural, manifest).await?);
    }
    Ok(all)
}

/// One plan for each kind; all wait, and name the finalizer. Once it is removed they go on.
pub(super) async fn every_kind(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let held = all_kinds(&ctx).await?;
    let waited = all_wait(&ctx, &held).await;
    for one in &held {
        one.release().await?;
    }
    waited?;
    for one in &held {
        complete(&ctx, &one.plan()).await?;
        one.is_made_anew().await.with_context(|| one.plan())?;
        if one.kind() == "ClusterRole" {
            one.api.delete(one.name(), &DeleteParams::background()).await?;
        }
    }
    ctx.succeeded("thing.v1.0.0").await.map(drop)
}

async fn all_wait(ctx: &TestContext, held: &[Held]) -> Result<()> {
    for one in held {
        write(ctx, &one.plan(), &[one.step("")]).await?;
    }
    for one in held {
        one.is_awaited_by(ctx, &one.plan()).await?;
    }
    Ok(())
}

/// Two plans bring one kind that is being deleted; afterwards it is there, with a record of the CSV
/// of each.
pub(super) async fn a_kind_of_two_csvs(ctx: Arc<TestContext>) -> Result<()> {
    const CSVS: [&str; 2] = ["first.v1.0.0", "second.v1.0.0"];
    ctx.operator_group().await?;
    let kind = ctx.kind("Thing");
    for name in CSVS {
        let deployment = name.split('.').next().unwrap_or_default();
        ctx.create(&csv(name, "1.0.0").deployment(deployment, "default").build()).await?;
    }
    let held = Held::new(&ctx, "customresourcedefinitions", kind.manifest()).await?;
    let mut waited = Ok(());
    for name in CSVS {
        write(&ctx, name, &[held.step(name)]).await?;
        waited = waited.and(held.is_awaited_by(&ctx, name).await);
    }
    held.release().await?;
    waited?;
    for name in CSVS {
        complete(&ctx, name).await?;
    }
    held.is_made_anew().await?;
    records(&ctx, &kind, &CSVS).await
}

/// The definition names these CSVs, and no other ones.
async fn records(ctx: &TestContext, kind: &Crd, csvs: &[&str]) -> Result<()> {
    let crd = cluster::<CustomResourceDefinition>(ctx).get(&kind.name()).await?;
    let prefix = olm_types::annotations::INSTALLED_ALONGSIDE_PREFIX;
    let records = crd.annotations().iter().filter(|(key, _)| key.starts_with(prefix));
    let records: BTreeSet<String> = records.map(|(_, value)| value.clone()).collect();
    let expected: BTreeSet<String> =
        csvs.iter().map(|csv| format!("{}/{csv}", ctx.namespace)).collect();
    ensure!(records == expected, "{records:?}");
    Ok(())
}
