//! What older versions of OLM put behind an API, under names made of the API's (spec
//! olm-operator 3.7, item 6).

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{Secret, Service};
use k8s_openapi::api::rbac::v1::{ClusterRoleBinding, Role, RoleBinding};
use olm_effect::{Action, Effect, Propagation, Target};
use olm_types::api::{ApiServiceDescription, ClusterServiceVersion};
use olm_types::owner::{OwnerName, is_owned_by_label};
use serde_json::Value;

use crate::certificates::{KUBE_SYSTEM, ServingCsv, ServingNames, owned_api_services};
use crate::writes::resource_of;

/// The deletions of such objects that carry the labels of the CSV.
///
/// # Errors
/// What has to be read first: most of these objects lack the label by which others are watched.
pub fn legacy(observed: &ServingCsv<'_>) -> Result<Vec<Effect>, BTreeSet<Target>> {
    let targets: BTreeSet<Target> =
        owned_api_services(observed.csv).flat_map(|api| named_after(observed, api)).collect();
    let unread: BTreeSet<Target> =
        targets.iter().filter(|target| !observed.live.contains_key(target)).cloned().collect();
    if !unread.is_empty() {
        return Err(unread);
    }
    let found = targets.into_iter().filter_map(|target| {
        let object = observed.live.get(&target)?.as_ref()?;
        is_ours(observed, object).then(|| delete(target, object))
    });
    Ok(found.collect())
}

/// The old names, unless they are the new ones by chance.
fn named_after(observed: &ServingCsv<'_>, api: &ApiServiceDescription) -> Vec<Target> {
    let name = api.api_service_name();
    let service = name.replace('.', "-");
    let deployment = api.deployment_name.as_deref().unwrap_or_default();
    if service == ServingNames::new(observed.namespace(), deployment).service() {
        return Vec::new();
    }
    let (namespace, secret) = (observed.namespace(), format!("{name}-cert"));
    vec![
        Target::namespaced(resource_of::<Service>(), namespace, &service),
        Target::namespaced(resource_of::<Secret>(), namespace, &secret),
        Target::namespaced(resource_of::<Role>(), namespace, &secret),
        Target::namespaced(resource_of::<RoleBinding>(), namespace, &secret),
        Target::cluster(
            resource_of::<ClusterRoleBinding>(),
            &format!("{name}-system:auth-delegator"),
        ),
        Target::namespaced(
            resource_of::<RoleBinding>(),
            KUBE_SYSTEM,
            &format!("{name}-auth-reader"),
        ),
    ]
}

fn is_ours(observed: &ServingCsv<'_>, object: &Value) -> bool {
    let owner = OwnerName {
        kind: ClusterServiceVersion::KIND,
        namespace: observed.namespace(),
        name: observed.name(),
    };
    let labels = object.pointer("/metadata/labels").cloned().unwrap_or_default();
    serde_json::from_value(labels).is_ok_and(|labels| is_owned_by_label(&labels, owner))
}

fn delete(target: Target, object: &Value) -> Effect {
    let uid = object.pointer("/metadata/uid").and_then(Value::as_str).map(str::to_owned);
    let action = Action::Delete { uid, propagation: Propagation::Background, grace_seconds: None };
    Effect::new(target, action)
}
