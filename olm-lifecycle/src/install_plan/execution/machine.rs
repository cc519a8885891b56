//! The state machine that takes the steps of a plan one after the other.

use olm_effect::{Effect, Outcome, Refusal, Target};
use olm_types::api::{Step, StepStatus};
use serde_json::Value;

use super::handlers::{StepHandler, handler_for};
use super::{Scope, StepError};

/// How often a write that met a newer object is computed anew before the plan waits.
const CONFLICT_RETRIES: u8 = 5;

/// One call that has to be made before the execution can go on.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Execute the effect.
    Do(Effect),
    /// Read the object live.
    Read(Target),
}

/// What became of a [`Request`].
#[derive(Clone, Debug)]
pub enum Reply {
    /// The outcome of an effect.
    Outcome(Outcome),
    /// The object as it is, or that there is none.
    Live(Option<Value>),
    /// The object could not be read.
    Unreadable(Refusal),
}

/// An execution in progress.
pub struct Execution {
    scope: Scope,
    steps: Vec<Step>,
    cursor: usize,
    stage: Stage,
    failure: Option<StepError>,
}

/// Where the current step stands.
enum Stage {
    /// Nothing was done yet.
    Open,
    /// An object that the handler needs is being read.
    Gather { target: Target },
    /// The object is being created.
    Create { desired: Value },
    /// The existing object is being read.
    Compare { desired: Value, conflicts: u8 },
    /// The existing object is being changed.
    Change { desired: Value, conflicts: u8, effect: Effect },
    /// It is being checked whether an API is served.
    Serving { target: Target },
}

impl Execution {
    /// Starts at the first step that is not settled.
    pub fn new(scope: Scope, steps: Vec<Step>) -> Self {
        Self { scope, steps, cursor: 0, stage: Stage::Open, failure: None }
    }

    /// The next call to make; nothing when all steps were visited or one failed.
    pub fn next_request(&mut self) -> Option<Request> {
        while self.failure.is_none() && self.cursor < self.steps.len() {
            match self.request() {
                Ok(Some(request)) => return Some(request),
                Ok(None) => self.advance(),
                Err(error) => self.failure = Some(error),
            }
        }
        None
    }

    /// Takes in what became of the last request.
    pub fn absorb(&mut self, reply: Reply) {
        let Some(step) = self.steps.get(self.cursor) else { return };
        let name = step.resource.name.clone();
        match self.digest(reply, &name) {
            Ok(Some(status)) => self.settle(status),
            Ok(None) => {}
            Err(error) => self.failure = Some(error),
        }
    }

    /// The steps with the statuses they reached, and the error that ended the execution, if any.
    pub fn finish(self) -> (Vec<Step>, Option<StepError>) {
        (self.steps, self.failure)
    }

    fn advance(&mut self) {
        self.cursor += 1;
        self.stage = Stage::Open;
    }

    fn settle(&mut self, status: StepStatus) {
        if let Some(step) = self.steps.get_mut(self.cursor) {
            step.status = status;
        }
        self.advance();
    }

    /// What the current step needs next; nothing when it is settled.
    fn request(&mut self) -> Result<Option<Request>, StepError> {
        match &self.stage {
            Stage::Open => self.open(),
            Stage::Gather { target } | Stage::Serving { target } => {
                Ok(Some(Request::Read(target.clone())))
            }
            Stage::Create { desired } => self.create(desired).map(Some),
            Stage::Compare { desired, .. } => {
                let (handler, step) = self.current()?;
                Ok(Some(Request::Read(handler.target(&self.scope, step, desired))))
            }
            Stage::Change { effect, .. } => Ok(Some(Request::Do(effect.clone()))),
        }
    }

