//! The kinds that are watched, one shared store each.

use std::sync::Arc;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, ServiceAccount};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use kube::core::PartialObjectMeta;
use olm_kit::client::Fields;
use olm_kit::watch::{Config, Store, WatchSet};
use olm_lifecycle::operator::PlanSummary;
use olm_opgroup::{LiveNamespaces, TenantPolicy};
use olm_rbac::RbacView;
use olm_types::api::{
    ClusterServiceVersion, OLMConfig, Operator, OperatorCondition, OperatorGroup, Proxy,
    Subscription,
};
use olm_types::labels::{COPIED_FROM, MANAGED, MANAGED_VALUE};

use crate::originals::Originals;
use crate::serving::ServingStores;
use crate::stored_copy::StoredCopy;
use crate::strip;

/// InstallPlans of one page: each may be a megabyte, and a page is held as a whole.
const PLANS: u32 = 20;

/// Copied CSVs of one page: each is as large as its original, and next to nothing of it is kept.
const COPIES: u32 = 100;

/// One shared store per kind. Clones share the content.
#[derive(Clone, Default)]
pub struct Stores {
    /// ClusterServiceVersions that are not copies.
    pub csvs: Store<ClusterServiceVersion>,
    /// Copied ClusterServiceVersions, condensed.
    pub copies: Store<StoredCopy>,
    /// OLMConfigs.
    pub configs: Store<OLMConfig>,
    /// Subscriptions.
    pub subscriptions: Store<Subscription>,
    /// Proxies; empty in a cluster that knows no such kind.
    pub proxies: Store<Proxy>,
    /// Operators.
    pub operators: Store<Operator>,
    /// InstallPlans without their plans.
    pub plans: Store<PlanSummary>,
    /// Metadata of the ConfigMaps that OLM made.
    pub config_maps: Store<PartialObjectMeta<ConfigMap>>,
    /// OperatorGroups.
    pub groups: Store<OperatorGroup>,
    /// OperatorConditions.
    pub conditions: Store<OperatorCondition>,
    /// Namespaces.
    pub namespaces: Store<Namespace>,
    /// Deployments, ours or not: an install takes over whatever has its name.
    pub deployments: Store<Deployment>,
    /// ServiceAccounts.
    pub accounts: Store<ServiceAccount>,
    /// Roles.
    pub roles: Store<Role>,
    /// RoleBindings.
    pub role_bindings: Store<RoleBinding>,
    /// ClusterRoles.
    pub cluster_roles: Store<ClusterRole>,
    /// ClusterRoleBindings.
    pub cluster_role_bindings: Store<ClusterRoleBinding>,
    /// CustomResourceDefinitions without their schemas.
    pub crds: Store<CustomResourceDefinition>,
    /// API services.
    pub api_services: Store<APIService>,
    /// What stands behind servers.
    pub serving: ServingStores,
    /// How far those who own namespaces are trusted: what a group gives depends on it.
    pub policy: TenantPolicy,
}

impl Stores {
    /// The Namespaces at this moment, from which it follows what groups give.
    pub fn live_namespaces(&self) -> LiveNamespaces {
        LiveNamespaces::new(self.policy, self.namespaces.list())
    }

    /// The groups that give all namespaces.
    pub fn global_groups(&self) -> Vec<Arc<OperatorGroup>> {
        let live = self.live_namespaces();
        self.groups.list_where(|group| live.is_global(group))
    }
}

impl Stores {
    /// The stores that these watches will fill. Whole CSVs are shown to `originals`; `policy` says how far
    /// those who own namespaces are trusted. The cluster's proxy is a kind that only some clusters know.
    pub fn watched(
        watches: &mut WatchSet,
        originals: Originals,
        policy: TenantPolicy,
        knows_proxies: bool,
    ) -> Self {
        let condense = move |csv: &mut ClusterServiceVersion| {
            originals.note(csv);
            strip::csv(csv);
        };
        let not_copied = Config::default().labels(&format!("!{COPIED_FROM}"));
        let copies = Config::default().labels(COPIED_FROM).page_size(COPIES);
        let plans = Config::default().page_size(PLANS);
        let managed = Config::default().labels(&format!("{MANAGED}={MANAGED_VALUE}"));
        let all = Config::default;
        Self {
            csvs: watches.add(not_copied, |csvs| csvs.strip(condense).admit(is_original)),
            copies: watches.condensed::<ClusterServiceVersion, StoredCopy>(copies, |copies| {
                copies.admit(|copy| copy.is_labelled)
            }),
            configs: watches.all(),
            subscriptions: watches.all(),
            proxies: if knows_proxies { watches.all() } else { Store::default() },
            operators: watches.all(),
            plans: watches.add(plans, |plans| {
                plans.without(Fields::of(&strip::OF_INSTALL_PLANS)).strip(strip::install_plan)
            }),
            config_maps: watches.add(managed, |maps| maps.strip(strip::only_relations)),
            groups: watches.all(),
            conditions: watches.all(),
            namespaces: watches.add(all(), |them| them.strip(strip::namespace)),
            deployments: watches.add(all(), |them| {
                them.without(Fields::of(&strip::OF_DEPLOYMENTS)).strip(strip::deployment)
            }),
            accounts: watches.add(all(), |them| them.strip(strip::service_account)),
            roles: watches.add(all(), |them| them.strip(strip::role)),
            role_bindings: watches.add(all(), |them| them.strip(strip::role_binding)),
            cluster_roles: watches.add(all(), |them| them.strip(strip::cluster_role)),
            cluster_role_bindings: watches
                .add(all(), |them| them.strip(strip::cluster_role_binding)),
            crds: watches
                .add(all(), |them| them.without(Fields::of(&strip::OF_CRDS)).strip(strip::crd)),
            api_services: watches.add(all(), |them| them.strip(strip::api_service)),
            serving: ServingStores::watched(watches),
            policy,
        }
    }
}

fn is_original(csv: &ClusterServiceVersion) -> bool {
    csv.metadata.labels.as_ref().is_none_or(|labels| !labels.contains_key(COPIED_FROM))
}

impl RbacView for Stores {
    fn role(&self, namespace: &str, name: &str) -> Option<Arc<Role>> {
        self.roles.get(Some(namespace), name)
    }

    fn cluster_role(&self, name: &str) -> Option<Arc<ClusterRole>> {
        self.cluster_roles.get(None, name)
    }

    fn role_bindings(&self, namespace: &str) -> Vec<Arc<RoleBinding>> {
        self.role_bindings.list_in(namespace)
    }

    fn cluster_role_bindings(&self) -> Vec<Arc<ClusterRoleBinding>> {
        self.cluster_role_bindings.list()
    }
}
