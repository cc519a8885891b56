//! What a bundle demands of other bundles, one property at a time.

use serde::de::DeserializeOwned;
use thiserror::Error;

use super::value::{LabelProperty, PackageRequired};
use super::{Constraint, ConstraintError, kinds};
use crate::bundle::Property;
use crate::document::{Budget, DocumentError, json_as};
use crate::gvk::Gvk;
use crate::version::{Range, RangeError};

/// A demand that another bundle has to meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// `olm.gvk.required`: some bundle provides the API.
    Gvk(Gvk),
    /// `olm.package.required`: some bundle of the package has a version in the range.
    Package {
        /// Name of the package.
        name: String,
        /// Versions that will do.
        range: Range,
    },
    /// `olm.label.required`: some bundle has the label.
    Label(String),
    /// `olm.constraint`.
    Constraint(Constraint),
}

/// A property of a known type whose value is malformed: resolution cannot go on.
#[derive(Debug, Error)]
pub enum RequirementError {
    /// The value does not have the form of its type.
    #[error("property {kind} is malformed: {source}: it must be like {example}")]
    Value {
        /// Type of the property.
        kind: &'static str,
        /// What the JSON reader says.
        source: DocumentError,
        /// A well-formed value.
        example: &'static str,
    },
    /// The range of versions of `olm.package.required` is malformed.
    #[error(transparent)]
    Range(RangeError),
    /// The `olm.constraint` is malformed.
    #[error(transparent)]
    Constraint(ConstraintError),
}

impl Requirement {
    /// The demand that a property makes. Other properties make none: `Ok(None)`.
    ///
    /// # Errors
    /// When the property is of a demanding type and its value malformed.
    pub fn of(property: &Property) -> Result<Option<Self>, RequirementError> {
        let value = &property.value;
        Ok(Some(match &*property.kind {
            kinds::GVK_REQUIRED => Self::Gvk(read(value, kinds::GVK_REQUIRED, GVK_EXAMPLE)?),
            kinds::PACKAGE_REQUIRED => {
                Self::package(read(value, kinds::PACKAGE_REQUIRED, PACKAGE_EXAMPLE)?)?
            }
            kinds::LABEL_REQUIRED => Self::Label(
                read::<LabelProperty>(value, kinds::LABEL_REQUIRED, LABEL_EXAMPLE)?.label,
            ),
            kinds::CONSTRAINT => {
                Self::Constraint(Constraint::parse(value).map_err(RequirementError::Constraint)?)
            }
            _ => return Ok(None),
        }))
    }

    fn package(value: PackageRequired) -> Result<Self, RequirementError> {
        let range = Range::parse(&value.version_range).map_err(RequirementError::Range)?;
        Ok(Self::Package { name: value.package_name, range })
    }
}

const GVK_EXAMPLE: &str = r#"{"group":"example.com","kind":"Widget","version":"v1"}"#;
const PACKAGE_EXAMPLE: &str = r#"{"packageName":"widgets","versionRange":">=1.0.0 <2.0.0"}"#;
const LABEL_EXAMPLE: &str = r#"{"label":"gpu"}"#;

fn read<T: DeserializeOwned>(
    value: &str,
    kind: &'static str,
    example: &'static str,
) -> Result<T, RequirementError> {
    json_as(value, &Budget::PROPERTY).map_err(|source| RequirementError::Value {
        kind,
        source,
        example,
    })
}