    fn open(&mut self) -> Result<Option<Request>, StepError> {
        let Some(step) = self.steps.get(self.cursor) else { return Ok(None) };
        match step.status {
            StepStatus::Present | StepStatus::Created => Ok(None),
            StepStatus::WaitingForApi => self.check_serving().map(Some),
            StepStatus::Unknown | StepStatus::NotPresent => self.prepare(),
            StepStatus::NotCreated | StepStatus::UnsupportedResource => Err(invalid(step)),
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
        let manifest = manifest(step)?;
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

    fn create(&self, desired: &Value) -> Result<Request, StepError> {
        let (handler, step) = self.current()?;
        let effect = Effect::create(handler.target(&self.scope, step, desired), desired.clone());
        Ok(Request::Do(effect.acting_as(handler.identity(&self.scope))))
    }

    fn check_serving(&mut self) -> Result<Request, StepError> {
        let (handler, step) = self.current()?;
        let target = handler.target(&self.scope, step, &Value::Null);
        self.stage = Stage::Serving { target: target.clone() };
        Ok(Request::Read(target))
    }

    fn current(&self) -> Result<(&'static dyn StepHandler, &Step), StepError> {
        let step = self
            .steps
            .get(self.cursor)
            .ok_or_else(|| StepError::OutOfTurn(self.cursor.to_string()))?;
        let handler = handler_for(&step.resource).ok_or_else(|| invalid(step))?;
        Ok((handler, step))
    }

    /// The status that the reply settles the step with; nothing when the step goes on.
    fn digest(&mut self, reply: Reply, name: &str) -> Result<Option<StepStatus>, StepError> {
        match (std::mem::replace(&mut self.stage, Stage::Open), reply) {
            (Stage::Gather { target }, Reply::Live(found)) => {
                self.scope.learn(target, Ok(found));
                Ok(None)
            }
            (Stage::Gather { target }, Reply::Unreadable(refusal)) => {
                self.scope.learn(target, Err(refusal));
                Ok(None)
            }
            (Stage::Create { desired }, Reply::Outcome(outcome)) => {
                self.created(desired, outcome, name)
            }
            (Stage::Compare { desired, conflicts }, Reply::Live(live)) => {
                self.compared(desired, conflicts, live, name)
            }
            (Stage::Compare { .. }, Reply::Unreadable(cause)) => {
                Err(StepError::Read { thing: self.thing()?, name: name.to_owned(), cause })
            }
            (Stage::Change { desired, conflicts, .. }, Reply::Outcome(outcome)) => {
                self.changed(desired, conflicts, outcome, name)
            }
            (Stage::Serving { .. }, Reply::Live(live)) => {
                let (handler, _) = self.current()?;
                Ok(Some(handler.serving(live.as_ref())))
            }
            (Stage::Serving { .. }, Reply::Unreadable(cause)) => {
                Err(StepError::Read { thing: self.thing()?, name: name.to_owned(), cause })
            }
            _ => Err(StepError::OutOfTurn(name.to_owned())),
        }
    }

    fn created(
        &mut self,
        desired: Value,
        outcome: Outcome,
        name: &str,
    ) -> Result<Option<StepStatus>, StepError> {
        let (handler, step) = self.current()?;
        let target = handler.target(&self.scope, step, &desired);
        match outcome {
            Outcome::Created(live) => {
                self.scope.learn(target, Ok(Some(live)));
                Ok(Some(handler.after_create()))
            }
            Outcome::AlreadyExists => {
                self.stage = Stage::Compare { desired, conflicts: 0 };
                Ok(None)
            }
            other => {
                let cause = refusal(other);
                Err(StepError::Create { thing: self.thing()?, name: name.to_owned(), cause })
            }
        }
    }

    fn compared(
        &mut self,
        desired: Value,
        conflicts: u8,
        live: Option<Value>,
        name: &str,
    ) -> Result<Option<StepStatus>, StepError> {
        let (handler, step) = self.current()?;
        let Some(live) = live else {
            return Err(StepError::Vanished { thing: self.thing()?, name: name.to_owned() });
        };
        let Some(action) = handler.on_existing(&self.scope, step, &desired, &live)? else {
            return Ok(Some(StepStatus::Present));
        };
        let target = handler.target(&self.scope, step, &desired);
        let effect = Effect::new(target, action).acting_as(handler.identity(&self.scope));
        self.stage = Stage::Change { desired, conflicts, effect };
        Ok(None)
    }

    fn changed(
        &mut self,
        desired: Value,
        conflicts: u8,
        outcome: Outcome,
        name: &str,
    ) -> Result<Option<StepStatus>, StepError> {
        match outcome {
            Outcome::Changed(_) | Outcome::Unchanged => Ok(Some(StepStatus::Present)),
            Outcome::Refused(refusal) if refusal.is_conflict() && conflicts < CONFLICT_RETRIES => {
                self.stage = Stage::Compare { desired, conflicts: conflicts + 1 };
                Ok(None)
            }
            other => {
                let cause = refusal(other);
                Err(StepError::Update { thing: self.thing()?, name: name.to_owned(), cause })
            }
        }
    }

    /// The kind of the current step as error texts spell it.
    fn thing(&self) -> Result<String, StepError> {
        let (_, step) = self.current()?;
        Ok(step.resource.kind.to_lowercase())
    }
}

fn manifest(step: &Step) -> Result<Value, StepError> {
    let problem =
        |problem: String| StepError::Manifest { name: step.resource.name.clone(), problem };
    let text = step.resource.manifest.as_deref().unwrap_or_default();
    let object: Value = serde_json::from_str(text).map_err(|error| problem(error.to_string()))?;
    if object.is_object() { Ok(object) } else { Err(problem("is not a JSON object".to_owned())) }
}

fn invalid(step: &Step) -> StepError {
    let resource = &step.resource;
    let what = match step.status {
        StepStatus::UnsupportedResource | StepStatus::Unknown | StepStatus::NotPresent => {
            "its kind cannot be installed by this version"
        }
        _ => "its status is none that an execution leaves behind",
    };
    StepError::Invalid(format!(
        "step {} {} ({}): {what}",
        resource.kind, resource.name, resource.group
    ))
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
