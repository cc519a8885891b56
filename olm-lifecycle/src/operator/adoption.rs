//! Who puts the component label on what (spec olm-operator 6.2).
//!
//! A Subscription labels itself, the CSV that it installed and its present InstallPlan; a CSV
//! passes its labels on to what it owns. Every write is a merge patch of labels alone.
//!
//! Subscriptions to one package share one label: the present plan of each keeps it, or each of them
//! would for ever take it from the plans of the others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use olm_effect::{Effect, Resource, Target};
use olm_types::api::{ClusterServiceVersion, InstallPlan, Subscription};
use olm_types::labels::{MANAGED, component};
use serde_json::{Map, Value, json};

use super::names::{operator_name, passed_on};
use crate::csv::is_copied;
use crate::writes::{resource_of, target_of};

/// Labels of the InstallPlans of a namespace, by name.
pub type InstallPlanLabels = BTreeMap<String, BTreeMap<String, String>>;

/// Kinds of which only objects with `olm.managed` are adopted, as v0's cache sees no others.
const MANAGED_ONLY: [&str; 10] = [
    "APIService",
    "ClusterRole",
    "ClusterRoleBinding",
    "ConfigMap",
    "CustomResourceDefinition",
    "Deployment",
    "Role",
    "RoleBinding",
    "Service",
    "ServiceAccount",
];

/// Something that belongs to a CSV.
#[derive(Clone, Debug)]
pub struct Owned {
    /// Which object.
    pub target: Target,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
}

/// Labels the Subscription, its CSV and its InstallPlan, and takes the label from older plans.
/// `csv` is the installed one, if it exists; `subscriptions` are those of the namespace.
pub fn adopt_by_subscription(
    subscription: &Subscription,
    subscriptions: &[Arc<Subscription>],
    csv: Option<&ClusterServiceVersion>,
    plans: &InstallPlanLabels,
) -> Vec<Effect> {
    let namespace = subscription.metadata.namespace.as_deref().unwrap_or_default();
    let is_going = subscription.metadata.deletion_timestamp.is_some();
    let key = component(&operator_name(&subscription.spec.name, namespace));
    let (Ok(key), false, false) = (key, is_going, subscription.spec.name.is_empty()) else {
        return Vec::new();
    };
    let own = add(target_of(subscription), &subscription.metadata, &key);
    let csv = csv.and_then(|csv| add(target_of(csv), &csv.metadata, &key));
    let same_package = subscriptions.iter().filter(|one| one.spec.name == subscription.spec.name);
    let present = same_package.filter_map(|one| current_plan(one)).collect();
    let plans = label_plans(current_plan(subscription), &present, plans, namespace, &key);
    own.into_iter().chain(csv).chain(plans).collect()
}

/// Labels what the CSV owns with the component labels of the CSV. A copy owns nothing.
pub fn adopt_by_csv(csv: &ClusterServiceVersion, owned: &[Owned]) -> Vec<Effect> {
    if is_copied(csv) || csv.metadata.deletion_timestamp.is_some() {
        return Vec::new();
    }
    let keys: Vec<&str> = passed_on(&csv.metadata).collect();
    let adopted = owned.iter().filter(|owned| may_adopt(&owned.target.resource, &owned.labels));
    let labelled = adopted.filter_map(|owned| {
        let missing = keys.iter().filter(|key| !owned.labels.contains_key(**key));
        let labels: Map<String, Value> =
            missing.map(|key| ((*key).to_owned(), json!(""))).collect();
        (!labels.is_empty()).then(|| patch(owned.target.clone(), labels))
    });
    labelled.collect()
}

/// Whether an object of this kind, with these labels, is adopted.
pub(super) fn may_adopt(resource: &Resource, labels: &BTreeMap<String, String>) -> bool {
    !MANAGED_ONLY.contains(&resource.kind.as_str())
        || labels.get(MANAGED).is_some_and(|value| value == "true")
}

fn current_plan(subscription: &Subscription) -> Option<&str> {
    let status = subscription.status.as_ref()?;
    let reference = status.install_plan_ref.as_ref()?;
    reference.name.as_deref().filter(|name| !name.is_empty())
}

fn label_plans(
    current: Option<&str>,
    present: &BTreeSet<&str>,
    plans: &InstallPlanLabels,
    namespace: &str,
    key: &str,
) -> Vec<Effect> {
    let Some(current) = current else { return Vec::new() };
    let change = |(name, labels): (&String, &BTreeMap<String, String>)| {
        let is_older = name != current && !present.contains(name.as_str());
        let value = match labels.contains_key(key) {
            false if name == current => json!(""),
            true if is_older => Value::Null,
            _ => return None,
        };
        let target = Target::namespaced(resource_of::<InstallPlan>(), namespace, name);
        Some(patch(target, Map::from_iter([(key.to_owned(), value)])))
    };
    plans.iter().filter_map(change).collect()
}

fn add(target: Target, metadata: &ObjectMeta, key: &str) -> Option<Effect> {
    let labels = metadata.labels.as_ref();
    let missing = labels.is_none_or(|labels| !labels.contains_key(key));
    missing.then(|| patch(target, Map::from_iter([(key.to_owned(), json!(""))])))
}

fn patch(target: Target, labels: Map<String, Value>) -> Effect {
    Effect::merge(target, json!({"metadata": {"labels": labels}}), None)
}
