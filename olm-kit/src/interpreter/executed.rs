//! What became of one effect, and what logs and metrics call it.

use olm_effect::{Action, Outcome};

/// What became of one effect.
#[derive(Clone, Debug, PartialEq)]
pub struct Executed {
    /// The outcome.
    pub outcome: Outcome,
    /// Texts of the `Warning` headers of the answer.
    pub warnings: Vec<String>,
    /// Whether the cluster was really written to. Deleting an absent object is `Deleted` but no
    /// write.
    pub wrote: bool,
}

impl Executed {
    pub(super) fn writing(outcome: Outcome) -> Self {
        Self { outcome, warnings: Vec::new(), wrote: true }
    }

    pub(super) fn without_write(outcome: Outcome) -> Self {
        Self { outcome, warnings: Vec::new(), wrote: false }
    }
}

/// Name of an action in logs and metrics.
pub(super) fn action_name(action: &Action) -> &'static str {
    match action {
        Action::Create(_) => "create",
        Action::Replace { .. } => "replace",
        Action::MergePatch { .. } => "merge_patch",
        Action::StrategicPatch { .. } => "strategic_patch",
        Action::Apply { .. } => "apply",
        Action::Delete { .. } => "delete",
        Action::Status { .. } => "status",
        Action::Event(_) => "event",
    }
}

/// Name of an outcome in logs and metrics.
pub(super) fn outcome_name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Created(_) => "created",
        Outcome::Changed(_) => "changed",
        Outcome::Unchanged => "unchanged",
        Outcome::AlreadyExists => "already_exists",
        Outcome::NotFound => "not_found",
        Outcome::Deleted => "deleted",
        Outcome::Refused(_) => "refused",
        Outcome::Skipped => "skipped",
    }
}
