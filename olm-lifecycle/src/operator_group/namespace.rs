//! The labels of targeted namespaces.

use k8s_openapi::api::core::v1::Namespace;
use olm_effect::{Action, Effect, Subresource, Target};
use olm_opgroup::{LiveNamespaces, desired_labels, label_patch};
use olm_types::api::OperatorGroup;

use crate::writes::resource_of;

/// The patch of a namespace's labels, if they do not show the groups that target it. A namespace
/// that is being deleted is left alone.
pub fn decide_namespace<'a>(
    namespace: &Namespace,
    groups: impl IntoIterator<Item = &'a OperatorGroup>,
    live: &LiveNamespaces,
) -> Option<Effect> {
    if namespace.metadata.deletion_timestamp.is_some() {
        return None;
    }
    let name = namespace.metadata.name.as_deref()?;
    let none = std::collections::BTreeMap::new();
    let present = namespace.metadata.labels.as_ref().unwrap_or(&none);
    let patch = label_patch(present, &desired_labels(name, groups, live))?;
    let action = Action::MergePatch { patch, observed: None, subresource: Subresource::Main };
    Some(Effect::new(Target::cluster(resource_of::<Namespace>(), name), action))
}
