//! An OperatorGroup that targets a namespace of another user.

use anyhow::{Result, ensure};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use olm_testkit::builders::{self, csv};
use olm_testkit::wait;
use olm_types::api::{CsvPhase, OperatorGroup};
use serde_json::json;

use super::ground::{Ground, secrets};

/// What an operator may do at home, it may do in the targets of its group.
pub async fn foreign_targets(ground: Ground) -> Result<()> {
    let account = ground.account("thief");
    let theft = ground.theft(&account, &ground.foreign);
    theft.expect(&ground.scene.client, false).await?;
    let targets = [ground.home(), ground.foreign.as_str()];
    ground.create(&builders::operator_group(ground.home(), "group", &targets)).await?;
    install(&ground).await?;
    if ground.is_strict() {
        let refused = |group: &OperatorGroup| {
            group.status.iter().flat_map(|status| &status.conditions).any(|condition| {
                condition.type_ == "InvalidTargetNamespaces"
                    && condition.reason == "TargetsNotAllowed"
                    && condition.message.contains(&ground.foreign)
            })
        };
        wait::until(&ground.scene.api(), "group", "be refused its targets", refused).await?;
        let refused =
            ground.scene.csv_phase(&thief(&ground), CsvPhase::Failed, "NoTargetNamespaces").await?;
        let text = refused.status.and_then(|status| status.message).unwrap_or_default();
        ensure!(text.contains("allowed-target-namespaces"), "{text}");
        theft.expect(&ground.scene.client, false).await?;
        ground.allow_targets(ground.home(), &ground.foreign).await?;
    }
    ground.scene.succeeded(&thief(&ground)).await?;
    theft.expect(&ground.scene.client, true).await?;
    // Nothing beyond the target.
    ground.theft(&account, "kube-system").expect(&ground.scene.client, false).await
}

/// Name of the tenant's CSV. What is lifted for it has its name, too, in a cluster of many tenants.
pub fn thief(ground: &Ground) -> String {
    format!("{}-thief.v1.0.0", ground.home())
}

/// The tenant creates the CSV and the rights at home himself; he has them there.
pub async fn install(ground: &Ground) -> Result<()> {
    let (name, role) = (thief(ground), format!("{}-thief", ground.home()));
    ground.create(&builders::service_account(ground.home(), "thief")).await?;
    let operator =
        csv(&name, "1.0.0").deployment("thief", "thief").permission("thief", secrets()).build();
    let made = ground.create(&operator).await?;
    let metadata = json!({
        "name": role,
        "labels": {
            "olm.owner": name, "olm.owner.namespace": ground.home(),
            "olm.owner.kind": "ClusterServiceVersion", "olm.managed": "true",
        },
        "ownerReferences": [{
            "apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
            "name": name, "uid": made.metadata.uid,
        }],
    });
    let rights = json!({"metadata": metadata, "rules": secrets()});
    ground.create::<Role>(&serde_json::from_value(rights)?).await?;
    let binding = json!({
        "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": "thief", "namespace": ground.home()}],
    });
    ground.create::<RoleBinding>(&serde_json::from_value(binding)?).await.map(drop)
}
