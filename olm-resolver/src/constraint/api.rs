//! `olm.gvk.required`: another bundle provides an API.

use std::fmt;

use olm_types::gvk::Gvk;

use super::{ConstraintError, Effort, Lookup, Requirement, Wanted};
use crate::problem::Bundle;

/// The bundle has an equal `olm.gvk` property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiRequirement(
    /// The API.
    pub Gvk,
);

impl Requirement for ApiRequirement {
    fn holds(&self, bundle: &Bundle, effort: &mut Effort) -> Result<bool, ConstraintError> {
        effort.look(bundle.apis.len())?;
        Ok(bundle.apis.contains(&self.0))
    }

    fn lookup(&self) -> Lookup {
        Lookup::Api(self.0.clone())
    }

    fn wanted(&self) -> Wanted {
        Wanted::Api(self.0.clone())
    }
}

impl fmt::Display for ApiRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Gvk { group, version, kind } = &self.0;
        write!(f, "providing an API with group: {group}, version: {version}, kind: {kind}")
    }
}
