//! Secrets: those of a bundle, and pull secrets copied from the operator's namespace.

use olm_effect::{Action, Resource, Target};
use olm_types::api::{Step, StepResource};
use serde_json::{Map, Value, json};

use super::draft::{Draft, object_target, patch};
use super::{Scope, StepError, StepHandler, Words};

/// Handler of `Secret` steps: the object is a copy of the operator's Secret of the same name.
pub(super) struct PullSecrets;

/// Handler of `BundleSecret` steps: the object is in the bundle.
pub(super) struct BundleSecrets;

const COPY_WORDS: Words = Words {
    create: "error creating secret ",
    read: "error getting pull secret from olm namespace ",
    update: "",
    owner: "secret ",
};

const BUNDLE_WORDS: Words = Words {
    create: "error updating secret: ",
    read: "error updating secret: ",
    update: "error updating secret: ",
    owner: "secret ",
};

fn resource() -> Resource {
    Resource::new("", "v1", "Secret", "secrets")
}

impl StepHandler for PullSecrets {
    fn handles(&self, resource: &StepResource) -> bool {
        resource.kind == "Secret" && resource.group.is_empty()
    }

    fn words(&self) -> Words {
        COPY_WORDS
    }

    fn target(&self, scope: &Scope, step: &Step, desired: &Value) -> Target {
        object_target(resource(), Some(&scope.namespace), step, desired)
    }

    fn reads(&self, scope: &Scope, step: &Step, _: &Value) -> Vec<Target> {
        vec![Target::namespaced(resource(), &scope.operator_namespace, &step.resource.name)]
    }

    fn desired(&self, scope: &Scope, step: &Step, _: Value) -> Result<Value, StepError> {
        let name = &step.resource.name;
        let source = Target::namespaced(resource(), &scope.operator_namespace, name);
        let source = scope
            .object(&source)
            .map_err(|cause| StepError::PullSecret { name: name.clone(), cause })?;
        let mut copy = Map::new();
        for field in ["data", "type"] {
            if let Some(value) = source.get(field) {
                copy.insert(field.to_owned(), value.clone());
            }
        }
        copy.insert("metadata".to_owned(), json!({ "name": name }));
        let draft = Draft::new(step, &resource(), COPY_WORDS, Value::Object(copy))?;
        Ok(draft.place(Some(&scope.namespace))?.finish())
    }

    fn on_existing(
        &self,
        _: &Scope,
        _: &Step,
        _: &Value,
        _: &Value,
    ) -> Result<Option<Action>, StepError> {
        Ok(None)
    }
}

impl StepHandler for BundleSecrets {
    fn handles(&self, resource: &StepResource) -> bool {
        resource.kind == "BundleSecret"
    }

    fn words(&self) -> Words {
        BUNDLE_WORDS
    }

    fn target(&self, scope: &Scope, step: &Step, desired: &Value) -> Target {
        object_target(resource(), Some(&scope.namespace), step, desired)
    }

    fn reads(&self, scope: &Scope, step: &Step, _: &Value) -> Vec<Target> {
        vec![scope.csv(&step.resolving)]
    }

    fn desired(&self, scope: &Scope, step: &Step, manifest: Value) -> Result<Value, StepError> {
        let draft = Draft::new(step, &resource(), BUNDLE_WORDS, manifest)?;
        Ok(draft.place(Some(&scope.namespace))?.owned(scope)?.finish())
    }

    fn on_existing(
        &self,
        _: &Scope,
        _: &Step,
        desired: &Value,
        live: &Value,
    ) -> Result<Option<Action>, StepError> {
        Ok(patch(live, desired, &["data"]))
    }
}
