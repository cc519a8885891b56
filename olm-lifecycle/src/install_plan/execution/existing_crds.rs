//! Existing CRDs: what is in the cluster is looked at before they are changed.

use std::collections::BTreeSet;

use olm_effect::{Action, Effect, Subresource, Target};
use olm_types::api::StepStatus;
use serde_json::Value;

use super::call::{Reply, Request};
use super::machine::{Execution, MachineState};
use super::notes::NoteKind;
use super::scope::csv_in;
use super::{Scope, StepError};
use crate::crd::{self, Owners, Upgrade, UpgradeRequest};

/// How many CSVs that a definition names are looked up; what more it names is kept.
const RECORDS_ASKED: usize = 20;

impl Execution {
    /// Begins to look at the objects of the live definition.
    pub(super) fn begin_examination(
        &mut self,
        desired: Value,
        conflicts: u8,
        live: Value,
    ) -> Result<Option<StepStatus>, StepError> {
        let (_, step) = self.current()?;
        let current = (self.scope.namespace.as_str(), step.resolving.as_str());
        if let Some(csv) = unknown_record(&self.scope, &live, current) {
            self.state = MachineState::Recall { desired, conflicts, live, csv };
            return Ok(None);
        }
        let existing = existing_records(&self.scope, &live, &desired);
        let owners = Owners {
            owners: self.scope.owners_of(&step.resource.name, &step.resolving),
            current,
            existing: Some(&existing),
            keeps_stored_versions: self.scope.keeps_stored_versions,
        };
        let is_guarded = self.scope.guarded.contains(&step.resource.name);
        let upgrade = match Upgrade::begin(live.clone(), &desired, &owners) {
            Ok(upgrade) if !is_guarded || upgrade.is_unchanged() => upgrade,
            Err(error) if !is_guarded => return Err(error.into()),
            Ok(_) | Err(_) => {
                self.report(NoteKind::Kept);
                return Ok(Some(StepStatus::Present));
            }
        };
        self.report_take_over(&live);
        self.state = MachineState::Examine { desired, conflicts, upgrade: Box::new(upgrade) };
        Ok(None)
    }

    /// What the examination needs next, or the change that it ends with.
    pub(super) fn examine(&mut self) -> Result<Request, StepError> {
        let MachineState::Examine { desired, conflicts, upgrade } = &mut self.state else {
            return Err(StepError::OutOfTurn(self.cursor.to_string()));
        };
        let action = match upgrade.request()? {
            UpgradeRequest::Page(resource, token) => return Ok(Request::List(resource, token)),
            UpgradeRequest::Write(effect) => {
                let (handler, step) = self.current()?;
                let identity = handler.identity(&self.scope, step);
                return Ok(Request::Do(effect.acting_as(identity)));
            }
            UpgradeRequest::Ready(object) => Action::Replace { object, observed: None },
            UpgradeRequest::Touch(patch) => {
                let observed = Some(upgrade.live().clone());
                Action::MergePatch { patch, observed, subresource: Subresource::Main }
            }
        };
        let (desired, conflicts) = (std::mem::take(desired), *conflicts);
        let (handler, step) = self.current()?;
        let target = handler.target(&self.scope, step, &desired);
        let effect = Effect::new(target, action).acting_as(handler.identity(&self.scope, step));
        self.state = MachineState::Change { desired, conflicts, effect: effect.clone() };
        Ok(Request::Do(effect))
    }

    /// Takes in what the examination asked for.
    pub(super) fn examined(
        &mut self,
        desired: Value,
        conflicts: u8,
        mut upgrade: Box<Upgrade>,
        reply: Reply,
    ) -> Result<Option<StepStatus>, StepError> {
        match reply {
            Reply::Page(items, next) => upgrade.page(&items, next)?,
            Reply::Outcome(outcome, _) => upgrade.written(outcome)?,
            Reply::Unreadable(cause) => upgrade.unlisted(cause)?,
            Reply::Live(_) | Reply::Kind(_) => {
                return Err(StepError::OutOfTurn(self.cursor.to_string()));
            }
        }
        if let Some(warning) = upgrade.take_warning() {
            self.report(NoteKind::CrdValidation(warning));
        }
        if let Some(rewritten) = upgrade.take_rewritten() {
            self.report(NoteKind::Rewritten(rewritten));
        }
        self.state = MachineState::Examine { desired, conflicts, upgrade };
        Ok(None)
    }
}

/// A CSV that the live definition names and of which it is not known whether it exists: another plan
/// may have made it a moment ago, and its record must not be lost.
fn unknown_record(scope: &Scope, live: &Value, current: (&str, &str)) -> Option<Target> {
    let absent = |csv: &(&str, &str)| {
        *csv != current && !scope.csvs.contains(&(csv.0.to_owned(), csv.1.to_owned()))
    };
    let mut asked = crd::recorded(live).filter(absent).take(RECORDS_ASKED);
    let unknown = asked.find(|csv| scope.csv_exists(csv.0, csv.1).is_none())?;
    Some(csv_in(unknown.0, unknown.1))
}

/// The CSVs that either definition names, without those that are gone.
fn existing_records(scope: &Scope, live: &Value, desired: &Value) -> BTreeSet<(String, String)> {
    let there = crd::recorded(live)
        .filter(|csv| scope.csv_exists(csv.0, csv.1) != Some(false))
        .chain(crd::recorded(desired).filter(|csv| scope.csv_exists(csv.0, csv.1) == Some(true)));
    there.map(|csv| (csv.0.to_owned(), csv.1.to_owned())).collect()
}
