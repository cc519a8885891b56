//! Who owns an object: owner references, and labels where references cannot reach.
//!
//! References work inside a namespace; across namespaces and at cluster scope OLM writes the three
//! owner labels instead (spec olm-operator 0.1 "Ownership helpers", catalog-operator 0.3).

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};

use crate::labels;

/// An owner as its labels name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnerName<'a> {
    /// `olm.owner.kind`.
    pub kind: &'a str,
    /// `olm.owner.namespace`; empty for a cluster-scoped owner.
    pub namespace: &'a str,
    /// `olm.owner`.
    pub name: &'a str,
}

/// An owner reference that neither controls nor blocks deletion; both said explicitly.
pub fn non_blocking_owner(api_version: &str, kind: &str, name: &str, uid: &str) -> OwnerReference {
    owner_reference(api_version, kind, name, uid, false, false)
}

/// The owner reference of a controller that does not block deletion, as on operator conditions.
pub fn controller_owner(api_version: &str, kind: &str, name: &str, uid: &str) -> OwnerReference {
    owner_reference(api_version, kind, name, uid, false, true)
}

/// An owner reference with both flags explicit.
pub fn owner_reference(
    api_version: &str,
    kind: &str,
    name: &str,
    uid: &str,
    block_owner_deletion: bool,
    controller: bool,
) -> OwnerReference {
    OwnerReference {
        api_version: api_version.to_owned(),
        block_owner_deletion: Some(block_owner_deletion),
        controller: Some(controller),
        kind: kind.to_owned(),
        name: name.to_owned(),
        uid: uid.to_owned(),
    }
}

/// Adds the reference unless one with its UID is there. Says whether the object was owned already.
pub fn ensure_owner(metadata: &mut ObjectMeta, owner: OwnerReference) -> bool {
    if is_owned_by_uid(metadata, &owner.uid) {
        return true;
    }
    metadata.owner_references.get_or_insert_default().push(owner);
    false
}

/// The three owner labels.
pub fn owner_labels(name: &str, namespace: &str, kind: &str) -> BTreeMap<String, String> {
    BTreeMap::from([
        (labels::OWNER.to_owned(), name.to_owned()),
        (labels::OWNER_NAMESPACE.to_owned(), namespace.to_owned()),
        (labels::OWNER_KIND.to_owned(), kind.to_owned()),
    ])
}

/// Whether any owner reference has the UID.
pub fn is_owned_by_uid(metadata: &ObjectMeta, uid: &str) -> bool {
    references(metadata).iter().any(|owner| owner.uid == uid)
}

/// Whether any owner reference has the kind; its group does not matter.
pub fn is_owned_by_kind(metadata: &ObjectMeta, kind: &str) -> bool {
    references(metadata).iter().any(|owner| owner.kind == kind)
}

/// The first owner reference of the kind.
pub fn owner_of_kind<'a>(metadata: &'a ObjectMeta, kind: &str) -> Option<&'a OwnerReference> {
    references(metadata).iter().find(|owner| owner.kind == kind)
}

/// The owner that the labels name, if they name one of the kind completely.
pub fn owner_by_label<'a>(
    labels: &'a BTreeMap<String, String>,
    kind: &str,
) -> Option<OwnerName<'a>> {
    let kind = labels.get(labels::OWNER_KIND).filter(|found| *found == kind)?;
    let namespace = labels.get(labels::OWNER_NAMESPACE)?;
    let name = labels.get(labels::OWNER)?;
    Some(OwnerName { kind, namespace, name })
}

/// Whether the labels name exactly this owner.
pub fn is_owned_by_label(labels: &BTreeMap<String, String>, owner: OwnerName<'_>) -> bool {
    owner_by_label(labels, owner.kind) == Some(owner)
}

/// Whether the references name other owners of the target's kind, but not the target.
///
/// OLM compares `apiVersion` with the bare version of the target (`v1alpha1`), which no real
/// reference carries: the check never fires in a cluster. `bare_version` keeps that visible.
pub fn has_owner_conflict(
    kind: &str,
    bare_version: &str,
    name: &str,
    uid: &str,
    references: &[OwnerReference],
) -> bool {
    let mut rivals = references
        .iter()
        .filter(|owner| owner.kind == kind && owner.api_version == bare_version)
        .peekable();
    rivals.peek().is_some() && !rivals.any(|owner| owner.name == name && owner.uid == uid)
}

/// Whether an owner of the kind may adopt the object: some owner of that kind has it already.
pub fn is_adoptable(kind: &str, references: &[OwnerReference]) -> bool {
    references.iter().any(|owner| owner.kind == kind)
}

/// Whether one of the owners may adopt the object by its labels: kind and namespace fit, and with
/// `check_name` the name, too.
pub fn is_adoptable_by_labels(
    labels: &BTreeMap<String, String>,
    check_name: bool,
    owners: &[OwnerName<'_>],
) -> bool {
    let holds = |key: &str, value: &str| labels.get(key).is_some_and(|found| found == value);
    owners.iter().any(|owner| {
        holds(labels::OWNER_KIND, owner.kind)
            && holds(labels::OWNER_NAMESPACE, owner.namespace)
            && (!check_name || holds(labels::OWNER, owner.name))
    })
}

fn references(metadata: &ObjectMeta) -> &[OwnerReference] {
    metadata.owner_references.as_deref().unwrap_or_default()
}

#[cfg(test)]
mod tests;
