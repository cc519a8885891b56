//! What a bundle can require of another bundle, kind by kind (spec catalog-operator 3.3).
//!
//! A [`ConstraintKind`] reads properties into [`Requirement`]s: a test of one bundle, with the words
//! for it and the index that finds candidates. Compound constraints test
//! one bundle at a time, too: `all` is never met by two bundles together.

mod basic;
mod budget;
pub mod cel;
mod classic;
mod compound;
mod message;
mod place;

use std::fmt;
use std::sync::Arc;

use cel::CelError;
use olm_types::bundle::Property;
use olm_types::gvk::Gvk;
use olm_types::properties::RequirementError;
use thiserror::Error;

use crate::problem::Bundle;

pub use basic::{ApiRequirement, LabelRequirement, PackageRequirement};
pub use budget::EvaluationBudget;
pub use classic::ClassicConstraints;
pub use compound::{All, Any, Not};
pub use message::WithMessage;
pub use place::PropertyLocation;

/// Reads properties of some types as requirements.
pub trait ConstraintKind: Send + Sync {
    /// The property types, for example `olm.gvk.required`.
    fn property_types(&self) -> &[&str];

    /// Reads a property of one of these types.
    fn read(&self, property: &Property) -> Result<Arc<dyn Requirement>, ConstraintError>;
}

/// A test of one bundle. Its text continues the sentence "bundle b requires an operator ...".
pub trait Requirement: fmt::Debug + fmt::Display + Send + Sync {
    /// Whether the bundle fits. Fails only if the test itself cannot be carried out. Must not depend
    /// on the channel: a bundle in several channels is tested once. What takes more than a look at
    /// a few properties is spent from `budget`.
    fn holds(
        &self,
        bundle: &Bundle,
        budget: &mut EvaluationBudget,
    ) -> Result<bool, ConstraintError>;

    /// Where bundles that may fit are found. Must not miss any.
    fn lookup(&self) -> Lookup;

    /// What is wanted, as data, for explanations.
    fn wanted(&self) -> Wanted;

    /// What the authors want to be said if nothing fits, their own words first.
    fn messages(&self) -> Vec<&str> {
        Vec::new()
    }
}

/// An index that finds candidates.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Lookup {
    /// Bundles of a package.
    Package(String),
    /// Providers of an API.
    Api(Gvk),
    /// Bundles with a label.
    Label(String),
    /// What any of these finds; nothing if empty.
    AnyOf(Vec<Lookup>),
    /// All bundles; slow.
    Everything,
}

/// What a requirement wants, as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A version of a package.
    Package {
        /// Name of the package.
        name: String,
        /// The range, as written.
        range: String,
    },
    /// A provider of an API.
    Api(Gvk),
    /// A bundle with a label.
    Label(String),
    /// Something else; the requirement's text says what.
    Other,
}

/// Why a property is not a requirement, or why it cannot be tested.
#[derive(Clone, Debug, Error)]
pub enum ConstraintError {
    /// The value does not have the form of its type.
    #[error("{0}")]
    Malformed(#[source] Arc<RequirementError>),
    /// A CEL rule does not compile, or is refused.
    #[error("convert olm.constraint to resolver predicate: {0}")]
    Cel(#[from] CelError),
    /// The constraints of all bundles together take too much.
    #[error(
        "the constraints of this resolution take more than {limit} steps together: \
         fewer or simpler constraints, or fewer bundles that meet them, in the catalogs make it smaller"
    )]
    TooMuch {
        /// The bound that was hit.
        limit: u64,
    },
    /// A property of a kind that was added to OLM's own.
    #[error("{0}")]
    Other(String),
}

impl From<RequirementError> for ConstraintError {
    fn from(error: RequirementError) -> Self {
        Self::Malformed(Arc::new(error))
    }
}
