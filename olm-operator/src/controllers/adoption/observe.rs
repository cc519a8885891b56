//! Gathers what a Subscription or a CSV may adopt. Decides nothing.

use std::cmp::Ordering;

use olm_kit::ObjectKey;
use olm_lifecycle::operator::{Component, ComponentOwner, InstallPlanLabels, Owned, PlanSummary};
use olm_lifecycle::tenancy::Trust;
use olm_types::api::{ClusterServiceVersion, Subscription};

use crate::components::{ComponentIndex, ComponentKind};
use crate::stores::Stores;

/// What belongs to the CSV: objects that it owns, and the definitions of its kinds. A CSV that may not
/// reach beyond its namespace has no definitions, whatever it names.
pub fn owned(
    stores: &Stores,
    index: &ComponentIndex,
    csv: &ClusterServiceVersion,
    trust: &Trust,
) -> Vec<Owned> {
    let owned = index.owned(&ObjectKey::of(csv)).into_iter();
    let owned = owned.filter_map(|id| id.kind.get(stores, &id.key));
    let owner = ComponentOwner::from(csv);
    let owned = owned.filter(|object| owner.owns(object.metadata()));
    let crds = csv.spec.customresourcedefinitions.iter().filter(|_| trust.csv(csv));
    let crds = crds.flat_map(|crds| &crds.owned);
    let crds = crds.filter_map(|crd| {
        ComponentKind::CustomResourceDefinition.get(stores, &ObjectKey::cluster(&crd.name))
    });
    owned.chain(crds).map(|object| candidate(&*object)).collect()
}

/// The labels of the InstallPlans of a Subscription's namespace, without those that it is about to
/// follow: they have their labels from the start, and keep them.
pub fn plan_labels(stores: &Stores, subscription: &Subscription) -> InstallPlanLabels {
    let namespace = subscription.metadata.namespace.as_deref().unwrap_or_default();
    let plans = stores.plans.list_in(namespace);
    let status = subscription.status.as_ref();
    let current = status.and_then(|status| status.install_plan_ref.as_ref()?.name.as_deref());
    let current = plans.iter().find(|plan| plan.metadata.name.as_deref() == current).cloned();
    let known =
        plans.iter().filter(|plan| current.as_ref().is_none_or(|current| !is_newer(plan, current)));
    let labels = known.map(|plan| {
        let name = plan.metadata.name.clone().unwrap_or_default();
        (name, plan.metadata.labels.clone().unwrap_or_default())
    });
    labels.collect()
}

/// Whether a plan was made after the current one. Of two that were made in one second, the one that
/// is under way is newer.
fn is_newer(plan: &PlanSummary, current: &PlanSummary) -> bool {
    let made = |plan: &PlanSummary| plan.metadata.creation_timestamp.clone();
    let is_done = plan.status.as_ref().is_some_and(|status| !status.conditions.is_empty());
    match made(plan).cmp(&made(current)) {
        Ordering::Greater => true,
        Ordering::Equal => !is_done && plan.metadata.name != current.metadata.name,
        Ordering::Less => false,
    }
}

fn candidate(object: &dyn Component) -> Owned {
    let labels = object.metadata().labels.clone().unwrap_or_default();
    Owned { target: object.target(), labels }
}

#[cfg(test)]
mod tests {
    use olm_kit::watch::Store;
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    const FIRST: &str = "2026-01-01T00:00:00Z";
    const LATER: &str = "2026-01-01T00:00:01Z";

    fn plan(name: &str, made: &str, conditions: Value) -> PlanSummary {
        let metadata = json!({"name": name, "namespace": "ns", "creationTimestamp": made});
        let plan = json!({"metadata": metadata, "status": {"conditions": conditions}});
        serde_json::from_value(plan).unwrap()
    }

    #[rstest]
    #[case::about_to_be_followed("old", LATER, json!([]), "old")]
    #[case::in_the_same_second("old", FIRST, json!([]), "old")]
    #[case::done_in_the_same_second("old", FIRST, json!([{"type": "Installed", "status": "True"}]), "new old")]
    #[case::followed("new", LATER, json!([]), "new old")]
    #[case::the_current_one_is_gone("gone", LATER, json!([]), "new old")]
    fn a_plan_that_will_be_followed_keeps_its_labels(
        #[case] current: &str,
        #[case] made: &str,
        #[case] conditions: Value,
        #[case] known: &str,
    ) {
        let installed = json!([{"type": "Installed", "status": "True"}]);
        let plans = [plan("old", FIRST, installed), plan("new", made, conditions)];
        let stores = Stores { plans: Store::with_objects(plans), ..Stores::default() };
        let subscription = serde_json::from_value(json!({
            "metadata": {"name": "s", "namespace": "ns"},
            "spec": {"name": "p", "source": "c", "sourceNamespace": "ns"},
            "status": {"installPlanRef": {"name": current}, "lastUpdated": null},
        }));
        let labels = plan_labels(&stores, &subscription.unwrap());
        assert_eq!(labels.into_keys().collect::<Vec<_>>().join(" "), known);
    }
}
