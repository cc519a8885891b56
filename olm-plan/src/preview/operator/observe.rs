//! Assembles what a pass of a CSV looks at, as olm-operator does from its watches.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use kube_core::Resource;
use olm_effect::Target;
use olm_lifecycle::csv::stages::api_role_names;
use olm_lifecycle::csv::{ClusterOwned, Observed, claimant, is_copied};
use olm_lifecycle::install::{Overrides, ProxySettings, is_ours};
use olm_lifecycle::tenancy::Trust;
use olm_lifecycle::writes::resource_of;
use olm_opgroup::LiveNamespaces;
use olm_rbac::{Account, Grants, RbacView};
use olm_types::api::{AnyJson, ClusterServiceVersion, Proxy, Subscription};
use serde::de::DeserializeOwned;

use super::{Work, serving};
use crate::observed::name;
use crate::preview::world::World;

/// Name of OpenShift's only Proxy.
const PROXY: &str = "cluster";

/// The CSV of that name and its surroundings; none when it is gone.
pub(super) fn observe(world: &mut World<'_>, work: &Work<'_>, csv: &str) -> Option<Observed> {
    let home = Some(work.asked.namespace.as_str());
    let all: Vec<Arc<ClusterServiceVersion>> = world.all(home);
    let own: Vec<Arc<ClusterServiceVersion>> =
        all.into_iter().filter(|one| !is_copied(one)).collect();
    let csv = own.iter().find(|one| name(&one.metadata) == csv)?.clone();
    let siblings: Vec<Arc<ClusterServiceVersion>> =
        own.into_iter().filter(|one| one.metadata.name != csv.metadata.name).collect();
    let roles: Vec<Arc<Role>> = ours(world, &csv, home);
    let role_bindings: Vec<Arc<RoleBinding>> = ours(world, &csv, home);
    let lifted = roles.iter().map(|role| name(&role.metadata).to_owned());
    let lifted: Vec<String> = lifted.chain(api_role_names(&csv)).collect();
    let bound = role_bindings.iter().map(|one| name(&one.metadata).to_owned());
    let bound: Vec<String> = bound.collect();
    Some(Observed {
        cluster_roles: present::<ClusterRole>(world, None, lifted),
        cluster_role_bindings: present::<ClusterRoleBinding>(world, None, bound),
        grants: grants(world, work, &csv, &siblings),
        roles,
        role_bindings,
        namespaces: namespaces(world, work),
        operator_groups: world.all(None),
        overrides: overrides(world, home, &csv),
        deployments: by_name(world.all(home)),
        service_accounts: present::<ServiceAccount>(world, home, account_names(&csv)),
        crds: present::<CustomResourceDefinition>(world, None, crd_names(&csv)),
        api_services: present::<APIService>(world, None, api_service_names(&csv)),
        serving: serving::observe(world, &csv),
        operator_conditions: by_name(world.all(home)),
        cluster_owned: cluster_owned(world, work, &csv),
        server_version: server_version(world, &csv),
        trust: trust(work),
        siblings,
        csv,
        ..Observed::default()
    })
}

/// The version of the API server. One that was not read is taken for new enough; `finish` says that it is unknown.
fn server_version(world: &World<'_>, csv: &ClusterServiceVersion) -> Option<String> {
    let read = world.known().server_version.clone();
    read.or_else(|| csv.spec.min_kube_version.clone())
}

/// Marks of an administrator's content cannot be checked here; what they allow is taken to be allowed.
fn trust(work: &Work<'_>) -> Trust {
    let namespaces = BTreeSet::from([work.asked.namespace.clone()]);
    Trust { policy: work.asked.settings.tenants, namespaces, ..Trust::default() }
}

/// All Namespaces that were read.
pub(super) fn namespaces(world: &World<'_>, work: &Work<'_>) -> LiveNamespaces {
    LiveNamespaces::new(work.asked.settings.tenants, world.all::<Namespace>(None))
}

fn overrides(world: &mut World<'_>, home: Option<&str>, csv: &ClusterServiceVersion) -> Overrides {
    let subscriptions: Vec<Arc<Subscription>> = world.all(home);
    let installed_it = |one: &&Arc<Subscription>| {
        let status = one.status.as_ref();
        status.and_then(|status| status.installed_csv.as_ref()) == csv.metadata.name.as_ref()
    };
    let config = subscriptions.iter().find(installed_it);
    let config = config.and_then(|subscription| subscription.spec.config.as_ref());
    let config = config.map(AnyJson::value);
    let proxies: Vec<Arc<Proxy>> = world.all(None);
    let proxy = proxies.iter().find(|one| name(&one.metadata) == PROXY);
    let proxy = proxy.and_then(|proxy| proxy.status.as_ref());
    Overrides::new(config.as_ref(), &proxy.map(ProxySettings::from).unwrap_or_default())
}

