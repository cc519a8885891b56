//! What a server may do: read its Secret, and, as an aggregated API, ask about its callers
//! (spec olm-operator 3.6).

use k8s_openapi::api::rbac::v1::{ClusterRoleBinding, Role, RoleBinding};
use kube_core::Resource;
use olm_effect::{Effect, Target};
use olm_types::api::ClusterServiceVersion;
use olm_types::labels;
use serde_json::{Value, json};

use super::observed::ServingObjects;
use super::served_deployment::{ServedDeployment, served_deployments};
use super::shared;
use super::writes::{apply, managed, owner_reference, owners};
use crate::writes::resource_of;

/// Where the rights of aggregated APIs are bound.
pub const KUBE_SYSTEM: &str = "kube-system";

/// The role of those who ask who their callers are.
pub(super) const AUTH_DELEGATOR: &str = "system:auth-delegator";

const RBAC: &str = "rbac.authorization.k8s.io";

/// The writes for one server.
pub(super) fn rights(
    csv: &ClusterServiceVersion,
    deployment: &ServedDeployment<'_>,
    objects: &ServingObjects,
) -> Vec<Effect> {
    vec![
        role(csv, deployment, objects),
        role_binding(csv, deployment, objects),
        auth_delegator(csv, deployment, objects),
        auth_reader(deployment, objects),
    ]
}

fn role(
    csv: &ClusterServiceVersion,
    deployment: &ServedDeployment<'_>,
    objects: &ServingObjects,
) -> Effect {
    let name = deployment.names.secret();
    let content = json!({"rules": [{
        "verbs": ["get"], "apiGroups": [""], "resources": ["secrets"], "resourceNames": [name],
    }]});
    let target = Target::namespaced(resource_of::<Role>(), deployment.names.namespace(), &name);
    created_or_merged(csv, target, objects.roles.get(&name).map(AsRef::as_ref), content)
}

fn role_binding(
    csv: &ClusterServiceVersion,
    deployment: &ServedDeployment<'_>,
    objects: &ServingObjects,
) -> Effect {
    let name = deployment.names.secret();
    let content = json!({
        "subjects": [subject(deployment)],
        "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": name},
    });
    let target =
        Target::namespaced(resource_of::<RoleBinding>(), deployment.names.namespace(), &name);
    created_or_merged(csv, target, objects.role_bindings.get(&name).map(AsRef::as_ref), content)
}

fn auth_delegator(
    csv: &ClusterServiceVersion,
    deployment: &ServedDeployment<'_>,
    objects: &ServingObjects,
) -> Effect {
    let name = deployment.names.auth_delegator();
    let present = objects.auth_delegators.get(&name).map(AsRef::as_ref);
    let mut labels = shared::owner_labels(csv, present);
    labels.insert(labels::MANAGED.to_owned(), labels::MANAGED_VALUE.to_owned());
    let subjects = present.and_then(|binding| binding.subjects.as_deref()).unwrap_or_default();
    let object = json!({
        "metadata": {"name": name, "labels": labels},
        "subjects": shared::subjects(deployment, subjects),
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": AUTH_DELEGATOR},
    });
    apply(Target::cluster(resource_of::<ClusterRoleBinding>(), &name), object)
}

/// As in v0 it has no owner labels; it is found by its name when the CSV goes.
fn auth_reader(deployment: &ServedDeployment<'_>, objects: &ServingObjects) -> Effect {
    let name = deployment.names.auth_reader();
    let present = objects.auth_readers.get(&name);
    let subjects = present.and_then(|binding| binding.subjects.as_deref()).unwrap_or_default();
    let object = json!({
        "metadata": {"name": name, "namespace": KUBE_SYSTEM, "labels": managed()},
        "subjects": shared::subjects(deployment, subjects),
        "roleRef": {
            "apiGroup": RBAC, "kind": "Role", "name": "extension-apiserver-authentication-reader",
        },
    });
    apply(Target::namespaced(resource_of::<RoleBinding>(), KUBE_SYSTEM, &name), object)
}

fn subject(deployment: &ServedDeployment<'_>) -> Value {
    json!({
        "kind": "ServiceAccount", "name": deployment.account(), "namespace": deployment.names.namespace(),
    })
}

/// Creates the object, or merges into the one that is there; that one becomes the CSV's only if a
/// CSV owns it already.
fn created_or_merged<K: Resource + serde::Serialize>(
    csv: &ClusterServiceVersion,
    target: Target,
    present: Option<&K>,
    mut content: Value,
) -> Effect {
    let mut metadata = json!({"name": target.name, "labels": managed()});
    match present {
        None => {
            metadata["namespace"] = json!(target.namespace);
            metadata["ownerReferences"] = json!([owner_reference(csv)]);
            content["metadata"] = metadata;
            content["apiVersion"] = json!(target.resource.api_version());
            content["kind"] = json!(target.resource.kind);
            Effect::create(target, content)
        }
        Some(present) => {
            metadata["ownerReferences"] = owners(csv, present.meta());
            content["metadata"] = metadata;
            Effect::merge(target, content, serde_json::to_value(present).ok())
        }
    }
}

/// Names of the RoleBindings in [`KUBE_SYSTEM`] that go with a CSV: those of its servers, unless
/// one of `others`, the other CSVs of its namespace, stays and has a server of that name.
pub fn auth_readers<'a>(
    csv: &ClusterServiceVersion,
    others: impl Iterator<Item = &'a ClusterServiceVersion>,
) -> Vec<String> {
    let mut names: Vec<String> =
        served_deployments(csv).iter().map(|deployment| deployment.names.auth_reader()).collect();
    for other in others.filter(|other| other.metadata.deletion_timestamp.is_none()) {
        for deployment in served_deployments(other) {
            names.retain(|name| *name != deployment.names.auth_reader());
        }
    }
    names
}
