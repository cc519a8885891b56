//! What became of an effect.

use serde_json::Value;

/// The interpreter's answer to one effect.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The object was created; the live object as the API server returned it.
    Created(Value),
    /// The object was changed; the live object as the API server returned it.
    Changed(Value),
    /// Nothing had to be written.
    Unchanged,
    /// A create met an existing object.
    AlreadyExists,
    /// A change met no object.
    NotFound,
    /// A deletion was accepted, or the object was gone already.
    Deleted,
    /// The API server refused, or could not be asked.
    Refused(Refusal),
    /// An earlier effect of the same list was refused, so this one was not tried.
    Skipped,
}

/// Why a call did not do what it should.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// HTTP status code; 0 when no answer came.
    pub code: u16,
    /// Machine-readable reason of the API server, for example `Forbidden`.
    pub reason: String,
    /// The API server's message.
    pub message: String,
}

impl Refusal {
    /// The caller lacks a right (403).
    pub fn is_forbidden(&self) -> bool {
        self.code == 403
    }

    /// The object changed since it was observed (409 Conflict).
    pub fn is_conflict(&self) -> bool {
        self.code == 409
    }

    /// The API server could not serve the call at the moment (429, 5xx, or no answer).
    pub fn is_transient(&self) -> bool {
        self.code == 0 || self.code == 429 || self.code >= 500
    }
}

impl Outcome {
    /// The refusal, if this is one.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }

    /// Whether the cluster was written to.
    pub fn wrote(&self) -> bool {
        matches!(self, Self::Created(_) | Self::Changed(_) | Self::Deleted)
    }
}
