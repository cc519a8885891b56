//! The kinds that are watched, and what is kept of them.

use kube::{Api, Client};
use olm_kit::metrics::WatchMetrics;
use olm_kit::tasks::Tasks;
use olm_kit::watch::{Config, Store, Watch, WatchBuilder};
use olm_types::annotations::PROPERTIES;
use olm_types::api::{
    ApiServiceDefinitions, ApiServiceDescription, CatalogSource, ClusterServiceVersion,
    ClusterServiceVersionSpec, CrdDescription, CustomResourceDefinitions, InstallPlan,
    InstallPlanPhase, OperatorGroup, Subscription,
};
use olm_types::labels::COPIED_FROM;

/// One shared store per kind.
#[derive(Clone)]
pub struct Stores {
    /// CatalogSources.
    pub catalogs: Store<CatalogSource>,
    /// Subscriptions.
    pub subscriptions: Store<Subscription>,
    /// InstallPlans; complete ones without the manifests that nobody reads any more.
    pub plans: Store<InstallPlan>,
    /// OperatorGroups.
    pub groups: Store<OperatorGroup>,
    /// ClusterServiceVersions that are not copies, reduced to what resolution needs.
    pub csvs: Store<ClusterServiceVersion>,
}

/// The watches before they start, so that listeners can be added.
pub struct Watches {
    catalogs: WatchBuilder<CatalogSource>,
    subscriptions: WatchBuilder<Subscription>,
    plans: WatchBuilder<InstallPlan>,
    groups: WatchBuilder<OperatorGroup>,
    csvs: WatchBuilder<ClusterServiceVersion>,
}

impl Watches {
    /// Watches on the whole cluster.
    pub fn new(client: &Client, metrics: &WatchMetrics) -> Self {
        let originals = Config::default().labels(&format!("!{COPIED_FROM}"));
        Self {
            catalogs: watch(client, Config::default(), metrics),
            subscriptions: watch(client, Config::default(), metrics),
            plans: watch(client, Config::default(), metrics).strip(strip_plan),
            groups: watch(client, Config::default(), metrics),
            csvs: watch(client, originals, metrics).strip(strip_csv).admit(is_original),
        }
    }

    /// The stores that these watches will fill.
    pub fn stores(&self) -> Stores {
        Stores {
            catalogs: self.catalogs.store(),
            subscriptions: self.subscriptions.store(),
            plans: self.plans.store(),
            groups: self.groups.store(),
            csvs: self.csvs.store(),
        }
    }

    /// Starts all watches.
    pub fn start(self, tasks: &Tasks) {
        self.catalogs.start(tasks);
        self.subscriptions.start(tasks);
        self.plans.start(tasks);
        self.groups.start(tasks);
        self.csvs.start(tasks);
    }
}

fn watch<K>(client: &Client, config: Config, metrics: &WatchMetrics) -> WatchBuilder<K>
where
    K: kube::Resource<DynamicType = ()>,
{
    Watch::builder(Api::all(client.clone()), config).metrics(metrics.clone())
}

fn is_original(csv: &ClusterServiceVersion) -> bool {
    csv.metadata.labels.as_ref().is_none_or(|labels| !labels.contains_key(COPIED_FROM))
}

/// A complete plan is never executed again; only its CSV steps are still looked at.
fn strip_plan(plan: &mut InstallPlan) {
    let Some(status) =
        plan.status.as_mut().filter(|status| status.phase == InstallPlanPhase::Complete)
    else {
        return;
    };
    for step in
        status.plan.iter_mut().filter(|step| step.resource.kind != ClusterServiceVersion::KIND)
    {
        step.resource.manifest = None;
    }
}

fn strip_csv(csv: &mut ClusterServiceVersion) {
    let spec = std::mem::take(&mut csv.spec);
    csv.spec = ClusterServiceVersionSpec {
        version: spec.version,
        replaces: spec.replaces,
        customresourcedefinitions: spec.customresourcedefinitions.map(strip_crds),
        apiservicedefinitions: spec.apiservicedefinitions.map(strip_api_services),
        ..ClusterServiceVersionSpec::default()
    };
    if let Some(status) = csv.status.as_mut() {
        status.conditions.clear();
        status.requirement_status.clear();
    }
    if let Some(annotations) = csv.metadata.annotations.as_mut() {
        annotations.retain(|key, _| key == PROPERTIES);
    }
}

fn strip_crds(definitions: CustomResourceDefinitions) -> CustomResourceDefinitions {
    let strip = |description: CrdDescription| CrdDescription {
        name: description.name,
        version: description.version,
        kind: description.kind,
        ..CrdDescription::default()
    };
    CustomResourceDefinitions {
        owned: definitions.owned.into_iter().map(strip).collect(),
        required: definitions.required.into_iter().map(strip).collect(),
    }
}

fn strip_api_services(definitions: ApiServiceDefinitions) -> ApiServiceDefinitions {
    let strip = |description: ApiServiceDescription| ApiServiceDescription {
        name: description.name,
        group: description.group,
        version: description.version,
        kind: description.kind,
        ..ApiServiceDescription::default()
    };
    ApiServiceDefinitions {
        owned: definitions.owned.into_iter().map(strip).collect(),
        required: definitions.required.into_iter().map(strip).collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_complete_plans_lose_manifests() {
        let plan = |phase: &str| {
            let step = |kind: &str| json!({"resource": {"kind": kind, "manifest": "{}"}});
            let status =
                json!({"phase": phase, "plan": [step("ClusterServiceVersion"), step("Role")]});
            let mut plan: InstallPlan = serde_json::from_value(json!({"status": status})).unwrap();
            strip_plan(&mut plan);
            plan.status.unwrap().plan.iter().filter(|step| step.resource.manifest.is_some()).count()
        };
        assert_eq!((plan("Complete"), plan("Installing"), plan("Failed")), (1, 2, 2));
    }

    #[test]
    fn a_csv_keeps_what_resolution_needs() {
        let mut csv: ClusterServiceVersion = serde_json::from_value(json!({
            "metadata": {"annotations": {"operatorframework.io/properties": "{}", "alm-examples": "[]"}},
            "spec": {
                "version": "1.0.0", "replaces": "a.v0", "displayName": "A", "description": "long",
                "install": {"strategy": "deployment", "spec": {"deployments": [{"name": "a", "spec": {}}]}},
                "customresourcedefinitions": {"owned": [{"name": "as.b", "version": "v1", "kind": "A", "description": "x"}]},
            },
            "status": {"phase": "Succeeded", "conditions": [{"phase": "Pending"}]},
        }))
        .unwrap();
        strip_csv(&mut csv);
        let expected: ClusterServiceVersion = serde_json::from_value(json!({
            "metadata": {"annotations": {"operatorframework.io/properties": "{}"}},
            "spec": {
                "version": "1.0.0", "replaces": "a.v0",
                "customresourcedefinitions": {"owned": [{"name": "as.b", "version": "v1", "kind": "A"}]},
            },
            "status": {"phase": "Succeeded"},
        }))
        .unwrap();
        assert_eq!(csv, expected);
    }
}
