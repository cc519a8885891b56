//! What has to be reported about an execution besides the status of its steps.

use olm_types::api::{Step, StepResource};

use super::StepError;

/// What an execution comes to.
#[derive(Debug, Default)]
pub struct Ended {
    /// The steps with the statuses they reached.
    pub steps: Vec<Step>,
    /// The error that ended the execution, if any.
    pub failure: Option<StepError>,
    /// What has to be reported, in order.
    pub notes: Vec<Note>,
}

/// Something to report about a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Place of the step in the plan, from 0.
    pub step: usize,
    /// What.
    pub what: NoteKind,
}

/// What there is to report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// The API server warned, for example of a deprecated API.
    Warnings(Vec<String>),
    /// Existing objects do not fit a new CRD, which is installed nevertheless.
    CrdValidation(String),
    /// Objects were written anew, so that a version of their CRD could be retired.
    Rewritten(String),
    /// A definition that an administrator's operator owns was left as it is.
    Kept,
    /// An object that was there already and that no one had put under OLM's management was changed.
    TakenOver,
    /// A dependency was not created, as the namespace holds a copy of it, which is installed in the namespace that is
    /// named.
    CopyKept(String),
}

impl Note {
    /// The text of the event about the note; `step` is the step that it is about.
    pub fn text(&self, step: &Step) -> String {
        let StepResource { kind, name, .. } = &step.resource;
        match (&self.what, step.resolving.as_str()) {
            (NoteKind::Warnings(texts), "") => format!(
                "{} warning(s) generated during operator installation ({kind} {name:?}): {}",
                texts.len(),
                texts.join(", ")
            ),
            (NoteKind::Warnings(texts), resolving) => format!(
                "{} warning(s) generated during installation of operator {resolving:?} ({kind} {name:?}): {}",
                texts.len(),
                texts.join(", ")
            ),
            (NoteKind::CrdValidation(text) | NoteKind::Rewritten(text), _) => text.clone(),
            (NoteKind::Kept, _) => format!(
                "{kind} {name:?} is left as it is: an operator of a namespace that an administrator trusts owns \
                 it, and it changes with that operator; let the administrator upgrade it, or trust this \
                 namespace"
            ),
            (NoteKind::TakenOver, resolving) => format!(
                "{kind} {name:?} existed before and was not managed by OLM; it was changed to what {} asks \
                 for, and OLM manages it from now on",
                if resolving.is_empty() { "the plan" } else { resolving }
            ),
            (NoteKind::CopyKept(from), _) => format!(
                "{kind} {name:?} is not created: the namespace holds a copy of it, which is installed in namespace \
                 {from} and reaches this one; what needs it has it, and the Subscription that was made for it stays \
                 pending until the copy is gone"
            ),
        }
    }
}
