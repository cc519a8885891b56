//! A requirement with its author's `failureMessage`. v0 shows that of CEL rules only.

use std::fmt;
use std::sync::Arc;

use super::{ConstraintError, EvaluationBudget, Lookup, Requirement, Wanted};
use crate::problem::Bundle;

/// The same requirement, with words for when nothing fits.
#[derive(Debug)]
pub struct WithMessage {
    inner: Arc<dyn Requirement>,
    message: String,
}

impl WithMessage {
    /// The requirement with a message; as it is if the message is empty.
    pub fn around(inner: Arc<dyn Requirement>, message: String) -> Arc<dyn Requirement> {
        if message.is_empty() { inner } else { Arc::new(Self { inner, message }) }
    }
}

impl Requirement for WithMessage {
    fn holds(
        &self,
        bundle: &Bundle,
        budget: &mut EvaluationBudget,
    ) -> Result<bool, ConstraintError> {
        self.inner.holds(bundle, budget)
    }

    fn lookup(&self) -> Lookup {
        self.inner.lookup()
    }

    fn wanted(&self) -> Wanted {
        self.inner.wanted()
    }

    fn messages(&self) -> Vec<&str> {
        std::iter::once(self.message.as_str()).chain(self.inner.messages()).collect()
    }
}

impl fmt::Display for WithMessage {
    /// v0's words, without the message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
