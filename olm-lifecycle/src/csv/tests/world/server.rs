//! What the API server of the simulated cluster answers.

use olm_effect::{Action, Effect, Outcome, Refusal, apply_merge_patch};
use serde_json::{Value, json};

use super::World;

impl World {
    /// Executes effects as the interpreter does: what follows a refusal is skipped.
    pub(super) fn execute(&mut self, effects: &[Effect]) -> Vec<Outcome> {
        let mut outcomes: Vec<Outcome> = Vec::new();
        for effect in effects {
            let refused = outcomes.iter().any(|outcome| outcome.refusal().is_some());
            let skipped = refused || self.stop_after == Some(0);
            outcomes.push(if skipped { Outcome::Skipped } else { self.apply(effect) });
            self.stop_after = self.stop_after.map(|left| left.saturating_sub(1));
        }
        outcomes
    }

    fn apply(&mut self, effect: &Effect) -> Outcome {
        let kind = effect.target.resource.kind.clone();
        if let Some((refused, refusal)) =
            self.refuse.as_ref().filter(|(refused, _)| *refused == kind)
        {
            assert_eq!(*refused, kind);
            return Outcome::Refused(refusal.clone());
        }
        let present = self.get(&kind, &effect.target.name).cloned();
        match (&effect.action, present) {
            (Action::Event(note), _) => {
                self.events.push(format!("{}: {}", note.reason, note.message));
                Outcome::Created(Value::Null)
            }
            (Action::Create(object), _) if effect.target.name.is_empty() => {
                let mut object = object.clone();
                let start = object["metadata"]["generateName"].as_str().unwrap().to_owned();
                object["metadata"]["name"] = json!(format!("{start}{}", self.version));
                self.write(object, None)
            }
            (Action::Create(_), Some(_)) => Outcome::AlreadyExists,
            (Action::Create(object), None) => self.write(object.clone(), None),
            (Action::Delete { .. }, _) => {
                self.remove(&kind, &effect.target.name);
                Outcome::Deleted
            }
            (Action::Apply { object, .. }, present) => {
                let mut applied = present.clone().unwrap_or_default();
                apply_merge_patch(&mut applied, object);
                self.write(applied, present.as_ref())
            }
            (_, None) => Outcome::NotFound,
            (Action::Replace { object, .. }, Some(present)) => match immutable(object, &present) {
                Some(refusal) => Outcome::Refused(refusal),
                None => self.write(object.clone(), Some(&present)),
            },
            (Action::MergePatch { patch, .. }, Some(present)) => {
                if is_stale(patch, &present) {
                    return conflict();
                }
                let mut patched = present.clone();
                apply_merge_patch(&mut patched, patch);
                self.write(patched, Some(&present))
            }
            (Action::Status { object, .. }, Some(mut present)) => {
                if is_stale(object, &present) {
                    return conflict();
                }
                present["status"] = object["status"].clone();
                self.put(present.clone());
                Outcome::Changed(present)
            }
            (other, _) => panic!("not simulated: {other:?}"),
        }
    }

    fn write(&mut self, mut object: Value, before: Option<&Value>) -> Outcome {
        let metadata = &mut object["metadata"];
        if metadata["uid"].is_null() {
            metadata["uid"] = json!(format!("uid-{}", metadata["name"].as_str().unwrap()));
        }
        if let Some(status) = before.map(|before| &before["status"]).filter(|s| !s.is_null()) {
            object["status"] = status.clone();
        }
        self.put(object.clone());
        Outcome::Changed(object)
    }
}

fn is_stale(written: &Value, present: &Value) -> bool {
    let version = &written["metadata"]["resourceVersion"];
    !version.is_null() && *version != present["metadata"]["resourceVersion"]
}

/// What an API server says to another selector.
fn immutable(written: &Value, present: &Value) -> Option<Refusal> {
    let selector = &written["spec"]["selector"];
    let name = written["metadata"]["name"].as_str().unwrap();
    (written["kind"] == "Deployment" && *selector != present["spec"]["selector"]).then(|| Refusal {
        code: 422,
        reason: "Invalid".to_owned(),
        message: format!(
            "Deployment.apps \"{name}\" is invalid: spec.selector: Invalid value: {selector}: \
             field is immutable"
        ),
    })
}

fn conflict() -> Outcome {
    let text = || "Conflict".to_owned();
    Outcome::Refused(Refusal { code: 409, reason: text(), message: text() })
}
