//! Kinds that v0 installs without knowing more about them than their names: they are looked up in
//! the API server, and what exists is written over as a whole.

use olm_effect::{Action, Resource, Target};
use olm_types::api::{ClusterServiceVersion, Step, StepResource};
use olm_types::gvk::Gvk;
use olm_types::owner::owner_labels;
use serde_json::Value;

use super::super::Served;
use super::draft::{Draft, object_target, owning_csvs};
use super::{Form, Scope, StepError, StepHandler, StepMessages};

/// The kinds, whatever group they are of.
const KINDS: [&str; 11] = [
    "ConsoleCLIDownload",
    "ConsoleLink",
    "ConsolePlugin",
    "ConsoleQuickStart",
    "ConsoleYAMLSample",
    "NetworkPolicy",
    "PodDisruptionBudget",
    "PriorityClass",
    "PrometheusRule",
    "ServiceMonitor",
    "VerticalPodAutoscaler",
];

const MESSAGES: StepMessages = StepMessages {
    create: "error creating unstructured object ",
    read: "error getting unstructured object ",
    update: "error updating unstructured object ",
    owner: "unstructured object: ",
};

/// Handler of the steps of these kinds.
pub(super) struct Others;

impl StepHandler for Others {
    fn handles(&self, resource: &StepResource) -> bool {
        KINDS.contains(&resource.kind.as_str())
    }

    fn messages(&self) -> StepMessages {
        MESSAGES
    }

    fn form(&self) -> Form {
        Form::JsonOrYaml
    }

    fn kind(&self, manifest: &Value) -> Option<Gvk> {
        let text = |field| manifest.get(field).and_then(Value::as_str).unwrap_or_default();
        Some(Gvk::from_api_version(text("apiVersion"), text("kind")))
    }

    fn target(&self, scope: &Scope, step: &Step, desired: &Value) -> Target {
        match self.kind(desired).and_then(|kind| scope.kinds.get(&kind)) {
            Some(Served::Kind { resource, namespaced }) => {
                let namespace = namespaced.then_some(scope.namespace.as_str());
                object_target(resource.clone(), namespace, step, desired)
            }
            // Not reached: without the kind there is no desired object.
            Some(Served::NoKind | Served::NoGroup) | None => {
                let StepResource { group, version, kind, .. } = &step.resource;
                object_target(Resource::new(group, version, kind, ""), None, step, desired)
            }
        }
    }

    fn reads(&self, scope: &Scope, step: &Step, manifest: &Value) -> Vec<Target> {
        let is_owned = !step.resolving.is_empty() && self.is_namespaced(scope, manifest);
        if is_owned { owning_csvs(scope, step, manifest) } else { Vec::new() }
    }

    fn desired(&self, scope: &Scope, step: &Step, manifest: Value) -> Result<Value, StepError> {
        let kind = self.kind(&manifest).unwrap_or_default();
        let (resource, namespaced) = match scope.kinds.get(&kind) {
            Some(Served::Kind { resource, namespaced }) => (resource, *namespaced),
            Some(Served::NoKind) => return Err(StepError::NoKind(kind)),
            Some(Served::NoGroup) | None => {
                let name = step.resource.name.clone();
                return Err(StepError::NoApi { api: kind, name });
            }
        };
        let draft = Draft::new(step, resource, MESSAGES, manifest)?;
        let draft = match (namespaced, step.resolving.as_str()) {
            (true, "") => draft.place(Some(&scope.namespace))?,
            (true, _) => {
                draft.place(Some(&scope.namespace))?.refresh_owners(scope)?.owned(scope)?
            }
            (false, "") => draft.place(None)?,
            (false, csv) => labelled(draft.place(None)?, csv, &scope.namespace)?,
        };
        Ok(draft.finish())
    }

    fn on_existing(&self, desired: &Value, live: &Value) -> Option<Action> {
        let mut object = desired.clone();
        let metadata = object.pointer_mut("/metadata").and_then(Value::as_object_mut);
        if let (Some(metadata), Some(version)) =
            (metadata, live.pointer("/metadata/resourceVersion"))
        {
            metadata.insert("resourceVersion".to_owned(), version.clone());
        }
        Some(Action::Replace { object, observed: Some(live.clone()) })
    }
}

impl Others {
    fn is_namespaced(&self, scope: &Scope, manifest: &Value) -> bool {
        let served = self.kind(manifest).and_then(|kind| scope.kinds.get(&kind));
        matches!(served, Some(Served::Kind { namespaced: true, .. }))
    }
}

/// A cluster-scoped object cannot be owned by a CSV; labels say whose it is.
fn labelled<'a>(mut draft: Draft<'a>, csv: &str, namespace: &str) -> Result<Draft<'a>, StepError> {
    for (key, value) in owner_labels(csv, namespace, ClusterServiceVersion::KIND) {
        draft = draft.label(&key, &value)?;
    }
    Ok(draft)
}
