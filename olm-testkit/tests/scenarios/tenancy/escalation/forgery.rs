//! Objects of the tenant that say they belong to an operator of another user.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::rbac::v1::{ClusterRole, Role, RoleBinding};
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, PostParams};
use olm_testkit::builders::{self, csv};
use olm_testkit::wait;
use olm_types::api::{ClusterServiceVersion, OperatorGroup};
use serde_json::{Value, json};

use super::tenant::{Tenant, secrets};

/// Name of the CSV of another user.
pub const CSV: &str = "honest.v1.0.0";

/// Neither are foreign objects deleted or taken over, nor does any user get their rights; this holds
/// under v0's policy, too.
pub async fn forged_owners(tenant: Tenant) -> Result<()> {
    let before = OperatorObjects::install(&tenant).await?;
    let account = tenant.account("thief");
    let theft = tenant.theft(&account, &tenant.foreign);
    tenant.own_group().await?;
    forge_rights(&tenant).await?;
    forge_copy(&tenant).await?;
    forge_namesake(&tenant).await?;
    tenant.ctx.until_idle().await?;
    theft.expect(&tenant.ctx.client, false).await?;
    tenant.theft(&account, "kube-system").expect(&tenant.ctx.client, false).await?;
    let after = OperatorObjects::look(&tenant).await?;
    ensure!(before == after, "{before:?} became {after:?}");
    Ok(())
}

/// The uids of what belongs to the operator of another user.
#[derive(Debug, PartialEq)]
pub struct OperatorObjects {
    csv: Option<String>,
    /// The uid, and what its description counts as.
    deployment: (Option<String>, Option<i64>),
    role: Option<String>,
}

impl OperatorObjects {
    /// Installs the operator.
    pub async fn install(tenant: &Tenant) -> Result<Self> {
        let once = PostParams::default();
        let (client, home) = (&tenant.ctx.client, tenant.foreign.as_str());
        let groups: Api<OperatorGroup> = Api::namespaced(client.clone(), home);
        groups.create(&once, &builders::operator_group(home, "group", &[home])).await?;
        let csvs: Api<ClusterServiceVersion> = Api::namespaced(client.clone(), home);
        let operator = csv(CSV, "1.0.0").deployment("honest", "default").build();
        csvs.create(&once, &operator).await.context("cannot create the CSV")?;
        let role: ClusterRole = serde_json::from_value(json!({
            "metadata": {"name": role_name(tenant), "labels": labels(home)}, "rules": [],
        }))?;
        Api::<ClusterRole>::all(client.clone()).create(&once, &role).await?;
        let succeeded = |csv: &ClusterServiceVersion| {
            csv.status.as_ref().is_some_and(|status| status.phase.to_string() == "Succeeded")
        };
        wait::until(&csvs, CSV, "succeed", succeeded).await?;
        Self::look(tenant).await
    }

    /// What is there of it.
    pub async fn look(tenant: &Tenant) -> Result<Self> {
        let (client, home) = (&tenant.ctx.client, tenant.foreign.as_str());
        let csvs: Api<ClusterServiceVersion> = Api::namespaced(client.clone(), home);
        let deployments: Api<Deployment> = Api::namespaced(client.clone(), home);
        let roles: Api<ClusterRole> = Api::all(client.clone());
        let deployment = deployments.get("honest").await?;
        Ok(Self {
            csv: csvs.get(CSV).await?.uid(),
            deployment: (deployment.uid(), deployment.metadata.generation),
            role: roles.get(&role_name(tenant)).await?.uid(),
        })
    }
}

/// A Role that says it belongs to the foreign operator, for an account of the tenant.
async fn forge_rights(tenant: &Tenant) -> Result<()> {
    tenant.create(&builders::service_account(tenant.home(), "thief")).await?;
    let metadata = json!({"name": "forged", "labels": labels(&tenant.foreign)});
    let role = json!({"metadata": metadata, "rules": secrets()});
    tenant.create::<Role>(&serde_json::from_value(role)?).await?;
    let binding = json!({
        "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "forged"},
        "subjects": [{"kind": "ServiceAccount", "name": "thief", "namespace": tenant.home()}],
    });
    tenant.create::<RoleBinding>(&serde_json::from_value(binding)?).await.map(drop)
}

/// A copy of the foreign CSV that OLM did not make: it goes, and the original stays.
async fn forge_copy(tenant: &Tenant) -> Result<()> {
    let mut copy = csv(CSV, "1.0.0").deployment("honest", "default").build();
    copy.labels_mut().insert("olm.copiedFrom".to_owned(), tenant.foreign.clone());
    let annotations = copy.annotations_mut();
    annotations.insert("olm.operatorNamespace".to_owned(), tenant.foreign.clone());
    annotations.insert("olm.operatorGroup".to_owned(), "group".to_owned());
    tenant.create(&copy).await?;
    wait::until_gone(&tenant.ctx.api::<ClusterServiceVersion>(), CSV).await
}

/// A CSV with the name of the foreign one, which is deleted again.
async fn forge_namesake(tenant: &Tenant) -> Result<()> {
    let mut namesake = csv(CSV, "1.0.0").deployment("honest", "default").build();
    *namesake.labels_mut() = serde_json::from_value(labels(&tenant.foreign))?;
    tenant.create(&namesake).await?;
    tenant.ctx.succeeded(CSV).await?;
    let csvs: Api<ClusterServiceVersion> = Api::namespaced(tenant.client.clone(), tenant.home());
    csvs.delete(CSV, &DeleteParams::default()).await.context("the tenant may not delete")?;
    wait::until_gone(&tenant.ctx.api::<ClusterServiceVersion>(), CSV).await
}

fn labels(namespace: &str) -> Value {
    json!({
        "olm.owner": CSV, "olm.owner.namespace": namespace,
        "olm.owner.kind": "ClusterServiceVersion", "olm.managed": "true",
    })
}

fn role_name(tenant: &Tenant) -> String {
    format!("{}-honest", tenant.home())
}
