//! The state machine that takes the steps of a plan one after the other.

use olm_effect::{Effect, Target};
use olm_types::api::{Step, StepStatus};
use olm_types::gvk::Gvk;
use serde_json::Value;

use super::ahead::Ahead;
use super::call::{Reply, Request};
use super::handlers::{StepHandler, StepMessages, handler_for};
use super::notes::{Ended, Note, NoteKind};
use super::{Scope, Served, StepError};
use crate::crd::Upgrade;

/// An execution in progress.
pub struct Execution {
    pub(super) scope: Scope,
    pub(super) steps: Vec<Step>,
    pub(super) cursor: usize,
    pub(super) state: MachineState,
    failure: Option<StepError>,
    warnings: Vec<String>,
    /// The first step that began to wait for its API in this execution.
    awaits: Option<usize>,
    has_looked_again: bool,
    pub(super) ahead: Ahead,
    pub(super) notes: Vec<Note>,
}

/// Where the current step stands.
pub(super) enum MachineState {
    /// Nothing was done yet.
    Open,
    /// It is being asked how a kind is served.
    Discover { kind: Gvk },
    /// An object that the handler needs is being read.
    Gather { target: Target },
    /// The object is being created; `gone` counts how often it went before it could be changed.
    Create { desired: Value, gone: u8 },
    /// The existing object is being read; `conflicts` counts how often it changed or went meanwhile.
    Compare { desired: Value, conflicts: u8 },
    /// The existing object is being changed.
    Change { desired: Value, conflicts: u8, effect: Effect },
    /// It is being asked whether a CSV that an existing CRD names still exists.
    Recall { desired: Value, conflicts: u8, live: Value, csv: Target },
    /// The objects of an existing CRD are being looked at.
    Examine { desired: Value, conflicts: u8, upgrade: Box<Upgrade> },
    /// It is being checked whether an API is served.
    Serving { target: Target },
    /// It is being asked whether the step failed because its API is absent.
    CheckApi { error: StepError },
}

impl Execution {
    /// Starts at the first step that is not done.
    pub fn new(scope: Scope, steps: Vec<Step>) -> Self {
        let (warnings, notes) = (Vec::new(), Vec::new());
        let (state, ahead) = (MachineState::Open, Ahead::default());
        let (failure, awaits, has_looked_again) = (None, None, false);
        let cursor = 0;
        Self {
            scope,
            steps,
            cursor,
            state,
            failure,
            warnings,
            awaits,
            has_looked_again,
            ahead,
            notes,
        }
    }

    /// How many bytes the manifests have that the calls will be made of.
    pub fn bytes(&self) -> usize {
        let open = self.steps.get(self.cursor..).unwrap_or_default();
        let texts = open.iter().filter_map(|step| self.scope.bundles.manifest(step).ok());
        texts.map(str::len).fold(0, usize::saturating_add)
    }

    /// The next call to make; nothing when all steps were visited or one failed.
    pub fn next_request(&mut self) -> Option<Request> {
        while self.failure.is_none() && (self.cursor < self.steps.len() || self.look_again()) {
            match self.request() {
                Ok(Some(request)) => return Some(request),
                Ok(None) => self.advance(),
                Err(error) => self.fail(error),
            }
        }
        None
    }

    /// Takes in what became of the last request.
    pub fn accept_reply(&mut self, reply: Reply) {
        let Some(step) = self.steps.get(self.cursor) else { return };
        let name = step.resource.name.clone();
        match self.digest(reply, &name) {
            Ok(Some(status)) => self.end_step(status),
            Ok(None) => {}
            Err(error) => self.fail(error),
        }
    }

    /// At the end, goes back once to what began to wait for its API: most is served by then, and the plan needs
    /// neither a record that it waits nor another execution.
    pub(super) fn look_again(&mut self) -> bool {
        let is_at_end = self.failure.is_none() && self.cursor >= self.steps.len();
        let Some(first) = self.awaits.filter(|_| is_at_end && !self.has_looked_again) else {
            return false;
        };
        self.has_looked_again = true;
        self.cursor = first;
        self.state = MachineState::Open;
        true
    }

    /// Whether an error has ended it.
    pub(super) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// What the execution came to.
    pub fn finish(mut self) -> Ended {
        self.report_warnings();
        Ended { steps: self.steps, failure: self.failure, notes: self.notes }
    }

    /// Ends the execution, unless it first has to be asked whether an API is absent.
    fn fail(&mut self, error: StepError) {
        let checked = matches!(self.state, MachineState::CheckApi { .. });
        if error.is_not_found() && !checked {
            self.state = MachineState::CheckApi { error };
        } else {
            self.forget_take_over();
            self.failure = Some(error);
        }
    }

    fn advance(&mut self) {
        self.report_warnings();
        self.cursor += 1;
        self.state = MachineState::Open;
    }

    pub(super) fn report(&mut self, what: NoteKind) {
        self.notes.push(Note { step: self.cursor, what });
    }

    /// What was not changed was not taken over.
    pub(super) fn forget_take_over(&mut self) {
        let reported = Note { step: self.cursor, what: NoteKind::TakenOver };
        self.notes.retain(|note| *note != reported);
    }

    fn report_warnings(&mut self) {
        let warnings = std::mem::take(&mut self.warnings);
        if !warnings.is_empty() {
            self.report(NoteKind::Warnings(warnings));
        }
    }

    fn end_step(&mut self, status: StepStatus) {
        if let Some(step) = self.steps.get_mut(self.cursor) {
            if status == StepStatus::WaitingForApi && step.status != status {
                self.awaits.get_or_insert(self.cursor);
            }
            step.status = status;
        }
        self.advance();
    }

