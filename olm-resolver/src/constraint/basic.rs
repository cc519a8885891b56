//! What OLM v0 requires of one bundle: `olm.package.required`, `olm.gvk.required` and
//! `olm.label.required`. Case matters.

use std::fmt;

use olm_types::gvk::Gvk;
use olm_types::version::Range;

use super::{ConstraintError, EvaluationBudget, Lookup, Requirement, Wanted};
use crate::problem::Bundle;

/// The bundle is of the package, and one of its versions is in the range: that of an
/// `olm.package` property or the one that its catalog states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageRequirement {
    /// Name of the package.
    pub package: String,
    /// Versions that will do.
    pub range: Range,
}

impl Requirement for PackageRequirement {
    fn holds(
        &self,
        bundle: &Bundle,
        budget: &mut EvaluationBudget,
    ) -> Result<bool, ConstraintError> {
        budget.look(bundle.packages.len())?;
        let claimed = bundle.packages.iter().filter_map(|(_, version)| version.as_ref());
        let mut versions = claimed.chain(&bundle.entry.version);
        Ok(bundle.is_of_package(&self.package)
            && versions.any(|version| self.range.contains(version)))
    }

    fn lookup(&self) -> Lookup {
        Lookup::Package(self.package.clone())
    }

    fn wanted(&self) -> Wanted {
        Wanted::Package { name: self.package.clone(), range: self.range.to_string() }
    }
}

impl fmt::Display for PackageRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "with package: {} and with version in range: {}", self.package, self.range)
    }
}

/// The bundle has an equal `olm.gvk` property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiRequirement(
    /// The API.
    pub Gvk,
);

impl Requirement for ApiRequirement {
    fn holds(
        &self,
        bundle: &Bundle,
        budget: &mut EvaluationBudget,
    ) -> Result<bool, ConstraintError> {
        budget.look(bundle.apis.len())?;
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

/// The bundle has the label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelRequirement(
    /// The label.
    pub String,
);

impl Requirement for LabelRequirement {
    fn holds(
        &self,
        bundle: &Bundle,
        budget: &mut EvaluationBudget,
    ) -> Result<bool, ConstraintError> {
        budget.look(bundle.labels.len())?;
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
