//! Who carries which component label, and who belongs to which CSV.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use olm_kit::ObjectKey;
use olm_kit::key::QueueKey;
use olm_lifecycle::operator::component_keys;
use olm_types::api::ClusterServiceVersion;
use olm_types::owner::owner_by_label;
use parking_lot::RwLock;

use super::ComponentKind;

/// An object that can belong to an Operator.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComponentId {
    /// Its kind.
    pub kind: ComponentKind,
    /// Its namespace and name.
    pub key: ObjectKey,
}

impl QueueKey for ComponentId {
    fn namespace(&self) -> &str {
        self.key.namespace()
    }

    fn name(&self) -> &str {
        self.key.name()
    }
}

/// The objects of all kinds by label and by owner. Clones share the content.
#[derive(Clone, Debug, Default)]
pub struct ComponentIndex {
    content: Arc<RwLock<Content>>,
}

#[derive(Debug, Default)]
struct Content {
    by_label: BTreeMap<String, BTreeSet<ComponentId>>,
    by_owner: BTreeMap<ObjectKey, BTreeSet<ComponentId>>,
}

impl ComponentIndex {
    /// The metadata of an object is now `new` instead of `old`.
    pub fn update(&self, kind: ComponentKind, old: Option<&ObjectMeta>, new: Option<&ObjectMeta>) {
        let mut content = self.content.write();
        let Content { by_label, by_owner } = &mut *content;
        if let Some(metadata) = old {
            let id = id(kind, metadata);
            component_keys(metadata).for_each(|key| remove(by_label, key, &id));
            owners(metadata).for_each(|owner| remove(by_owner, &owner, &id));
        }
        if let Some(metadata) = new {
            let id = id(kind, metadata);
            for key in component_keys(metadata) {
                by_label.entry(key.to_owned()).or_default().insert(id.clone());
            }
            for owner in owners(metadata) {
                by_owner.entry(owner).or_default().insert(id.clone());
            }
        }
    }

    /// The objects with a label, by its key.
    pub fn labelled(&self, key: &str) -> Vec<ComponentId> {
        self.content.read().by_label.get(key).into_iter().flatten().cloned().collect()
    }

    /// The objects that name a CSV as their owner, by label or by reference. A reference may mean
    /// an earlier CSV of that name.
    pub fn owned(&self, csv: &ObjectKey) -> Vec<ComponentId> {
        self.content.read().by_owner.get(csv).into_iter().flatten().cloned().collect()
    }
}

/// The CSVs that an object names as its owners.
pub fn owners(metadata: &ObjectMeta) -> impl Iterator<Item = ObjectKey> + '_ {
    let labels = metadata.labels.as_ref();
    let labelled = labels.and_then(|all| owner_by_label(all, ClusterServiceVersion::KIND));
    let labelled = labelled.map(|owner| ObjectKey::namespaced(owner.namespace, owner.name));
    let namespace = metadata.namespace.as_deref().unwrap_or_default();
    let references = metadata.owner_references.iter().flatten();
    let referred = references
        .filter(|owner| owner.kind == ClusterServiceVersion::KIND)
        .map(move |owner| ObjectKey::namespaced(namespace, &owner.name));
    labelled.into_iter().chain(referred)
}

fn id(kind: ComponentKind, metadata: &ObjectMeta) -> ComponentId {
    let name = metadata.name.clone().unwrap_or_default();
    ComponentId { kind, key: ObjectKey { namespace: metadata.namespace.clone(), name } }
}

fn remove<K, Q>(map: &mut BTreeMap<K, BTreeSet<ComponentId>>, key: &Q, id: &ComponentId)
where
    K: std::borrow::Borrow<Q> + Ord,
    Q: Ord + ?Sized,
{
    if let Some(ids) = map.get_mut(key) {
        ids.remove(id);
        if ids.is_empty() {
            map.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const LABEL: &str = "operators.coreos.com/a.ns";

    fn metadata(extra: serde_json::Value) -> ObjectMeta {
        let mut metadata = json!({"name": "o", "namespace": "ns"});
        metadata.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        serde_json::from_value(metadata).unwrap()
    }

    #[test]
    fn the_index_follows_labels() {
        let index = ComponentIndex::default();
        let (with, without) = (metadata(json!({"labels": {LABEL: ""}})), metadata(json!({})));
        index.update(ComponentKind::Secret, None, Some(&with));
        index.update(ComponentKind::Role, None, Some(&with));
        assert_eq!(index.labelled(LABEL).len(), 2);
        index.update(ComponentKind::Secret, Some(&with), Some(&without));
        let key = ObjectKey::namespaced("ns", "o");
        assert_eq!(index.labelled(LABEL), [ComponentId { kind: ComponentKind::Role, key }]);
        index.update(ComponentKind::Role, Some(&with), None);
        assert!(index.content.read().by_label.is_empty());
    }

    #[test]
    fn owners_are_named_by_label_or_by_reference() {
        let index = ComponentIndex::default();
        let labelled = metadata(json!({"labels": {
            "olm.owner": "csv", "olm.owner.namespace": "home",
            "olm.owner.kind": "ClusterServiceVersion",
        }}));
        let referred = metadata(json!({"ownerReferences": [
            {"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
             "name": "csv", "uid": "u"},
            {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "v"},
        ]}));
        index.update(ComponentKind::ClusterRole, None, Some(&labelled));
        index.update(ComponentKind::Role, None, Some(&referred));
        assert_eq!(index.owned(&ObjectKey::namespaced("home", "csv")).len(), 1);
        assert_eq!(index.owned(&ObjectKey::namespaced("ns", "csv")).len(), 1);
        assert_eq!(index.owned(&ObjectKey::namespaced("ns", "p")), []);
        index.update(ComponentKind::Role, Some(&referred), None);
        index.update(ComponentKind::ClusterRole, Some(&labelled), None);
        assert!(index.content.read().by_owner.is_empty());
    }
}
