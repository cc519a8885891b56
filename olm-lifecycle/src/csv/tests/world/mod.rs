//! A cluster small enough for a test: objects by name, effects applied to them.
//!
//! Writes are guarded by `resourceVersion` as an API server guards them, so a decision that would
//! conflict with itself fails here, too.

mod server;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use k8s_openapi::api::core::v1::{Pod, ServiceAccount};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use olm_effect::{Outcome, Refusal, Target};
use olm_opgroup::{LiveNamespaces, TenantPolicy};
use olm_rbac::{Account, Grants, RbacView};
use olm_types::api::ClusterServiceVersion;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::fixtures::{NS, mk_group};
use crate::certificates::ServingObjects;
use crate::certificates::tests::fixtures as certificates;
use crate::csv::{ClusterOwned, Decision, Observed, Step, claimant, conclude, decide};
use crate::install::{Overrides, ProxySettings, is_ours};
use crate::operator::PlanSummary;

/// The simulated cluster, with one OperatorGroup `default` that targets `ns`.
pub(crate) struct World {
    pub(crate) now: Timestamp,
    objects: BTreeMap<(String, String), Value>,
    version: u64,
    /// What the API server answers to writes of this kind, instead of executing them.
    pub(crate) refuse: Option<(&'static str, Refusal)>,
    /// After how many more calls the process ends; never when absent.
    pub(crate) stop_after: Option<u32>,
    pub(crate) cluster_changed: bool,
    /// `spec.config` of the Subscription that installed every CSV.
    pub(crate) config: Value,
    /// Events of all passes: `Reason: message`.
    pub(crate) events: Vec<String>,
}

impl World {
    pub(crate) fn new() -> Self {
        let mut world = Self {
            now: "2026-01-01T00:00:00Z".parse().unwrap(),
            objects: BTreeMap::new(),
            version: 0,
            refuse: None,
            stop_after: None,
            cluster_changed: false,
            config: Value::Null,
            events: Vec::new(),
        };
        world.put(mk_group("default", json!({"targetNamespaces": [NS]}), &[NS]));
        world
    }

    /// Adds or replaces an object, with a new resourceVersion.
    pub(crate) fn put(&mut self, mut object: Value) {
        self.version += 1;
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        self.objects.insert(key(&object), object);
    }

    pub(crate) fn remove(&mut self, kind: &str, name: &str) {
        self.objects.remove(&(kind.to_owned(), name.to_owned()));
    }

    pub(crate) fn get(&self, kind: &str, name: &str) -> Option<&Value> {
        self.objects.get(&(kind.to_owned(), name.to_owned()))
    }

    /// Changes an object in place.
    pub(crate) fn edit(&mut self, kind: &str, name: &str, change: impl FnOnce(&mut Value)) {
        let mut object = self.get(kind, name).unwrap().clone();
        change(&mut object);
        self.put(object);
    }

    pub(crate) fn sleep(&mut self, seconds: i64) {
        self.now += SignedDuration::from_secs(seconds);
    }

    /// One pass of a CSV; what was decided.
    pub(crate) fn sync(&mut self, name: &str) -> Decision {
        self.pass(name).0
    }

    /// One pass of a CSV; what became of its writes, its status apart.
    pub(crate) fn sync_outcomes(&mut self, name: &str) -> Vec<Outcome> {
        self.pass(name).1
    }

    fn pass(&mut self, name: &str) -> (Decision, Vec<Outcome>) {
        let mut observed = self.observe(name);
        let decision = loop {
            match decide(&observed, self.now) {
                Step::Decided(decision) => break decision,
                Step::Need(crate::csv::Request::Served(apis)) => {
                    for api in apis {
                        let served = self.get("Served", &api.to_string()).is_some();
                        observed.served.insert(api, served);
                    }
                }
                Step::Need(crate::csv::Request::Certificates(order)) => {
                    observed.serving.issued = Some(certificates::issue(&order));
                }
                Step::Need(crate::csv::Request::Live(targets)) => {
                    for target in targets {
                        let found = self.get(&target.resource.kind, &target.name).cloned();
                        observed.live.insert(target, found);
                    }
                }
                Step::Need(crate::csv::Request::Pods(_)) => {
                    let pods: Vec<Arc<Pod>> = self.all("Pod");
                    observed.pods = Some(pods.iter().map(|pod| Pod::clone(pod)).collect());
                }
            }
        };
        let outcomes = self.execute(&decision.effects);
        if self.has_stopped() {
            return (decision, outcomes);
        }
        let conclusion = conclude(&observed, &decision, &outcomes, self.now);
        let written = self.execute(&conclusion.effects);
        if self.has_stopped() {
            return (decision, outcomes);
        }
        assert!(written.iter().all(|outcome| outcome.refusal().is_none()), "{written:?}");
        (decision, outcomes)
    }

