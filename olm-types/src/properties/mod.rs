//! Properties: typed pieces of metadata on bundles, and the dependencies that some of them express.
//!
//! A property is a type and a JSON value ([`crate::bundle::Property`]). [`annotation`] converts a
//! list of them to and from the annotation `operatorframework.io/properties`; [`value`] holds the
//! values of the known types; [`Requirement`] is what a bundle demands of others. Unknown types are
//! not errors. Which properties a bundle or CSV has is the resolver's business.

pub mod annotation;
mod constraint;
mod fields;
mod requirement;
pub mod value;

pub use constraint::{Constraint, ConstraintError, MAX_CONSTRAINT_BYTES, Predicate};
pub use requirement::{Requirement, RequirementError};

/// Property types that OLM knows.
pub mod kinds {
    /// The package and version of a bundle.
    pub const PACKAGE: &str = "olm.package";
    /// An API that a bundle provides.
    pub const GVK: &str = "olm.gvk";
    /// A label of a bundle.
    pub const LABEL: &str = "olm.label";
    /// Another package that a bundle needs.
    pub const PACKAGE_REQUIRED: &str = "olm.package.required";
    /// An API that a bundle needs.
    pub const GVK_REQUIRED: &str = "olm.gvk.required";
    /// A label that some other bundle must have.
    pub const LABEL_REQUIRED: &str = "olm.label.required";
    /// A compound or computed demand.
    pub const CONSTRAINT: &str = "olm.constraint";
    /// The bundle is deprecated and must not be installed anew.
    pub const DEPRECATED: &str = "olm.deprecated";
    /// A manifest of the bundle.
    pub const BUNDLE_OBJECT: &str = "olm.bundle.object";
    /// The metadata of the bundle's CSV.
    pub const CSV_METADATA: &str = "olm.csv.metadata";
    /// Newest OpenShift version that the operator supports.
    pub const MAX_OPENSHIFT_VERSION: &str = "olm.maxOpenShiftVersion";
}

#[cfg(test)]
mod tests;
