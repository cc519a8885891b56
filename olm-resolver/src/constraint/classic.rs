//! The dependencies of OLM v0: `olm.gvk.required`, `olm.package.required`, `olm.label.required` and
//! `olm.constraint`.

use std::sync::Arc;

use olm_types::bundle::Property;
use olm_types::properties::{Constraint, Predicate, Requirement as Dependency, kinds};

use super::cel::CelRequirement;
use super::{All, Any, ApiRequirement, ConstraintError, ConstraintKind, LabelRequirement, Not};
use super::{PackageRequirement, Requirement, WithMessage};

/// Reads the four types of properties by which OLM v0 expresses dependencies.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClassicConstraints;

impl ConstraintKind for ClassicConstraints {
    fn property_types(&self) -> &[&str] {
        &[kinds::GVK_REQUIRED, kinds::PACKAGE_REQUIRED, kinds::LABEL_REQUIRED, kinds::CONSTRAINT]
    }

    fn read(&self, property: &Property) -> Result<Arc<dyn Requirement>, ConstraintError> {
        match Dependency::of(property)? {
            Some(Dependency::Gvk(api)) => Ok(Arc::new(ApiRequirement(api))),
            Some(Dependency::Package { name, range }) => {
                Ok(Arc::new(PackageRequirement { package: name, range }))
            }
            Some(Dependency::Label(label)) => Ok(Arc::new(LabelRequirement(label))),
            Some(Dependency::Constraint(constraint)) => compile(constraint),
            None => Err(ConstraintError::Other(format!("{} is not a dependency", property.kind))),
        }
    }
}

fn compile(constraint: Constraint) -> Result<Arc<dyn Requirement>, ConstraintError> {
    let message = constraint.failure_message;
    let requirement: Arc<dyn Requirement> = match constraint.predicate {
        Predicate::Gvk(api) => Arc::new(ApiRequirement(api)),
        Predicate::Package { name, range } => Arc::new(PackageRequirement { package: name, range }),
        Predicate::All(members) => Arc::new(All(compile_all(members)?)),
        Predicate::Any(members) => Arc::new(Any(compile_all(members)?)),
        Predicate::Not(members) => Arc::new(Not(compile_all(members)?)),
        Predicate::Cel { rule } => return Ok(Arc::new(CelRequirement::compile(rule, message)?)),
    };
    Ok(WithMessage::around(requirement, message))
}

fn compile_all(members: Vec<Constraint>) -> Result<Vec<Arc<dyn Requirement>>, ConstraintError> {
    members.into_iter().map(compile).collect()
}
