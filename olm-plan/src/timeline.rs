//! The objects whose events belong to a Subscription: those of its tree, and those beside it that OLM or a
//! controller has made on the way.

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use olm_lifecycle::unpack::BundleReference;
use olm_types::api::{
    CatalogSource, ClusterServiceVersion, InstallPlan, OperatorCondition, Subscription,
};
use olm_types::hash::unpack_name;
use olm_types::labels::BUNDLE_UNPACK_REF;

use crate::observed::{Observed, name, namespace};
use crate::tree::{Node, tree};

/// An object that events name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventSubject {
    /// Its namespace.
    pub namespace: String,
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
}

impl EventSubject {
    /// An object by its names.
    #[must_use]
    pub fn new(namespace: &str, kind: &str, name: &str) -> Self {
        let [namespace, kind, name] = [namespace, kind, name].map(str::to_owned);
        Self { namespace, kind, name }
    }
}

/// The objects of a Subscription. `replica_sets` are those of its namespace, `jobs` those of the namespace of its
/// catalog that unpack bundles; of both only those count that belong to it.
#[must_use]
pub fn concerned(
    observed: &Observed,
    subscription: &Subscription,
    replica_sets: &[ObjectMeta],
    jobs: &[ObjectMeta],
) -> BTreeSet<EventSubject> {
    let mut all = BTreeSet::new();
    collect(&tree(observed, subscription), &mut all);
    let spec = &subscription.spec;
    all.insert(EventSubject::new(&spec.source_namespace, CatalogSource::KIND, &spec.source));
    let of =
        |kind: &str, found: &ObjectMeta| EventSubject::new(namespace(found), kind, name(found));
    let made = replica_sets.iter().filter(|set| is_of_deployment(set, &all));
    let made: Vec<EventSubject> = made.map(|set| of("ReplicaSet", set)).collect();
    all.extend(made);
    let unpacked = observed.plan_of(subscription).map(unpack_names).unwrap_or_default();
    let unpacks = |job: &&ObjectMeta| {
        let label = job.labels.as_ref().and_then(|labels| labels.get(BUNDLE_UNPACK_REF));
        label.is_some_and(|label| unpacked.contains(label))
    };
    all.extend(jobs.iter().filter(unpacks).map(|job| of("Job", job)));
    all
}

/// The objects of a tree. OLM names the OperatorCondition of a CSV like the CSV.
fn collect(node: &Node, all: &mut BTreeSet<EventSubject>) {
    all.insert(EventSubject::new(&node.namespace, node.kind, &node.name));
    if node.kind == ClusterServiceVersion::KIND {
        all.insert(EventSubject::new(&node.namespace, OperatorCondition::KIND, &node.name));
    }
    node.children.iter().for_each(|child| collect(child, all));
}

fn is_of_deployment(set: &ObjectMeta, all: &BTreeSet<EventSubject>) -> bool {
    let home = namespace(set);
    let mut owners = set.owner_references.iter().flatten();
    owners.any(|owner| all.contains(&EventSubject::new(home, &owner.kind, &owner.name)))
}

/// What the objects are called that unpack the bundles of a plan: of its lookups, and of the steps that refer to
/// what was unpacked.
fn unpack_names(plan: &InstallPlan) -> BTreeSet<String> {
    let status = plan.status.iter();
    let lookups = status.clone().flat_map(|status| &status.bundle_lookups);
    let lookups = lookups.map(|lookup| unpack_name(&lookup.path));
    let steps = status.flat_map(|status| &status.plan);
    let manifests = steps.filter_map(|step| step.resource.manifest.as_deref());
    let references = manifests.filter_map(BundleReference::parse).map(|found| found.name);
    lookups.chain(references).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json};

    use super::*;

    fn metadata(value: Value) -> ObjectMeta {
        from_value(value).unwrap()
    }

    fn replica_set(name: &str, owner: &str) -> ObjectMeta {
        metadata(json!({"name": name, "namespace": "tea", "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "Deployment", "name": owner, "uid": "u"}]}))
    }

    fn job(name: &str, unpacks: &str) -> ObjectMeta {
        metadata(json!({"name": name, "namespace": "olm", "labels": {BUNDLE_UNPACK_REF: unpacks}}))
    }

    /// A Subscription with a plan that unpacks two images, one of them done, and a CSV with a Deployment.
    fn observed() -> Observed {
        let reference = json!({"kind": "ConfigMap", "name": "done", "namespace": "olm",
            "catalogSourceName": "kitchen", "catalogSourceNamespace": "olm", "replaces": "",
            "properties": ""});
        let step = json!({"resolving": "kettle.v1", "status": "Unknown", "resource": {"group": "",
            "version": "v1", "kind": "Service", "name": "s", "sourceName": "kitchen",
            "sourceNamespace": "olm", "manifest": reference.to_string()}});
        let lookup = json!({"path": "image:1", "identifier": "kettle.v1", "replaces": ""});
        let plan = json!({"metadata": {"name": "p", "namespace": "tea"},
            "spec": {"approval": "Automatic", "approved": true, "clusterServiceVersionNames": []},
            "status": {"phase": "Installing", "plan": [step], "bundleLookups": [lookup]}});
        let csv = json!({"metadata": {"name": "kettle.v1", "namespace": "tea"}, "spec": {"install": {
            "strategy": "deployment", "spec": {"deployments": [{"name": "kettle", "spec": {
                "selector": {}, "template": {}}}]}}}});
        let deployment = json!({"metadata": {"name": "kettle", "namespace": "tea"}});
        Observed {
            install_plans: vec![from_value(plan).unwrap()],
            csvs: vec![from_value(csv).unwrap()],
            deployments: vec![from_value(deployment).unwrap()],
            ..Observed::default()
        }
    }

    fn subscription() -> Subscription {
        from_value(json!({"metadata": {"name": "kettle", "namespace": "tea"},
            "spec": {"name": "kettle", "source": "kitchen", "sourceNamespace": "olm"},
            "status": {"installedCSV": "kettle.v1", "currentCSV": "kettle.v1",
                "installPlanRef": {"name": "p", "namespace": "tea"}}}))
        .unwrap()
    }

    #[test]
    fn all_that_was_made_on_the_way_belongs_to_a_subscription() {
        let sets = [replica_set("kettle-1", "kettle"), replica_set("stove-1", "stove")];
        let jobs = [
            job("unpacks-now", &unpack_name("image:1")),
            job("unpacked", "done"),
            job("unpacks-another", &unpack_name("image:2")),
        ];
        let found = concerned(&observed(), &subscription(), &sets, &jobs);
        let found: Vec<String> = found
            .iter()
            .map(|one| format!("{} {}/{}", one.namespace, one.kind, one.name))
            .collect();
        let expected = [
            "olm CatalogSource/kitchen",
            "olm Job/unpacked",
            "olm Job/unpacks-now",
            "tea ClusterServiceVersion/kettle.v1",
            "tea Deployment/kettle",
            "tea InstallPlan/p",
            "tea OperatorCondition/kettle.v1",
            "tea ReplicaSet/kettle-1",
            "tea Subscription/kettle",
        ];
        assert_eq!(found, expected);
    }
}
