//! Component labels on objects that are about to be written for a CSV.
//!
//! Adoption gives the objects of a CSV the component labels of the CSV, each in a write of its own.
//! Who creates an object puts them on it by the same rule, so adoption has nothing left to do. What is
//! not known when an object is created, adoption still adds.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use olm_effect::{Action, Effect, Resource, Target};
use olm_types::api::ClusterServiceVersion;
use olm_types::labels::COPIED_FROM;
use olm_types::owner::{OwnerName, is_owned_by_label, is_owned_by_uid};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::adoption::may_adopt;
use super::names::passed_on;
use crate::csv::is_copied;

const CRD: &str = "CustomResourceDefinition";

/// Groups and kinds of what may belong to a CSV, as far as Operators list it.
const KINDS: [(&str, &str); 12] = [
    ("", "ConfigMap"),
    ("", "Secret"),
    ("", "Service"),
    ("", "ServiceAccount"),
    ("apiextensions.k8s.io", CRD),
    ("apiregistration.k8s.io", "APIService"),
    ("apps", "Deployment"),
    ("operators.coreos.com", "OperatorCondition"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("rbac.authorization.k8s.io", "Role"),
    ("rbac.authorization.k8s.io", "RoleBinding"),
];

/// A CSV as the owner of components.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComponentOwner {
    namespace: String,
    name: String,
    uid: String,
    /// Whether it passes on its labels.
    passes_on: bool,
    /// Its component labels; none of a CSV that passes on none.
    keys: BTreeSet<String>,
    /// Names of the definitions that it owns.
    crds: BTreeSet<String>,
}

impl From<&ClusterServiceVersion> for ComponentOwner {
    /// A copy, and a CSV that is being deleted, pass on no labels.
    fn from(csv: &ClusterServiceVersion) -> Self {
        let crds = csv.spec.customresourcedefinitions.iter().flat_map(|crds| &crds.owned);
        let crds = crds.map(|crd| crd.name.clone()).collect();
        let passes_on = !is_copied(csv);
        Self::new(&csv.metadata, crds, passes_on)
    }
}

impl ComponentOwner {
    /// The owner that a CSV is as an API server shows it; nothing when it has another form.
    pub fn of_object(csv: &Value) -> Option<Self> {
        let csv = Csv::deserialize(csv).ok()?;
        let crds = csv.spec.customresourcedefinitions.into_iter().flat_map(|crds| crds.owned);
        let crds = crds.map(|crd| crd.name).collect();
        let labels = csv.metadata.labels.as_ref();
        let is_copy = labels.is_some_and(|labels| labels.contains_key(COPIED_FROM));
        Some(Self::new(&csv.metadata, crds, !is_copy))
    }

    fn new(metadata: &ObjectMeta, crds: BTreeSet<String>, passes_on: bool) -> Self {
        let passes_on = passes_on && metadata.deletion_timestamp.is_none();
        let keys = passed_on(metadata).filter(|_| passes_on).map(str::to_owned).collect();
        Self {
            namespace: metadata.namespace.clone().unwrap_or_default(),
            name: metadata.name.clone().unwrap_or_default(),
            uid: metadata.uid.clone().unwrap_or_default(),
            passes_on,
            keys,
            crds,
        }
    }

    /// The same owner with labels that it is about to get.
    #[must_use]
    pub fn with_keys<'a>(mut self, keys: impl IntoIterator<Item = &'a String>) -> Self {
        if self.passes_on {
            self.keys.extend(keys.into_iter().cloned());
        }
        self
    }

    /// Whether an object names the CSV as its owner, by reference or by label. Definitions that it
    /// describes as its own belong to it as well.
    pub fn owns(&self, metadata: &ObjectMeta) -> bool {
        let owner = OwnerName {
            kind: ClusterServiceVersion::KIND,
            namespace: &self.namespace,
            name: &self.name,
        };
        let is_here = metadata.namespace.as_deref() == Some(&*self.namespace);
        (is_here && !self.uid.is_empty() && is_owned_by_uid(metadata, &self.uid))
            || metadata.labels.as_ref().is_some_and(|labels| is_owned_by_label(labels, owner))
    }

    /// Puts the labels on objects that are written as a whole, where adoption would.
    pub fn label_all(&self, effects: &mut [Effect]) {
        for effect in effects {
            match &mut effect.action {
                Action::Create(object)
                | Action::Replace { object, .. }
                | Action::Apply { object, .. } => self.label(&effect.target, object),
                Action::MergePatch { .. }
                | Action::StrategicPatch { .. }
                | Action::Delete { .. }
                | Action::Status { .. }
                | Action::Event(_) => {}
            }
        }
    }

    /// Puts the labels on an object that is about to be written, where adoption would.
    pub fn label(&self, target: &Target, object: &mut Value) {
        if self.keys.is_empty() || !is_kind_of_component(&target.resource) {
            return;
        }
        let metadata = relations(target, object);
        let is_described = target.resource.kind == CRD && self.crds.contains(&target.name);
        let labels = metadata.labels.clone().unwrap_or_default();
        if (is_described || self.owns(&metadata)) && may_adopt(&target.resource, &labels) {
            put(object, &self.keys);
        }
    }
}

/// Puts component labels on an object; one that says otherwise what the label is keeps it.
pub(crate) fn put<'a>(object: &mut Value, keys: impl IntoIterator<Item = &'a String>) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let mut keys = keys.into_iter().peekable();
    if keys.peek().is_none() {
        return;
    }
    let labels = metadata.entry("labels").or_insert(Value::Null);
    if labels.is_null() {
        *labels = Value::Object(Map::new());
    }
    let Some(labels) = labels.as_object_mut() else { return };
    for key in keys {
        labels.entry(key.as_str()).or_insert_with(|| Value::String(String::new()));
    }
}

