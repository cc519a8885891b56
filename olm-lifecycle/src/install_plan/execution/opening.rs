//! The beginning of a step: what has to be known before its object is created.

use olm_effect::Effect;
use olm_types::api::{Step, StepStatus};
use serde_json::Value;

use super::call::Request;
use super::machine::{Execution, Stage};
use super::{Scope, StepError};

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
        let manifest = manifest(&self.scope, step)?;
        let unknown = handler.kind(&manifest).filter(|kind| !self.scope.kinds.contains_key(kind));
        if let Some(kind) = unknown {
            self.stage = Stage::Discover { kind };
            return self.request();
        }
        let missing = handler
            .reads(&self.scope, step, &manifest)
            .into_iter()
            .find(|target| !self.scope.knows(target));
        self.stage = match missing {
            Some(target) => Stage::Gather { target },
            None => Stage::Create { desired: handler.desired(&self.scope, step, manifest)? },
        };
        self.request()
    }

    /// The creation of the object.
    pub(super) fn create(&self, desired: &Value) -> Result<Request, StepError> {
        let (handler, step) = self.current()?;
        let effect = Effect::create(handler.target(&self.scope, step, desired), desired.clone());
        Ok(Request::Do(effect.acting_as(handler.identity(&self.scope, step))))
    }

    fn check_serving(&mut self) -> Result<Request, StepError> {
        let (handler, step) = self.current()?;
        let target = handler.target(&self.scope, step, &Value::Null);
        self.stage = Stage::Serving { target: target.clone() };
        Ok(Request::Read(target))
    }
}

fn manifest(scope: &Scope, step: &Step) -> Result<Value, StepError> {
    let problem =
        |problem: String| StepError::Manifest { name: step.resource.name.clone(), problem };
    let text = scope.bundles.manifest(step).map_err(StepError::Bundle)?;
    let object: Value = serde_json::from_str(text).map_err(|error| problem(error.to_string()))?;
    if object.is_object() { Ok(object) } else { Err(problem("is not a JSON object".to_owned())) }
}