    /// Whether the process ended; from then on it runs again.
    fn has_stopped(&mut self) -> bool {
        let stopped = self.stop_after == Some(0);
        self.stop_after = self.stop_after.filter(|left| *left > 0);
        stopped
    }

    /// All objects of a kind.
    pub(crate) fn every(&self, kind: &str) -> Vec<&Value> {
        let objects = self.objects.iter().filter(|((found, _), _)| found == kind);
        objects.map(|(_, object)| object).collect()
    }

    /// The object of a kind of which there is one.
    pub(crate) fn the_only(&self, kind: &str) -> &Value {
        let all = self.every(kind);
        assert_eq!(all.len(), 1, "{kind}");
        all[0]
    }

    /// A pass after a second; the state that it leads to.
    pub(crate) fn next(&mut self, name: &str) -> String {
        self.sleep(1);
        self.sync(name);
        self.state(name)
    }

    /// `Phase/Reason message` of a CSV, `gone` when there is none.
    pub(crate) fn state(&self, name: &str) -> String {
        let Some(csv) = self.get("ClusterServiceVersion", name) else { return "gone".to_owned() };
        let text = |field: &str| csv["status"][field].as_str().unwrap_or_default().to_owned();
        format!("{}/{} {}", text("phase"), text("reason"), text("message"))
    }

    pub(crate) fn phase(&self, name: &str) -> String {
        let state = self.state(name);
        state.split('/').next().unwrap_or_default().to_owned()
    }

    /// Makes a Deployment report its state of availability.
    pub(crate) fn set_available(&mut self, name: &str, status: &str, message: &str) {
        self.edit("Deployment", name, |deployment| {
            deployment["status"] = json!({
                "observedGeneration": deployment["metadata"]["generation"],
                "replicas": 1, "updatedReplicas": 1,
                "conditions": [{"type": "Available", "status": status, "message": message}],
            });
        });
    }

    pub(crate) fn observe(&self, name: &str) -> Observed {
        let csvs: Vec<Arc<ClusterServiceVersion>> = self.all("ClusterServiceVersion");
        let is_it = |csv: &Arc<ClusterServiceVersion>| csv.metadata.name.as_deref() == Some(name);
        let csv = csvs.iter().find(|csv| is_it(csv)).unwrap().clone();
        let is_sibling =
            |other: &Arc<ClusterServiceVersion>| !is_it(other) && !crate::csv::is_copied(other);
        let plans: Vec<Arc<PlanSummary>> = self.all("InstallPlan");
        Observed {
            installing: plans.iter().flat_map(|plan| plan.installing()).cloned().collect(),
            siblings: csvs.into_iter().filter(is_sibling).collect(),
            operator_groups: self.all("OperatorGroup"),
            namespaces: LiveNamespaces::new(TenantPolicy::V0, self.all("Namespace")),
            overrides: Overrides::new(Some(&self.config), &ProxySettings::default()),
            deployments: self.named("Deployment"),
            service_accounts: self.named("ServiceAccount"),
            grants: self.grants(&csv),
            roles: self.owned(&csv, "Role"),
            role_bindings: self.owned(&csv, "RoleBinding"),
            cluster_roles: self.named("ClusterRole"),
            cluster_role_bindings: self.named("ClusterRoleBinding"),
            crds: self.named("CustomResourceDefinition"),
            api_services: self.named("APIService"),
            serving: self.serving(&csv),
            operator_conditions: self.named("OperatorCondition"),
            cluster_owned: self.cluster_owned(&csv),
            server_version: Some("v1.33.2".to_owned()),
            cluster_changed: self.cluster_changed,
            csv,
            ..Observed::default()
        }
    }