/// Whether objects of this kind can belong to a CSV and be listed by an Operator.
pub(crate) fn is_kind_of_component(resource: &Resource) -> bool {
    KINDS.contains(&(resource.group.as_str(), resource.kind.as_str()))
}

/// Where an object is and whose it is. What has another form says nothing.
fn relations(target: &Target, object: &Value) -> ObjectMeta {
    let metadata = object.get("metadata");
    let field = |name: &str| metadata.and_then(|metadata| metadata.get(name));
    let labels = field("labels").and_then(|found| BTreeMap::deserialize(found).ok());
    let owners =
        field("ownerReferences").and_then(|found| Vec::<OwnerReference>::deserialize(found).ok());
    ObjectMeta {
        namespace: target.namespace.clone(),
        labels,
        owner_references: owners,
        ..ObjectMeta::default()
    }
}

/// What matters of a CSV here.
#[derive(Deserialize)]
struct Csv {
    metadata: ObjectMeta,
    #[serde(default)]
    spec: Spec,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Spec {
    customresourcedefinitions: Option<Definitions>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Definitions {
    owned: Vec<Definition>,
}

#[derive(Deserialize)]
struct Definition {
    name: String,
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    const KEY: &str = "operators.coreos.com/poultry.ns";

    fn csv(metadata: Value) -> Value {
        let mut csv = json!({
            "metadata": {"name": "csv", "namespace": "ns", "uid": "u", "labels": {KEY: "", "other": ""}},
            "spec": {"customresourcedefinitions": {"owned": [{"name": "hens.farm"}]}},
        });
        let fields = csv["metadata"].as_object_mut().unwrap();
        fields.extend(metadata.as_object().unwrap().clone());
        csv
    }

    fn reference() -> Value {
        json!({"ownerReferences": [{"apiVersion": "v", "kind": "ClusterServiceVersion", "name": "csv", "uid": "u"}]})
    }

    fn by_labels() -> Value {
        json!({"labels": {
            "olm.owner": "csv", "olm.owner.namespace": "ns", "olm.owner.kind": "ClusterServiceVersion",
        }})
    }

    fn made(
        owner: Value,
        group: &str,
        kind: &str,
        namespace: Option<&str>,
        metadata: Value,
    ) -> bool {
        let resource = Resource::new(group, "v1", kind, "x");
        let target = Target {
            resource,
            namespace: namespace.map(str::to_owned),
            name: "hens.farm".to_owned(),
        };
        let mut object = json!({ "metadata": metadata });
        let labels = object["metadata"].as_object_mut().unwrap().entry("labels");
        labels.or_insert_with(|| json!({}))["olm.managed"] = json!("true");
        let typed: ClusterServiceVersion = serde_json::from_value(owner.clone()).unwrap();
        let mut same = object.clone();
        ComponentOwner::from(&typed).label(&target, &mut same);
        ComponentOwner::of_object(&owner).unwrap().label(&target, &mut object);
        assert_eq!(object, same, "the typed CSV and the object are one owner");
        object["metadata"]["labels"].get(KEY).is_some()
    }

    #[rstest]
    #[case::account("", "ServiceAccount", Some("ns"), reference(), true)]
    #[case::role("rbac.authorization.k8s.io", "Role", Some("ns"), reference(), true)]
    #[case::in_another_namespace("", "ServiceAccount", Some("other"), reference(), false)]
    #[case::cluster_role("rbac.authorization.k8s.io", "ClusterRole", None, by_labels(), true)]
    #[case::without_an_owner("rbac.authorization.k8s.io", "ClusterRole", None, json!({}), false)]
    #[case::described("apiextensions.k8s.io", CRD, None, json!({}), true)]
    #[case::of_no_operator("policy", "PodDisruptionBudget", Some("ns"), reference(), false)]
    #[case::malformed("", "ServiceAccount", Some("ns"), json!({"ownerReferences": 7}), false)]
    fn what_belongs_to_a_csv_is_labelled(
        #[case] group: &str,
        #[case] kind: &str,
        #[case] namespace: Option<&str>,
        #[case] metadata: Value,
        #[case] labelled: bool,
    ) {
        assert_eq!(made(csv(json!({})), group, kind, namespace, metadata), labelled);
    }

    #[rstest]
    #[case::without_labels(json!({"labels": null}))]
    #[case::copy(json!({"labels": {KEY: "", "olm.copiedFrom": "x"}}))]
    #[case::going(json!({"deletionTimestamp": "2026-01-01T00:00:00Z"}))]
    fn some_csvs_pass_on_nothing(#[case] metadata: Value) {
        let passes_on_others = metadata == json!({"labels": null});
        let owner = ComponentOwner::of_object(&csv(metadata.clone())).unwrap();
        assert!(!made(csv(metadata), "", "ServiceAccount", Some("ns"), reference()));
        assert_eq!(!owner.with_keys([&KEY.to_owned()]).keys.is_empty(), passes_on_others);
    }

    #[test]
    fn what_olm_does_not_manage_is_left_alone_but_for_conditions() {
        let owner = ComponentOwner::of_object(&csv(json!({}))).unwrap();
        for (group, kind, labelled) in
            [("apps", "Deployment", false), ("operators.coreos.com", "OperatorCondition", true)]
        {
            let target = Target::namespaced(Resource::new(group, "v1", kind, "x"), "ns", "o");
            let mut effects = [Effect::create(target, json!({ "metadata": reference() }))];
            owner.label_all(&mut effects);
            let Action::Create(object) = &effects[0].action else { panic!("another action") };
            assert_eq!(object.pointer("/metadata/labels").is_some(), labelled, "{kind}");
        }
    }
}
