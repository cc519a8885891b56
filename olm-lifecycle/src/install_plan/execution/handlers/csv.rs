//! ClusterServiceVersions: created once, never touched again.
//!
//! What is created went through the type, as in v0: a bundle may name an older API version, or leave
//! out a field that the CRD wants.

use olm_effect::{Action, Target};
use olm_types::api::{ClusterServiceVersion, Step, StepResource};
use serde_json::Value;

use super::draft::{Draft, object_target};
use super::{Scope, StepError, StepHandler};
use crate::writes::resource_of;

/// Handler of CSV steps.
pub(super) struct ClusterServiceVersions;

impl StepHandler for ClusterServiceVersions {
    fn handles(&self, resource: &StepResource) -> bool {
        resource.kind == "ClusterServiceVersion"
    }

    fn target(&self, scope: &Scope, step: &Step, desired: &Value) -> Target {
        object_target(resource_of::<ClusterServiceVersion>(), Some(&scope.namespace), step, desired)
    }

    fn desired(&self, scope: &Scope, step: &Step, manifest: Value) -> Result<Value, StepError> {
        let draft =
            Draft::new(step, &resource_of::<ClusterServiceVersion>(), typed(step, manifest)?)?;
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

fn typed(step: &Step, mut manifest: Value) -> Result<Value, StepError> {
    let malformed = |error: serde_json::Error| StepError::Manifest {
        name: step.resource.name.clone(),
        problem: error.to_string(),
    };
    if let Some(metadata) = manifest.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("creationTimestamp");
    }
    let mut csv: ClusterServiceVersion = serde_json::from_value(manifest).map_err(malformed)?;
    csv.spec.cleanup.get_or_insert_default();
    csv.status = None;
    serde_json::to_value(csv).map_err(malformed)
}
