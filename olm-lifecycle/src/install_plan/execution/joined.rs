//! Steps of one plan about one account: a bundle brings it, and its CSV asks for rights for it. The first step
//! creates it as the last one would leave it, so that it is written once; the others find it.

use olm_effect::{Action, Target, apply_merge_patch};
use olm_types::api::{Step, StepStatus};
use serde_json::Value;

use super::handlers::StepHandler;
use super::machine::Execution;
use super::{components, manifest};

impl Execution {
    /// Makes of the object of the current step what later steps would make of it. One of which that is not
    /// known yet changes the object when its turn comes.
    pub(super) fn join(&self, target: &Target, desired: &mut Value) {
        let Ok((handler, step)) = self.current() else { return };
        if !handler.is_shared() || target.name.is_empty() {
            return;
        }
        let after = self.steps.iter().skip(self.cursor.saturating_add(1));
        for later in after.filter(|later| is_open(later) && is_alike(step, later)) {
            let Some(wanted) = self.wanted(handler, later, target) else { return };
            if let Some(Action::MergePatch { patch, .. }) = handler.on_existing(&wanted, desired) {
                apply_merge_patch(desired, &patch);
            }
        }
    }

    /// Whether an earlier step has made the object of this one.
    pub(super) fn is_made(&self, handler: &dyn StepHandler, target: &Target) -> bool {
        handler.is_shared() && !target.name.is_empty() && self.scope.object(target).is_ok()
    }

    /// The object of a later step; nothing while something has to be read for it, or when it is another one.
    fn wanted(&self, handler: &dyn StepHandler, later: &Step, target: &Target) -> Option<Value> {
        let manifest = manifest::read(&self.scope, later, handler.form()).ok()?;
        let reads = handler.reads(&self.scope, later, &manifest).into_iter();
        let mut reads = reads.chain(components::reads(&self.scope, later));
        if reads.any(|read| !self.scope.knows(&read)) {
            return None;
        }
        let mut object = handler.desired(&self.scope, later, manifest).ok()?;
        if handler.target(&self.scope, later, &object) != *target {
            return None;
        }
        components::label(&self.scope, later, target, &mut object);
        Some(object)
    }
}

fn is_open(step: &Step) -> bool {
    matches!(step.status, StepStatus::Unknown | StepStatus::NotPresent)
}

fn is_alike(one: &Step, other: &Step) -> bool {
    let (one, other) = (&one.resource, &other.resource);
    (&one.group, &one.kind, &one.name) == (&other.group, &other.kind, &other.name)
}