    fn serving(&self, csv: &ClusterServiceVersion) -> ServingObjects {
        let accounts: BTreeMap<String, Arc<ServiceAccount>> = self.named("ServiceAccount");
        ServingObjects {
            services: self.named("Service"),
            secrets: self.named("Secret"),
            roles: self.named("Role"),
            role_bindings: self.named("RoleBinding"),
            auth_delegators: self.named("ClusterRoleBinding"),
            auth_readers: self.named("RoleBinding"),
            accounts: accounts.into_keys().collect(),
            validating: self.owned(csv, "ValidatingWebhookConfiguration"),
            mutating: self.owned(csv, "MutatingWebhookConfiguration"),
            labelled_api_services: self.owned(csv, "APIService"),
            ..ServingObjects::default()
        }
    }

    fn all<K: DeserializeOwned>(&self, kind: &str) -> Vec<Arc<K>> {
        let objects = self.objects.iter().filter(|((found, _), _)| found == kind);
        objects
            .map(|(_, object)| Arc::new(serde_json::from_value(object.clone()).unwrap()))
            .collect()
    }

    fn named<K: DeserializeOwned>(&self, kind: &str) -> BTreeMap<String, Arc<K>> {
        let names = self.objects.keys().filter(|(found, _)| found == kind);
        names.map(|(_, name)| name.clone()).zip(self.all(kind)).collect()
    }

    fn owned<K>(&self, csv: &ClusterServiceVersion, kind: &str) -> Vec<Arc<K>>
    where
        K: DeserializeOwned + kube_core::Resource,
    {
        let objects: Vec<Arc<K>> = self.all(kind);
        objects.into_iter().filter(|object| is_ours(csv, object.meta())).collect()
    }

    fn grants(&self, csv: &ClusterServiceVersion) -> BTreeMap<String, Grants> {
        let siblings: Vec<Arc<ClusterServiceVersion>> = self.all("ClusterServiceVersion");
        let claimant = claimant(csv, siblings.iter().map(AsRef::as_ref));
        let gather = |name: &str| Grants::gather(self, &Account::new(NS, name), NS, &claimant);
        BTreeMap::from([("sa".to_owned(), gather("sa"))])
    }

    fn cluster_owned(&self, csv: &ClusterServiceVersion) -> Vec<ClusterOwned> {
        let mut all = self.owned_in_cluster::<ClusterRole>(csv);
        all.extend(self.owned_in_cluster::<ClusterRoleBinding>(csv));
        all.extend(self.owned_in_cluster::<APIService>(csv));
        all.extend(self.owned_in_cluster::<ValidatingWebhookConfiguration>(csv));
        all
    }

    fn owned_in_cluster<K>(&self, csv: &ClusterServiceVersion) -> Vec<ClusterOwned>
    where
        K: DeserializeOwned + kube_core::Resource<DynamicType = ()>,
    {
        let resource = crate::writes::resource_of::<K>();
        let ours: Vec<Arc<K>> = self.owned(csv, &resource.kind);
        let owned = |object: &Arc<K>| ClusterOwned {
            target: Target::cluster(resource.clone(), object.meta().name.as_deref().unwrap()),
            uid: object.meta().uid.clone(),
            is_going: object.meta().deletion_timestamp.is_some(),
        };
        ours.iter().map(owned).collect()
    }
}

impl RbacView for World {
    fn role(&self, _: &str, name: &str) -> Option<Arc<Role>> {
        self.named("Role").remove(name)
    }

    fn cluster_role(&self, name: &str) -> Option<Arc<ClusterRole>> {
        self.named("ClusterRole").remove(name)
    }

    fn role_bindings(&self, _: &str) -> Vec<Arc<RoleBinding>> {
        self.all("RoleBinding")
    }

    fn cluster_role_bindings(&self) -> Vec<Arc<ClusterRoleBinding>> {
        self.all("ClusterRoleBinding")
    }
}

fn key(object: &Value) -> (String, String) {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&object["kind"]), text(&object["metadata"]["name"]))
}