/// The accounts of a CSV's strategy.
pub(super) fn account_names(csv: &ClusterServiceVersion) -> BTreeSet<String> {
    let strategy = csv.spec.install.spec.iter();
    let blocks = strategy.flat_map(|all| all.permissions.iter().chain(&all.cluster_permissions));
    blocks.map(|block| block.service_account_name.clone()).collect()
}

fn crd_names(csv: &ClusterServiceVersion) -> BTreeSet<String> {
    let crds = csv.spec.customresourcedefinitions.iter();
    crds.flat_map(|crds| crds.owned.iter().chain(&crds.required))
        .map(|crd| crd.name.clone())
        .collect()
}

fn api_service_names(csv: &ClusterServiceVersion) -> BTreeSet<String> {
    let services = csv.spec.apiservicedefinitions.iter();
    services
        .flat_map(|all| all.owned.iter().chain(&all.required))
        .map(olm_types::api::ApiServiceDescription::api_service_name)
        .collect()
}

/// Objects with the CSV's owner labels.
pub(super) fn ours<K>(
    world: &World<'_>,
    csv: &ClusterServiceVersion,
    namespace: Option<&str>,
) -> Vec<Arc<K>>
where
    K: Resource<DynamicType = ()> + DeserializeOwned,
{
    world.all(namespace).into_iter().filter(|one: &Arc<K>| is_ours(csv, one.meta())).collect()
}

/// Those of the names that are there.
pub(super) fn present<K>(
    world: &mut World<'_>,
    namespace: Option<&str>,
    names: impl IntoIterator<Item = String>,
) -> BTreeMap<String, Arc<K>>
where
    K: Resource<DynamicType = ()> + DeserializeOwned,
{
    let mut found = BTreeMap::new();
    for name in names {
        if let Some(object) = world.named(namespace, &name) {
            found.insert(name, object);
        }
    }
    found
}

fn by_name<K: Resource>(objects: Vec<Arc<K>>) -> BTreeMap<String, Arc<K>> {
    let named = |object: Arc<K>| (object.meta().name.clone().unwrap_or_default(), object);
    objects.into_iter().map(named).collect()
}

/// What only labels bind to a CSV that goes.
fn cluster_owned(
    world: &mut World<'_>,
    work: &Work<'_>,
    csv: &ClusterServiceVersion,
) -> Vec<ClusterOwned> {
    if csv.metadata.deletion_timestamp.is_none() {
        return Vec::new();
    }
    let mut owned = in_cluster::<ClusterRoleBinding>(world, csv);
    owned.extend(in_cluster::<ClusterRole>(world, csv));
    owned.extend(in_cluster::<APIService>(world, csv));
    owned.extend(serving::cluster_owned(world, work, csv));
    owned
}

/// The objects of the cluster with the CSV's owner labels.
pub(super) fn in_cluster<K>(world: &World<'_>, csv: &ClusterServiceVersion) -> Vec<ClusterOwned>
where
    K: Resource<DynamicType = ()> + DeserializeOwned,
{
    let owned = |object: &Arc<K>| ClusterOwned {
        target: Target::cluster(resource_of::<K>(), name(object.meta())),
        uid: object.meta().uid.clone(),
        is_going: object.meta().deletion_timestamp.is_some(),
    };
    ours::<K>(world, csv, None).iter().map(owned).collect()
}

fn grants(
    world: &World<'_>,
    work: &Work<'_>,
    csv: &ClusterServiceVersion,
    siblings: &[Arc<ClusterServiceVersion>],
) -> BTreeMap<String, Grants> {
    let home = work.asked.namespace.as_str();
    let claimant = claimant(csv, siblings.iter().map(AsRef::as_ref));
    let accounts = account_names(csv).iter().map(|name| Account::new(home, name)).collect();
    Grants::gather_all(&View::of(world, home), &accounts, home, &claimant)
}

/// The roles and bindings of the cluster.
struct View {
    roles: BTreeMap<String, Arc<Role>>,
    cluster_roles: BTreeMap<String, Arc<ClusterRole>>,
    role_bindings: Vec<Arc<RoleBinding>>,
    cluster_role_bindings: Vec<Arc<ClusterRoleBinding>>,
}

impl View {
    fn of(world: &World<'_>, home: &str) -> Self {
        Self {
            roles: by_name(world.all(Some(home))),
            cluster_roles: by_name(world.all(None)),
            role_bindings: world.all(Some(home)),
            cluster_role_bindings: world.all(None),
        }
    }
}

impl RbacView for View {
    fn role(&self, _: &str, name: &str) -> Option<Arc<Role>> {
        self.roles.get(name).cloned()
    }

    fn cluster_role(&self, name: &str) -> Option<Arc<ClusterRole>> {
        self.cluster_roles.get(name).cloned()
    }

    fn role_bindings(&self, _: &str) -> Vec<Arc<RoleBinding>> {
        self.role_bindings.clone()
    }

    fn cluster_role_bindings(&self) -> Vec<Arc<ClusterRoleBinding>> {
        self.cluster_role_bindings.clone()
    }
}
