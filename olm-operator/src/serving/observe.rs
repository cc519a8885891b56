//! Assembles what exists of the objects behind the servers of a CSV. Decides nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use k8s_openapi::api::rbac::v1::RoleBinding;
use kube::Resource as KubeResource;
use olm_effect::Target;
use olm_kit::ObjectKey;
use olm_kit::watch::Store;
use olm_lifecycle::certificates::{
    KUBE_SYSTEM, ServedDeployment, ServingObjects, auth_readers, owned_api_services,
    served_deployments,
};
use olm_lifecycle::csv::ClusterOwned;
use olm_lifecycle::install::is_ours;
use olm_lifecycle::writes::resource_of;
use olm_types::api::ClusterServiceVersion;
use olm_types::owner::owner_by_label;

use crate::stores::Stores;

/// What exists for the servers of a CSV.
pub fn observe(stores: &Stores, csv: &ClusterServiceVersion) -> ServingObjects {
    let served_deployments = served_deployments(csv);
    let namespace = csv.metadata.namespace.as_deref();
    let named = |name: fn(&ServedDeployment<'_>) -> String| served_deployments.iter().map(name);
    let secret = |deployment: &ServedDeployment<'_>| deployment.names.secret();
    let service = |deployment: &ServedDeployment<'_>| deployment.names.service();
    let delegator = |deployment: &ServedDeployment<'_>| deployment.names.auth_delegator();
    let reader = |deployment: &ServedDeployment<'_>| deployment.names.auth_reader();
    let serving = &stores.serving;
    ServingObjects {
        services: present(&serving.services, namespace, named(service)),
        secrets: present(&serving.secrets, namespace, named(secret)),
        roles: present(&stores.roles, namespace, named(secret)),
        role_bindings: present(&stores.role_bindings, namespace, named(secret)),
        auth_delegators: present(&stores.cluster_role_bindings, None, named(delegator)),
        auth_readers: present(&stores.role_bindings, Some(KUBE_SYSTEM), named(reader)),
        accounts: accounts(stores, namespace, &served_deployments),
        validating: owned(&serving.validating, csv),
        mutating: owned(&serving.mutating, csv),
        labelled_api_services: owned(&stores.api_services, csv),
        abandoned_api_services: abandoned(stores, csv),
        issued: None,
    }
}

/// What has to go with a CSV that is being deleted and has no owner reference.
pub fn cluster_owned(stores: &Stores, csv: &ClusterServiceVersion) -> Vec<ClusterOwned> {
    let validating: Vec<Arc<ValidatingWebhookConfiguration>> =
        owned(&stores.serving.validating, csv);
    let mutating: Vec<Arc<MutatingWebhookConfiguration>> = owned(&stores.serving.mutating, csv);
    let mut all: Vec<ClusterOwned> =
        validating.iter().map(|found| in_cluster(found.as_ref())).collect();
    all.extend(mutating.iter().map(|found| in_cluster(found.as_ref())));
    all.extend(readers(stores, csv));
    all
}

fn readers(stores: &Stores, csv: &ClusterServiceVersion) -> Vec<ClusterOwned> {
    let namespace = csv.metadata.namespace.as_deref().unwrap_or_default();
    let others = stores.csvs.list_in(namespace);
    let others = others.iter().filter(|other| other.metadata.name != csv.metadata.name);
    let names = auth_readers(csv, others.map(AsRef::as_ref));
    let found = present(&stores.role_bindings, Some(KUBE_SYSTEM), names.into_iter());
    let of_namespace = found.into_values().filter(|binding| {
        let mut subjects = binding.subjects.iter().flatten();
        subjects.all(|subject| subject.namespace.as_deref() == Some(namespace))
    });
    of_namespace
        .map(|binding| {
            let name = binding.metadata.name.as_deref().unwrap_or_default();
            owned_by_name(
                Target::namespaced(resource_of::<RoleBinding>(), KUBE_SYSTEM, name),
                binding.as_ref(),
            )
        })
        .collect()
}

fn in_cluster<K: KubeResource<DynamicType = ()>>(object: &K) -> ClusterOwned {
    let name = object.meta().name.as_deref().unwrap_or_default();
    owned_by_name(Target::cluster(resource_of::<K>(), name), object)
}

fn owned_by_name<K: KubeResource>(target: Target, object: &K) -> ClusterOwned {
    ClusterOwned {
        target,
        uid: object.meta().uid.clone(),
        is_going: object.meta().deletion_timestamp.is_some(),
    }
}

fn present<K>(
    store: &Store<K>,
    namespace: Option<&str>,
    names: impl Iterator<Item = String>,
) -> BTreeMap<String, Arc<K>>
where
    K: KubeResource<DynamicType = ()>,
{
    names.filter_map(|name| Some((name.clone(), store.get(namespace, &name)?))).collect()
}

fn accounts(
    stores: &Stores,
    namespace: Option<&str>,
    served_deployments: &[ServedDeployment<'_>],
) -> BTreeSet<String> {
    let names = served_deployments.iter().map(ServedDeployment::account);
    let found = names.filter(|name| stores.accounts.get(namespace, name).is_some());
    found.collect()
}

/// Objects with the CSV's owner labels, in order of their names. Only a CSV that serves, or has
/// served, has any, and none is looked for in the others.
fn owned<K>(store: &Store<K>, csv: &ClusterServiceVersion) -> Vec<Arc<K>>
where
    K: KubeResource<DynamicType = ()>,
{
    store.list_where(|object| is_ours(csv, object.meta()))
}

/// API services of the CSV whose labels name a CSV that is not there.
fn abandoned(stores: &Stores, csv: &ClusterServiceVersion) -> BTreeSet<String> {
    let names = owned_api_services(csv).map(|api| api.api_service_name());
    names
        .filter(|name| {
            let Some(found) = stores.api_services.get(None, name) else { return false };
            let labels = found.metadata.labels.as_ref();
            let owner = labels.and_then(|all| owner_by_label(all, ClusterServiceVersion::KIND));
            owner.is_some_and(|owner| {
                let key = ObjectKey::namespaced(owner.namespace, owner.name);
                stores.csvs.get_key(&key).is_none()
            })
        })
        .collect()
}
