//! Secrets: those of a bundle, and pull secrets copied from the operator's namespace.

use olm_effect::{Action, Refusal, Resource, Target};
use olm_types::api::{Step, StepResource};
use serde_json::{Map, Value, json};

use super::draft::{Draft, object_target, owning_csvs, patch};
use super::{Form, Scope, StepError, StepHandler, StepMessages};
use crate::install_plan::steps::BUNDLE_SECRET;

/// Handler of `Secret` steps: the object is a copy of the operator's Secret of the same name.
pub(super) struct PullSecrets;

/// Handler of `BundleSecret` steps: the object is in the bundle.
pub(super) struct BundleSecrets;

/// Types of Secrets that hold credentials of registries.
const PULL_SECRETS: [&str; 2] = ["kubernetes.io/dockerconfigjson", "kubernetes.io/dockercfg"];

const COPY_WORDS: StepMessages = StepMessages {
    create: "error creating secret ",
    read: "error getting pull secret from olm namespace ",
    update: "",
    owner: "secret ",
};

const BUNDLE_WORDS: StepMessages = StepMessages {
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

    fn messages(&self) -> StepMessages {
        COPY_WORDS
    }

    fn form(&self) -> Form {
        Form::Ignored
    }

    /// v0 keeps nothing but the text, so that a missing right is not waited for without a limit.
    fn refused_create(&self, what: String, cause: Refusal) -> StepError {
        StepError::NotCopied { what, cause: cause.message }
    }

    fn target(&self, scope: &Scope, step: &Step, desired: &Value) -> Target {
        object_target(resource(), Some(&scope.namespace), step, desired)
    }

    fn reads(&self, scope: &Scope, step: &Step, _: &Value) -> Vec<Target> {
        let from = &scope.operator_namespace;
        let source = Target::namespaced(resource(), from, &step.resource.name);
        if scope.trust.includes(step) { vec![source] } else { Vec::new() }
    }

    fn desired(&self, scope: &Scope, step: &Step, _: Value) -> Result<Value, StepError> {
        let name = &step.resource.name;
        let from = &scope.operator_namespace;
        let refused = |cause| StepError::PullSecret { name: name.clone(), cause };
        if !scope.trust.includes(step) {
            return Err(refused(format!("only steps from global catalogs copy it from {from}")));
        }
        let source = Target::namespaced(resource(), from, name);
        let source = scope.object(&source).map_err(refused)?;
        if !is_pull_secret(source) {
            return Err(refused(format!(
                "the Secret in {from} holds no credentials of registries"
            )));
        }
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
}

/// Whether a kubelet would take it for one. Plans can be written by hand, and the operator's
/// namespace holds keys and tokens as well, which are private.
fn is_pull_secret(secret: &Value) -> bool {
    let kind = secret.get("type").and_then(Value::as_str).unwrap_or_default();
    PULL_SECRETS.contains(&kind)
}

impl StepHandler for BundleSecrets {
    fn handles(&self, resource: &StepResource) -> bool {
        resource.kind == BUNDLE_SECRET
    }

    fn messages(&self) -> StepMessages {
        BUNDLE_WORDS
    }

    fn target(&self, scope: &Scope, step: &Step, desired: &Value) -> Target {
        object_target(resource(), Some(&scope.namespace), step, desired)
    }

    fn reads(&self, scope: &Scope, step: &Step, manifest: &Value) -> Vec<Target> {
        owning_csvs(scope, step, manifest)
    }

    fn desired(&self, scope: &Scope, step: &Step, manifest: Value) -> Result<Value, StepError> {
        let draft = Draft::new(step, &resource(), BUNDLE_WORDS, manifest)?;
        let draft = draft.place(Some(&scope.namespace))?.refresh_owners(scope)?;
        Ok(draft.owned(scope)?.finish())
    }

    fn on_existing(&self, desired: &Value, live: &Value) -> Option<Action> {
        patch(live, desired, &["data"])
    }
}