    /// What the current step needs next; nothing when it is done.
    pub(super) fn request(&mut self) -> Result<Option<Request>, StepError> {
        match &self.state {
            MachineState::Open => self.open(),
            MachineState::Discover { kind } => Ok(Some(Request::Resolve(kind.clone()))),
            MachineState::CheckApi { .. } => {
                Ok(self.steps.get(self.cursor).map(|step| Request::Resolve(kind_of(step))))
            }
            MachineState::Examine { .. } => self.examine().map(Some),
            MachineState::Gather { target }
            | MachineState::Serving { target }
            | MachineState::Recall { csv: target, .. } => Ok(Some(Request::Read(target.clone()))),
            MachineState::Create { desired, .. } => self.create(desired).map(Some),
            MachineState::Compare { desired, .. } => {
                let (handler, step) = self.current()?;
                Ok(Some(Request::Read(handler.target(&self.scope, step, desired))))
            }
            MachineState::Change { effect, .. } => Ok(Some(Request::Do(effect.clone()))),
        }
    }

    pub(super) fn current(&self) -> Result<(&'static dyn StepHandler, &Step), StepError> {
        let step = self
            .steps
            .get(self.cursor)
            .ok_or_else(|| StepError::OutOfTurn(self.cursor.to_string()))?;
        let handler = handler_for(&step.resource).ok_or_else(|| StepError::invalid(step))?;
        Ok((handler, step))
    }

    /// The status with which the reply ends the step; nothing when the step goes on.
    fn digest(&mut self, reply: Reply, name: &str) -> Result<Option<StepStatus>, StepError> {
        match (std::mem::replace(&mut self.state, MachineState::Open), reply) {
            (MachineState::Gather { target }, reply) => {
                self.learn(target, reply, name).map(|()| None)
            }
            (MachineState::Discover { kind }, reply) => {
                self.discovered(kind, reply, name).map(|()| None)
            }
            (MachineState::CheckApi { error }, reply) => {
                let error = self.resolved(error, reply);
                self.state =
                    MachineState::CheckApi { error: StepError::OutOfTurn(name.to_owned()) };
                Err(error)
            }
            (MachineState::Recall { desired, conflicts, live, csv }, reply) => {
                self.learn(csv, reply, name)?;
                self.begin_examination(desired, conflicts, live)
            }
            (MachineState::Examine { desired, conflicts, upgrade }, reply) => {
                self.examined(desired, conflicts, upgrade, reply)
            }
            (MachineState::Create { desired, gone }, Reply::Outcome(outcome, warnings)) => {
                self.warnings.extend(warnings);
                self.created(desired, gone, outcome)
            }
            (MachineState::Compare { desired, conflicts }, Reply::Live(live)) => {
                self.compared(desired, conflicts, live, name)
            }
            (
                MachineState::Change { desired, conflicts, .. },
                Reply::Outcome(outcome, warnings),
            ) => {
                self.warnings.extend(warnings);
                self.changed(desired, conflicts, outcome, name)
            }
            (MachineState::Serving { .. }, Reply::Live(live)) => self.served(live.as_ref()),
            (
                MachineState::Compare { .. } | MachineState::Serving { .. },
                Reply::Unreadable(cause),
            ) => Err(StepError::Refused { what: self.messages(|messages| messages.read)?, cause }),
            _ => Err(StepError::OutOfTurn(name.to_owned())),
        }
    }

    /// Takes in how a kind is served.
    fn discovered(&mut self, kind: Gvk, reply: Reply, name: &str) -> Result<(), StepError> {
        match reply {
            Reply::Kind(served) => self.scope.kinds.insert(kind, served),
            Reply::Unreadable(cause) => {
                return Err(StepError::Refused { what: String::new(), cause });
            }
            _ => return Err(StepError::OutOfTurn(name.to_owned())),
        };
        Ok(())
    }

    /// Takes in what a read brought.
    fn learn(&mut self, target: Target, reply: Reply, name: &str) -> Result<(), StepError> {
        match reply {
            Reply::Live(found) => self.scope.learn(target, Ok(found)),
            Reply::Unreadable(refusal) => self.scope.learn(target, Err(refusal)),
            _ => return Err(StepError::OutOfTurn(name.to_owned())),
        }
        Ok(())
    }

    /// The error that ends the execution after something was absent.
    fn resolved(&self, error: StepError, reply: Reply) -> StepError {
        let Some(step) = self.steps.get(self.cursor) else { return error };
        match reply {
            Reply::Kind(Served::NoKind | Served::NoGroup) => {
                StepError::NoApi { api: kind_of(step), name: step.resource.name.clone() }
            }
            Reply::Unreadable(cause) => StepError::Refused { what: String::new(), cause },
            _ => error,
        }
    }

    /// What was tried, in v0's words.
    pub(super) fn messages(
        &self,
        choose: impl Fn(&StepMessages) -> &'static str,
    ) -> Result<String, StepError> {
        let (handler, step) = self.current()?;
        let messages = choose(&handler.messages());
        // v0 quotes the names of CRDs.
        let end = if messages.ends_with('"') { "\"" } else { "" };
        Ok(if messages.is_empty() {
            String::new()
        } else {
            format!("{messages}{}{end}", step.resource.name)
        })
    }

    /// The kind of the current step as error texts spell it.
    pub(super) fn kind_text(&self) -> Result<String, StepError> {
        let (_, step) = self.current()?;
        Ok(step.resource.kind.to_lowercase())
    }
}

fn kind_of(step: &Step) -> Gvk {
    let resource = &step.resource;
    Gvk::new(&resource.group, &resource.version, &resource.kind)
}
