//! ClusterServiceVersions: created once, never touched again.
//!
//! What is created went through the type, as in v0: a bundle may name an older API version, or leave
//! out a field that the CRD wants.

use olm_effect::Target;
use olm_types::api::{ClusterServiceVersion, Step, StepResource};
use serde::Deserialize;
use serde_json::Value;

use super::draft::{Draft, object_target};
use super::{Scope, StepError, StepHandler, StepMessages};
use crate::writes::resource_of;

/// Handler of CSV steps.
pub(super) struct ClusterServiceVersions;

const MESSAGES: StepMessages =
    StepMessages { create: "error creating csv ", read: "", update: "", owner: "csv " };

impl StepHandler for ClusterServiceVersions {
    fn handles(&self, resource: &StepResource) -> bool {
        resource.kind == "ClusterServiceVersion"
    }

    fn messages(&self) -> StepMessages {
        MESSAGES
    }

    fn target(&self, scope: &Scope, step: &Step, desired: &Value) -> Target {
        object_target(resource_of::<ClusterServiceVersion>(), Some(&scope.namespace), step, desired)
    }

    fn desired(&self, scope: &Scope, step: &Step, manifest: Value) -> Result<Value, StepError> {
        let csv = typed(step, manifest)?;
        check_owners(scope, &csv)?;
        let marks = scope.trust.marks(&scope.namespace, step, &csv);
        let csv = serde_json::to_value(csv).map_err(|error| malformed(step, &error))?;
        let draft = Draft::new(step, &resource_of::<ClusterServiceVersion>(), MESSAGES, csv)?;
        let draft = draft.place(Some(&scope.namespace))?;
        let marked =
            marks.iter().try_fold(draft, |draft, (key, mark)| draft.annotate(key, mark))?;
        Ok(marked.finish())
    }
}

/// A CSV that the plan was not made for must not own what another CSV owns.
fn check_owners(scope: &Scope, csv: &ClusterServiceVersion) -> Result<(), StepError> {
    let name = csv.metadata.name.clone().unwrap_or_default();
    let owned = csv.spec.customresourcedefinitions.iter().flat_map(|crds| &crds.owned);
    for crd in owned.filter(|_| !scope.wanted.contains(&name)) {
        let owners = scope.crd_owners.get(&crd.name).into_iter().flatten();
        let here = owners.filter(|owner| owner.namespace == scope.namespace);
        let owners: Vec<_> = here.map(|owner| owner.name.clone()).collect();
        match owners.as_slice() {
            [] => {}
            [owner] if *owner == name => {}
            [_] => return Err(StepError::CompetingOwner(name)),
            _ => {
                let (namespace, crd) = (scope.namespace.clone(), crd.name.clone());
                return Err(StepError::CompetingOwners { csv: name, owners, namespace, crd });
            }
        }
    }
    Ok(())
}

fn malformed(step: &Step, error: &serde_json::Error) -> StepError {
    StepError::Manifest { name: step.resource.name.clone(), problem: error.to_string() }
}

fn typed(step: &Step, mut manifest: Value) -> Result<ClusterServiceVersion, StepError> {
    if let Some(metadata) = manifest.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("creationTimestamp");
    }
    let csv = ClusterServiceVersion::deserialize(&manifest);
    let mut csv = csv.map_err(|error| malformed(step, &error))?;
    csv.spec.cleanup.get_or_insert_default();
    csv.status = None;
    Ok(csv)
}
