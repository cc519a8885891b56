//! Events about the steps of a plan (spec catalog-operator 4.4, 4.5).

use olm_effect::{Effect, EventNote, EventType};
use olm_types::api::InstallPlan;
use olm_types::reasons::event as reasons;

use super::execution::{Ended, Note, NoteKind};
use crate::writes::target_of;

/// One event per note, on the step that it is about.
pub(super) fn events(plan: &InstallPlan, ended: &Ended) -> Vec<Effect> {
    let about = |note: &Note| {
        let step = ended.steps.get(note.step)?;
        let (reason, field_path) = match note.what {
            NoteKind::Warnings(_) => {
                (reasons::APPLIED_WITH_WARNINGS, Some(format!("status.plan[{}]", note.step)))
            }
            NoteKind::CrdValidation(_) => (reasons::CRD_VALIDATION, None),
            NoteKind::Rewritten(_) => (reasons::OBJECTS_REWRITTEN, None),
            NoteKind::Kept => (reasons::DEFINITION_KEPT, None),
            NoteKind::TakenOver => {
                (reasons::OBJECT_TAKEN_OVER, Some(format!("status.plan[{}]", note.step)))
            }
            NoteKind::CopyKept(_) => {
                (reasons::COPY_KEPT, Some(format!("status.plan[{}]", note.step)))
            }
        };
        Some(warning(plan, reason, note.text(step), field_path))
    };
    ended.notes.iter().filter_map(about).collect()
}

/// A Warning event about a plan.
pub(super) fn warning(
    plan: &InstallPlan,
    reason: &str,
    message: String,
    field_path: Option<String>,
) -> Effect {
    event(plan, EventType::Warning, reason, message, field_path)
}

/// A Normal event about a plan.
pub(super) fn normal(plan: &InstallPlan, reason: &str, message: String) -> Effect {
    event(plan, EventType::Normal, reason, message, None)
}

fn event(
    plan: &InstallPlan,
    event_type: EventType,
    reason: &str,
    message: String,
    field_path: Option<String>,
) -> Effect {
    let note = EventNote {
        event_type,
        reason: reason.to_owned(),
        message,
        uid: plan.metadata.uid.clone(),
        field_path,
    };
    Effect::event(target_of(plan), note)
}
