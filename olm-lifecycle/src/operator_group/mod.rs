//! OperatorGroups: which namespaces they select, what their status says, the labels that targeted
//! namespaces carry, and the roles for users of their APIs (spec olm-operator 4.1, 4.4, 4.6).
//!
//! Annotations of member CSVs are not written here: a change of a group wakes its members, and
//! each member's own pass writes them, so that every object has one writer.

mod provided_apis;
mod roles;
mod service_account;
mod status;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use k8s_openapi::api::rbac::v1::ClusterRole;
use olm_effect::{Action, Effect, Subresource, Target};
use olm_opgroup::{LiveNamespaces, desired_labels, label_patch, oldest};
use olm_types::api::{ClusterServiceVersion, OperatorGroup};

use crate::writes::{resource_of, status_write};

pub use roles::{decide_gone, role_apis, role_names};
pub use service_account::{attenuation, names_account};

/// A group and its surroundings.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// The group.
    pub group: Arc<OperatorGroup>,
    /// Number of groups in its namespace, itself included.
    pub groups_in_namespace: usize,
    /// Whether it is one of the oldest of them ([`olm_opgroup::oldest`]).
    pub is_oldest: bool,
    /// All namespaces of the cluster, and how far the owner of the group is trusted.
    pub namespaces: LiveNamespaces,
    /// The CSVs of the group's namespace, copies left out.
    pub members: Vec<Arc<ClusterServiceVersion>>,
    /// The ClusterRoles that have the names of the group's roles.
    pub roles: Vec<Arc<ClusterRole>>,
    /// The ServiceAccount that the group names, if it exists.
    pub service_account: Option<Arc<ServiceAccount>>,
}

/// What to do about a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// A write of the status, or once that is true, of the roles and of the annotation.
    pub effects: Vec<Effect>,
    /// Remarks for the log.
    pub notes: Vec<String>,
}

/// Brings the group's status, then its roles and its annotation of provided APIs, in step with the
/// cluster.
pub fn decide(observed: &Observed, now: Timestamp) -> Decision {
    if observed.group.metadata.deletion_timestamp.is_some() {
        return Decision::default();
    }
    let (status, notes) = status::desired(observed, now);
    let mut wanted = OperatorGroup::clone(&observed.group);
    wanted.status = status;
    // The label comes first: it is a new version of the account, which the reference names.
    let write =
        service_account::label(observed).or_else(|| status_write(observed.group.as_ref(), &wanted));
    let effects = match write {
        Some(write) => vec![write],
        None => roles::ensure(observed).into_iter().chain(provided_apis::prune(observed)).collect(),
    };
    Decision { effects, notes }
}

/// The patch of a namespace's labels, if they do not show the groups that target it. A namespace
/// that is being deleted is left alone.
///
/// Of many groups of one namespace only the oldest show: a Namespace has to hold the labels.
pub fn decide_namespace<'a>(
    namespace: &Namespace,
    groups: impl IntoIterator<Item = &'a OperatorGroup>,
    live: &LiveNamespaces,
) -> Option<Effect> {
    if namespace.metadata.deletion_timestamp.is_some() {
        return None;
    }
    let name = namespace.metadata.name.as_deref()?;
    let none = BTreeMap::new();
    let present = namespace.metadata.labels.as_ref().unwrap_or(&none);
    let mut of: BTreeMap<&str, Vec<&OperatorGroup>> = BTreeMap::new();
    for group in groups {
        let home = group.metadata.namespace.as_deref().unwrap_or_default();
        of.entry(home).or_default().push(group);
    }
    let groups = of.into_values().flat_map(oldest);
    let patch = label_patch(present, &desired_labels(name, groups, live))?;
    let action = Action::MergePatch { patch, observed: None, subresource: Subresource::Main };
    Some(Effect::new(Target::cluster(resource_of::<Namespace>(), name), action))
}
