//! Gathers what a Subscription or a CSV may adopt. Decides nothing.

use olm_kit::ObjectKey;
use olm_lifecycle::operator::{Component, InstallPlanLabels, Owned};
use olm_lifecycle::tenancy::Trust;
use olm_types::api::ClusterServiceVersion;
use olm_types::owner::{OwnerName, is_owned_by_label, is_owned_by_uid};

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
    let owned = owned.filter(|object| is_owned(csv, &**object));
    let crds = csv.spec.customresourcedefinitions.iter().filter(|_| trust.csv(csv));
    let crds = crds.flat_map(|crds| &crds.owned);
    let crds = crds.filter_map(|crd| {
        ComponentKind::CustomResourceDefinition.get(stores, &ObjectKey::cluster(&crd.name))
    });
    owned.chain(crds).map(|object| candidate(&*object)).collect()
}

/// The labels of the InstallPlans of a namespace.
pub fn plan_labels(stores: &Stores, namespace: &str) -> InstallPlanLabels {
    let plans = stores.plans.list_in(namespace);
    let labels = plans.iter().map(|plan| {
        let name = plan.metadata.name.clone().unwrap_or_default();
        (name, plan.metadata.labels.clone().unwrap_or_default())
    });
    labels.collect()
}

fn is_owned(csv: &ClusterServiceVersion, object: &dyn Component) -> bool {
    let (metadata, uid) = (object.metadata(), csv.metadata.uid.as_deref().unwrap_or_default());
    let owner = OwnerName {
        kind: ClusterServiceVersion::KIND,
        namespace: csv.metadata.namespace.as_deref().unwrap_or_default(),
        name: csv.metadata.name.as_deref().unwrap_or_default(),
    };
    is_owned_by_uid(metadata, uid)
        || metadata.labels.as_ref().is_some_and(|labels| is_owned_by_label(labels, owner))
}

fn candidate(object: &dyn Component) -> Owned {
    let labels = object.metadata().labels.clone().unwrap_or_default();
    Owned { target: object.target(), labels }
}
