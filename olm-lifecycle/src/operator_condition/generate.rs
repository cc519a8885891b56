//! The OperatorCondition that a CSV asks for (spec olm-operator 6.3).

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_core::Resource as KubeResource;
use olm_effect::Effect;
use olm_types::api::{ClusterServiceVersion, OperatorCondition, OperatorConditionSpec};
use olm_types::owner::controller_owner;
use serde_json::json;

use crate::csv::is_copied;
use crate::operator::ComponentOwner;
use crate::writes::target_of;

/// The account of Deployments that name none.
const DEFAULT_ACCOUNT: &str = "default";

/// The write that makes `present` as the CSV asks for; nothing when it is. What a person or the
/// operator put into it stays.
pub(super) fn generate(
    csv: &ClusterServiceVersion,
    present: Option<&OperatorCondition>,
) -> Option<Effect> {
    if is_copied(csv) || csv.metadata.deletion_timestamp.is_some() {
        return None;
    }
    let wanted = wanted(csv);
    match present {
        None => {
            let mut object = serde_json::to_value(&wanted).unwrap_or_default();
            ComponentOwner::from(csv).label(&target_of(&wanted), &mut object);
            Some(Effect::create(target_of(&wanted), object))
        }
        // It goes with its last owner; the next one is made when it is gone.
        Some(present) if present.metadata.deletion_timestamp.is_some() => None,
        Some(present) => change(&wanted, present),
    }
}

fn change(wanted: &OperatorCondition, present: &OperatorCondition) -> Option<Effect> {
    let in_step = wanted.metadata.owner_references == present.metadata.owner_references
        && wanted.spec.deployments == present.spec.deployments
        && wanted.spec.service_accounts == present.spec.service_accounts;
    let patch = json!({
        "metadata": {"ownerReferences": wanted.metadata.owner_references},
        "spec": {
            "deployments": wanted.spec.deployments,
            "serviceAccounts": wanted.spec.service_accounts,
        },
    });
    (!in_step).then(|| Effect::merge(target_of(wanted), patch, None))
}

fn wanted(csv: &ClusterServiceVersion) -> OperatorCondition {
    let name = csv.metadata.name.as_deref().unwrap_or_default();
    let uid = csv.metadata.uid.as_deref().unwrap_or_default();
    let version = ClusterServiceVersion::api_version(&());
    let owner = controller_owner(&version, ClusterServiceVersion::KIND, name, uid);
    OperatorCondition {
        metadata: ObjectMeta {
            name: csv.metadata.name.clone(),
            namespace: csv.metadata.namespace.clone(),
            owner_references: Some(vec![owner]),
            ..ObjectMeta::default()
        },
        spec: OperatorConditionSpec {
            deployments: deployments(csv),
            service_accounts: accounts(csv),
            ..OperatorConditionSpec::default()
        },
        status: None,
    }
}

fn deployments(csv: &ClusterServiceVersion) -> Vec<String> {
    let strategy = csv.spec.install.spec.iter();
    strategy.flat_map(|strategy| &strategy.deployments).map(|one| one.name.clone()).collect()
}

/// Accounts in the order of the CSV, cluster permissions first; several permissions of one account
/// name it several times, as in v0.
fn accounts(csv: &ClusterServiceVersion) -> Vec<String> {
    let strategy = csv.spec.install.spec.iter();
    let blocks = strategy
        .flat_map(|strategy| strategy.cluster_permissions.iter().chain(&strategy.permissions));
    let names: Vec<String> = blocks.map(|block| block.service_account_name.clone()).collect();
    if names.is_empty() { vec![DEFAULT_ACCOUNT.to_owned()] } else { names }
}
