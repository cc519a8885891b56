//! Assembles what a pass of a CSV looks at. Decides nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::rbac::v1::{ClusterRole, Role};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use kube::Resource as KubeResource;
use olm_effect::Target;
use olm_kit::ObjectKey;
use olm_kit::watch::Store;
use olm_lifecycle::certificates::is_shared;
use olm_lifecycle::csv::stages::api_role_names;
use olm_lifecycle::csv::{ClusterOwned, Observed, claimant};
use olm_lifecycle::install::{Overrides, is_ours};
use olm_lifecycle::writes::resource_of;
use olm_rbac::{Account, Grants};
use olm_types::api::{AnyJson, ClusterServiceVersion, CsvPhase, Subscription};

use crate::dependents::account_names;
use crate::proxy;
use crate::serving;
use crate::stores::Stores;

/// The CSV of this key and its surroundings; `None` when it is gone.
pub fn observe(stores: &Stores, key: &ObjectKey) -> Option<Observed> {
    let csv = stores.csvs.get_key(key)?;
    let namespace = key.namespace.as_deref().unwrap_or_default();
    let is_sibling = |other: &Arc<ClusterServiceVersion>| other.metadata.name != csv.metadata.name;
    let siblings: Vec<_> = stores.csvs.list_in(namespace).into_iter().filter(is_sibling).collect();
    let roles = owned(&stores.roles, &csv, namespace);
    let role_bindings = owned(&stores.role_bindings, &csv, namespace);
    Some(Observed {
        cluster_roles: cluster_roles(stores, &csv, &roles),
        cluster_role_bindings: namesakes(&stores.cluster_role_bindings, names(&role_bindings)),
        roles,
        role_bindings,
        installing: installing(stores, namespace),
        namespaces: stores.live_namespaces(),
        operator_groups: stores.groups.list(),
        overrides: overrides(stores, &csv),
        deployments: by_name(stores.deployments.list_in(namespace)),
        service_accounts: accounts(stores, &csv),
        grants: grants(stores, &csv, &siblings),
        siblings,
        crds: crds(stores, &csv),
        api_services: api_services(stores, &csv),
        serving: serving::observe(stores, &csv),
        operator_conditions: by_name(stores.conditions.list_in(namespace)),
        cluster_owned: cluster_owned(stores, &csv),
        csv,
        ..Observed::default()
    })
}

/// The CSVs whose InstallPlan is being executed.
fn installing(stores: &Stores, namespace: &str) -> BTreeSet<String> {
    let plans = stores.plans.list_in(namespace);
    plans.iter().flat_map(|plan| plan.installing()).cloned().collect()
}

/// What the first Subscription by name that installed the CSV asks for, and the cluster's proxy.
fn overrides(stores: &Stores, csv: &ClusterServiceVersion) -> Overrides {
    let namespace = csv.metadata.namespace.as_deref().unwrap_or_default();
    let subscriptions = stores.subscriptions.list_in(namespace);
    let config = csv.metadata.name.as_deref().and_then(|csv| installer(&subscriptions, csv));
    let config = config.and_then(|subscription| subscription.spec.config.as_ref());
    let config = config.map(AnyJson::value);
    Overrides::new(config.as_ref(), &proxy::settings(stores))
}

/// Of the Subscriptions that say that they installed a CSV the first by name.
fn installer<'a>(
    subscriptions: &'a [Arc<Subscription>],
    csv: &str,
) -> Option<&'a Arc<Subscription>> {
    let installed_it = |subscription: &&Arc<Subscription>| {
        let status = subscription.status.as_ref();
        status.and_then(|status| status.installed_csv.as_deref()) == Some(csv)
    };
    subscriptions
        .iter()
        .filter(installed_it)
        .min_by_key(|subscription| subscription.metadata.name.clone())
}

fn accounts(stores: &Stores, csv: &ClusterServiceVersion) -> BTreeMap<String, Arc<ServiceAccount>> {
    let namespace = csv.metadata.namespace.as_deref();
    account_names(csv)
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), stores.accounts.get(namespace, name)?)))
        .collect()
}

fn grants(
    stores: &Stores,
    csv: &ClusterServiceVersion,
    siblings: &[Arc<ClusterServiceVersion>],
) -> BTreeMap<String, Grants> {
    let namespace = csv.metadata.namespace.as_deref().unwrap_or_default();
    let claimant = claimant(csv, siblings.iter().map(AsRef::as_ref));
    let accounts =
        account_names(csv).into_iter().map(|name| Account::new(namespace, name)).collect();
    Grants::gather_all(stores, &accounts, namespace, &claimant)
}

fn crds(
    stores: &Stores,
    csv: &ClusterServiceVersion,
) -> BTreeMap<String, Arc<CustomResourceDefinition>> {
    let definitions = csv.spec.customresourcedefinitions.iter();
    let names = definitions.flat_map(|crds| crds.owned.iter().chain(&crds.required));
    let names = names.map(|crd| crd.name.as_str());
    names.filter_map(|name| Some((name.to_owned(), stores.crds.get(None, name)?))).collect()
}

