//! The kinds that are watched, one shared store each.

use std::sync::Arc;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, ServiceAccount};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use kube::core::PartialObjectMeta;
use kube::{Api, Client, Resource};
use olm_kit::metrics::WatchMetrics;
use olm_kit::tasks::Tasks;
use olm_kit::watch::{Config, Store, Watch, WatchBuilder};
use olm_lifecycle::operator::PlanSummary;
use olm_opgroup::{LiveNamespaces, TenantPolicy};
use olm_rbac::RbacView;
use olm_types::api::{
    ClusterServiceVersion, OLMConfig, Operator, OperatorCondition, OperatorGroup, Proxy,
    Subscription,
};
use olm_types::labels::{COPIED_FROM, MANAGED, MANAGED_VALUE};

use crate::originals::Originals;
use crate::serving::{ServingStores, ServingWatches};
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

/// The watches before they start, so that listeners can be added.
pub struct Watches {
    csvs: WatchBuilder<ClusterServiceVersion>,
    copies: WatchBuilder<ClusterServiceVersion, StoredCopy>,
    configs: WatchBuilder<OLMConfig>,
    subscriptions: WatchBuilder<Subscription>,
    proxies: Option<WatchBuilder<Proxy>>,
    operators: WatchBuilder<Operator>,
    plans: WatchBuilder<PlanSummary>,
    config_maps: WatchBuilder<PartialObjectMeta<ConfigMap>>,
    groups: WatchBuilder<OperatorGroup>,
    conditions: WatchBuilder<OperatorCondition>,
    namespaces: WatchBuilder<Namespace>,
    deployments: WatchBuilder<Deployment>,
    accounts: WatchBuilder<ServiceAccount>,
    roles: WatchBuilder<Role>,
    role_bindings: WatchBuilder<RoleBinding>,
    cluster_roles: WatchBuilder<ClusterRole>,
    cluster_role_bindings: WatchBuilder<ClusterRoleBinding>,
    crds: WatchBuilder<CustomResourceDefinition>,
    api_services: WatchBuilder<APIService>,
    serving: ServingWatches,
    policy: TenantPolicy,
}

impl Watches {
    /// Watches on the whole cluster. Whole CSVs are shown to `originals`; `policy` says how far those
    /// who own namespaces are trusted.
    pub fn new(
        client: &Client,
        metrics: &WatchMetrics,
        originals: Originals,
        policy: TenantPolicy,
    ) -> Self {
        let condense = move |csv: &mut ClusterServiceVersion| {
            originals.note(csv);
            strip::csv(csv);
        };
        let watched = Config::default().labels(&format!("!{COPIED_FROM}"));
        let copies = Config::default().labels(COPIED_FROM).page_size(COPIES);
        let plans = Config::default().page_size(PLANS);
        let managed = Config::default().labels(&format!("{MANAGED}={MANAGED_VALUE}"));
        Self {
            csvs: with(client, watched, metrics).strip(condense).admit(is_original),
            copies: Watch::condensed(Api::all(client.clone()), copies)
                .metrics(metrics.clone())
                .admit(|copy: &StoredCopy| copy.is_labelled),
            configs: all(client, metrics),
            subscriptions: all(client, metrics),
            proxies: None,
            operators: all(client, metrics),
            plans: with(client, plans, metrics).strip(strip::install_plan),
            config_maps: with(client, managed, metrics).strip(strip::only_relations),
            groups: all(client, metrics),
            conditions: all(client, metrics),
            namespaces: all(client, metrics).strip(strip::namespace),
            deployments: all(client, metrics).strip(strip::deployment),
            accounts: all(client, metrics).strip(strip::service_account),
            roles: all(client, metrics).strip(strip::role),
            role_bindings: all(client, metrics).strip(strip::role_binding),
            cluster_roles: all(client, metrics).strip(strip::cluster_role),
            cluster_role_bindings: all(client, metrics).strip(strip::cluster_role_binding),
            crds: all(client, metrics).strip(strip::crd),
            api_services: all(client, metrics).strip(strip::api_service),
            serving: ServingWatches::new(client, metrics),
            policy,
        }
    }

    /// Also watches the cluster's proxy, a kind that only some clusters know.
    #[must_use]
    pub fn with_proxies(mut self, client: &Client, metrics: &WatchMetrics) -> Self {
        self.proxies = Some(all(client, metrics));
        self
    }

    /// The stores that these watches will fill.
    pub fn stores(&self) -> Stores {
        Stores {
            csvs: self.csvs.store(),
            copies: self.copies.store(),
            configs: self.configs.store(),
            subscriptions: self.subscriptions.store(),
            proxies: self.proxies.as_ref().map(WatchBuilder::store).unwrap_or_default(),
            operators: self.operators.store(),
            plans: self.plans.store(),
            config_maps: self.config_maps.store(),
            groups: self.groups.store(),
            conditions: self.conditions.store(),
            namespaces: self.namespaces.store(),
            deployments: self.deployments.store(),
            accounts: self.accounts.store(),
            roles: self.roles.store(),
            role_bindings: self.role_bindings.store(),
            cluster_roles: self.cluster_roles.store(),
            cluster_role_bindings: self.cluster_role_bindings.store(),
            crds: self.crds.store(),
            api_services: self.api_services.store(),
            serving: self.serving.stores(),
            policy: self.policy,
        }
    }

    /// Starts all watches.
    pub fn start(self, tasks: &Tasks) {
        self.csvs.start(tasks);
        self.copies.start(tasks);
        self.configs.start(tasks);
        self.subscriptions.start(tasks);
        if let Some(proxies) = self.proxies {
            proxies.start(tasks);
        }
        self.operators.start(tasks);
        self.plans.start(tasks);
        self.config_maps.start(tasks);
        self.groups.start(tasks);
        self.conditions.start(tasks);
        self.namespaces.start(tasks);
        self.deployments.start(tasks);
        self.accounts.start(tasks);
        self.roles.start(tasks);
        self.role_bindings.start(tasks);
        self.cluster_roles.start(tasks);
        self.cluster_role_bindings.start(tasks);
        self.crds.start(tasks);
        self.api_services.start(tasks);
        self.serving.start(tasks);
    }
}

fn all<K: Resource<DynamicType = ()>>(client: &Client, metrics: &WatchMetrics) -> WatchBuilder<K> {
    with(client, Config::default(), metrics)
}

fn with<K: Resource<DynamicType = ()>>(
    client: &Client,
    config: Config,
    metrics: &WatchMetrics,
) -> WatchBuilder<K> {
    Watch::builder(Api::all(client.clone()), config).metrics(metrics.clone())
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
