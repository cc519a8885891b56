//! `olm.label.required`: another bundle has an equal `olm.label`; case matters.

use std::fmt;

use super::{ConstraintError, Effort, Lookup, Requirement, Wanted};
use crate::problem::Bundle;

/// The bundle has the label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelRequirement(
    /// The label.
    pub String,
);

impl Requirement for LabelRequirement {
    fn holds(&self, bundle: &Bundle, effort: &mut Effort) -> Result<bool, ConstraintError> {
        effort.look(bundle.labels.len())?;
        Ok(bundle.labels.contains(&self.0))
    }

    fn lookup(&self) -> Lookup {
        Lookup::Label(self.0.clone())
    }

    fn wanted(&self) -> Wanted {
        Wanted::Label(self.0.clone())
    }
}

impl fmt::Display for LabelRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "with label: {}", self.0)
    }
}
