//! An object being made from the manifest of a step.

use std::collections::BTreeSet;

use olm_effect::{Action, Resource, Subresource, Target};
use olm_types::api::Step;
use serde_json::{Map, Value, json};

use super::super::{Scope, StepError, merge_patch};
use super::StepMessages;

/// A manifest on its way to the object that is created.
pub(super) struct Draft<'a> {
    step: &'a Step,
    messages: StepMessages,
    fields: Map<String, Value>,
}

impl<'a> Draft<'a> {
    /// Takes the manifest over. Type fields that generated manifests lack are filled in.
    pub(super) fn new(
        step: &'a Step,
        resource: &Resource,
        messages: StepMessages,
        manifest: Value,
    ) -> Result<Self, StepError> {
        let Value::Object(mut fields) = manifest else {
            return Err(malformed(step, "the manifest"));
        };
        fields.insert("apiVersion".to_owned(), resource.api_version().into());
        fields.insert("kind".to_owned(), resource.kind.as_str().into());
        let mut draft = Self { step, messages, fields };
        draft.metadata()?.remove("creationTimestamp");
        draft.set_label(olm_types::labels::MANAGED, "true")?;
        Ok(draft)
    }

    /// Puts the object into a namespace, or takes the namespace away.
    pub(super) fn place(mut self, namespace: Option<&str>) -> Result<Self, StepError> {
        let metadata = self.metadata()?;
        match namespace {
            Some(namespace) => metadata.insert("namespace".to_owned(), namespace.into()),
            None => metadata.remove("namespace"),
        };
        Ok(self)
    }

    /// Sets a label.
    pub(super) fn label(mut self, key: &str, value: &str) -> Result<Self, StepError> {
        self.set_label(key, value)?;
        Ok(self)
    }

    /// Sets an annotation.
    pub(super) fn annotate(mut self, key: &str, value: &str) -> Result<Self, StepError> {
        let step = self.step;
        let annotations = child(self.metadata()?, "annotations")
            .ok_or_else(|| malformed(step, "metadata.annotations"))?;
        annotations.insert(key.to_owned(), value.into());
        Ok(self)
    }

    /// Adds the CSV that the step resolves as a non-blocking owner. A plan that a tool wrote may name
    /// none: then nothing is added.
    pub(super) fn owned(mut self, scope: &Scope) -> Result<Self, StepError> {
        let csv = &self.step.resolving;
        if csv.is_empty() {
            return Ok(self);
        }
        let uid = scope.csv_uid(csv).map_err(|cause| self.owner_error(cause))?;
        let owner = json!({
            "apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
            "name": csv, "uid": uid, "controller": false, "blockOwnerDeletion": false,
        });
        let step = self.step;
        let owners = self.metadata()?.entry("ownerReferences").or_insert(Value::Null);
        if owners.is_null() {
            *owners = Value::Array(Vec::new());
        }
        let owners =
            owners.as_array_mut().ok_or_else(|| malformed(step, "metadata.ownerReferences"))?;
        if !owners.iter().any(|other| other.get("uid") == owner.get("uid")) {
            owners.push(owner);
        }
        Ok(self)
    }

    /// Fills in the uids of owning CSVs, which the manifest could not know. An owner that is named
    /// more than once is named once.
    pub(super) fn refresh_owners(mut self, scope: &Scope) -> Result<Self, StepError> {
        let (step, messages) = (self.step, self.messages);
        let Some(owners) =
            self.metadata()?.get_mut("ownerReferences").and_then(Value::as_array_mut)
        else {
            return Ok(self);
        };
        for owner in owners.iter_mut().filter(|owner| is_csv(owner)) {
            let name = owner.get("name").and_then(Value::as_str).unwrap_or_default();
            let uid = scope.csv_uid(name).map_err(|cause| owner_error(step, messages, cause))?;
            if let Some(owner) = owner.as_object_mut() {
                owner.insert("uid".to_owned(), uid.into());
            }
        }
        let mut seen = BTreeSet::new();
        owners.retain(|owner| seen.insert(owner.to_string()));
        Ok(self)
    }

    /// Leaves out a status: others write it.
    pub(super) fn without_status(mut self) -> Self {
        self.fields.remove("status");
        self
    }

    /// The finished object.
    pub(super) fn finish(self) -> Value {
        Value::Object(self.fields)
    }

    fn owner_error(&self, cause: String) -> StepError {
        owner_error(self.step, self.messages, cause)
    }

    fn set_label(&mut self, key: &str, value: &str) -> Result<(), StepError> {
        let step = self.step;
        let labels =
            child(self.metadata()?, "labels").ok_or_else(|| malformed(step, "metadata.labels"))?;
        labels.insert(key.to_owned(), value.into());
        Ok(())
    }

    fn metadata(&mut self) -> Result<&mut Map<String, Value>, StepError> {
        let step = self.step;
        child(&mut self.fields, "metadata").ok_or_else(|| malformed(step, "metadata"))
    }
}

/// CSVs whose uids have to be read before the object of a step can be [owned](Draft::owned): those
/// that the manifest names, and the one that the step resolves, if it names one.
pub(super) fn owning_csvs(scope: &Scope, step: &Step, manifest: &Value) -> Vec<Target> {
    let mut csvs = named_csvs(scope, manifest);
    csvs.extend(Some(&step.resolving).filter(|name| !name.is_empty()).map(|name| scope.csv(name)));
    csvs
}

/// CSVs that a manifest names as owners; their uids have to be read.
pub(super) fn named_csvs(scope: &Scope, manifest: &Value) -> Vec<Target> {
    let owners = manifest.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    let owners = owners.into_iter().flatten().filter(|owner| is_csv(owner));
    let names = owners.filter_map(|owner| owner.get("name")?.as_str());
    names.filter(|name| !name.is_empty()).map(|name| scope.csv(name)).collect()
}

/// The object of `step`: named by its manifest, unnamed when the API server makes up the name.
pub(super) fn object_target(
    resource: Resource,
    namespace: Option<&str>,
    step: &Step,
    desired: &Value,
) -> Target {
    let text = |pointer| desired.pointer(pointer).and_then(Value::as_str);
    let name = match (text("/metadata/name"), text("/metadata/generateName")) {
        (Some(name), _) => name,
        (None, Some(_)) => "",
        (None, None) => &step.resource.name,
    };
    Target { resource, namespace: namespace.map(str::to_owned), name: name.to_owned() }
}

/// The merge patch that makes `live` equal to `desired`, as an action.
pub(super) fn patch(live: &Value, desired: &Value, exact: &[&str]) -> Option<Action> {
    let patch = merge_patch(live, desired, exact)?;
    Some(Action::MergePatch { patch, observed: Some(live.clone()), subresource: Subresource::Main })
}

fn is_csv(owner: &Value) -> bool {
    owner.get("kind").and_then(Value::as_str) == Some("ClusterServiceVersion")
}

/// The object under `key`, made when absent or null; nothing when something else is there.
fn child<'a>(fields: &'a mut Map<String, Value>, key: &str) -> Option<&'a mut Map<String, Value>> {
    let value = fields.entry(key).or_insert(Value::Null);
    if value.is_null() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut()
}

fn malformed(step: &Step, field: &str) -> StepError {
    StepError::Manifest {
        name: step.resource.name.clone(),
        problem: format!("{field} is not an object"),
    }
}

fn owner_error(step: &Step, messages: StepMessages, cause: String) -> StepError {
    StepError::Owner { what: format!("{}{}", messages.owner, step.resource.name), cause }
}
