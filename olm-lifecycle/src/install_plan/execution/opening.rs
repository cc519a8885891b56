//! The beginning of a step: what has to be known before its object is created.

use olm_effect::Effect;
use olm_types::api::StepStatus;
use serde_json::Value;

use super::call::Request;
use super::machine::{Execution, MachineState};
use super::{StepError, components, deletion, manifest};

impl Execution {
    /// Where the step is taken up, by the status that it was left with.
    pub(super) fn open(&mut self) -> Result<Option<Request>, StepError> {
        let Some(step) = self.steps.get(self.cursor) else { return Ok(None) };
        match step.status {
            StepStatus::Present | StepStatus::Created => Ok(None),
            StepStatus::WaitingForApi => self.check_serving().map(Some),
            StepStatus::Unknown | StepStatus::NotPresent => self.prepare(),
            StepStatus::NotCreated | StepStatus::UnsupportedResource => {
                Err(StepError::invalid(step))
            }
        }
    }

    /// Reads what the handler asks for, one object at a time, then makes the desired object.
    fn prepare(&mut self) -> Result<Option<Request>, StepError> {
        let cursor = self.cursor;
        if self.current().is_err()
            && let Some(step) = self.steps.get_mut(cursor)
        {
            step.status = StepStatus::UnsupportedResource;
        }
        let (handler, step) = self.current()?;
        let manifest = manifest::read(&self.scope, step, handler.form())?;
        let unknown = handler.kind(&manifest).filter(|kind| !self.scope.kinds.contains_key(kind));
        if let Some(kind) = unknown {
            self.state = MachineState::Discover { kind };
            return self.request();
        }
        let missing = handler
            .reads(&self.scope, step, &manifest)
            .into_iter()
            .chain(components::reads(&self.scope, step))
            .find(|target| !self.scope.knows(target));
        self.state = match missing {
            Some(target) => MachineState::Gather { target },
            None => {
                let mut desired = handler.desired(&self.scope, step, manifest)?;
                let target = handler.target(&self.scope, step, &desired);
                components::label(&self.scope, step, &target, &mut desired);
                self.join(&target, &mut desired);
                match self.is_made(handler, &target) {
                    true => MachineState::Compare { desired, conflicts: 0 },
                    false => MachineState::Create { desired, gone: 0 },
                }
            }
        };
        self.request()
    }

    /// The creation of the object.
    pub(super) fn create(&self, desired: &Value) -> Result<Request, StepError> {
        let (handler, step) = self.current()?;
        let effect = Effect::create(handler.target(&self.scope, step, desired), desired.clone());
        Ok(Request::Do(effect.acting_as(handler.identity(&self.scope, step))))
    }

    /// Takes in the object of a step that waits for its API; one that is gone is created again.
    pub(super) fn served(&mut self, live: Option<&Value>) -> Result<Option<StepStatus>, StepError> {
        let (handler, step) = self.current()?;
        live.map_or(Ok(()), |live| deletion::check(step, live))?;
        let status = handler.serving(live);
        if status != StepStatus::NotPresent {
            return Ok(Some(status));
        }
        let cursor = self.cursor;
        if let Some(step) = self.steps.get_mut(cursor) {
            step.status = status;
        }
        Ok(None)
    }

    fn check_serving(&mut self) -> Result<Request, StepError> {
        let (handler, step) = self.current()?;
        let target = handler.target(&self.scope, step, &Value::Null);
        self.state = MachineState::Serving { target: target.clone() };
        Ok(Request::Read(target))
    }
}
