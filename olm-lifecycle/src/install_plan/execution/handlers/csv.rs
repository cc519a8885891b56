//! ClusterServiceVersions: created once, never touched again.

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
        let draft = Draft::new(step, &resource_of::<ClusterServiceVersion>(), manifest)?;
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
