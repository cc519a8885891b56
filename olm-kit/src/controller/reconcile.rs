//! What a controller calls, and what it gets back.

use std::time::Duration;

use async_trait::async_trait;
use olm_effect::{Outcome, Refusal};

use crate::tasks::chain;

/// Brings the world one step nearer to what the object behind a key asks for.
#[async_trait]
pub trait Reconciler<Key>: Send + Sync + 'static {
    /// Reconciles `key`. The object may be gone. Never called for the same key concurrently.
    async fn reconcile(&self, key: &Key) -> Result<Conclusion, ReconcileError>;
}

/// How a successful reconcile ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// Nothing more until something changes.
    Done,
    /// Look again after this time even if nothing changes.
    RequeueAfter(Duration),
}

/// Why a reconcile did not get through; it is tried again with back-off.
#[derive(Debug, thiserror::Error)]
pub enum ReconcileError {
    /// The API server refused an effect.
    #[error("{}", refused(.0))]
    Refused(#[from] Refusal),
    /// The reconciler panicked.
    #[error("panicked: {0}")]
    Panicked(String),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl ReconcileError {
    /// From any error; its causes are kept in the text.
    pub fn other(error: impl std::error::Error) -> Self {
        Self::Other(chain(&error))
    }

    /// From a text.
    pub fn message(text: impl Into<String>) -> Self {
        Self::Other(text.into())
    }

    /// Whether an object changed since it was observed, which the next try will see.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Refused(refusal) if refusal.is_conflict())
    }

    /// The first refusal among `outcomes`, as an error.
    ///
    /// # Errors
    /// When there is a refusal.
    pub fn from_outcomes(outcomes: &[Outcome]) -> Result<(), Self> {
        let refusal = outcomes.iter().find_map(Outcome::refusal);
        refusal.map_or(Ok(()), |refusal| Err(refusal.clone().into()))
    }
}

impl From<kube::Error> for ReconcileError {
    fn from(error: kube::Error) -> Self {
        Self::Refused(crate::interpreter::refusal_of(&error))
    }
}

fn refused(refusal: &Refusal) -> String {
    match refusal.code {
        0 => format!("API server not reached: {}", refusal.message),
        code => {
            format!("refused by the API server ({code} {}): {}", refusal.reason, refusal.message)
        }
    }
}
