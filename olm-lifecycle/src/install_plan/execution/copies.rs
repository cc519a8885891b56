//! Copies of CSVs: while an operator of another namespace reaches the plan's, its copy has the name.
//!
//! v0 takes the copy for the CSV that the plan brings: the plan is Complete, nothing is installed, and the Subscription
//! waits for ever. Here the plan says whose copy it is, fails when time is over, and is tried again all the same until the
//! copy is gone. A dependency is served by the operator that reaches the namespace: the plan goes on, and says so.

use olm_types::api::{Step, Subscription};
use olm_types::labels::COPIED_FROM;
use serde_json::Value;

use super::StepError;

/// The error of a CSV whose name `live` has, if that is a copy.
pub fn copy_in_the_way(live: &Value) -> Option<StepError> {
    let text = |pointer: &str| live.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let from = live.pointer("/metadata/labels")?.get(COPIED_FROM)?.as_str()?;
    Some(StepError::CopyInTheWay {
        csv: text("/metadata/name").to_owned(),
        namespace: text("/metadata/namespace").to_owned(),
        from: from.to_owned(),
    })
}

/// Whether the message of a plan that has failed is that of a copy. One that claims so without reason only leads to
/// more tries.
pub fn is_about_a_copy(message: &str) -> bool {
    message.starts_with("namespace ") && message.contains(" while the copy is there; ")
}

/// Whether the CSV of a step is there for other bundles alone: then the plan makes a Subscription for it.
pub(super) fn is_for_others(step: &Step, steps: &[Step]) -> bool {
    let mut made = steps.iter().filter(|other| other.resource.kind == Subscription::KIND);
    !step.resolving.is_empty() && made.any(|other| other.resolving == step.resolving)
}
