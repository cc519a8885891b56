//! The catalog operator of a cluster, run in another way for a while.

use anyhow::{Context, Result};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Namespace;
use kube::ResourceExt;
use kube::api::{Api, Patch, PatchParams};
use serde_json::{Value, json};

use crate::deploy;
use crate::e2e::TestContext;
use crate::operators::Operator;

/// What a namespace lets its Pods do.
const ENFORCED: &str = "pod-security.kubernetes.io/enforce";

/// The Deployment of the catalog operator and what its namespace enforces, changed for a while.
pub(super) struct ChangedOperator {
    deployments: Api<Deployment>,
    before: Value,
    namespaces: Api<Namespace>,
    namespace: String,
    enforced: Option<String>,
}

impl ChangedOperator {
    /// Goes through steps while the operator has more flags, and a folder to write to. It is as before
    /// afterwards, whatever came of them. In the network of its node it reaches the registry, which listens
    /// there only. The names of Services stay those of the cluster.
    pub(super) async fn during(
        ctx: &TestContext,
        flags: &[&str],
        folder: Option<&str>,
        steps: impl Future<Output = Result<()>>,
    ) -> Result<()> {
        let changed = Self::begin(ctx, flags, folder).await?;
        let played = steps.await;
        let ended = changed.end().await;
        played.and(ended)
    }

    async fn begin(ctx: &TestContext, flags: &[&str], folder: Option<&str>) -> Result<Self> {
        let namespace = ctx.facts().olm_namespace.clone().context("OLM is nowhere")?;
        let deployments: Api<Deployment> = Api::namespaced(ctx.client.clone(), &namespace);
        let found = deployments.get(Operator::Catalog.name()).await?;
        let before = serde_json::to_value(&found)?["spec"]["template"]["spec"].take();
        let pod = changed(&before, flags, folder)?;
        let namespaces: Api<Namespace> = Api::all(ctx.client.clone());
        let enforced = namespaces.get(&namespace).await?.labels().get(ENFORCED).cloned();
        let changed = Self { deployments, before, namespaces, namespace, enforced };
        changed.enforce(Some("privileged")).await?;
        changed.patch(pod).await?;
        deploy::wait_ready(&ctx.client).await?;
        Ok(changed)
    }

    async fn end(self) -> Result<()> {
        let fields = ["hostNetwork", "dnsPolicy", "containers", "volumes"];
        let pod = fields.map(|field| (field, self.before[field].clone()));
        self.patch(pod.into_iter().collect()).await?;
        self.enforce(self.enforced.as_deref()).await
    }

    /// Only Pods that are made from now on are judged.
    async fn enforce(&self, level: Option<&str>) -> Result<()> {
        let patch = Patch::Merge(json!({"metadata": {"labels": {ENFORCED: level}}}));
        self.namespaces.patch(&self.namespace, &PatchParams::default(), &patch).await?;
        Ok(())
    }

    async fn patch(&self, pod: Value) -> Result<()> {
        let patch = Patch::Merge(json!({"spec": {"template": {"spec": pod}}}));
        let name = Operator::Catalog.name();
        self.deployments.patch(name, &PatchParams::default(), &patch).await?;
        Ok(())
    }
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
    Ok(json!({
        "hostNetwork": true, "dnsPolicy": "ClusterFirstWithHostNet",
        "containers": [container], "volumes": volumes,
    }))
}
