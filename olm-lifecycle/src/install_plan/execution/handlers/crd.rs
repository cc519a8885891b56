//! CustomResourceDefinitions: created with the operator's own rights, upgraded with care.

use olm_effect::{Action, Identity, Resource, Target};
use olm_types::api::{Step, StepResource, StepStatus};
use serde_json::Value;

use super::draft::{Draft, object_target};
use super::{Scope, StepError, StepHandler};
use crate::crd;

/// Handler of CRD steps.
pub(super) struct CustomResourceDefinitions;

fn resource() -> Resource {
    Resource::new(
        "apiextensions.k8s.io",
        "v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
    )
}

impl StepHandler for CustomResourceDefinitions {
    fn handles(&self, resource: &StepResource) -> bool {
        resource.kind == "CustomResourceDefinition"
    }

    fn target(&self, _: &Scope, step: &Step, desired: &Value) -> Target {
        object_target(resource(), None, step, desired)
    }

    fn identity(&self, _: &Scope) -> Identity {
        Identity::Own
    }

    fn desired(&self, scope: &Scope, step: &Step, manifest: Value) -> Result<Value, StepError> {
        crd::require_v1(&manifest)?;
        let key = olm_types::hash::alongside_key(&scope.namespace, &step.resolving);
        let annotation = format!("{}{key}", olm_types::annotations::INSTALLED_ALONGSIDE_PREFIX);
        let csv = format!("{}/{}", scope.namespace, step.resolving);
        let draft =
            Draft::new(step, &resource(), manifest)?.place(None)?.annotate(&annotation, &csv)?;
        let mut object = draft.finish();
        if let Some(fields) = object.as_object_mut() {
            fields.remove("status");
        }
        Ok(object)
    }

    fn after_create(&self) -> StepStatus {
        StepStatus::WaitingForApi
    }

    fn on_existing(
        &self,
        scope: &Scope,
        _: &Step,
        desired: &Value,
        live: &Value,
    ) -> Result<Option<Action>, StepError> {
        let exists = |namespace: &str, name: &str| {
            scope.csvs.contains(&(namespace.to_owned(), name.to_owned()))
        };
        let object = crd::upgraded(live, desired, exists)?;
        Ok(Some(Action::Replace { object, observed: Some(live.clone()) }))
    }

    /// v0 forgets a CRD that is not served yet; here the plan waits for it.
    fn serving(&self, live: Option<&Value>) -> StepStatus {
        match live {
            None => StepStatus::NotPresent,
            Some(live) if crd::is_served(live) => StepStatus::Created,
            Some(_) => StepStatus::WaitingForApi,
        }
    }
}
