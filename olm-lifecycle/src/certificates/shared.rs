//! Bindings of servers that may have servers of other namespaces in them.
//!
//! Their names are v0's, made of the Deployment's name alone, and belong to the cluster or to `kube-system`.
//! In v0 the last install takes such a binding for itself, and its end takes it away: whoever may install a
//! Deployment of that name takes from another user's server the right to ask who its callers are. Here
//! each server adds its account and takes only that away (docs/security.md).

use std::collections::BTreeMap;

use k8s_openapi::api::rbac::v1::{ClusterRoleBinding, Subject};
use kube_core::Resource;
use olm_effect::{Effect, Target};
use olm_types::api::ClusterServiceVersion;
use olm_types::owner::{self, owner_by_label};
use serde::Serialize;
use serde_json::json;

use super::served_deployment::{ServedDeployment, served_deployments};
use super::server_roles::{AUTH_DELEGATOR, KUBE_SYSTEM};
use crate::csv::Observed;
use crate::writes::resource_of;

/// The subjects of a binding with the account of a server, beside those of other namespaces.
pub(super) fn subjects(deployment: &ServedDeployment<'_>, present: &[Subject]) -> Vec<Subject> {
    let own = Subject {
        kind: "ServiceAccount".to_owned(),
        name: deployment.account(),
        namespace: Some(deployment.names.namespace().to_owned()),
        ..Subject::default()
    };
    others(present, deployment.names.namespace()).cloned().chain([own]).collect()
}

/// Whether subjects name the account of a server.
pub(crate) fn is_named(deployment: &ServedDeployment<'_>, subjects: &[Subject]) -> bool {
    let account = deployment.account();
    subjects.iter().any(|subject| {
        subject.kind == "ServiceAccount"
            && subject.name == account
            && subject.namespace.as_deref() == Some(deployment.names.namespace())
    })
}

/// Whether a binding of servers of `namespace` is one of servers elsewhere, too, which need it.
pub fn is_shared(binding: &ClusterRoleBinding, namespace: &str) -> bool {
    let subjects = binding.subjects.as_deref().unwrap_or_default();
    binding.role_ref.name == AUTH_DELEGATOR && others(subjects, namespace).next().is_some()
}

/// The owner labels of a binding: those of another namespace's CSV stay while it has a subject there.
pub(super) fn owner_labels(
    csv: &ClusterServiceVersion,
    present: Option<&ClusterRoleBinding>,
) -> BTreeMap<String, String> {
    let namespace = csv.metadata.namespace.as_deref().unwrap_or_default();
    let other = present.and_then(|binding| {
        let labels = binding.metadata.labels.as_ref()?;
        let owner = owner_by_label(labels, ClusterServiceVersion::KIND)?;
        let mut subjects = others(binding.subjects.as_deref().unwrap_or_default(), namespace);
        let is_there =
            subjects.any(|subject| subject.namespace.as_deref() == Some(owner.namespace));
        is_there.then_some((owner.name, owner.namespace))
    });
    let own = (csv.metadata.name.as_deref().unwrap_or_default(), namespace);
    let (name, namespace) = other.unwrap_or(own);
    owner::owner_labels(name, namespace, ClusterServiceVersion::KIND)
}

/// The writes that take the servers of a CSV which is being deleted out of bindings that others need, too.
pub(crate) fn left(observed: &Observed) -> Vec<Effect> {
    let staying = observed.siblings.iter().filter(|csv| csv.metadata.deletion_timestamp.is_none());
    let staying: Vec<_> = staying.flat_map(|csv| served_deployments(csv)).collect();
    let going = served_deployments(&observed.csv).into_iter();
    let going = going.filter(|one| staying.iter().all(|other| other.names != one.names));
    let serving = &observed.serving;
    going
        .flat_map(|deployment| {
            let delegator = serving.auth_delegators.get(&deployment.names.auth_delegator());
            let reader = serving.auth_readers.get(&deployment.names.auth_reader());
            let namespace = observed.namespace();
            let delegator =
                delegator.and_then(|one| without(one.as_ref(), one.subjects.as_deref(), namespace));
            let reader =
                reader.filter(|one| one.metadata.namespace.as_deref() == Some(KUBE_SYSTEM));
            let reader =
                reader.and_then(|one| without(one.as_ref(), one.subjects.as_deref(), namespace));
            delegator.into_iter().chain(reader)
        })
        .collect()
}

/// A binding without the subjects of a namespace; nothing where it has none of these, or no others.
fn without<K>(binding: &K, subjects: Option<&[Subject]>, namespace: &str) -> Option<Effect>
where
    K: Resource<DynamicType = ()> + Serialize,
{
    let subjects = subjects.unwrap_or_default();
    let kept: Vec<&Subject> = others(subjects, namespace).collect();
    let changes = !kept.is_empty() && kept.len() < subjects.len();
    let patch = json!({
        "metadata": {"resourceVersion": binding.meta().resource_version},
        "subjects": kept,
    });
    let (namespace, name) = (&binding.meta().namespace, &binding.meta().name);
    let target = Target {
        resource: resource_of::<K>(),
        namespace: namespace.clone(),
        name: name.clone().unwrap_or_default(),
    };
    changes.then(|| Effect::merge(target, patch, None))
}

/// Subjects that are no accounts of a namespace.
fn others<'a>(subjects: &'a [Subject], namespace: &str) -> impl Iterator<Item = &'a Subject> {
    subjects.iter().filter(move |subject| subject.namespace.as_deref() != Some(namespace))
}
