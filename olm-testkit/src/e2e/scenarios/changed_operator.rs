//! The catalog operator of a cluster, run in another way for a while.

use anyhow::{Context, Result};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Namespace;
use kube::ResourceExt;
use kube::api::{Api, Patch, PatchParams};
use serde_json::{Value, json};

use crate::deploy::{self, LEADER_ELECT};
use crate::e2e::TestContext;
use crate::operators::Operator;

/// What a namespace lets its Pods do.
const ENFORCED: &str = "pod-security.kubernetes.io/enforce";

/// Goes through steps while the operator has more flags, and a folder to write to. It is as before
/// afterwards, whatever came of them. In the network of its node it reaches the registry, which listens
/// there only. The names of Services stay those of the cluster.
pub(super) async fn during(
    ctx: &TestContext,
    flags: &[&str],
    folder: Option<&str>,
    steps: impl Future<Output = Result<()>>,
) -> Result<()> {
    while_permitted(ctx, Box::pin(with_flags(ctx, flags, folder, steps))).await
}

/// Goes through steps while the namespace of OLM lets Pods use the network of the node. Pods of catalogs follow what
/// is enforced, and are made anew.
pub(super) async fn while_permitted(
    ctx: &TestContext,
    steps: impl Future<Output = Result<()>>,
) -> Result<()> {
    // Steps are long, and a copy of them for each function on the way is more than the stack of a thread.
    let steps = Box::pin(steps);
    let namespaces: Api<Namespace> = Api::all(ctx.client.clone());
    let namespace = namespace(ctx)?;
    let before = namespaces.get(namespace).await?.labels().get(ENFORCED).cloned();
    let enforce = async |level: Option<&str>| {
        let patch = Patch::Merge(json!({"metadata": {"labels": {ENFORCED: level}}}));
        namespaces.patch(namespace, &PatchParams::default(), &patch).await
    };
    enforce(Some("privileged")).await?;
    let played = steps.await;
    let ended = enforce(before.as_deref()).await.map(drop);
    played.and(ended.context("the namespace of OLM is not as before"))
}

/// Goes through steps while the operator has more flags, as [`during`], in a namespace that permits it.
pub(super) async fn with_flags(
    ctx: &TestContext,
    flags: &[&str],
    folder: Option<&str>,
    steps: impl Future<Output = Result<()>>,
) -> Result<()> {
    let changed = |spec: &Value| -> Result<Value> {
        let mut pod = changed(&spec["template"]["spec"], flags, folder)?;
        pod["hostNetwork"] = json!(true);
        pod["dnsPolicy"] = json!("ClusterFirstWithHostNet");
        Ok(json!({"template": {"spec": pod}}))
    };
    while_changed(ctx, changed, Box::pin(steps)).await
}

/// Goes through steps while two Pods of the operator have more flags and a folder each, and one of them is elected.
/// They stay in the network of Pods, as two cannot listen at the same ports of a node.
pub(super) async fn with_replicas(
    ctx: &TestContext,
    flags: &[&str],
    folder: Option<&str>,
    steps: impl Future<Output = Result<()>>,
) -> Result<()> {
    let flags = [flags, &[LEADER_ELECT]].concat();
    let changed = |spec: &Value| -> Result<Value> {
        let pod = changed(&spec["template"]["spec"], &flags, folder)?;
        Ok(json!({"replicas": 2, "template": {"spec": pod}}))
    };
    while_changed(ctx, changed, Box::pin(steps)).await
}

/// Goes through steps while the Deployment is patched with what `change` makes of its spec.
async fn while_changed(
    ctx: &TestContext,
    change: impl FnOnce(&Value) -> Result<Value>,
    steps: impl Future<Output = Result<()>>,
) -> Result<()> {
    let deployments: Api<Deployment> = Api::namespaced(ctx.client.clone(), namespace(ctx)?);
    let found = deployments.get(Operator::Catalog.name()).await?;
    let before = serde_json::to_value(&found)?["spec"].take();
    let patch = async |spec: Value| {
        let patch = Patch::Merge(json!({"spec": spec}));
        deployments.patch(Operator::Catalog.name(), &PatchParams::default(), &patch).await
    };
    patch(change(&before)?).await?;
    let played = match deploy::wait_ready(&ctx.client).await {
        Ok(()) => steps.await,
        Err(error) => Err(error),
    };
    let fields = ["hostNetwork", "dnsPolicy", "containers", "volumes"];
    let pod = fields.map(|field| (field, before["template"]["spec"][field].clone()));
    let pod: Value = pod.into_iter().collect();
    let restored = json!({"replicas": before["replicas"], "template": {"spec": pod}});
    let ended = patch(restored).await.map(drop);
    played.and(ended.context("the operator is not as before"))
}

fn namespace(ctx: &TestContext) -> Result<&str> {
    ctx.facts().olm_namespace.as_deref().context("OLM is nowhere")
}

fn changed(before: &Value, flags: &[&str], folder: Option<&str>) -> Result<Value> {
    let mut container = before["containers"][0].clone();
    let args = container["args"].as_array_mut().context("no arguments")?;
    args.extend(flags.iter().map(|flag| json!(flag)));
    let mut volumes = before["volumes"].as_array().cloned().unwrap_or_default();
    if let Some(folder) = folder {
        let name = "folder-of-a-scenario";
        volumes.push(json!({"name": name, "emptyDir": {}}));
        let mut mounts = container["volumeMounts"].as_array().cloned().unwrap_or_default();
        mounts.push(json!({"name": name, "mountPath": folder}));
        container["volumeMounts"] = mounts.into();
    }
    Ok(json!({"containers": [container], "volumes": volumes}))
}