fn api_services(stores: &Stores, csv: &ClusterServiceVersion) -> BTreeMap<String, Arc<APIService>> {
    let definitions = csv.spec.apiservicedefinitions.iter();
    let services = definitions.flat_map(|all| all.owned.iter().chain(&all.required));
    let names = services.map(|service| service.api_service_name());
    names
        .filter_map(|name| {
            let found = stores.api_services.get(None, &name)?;
            Some((name, found))
        })
        .collect()
}

/// Cluster-scoped objects of the CSV; only looked for when it is being deleted.
fn cluster_owned(stores: &Stores, csv: &ClusterServiceVersion) -> Vec<ClusterOwned> {
    if csv.metadata.deletion_timestamp.is_none() {
        return Vec::new();
    }
    let namespace = csv.metadata.namespace.as_deref().unwrap_or_default();
    let mut owned =
        in_cluster(&stores.cluster_role_bindings, csv, |binding| !is_shared(binding, namespace));
    owned.extend(in_cluster(&stores.cluster_roles, csv, |_| true));
    owned.extend(in_cluster(&stores.api_services, csv, |_| true));
    owned.extend(serving::cluster_owned(stores, csv));
    owned
}

fn in_cluster<K>(
    store: &Store<K>,
    csv: &ClusterServiceVersion,
    goes: impl Fn(&K) -> bool,
) -> Vec<ClusterOwned>
where
    K: KubeResource<DynamicType = ()>,
{
    let found = store.list_where(|object| is_ours(csv, object.meta()) && goes(object));
    let to_owned = |object: &Arc<K>| {
        let name = object.meta().name.as_deref().unwrap_or_default();
        ClusterOwned {
            target: Target::cluster(resource_of::<K>(), name),
            uid: object.meta().uid.clone(),
            is_going: object.meta().deletion_timestamp.is_some(),
        }
    };
    found.iter().map(to_owned).collect()
}

/// Objects of the namespace with the CSV's owner labels.
fn owned<K>(store: &Store<K>, csv: &ClusterServiceVersion, namespace: &str) -> Vec<Arc<K>>
where
    K: KubeResource<DynamicType = ()>,
{
    let all = store.list_in(namespace).into_iter();
    all.filter(|object| is_ours(csv, object.meta())).collect()
}

/// The ClusterRoles that `roles` were lifted to, and those of the CSV's APIs, of which there are four for each:
/// they are looked at once it has succeeded.
fn cluster_roles(
    stores: &Stores,
    csv: &ClusterServiceVersion,
    roles: &[Arc<Role>],
) -> BTreeMap<String, Arc<ClusterRole>> {
    let has_succeeded = csv.phase() == CsvPhase::Succeeded;
    let of_apis = has_succeeded.then(|| api_role_names(csv)).into_iter().flatten();
    namesakes(&stores.cluster_roles, names(roles).into_iter().chain(of_apis))
}

fn names<K: KubeResource>(objects: &[Arc<K>]) -> Vec<String> {
    objects.iter().filter_map(|object| object.meta().name.clone()).collect()
}

/// Those of the names that are taken in the cluster.
fn namesakes<K>(
    store: &Store<K>,
    names: impl IntoIterator<Item = String>,
) -> BTreeMap<String, Arc<K>>
where
    K: KubeResource<DynamicType = ()>,
{
    let found = names.into_iter().map(|name| (store.get(None, &name), name));
    found.filter_map(|(object, name)| Some((name, object?))).collect()
}

fn by_name<K: KubeResource>(objects: Vec<Arc<K>>) -> BTreeMap<String, Arc<K>> {
    let name = |object: &Arc<K>| object.meta().name.clone().unwrap_or_default();
    objects.into_iter().map(|object| (name(&object), object)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn subscription(name: &str, installed: Option<&str>) -> Arc<Subscription> {
        let status = json!({"installedCSV": installed, "lastUpdated": "2026-01-01T00:00:00Z"});
        let spec = json!({"name": "p", "source": "c", "sourceNamespace": "olm"});
        let object = json!({"metadata": {"name": name}, "spec": spec, "status": status});
        Arc::new(serde_json::from_value(object).unwrap())
    }

    #[test]
    fn of_several_subscriptions_the_first_by_name_configures_a_csv() {
        let subscriptions = [
            subscription("c", Some("x.v1")),
            subscription("b", Some("x.v1")),
            subscription("a", Some("y.v1")),
            subscription("0", None),
        ];
        let named = |csv| {
            installer(&subscriptions, csv)
                .and_then(|subscription| subscription.metadata.name.as_deref())
        };
        assert_eq!(named("x.v1"), Some("b"));
        assert_eq!(named("z.v1"), None);
    }
}
