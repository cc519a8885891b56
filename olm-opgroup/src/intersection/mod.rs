//! Groups that share namespaces must not provide the same APIs (spec olm-operator 4.5).

use olm_types::api::OperatorGroup;

use crate::live::LiveNamespaces;
use crate::namespace_set::NamespaceSet;
use crate::provided_apis::{ApiSet, group_apis};

/// What a group means to other groups: where it is active and what it provides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupSurface {
    /// Namespace of the group.
    pub namespace: String,
    /// Name of the group.
    pub name: String,
    /// The selected namespaces and, unless all are selected, the group's own.
    pub targets: NamespaceSet,
    /// The APIs of the annotation `olm.providedAPIs`.
    pub apis: ApiSet,
}

/// What follows from the APIs that a CSV provides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiReconciliation {
    /// The group lists them and no intersecting group does.
    NoConflict,
    /// The group does not list them and no intersecting group does: list them.
    Add,
    /// The group lists them, and so does an intersecting group: withdraw them.
    Remove,
    /// Only an intersecting group lists them: the CSV must not run.
    Conflict,
}

impl GroupSurface {
    /// The surface of a group: the namespaces that it gives, and what its annotation lists.
    pub fn of(group: &OperatorGroup, live: &LiveNamespaces) -> Self {
        let namespace = group.metadata.namespace.clone().unwrap_or_default();
        Self {
            targets: live
                .targets(group)
                .map_or_else(|_| NamespaceSet::default(), |targets| with_own(targets, &namespace)),
            name: group.metadata.name.clone().unwrap_or_default(),
            apis: group_apis(group),
            namespace,
        }
    }

    /// Whether both are about the same group.
    pub fn is_same(&self, other: &Self) -> bool {
        self.namespace == other.namespace && self.name == other.name
    }
}

/// The groups among `others` that share a namespace with `own`; `own` itself is left out.
pub fn intersecting<'a>(own: &GroupSurface, others: &'a [GroupSurface]) -> Vec<&'a GroupSurface> {
    others
        .iter()
        .filter(|other| !own.is_same(other))
        .filter(|other| !own.targets.intersection(&other.targets).is_empty())
        .collect()
}

/// Compares the APIs that a CSV in `own` provides with those of all groups in the cluster.
pub fn reconcile_apis(
    provided: &ApiSet,
    own: &GroupSurface,
    others: &[GroupSurface],
) -> ApiReconciliation {
    let listed = provided.is_subset(&own.apis);
    let contested = intersecting(own, others).iter().any(|other| !other.apis.is_disjoint(provided));
    match (listed, contested) {
        (true, true) => ApiReconciliation::Remove,
        (false, true) => ApiReconciliation::Conflict,
        (false, false) => ApiReconciliation::Add,
        (true, false) => ApiReconciliation::NoConflict,
    }
}

/// A group without selected namespaces is active nowhere, and so intersects nothing.
fn with_own(targets: NamespaceSet, namespace: &str) -> NamespaceSet {
    if targets.is_empty() || targets.is_all() {
        return targets;
    }
    targets.names().chain([namespace]).collect()
}

#[cfg(test)]
mod tests;
