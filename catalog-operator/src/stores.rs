//! The kinds that are watched, and what is kept of them.

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use olm_kit::client::Fields;
use olm_kit::watch::{Config, Store, WatchSet};
use olm_types::annotations::PROPERTIES;
use olm_types::api::{
    ApiServiceDefinitions, ApiServiceDescription, CatalogSource, ClusterServiceVersion,
    ClusterServiceVersionSpec, CrdDescription, CustomResourceDefinitions, InstallPlan,
    InstallPlanPhase, OperatorGroup, Subscription,
};
use olm_types::labels::{BUNDLE_UNPACK_REF, COPIED_FROM};

use crate::servers::ServerStores;

/// What is large in CSVs and not read: prose and pictures, installs, and how they went.
const OF_CSVS: [&[&str]; 7] = [
    &["metadata", "annotations", "alm-examples"],
    &["spec", "description"],
    &["spec", "icon"],
    &["spec", "install"],
    &["spec", "relatedImages"],
    &["status", "conditions"],
    &["status", "requirementStatus"],
];

/// One shared store per kind.
#[derive(Clone)]
pub struct Stores {
    /// CatalogSources.
    pub catalogs: Store<CatalogSource>,
    /// Subscriptions.
    pub subscriptions: Store<Subscription>,
    /// InstallPlans; complete ones without the manifests that are not read any more.
    pub plans: Store<InstallPlan>,
    /// OperatorGroups.
    pub groups: Store<OperatorGroup>,
    /// ClusterServiceVersions that are not copies, reduced to what resolution needs.
    pub csvs: Store<ClusterServiceVersion>,
    /// Jobs that unpack bundles.
    pub unpack_jobs: Store<Job>,
    /// Their Pods, reduced to what shows how they are.
    pub unpack_pods: Store<Pod>,
    /// What serves catalogs.
    pub servers: ServerStores,
}

impl Stores {
    /// The stores that these watches will fill.
    pub fn watched(watches: &mut WatchSet) -> Self {
        let originals = Config::default().labels(&format!("!{COPIED_FROM}"));
        Self {
            catalogs: watches.all(),
            subscriptions: watches.all(),
            plans: watches.add(Config::default(), |plans| plans.strip(strip_plan)),
            groups: watches.all(),
            csvs: watches.add(originals, |csvs| {
                csvs.without(Fields::of(&OF_CSVS)).strip(strip_csv).admit(is_original)
            }),
            unpack_jobs: watches.add(unpacking(), |jobs| jobs.admit(unpacks::<Job>)),
            unpack_pods: watches
                .add(unpacking(), |pods| pods.strip(strip_pod).admit(unpacks::<Pod>)),
            servers: ServerStores::watched(watches),
        }
    }
}

fn is_original(csv: &ClusterServiceVersion) -> bool {
    csv.metadata.labels.as_ref().is_none_or(|labels| !labels.contains_key(COPIED_FROM))
}

/// Everything about one bundle image has the label, with the same value.
fn unpacking() -> Config {
    Config::default().labels(BUNDLE_UNPACK_REF)
}

fn unpacks<K: ResourceExt>(object: &K) -> bool {
    object.labels().contains_key(BUNDLE_UNPACK_REF)
}

fn strip_pod(pod: &mut Pod) {
    pod.spec = None;
    pod.metadata.annotations = None;
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
