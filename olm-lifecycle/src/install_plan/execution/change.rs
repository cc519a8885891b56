//! A step's object: created, or compared with what exists and changed.

use olm_effect::{Effect, Outcome, Refusal};
use olm_types::api::{ClusterServiceVersion, StepStatus};
use serde_json::Value;

use super::machine::{Execution, MachineState};
use super::notes::{Note, NoteKind};
use super::{StepError, copies, deletion};

/// How often a write that met a newer object is computed anew before the plan waits.
const CONFLICT_RETRIES: u8 = 5;

impl Execution {
    pub(super) fn created(
        &mut self,
        desired: Value,
        gone: u8,
        outcome: Outcome,
    ) -> Result<Option<StepStatus>, StepError> {
        let (handler, step) = self.current()?;
        let target = handler.target(&self.scope, step, &desired);
        match outcome {
            Outcome::Created(live) => {
                self.scope.learn(target, Ok(Some(live)));
                Ok(Some(handler.after_create()))
            }
            Outcome::AlreadyExists => {
                self.state = MachineState::Compare { desired, conflicts: gone };
                Ok(None)
            }
            other => {
                let what = self.messages(|messages| messages.create)?;
                Err(handler.refused_create(what, refusal(other)))
            }
        }
    }

    pub(super) fn compared(
        &mut self,
        desired: Value,
        conflicts: u8,
        live: Option<Value>,
        name: &str,
    ) -> Result<Option<StepStatus>, StepError> {
        let Some(live) = live else { return self.vanished(desired, conflicts, name) };
        let (handler, step) = self.current()?;
        deletion::check(step, &live)?;
        if handler.examines() {
            return self.begin_examination(desired, conflicts, live);
        }
        self.check_copy(&live)?;
        let (handler, step) = self.current()?;
        let Some(action) = handler.on_existing(&desired, &live) else {
            return Ok(Some(StepStatus::Present));
        };
        let target = handler.target(&self.scope, step, &desired);
        let effect = Effect::new(target, action).acting_as(handler.identity(&self.scope, step));
        self.state = MachineState::Change { desired, conflicts, effect };
        self.report_take_over(&live);
        Ok(None)
    }

    /// A copy in the place of a CSV ends the execution, unless the CSV is there for other bundles alone.
    fn check_copy(&mut self, live: &Value) -> Result<(), StepError> {
        let (_, step) = self.current()?;
        if step.resource.kind != ClusterServiceVersion::KIND {
            return Ok(());
        }
        match copies::copy_in_the_way(live) {
            Some(StepError::CopyInTheWay { from, .. })
                if copies::is_for_others(step, &self.steps) =>
            {
                self.report(NoteKind::CopyKept(from));
                Ok(())
            }
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// The object went between two calls: it is created.
    fn vanished(
        &mut self,
        desired: Value,
        conflicts: u8,
        name: &str,
    ) -> Result<Option<StepStatus>, StepError> {
        if conflicts >= CONFLICT_RETRIES {
            return Err(StepError::Vanished { thing: self.kind_text()?, name: name.to_owned() });
        }
        self.forget_take_over();
        self.state = MachineState::Create { desired, gone: conflicts + 1 };
        Ok(None)
    }

    /// What was not put under OLM's management is changed as v0 does it, but not without a word.
    pub(super) fn report_take_over(&mut self, live: &Value) {
        let label =
            live.pointer("/metadata/labels").and_then(|all| all.get(olm_types::labels::MANAGED));
        let reported = Note { step: self.cursor, what: NoteKind::TakenOver };
        if label.and_then(Value::as_str) != Some(olm_types::labels::MANAGED_VALUE)
            && !self.notes.contains(&reported)
        {
            self.notes.push(reported);
        }
    }

    pub(super) fn changed(
        &mut self,
        desired: Value,
        conflicts: u8,
        outcome: Outcome,
        name: &str,
    ) -> Result<Option<StepStatus>, StepError> {
        match outcome {
            Outcome::Changed(live) => {
                // Its deletion may have begun after it was read.
                deletion::check(self.current()?.1, &live)?;
                Ok(Some(StepStatus::Present))
            }
            Outcome::Unchanged => Ok(Some(StepStatus::Present)),
            Outcome::NotFound => self.vanished(desired, conflicts, name),
            Outcome::Refused(refusal) if refusal.is_conflict() && conflicts < CONFLICT_RETRIES => {
                self.state = MachineState::Compare { desired, conflicts: conflicts + 1 };
                Ok(None)
            }
            other => {
                let cause = refusal(other);
                Err(StepError::Refused { what: self.messages(|messages| messages.update)?, cause })
            }
        }
    }
}

fn refusal(outcome: Outcome) -> Refusal {
    match outcome {
        Outcome::Refused(refusal) => refusal,
        Outcome::NotFound => {
            Refusal { code: 404, reason: "NotFound".to_owned(), message: "not found".to_owned() }
        }
        other => Refusal {
            code: 0,
            reason: String::new(),
            message: format!("unexpected outcome {other:?}"),
        },
    }
}
