//! What is left of APIs: objects of older versions of OLM, and APIs whose operator is gone.

use std::sync::Arc;

use anyhow::{Context, Result};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::{Secret, Service};
use k8s_openapi::api::rbac::v1::{ClusterRoleBinding, Role, RoleBinding};
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use kube::Resource;
use kube::api::{Api, PostParams};
use olm_types::owner;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::operator::Example;
use crate::e2e::TestContext;
use crate::wait::{self, Waitable};

/// Objects under the names that an older version of OLM gave go with the next install.
pub(super) async fn of_older_versions(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let example = Example::new(&ctx);
    let old = Old { ctx: &ctx, csv: example.name().to_owned() };
    let (name, cert) = (example.api_service(), format!("{}-cert", example.api_service()));
    let dashed = name.replace('.', "-");
    let (delegator, reader) =
        (format!("{name}-system:auth-delegator"), format!("{name}-auth-reader"));
    let binding = |kind: &str, name: &str| json!({"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}});
    let system = Api::namespaced(ctx.client.clone(), "kube-system");
    let bindings = Api::all(ctx.client.clone());
    old.make(&ctx.api::<Service>(), &dashed, json!({"spec": {"ports": [{"port": 443}]}})).await?;
    old.make(&ctx.api::<Secret>(), &cert, json!({})).await?;
    old.make(&ctx.api::<Role>(), &cert, json!({})).await?;
    old.make(&ctx.api::<RoleBinding>(), &cert, binding("Role", &cert)).await?;
    old.make::<RoleBinding>(&system, &reader, binding("Role", &cert)).await?;
    let role = binding("ClusterRole", "system:auth-delegator");
    old.make::<ClusterRoleBinding>(&bindings, &delegator, role).await?;
    example.install(&ctx).await?;
    wait::until_gone(&bindings, &delegator).await?;
    wait::until_gone(&system, &reader).await?;
    gone::<Service>(&ctx, &dashed).await?;
    gone::<Secret>(&ctx, &cert).await?;
    gone::<Role>(&ctx, &cert).await?;
    gone::<RoleBinding>(&ctx, &cert).await
}

/// An API whose operator does not exist goes, be its namespace there or not.
pub(super) async fn of_no_csv(ctx: Arc<TestContext>) -> Result<()> {
    let services: Api<APIService> = Api::all(ctx.client.clone());
    for namespace in [ctx.namespace.as_str(), "never-was"] {
        let group = format!("{namespace}.{}.example.com", ctx.namespace);
        let name = format!("v1.{group}");
        let labels = owner::owner_labels("absent", namespace, "ClusterServiceVersion");
        let object = json!({
            "metadata": {"name": name, "labels": labels},
            "spec": {
                "group": group, "version": "v1", "groupPriorityMinimum": 100,
                "versionPriority": 100,
            },
        });
        let service: APIService = serde_json::from_value(object)?;
        let made = services.create(&PostParams::default(), &service).await;
        made.context("cannot create an API service")?;
        wait::until_gone(&services, &name).await?;
    }
    Ok(())
}

async fn gone<K>(ctx: &TestContext, name: &str) -> Result<()>
where
    K: Waitable + Resource<Scope = NamespaceResourceScope>,
{
    wait::until_gone(&ctx.api::<K>(), name).await
}

/// An older version of OLM.
struct Old<'a> {
    ctx: &'a TestContext,
    csv: String,
}

impl Old<'_> {
    /// Makes an object for the CSV.
    async fn make<K>(&self, api: &Api<K>, name: &str, mut object: Value) -> Result<()>
    where
        K: Clone + std::fmt::Debug + Serialize + DeserializeOwned,
    {
        let labels = owner::owner_labels(&self.csv, &self.ctx.namespace, "ClusterServiceVersion");
        object["metadata"] = json!({"name": name, "labels": labels});
        let object: K = serde_json::from_value(object)?;
        let made = api.create(&PostParams::default(), &object).await;
        made.map(drop).with_context(|| format!("cannot create {name}"))
    }
}
