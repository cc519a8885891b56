//! Writes down what became of the steps, whoever else touches the plan meanwhile.
//!
//! Executing takes a while, and others label plans or approve them. Were the record refused for
//! that, the next execution would begin with the first step again: after a newer plan it would put
//! older objects in the place of newer ones.

use kube::Client;
use olm_effect::{Action, Effect, Outcome, Refusal};
use olm_kit::controller::ReconcileError;
use olm_kit::interpreter::Interpreter;
use olm_kit::live;
use serde_json::Value;

/// How often the record is tried.
const TRIES: usize = 5;

/// Executes effects. The write of a status that is refused because the object has changed is tried
/// again, as long as the status itself is the one that was observed.
pub(super) async fn record(
    client: &Client,
    interpreter: &Interpreter,
    effects: &[Effect],
) -> Result<(), ReconcileError> {
    for effect in effects {
        let outcomes = write(client, interpreter, effect.clone()).await;
        ReconcileError::from_outcomes(&outcomes)?;
    }
    Ok(())
}

async fn write(client: &Client, interpreter: &Interpreter, mut effect: Effect) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for _ in 0..TRIES {
        outcomes = interpreter.execute(std::slice::from_ref(&effect)).await;
        let conflict = outcomes.iter().filter_map(Outcome::refusal).any(Refusal::is_conflict);
        if !conflict {
            break;
        }
        let Ok(Some(live)) = live::read(client, &effect.target).await else { break };
        match onto(&effect, &live) {
            Some(fresh) => effect = fresh,
            None => break,
        }
    }
    outcomes
}

/// The same status on the object as it is now; nothing when another status was written.
fn onto(effect: &Effect, live: &Value) -> Option<Effect> {
    let Action::Status { object, observed: Some(observed) } = &effect.action else { return None };
    let uid = |object: &Value| object.pointer("/metadata/uid").cloned();
    if uid(live) != uid(observed) || live.get("status") != observed.get("status") {
        return None;
    }
    let mut wanted = live.clone();
    *wanted.get_mut("status")? = object.get("status")?.clone();
    Some(Effect::status(effect.target.clone(), wanted, Some(live.clone())))
}

#[cfg(test)]
mod tests {
    use olm_effect::{Resource, Target};
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn plan(version: &str, labels: Value, status: Value) -> Value {
        json!({
            "metadata": {"name": "p", "uid": "u", "resourceVersion": version, "labels": labels},
            "status": status,
        })
    }

    #[rstest]
    #[case::labelled(json!({"phase": "Installing"}), true)]
    #[case::executed_by_another_writer(json!({"phase": "Complete"}), false)]
    fn a_record_goes_onto_the_object_as_it_is(#[case] status: Value, #[case] kept: bool) {
        let before = plan("1", json!({}), json!({"phase": "Installing"}));
        let after = plan("1", json!({}), json!({"phase": "Complete", "plan": []}));
        let resource =
            Resource::new("operators.coreos.com", "v1alpha1", "InstallPlan", "installplans");
        let effect = Effect::status(Target::namespaced(resource, "ns", "p"), after, Some(before));
        let live = plan("2", json!({"by": "others"}), status);
        let Some(fresh) = onto(&effect, &live) else { return assert!(!kept, "given up") };
        let Action::Status { object, .. } = fresh.action else { panic!("no status") };
        assert!(kept);
        assert_eq!(object["metadata"], live["metadata"]);
        assert_eq!(object["status"]["phase"], "Complete");
    }
}
