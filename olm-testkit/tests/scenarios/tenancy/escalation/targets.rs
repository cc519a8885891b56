//! An OperatorGroup that targets a namespace of another user.

use anyhow::{Result, ensure};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use olm_testkit::builders::{self, csv};
use olm_testkit::wait;
use olm_types::api::{CsvPhase, OperatorGroup};
use serde_json::json;

use super::tenant::{Tenant, secrets};

/// What an operator may do at home, it may do in the targets of its group.
pub async fn foreign_targets(tenant: Tenant) -> Result<()> {
    let account = tenant.account("thief");
    let theft = tenant.theft(&account, &tenant.foreign);
    theft.expect(&tenant.ctx.client, false).await?;
    let targets = [tenant.home(), tenant.foreign.as_str()];
    tenant.create(&builders::operator_group(tenant.home(), "group", &targets)).await?;
    install(&tenant).await?;
    if tenant.is_strict() {
        let refused = |group: &OperatorGroup| {
            group.status.iter().flat_map(|status| &status.conditions).any(|condition| {
                condition.type_ == "InvalidTargetNamespaces"
                    && condition.reason == "TargetsNotAllowed"
                    && condition.message.contains(&tenant.foreign)
            })
        };
        wait::until(&tenant.ctx.api(), "group", "be refused its targets", refused).await?;
        let refused =
            tenant.ctx.csv_phase(&thief(&tenant), CsvPhase::Failed, "NoTargetNamespaces").await?;
        let text = refused.status.and_then(|status| status.message).unwrap_or_default();
        ensure!(text.contains("allowed-target-namespaces"), "{text}");
        theft.expect(&tenant.ctx.client, false).await?;
        tenant.allow_targets(tenant.home(), &tenant.foreign).await?;
    }
    tenant.ctx.succeeded(&thief(&tenant)).await?;
    theft.expect(&tenant.ctx.client, true).await?;
    // Nothing beyond the target.
    tenant.theft(&account, "kube-system").expect(&tenant.ctx.client, false).await
}

/// Name of the tenant's CSV. What is lifted for it has its name, too, in a cluster of many tenants.
pub fn thief(tenant: &Tenant) -> String {
    format!("{}-thief.v1.0.0", tenant.home())
}

/// The tenant creates the CSV and the rights at home himself; he has them there.
pub async fn install(tenant: &Tenant) -> Result<()> {
    let (name, role) = (thief(tenant), format!("{}-thief", tenant.home()));
    tenant.create(&builders::service_account(tenant.home(), "thief")).await?;
    let operator =
        csv(&name, "1.0.0").deployment("thief", "thief").permission("thief", secrets()).build();
    let made = tenant.create(&operator).await?;
    let metadata = json!({
        "name": role,
        "labels": {
            "olm.owner": name, "olm.owner.namespace": tenant.home(),
            "olm.owner.kind": "ClusterServiceVersion", "olm.managed": "true",
        },
        "ownerReferences": [{
            "apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
            "name": name, "uid": made.metadata.uid,
        }],
    });
    let rights = json!({"metadata": metadata, "rules": secrets()});
    tenant.create::<Role>(&serde_json::from_value(rights)?).await?;
    let binding = json!({
        "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": "thief", "namespace": tenant.home()}],
    });
    tenant.create::<RoleBinding>(&serde_json::from_value(binding)?).await.map(drop)
}
