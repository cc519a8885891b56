//! What a pass decides, as data.

use jiff::Timestamp;
use olm_effect::Effect;
use olm_types::api::{ClusterServiceVersionStatus, CsvPhase, RequirementStatus};

/// The answer of a pass: what to do, and what the CSV's status says afterwards.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// Calls to make first, in order.
    pub effects: Vec<Effect>,
    /// What it means when one of them is refused.
    pub on_refusal: OnRefusal,
    /// What changes in the status once all effects succeeded.
    pub status: StatusChange,
    /// When to look again although nothing happened.
    pub requeue_at: Option<Timestamp>,
    /// Remarks for the log.
    pub notes: Vec<String>,
}

/// What a refused effect means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnRefusal {
    /// Try again later; the status stays as it is.
    #[default]
    Retry,
    /// The install failed, and the status says so.
    InstallFailed,
}

/// A change of status, relative to the status that was observed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatusChange {
    /// The new phase, reason and message.
    pub phase: Option<PhaseChange>,
    /// The new list of requirements.
    pub requirements: Option<Vec<RequirementStatus>>,
    /// When certificates were renewed and when they are due; absent when none were.
    pub certificates: Option<CertificateTimes>,
    /// Whether the new phase is not announced by an event.
    pub quiet: bool,
}

/// What the status says about certificates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CertificateTimes {
    /// When they were renewed.
    pub updated: Timestamp,
    /// When the first of them is due.
    pub rotate_at: Timestamp,
}

/// Phase, reason and message, which are always set together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseChange {
    /// The phase.
    pub phase: CsvPhase,
    /// Why, in one word.
    pub reason: &'static str,
    /// Why, for people.
    pub message: String,
}

impl Decision {
    /// Leave everything as it is.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// Enter a phase.
    pub fn enter(phase: CsvPhase, reason: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        let phase = Some(PhaseChange { phase, reason, message });
        Self { status: StatusChange { phase, ..StatusChange::default() }, ..Self::default() }
    }

    /// Do something and leave the status as it is.
    pub fn act(effects: Vec<Effect>) -> Self {
        Self { effects, ..Self::default() }
    }

    /// Before the status changes, do something.
    #[must_use]
    pub fn after(mut self, effects: Vec<Effect>) -> Self {
        self.effects = effects;
        self
    }

    /// Also record what the requirements are.
    #[must_use]
    pub fn with_requirements(mut self, requirements: &[RequirementStatus]) -> Self {
        self.status.requirements = Some(requirements.to_vec());
        self
    }

    /// Look again at that time, or at an earlier one that was asked for before.
    #[must_use]
    pub fn requeue_at(mut self, at: Timestamp) -> Self {
        self.requeue_at = Some(self.requeue_at.map_or(at, |known| known.min(at)));
        self
    }

    /// Leave a remark for the log.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }
}

impl PhaseChange {
    /// Whether the status does not say exactly this already.
    pub fn differs_from(&self, status: &ClusterServiceVersionStatus) -> bool {
        status.phase != self.phase
            || status.reason.as_deref() != Some(self.reason)
            || status.message.as_deref() != Some(self.message.as_str())
    }
}
